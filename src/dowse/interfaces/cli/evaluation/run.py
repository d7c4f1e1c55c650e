"""`dowse eval`: run datasets and write a report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from dowse.errors import EvalError
from dowse.eval.about import about
from dowse.eval.configurations import DEFAULT_BASELINE, Configuration
from dowse.eval.manifest import Entry, read_manifest
from dowse.eval.reports.aggregate import make_report
from dowse.eval.reports.model import Report, SetReport
from dowse.eval.run import RunOptions, ShowProgress, run_dataset, search_root
from dowse.eval.systems import named_system
from dowse.eval.types import Dataset
from dowse.interfaces.cli.command import EXIT_FOUND
from dowse.interfaces.cli.evaluation.mining import build, build_entry, mined_dataset
from dowse.interfaces.cli.evaluation.output import check_output_path, progress, write_report
from dowse.interfaces.cli.evaluation.parser import chosen_configurations, split_list
from dowse.interfaces.cli.printing import print_message
from dowse.lazy_classes import replace
from dowse.source.corpus import is_corpus

_INDEX_SETTINGS = ("backend", "exclude", "strip_docs", "encoder", "view", "reranker")
# Facts about the index that a report states once if all datasets share them.
_SHARED_FACTS = ("view", "fusion", "vectors", "depth")


def evaluate(options: argparse.Namespace) -> int:
    """Run the datasets that the flags name, and report the metrics."""
    if options.build and not options.manifest:
        return build(options)
    check_output_path(options.report)
    configurations = chosen_configurations(options)
    entries = named_entries(options)
    if options.build:
        for entry in entries:
            build_entry(entry, options)
    report = run(entries, options, configurations)
    write_report(report, options)
    return EXIT_FOUND


def named_entries(options: argparse.Namespace) -> list[Entry]:
    """Return the entries of the manifest, or one entry for the other flags."""
    if not options.manifest:
        return [_single_entry(options)]
    for flag in ("dataset", "path"):
        if getattr(options, flag):
            raise EvalError(f"--manifest names datasets and repositories; leave the {flag} out")
    return read_manifest(Path(options.manifest))


def _single_entry(options: argparse.Namespace) -> Entry:
    name, dataset = "", options.dataset
    if not dataset:
        name, dataset = mined_dataset(options)
    return Entry(
        name=name,
        dataset=str(dataset),
        watched_dir=_default_root(options.path, str(dataset)),
        store_dir=options.index_dir or "",
        level=options.level,
        queries=options.queries,
        checkouts=Path(options.checkouts) if options.checkouts else None,
        strip_docs=options.strip_docs,
    )


def _default_root(path: str | None, dataset: str) -> Path | None:
    """Return what to search: plain cases search the current folder, other datasets name their own."""
    if path:
        return Path(path).expanduser()
    return Path() if Path(dataset).is_file() and not is_corpus(dataset) else None


def run(
    entries: Sequence[Entry], options: argparse.Namespace, configurations: tuple[Configuration, ...]
) -> Report:
    """Run every row on every dataset."""
    running = _running(options, configurations)
    # All is read before anything is run: a mistake in the last dataset must not show after an hour.
    datasets = [(entry, each) for entry in entries for each in entry.datasets(options.level, options.half)]
    for entry, dataset in datasets:
        search_root(dataset, entry.watched_dir)
    with progress(options.quiet) as show:
        sets = [_run_set(entry, dataset, running, options.index, show) for entry, dataset in datasets]
    for left_out in dict.fromkeys(str(each.dataset.index["left_out"]) for each in sets):
        if left_out:
            print_message(f"left out, because there is no encoder or graph: {left_out}")
    for each in sets:
        name = f"{each.dataset.name}: " if len(sets) > 1 else ""
        for note in each.dataset.notes:
            print_message(f"{name}{note}")
    return make_report({**about(["dowse", *sys.argv[1:]]), **_facts(sets, options)}, sets)


def _running(options: argparse.Namespace, configurations: tuple[Configuration, ...]) -> RunOptions:
    running = RunOptions(
        configurations=configurations,
        systems=tuple((each, named_system(each)) for each in split_list(options.systems)),
        ks=_ks(options.ks),
        depth=options.depth,
        settings=tuple((name, getattr(options, name)) for name in _INDEX_SETTINGS),
    )
    against = options.against or DEFAULT_BASELINE
    if options.against and against not in running.names:
        raise EvalError(f"--against {against} is no row of these: {', '.join(running.names)}")
    return replace(running, against=against if against in running.names else "")


def _run_set(
    entry: Entry, dataset: Dataset, running: RunOptions, index: bool, show: ShowProgress
) -> SetReport:
    # An index that the user names is not updated without --index.
    refresh = index or not entry.store_dir
    running = replace(running, on_progress=show)
    return run_dataset(dataset, entry.watched_dir, running, entry.index_dir(dataset), refresh=refresh)


def _facts(sets: Sequence[SetReport], options: argparse.Namespace) -> dict[str, object]:
    """Return what the datasets of a run have in common, for the report."""
    encoders = [str(each.dataset.index["encoder"]) for each in sets]
    indexes = [each.dataset.index for each in sets]
    shared = {name: indexes[0][name] for name in _SHARED_FACTS if len({str(i[name]) for i in indexes}) == 1}
    return {
        "encoder": ", ".join(dict.fromkeys(encoders)),
        "half": options.half,
        "settings": shared,
        "searching": "lanes in turn in one process, without time limits",
    }


def _ks(text: str) -> tuple[int, ...]:
    try:
        ks = sorted({int(each) for each in split_list(text)})
    except ValueError:
        ks = []
    if not ks or ks[0] < 1:
        raise EvalError(f"--ks is a list of numbers such as 1,5,10, not {text!r}")
    return tuple(ks)
