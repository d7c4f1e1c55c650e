"""Weights of fields, signals and fusion, for the two shapes an index can have.

In a repository, paths carry meaning: files and folders are named after what they contain, and related
functions are in one file. In a corpus of functions from many repositories only the words count. Both profiles
were tuned on the development halves of the sets; docs/RANKING.md has the effect of every signal on its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class BlendWeights:
    """The weights that the default fusion adds to a cosine; the formula is in fusion.py."""

    words: float = 0.0
    long_words: float = 0.0
    coverage: float = 0.0
    name: float = 0.0
    graph: float = 0.05
    coherence: float = 0.0  # the signal of that name, with this fusion


@dataclass(frozen=True, slots=True)
class Profile:
    """Weights of the keyword fields, and of signals as shares of the best keyword score."""

    fields: Mapping[str, float]
    candidates: int = 100  # that each lane returns
    abbreviation: float = 0.3  # weight of an abbreviation, as a share of the word itself
    definition: float = 0.6  # the query is this symbol's name
    name: float = 0.0  # words of the query in the name
    file: float = 0.0  # words of the query in the file's name
    folder: float = 0.0  # and in the folders above it
    header: float = 0.0  # the symbol is the module level of a file: imports, module documentation
    coherence: float = 0.0  # the best symbol of a file gains by the others that match
    coherence_power: float = 1.0  # exponent of their scores before they are summed
    # Factor of a score, by role of the file, unless the query asks for that role.
    roles: Mapping[str, float] = field(default_factory=dict)
    # How much of that penalty counts for cosines, which lie closer together than keyword scores.
    cosine_role_share: float = 0.5
    promote_definitions: bool = False  # above the module level of their file, if that ranks higher
    saturation: float = 1.0  # factor of every further hit of the same file
    blend: BlendWeights = BlendWeights()
    # Share of the signals with the default fusion: its best score is large compared with the differences
    # between its candidates.
    blend_signal_share: float = 0.5


TREE = Profile(
    fields={"name": 0.6, "signature": 0.3, "path": 0.3, "body": 1.0},
    name=0.2,
    file=0.3,
    folder=0.2,
    header=0.2,
    coherence=0.8,
    roles={"test": 0.4, "docs": 0.5, "example": 0.6, "benchmark": 0.6, "generated": 0.6, "vendored": 0.6},
    promote_definitions=True,
    saturation=0.85,
    candidates=200,  # signals find more among more; .013 of nDCG on repositories
    blend=BlendWeights(words=0.25, coverage=0.45, coherence=0.4),
)
CORPUS = Profile(
    fields={"name": 0.2, "context": 0.3, "signature": 0.3, "path": 0.3, "body": 1.0},
    blend=BlendWeights(long_words=0.1, coverage=0.12, name=0.08),
)

# Nothing but the lanes decides the order.
NO_SIGNALS = Profile(fields={}, definition=0.0)

# Field weights of the symbol mode, which matches names alone.
SYMBOL_FIELDS: Mapping[str, float] = {"name": 1.0, "context": 0.5}
