"""Run sets: from flags to rows, sets and a report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dowse.errors import EvalError
from dowse.eval.about import about
from dowse.eval.budget import TOKENS, read_budgets
from dowse.eval.configurations import USUAL, Way, row_to_compare_with
from dowse.eval.filtering import check_filters
from dowse.eval.manifest import Entry, read_manifest
from dowse.eval.means import make_report
from dowse.eval.reports.model import Report, SetReport
from dowse.eval.run import Running, ShowProgress, run_dataset, searched
from dowse.eval.systems.named import named_system
from dowse.eval.systems.ripgrep import find_ripgrep
from dowse.eval.types import Dataset
from dowse.formats.text import print_json, render_models
from dowse.interfaces.cli.common import say
from dowse.interfaces.cli.evaluation.mining import build, build_entry, mined
from dowse.interfaces.cli.evaluation.output import check_places, deliver
from dowse.interfaces.cli.evaluation.progress import progress
from dowse.interfaces.cli.evaluation.rows import chosen_ways, listed
from dowse.interfaces.cli.main import FOUND
from dowse.source.corpus import is_corpus

_INDEX_SETTINGS = ("backend", "exclude", "strip_docs", "encoder", "view", "reranker")
# What reports say of the index as a whole, where all sets have it in common.
_SHARED_FACTS = ("view", "fusion", "vectors", "filters", "depth")


def evaluate(options: argparse.Namespace) -> int:
    """Run what the flags name and show how good it was."""
    if options.list_models:
        return _list_models(options)
    if options.build and not options.manifest:
        return build(options)
    check_places(options)
    ways = chosen_ways(options)
    entries = named_entries(options)
    if options.build:
        for entry in entries:
            build_entry(entry, options)
    report = run(entries, options, ways)
    deliver(report, options)
    return FOUND


def _list_models(options: argparse.Namespace) -> int:
    from dowse.encoders.registry import available_encoders

    models = available_encoders()
    if options.json:
        print_json([model._asdict() for model in models])
    else:
        sys.stdout.write(render_models(models))
    return FOUND


def named_entries(options: argparse.Namespace) -> list[Entry]:
    """Return the entries of the manifest, or what the flags name as if it stood in one."""
    if not options.manifest:
        return [_single(options)]
    for flag in ("dataset", "path"):
        if getattr(options, flag):
            raise EvalError(f"--manifest names what is asked and searched; leave the {flag} out")
    return read_manifest(Path(options.manifest))


def _single(options: argparse.Namespace) -> Entry:
    name, dataset = "", options.dataset
    if not dataset:
        name, dataset = mined(options)
    return Entry(
        name=name,
        dataset=str(dataset),
        watched_dir=_usual_root(options.path, str(dataset)),
        store_dir=options.index_dir or "",
        level=options.level,
        queries=options.queries,
        checkouts=Path(options.checkouts) if options.checkouts else None,
        strip_docs=options.strip_docs,
    )


def _usual_root(path: str | None, dataset: str) -> Path | None:
    """Return what to search: plain cases ask about the folder one is in, other sets name their own."""
    if path:
        return Path(path).expanduser()
    return Path() if Path(dataset).is_file() and not is_corpus(dataset) else None


def run(entries: Sequence[Entry], options: argparse.Namespace, ways: tuple[Way, ...]) -> Report:
    """Run every row on every set."""
    running = _running(options, ways)
    # All is read before anything is run: a mistake in the last set must not show after an hour.
    asked = [(entry, each) for entry in entries for each in entry.datasets(options.level, options.half)]
    for entry, dataset in asked:
        searched(dataset, entry.watched_dir)
        check_filters(_filters(entry, running))
    with progress(options.quiet) as show:
        sets = [_run_set(entry, dataset, running, options.index, show) for entry, dataset in asked]
    for left_out in dict.fromkeys(str(each.dataset.index["left_out"]) for each in sets):
        if left_out:
            say(f"left out, for want of an encoder or a graph: {left_out}")
    for each in sets:
        name = f"{each.dataset.name}: " if len(sets) > 1 else ""
        for note in each.dataset.notes:
            say(f"{name}{note}")
    return make_report({**about(["dowse", *sys.argv[1:]]), **_facts(sets, options)}, sets)


def _running(options: argparse.Namespace, ways: tuple[Way, ...]) -> Running:
    running = Running(
        ways=ways,
        systems=tuple(named_system(each) for each in listed(options.systems)),
        ks=_ks(options.ks),
        depth=options.depth,
        filters=options.filters,
        settings=tuple((name, getattr(options, name)) for name in _INDEX_SETTINGS),
        budgets=_budgets(options.budget),
    )
    against = row_to_compare_with(running.names, options.against or USUAL)
    if options.against and not against:
        raise EvalError(f"--against {options.against} is no row of these: {', '.join(running.names)}")
    return replace(running, against=against)


def _run_set(entry: Entry, dataset: Dataset, running: Running, index: bool, show: ShowProgress) -> SetReport:
    # An index that the user named is taken as it is, unless he says otherwise.
    refresh = index or not entry.store_dir
    running = replace(running, filters=_filters(entry, running), on_progress=show)
    return run_dataset(dataset, entry.watched_dir, running, entry.index_dir(dataset), refresh=refresh)


def _filters(entry: Entry, running: Running) -> str:
    """Return what every question of an entry is asked with."""
    return " ".join(filter(None, (running.filters, entry.filters)))


def _facts(sets: Sequence[SetReport], options: argparse.Namespace) -> dict[str, object]:
    """Return what the sets of a run have in common, for the report."""
    used = [Path(model).name for model in listed(options.models)]
    encoders = used or [str(each.dataset.index["encoder"]) for each in sets]
    indexes = [each.dataset.index for each in sets]
    shared = {name: indexes[0][name] for name in _SHARED_FACTS if len({str(i[name]) for i in indexes}) == 1}
    return {
        "encoder": ", ".join(dict.fromkeys(encoders)),
        "half": options.half,
        "settings": shared,
        "searching": "lanes in turn in one process, without time limits",
        **({"tokens": TOKENS} if options.budget else {}),
    }


def _budgets(text: str) -> tuple[int, ...]:
    """Return after how many tokens to look; ripgrep, which they are compared with, must be there."""
    if not text:
        return ()
    budgets = read_budgets(text)
    find_ripgrep()
    return budgets


def _ks(text: str) -> tuple[int, ...]:
    try:
        ks = sorted({int(each) for each in listed(text)})
    except ValueError:
        ks = []
    if not ks or ks[0] < 1:
        raise EvalError(f"--ks is a list of numbers such as 1,5,10, not {text!r}")
    return tuple(ks)
