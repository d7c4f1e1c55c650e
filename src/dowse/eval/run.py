"""Run configurations and tools on a dataset: a clean index of its tree, then a row for each."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from dowse.errors import EvalError, QueryError
from dowse.eval.budget import budget_metrics_only
from dowse.eval.budget_pages import budget_metrics
from dowse.eval.clean_index import check_leakage, open_clean_index
from dowse.eval.configurations import COMPARED, FIRST, Configuration, parse_configuration, runnable
from dowse.eval.diversity import Diversity
from dowse.eval.evaluate import DEPTH, KS, evaluate
from dowse.eval.index_symbols import ResultVectors
from dowse.eval.index_targets import note_missing_targets, target_aspects
from dowse.eval.metrics import MRR_CUT
from dowse.eval.reports.model import SetFacts, SetReport
from dowse.eval.systems import MakeSystem
from dowse.eval.systems.ripgrep import READING_BASELINES, ripgrep_reading
from dowse.eval.types import GIT, Case, Dataset, MetricFunction, Result, Search, SearchResult
from dowse.index import Index
from dowse.query.ast import Query
from dowse.query.long_text import read_long_text
from dowse.query.parser import narrow, plain_query
from dowse.search.ranking.question_kinds import asks_for_change, question_kinds
from dowse.source.git import head_commit
from dowse.types import Hit

# Metrics with a cut-off of their own; MRR is always cut at 100.
_METRIC = re.compile(r"(?:ndcg|recall|hit|precision)@([1-9][0-9]*)\Z")
_MRR = f"mrr@{MRR_CUT}"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    doing: str  # "mining", "indexing", "embedding", "asking"
    done: int
    total: int
    what: str  # "files", "symbols", or the row that is run


ShowProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The rows of a run and how they are made; the same for every dataset of a run."""

    configurations: tuple[Configuration, ...]
    systems: tuple[tuple[str, MakeSystem], ...] = ()
    ks: tuple[int, ...] = KS
    depth: int = DEPTH
    against: str = ""
    filters: str = ""  # added to every query
    settings: tuple[tuple[str, object], ...] = ()  # of the index
    budgets: tuple[int, ...] = ()  # token budgets; none: they are not measured
    extra_metrics: MetricFunction = lambda *_: {}
    on_progress: ShowProgress = lambda _: None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the rows."""
        readers = READING_BASELINES if self.budgets else ()
        own = (each.name for each in self.configurations)
        return (*own, *(name for name, _ in self.systems), *readers)


def search_root(dataset: Dataset, root: Path | None = None) -> Path:
    """Return the tree or corpus of a dataset; raise EvalError for what can't be run, before anything is."""
    path = root or dataset.root
    if path is None:
        raise EvalError(
            f"{dataset.name} does not say what it asks about; name what to search, "
            "or with --checkouts where the repositories of a suite lie"
        )
    if not path.exists():
        raise EvalError(f"there is no {path} to search; check the path")
    if not dataset.cases:
        raise EvalError(f"{dataset.name} has no questions in its half {dataset.half!r}; ask --half all")
    if dataset.metric != _MRR and not _METRIC.match(dataset.metric):
        raise EvalError(
            f"{dataset.name}: no metric is called {dataset.metric!r}; it is {_MRR}, or ndcg, recall, hit or "
            "precision with a cut, such as ndcg@10"
        )
    if not dataset.scored_cases:
        raise EvalError(f"{dataset.name} asks nothing; {dataset.exclusion_note}; try another --level")
    return path


def run_dataset(
    dataset: Dataset, root: Path | None, options: RunOptions, index_dir: str = "", *, refresh: bool = True
) -> SetReport:
    """Index the tree of a dataset, or `root`, and run every row on it.

    The index is in the cache, apart from the user's, unless `index_dir` names another folder. Without
    `refresh` an existing one is used as it is.
    """
    check_filters(options.filters)
    index = open_clean_index(
        search_root(dataset, root),
        [dataset],
        settings=dict(options.settings),
        index_dir=index_dir,
        strip_docs=dataset.strip_docs,
    )
    with index:
        prepare_index(index, options.on_progress, refresh=refresh)
        notes = [
            dataset.exclusion_note,
            note_missing_targets(index, dataset),
            note_clashes(dataset, options.filters),
        ]
        dataset = replace(dataset, strip_docs=index.settings.strip_docs)
        options = replace(options, ks=_cut_offs(options.ks, dataset.metric))
        results = list(_all_rows(index, dataset, options))
        if not results:
            raise EvalError(
                f"{_missing_rows(results, options)} can't be run on {dataset.name}; meaning needs an "
                "--encoder, the graph a tree of source files"
            )
        facts = SetFacts.of(dataset, _about(index, options, results), [note for note in notes if note])
    against = options.against if any(each.mode == options.against for each in results) else ""
    return SetReport(facts, tuple(results), against)


def compare_modes(
    index: Index,
    cases: Dataset | Iterable[Case],
    modes: Sequence[str] = COMPARED,
    *,
    level: str = "",
    ks: Sequence[int] = KS,
    on_progress: ShowProgress = lambda _: None,
) -> list[Result]:
    """Return a row for every configuration of a search over an existing index.

    Args:
        index: Up to date. Symbols without a vector get theirs, if a mode can use it.
        cases: A dataset, or cases, which are then scored at file level.
        modes: Names of configurations, e.g. "keyword", "auto+expand"; those that can't run are left out.
        level: "file" or "symbol"; "" takes the dataset's.
        ks: The cut-offs of metrics.
        on_progress: Called after each query.
    """
    dataset = cases if isinstance(cases, Dataset) else Dataset("", tuple(cases))
    dataset = replace(dataset, level=level or dataset.level)
    configurations = tuple(parse_configuration(name) for name in modes)
    options = RunOptions(configurations, ks=tuple(ks), on_progress=on_progress)
    return list(_configuration_rows(index, dataset, options, _diversity(index, dataset)))


def prepare_index(index: Index, show: ShowProgress = lambda _: None, *, refresh: bool = True) -> None:
    """Bring an index up to date; one that is used as it is must hold no answers."""
    if refresh or not index.exists:
        index.update(on_progress=lambda at: show(Progress("indexing", at.done, at.total, "files")))
    else:
        check_leakage(index)


def embed(index: Index, show: ShowProgress = lambda _: None) -> None:
    """Compute the missing vectors of an index, if it has an encoder."""
    if index.settings.encoder != "none":
        missing = index.unembedded()
        if missing:
            show(Progress("embedding", 0, missing, "symbols"))
        index.embed(on_progress=lambda at: show(Progress("embedding", at.done, at.total, "symbols")))


def learn(index: Index, dataset: Dataset, show: ShowProgress = lambda _: None) -> None:
    """Learn the adapter of an index, from nothing that is as new as the oldest question.

    Only where a question is adapted: to mine a large history takes minutes.
    """
    can_learn = index.settings.encoder != "none" and index.settings.adapter and head_commit(index.root)
    if can_learn and any(_is_adapted(case.query) for case in dataset.cases):
        show(Progress("learning", 0, 1, "histories"))
        index.learn(tuple(case.id for case in dataset.cases if case.source == GIT))


def _is_adapted(query: str) -> bool:
    """Whether the adapter of an index counts for a query: long texts are taken as requests for a change."""
    return asks_for_change(question_kinds(query)) or read_long_text(query) is not None


def make_search(index: Index, configuration: Configuration, filters: str = "") -> Search:
    """Return a search that takes queries as plain words: a colon in a commit's subject is no filter.

    A query that contradicts the filters gets no results.
    """

    def search(query: str, k: int) -> Sequence[Hit]:
        if filters and clashes(query, filters):
            return ()
        # The user's settings for interactive searches must not change a row.
        fixed = {"plain": True, "filters": filters, "feedback": False, "diversify": ""}
        hits = index.search(query, k=k, page_size=FIRST, **{**fixed, **configuration.options}).hits
        return _shuffle_first(query, hits) if configuration.shuffled else hits

    return search


def check_filters(filters: str) -> None:
    """Raise QueryError if the filters are invalid for any query."""
    narrow(Query(()), filters)


def clashes(query: str, filters: str) -> bool:
    """Whether a query contradicts the filters, as "run the test" does with `-test`."""
    try:
        narrow(plain_query(query), filters)
    except QueryError:
        return True
    return False


def note_clashes(dataset: Dataset, filters: str) -> str:
    """Return a note on the queries that contradict the filters, "" if there are none."""
    count = sum(clashes(case.query, filters) for case in dataset.scored_cases) if filters.strip() else 0
    if not count:
        return ""
    if count == 1:
        return "1 question asks for what the filters exclude, and counts as answered with nothing"
    return f"{count} questions ask for what the filters exclude, and count as answered with nothing"


def _shuffle_first(query: str, hits: Sequence[Hit]) -> list[Hit]:
    """Return the first results in an order that a hash of query and result decides, then the others."""

    def order(hit: Hit) -> bytes:
        return hashlib.sha1(f"{query}\0{hit.symbol.id}".encode(), usedforsecurity=False).digest()

    return [*sorted(hits[:FIRST], key=order), *hits[FIRST:]]


def runnable_configurations(index: Index, configurations: Iterable[Configuration]) -> list[Configuration]:
    """Return the configurations that an index supports: embeddings need an encoder, the graph needs code."""
    with index.backend.reader() as reader:
        graph = not reader.is_corpus
    return runnable(configurations, vectors=index.settings.encoder != "none", graph=graph)


def _diversity(index: Index, dataset: Dataset) -> Diversity:
    return Diversity(target_aspects(index, dataset), dataset.level, dataset.counting)


def _all_rows(index: Index, dataset: Dataset, options: RunOptions) -> Iterator[Result]:
    """Run configurations, other tools, and the reading baselines of budgets."""
    diversity = _diversity(index, dataset)
    readers: list[Result] = []
    if options.budgets:
        metrics, file_metrics = budget_metrics(index, dataset, options.budgets)
        reading = replace(options, extra_metrics=file_metrics)
        for name in READING_BASELINES:
            row = _row(ripgrep_reading(index, name), dataset, reading, name)
            readers.append(budget_metrics_only(row))
        options = replace(options, extra_metrics=metrics)
    yield from _configuration_rows(index, dataset, options, diversity)
    for name, make in options.systems:
        yield _row(make(index, dataset.level), dataset, options, name, diversity)
    yield from readers


def _configuration_rows(
    index: Index, dataset: Dataset, options: RunOptions, diversity: Diversity
) -> Iterator[Result]:
    """Run the configurations, those of one encoder after another."""
    usual = index.settings.encoder
    # What is measured depends on what is run here, never on which vectors an earlier run has left.
    in_use = {each.encoder or usual for each in options.configurations if each.uses_vectors} - {"none"}
    for encoder in dict.fromkeys(each.encoder for each in options.configurations):
        chosen = [each for each in options.configurations if each.encoder == encoder]
        with _with_encoder(index, encoder) as other:
            metrics = diversity
            if other.settings.encoder in in_use:
                embed(other, options.on_progress)
                learn(other, dataset, options.on_progress)
                metrics = replace(diversity, vectors=ResultVectors(other))
            for each in runnable_configurations(other, chosen):
                if each.needs_counts:  # else the first query would take their time
                    other.count_terms(
                        on_progress=lambda at: options.on_progress(
                            Progress("counting", at.done, at.total, "texts")
                        )
                    )
                yield _row(make_search(other, each, options.filters), dataset, options, each.name, metrics)


@contextmanager
def _with_encoder(index: Index, encoder: str) -> Iterator[Index]:
    """Give the same index with another encoder; all of them share its terms and names."""
    if encoder in ("", index.settings.encoder):
        yield index
        return
    other = Index(index.root, replace(index.settings, encoder=encoder), index.backend)
    try:
        yield other
    finally:
        other.lanes.close()


def _row(
    search: Search, dataset: Dataset, options: RunOptions, name: str, metrics: MetricFunction = lambda *_: {}
) -> Result:
    def show(done: int) -> None:
        options.on_progress(Progress("asking", done, len(dataset.cases), f"questions, {name}"))

    def both(
        keys: Sequence[str], qrels: Mapping[str, float], results: Sequence[SearchResult]
    ) -> Mapping[str, float]:
        return {**metrics(keys, qrels, results), **options.extra_metrics(keys, qrels, results)}

    return evaluate(
        search, dataset, ks=options.ks, name=name, depth=options.depth, extra_metrics=both, on_case=show
    )


def _cut_offs(ks: Sequence[int], metric: str) -> tuple[int, ...]:
    """Return the cut-offs of metrics, that of the headline among them."""
    own = _METRIC.match(metric)
    return tuple(sorted({*ks, *([int(own[1])] if own else [])}))


def _missing_rows(results: Iterable[Result], options: RunOptions) -> str:
    done = {row.mode for row in results}
    return ", ".join(name for name in options.names if name not in done)


def _about(index: Index, options: RunOptions, results: Sequence[Result]) -> dict[str, object]:
    """Return what was searched, for the report."""
    with index.backend.reader() as reader:
        counts, meta, corpus = reader.counts(), reader.meta(), reader.is_corpus
    settings = index.settings
    return {
        "files": counts["files"],
        "symbols": counts["symbols"],
        "corpus": corpus,
        "commit": meta.get("commit", ""),
        "encoder": Path(settings.encoder).name,
        "view": settings.view,
        "fusion": settings.fusion,
        "vectors": settings.vectors,
        "filters": options.filters,
        "excluded": len(settings.exclude),
        "depth": max(options.depth, *options.ks),
        "left_out": _missing_rows(results, options),
    }
