"""The data of an evaluation: cases (queries with their judgements), results of a tool, and their scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from dowse.errors import EvalError
from dowse.lazy_classes import NamedTuple, dataclass, field

LEVELS = ("file", "symbol")
# How several results in one file count at file level: once, so that files are ranked; or each takes a rank.
COUNTINGS = ("distinct", "results")
# The held-out split: "tune" is for choosing (dev), "report" for reporting (test).
HALVES = ("all", "tune", "report")
# The source of cases that were made from documentation: it must not be indexed when they are asked.
DOCS = "docs"
GIT = "git"
# Characters of a commit's name that make the id of a case.
COMMIT_ID = 12
_NO_QRELS: Mapping[str, float] = MappingProxyType({})


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Raise EvalError for a value that is none of the choices."""
    if value not in choices:
        raise EvalError(f"the {name} is one of {', '.join(choices)}, not {value!r}")


@dataclass(frozen=True, slots=True)
class Case:
    """One query and its relevance judgements (qrels).

    Grades are above 0 for what is relevant, 0 for what was judged and is not. A file is a path, or
    `path#start-end` where only some lines of it count. A symbol is `path::qualified.name`, a qualified name
    alone, or the id of an entry of a corpus.
    """

    query: str
    files: Mapping[str, float] = field(default_factory=lambda: _NO_QRELS)
    symbols: Mapping[str, float] = field(default_factory=lambda: _NO_QRELS)
    id: str = ""
    source: str = ""  # where it comes from: "git", "docs", "hand", …

    def qrels(self, level: str) -> Mapping[str, float]:
        """Return the grade of every judged target; files may also be those of the judged symbols."""
        if level != "file":
            return self.symbols
        return self.files or _files_of(self.symbols)


def _files_of(symbols: Mapping[str, float]) -> Mapping[str, float]:
    """Return the files of `path::name`, each with the best grade of its symbols."""
    files: dict[str, float] = {}
    for target, grade in symbols.items():
        path, separator, _ = target.partition("::")
        if separator and path:
            files[path] = max(grade, files.get(path, 0.0))
    return files


class SearchResult(NamedTuple):
    """One result of any tool, with as much as the tool tells."""

    path: str = ""
    symbol: str = ""  # qualified name
    start_line: int = 0
    end_line: int = 0
    id: str = ""  # of an entry of a corpus
    repo: str = ""


# A tool: a query and how many results are wanted → results, best first. `Hit`s of dowse, paths and
# `path::name` do as well as `SearchResult`.
Search = Callable[[str, int], Iterable[object]]
RankedSearch = Callable[[str, int], list[SearchResult]]


@dataclass(frozen=True, slots=True)
class Dataset:
    """Cases about one tree or corpus, and how they are scored."""

    name: str
    cases: tuple[Case, ...]
    level: str = "file"
    counting: str = "distinct"
    metric: str = "ndcg@10"  # the headline: gates and plots look at it
    root: Path | None = None  # what to search, if the set itself says so
    strip_docs: bool = False  # whether the queries are documentation, which must not be found as such
    half: str = "all"
    files: tuple[Path, ...] = ()  # the files with queries and judgements: leakage if they were indexed

    @property
    def scored_cases(self) -> tuple[Case, ...]:
        """The cases with a relevant target at the level: all others would score 0 for every tool."""
        return tuple(case for case in self.cases if any(grade > 0 for grade in self._grades(case)))

    @property
    def exclusion_note(self) -> str:
        """How many cases are not scored, and why; "" if all are."""
        without = sum(not self._grades(case) for case in self.cases)
        irrelevant = len(self.cases) - len(self.scored_cases) - without
        why = [f"{without} without an answer at {self.level} level"] if without else []
        why += [f"{irrelevant} of which nothing is judged relevant"] if irrelevant else []
        return f"questions left out: {', '.join(why)}" if why else ""

    @property
    def relevant_targets(self) -> tuple[str, ...]:
        """Every target with a grade above 0, each once."""
        qrels = (case.qrels(self.level).items() for case in self.scored_cases)
        return tuple(dict.fromkeys(target for each in qrels for target, grade in each if grade > 0))

    @property
    def graded(self) -> bool:
        """Whether judgements are graded, not binary."""
        return any(grade != 1 for case in self.scored_cases for grade in self._grades(case))

    def _grades(self, case: Case) -> list[float]:
        return list(case.qrels(self.level).values())


class Interval(NamedTuple):
    """A 95 % confidence interval of a mean over queries."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The scores of one query."""

    id: str
    query: str
    values: Mapping[str, float]  # metric → value
    found: tuple[str, ...]  # the first results, as `path::name`, path or id
    relevant: tuple[str, ...]  # the relevant targets
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Result:
    """The scores of one configuration or tool on one dataset: a row of a table."""

    mode: str
    dataset: str
    level: str
    metrics: Mapping[str, float]  # means over all cases
    intervals: Mapping[str, Interval]
    latency: Mapping[str, float]  # p50_ms, p95_ms, p99_ms
    cases: tuple[CaseResult, ...] = field(default=(), repr=False)

    @property
    def label(self) -> str:
        """What the row is called: the configuration or the tool."""
        return self.mode

    @property
    def recall(self) -> float:
        """Mean recall@10."""
        return self._metric("recall@10")

    @property
    def mrr(self) -> float:
        """Mean reciprocal rank, down to rank 100."""
        return self._metric("mrr@100")

    @property
    def ndcg(self) -> float:
        """Mean nDCG@10."""
        return self._metric("ndcg@10")

    def values(self, metric: str) -> list[float]:
        """Return the metric of each case, in order."""
        return [case.values[metric] for case in self.cases]

    def _metric(self, name: str) -> float:
        if name not in self.metrics:
            raise EvalError(f"{name} was not measured; there are {', '.join(self.metrics) or 'no metrics'}")
        return self.metrics[name]
