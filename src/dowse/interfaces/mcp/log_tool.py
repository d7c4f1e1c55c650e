"""The tool `log`: commits by what they did."""

from __future__ import annotations

from dowse.errors import DowseError
from dowse.formats.commits import commit_lines
from dowse.interfaces.mcp.arguments import LogArguments
from dowse.interfaces.mcp.budget import max_items, truncate
from dowse.interfaces.mcp.frame import frame
from dowse.interfaces.mcp.reply import Reply, ToolContext, describe_roots, note_lines
from dowse.services.commits import FoundCommit, log_page
from dowse.types import Note

# New commits are encoded for so long before an answer; the others wait for the next call.
_EMBED_SECONDS = 10.0


def log(context: ToolContext, arguments: LogArguments) -> Reply:
    """Show the commits that a question is about."""
    commits: list[FoundCommit] = []
    problems: list[Note] = []
    for repository in context.repositories:
        context.call.check()
        try:
            hits = repository.index.log(arguments.query, arguments.k, seconds=_EMBED_SECONDS)
        except DowseError as error:
            if not context.several:
                raise
            problems.append(Note("index-failed", f"{repository.name}: {error}"))
            continue
        commits += [FoundCommit(repository.name, hit) for hit in hits]
    page = log_page(arguments.query, commits, (*context.notes, *problems), arguments.k)
    head = [
        f"{len(page.commits)} commits in {describe_roots(context.repositories)}",
        *note_lines(context.notes),
    ]
    lines = [_lines(each, context.several) for each in page.commits]

    def text(count: int) -> str:
        return "\n".join(
            [*head, *frame([*note_lines(problems), *(line for part in lines[:count] for line in part)])]
        )

    return Reply(
        truncate(text(max_items(len(page.commits), arguments.max_tokens, text)), arguments.max_tokens),
        page,
    )


def _lines(found: FoundCommit, several: bool) -> list[str]:
    first, *others = commit_lines(found.hit)
    return [f"{found.index}: {first}" if several else first, *others]
