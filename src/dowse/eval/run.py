"""Run configurations and tools on a dataset: a clean index of its tree, then a row for each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from dowse.encoders.cross_encoder import load_cross_encoder
from dowse.errors import EvalError
from dowse.eval.clean_index import check_leakage, open_clean_index
from dowse.eval.configurations import Configuration, runnable
from dowse.eval.evaluate import DEPTH, KS, evaluate
from dowse.eval.index_targets import note_missing_targets
from dowse.eval.metrics import MRR_CUT
from dowse.eval.reports.model import SetFacts, SetReport
from dowse.eval.systems import MakeSystem
from dowse.eval.types import GIT, Dataset, Result, Search
from dowse.index import Index
from dowse.lazy_classes import dataclass, replace
from dowse.query.long_text import read_long_text
from dowse.search.ranking.question_kinds import asks_for_change, question_kinds
from dowse.source.git import head_commit
from dowse.types import Hit

# Metrics with a cut-off of their own; MRR is always cut at 100.
_METRIC = re.compile(r"(?:ndcg|recall|hit|precision)@([1-9][0-9]*)\Z")
_MRR = f"mrr@{MRR_CUT}"
# Of a page of results: so many ranks are shared out among clusters where a row diversifies.
_PAGE_SIZE = 10


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
    settings: tuple[tuple[str, object], ...] = ()  # of the index
    on_progress: ShowProgress = lambda _: None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the rows."""
        return (*(each.name for each in self.configurations), *(name for name, _ in self.systems))


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
    index = open_clean_index(
        search_root(dataset, root),
        [dataset],
        settings=dict(options.settings),
        index_dir=index_dir,
        strip_docs=dataset.strip_docs,
    )
    with index:
        if any(each.options.get("rerank") for each in options.configurations):
            load_cross_encoder(index.settings.reranker)  # a search would go on without one that is missing
        prepare_index(index, options.on_progress, refresh=refresh)
        notes = [dataset.exclusion_note, note_missing_targets(index, dataset)]
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


def prepare_index(index: Index, show: ShowProgress = lambda _: None, *, refresh: bool = True) -> None:
    """Bring an index up to date; one that is used as it is must hold no answers."""
    if refresh or not index.exists:
        index.update(
            embed=False, on_progress=lambda at: show(Progress("indexing", at.done, at.total, "files"))
        )
    else:
        check_leakage(index)


def embed(index: Index, show: ShowProgress = lambda _: None) -> None:
    """Compute the missing vectors of an index, if it has an encoder."""
    if index.settings.encoder != "none":
        missing = index.vectors.missing()
        if missing:
            show(Progress("embedding", 0, missing, "symbols"))
        index.vectors.embed(on_progress=lambda at: show(Progress("embedding", at.done, at.total, "symbols")))


def learn(index: Index, dataset: Dataset, show: ShowProgress = lambda _: None) -> None:
    """Learn the adapter of an index, from nothing that is as new as the oldest question.

    Only where a question is adapted: to mine a large history takes minutes.
    """
    can_learn = index.settings.encoder != "none" and index.settings.adapter and head_commit(index.root)
    if can_learn and any(_is_adapted(case.query) for case in dataset.cases):
        show(Progress("learning", 0, 1, "histories"))
        index.vectors.learn(tuple(case.id for case in dataset.cases if case.source == GIT))


def _is_adapted(query: str) -> bool:
    """Whether the adapter of an index counts for a query: long texts are taken as requests for a change."""
    return asks_for_change(question_kinds(query)) or read_long_text(query) is not None


def make_search(index: Index, configuration: Configuration) -> Search:
    """Return a search that takes queries as plain words: a colon in a commit's subject is no filter."""

    def search(query: str, k: int) -> Sequence[Hit]:
        # The user's settings for interactive searches must not change a row.
        fixed = {"plain": True, "feedback": False, "diversify": ""}
        return index.search(
            query, k=k, page_size=_PAGE_SIZE, embed=False, **{**fixed, **configuration.options}
        ).hits

    return search


def runnable_configurations(index: Index, configurations: Iterable[Configuration]) -> list[Configuration]:
    """Return the configurations that an index supports: embeddings need an encoder, the graph needs code."""
    with index.backend.reader() as reader:
        graph = not reader.is_corpus
    return runnable(configurations, vectors=index.settings.encoder != "none", graph=graph)


def _all_rows(index: Index, dataset: Dataset, options: RunOptions) -> Iterator[Result]:
    """Run configurations, then other tools."""
    yield from _configuration_rows(index, dataset, options)
    for name, make in options.systems:
        yield _row(make(index, dataset.level), dataset, options, name)


def _configuration_rows(index: Index, dataset: Dataset, options: RunOptions) -> Iterator[Result]:
    """Run the configurations that the index supports."""
    # What is measured depends on what is run here, never on which vectors an earlier run has left.
    if any(each.uses_vectors for each in options.configurations):
        embed(index, options.on_progress)
        learn(index, dataset, options.on_progress)
    for each in runnable_configurations(index, options.configurations):
        if each.needs_counts:  # else the first query would take their time
            index.internals.count_terms(
                on_progress=lambda at: options.on_progress(Progress("counting", at.done, at.total, "texts"))
            )
        yield _row(make_search(index, each), dataset, options, each.name)


def _row(search: Search, dataset: Dataset, options: RunOptions, name: str) -> Result:
    def show(done: int) -> None:
        options.on_progress(Progress("asking", done, len(dataset.cases), f"questions, {name}"))

    return evaluate(search, dataset, ks=options.ks, name=name, depth=options.depth, on_case=show)


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
        "excluded": len(settings.exclude),
        "depth": max(options.depth, *options.ks),
        "left_out": _missing_rows(results, options),
    }
