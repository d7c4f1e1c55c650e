"""`dowse feedback`: list, record, reset and export which results were chosen."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence

from dowse.errors import DowseError
from dowse.feedback.events import EVENT_KINDS, MAX_COUNTED_RANK, Event
from dowse.feedback.store import FeedbackCount, FeedbackDamaged
from dowse.formats.json_format import json_line
from dowse.formats.text import format_age
from dowse.index import Index
from dowse.interfaces.cli import flags
from dowse.interfaces.cli.command import EXIT_FOUND, EXIT_NOTHING, CommandParser
from dowse.interfaces.cli.common import ensure_current, open_index
from dowse.interfaces.cli.printing import print_json, print_line, print_message
from dowse.security.terminal import escape_name
from dowse.types import SymbolRow

# The visitor that events of the command line are recorded for.
VISITOR = "cli"


def main(arguments: Sequence[str]) -> int:
    """Run one of the subcommands; without one, `list`."""
    options = build_parser().parse_args(arguments or ["list"])
    return int(options.run(options))


def _list(options: argparse.Namespace) -> int:
    index = open_index(options)
    counts = index.feedback.counts(options.query, options.top_k or None)
    symbols = _symbols(index, {count.symbol for count in counts})
    if options.json:
        described = [(count, _describe(symbols.get(count.symbol))) for count in counts]
        print_json([{**count._asdict(), "location": location} for count, location in described])
    else:
        sys.stdout.writelines(_line(count, symbols) for count in counts)
    if not counts:
        print_message(f"nothing was chosen in {index.root} yet")
    elif not index.settings.feedback:
        print_message("feedback is switched off by the setting `feedback`: this changes no answer")
    return EXIT_FOUND if counts else EXIT_NOTHING


def _record(options: argparse.Namespace) -> int:
    from dowse.symbol_lookup import resolve

    index = open_index(options)
    if not index.settings.feedback:
        raise DowseError("feedback is switched off; set `feedback` to true to record any")
    ensure_current(index)

    with index.backend.reader() as reader:
        row = resolve(reader, options.symbol.removeprefix(f"{index.root}/"))
    rank = _rank(index, options.query, row)
    index.feedback.record(Event(options.query, row.key, options.kind, VISITOR, rank))
    print_line(f"{options.kind}: {_describe(row)} for “{options.query}”")
    if not rank:
        print_message(
            f"it is not among the first {MAX_COUNTED_RANK:,} hits of this query, so no answer changes; "
            "record it for a query that finds it"
        )
    return EXIT_FOUND


def _rank(index: Index, query: str, row: SymbolRow) -> int:
    """Return the rank of a symbol in the answer to a query, from 1; 0 if it is not in there."""
    answer = index.search(query, k=MAX_COUNTED_RANK, feedback=False, embed=False)
    return next((hit.rank for hit in answer.hits if hit.symbol.id == row.key), 0)


def _reset(options: argparse.Namespace) -> int:
    index = open_index(options)
    try:
        removed = index.feedback.reset(options.query)
    except FeedbackDamaged:
        if not options.all:
            raise
        index.feedback.destroy()
        print_line(f"removed {index.feedback.path}, which could not be read")
        return EXIT_FOUND
    if options.all:
        index.feedback.destroy()
    scope = f"for “{options.query}”" if options.query else f"in {index.root}"
    print_line(f"forgot {removed:,} {'choice' if removed == 1 else 'choices'} {scope}")
    return EXIT_FOUND if removed else EXIT_NOTHING


def _export(options: argparse.Namespace) -> int:
    code = EXIT_NOTHING
    for event in open_index(options).feedback.events():
        sys.stdout.write(json_line(event._asdict()))
        code = EXIT_FOUND
    return code


def _symbols(index: Index, keys: set[str]) -> Mapping[str, SymbolRow]:
    """Return the symbols that are still in the index, by key."""
    if not keys or not index.exists:
        return {}
    with index.backend.reader() as reader:
        return {row.key: row for row in reader.rows_by_key(sorted(keys))}


def _line(count: FeedbackCount, symbols: Mapping[str, SymbolRow]) -> str:
    votes = f"{count.chosen}×" + (f" −{count.down}" if count.down else "")
    symbol = _describe(symbols.get(count.symbol)) or f"{count.symbol} (not in the index)"
    query = escape_name(count.query)
    return f"{votes:<7} {query}\t{escape_name(symbol)}\t{format_age(int(count.last))}\n"


def _describe(row: SymbolRow | None) -> str:
    return f"{row.path}:{row.start_line} {row.qualified_name}" if row else ""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `dowse feedback` and its steps."""
    parser = CommandParser(
        "feedback",
        prog="dowse feedback",
        description="What was chosen before is ranked first; it stays on this machine (docs/FEEDBACK.md).",
    )
    subparsers = parser.add_subparsers(metavar="STEP", required=True)

    def add(name: str, summary: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        command = subparsers.add_parser(
            name, help=summary, description=summary[0].upper() + summary[1:] + "."
        )
        command.set_defaults(run=run)
        return command

    command = add("list", "list the chosen results and their queries", _list)
    command.add_argument("--query", metavar="Q", help="only for this query")
    command.add_argument("-k", "--top-k", type=int, default=50, metavar="N", help="how many (0: all)")
    flags.add(command, "--json", "target")
    command = add("record", "record that a symbol answers a query, or does not", _record)
    command.add_argument("query", help="the query, as it is searched for")
    command.add_argument("symbol", help=flags.SYMBOL_HELP)
    command.add_argument("--kind", choices=EVENT_KINDS, default="up", help="how it was chosen (default: up)")
    flags.add(command, "target")
    command = add("reset", "delete feedback", _reset)
    group = command.add_mutually_exclusive_group(required=True)
    group.add_argument("--query", metavar="Q", help="of this query")
    group.add_argument("--all", action="store_true", help="of all queries")
    flags.add(command, "target")
    flags.add(add("export", "write every choice as a line of JSON, the latest first", _export), "target")
    return parser
