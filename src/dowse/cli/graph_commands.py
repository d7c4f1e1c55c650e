"""The questions to the graph as commands; each returns the exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from dowse.api import Index
from dowse.cli.main import ERROR, FOUND, NOTHING
from dowse.cli.output import Style, print_json
from dowse.cli.prepare import open_index, prepare, say

if TYPE_CHECKING:
    from dowse.graph.answer import GraphAnswer


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
    from dowse.naming import AmbiguousName

    index = open_index(options, refresh=options.refresh)
    prepare(index)
    try:
        answer = question(index)
    except AmbiguousName as error:
        if options.json:
            from dowse.graph_json import candidates_to_json

            print_json(candidates_to_json(error.name, error.candidates))
        say(str(error))
        return ERROR
    _write(answer, options)
    return FOUND if answer.steps else NOTHING


def _write(answer: GraphAnswer, options: argparse.Namespace) -> None:
    if options.json:
        from dowse.graph_json import graph_to_json

        print_json(graph_to_json(answer))
        return
    for note in answer.notes:
        say(note)
    if options.dot or options.mermaid:
        from dowse.graph.render_picture import to_dot, to_mermaid

        sys.stdout.write(to_dot(answer) if options.dot else to_mermaid(answer))
    elif answer.steps:
        from dowse.cli.graph_text import render_graph

        sys.stdout.write(render_graph(answer, Style.choose(options.color)))
