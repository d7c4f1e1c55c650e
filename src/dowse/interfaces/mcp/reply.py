"""What a tool gets and returns: the context of a call, and a reply as text and as data."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.interfaces.mcp.readiness import progress_text
from dowse.interfaces.mcp.repositories import Repository
from dowse.lazy_classes import dataclass, replace
from dowse.security.terminal import escape_name
from dowse.services.calls import Call
from dowse.types import Note

# Notes whose point is a command or a flag; an agent has neither, and its answers say the rest themselves.
_FOR_PEOPLE = frozenset(["incomplete-index", "partly-embedded", "truncated"])


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer in both forms: the text keeps to the token budget, the data is all of it, as JSON has it."""

    text: str
    data: object = None  # the declared type of the tool's answer


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool works on: the repositories to search, the call, and notes that the answer must carry."""

    repositories: Sequence[Repository]
    call: Call
    notes: tuple[Note, ...] = ()

    @property
    def several(self) -> bool:
        """Whether hits must name their repository."""
        return len(self.repositories) > 1

    def own_notes(self, repository: Repository) -> list[Note]:
        """Return the notes about one repository that quote nothing of it."""
        return [*self.notes, *background_notes([repository], by_meaning=False)]


def describe_roots(repositories: Sequence[Repository]) -> str:
    """Return the repositories with the folders that the paths of an answer are relative to."""
    return ", ".join(escape_name(f"{each.name} ({each.index.root})") for each in repositories)


def background_notes(repositories: Sequence[Repository], *, by_meaning: bool) -> list[Note]:
    """Return notes about indexing in the background, if an answer may be incomplete because of it."""
    phases = ("index", "embed") if by_meaning else ("index",)
    events = [(each.name, each.broker.latest(each.name)) for each in repositories]
    return [
        Note("refreshing", f"{progress_text(name, event)} in the background")
        for name, event in events
        if event.phase in phases and event.total
    ]


def notes_for_agents(notes: Sequence[Note]) -> list[Note]:
    """Return the notes that an agent can use, without the commands and flags that help people at a prompt."""
    return [replace(note, remedy="") for note in notes if note.code not in _FOR_PEOPLE]


def note_lines(notes: Sequence[Note]) -> list[str]:
    """Return notes one a line; the text that they quote can't add another."""
    return [escape_name(f"note: {note}") for note in notes]
