"""`dowse log`: search the commits of a repository."""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, Any

from dowse.interfaces.cli import flags
from dowse.interfaces.cli.command import EXIT_FOUND, EXIT_NOTHING, CommandParser
from dowse.interfaces.cli.common import open_index, print_json
from dowse.interfaces.cli.progress import ProgressBar
from dowse.interfaces.cli.query_words import is_place
from dowse.security.secret_masking import mask_text
from dowse.security.terminal import escape_name

if TYPE_CHECKING:
    from dowse.commit_search.search import CommitHit

# Files and symbols of a commit that are shown.
_SHOWN = 5


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse log`."""
    parser.usage = "dowse log [OPTION ...] QUERY ... [PATH]"
    parser.add_argument(
        "words",
        nargs="*",
        metavar="QUERY",
        help='words, author:NAME, since:2024-05-01 or since:"3 months ago", path:GLOB. '
        "The last word is a PATH if it exists (default: .)",
    )
    parser.add_argument("--repo", metavar="PATH", help="the repository: a path or a git address")
    parser.add_argument("--symbol", metavar="NAME", help="only commits that changed this definition")
    flags.add(parser, "--fresh", "--encoder", "--threads", "--show-secrets")
    flags.add_top_k(parser, 10)
    flags.add(parser, "--json")


def run(options: argparse.Namespace) -> int:
    """Search the commits, reading new ones first."""
    query, options.path = _query(options)
    index = open_index(options)
    with ProgressBar("encoding", "commits", quiet=options.json) as bar:
        hits = index.log(query, options.top_k, on_progress=bar.show)
    rows = [_fields(hit, index.settings.show_secrets) for hit in hits]
    if options.json:
        print_json({"query": query, "commits": rows})
    else:
        sys.stdout.write("".join(map(_render, rows)))
    return EXIT_FOUND if hits else EXIT_NOTHING


def _query(options: argparse.Namespace) -> tuple[str, str]:
    """Return the query and the place."""
    words, place = list(options.words), options.repo or "."
    if not options.repo and words and (len(words) > 1 or options.symbol) and is_place(words[-1]):
        place = words.pop()
    if options.symbol:
        words.append(f'symbol:"{options.symbol}"')
    from dowse.source.git_address import is_address

    if is_address(place):
        from dowse.interfaces.cli.addresses import local_path

        place = local_path(place, fresh=options.fresh, history=True)
    return " ".join(words), place


def _fields(hit: CommitHit, show_secrets: bool) -> dict[str, Any]:
    commit = hit.commit
    mask = str if show_secrets else mask_text
    return {
        "commit": commit.id,
        "author": commit.author,
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(commit.time)),
        "subject": mask(commit.subject),
        "body": mask(commit.body),
        "paths": commit.paths,
        "symbols": commit.symbols,
        "score": round(hit.score, 4),
    }


def _render(row: dict[str, Any]) -> str:
    author = row["author"].partition(" <")[0]
    lines = [f"{row['commit'][:12]}  {row['date'][:10]}  {author}  {row['subject']}"]
    changed = [*_first(row["paths"]), *([f"({', '.join(_first(row['symbols']))})"] if row["symbols"] else [])]
    return "".join(f"{escape_name(line)}\n" for line in [*lines, f"    {' '.join(changed)}"] if line.strip())


def _first(names: list[str]) -> list[str]:
    return [*names[:_SHOWN], "…"] if len(names) > _SHOWN else names
