"""Ranking signals beside the lanes: definition, name, file, folder, coherence, role and file saturation.

Every signal adds a share of the best lane score, so that it means the same for short and long queries and on
small and large indexes.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dowse.parsing.tokenizer import split_identifier, stem
from dowse.search.ranking.profile import Profile
from dowse.types import NON_DEFINITION_KINDS, Contribution, SymbolRow

# Stems of the words by which a query asks for files of a role that is otherwise ranked lower.
_ROLE_WORDS = {
    "test": {"test", "spec", "fixtur", "mock", "unittest", "testcas"},
    "example": {"exampl", "sampl", "demo", "tutori"},
    "generated": {"generat", "autogener"},
    "vendored": {"vendor"},
    "docs": {"doc", "document", "readm", "changelog", "guid"},
    "benchmark": {"bench", "benchmark"},
}
# The shortest word that counts as an abbreviation of a longer one: "conf" for "configuration".
_MIN_PREFIX = 4
# Weight of a definition whose name differs from the query in case only.
_OTHER_CASE = 0.3


@dataclass(frozen=True, slots=True)
class QueryFeatures:
    """What signals need to know of a query."""

    terms: frozenset[str]  # stemmed, stop words left out
    names: frozenset[str] = frozenset()  # as written, if the query is nothing but names
    filtered_roles: frozenset[str] = frozenset()  # roles that path filters select

    def roles(self) -> frozenset[str]:
        """Return the roles that the query asks for by words or filters."""
        named = {role for role, words in _ROLE_WORDS.items() if words & self.terms}
        return self.filtered_roles | named


@dataclass(slots=True)
class RankedHit:
    """A candidate with its score and the contributions that sum to it."""

    row: SymbolRow
    score: float
    contributions: list[Contribution]


def rank(
    rows: Sequence[SymbolRow],
    contributions: Sequence[Sequence[Contribution]],
    features: QueryFeatures,
    profile: Profile,
) -> list[RankedHit]:
    """Add the signals to the lane scores of candidates and sort, best first; ties keep their order."""
    if not rows:
        return []
    scores = [sum(part.value for part in each) for each in contributions]
    top = max(scores)
    signals = _Signals(features, profile, top)
    if features.names:
        signals.note_first_parts(rows)
    candidates = zip(rows, scores, contributions, strict=True)
    ranked = [signals.boost(RankedHit(row, score, list(each))) for row, score, each in candidates]
    if profile.coherence:
        weights = [max(0.0, score) ** profile.coherence_power for score in scores]
        _add_coherence(ranked, weights, profile.coherence * top)
    for hit in ranked:
        signals.penalise_role(hit)
    ranked.sort(key=lambda hit: -hit.score)
    if profile.promote_definitions:
        _promote_definitions(ranked)
    return _apply_file_saturation(ranked, profile.saturation) if profile.saturation < 1 else ranked


def profile_for_cosines(profile: Profile) -> Profile:
    """Return the weights for cosines alone: only roles count, and less."""
    share = profile.cosine_role_share
    roles = {role: 1 - share * (1 - factor) for role, factor in profile.roles.items()}
    return Profile(fields={}, definition=0.0, roles=roles)


def profile_for_blend(profile: Profile) -> Profile:
    """Return the weights for the default fusion."""
    share = profile.blend_signal_share
    return replace(
        profile,
        name=0.0,  # the encoder has read it
        file=share * profile.file,
        folder=share * profile.folder,
        header=share * profile.header,
        coherence=profile.blend.coherence,
        # Cosines of what does not match at all are far from 0; their cubes count for little.
        coherence_power=3.0,
    )


def has_no_signals(profile: Profile) -> bool:
    """Whether only an exact name in the query can change the order of lane scores."""
    shares = (profile.name, profile.file, profile.folder, profile.header, profile.coherence)
    is_saturated = profile.saturation != 1.0 or profile.promote_definitions
    return not any(shares) and not profile.roles and not is_saturated


class _Signals:
    """The signals of one query; comparisons of words are cached."""

    def __init__(self, features: QueryFeatures, profile: Profile, top: float) -> None:
        self._features, self._profile, self._top = features, profile, top
        self._roles = features.roles()
        self._shares: dict[frozenset[str], float] = {}
        self._words: dict[str, bool] = {}
        self._first_lines: dict[tuple[int, str, str], int] = {}
        self._folded = {name.lower() for name in features.names}

    def note_first_parts(self, rows: Sequence[SymbolRow]) -> None:
        """Note where symbols begin: of one that is split, the first part is the definition."""
        for row in rows:
            key = (row.file_id, row.qualified_name, row.signature)
            self._first_lines[key] = min(self._first_lines.get(key, row.start_line), row.start_line)

    def boost(self, hit: RankedHit) -> RankedHit:
        """Add the signals that speak for a symbol to its score."""
        profile, row = self._profile, hit.row
        for name, share in (
            ("definition", profile.definition and profile.definition * self._name_match(row)),
            ("name", profile.name and profile.name * self._overlap(name_terms(row.name))),
            ("file", profile.file and profile.file * self._overlap(_file_terms(row.path))),
            ("folder", profile.folder and profile.folder * self._overlap(_folder_terms(row.path))),
            ("header", profile.header if _is_module_level(row) else 0.0),
        ):
            if share:
                hit.contributions.append(Contribution(f"signal.{name}", share * self._top))
                hit.score += share * self._top
        return hit

    def penalise_role(self, hit: RankedHit) -> None:
        """Lower the score of tests, examples and the like, unless the query asks for them."""
        role = hit.row.role
        factor = self._profile.roles.get(role, 1.0) if role and role not in self._roles else 1.0
        if factor != 1.0 and hit.score > 0:  # a factor below 1 would raise a negative score
            hit.contributions.append(
                Contribution(f"signal.{role}", hit.score * (factor - 1), f"× {factor:g}")
            )
            hit.score *= factor

    def _name_match(self, row: SymbolRow) -> float:
        """Return 1 if the query is the name of this symbol, qualified or not, and less if only case differs.

        The module level of a file has the file's name, but defines nothing.
        """
        names = self._features.names
        if not names or _is_module_level(row):
            return 0.0
        if row.start_line > self._first_lines.get(
            (row.file_id, row.qualified_name, row.signature), row.start_line
        ):
            return 0.0
        if row.name in names or row.qualified_name in names:
            return 1.0
        return _OTHER_CASE * (row.name.lower() in self._folded or row.qualified_name.lower() in self._folded)

    def _overlap(self, present: frozenset[str]) -> float:
        """Return the share of these words that the query has, or has a longer or shorter form of."""
        known = self._shares.get(present)
        if known is None:
            shared = sum(map(self._has, present))
            known = self._shares[present] = shared / len(present) if present else 0.0
        return known

    def _has(self, word: str) -> bool:
        known = self._words.get(word)
        if known is None:
            known = self._words[word] = word in self._features.terms or (
                len(word) >= _MIN_PREFIX
                and any(
                    term.startswith(word) or (len(term) >= _MIN_PREFIX and word.startswith(term))
                    for term in self._features.terms
                )
            )
        return known


def _promote_definitions(ranked: list[RankedHit]) -> None:
    """Swap the best definition of a file with its module level, if that ranks higher.

    Imports and module documentation often show that this is the right file; a reader wants to see code that
    does something.
    """
    heads: dict[int, int] = {}  # rank of the module level of a file; -1 once there is nothing to swap
    for rank, hit in enumerate(ranked):
        head_rank = heads.setdefault(hit.row.file_id, rank if _is_module_level(hit.row) else -1)
        if head_rank < 0 or hit.row.kind in NON_DEFINITION_KINDS:
            continue
        heads[hit.row.file_id] = -1
        head = ranked[head_rank]
        gain = head.score - hit.score
        hit.contributions.append(Contribution("signal.head", gain, "swapped with the module level"))
        head.contributions.append(Contribution("signal.head", -gain, f"after {hit.row.name}"))
        head.score, hit.score = hit.score, head.score
        ranked[head_rank], ranked[rank] = hit, head


def _apply_file_saturation(ranked: list[RankedHit], factor: float) -> list[RankedHit]:
    """Lower all but the first hit of a file, so that one file does not fill the answer.

    All by the same factor: lowering each further one more hides the right functions of large files.
    """
    seen: set[int] = set()
    for hit in ranked:
        if hit.row.file_id in seen and hit.score > 0:
            hit.contributions.append(
                Contribution("signal.saturation", hit.score * (factor - 1), f"× {factor:g}")
            )
            hit.score *= factor
        seen.add(hit.row.file_id)
    ranked.sort(key=lambda hit: -hit.score)
    return ranked


def location(row: SymbolRow) -> tuple[str, str, int, int]:
    """Return a sort key by location, to break ties."""
    return (row.repo, row.path, row.start_line, row.row)


def _add_coherence(ranked: list[RankedHit], weights: Sequence[float], maximum: float) -> None:
    """Raise the best symbol of each file by the other matches in the file, each by its weight."""
    sums: dict[int, float] = defaultdict(float)
    best: dict[int, RankedHit] = {}
    for hit, weight in zip(ranked, weights, strict=True):
        file_id = hit.row.file_id
        sums[file_id] += weight
        if file_id not in best or hit.score > best[file_id].score:
            best[file_id] = hit
    highest = max(sums.values()) or 1.0
    for file_id, hit in best.items():
        share = maximum * sums[file_id] / highest
        hit.contributions.append(Contribution("signal.coherence", share))
        hit.score += share


def _is_module_level(row: SymbolRow) -> bool:
    """Whether this is the code of a file outside its definitions."""
    return row.kind == "module" and not row.signature


@functools.lru_cache(maxsize=100_000)
def name_terms(name: str) -> frozenset[str]:
    """Return the stems of the words that a name is made of."""
    return frozenset(stem(part) for part in split_identifier(name))


@functools.lru_cache(maxsize=100_000)
def _file_terms(path: str) -> frozenset[str]:
    return name_terms(path.rpartition("/")[2].partition(".")[0])


@functools.lru_cache(maxsize=100_000)
def _folder_terms(path: str) -> frozenset[str]:
    return frozenset(term for name in path.split("/")[:-1] for term in name_terms(name))
