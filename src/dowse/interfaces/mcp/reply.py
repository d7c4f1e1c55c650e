"""What a tool answers: a text to read, and the same as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dowse.interfaces.mcp.readiness import Call, in_words
from dowse.interfaces.mcp.repositories import Repository
from dowse.security.terminal import escape_name
from dowse.types import Note

# Notes whose point is a command or a flag; an agent has neither, and its answers say the rest themselves.
_FOR_PEOPLE = frozenset(["incomplete-index", "partly-embedded", "truncated"])


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer in both forms; each keeps to the budget by itself."""

    text: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a tool works on: the repositories that may be asked, the call, and what is to be said already."""

    repositories: Sequence[Repository]
    call: Call
    notes: tuple[Note, ...] = ()

    @property
    def several(self) -> bool:
        """Whether hits must say which repository they are from."""
        return len(self.repositories) > 1


def places_said(repositories: Sequence[Repository]) -> str:
    """Say where the paths of an answer begin."""
    return ", ".join(escape_name(f"{each.name} ({each.index.root})") for each in repositories)


def work_said(repositories: Sequence[Repository], *, by_meaning: bool) -> list[Note]:
    """Say what goes on in the background, as far as an answer may lack something for it."""
    phases = ("index", "embed") if by_meaning else ("index",)
    events = [(each.name, each.broker.latest(each.name)) for each in repositories]
    return [
        Note("refreshing", f"{in_words(name, event)} in the background")
        for name, event in events
        if event.phase in phases and event.total
    ]


def for_agents(notes: Sequence[Note]) -> list[Note]:
    """Return the notes an agent can use, without the commands and flags that help people at a prompt."""
    return [replace(note, remedy="") for note in notes if note.code not in _FOR_PEOPLE]


def note_lines(notes: Sequence[Note]) -> list[str]:
    """Return notes one a line; what they quote can't add another."""
    return [escape_name(f"note: {note}") for note in notes]
