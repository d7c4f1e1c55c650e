"""Run sets: from flags to rows, sets and a report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from dowse.cli.evaluation.mining import build, build_entry, mined
from dowse.cli.evaluation.output import deliver
from dowse.cli.main import FOUND
from dowse.cli.output import print_json, render_models
from dowse.config import load_settings
from dowse.errors import EvalError
from dowse.eval.about import about
from dowse.eval.manifest import Entry, read_manifest
from dowse.eval.means import aggregate_by_mode
from dowse.eval.reports.model import Report, SetReport
from dowse.eval.run import Progress, Running, run_dataset
from dowse.eval.systems.named import named_system
from dowse.eval.types import Dataset
from dowse.eval.ways import COMPARED, Way, for_models, way
from dowse.source.corpus import is_corpus

# The row that others are compared with, where it is run.
_DEFAULT = "auto"
_INDEX_SETTINGS = ("exclude", "strip_docs", "encoder", "view")


def evaluate(options: argparse.Namespace) -> int:
    """Run what the flags name and show how good it was."""
    if options.list_models:
        return _list_models(options)
    if options.build and not options.manifest:
        return build(options)
    entries = read_manifest(Path(options.manifest)) if options.manifest else [single(options)]
    if options.build:
        for entry in entries:
            build_entry(entry, options)
    deliver(run(entries, options, _ways(options)), options)
    return FOUND


def _list_models(options: argparse.Namespace) -> int:
    from dowse.encode.models import available

    models = available()
    if options.json:
        print_json([model._asdict() for model in models])
    else:
        sys.stdout.write(render_models(models))
    return FOUND


def single(options: argparse.Namespace) -> Entry:
    """Return what the flags name, as if it stood in a manifest."""
    dataset = options.dataset or str(mined(options))
    return Entry(
        name="",
        dataset=dataset,
        watched_dir=_searched(options.path, dataset),
        store_dir=options.index_dir or "",
        level=options.level,
        queries=options.queries,
        checkouts=Path(options.checkouts) if options.checkouts else None,
        strip_docs=options.strip_docs,
    )


def _searched(path: str | None, dataset: str) -> Path | None:
    """Return what to search: plain cases ask about the folder one is in, other sets name their own."""
    if path:
        return Path(path)
    return Path() if Path(dataset).is_file() and not is_corpus(dataset) else None


def _ways(options: argparse.Namespace) -> tuple[Way, ...]:
    """Return the rows that the flags ask for."""
    names = options.modes.split(",") if options.modes else []
    if options.compare:
        names = [*COMPARED, *names]
    switches = [
        name
        for name, wanted in (
            ("expand", options.expand),
            ("graph", options.graph_expand),
            ("rerank", options.rerank is not None),
            ("diversify", options.diversify),
        )
        if wanted
    ]
    if options.compare:  # each switch on its own, beside the row without it
        names += ["adaptive"] * options.adaptive + [f"{_DEFAULT}+{switch}" for switch in switches]
    else:
        names = names or ["adaptive" if options.adaptive else _DEFAULT]
        names = ["+".join((name, *switches)) for name in names]
    models = [model for model in options.models.split(",") if model]
    return tuple(for_models(ways_named(names, options.rerank), models))


def ways_named(names: Sequence[str], rerank: str | None) -> tuple[Way, ...]:
    """Return ways by their names; without a model for `+rerank` the user's own is meant."""
    model = rerank or load_settings().rerank
    return tuple(way(name.strip(), model) for name in dict.fromkeys(names))


def run(entries: Sequence[Entry], options: argparse.Namespace, ways: tuple[Way, ...]) -> Report:
    """Run every row on every set."""
    sets: list[SetReport] = []
    with _progress(options.quiet) as show:
        running = Running(
            ways=ways,
            systems=tuple(named_system(each) for each in options.systems.split(",") if each),
            ks=_ks(options.ks),
            depth=options.depth,
            against=options.against or _DEFAULT,
            filters=options.filters,
            settings=tuple((name, getattr(options, name)) for name in _INDEX_SETTINGS),
            on_progress=show,
        )
        for entry in entries:
            datasets = entry.datasets(options.level, options.half)
            sets += [_run_entry(entry, dataset, running, options.index) for dataset in datasets]
    facts = about(["dowse", *sys.argv[1:]])
    means = tuple(aggregate_by_mode(row for each in sets for row in each.results).values())
    return Report(_with_facts(facts, sets, options), tuple(sets), means if len(sets) > 1 else ())


def _run_entry(entry: Entry, dataset: Dataset, running: Running, index: bool) -> SetReport:
    running = replace(running, filters=" ".join(filter(None, (running.filters, entry.filters))))
    # An index that the user named is taken as it is, unless he says otherwise.
    refresh = index or not entry.store_dir
    return run_dataset(dataset, entry.watched_dir, running, entry.store_dir, refresh=refresh)


def _with_facts(
    facts: dict[str, object], sets: Sequence[SetReport], options: argparse.Namespace
) -> dict[str, object]:
    encoders = dict.fromkeys(str(each.dataset.index.get("encoder", "")) for each in sets)
    more: dict[str, object] = {"encoder": ", ".join(encoders), "half": options.half}
    if options.models:
        more["encoder"] = ", ".join(Path(model).name for model in options.models.split(","))
    more["settings"] = (
        "lanes in turn in one process, without time limits; times are those of answers of "
        f"{options.depth} hits"
    )
    return {**facts, **more}


def _ks(text: str) -> tuple[int, ...]:
    try:
        ks = tuple(int(each) for each in text.split(","))
    except ValueError:
        ks = ()
    if not ks or min(ks) < 1:
        raise EvalError(f"--ks is a list of numbers such as 1,5,10, not {text!r}")
    return ks


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """Give what shows how far a run is, on a terminal."""
    from dowse.cli.progress import ProgressBar

    enabled = not quiet and sys.stderr.isatty()
    bars: dict[str, ProgressBar] = {}

    def show(at: Progress) -> None:
        key = f"{at.doing} {at.what}"
        if key not in bars:
            for bar in bars.values():
                bar.__exit__(None, None, None)
            bars.clear()
            bars[key] = ProgressBar(enabled, at.doing, at.what)
        bars[key].show(at)

    try:
        yield show
    finally:
        for bar in bars.values():
            bar.__exit__(None, None, None)
