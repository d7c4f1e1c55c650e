"""The data of an evaluation: questions with their answers, what a tool found, and how good that was."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

# What stands before the names of our own sets, where others are a file or a folder.
OWN_PREFIX = "own:"
# The source of cases that were made from documentation: it must not be indexed where they are asked.
DOCS = "docs"
_NOTHING: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Case:
    """One question and what answers it.

    Grades are above 0 for what is relevant, 0 for what was judged and is not. A file is a path, or
    `path#start-end` where only some lines of it will do. A symbol is `path::qualified.name`, a qualified name
    alone, or the id of an entry of a corpus.
    """

    query: str
    files: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    symbols: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    id: str = ""
    source: str = ""  # where it comes from: "git", "docs", "hand", …

    def qrels(self, level: str) -> Mapping[str, float]:
        """Return everything that was judged, with its grade; files also as those that symbols lie in."""
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
    """One result of any tool, as far as it tells."""

    path: str = ""
    symbol: str = ""  # qualified name
    start_line: int = 0
    end_line: int = 0
    id: str = ""  # of an entry of a corpus
    repo: str = ""


# What may be measured of an answer: the keys of its results, the grades of what was judged and the results
# themselves → values by name.
MetricFunction = Callable[[Sequence[str], Mapping[str, float], Sequence[SearchResult]], Mapping[str, float]]

# A tool: a question and how many results are wanted → results, best first. `Hit`s of dowse, paths and
# `path::name` do as well as `Found`.
Search = Callable[[str, int], Iterable[object]]


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions about one tree or corpus, and how they are scored."""

    name: str
    cases: tuple[Case, ...]
    level: str = "file"
    counting: str = "distinct"
    metric: str = "ndcg@10"  # the one that counts: gates and plots look at it
    root: Path | None = None  # what to search, where the set itself says so
    strip_docs: bool = False  # whether the questions are documentation, which must not be found as such
    half: str = "all"
    files: tuple[Path, ...] = ()  # where the questions and answers lie: never to be indexed

    @property
    def asked(self) -> tuple[Case, ...]:
        """The cases with a relevant answer at the level: nobody can do right or wrong by the others."""
        return tuple(case for case in self.cases if any(grade > 0 for grade in self._grades(case)))

    @property
    def left_out(self) -> str:
        """How many cases are not asked, and why; "" if all are."""
        silent = sum(not self._grades(case) for case in self.cases)
        useless = len(self.cases) - len(self.asked) - silent
        why = [f"{silent} without an answer at {self.level} level"] if silent else []
        why += [f"{useless} of which nothing is judged relevant"] if useless else []
        return f"questions left out: {', '.join(why)}" if why else ""

    @property
    def relevant(self) -> tuple[str, ...]:
        """Every answer that counts, each once."""
        answers = (case.qrels(self.level).items() for case in self.asked)
        return tuple(dict.fromkeys(target for each in answers for target, grade in each if grade > 0))

    @property
    def graded(self) -> bool:
        """Whether judgements say more than yes."""
        return any(grade != 1 for case in self.asked for grade in self._grades(case))

    def _grades(self, case: Case) -> list[float]:
        return list(case.qrels(self.level).values())


class Interval(NamedTuple):
    """Where the true mean lies with 95 % confidence, as far as the choice of questions decides."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CaseResult:
    """How one question was answered."""

    id: str
    query: str
    values: Mapping[str, float]  # metric → value
    found: tuple[str, ...]  # the first results, as `path::name`, path or id
    relevant: tuple[str, ...]  # what should have been found
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Result:
    """How one way of searching did on one dataset: a row of a table."""

    mode: str
    dataset: str
    level: str
    metrics: Mapping[str, float]  # means over all cases
    intervals: Mapping[str, Interval]
    latency: Mapping[str, float]  # p50_ms, p95_ms, p99_ms
    cases: tuple[CaseResult, ...] = field(default=(), repr=False)

    def values(self, metric: str) -> list[float]:
        """Return the metric of each case, in order."""
        return [case.values[metric] for case in self.cases]
