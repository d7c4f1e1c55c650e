"""The questions to the graph as commands; each returns the exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from dowse.formats.text import print_json
from dowse.formats.write import chosen_format, write_graph
from dowse.index import Index
from dowse.interfaces.cli.common import open_index, prepare, say_error
from dowse.interfaces.cli.main import ERROR, FOUND, NOTHING

if TYPE_CHECKING:
    from dowse.graph.model import GraphAnswer
    from dowse.symbol_lookup import AmbiguousName


def callers(options: argparse.Namespace) -> int:
    """List who calls a symbol."""
    return _list(options, Index.callers)


def callees(options: argparse.Namespace) -> int:
    """List what a symbol calls."""
    return _list(options, Index.callees)


def uses(options: argparse.Namespace) -> int:
    """List every reference to a symbol."""
    return _list(options, Index.uses)


def implementers(options: argparse.Namespace) -> int:
    """List what implements an interface, or overrides a method."""
    return _list(options, Index.implementers)


def subclasses(options: argparse.Namespace) -> int:
    """List what extends a class."""
    return _list(options, Index.subclasses)


def impact(options: argparse.Namespace) -> int:
    """List what a change would touch, tests apart."""
    return _list(options, Index.impact)


def path(options: argparse.Namespace) -> int:
    """Show the shortest chain from one symbol to another."""
    return _show(options, lambda index: index.path(options.start, options.end, options.depth))


def _list(options: argparse.Namespace, question: Callable[..., GraphAnswer]) -> int:
    return _show(options, lambda index: question(index, options.symbol, options.depth, options.top_k))


def _show(options: argparse.Namespace, question: Callable[[Index], GraphAnswer]) -> int:
    """Ask, and write the answer in the form that was asked for; a name of several symbols asks back."""
    from dowse.symbol_lookup import AmbiguousName

    index = open_index(options, refresh=options.refresh)
    prepare(index)
    try:
        answer = question(index)
    except AmbiguousName as error:
        _write_candidates(error, options)
        say_error(error)
        return ERROR
    write_graph(answer, options, index.root)
    return FOUND if answer.steps else NOTHING


def _write_candidates(error: AmbiguousName, options: argparse.Namespace) -> None:
    """Give programs what a name could mean in their form; people are told beside it."""
    form = chosen_format(options)
    if form not in ("json", "jsonl"):
        return
    from dowse.formats.graph_json import candidates_to_json

    candidates = candidates_to_json(error.name, error.candidates)
    if form == "json":
        print_json(candidates)
    else:
        from dowse.formats.jsonl import json_line

        sys.stdout.write(json_line(candidates))
