"""`dowse search --workspace FILE`: one question over several repositories."""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from dowse.errors import DowseError, UsageError
from dowse.index import Index
from dowse.interfaces.cli.addresses import local_path
from dowse.interfaces.cli.command import EXIT_FOUND, EXIT_NOTHING
from dowse.interfaces.cli.common import embed_in_background, ensure_current, environment, flag_settings
from dowse.interfaces.cli.grep_flags import context_lines
from dowse.interfaces.cli.output import output_format, write_answer
from dowse.interfaces.cli.places import Place
from dowse.interfaces.cli.printing import print_message
from dowse.services.indexes import ServedIndex, ServedIndexes
from dowse.services.merge import LOOKAHEAD, IndexResult, merge_answers, merge_hits, merge_notes
from dowse.services.workspace import read_workspace
from dowse.types import Answer, Hit


def search_workspace(options: argparse.Namespace, values: dict[str, Any]) -> int:
    """Search every repository of a workspace and write one answer."""
    if options.index_dir or options.backend or context_lines(options):
        raise UsageError("--workspace goes without --index-dir, --backend, -A, -B and -C")
    here = Path(environment.get().folder or os.curdir)
    workspace = read_workspace(here / Path(options.workspace).expanduser())
    if workspace.note:
        print_message(workspace.note)
    started = time.perf_counter()
    indexes = ServedIndexes.create([_open(place, options) for place in workspace.places])
    k = values.get("k") or max(each.index.settings.top_k for each in indexes)
    results = [_search(each, options, {**values, "k": k + LOOKAHEAD}) for each in indexes]
    if all(each.answer is None for each in results):
        raise results[0].error or DowseError("no repository could be searched")
    if output_format(options) == "json":
        from dowse.formats.json_format import json_document

        took = 1000 * (time.perf_counter() - started)
        document = merge_answers(options.query, results, 0, k, took)
        sys.stdout.write(json_document(document))
        return EXIT_FOUND if document["hits"] else EXIT_NOTHING
    answer = _merge(results, {each.name: each.index.root for each in indexes}, k)
    options.place, options.path = Place(Path.cwd()), "."
    write_answer(answer, options, next(iter(indexes)).index)
    indexes.close()
    return EXIT_FOUND if answer.hits else EXIT_NOTHING


def _open(place: str, options: argparse.Namespace) -> Index:
    index = Index.open(
        local_path(place, fresh=options.fresh), **flag_settings(options)
    ).keep_lanes_in_process()
    ensure_current(index)
    embed_in_background(index)
    return index


def _search(served: ServedIndex, options: argparse.Namespace, values: dict[str, Any]) -> IndexResult:
    try:
        return IndexResult(served.name, served.index.search(options.query, **values))
    except DowseError as error:
        return IndexResult(served.name, None, error)


def _merge(results: list[IndexResult], roots: dict[str, Path], k: int) -> Answer:
    """Return one answer, whose paths can be opened from the current folder."""
    answers = {each.index: each.answer for each in results if each.answer is not None}
    plans = {(*each.plan.lanes, each.plan.fusion) for each in answers.values() if each.plan}
    lists = [
        [
            {"confidence": hit.confidence, "score": hit.score, "hit": _moved(hit, roots[name])}
            for hit in answer
        ]
        for name, answer in answers.items()
    ]
    hits = [each["hit"] for each in merge_hits(lists, same_scores=len(plans) < 2)][:k]
    first = next(iter(answers.values()))
    return replace(
        first,
        hits=tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits, 1)),
        total_candidates=sum(each.total_candidates for each in answers.values()),
        notes=tuple(merge_notes(results)),
    )


def _moved(hit: Hit, root: Path) -> Hit:
    path = root / hit.symbol.path
    here = Path.cwd()
    shown = path.relative_to(here) if path.is_relative_to(here) else path
    return replace(hit, symbol=replace(hit.symbol, path=str(shown)))
