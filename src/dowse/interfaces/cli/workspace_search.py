"""`dowse search --workspace FILE`: one question over several repositories."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

from dowse.answer import Answer
from dowse.errors import DowseError, UsageError
from dowse.index import Index
from dowse.interfaces.cli.addresses import local_path
from dowse.interfaces.cli.command import EXIT_FOUND, EXIT_NOTHING
from dowse.interfaces.cli.common import embed_in_background, ensure_current, environment, flag_settings
from dowse.interfaces.cli.grep_flags import context_lines
from dowse.interfaces.cli.output import output_format, write_answer
from dowse.interfaces.cli.places import Place
from dowse.interfaces.cli.printing import print_message
from dowse.json_form import document
from dowse.lazy_classes import replace
from dowse.services.indexes import ServedIndex, ServedIndexes
from dowse.services.merge import LOOKAHEAD, IndexResult, SearchPage, merge_answers
from dowse.services.workspace import read_workspace
from dowse.types import Hit


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
    page = merge_answers(options.query, results, 0, k, 1000 * (time.perf_counter() - started))
    if output_format(options) == "json":
        from dowse.formats.json_format import json_document

        sys.stdout.write(json_document(document(page)))
    else:
        options.place, options.path = Place(Path.cwd()), "."
        answer = _answer(page, {each.name: each.index.root for each in indexes})
        write_answer(answer, options, next(iter(indexes)).index)
    indexes.close()
    return EXIT_FOUND if page.hits else EXIT_NOTHING


def _open(place: str, options: argparse.Namespace) -> Index:
    index = Index.open(
        local_path(place, fresh=options.fresh), **flag_settings(options)
    ).internals.keep_lanes_in_process()
    ensure_current(index)
    embed_in_background(index)
    return index


def _search(served: ServedIndex, options: argparse.Namespace, values: dict[str, Any]) -> IndexResult:
    try:
        return IndexResult(served.name, served.index.search(options.query, embed=False, **values))
    except DowseError as error:
        return IndexResult(served.name, None, error)


def _answer(page: SearchPage, roots: dict[str, Path]) -> Answer:
    """Return a page as one answer, whose paths can be opened from the current folder."""
    hits = tuple(_moved(each.hit, roots[each.index]) for each in page.hits)
    found = (page.query, page.mode, hits, page.candidates, page.generation)
    return Answer(*found, page.notes, page.embedded, page.plan, page.lanes)


def _moved(hit: Hit, root: Path) -> Hit:
    path = root / hit.symbol.path
    here = Path.cwd()
    shown = path.relative_to(here) if path.is_relative_to(here) else path
    return replace(hit, symbol=replace(hit.symbol, path=str(shown)))
