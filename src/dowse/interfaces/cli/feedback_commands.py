"""`dowse feedback`: see, add, forget and take along what was chosen."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping

from dowse.errors import DowseError
from dowse.feedback.events import EVENT_KINDS, Event
from dowse.feedback.store import FeedbackCount, FeedbackDamaged
from dowse.formats.jsonl import json_line
from dowse.formats.text import print_json, render_time
from dowse.index import Index
from dowse.interfaces.cli.common import open_index, prepare, say
from dowse.interfaces.cli.main import FOUND, NOTHING, add_place
from dowse.security.terminal import escape_name
from dowse.types import SymbolRow

# Who chooses on the command line.
VISITOR = "cli"


def feedback(options: argparse.Namespace) -> int:
    """Run one of the steps; without one, list."""
    given = options.arguments or ["list"]
    options = _parser().parse_args(given)
    return int(options.run(options))


def _list(options: argparse.Namespace) -> int:
    index = open_index(options)
    counts = index.feedback.counts(options.query, options.top_k or None)
    names = _named(index, {count.symbol for count in counts})
    if options.json:
        print_json([{**count._asdict(), "place": _place(names.get(count.symbol))} for count in counts])
    else:
        sys.stdout.writelines(_line(count, names) for count in counts)
    if not counts:
        say(f"nothing was chosen in {index.root} yet")
    elif not index.settings.feedback:
        say("feedback is switched off by the setting `feedback`: this changes no answer")
    return FOUND if counts else NOTHING


def _record(options: argparse.Namespace) -> int:
    index = open_index(options)
    if not index.settings.feedback:
        raise DowseError("feedback is switched off; set `feedback` to true to record any")
    prepare(index)
    from dowse.symbol_lookup import resolve

    with index.backend.reader() as reader:
        row = resolve(reader, options.symbol.removeprefix(f"{index.root}/"))
    index.feedback.record(Event(options.query, row.key, options.kind, VISITOR))
    sys.stdout.write(escape_name(f"{options.kind}: {_place(row)} for “{options.query}”") + "\n")
    return FOUND


def _reset(options: argparse.Namespace) -> int:
    index = open_index(options)
    try:
        removed = index.feedback.reset(options.query)
    except FeedbackDamaged:
        if not options.all:
            raise
        index.feedback.destroy()
        sys.stdout.write(escape_name(f"removed {index.feedback.path}, which could not be read") + "\n")
        return FOUND
    of = f"for “{options.query}”" if options.query else f"in {index.root}"
    choices = f"{removed:,} {'choice' if removed == 1 else 'choices'}"
    sys.stdout.write(escape_name(f"forgot {choices} {of}") + "\n")
    return FOUND if removed else NOTHING


def _export(options: argparse.Namespace) -> int:
    found = NOTHING
    for event in open_index(options).feedback.events():
        sys.stdout.write(json_line(event._asdict()))
        found = FOUND
    return found


def _named(index: Index, keys: set[str]) -> Mapping[str, SymbolRow]:
    """Return the symbols that are still there, by id."""
    if not keys or not index.exists:
        return {}
    with index.backend.reader() as reader:
        rows = reader.lookup("*", reader.symbol_count())
    return {row.key: row for row in rows if row.key in keys}


def _line(count: FeedbackCount, names: Mapping[str, SymbolRow]) -> str:
    votes = f"{count.chosen}×" + (f" −{count.down}" if count.down else "")
    place = _place(names.get(count.symbol)) or f"{count.symbol} (not in the index)"
    asked = f"{votes:<7} {escape_name(count.query)}"
    return f"{asked}\t{escape_name(place)}\t{render_time(int(count.last))}\n"


def _place(row: SymbolRow | None) -> str:
    return f"{row.path}:{row.start_line} {row.qualified_name}" if row else ""


def _step(
    steps: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    text: str,
    run: Callable[[argparse.Namespace], int],
) -> argparse.ArgumentParser:
    parser = steps.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    parser.set_defaults(run=run)
    return parser


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dowse feedback",
        description="What was chosen before comes first; it stays on this machine (docs/FEEDBACK.md).",
    )
    steps = parser.add_subparsers(metavar="STEP", required=True)
    each = _step(steps, "list", "list what was chosen, and for which questions", _list)
    each.add_argument("--query", metavar="Q", help="only for this question")
    each.add_argument("-k", "--top-k", type=int, default=50, metavar="N", help="how many (0: all)")
    each.add_argument("--json", action="store_true", help="as JSON")
    add_place(each)
    each = _step(steps, "record", "say that a symbol answers a question, or does not", _record)
    each.add_argument("query", help="the question, as it is asked")
    each.add_argument("symbol", help="file.py:42, name, Class.method, pkg.mod.Class.method")
    each.add_argument("--kind", choices=EVENT_KINDS, default="up", help="how it was chosen (default: up)")
    add_place(each)
    each = _step(steps, "reset", "forget what was chosen", _reset)
    which = each.add_mutually_exclusive_group(required=True)
    which.add_argument("--query", metavar="Q", help="for this question")
    which.add_argument("--all", action="store_true", help="for all of them")
    add_place(each)
    add_place(_step(steps, "export", "write every choice as a line of JSON, the latest first", _export))
    return parser
