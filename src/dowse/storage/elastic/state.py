"""What readers of a cluster see: the transactions that are done. The one place where it is decided.

A snapshot is the number of the last transaction that was given out, and those that were not done then. A
document is visible if the transaction that brought it is done and the one that removed it, if any, is not: as
PostgreSQL does it. So many writers work at once, each with its own transaction, and nobody sees half of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dowse.errors import IndexMissing, IndexVersionError
from dowse.storage.elastic.names import STATE_ID, Names

if TYPE_CHECKING:
    from dowse.storage.elastic.client import Client

# Raised whenever what is stored on a cluster, or how it is tokenised, changes.
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a reader sees, unchanging."""

    identity: str  # of the index: one that was made anew has another
    sequence: int  # the last transaction that was given out
    active: tuple[int, ...]  # transactions that were not done
    generation: int  # commits that changed content
    totals: Mapping[str, int] = field(default_factory=dict)  # files, symbols, bytes, skipped
    corpora: int = 0  # sources that are corpora,
    trees: int = 0  # trees,
    incomplete: int = 0  # and of both, those that a writer has not yet seen to their end
    encoders: Mapping[str, Mapping[str, Any]] = field(
        default_factory=dict
    )  # {id: {field, dimension, clusters?}}

    def sees(self, transaction: int) -> bool:
        """Whether a transaction was done."""
        return transaction <= self.sequence and transaction not in self.active

    @property
    def visible(self) -> list[dict[str, Any]]:
        """The `must_not` clauses of every query: what is left is what the snapshot sees."""
        gone: dict[str, Any] = {"range": {"died": {"lte": self.sequence}}}
        clauses: list[dict[str, Any]] = [{"range": {"born": {"gt": self.sequence}}}]
        if self.active:
            clauses.append({"terms": {"born": list(self.active)}})
            gone = {"bool": {"filter": [gone], "must_not": [{"terms": {"died": list(self.active)}}]}}
        return [*clauses, gone]


def snapshot_of(state: Mapping[str, Any]) -> Snapshot:
    """Return what a state document says to readers."""
    return Snapshot(
        identity=str(state["identity"]),
        sequence=int(state["sequence"]),
        active=tuple(sorted(int(each["tx"]) for each in state["active"])),
        generation=int(state["generation"]),
        totals=dict(state["totals"]),
        corpora=int(state["corpora"]),
        trees=int(state["trees"]),
        incomplete=int(state["incomplete"]),
        encoders=dict(state["encoders"]),
    )


def read_snapshot(client: Client, names: Names) -> Snapshot:
    """Return what readers see now; raises IndexMissing if there is nothing."""
    state = read_state(client, names)
    if state is None or not state["generation"]:
        raise IndexMissing(f"no index {names.name} on {client.address}; run `dowse index` first")
    return snapshot_of(state)


def read_state(client: Client, names: Names) -> dict[str, Any] | None:
    """Return the state document as it is this very moment, None if there is none."""
    found = client.get(names.alias("meta"), STATE_ID)
    if found is None:
        return None
    state: dict[str, Any] = found["_source"]["data"]
    check_format(state.get("format"), client, names)
    return state


def check_format(found: object, client: Client, names: Names) -> None:
    """Raise if the index was made by a dowse with another format."""
    if found != FORMAT:
        raise IndexVersionError(
            f"the index {names.name} on {client.address} has format {found or '?'}, "
            f"this dowse reads {FORMAT}; name another index, or empty it for all its repositories with "
            "`dowse index --rebuild`"
        )
