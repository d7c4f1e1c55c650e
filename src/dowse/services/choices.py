"""The values that parameters take, as types; a test compares them with the lists of `dowse.config`."""

from __future__ import annotations

from typing import Literal

Mode = Literal["auto", "hybrid", "keyword", "tfidf", "embedding", "graph", "regex", "symbol"]
Fusion = Literal["auto", "blend", "rrf", "weighted", "convex", "intersection", "adaptive"]
Fuzziness = Literal["auto", "0", "1", "2"]
Diversify = Literal["", "mmr", "cluster", "sample"]
Clustering = Literal["hyperbolic", "euclidean", "spectral", "meaning"]
# A path has two ends, and so an address of its own.
Relation = Literal["callers", "callees", "uses", "implementers", "subclasses", "supertypes", "impact"]
EdgeKind = Literal["calls", "uses", "extends", "implements", "imports", "overrides"]
