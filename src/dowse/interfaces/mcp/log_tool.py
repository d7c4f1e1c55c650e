"""The tool `log`: commits by what they did."""

from __future__ import annotations

from typing import Any

from dowse.errors import DowseError
from dowse.formats.commits import commit_lines, commit_to_json
from dowse.interfaces.mcp.arguments import LogArguments
from dowse.interfaces.mcp.budget import json_bytes, max_items, truncate, truncate_json
from dowse.interfaces.mcp.frame import frame
from dowse.interfaces.mcp.reply import Reply, ToolContext, describe_roots, note_lines
from dowse.token_estimate import BYTES_PER_TOKEN

# New commits are encoded for so long before an answer; the others wait for the next call.
_EMBED_SECONDS = 10.0
# Bytes of a message, and number of names, in the data of a commit.
_BODY_BYTES, _MAX_NAMES = 500, 20
_ECHO_BYTES = 300


def log(context: ToolContext, arguments: LogArguments) -> Reply:
    """Show the commits that a question is about."""
    commits: list[dict[str, Any]] = []
    problems: list[str] = []
    for repository in context.repositories:
        context.call.check()
        try:
            hits = repository.index.log(arguments.query, arguments.k, seconds=_EMBED_SECONDS)
        except DowseError as error:
            if not context.several:
                raise
            problems.append(f"{repository.name}: {error}")
            continue
        commits += [{"index": repository.name, **commit_to_json(hit)} for hit in hits]
    best = sorted(commits, key=lambda each: -each["score"])[: arguments.k]
    head = [f"{len(best)} commits in {describe_roots(context.repositories)}", *note_lines(context.notes)]
    lines = [_lines(each, context.several) for each in best]

    def text(count: int) -> str:
        return "\n".join([*head, *frame([line for part in lines[:count] for line in part])])

    return Reply(
        truncate(text(max_items(len(best), arguments.max_tokens, text)), arguments.max_tokens),
        _data(arguments, best, problems),
    )


def _lines(commit: dict[str, Any], several: bool) -> list[str]:
    first, *others = commit_lines(commit)
    return [f"{commit['index']}: {first}" if several else first, *others]


def _data(arguments: LogArguments, commits: list[dict[str, Any]], problems: list[str]) -> dict[str, Any]:
    """Return as many commits as fit into the budget."""
    query = truncate_json(arguments.query, _ECHO_BYTES)
    data: dict[str, Any] = {"query": query, "commits": [], "problems": problems}
    left = arguments.max_tokens * BYTES_PER_TOKEN - json_bytes(data)
    for commit in commits:
        names = {name: commit[name][:_MAX_NAMES] for name in ("paths", "symbols")}
        short = {**commit, **names, "body": truncate_json(commit["body"], _BODY_BYTES)}
        left -= json_bytes(short) + 1
        if left < 0:
            break
        data["commits"].append(short)
    return data
