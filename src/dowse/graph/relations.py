"""The questions that can be asked of the graph: which edges each follows, which way, and how far."""

from __future__ import annotations

from typing import NamedTuple


class Relation(NamedTuple):
    """One kind of question."""

    kinds: tuple[str, ...]  # of edges
    incoming: bool  # from what is used to what uses it
    depth: int  # hops, unless the user says otherwise
    most: int = 50  # steps that an answer gives, unless the user says otherwise


# Every kind of reference counts as a use.
_ALL = ("calls", "uses", "extends", "implements", "imports")

RELATIONS = {
    "callers": Relation(("calls",), incoming=True, depth=1),
    "callees": Relation(("calls",), incoming=False, depth=1),
    "uses": Relation(_ALL, incoming=True, depth=1),
    # What implements an interface may do so through another that extends it, or through a base class.
    "implementers": Relation(("implements", "extends"), incoming=True, depth=5),
    "subclasses": Relation(("extends",), incoming=True, depth=5),
    "supertypes": Relation(("extends", "implements"), incoming=False, depth=5),
    # The tests among them are to be run, so few should be missing.
    "impact": Relation(_ALL, incoming=True, depth=3, most=200),
    "path": Relation(("calls", "uses"), incoming=False, depth=12),
}
