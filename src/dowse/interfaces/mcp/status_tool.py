"""`status`: what is indexed, how completely, and what is being indexed."""

from __future__ import annotations

from typing import Any

from dowse.index import REFRESH_FILES
from dowse.interfaces.mcp.arguments import StatusArguments
from dowse.interfaces.mcp.frame import frame
from dowse.interfaces.mcp.readiness import progress_text
from dowse.interfaces.mcp.reply import Reply, ToolContext
from dowse.interfaces.mcp.repositories import Repository
from dowse.security.terminal import escape_name
from dowse.services.index_status import index_status, server_status

# Languages that are listed.
_MAX_LANGUAGES = 6


def status(context: ToolContext, arguments: StatusArguments) -> Reply:
    """Return the status of each repository."""
    statuses = [(each, index_status(each.served, each.hub)) for each in context.repositories]
    text = "\n".join(line for repository, facts in statuses for line in _text(repository, facts))
    indexes = [{**facts, "progress": facts["progress"].model_dump()} for _, facts in statuses]
    return Reply(text, server_status(indexes, feedback=False))


def _text(repository: Repository, facts: dict[str, Any]) -> list[str]:
    """Return the status in words; reasons of failures may quote the repository, and are framed."""
    event = facts["progress"]
    reasons = [facts["problem"], event.detail if event.phase == "failed" else ""]
    lines = [escape_name(line) for line in _lines(repository, facts)]
    return [*lines, *frame([escape_name(reason) for reason in reasons if reason])]


def _lines(repository: Repository, facts: dict[str, Any]) -> list[str]:
    head = f"{repository.name} ({repository.index.root}): "
    progress = progress_text(repository.name, facts["progress"])
    if not facts["exists"]:
        reason = "it can't be read" if facts["problem"] else progress
        return [f"{head}not indexed yet; {reason}"]
    languages = [f"{each['language']} {each['files']}" for each in facts["languages"][:_MAX_LANGUAGES]]
    lines = [
        f"{head}{facts['files']:,} files, {facts['symbols']:,} symbols ({', '.join(languages)})",
        f"  by words: complete; by meaning: {_embedded(facts)}; left out: {facts['skipped']} files",
        f"  {_freshness(repository, facts)}",
    ]
    if facts["progress"].phase in ("index", "embed", "failed"):
        lines.append(f"  now: {progress}")
    return lines


def _embedded(facts: dict[str, Any]) -> str:
    if not facts["encoder"]:
        return "no encoder"
    embedded, total = facts["embedded"], facts["symbols"]
    return "complete" if embedded >= total else f"{embedded:,} of {total:,} symbols so far"


def _freshness(repository: Repository, facts: dict[str, Any]) -> str:
    """Say which files changed, and when they are indexed."""
    changes = ", ".join(f"{count} {name}" for name, count in facts["changes"].items() if count)
    state = f"files changed since: {changes}" if changes else "up to date"
    if repository.watcher is not None:
        return f"{state}; watched"
    if repository.index.settings.refresh == "never":
        return f"{state}; not looked for (refresh = never)"
    if facts["files"] > REFRESH_FILES:
        return f"{state}; large: changes are taken in within a minute or two of a call (--watch: at once)"
    return f"{state}; changes are taken in before each call"
