"""`status`: what is indexed, how completely, and what goes on."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from dowse.index import REFRESH_FILES
from dowse.interfaces.http.routes.status import index_status
from dowse.interfaces.mcp.arguments import StatusArguments
from dowse.interfaces.mcp.frame import framed
from dowse.interfaces.mcp.readiness import in_words
from dowse.interfaces.mcp.reply import Asked, Reply
from dowse.interfaces.mcp.repositories import Repository
from dowse.security.terminal import escape_name
from dowse.version import __version__

# Languages that are named.
_LANGUAGES = 6


def status(asked: Asked, given: StatusArguments) -> Reply:
    """Say of each repository what is in its index."""
    found = [(each, index_status(each.place, each.broker)) for each in asked.repositories]
    indexes = [{**facts, "progress": asdict(facts["progress"])} for _, facts in found]
    encoder = next((each["encoder"] for each in indexes if each["encoder"]), "")
    text = "\n".join(line for repository, facts in found for line in _told(repository, facts))
    data = {"dowse": __version__, "feedback": False, "encoder": encoder, "indexes": indexes}
    return Reply(text, data)


def _told(repository: Repository, facts: dict[str, Any]) -> list[str]:
    """Return what is said of one; why something failed may quote the repository, and is framed."""
    event = facts["progress"]
    why = [facts["problem"], event.detail if event.phase == "failed" else ""]
    lines = [escape_name(line) for line in _lines(repository, facts)]
    return [*lines, *framed([escape_name(each) for each in why if each])]


def _lines(repository: Repository, facts: dict[str, Any]) -> list[str]:
    head = f"{repository.name} ({repository.index.root}): "
    event = facts["progress"]
    if not facts["exists"]:
        why = "it can't be read" if facts["problem"] else in_words(repository.name, event)
        return [f"{head}not indexed yet; {why}"]
    languages = ", ".join(f"{each['language']} {each['files']}" for each in facts["languages"][:_LANGUAGES])
    out = [
        f"{head}{facts['files']:,} files, {facts['symbols']:,} symbols ({languages})",
        f"  by words: complete; by meaning: {_meaning(facts)}; left out: {facts['skipped']} files",
        f"  {_fresh(repository, facts)}",
    ]
    if event.phase in ("index", "embed", "failed"):
        out.append(f"  now: {in_words(repository.name, event)}")
    return out


def _meaning(facts: dict[str, Any]) -> str:
    if not facts["encoder"]:
        return "no encoder"
    done, total = facts["embedded"], facts["symbols"]
    return "complete" if done >= total else f"{done:,} of {total:,} symbols so far"


def _fresh(repository: Repository, facts: dict[str, Any]) -> str:
    """Say how files that change come in."""
    changes = ", ".join(f"{count} {name}" for name, count in facts["changes"].items() if count)
    now = f"files changed since: {changes}" if changes else "up to date"
    if repository.watcher is not None:
        return f"{now}; watched"
    if repository.index.settings.refresh == "never":
        return f"{now}; not looked for (refresh = never)"
    if facts["files"] > REFRESH_FILES:
        return f"{now}; large: changes are taken in within a minute or two of a call (--watch: at once)"
    return f"{now}; changes are taken in before each call"
