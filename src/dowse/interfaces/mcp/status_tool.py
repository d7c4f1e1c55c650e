"""`status`: what is indexed, how completely, and what is being indexed."""

from __future__ import annotations

from dowse.index import REFRESH_FILES
from dowse.interfaces.mcp.arguments import StatusArguments
from dowse.interfaces.mcp.frame import frame
from dowse.interfaces.mcp.readiness import progress_text
from dowse.interfaces.mcp.reply import Reply, ToolContext
from dowse.interfaces.mcp.repositories import Repository
from dowse.json_form import to_json
from dowse.security.terminal import escape_name
from dowse.services.indexes import IndexStatus, index_status, server_status

# Languages that are listed.
_MAX_LANGUAGES = 6


def status(context: ToolContext, arguments: StatusArguments) -> Reply:
    """Return the status of each repository."""
    statuses = [(each, index_status(each.served, each.broker)) for each in context.repositories]
    text = "\n".join(line for repository, each in statuses for line in _text(repository, each))
    return Reply(text, server_status([each for _, each in statuses], feedback=False))


def _text(repository: Repository, status: IndexStatus) -> list[str]:
    """Return the status in words; reasons of failures may quote the repository, and are framed."""
    failure = status.progress.detail if status.progress.phase == "failed" else ""
    lines = [escape_name(line) for line in _lines(repository, status)]
    return [*lines, *frame([escape_name(reason) for reason in (status.problem, failure) if reason])]


def _lines(repository: Repository, status: IndexStatus) -> list[str]:
    head = f"{repository.name} ({repository.index.root}): "
    progress = progress_text(repository.name, status.progress)
    if not status.exists:
        reason = "it can't be read" if status.problem else progress
        return [f"{head}not indexed yet; {reason}"]
    languages = ", ".join(f"{each.language} {each.files}" for each in status.languages[:_MAX_LANGUAGES])
    lines = [
        f"{head}{status.files:,} files, {status.symbols:,} symbols ({languages})",
        f"  by words: complete; by meaning: {_embedded(status)}; left out: {status.skipped} files",
        f"  {_freshness(repository, status)}",
    ]
    if status.progress.phase in ("index", "embed", "failed"):
        lines.append(f"  now: {progress}")
    return lines


def _embedded(status: IndexStatus) -> str:
    if not status.encoder:
        return "no encoder"
    if status.embedded >= status.symbols:
        return "complete"
    return f"{status.embedded:,} of {status.symbols:,} symbols so far"


def _freshness(repository: Repository, status: IndexStatus) -> str:
    """Say which files changed, and when they are indexed."""
    changes = ", ".join(f"{count} {name}" for name, count in to_json(status.changes).items() if count)
    state = f"files changed since: {changes}" if changes else "up to date"
    if repository.is_watching:
        return f"{state}; watched"
    if repository.index.settings.refresh == "never":
        return f"{state}; not looked for (refresh = never)"
    if status.files > REFRESH_FILES:
        return f"{state}; large: changes are taken in within a minute or two of a call (--watch: at once)"
    return f"{state}; changes are taken in before each call"
