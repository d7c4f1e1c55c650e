"""Run ways of searching on a set: an index of its own, without the answers in it, then a row for each way."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dowse.api import Index
from dowse.config import cache_folder
from dowse.errors import EvalError
from dowse.eval.answers import answer_files
from dowse.eval.evaluate import DEPTH, KS, evaluate
from dowse.eval.reports.model import SetFacts, SetReport
from dowse.eval.systems.named import MakeSystem
from dowse.eval.types import Case, Dataset, Result, Search
from dowse.eval.ways import COMPARED, Way, possible, way


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    doing: str  # "indexing", "embedding", "asking"
    done: int
    total: int
    what: str  # "files", "symbols", or the row that is asked


@dataclass(frozen=True, slots=True)
class Running:
    """What is run, and how; the same for every set of a run."""

    ways: tuple[Way, ...]
    systems: tuple[tuple[str, MakeSystem], ...] = ()
    ks: tuple[int, ...] = KS
    depth: int = DEPTH
    against: str = ""
    filters: str = ""  # that every question is asked with
    settings: tuple[tuple[str, object], ...] = ()  # of the index
    on_progress: Callable[[Progress], None] = lambda _: None


def run_dataset(
    dataset: Dataset, root: Path | None, running: Running, index_dir: str = "", *, refresh: bool = True
) -> SetReport:
    """Index what a set asks about and run every way of searching on it.

    Args:
        dataset: The questions.
        root: What to search; None takes what the set itself names.
        running: The rows, and how they are made.
        index_dir: Where the index lies; "" is a place of its own, apart from the user's index.
        refresh: Whether to bring an index that is there up to date first.
    """
    place = root or dataset.root
    if place is None:
        raise EvalError(f"{dataset.name} does not say what it asks about; name what to search")
    if not dataset.cases:
        raise EvalError(f"{dataset.name} has no questions (half: {dataset.half})")
    index = open_index(dataset, place, running, index_dir)
    if refresh or not index.exists:
        _update(index, running)
    try:
        results = [*_rows(index, dataset, running), *_others(index, dataset, running)]
        facts = SetFacts.of(dataset, _about(index, running))
    finally:
        index.close()
    if not results:
        names = ", ".join(each.name for each in running.ways)
        raise EvalError(f"none of {names} can be run on {dataset.name}")
    against = running.against if any(each.mode == running.against for each in results) else ""
    return SetReport(facts, tuple(results), against)


def compare_modes(
    index: Index,
    cases: Dataset | Iterable[Case],
    modes: Sequence[str] = COMPARED,
    *,
    level: str = "",
    ks: Sequence[int] = KS,
    rerank: str = "",
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> list[Result]:
    """Return a row for every way of searching one index that is there.

    Args:
        index: Up to date, and embedded for the ways that need it.
        cases: A dataset, or cases, which are then scored at file level.
        modes: Names of ways, e.g. "keyword", "auto+expand"; those impossible here are left out.
        level: "file" or "symbol"; "" takes the dataset's.
        ks: Where metrics are cut.
        rerank: The folder of the cross-encoder that `+rerank` means.
        on_progress: Called after each question.
    """
    dataset = cases if isinstance(cases, Dataset) else Dataset("", tuple(cases))
    dataset = replace(dataset, level=level or dataset.level)
    ways = tuple(way(name, rerank) for name in modes)
    return list(_rows(index, dataset, Running(ways, ks=tuple(ks), on_progress=on_progress)))


def open_index(dataset: Dataset, root: Path, running: Running, index_dir: str = "") -> Index:
    """Name the index of a set: that of its tree, but without any file that holds answers."""
    given = {name: value for name, value in running.settings if value is not None}
    usual = Index.open(root, **given).settings
    exclude = (*usual.exclude, *answer_files(root, [dataset], exclude=usual.exclude))
    strip = usual.strip_docs or dataset.strip_docs
    place = index_dir or str(_own_place(root, exclude, strip))
    # Lanes in turn, without time limits: what is found must not depend on how busy the machine is.
    fixed: dict[str, Any] = {"exclude": exclude, "strip_docs": strip, "isolation": "never"}
    return Index.open(root, **{**given, "index_dir": place, **fixed})


def _own_place(root: Path, exclude: Sequence[str], strip_docs: bool) -> Path:
    """Return where an index for evaluation lies: never where the user's own does."""
    told = "\n".join((str(root.resolve()), str(strip_docs), *exclude))
    digest = hashlib.blake2b(told.encode(), digest_size=6).hexdigest()
    return cache_folder() / "eval" / f"{root.resolve().name}-{digest}"


def _update(index: Index, running: Running) -> None:
    show = running.on_progress
    index.update(on_progress=lambda at: show(Progress("indexing", at.done, at.total, "files")))


def _embed(index: Index, running: Running) -> None:
    show = running.on_progress
    index.embed(on_progress=lambda at: show(Progress("embedding", at.done, at.total, "symbols")))


def _rows(index: Index, dataset: Dataset, running: Running) -> Iterable[Result]:
    """Run our own ways, those of one encoder after another."""
    with index.backend.reader() as reader:
        graph = not reader.is_corpus
    encoders = dict.fromkeys(each.encoder for each in running.ways)
    for encoder in encoders:
        chosen = [each for each in running.ways if each.encoder == encoder]
        asked = _with_encoder(index, encoder)
        vectors = asked.settings.encoder != "none"
        ways = possible(chosen, vectors=vectors, graph=graph)
        if vectors and any(each.name not in ("keyword", "graph") for each in ways):
            _embed(asked, running)
        for each in ways:
            yield _row(asking(asked, each, running.filters), dataset, running, each.name)
        if asked is not index:
            asked.lanes.close()


def _with_encoder(index: Index, encoder: str) -> Index:
    """Return the same index seen through another encoder; all of them share its words and names."""
    if encoder in ("", index.settings.encoder):
        return index
    return Index(index.root, replace(index.settings, encoder=encoder), index.backend)


def asking(index: Index, chosen: Way, filters: str = "") -> Search:
    """Return a search that takes questions as words: a colon in a commit's subject is no filter."""
    return lambda query, k: index.search(query, k=k, plain=True, filters=filters, **chosen.options).hits


def _others(index: Index, dataset: Dataset, running: Running) -> Iterable[Result]:
    """Run the other tools."""
    for name, make in running.systems:
        yield _row(make(index, dataset.level), dataset, running, name)


def _row(search: Search, dataset: Dataset, running: Running, name: str) -> Result:
    def show(done: int) -> None:
        running.on_progress(Progress("asking", done, len(dataset.cases), f"questions, {name}"))

    return evaluate(search, dataset, ks=running.ks, name=name, depth=running.depth, on_case=show)


def _about(index: Index, running: Running) -> dict[str, object]:
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
        "depth": running.depth,
    }
