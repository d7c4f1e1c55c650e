"""Run ways of searching on a set: an index of its own, without the answers in it, then a row for each way."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from dowse.errors import EvalError
from dowse.eval.aspects import target_aspects
from dowse.eval.budget_rows import READING_BASELINES, budget_metrics, budget_metrics_only
from dowse.eval.clean_index import check_leakage, open_clean_index
from dowse.eval.configurations import COMPARED, FIRST, Configuration, parse_configuration, runnable
from dowse.eval.diversity import Diversity
from dowse.eval.evaluate import DEPTH, KS, evaluate
from dowse.eval.filtering import check_filters, clashes, note_clashes
from dowse.eval.metrics import MRR_CUT
from dowse.eval.missing_targets import note_missing_targets
from dowse.eval.reports.model import SetFacts, SetReport
from dowse.eval.result_vectors import ResultVectors
from dowse.eval.systems.named import MakeSystem
from dowse.eval.systems.ripgrep_reading import ripgrep_reading
from dowse.eval.types import Case, Dataset, MetricFunction, Result, Search, SearchResult
from dowse.index import Index
from dowse.types import Hit

# Metrics that have a cut of their own; MRR is always cut at 100.
_CUT = re.compile(r"(?:ndcg|recall|hit|precision)@([1-9][0-9]*)\Z")
_MRR = f"mrr@{MRR_CUT}"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    doing: str  # "mining", "indexing", "embedding", "asking"
    done: int
    total: int
    what: str  # "files", "symbols", or the row that is asked


ShowProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What is run, and how; the same for every set of a run."""

    configurations: tuple[Configuration, ...]
    systems: tuple[tuple[str, MakeSystem], ...] = ()
    ks: tuple[int, ...] = KS
    depth: int = DEPTH
    against: str = ""
    filters: str = ""  # that every question is asked with
    settings: tuple[tuple[str, object], ...] = ()  # of the index
    budgets: tuple[int, ...] = ()  # tokens after which to look at what was read; none: it is not measured
    also: MetricFunction = lambda *_: {}  # of every answer
    on_progress: ShowProgress = lambda _: None

    @property
    def names(self) -> tuple[str, ...]:
        """What the rows are called."""
        readers = READING_BASELINES if self.budgets else ()
        return (*(each.name for each in self.configurations), *(name for name, _ in self.systems), *readers)


def search_root(dataset: Dataset, root: Path | None = None) -> Path:
    """Return what a set is asked about, or say what is missing before anything is run."""
    place = root or dataset.root
    if place is None:
        raise EvalError(
            f"{dataset.name} does not say what it asks about; name what to search, "
            "or with --checkouts where the repositories of a suite lie"
        )
    if not place.exists():
        raise EvalError(f"there is no {place} to search; check the path")
    if not dataset.cases:
        raise EvalError(f"{dataset.name} has no questions in its half {dataset.half!r}; ask --half all")
    if dataset.metric != _MRR and not _CUT.match(dataset.metric):
        raise EvalError(
            f"{dataset.name}: no metric is called {dataset.metric!r}; it is {_MRR}, or ndcg, recall, hit or "
            "precision with a cut, such as ndcg@10"
        )
    if not dataset.asked:
        raise EvalError(f"{dataset.name} asks nothing; {dataset.left_out}; try another --level")
    return place


def run_dataset(
    dataset: Dataset, root: Path | None, running: RunOptions, index_dir: str = "", *, refresh: bool = True
) -> SetReport:
    """Index what a set asks about and run every way of searching on it.

    Args:
        dataset: The questions.
        root: What to search; None takes what the set itself names.
        running: The rows, and how they are made.
        index_dir: Where the index lies; "" is a place of its own, apart from the user's index.
        refresh: Whether to bring an index that is there up to date first.
    """
    check_filters(running.filters)
    index = open_clean_index(
        search_root(dataset, root),
        [dataset],
        settings=dict(running.settings),
        index_dir=index_dir,
        strip_docs=dataset.strip_docs,
    )
    with index:
        prepare_index(index, running.on_progress, refresh=refresh)
        notes = [
            dataset.left_out,
            note_missing_targets(index, dataset),
            note_clashes(dataset, running.filters),
        ]
        dataset = replace(dataset, strip_docs=index.settings.strip_docs)
        running = replace(running, ks=_cuts(running.ks, dataset.metric))
        measure, readers = _diversity(index, dataset), list[Result]()
        if running.budgets:
            reading, of_files = budget_metrics(index, dataset, running.budgets)
            readers = list(_readers(index, dataset, replace(running, also=of_files)))
            running = replace(running, also=reading)
        others = _others(index, dataset, running, measure)
        results = [*_rows(index, dataset, running, measure), *others, *readers]
        if not results:
            raise EvalError(
                f"{_left_out(results, running)} can't be run on {dataset.name}; meaning needs an --encoder, "
                "the graph a tree of source files"
            )
        facts = SetFacts.of(dataset, _about(index, running, results), [note for note in notes if note])
    against = running.against if any(each.mode == running.against for each in results) else ""
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
    """Return a row for every way of searching one index that is there.

    Args:
        index: Up to date. Symbols without a vector get theirs, if a mode can use it.
        cases: A dataset, or cases, which are then scored at file level.
        modes: Names of ways, e.g. "keyword", "auto+expand"; those impossible here are left out.
        level: "file" or "symbol"; "" takes the dataset's.
        ks: Where metrics are cut.
        on_progress: Called after each question.
    """
    dataset = cases if isinstance(cases, Dataset) else Dataset("", tuple(cases))
    dataset = replace(dataset, level=level or dataset.level)
    configurations = tuple(parse_configuration(name) for name in modes)
    running = RunOptions(configurations, ks=tuple(ks), on_progress=on_progress)
    return list(_rows(index, dataset, running, _diversity(index, dataset)))


def prepare_index(index: Index, show: ShowProgress = lambda _: None, *, refresh: bool = True) -> None:
    """Index what is not indexed; an index that is there and stays as it is must be without answers."""
    if refresh or not index.exists:
        index.update(on_progress=lambda at: show(Progress("indexing", at.done, at.total, "files")))
    else:
        check_leakage(index)


def embed(index: Index, show: ShowProgress = lambda _: None) -> None:
    """Give every symbol its vector, if there is an encoder."""
    if index.settings.encoder != "none":
        missing = index.unembedded()
        if missing:
            show(Progress("embedding", 0, missing, "symbols"))
        index.embed(on_progress=lambda at: show(Progress("embedding", at.done, at.total, "symbols")))


def count_terms(index: Index, show: ShowProgress = lambda _: None) -> None:
    """Count what TF-IDF needs, if it is not counted yet."""
    index.count_terms(on_progress=lambda at: show(Progress("counting", at.done, at.total, "texts")))


def make_search(index: Index, chosen: Configuration, filters: str = "") -> Search:
    """Return a search that takes questions as words: a colon in a commit's subject is no filter.

    What contradicts the filters is answered with nothing.
    """

    def search(query: str, k: int) -> Sequence[Hit]:
        if filters and clashes(query, filters):
            return ()
        # What settings say of the user's own searches must not change a row.
        asked = {"plain": True, "filters": filters, "feedback": False, "diversify": "", **chosen.options}
        hits = index.search(query, k=k, page=FIRST, **asked).hits
        return _in_random_order(query, hits) if chosen.shuffled else hits

    return search


def _in_random_order(query: str, hits: Sequence[Hit]) -> list[Hit]:
    """Return the first answers in an order that a hash of question and answer decides, before the others."""

    def order(hit: Hit) -> bytes:
        return hashlib.sha1(f"{query}\0{hit.symbol.id}".encode(), usedforsecurity=False).digest()

    return [*sorted(hits[:FIRST], key=order), *hits[FIRST:]]


def runnable_configurations(index: Index, configurations: Iterable[Configuration]) -> list[Configuration]:
    """Return the ways that an index can be asked in: meaning needs an encoder, the graph source files."""
    with index.backend.reader() as reader:
        graph = not reader.is_corpus
    return runnable(configurations, vectors=index.settings.encoder != "none", graph=graph)


def _diversity(index: Index, dataset: Dataset) -> Diversity:
    """Return how diversity is measured, before anything is asked; meaning needs vectors beside."""
    return Diversity(target_aspects(index, dataset), dataset.level, dataset.counting)


def _rows(index: Index, dataset: Dataset, running: RunOptions, measure: Diversity) -> Iterator[Result]:
    """Run our own ways, those of one encoder after another."""
    usual = index.settings.encoder
    # What is measured depends on what is run here, never on which vectors an earlier run has left.
    in_use = {each.encoder or usual for each in running.configurations if each.uses_vectors} - {"none"}
    for encoder in dict.fromkeys(each.encoder for each in running.configurations):
        chosen = [each for each in running.configurations if each.encoder == encoder]
        with _seen_through(index, encoder) as seen:
            known = measure
            if seen.settings.encoder in in_use:
                embed(seen, running.on_progress)
                known = replace(measure, vectors=ResultVectors(seen))
            for each in runnable_configurations(seen, chosen):
                if each.needs_counts:  # else the first question would take their time
                    count_terms(seen, running.on_progress)
                yield _row(make_search(seen, each, running.filters), dataset, running, each.name, known)


@contextmanager
def _seen_through(index: Index, encoder: str) -> Iterator[Index]:
    """Give the same index seen through another encoder; all of them share its words and names."""
    if encoder in ("", index.settings.encoder):
        yield index
        return
    other = Index(index.root, replace(index.settings, encoder=encoder), index.backend)
    try:
        yield other
    finally:
        other.lanes.close()


def _others(index: Index, dataset: Dataset, running: RunOptions, measure: Diversity) -> Iterator[Result]:
    """Run the other tools."""
    for name, make in running.systems:
        yield _row(make(index, dataset.level), dataset, running, name, measure)


def _readers(index: Index, dataset: Dataset, running: RunOptions) -> Iterator[Result]:
    """Run those that read what ripgrep points at: they are measured by what they have read alone."""
    for name in READING_BASELINES:
        yield budget_metrics_only(_row(ripgrep_reading(index, name), dataset, running, name))


def _row(
    search: Search, dataset: Dataset, running: RunOptions, name: str, measure: MetricFunction = lambda *_: {}
) -> Result:
    def show(done: int) -> None:
        running.on_progress(Progress("asking", done, len(dataset.cases), f"questions, {name}"))

    def also(
        keys: Sequence[str], qrels: Mapping[str, float], found: Sequence[SearchResult]
    ) -> Mapping[str, float]:
        return {**measure(keys, qrels, found), **running.also(keys, qrels, found)}

    return evaluate(search, dataset, ks=running.ks, name=name, depth=running.depth, also=also, on_case=show)


def _cuts(ks: Sequence[int], metric: str) -> tuple[int, ...]:
    """Return where metrics are cut, so that the one that decides is among them."""
    own = _CUT.match(metric)
    return tuple(sorted({*ks, *([int(own[1])] if own else [])}))


def _left_out(results: Iterable[Result], running: RunOptions) -> str:
    done = {row.mode for row in results}
    return ", ".join(name for name in running.names if name not in done)


def _about(index: Index, running: RunOptions, results: Sequence[Result]) -> dict[str, object]:
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
        "filters": running.filters,
        "excluded": len(settings.exclude),
        "depth": max(running.depth, *running.ks),
        "left_out": _left_out(results, running),
    }
