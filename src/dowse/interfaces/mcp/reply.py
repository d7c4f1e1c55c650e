"""What a tool answers: a text to read, and the same as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dowse.interfaces.mcp.readiness import Call, in_words
from dowse.interfaces.mcp.repositories import Repository
from dowse.security.terminal import escape_name

# How notes end that are for people at a prompt.
_FOR_PEOPLE = ("finishes it", "gives all")


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
    notes: tuple[str, ...] = ()

    @property
    def several(self) -> bool:
        """Whether hits must say which repository they are from."""
        return len(self.repositories) > 1


def places_said(repositories: Sequence[Repository]) -> str:
    """Say where the paths of an answer begin."""
    return ", ".join(escape_name(f"{each.name} ({each.index.root})") for each in repositories)


def work_said(repositories: Sequence[Repository], *, by_meaning: bool) -> list[str]:
    """Say what goes on in the background, as far as an answer may lack something for it."""
    phases = ("index", "embed") if by_meaning else ("index",)
    events = [(each.name, each.broker.latest(each.name)) for each in repositories]
    return [
        f"{in_words(name, event)} in the background"
        for name, event in events
        if event.phase in phases and event.total
    ]


def for_agents(notes: Sequence[str]) -> list[str]:
    """Leave out what tells people which flag or command helps: here there are none, and answers say it."""
    kept = (note for note in notes if not note.endswith(_FOR_PEOPLE))
    return [note.partition("; --show-secrets")[0] for note in kept]


def note_lines(notes: Sequence[str]) -> list[str]:
    """Return notes one a line; what they quote can't add another."""
    return [escape_name(f"note: {note}") for note in notes]
