"""`dowse log`: search the commits of a repository."""

from __future__ import annotations

import argparse
import sys

from dowse.formats.commits import commit_lines
from dowse.interfaces.cli import flags
from dowse.interfaces.cli.command import EXIT_FOUND, EXIT_NOTHING, CommandParser
from dowse.interfaces.cli.common import open_index
from dowse.interfaces.cli.printing import print_json, print_message
from dowse.interfaces.cli.query_words import ends_in_word, is_place
from dowse.json_form import to_json
from dowse.progress import ProgressBar


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse log`."""
    parser.usage = "dowse log [OPTION ...] QUERY ... [PATH]"
    parser.add_argument(
        "words",
        nargs="*",
        metavar="QUERY",
        help='words, author:NAME, since:2024-05-01 or since:"3 months ago", path:GLOB. '
        "The last one is a PATH if it exists and has a / or an ending, or follows a "
        "single argument (default: .)",
    )
    parser.add_argument("--repo", metavar="PATH", help="the repository: a path or a git address")
    parser.add_argument("--symbol", metavar="NAME", help="only commits that changed this definition")
    flags.add(parser, "--fresh", "--encoder")
    flags.add_top_k(parser, 10)
    flags.add(parser, "--json")


def run(options: argparse.Namespace) -> int:
    """Search the commits, reading new ones first."""
    query, options.path = _query(options)
    index, below = open_index(options), options.place.below
    asked = query
    if below and " path:" not in f" {query}":
        asked += f' path:"{below}{"/**" if (index.root / below).is_dir() else ""}"'
    with (
        ProgressBar("reading", "commits", quiet=options.json) as reading,
        ProgressBar("encoding", "commits", quiet=options.json) as encoding,
    ):
        hits = index.log(asked, options.top_k, on_progress=encoding.show, on_read=reading.show)
    if options.json:
        print_json({"query": query, "commits": to_json(hits)})
    else:
        sys.stdout.write("".join(f"{line}\n" for hit in hits for line in commit_lines(hit)))
    if not hits:
        print_message("no commit is about this")
    return EXIT_FOUND if hits else EXIT_NOTHING


def _query(options: argparse.Namespace) -> tuple[str, str]:
    """Return the query and the place."""
    words, place = list(options.words), options.repo or "."
    has_place = not options.repo and words and (len(words) > 1 or options.symbol) and not ends_in_word(words)
    if has_place and is_place(words[-1]):
        place = words.pop()
    if options.symbol:
        words.append(f'symbol:"{options.symbol}"')
    from dowse.source.git_address import is_address

    if is_address(place):
        from dowse.interfaces.cli.addresses import local_path

        place = local_path(place, fresh=options.fresh, history=True)
    return " ".join(words), place
