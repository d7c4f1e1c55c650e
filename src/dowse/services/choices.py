"""The relations and edge kinds of the call graph, as types for schemas."""

from __future__ import annotations

from typing import Literal

# A path has two ends, and so an address of its own.
Relation = Literal["callers", "callees", "uses", "implementers", "subclasses", "supertypes", "impact"]
EdgeKind = Literal["calls", "uses", "extends", "implements", "imports", "overrides"]
