"""Weights of fields, signals and fusion, for the two shapes an index can have.

In a repository, paths carry meaning: files and folders are named after what they contain, and related
functions are in one file. How much of that counts depends on the kind of question (question_kinds.py): it
finds the place of a topic, and misleads where one function is described. In a corpus of functions from many
repositories only the words count.

The weights of a topic were chosen on the questions of bench/manifests/repos.json, those of a corpus on the
development halves of the sets, those of the other kinds on questions mined from 38 other repositories;
docs/RANKING.md has what they are worth.
"""

from __future__ import annotations

from collections.abc import Mapping

from dowse.lazy_classes import dataclass, field


@dataclass(frozen=True, slots=True)
class BlendWeights:
    """The weights that the default fusion adds to a cosine; the formula is in fusion.py."""

    words: float = 0.0
    long_words: float = 0.0
    coverage: float = 0.0
    name: float = 0.0
    graph: float = 0.05


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
    path: float = 0.0  # how much of the query, by the IDF of its terms, the file's name and folders have
    header: float = 0.0  # the symbol is the module level of a file: imports, module documentation
    length: float = 0.0  # of the symbol in lines: what a change concerns is in longer functions more often
    coherence: float = 0.0  # the best symbol of a file gains by the others that match
    coherence_power: float = 1.0  # exponent of their scores before they are summed
    coherence_size: float = 0.0  # sums are divided by the file's candidates to this power
    heads: float = 0.0  # share of its folder's matches that a module gains by: `extract/mod.rs`, `rack.rb`
    # Factor of a score, by role of the file, unless the query asks for that role.
    roles: Mapping[str, float] = field(default_factory=dict)
    # How much of that penalty counts for cosines, which lie closer together than keyword scores.
    cosine_role_share: float = 0.5
    guide: float = 0.0  # the file tells people how to work with the project
    variant: float = 1.0  # factor of old versions and of code for less common systems (signals.py)
    promote_definitions: bool = False  # above the module level of their file, if that ranks higher
    saturation: float = 1.0  # factor of every further hit of the same file
    # Signals are shares of the difference between the best and the last score, not of the best score: sums of
    # 1/rank lie so close together that signals would decide alone.
    by_spread: bool = False
    blend: BlendWeights = BlendWeights()
    # The signals with the default fusion, if they are others.
    blended: Profile | None = None
    # The weights for other kinds of questions than topics.
    kinds: Mapping[str, Profile] = field(default_factory=dict)
    # Share of the signals with sums of 1/rank, whose range is their unit; `rank_coverage` is what covering
    # all words of the query adds, which blend has in its formula. Ranks fall slowly: a high exponent keeps
    # the many middling candidates of large files from adding up to more than a good one.
    rank_signal_share: float = 0.3
    rank_coherence: float = 0.0
    rank_coherence_power: float = 8.0
    rank_coverage: float = 0.0


_ROLES = {"test": 0.4, "docs": 0.5, "example": 0.6, "benchmark": 0.6, "generated": 0.6, "vendored": 0.6}
_TREE_FIELDS = {"name": 0.6, "signature": 0.3, "path": 0.3, "body": 1.0}
_VARIANT = 0.6
# Cosines of what does not match at all are far from 0; their cubes count for little.
_BLEND_POWER = 3.0
# A commit subject, or what a bug report says.
_CHANGE = Profile(
    fields=_TREE_FIELDS,
    name=-0.1,
    file=0.06,
    header=-0.3,
    length=0.2,
    coherence=0.1,
    coherence_power=2.0,
    roles=_ROLES,
    promote_definitions=True,
    blend=BlendWeights(words=0.35, coverage=0.6, graph=0.02),
    blended=Profile(
        fields={},
        name=-0.1,
        file=0.1,
        header=-0.3,
        length=0.2,
        coherence_power=_BLEND_POWER,
        roles=_ROLES,
        variant=0.8,
        promote_definitions=True,
        saturation=0.97,
    ),
)
# A sentence about one function.
_DESCRIPTION = Profile(
    fields=_TREE_FIELDS,
    name=0.3,
    file=0.1,
    folder=0.05,
    header=-0.6,
    length=0.1,
    roles=_ROLES,
    promote_definitions=True,
    blend=BlendWeights(words=0.05, coverage=0.1, graph=0.0),
    blended=Profile(
        fields={},
        name=0.1,
        file=0.06,
        header=-0.6,
        length=0.1,
        coherence=0.02,
        coherence_power=9.0,
        roles=_ROLES,
        saturation=0.99,
    ),
)
# How to work on the project itself: its guides, build files and CI say it.
_GUIDE_ROLES = {**_ROLES, "test": 0.25, "docs": 1.0}
_GUIDE = Profile(
    fields=_TREE_FIELDS,
    name=0.4,
    file=0.2,
    roles=_GUIDE_ROLES,
    guide=0.5,
    blend=BlendWeights(words=0.35, coverage=0.3, graph=0.0),
    blended=Profile(fields={}, name=0.4, file=0.2, roles=_GUIDE_ROLES, guide=0.5, saturation=0.9),
)
TREE = Profile(
    fields=_TREE_FIELDS,
    name=0.2,
    file=0.3,
    folder=0.2,
    header=0.2,
    coherence=0.8,
    roles=_ROLES,
    variant=_VARIANT,
    promote_definitions=True,
    saturation=0.85,
    candidates=200,  # signals find more among more; .013 of nDCG on repositories
    blend=BlendWeights(words=0.25, coverage=0.45),
    blended=Profile(
        fields={},
        file=0.2,
        folder=0.15,
        path=0.2,
        header=0.12,
        coherence=0.45,
        coherence_power=_BLEND_POWER,
        coherence_size=0.2,
        heads=1.0,
        roles=_ROLES,
        variant=_VARIANT,
        promote_definitions=True,
        saturation=0.5,
    ),
    kinds={"change": _CHANGE, "description": _DESCRIPTION, "guide": _GUIDE},
    rank_coherence=0.2,
    rank_coverage=0.5,
)
CORPUS = Profile(
    fields={"name": 0.2, "context": 0.3, "signature": 0.3, "path": 0.3, "body": 1.0},
    blend=BlendWeights(long_words=0.1, coverage=0.12, name=0.08),
)

# Nothing but the lanes decides the order.
NO_SIGNALS = Profile(fields={}, definition=0.0)

# Field weights of the symbol mode, which matches names alone.
SYMBOL_FIELDS: Mapping[str, float] = {"name": 1.0, "context": 0.5}
