"""What ranks a candidate besides its words: its name, its file, its company, its role.

Every signal is worth a share of the best score before them, so that it means the same for short and long
queries and on small and large indexes.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from dowse.kinds import BESIDES
from dowse.parsing.tokenizer import split_identifier, stem
from dowse.search.ranking.profile import Profile
from dowse.types import Contribution, SymbolRow

# Words by which a query asks for code that is otherwise ranked lower, as stems.
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
# What a definition is worth whose name differs from the one asked for in case only.
_OTHER_CASE = 0.3


@dataclass(frozen=True, slots=True)
class Wanted:
    """What signals need to know of a query."""

    terms: frozenset[str]  # stemmed, stop words left out
    names: frozenset[str] = frozenset()  # as written, if the query is nothing but names

    def roles(self) -> set[str]:
        """Return the roles that the query asks for."""
        return {role for role, words in _ROLE_WORDS.items() if words & self.terms}


@dataclass(slots=True)
class Ranked:
    """A candidate with its final score and all that it is made of."""

    row: SymbolRow
    score: float
    parts: list[Contribution]


def rank(
    rows: Sequence[SymbolRow],
    parts: Sequence[Sequence[Contribution]],
    wanted: Wanted,
    profile: Profile,
    asked_roles: frozenset[str] = frozenset(),
) -> list[Ranked]:
    """Order candidates by what lanes and signals add to them, best first; equal ones stay as they came."""
    if not rows:
        return []
    scores = [sum(part.value for part in each) for each in parts]
    top = max(scores)
    signals = _Signals(wanted, profile, top, wanted.roles() | asked_roles)
    if wanted.names:
        signals.note_beginnings(rows)
    given = zip(rows, scores, parts, strict=True)
    ranked = [signals.apply(Ranked(row, score, list(each))) for row, score, each in given]
    if profile.coherence:
        weights = [max(0.0, score) ** profile.power for score in scores]
        _keep_company(ranked, weights, profile.coherence * top)
    for hit in ranked:
        signals.demote(hit)
    ranked.sort(key=_order)
    if profile.definitions:
        _let_definitions_speak(ranked)
    return _saturate(ranked, profile.saturation) if profile.saturation < 1 else ranked


class _Signals:
    """The signals of one query; words seen before are not compared again."""

    def __init__(self, wanted: Wanted, profile: Profile, top: float, asked: set[str]) -> None:
        self._wanted, self._profile, self._top, self._asked = wanted, profile, top, asked
        self._shares: dict[frozenset[str], float] = {}
        self._words: dict[str, bool] = {}
        self._begins: dict[tuple[int, str, str], int] = {}
        self._folded = {name.lower() for name in wanted.names}

    def note_beginnings(self, rows: Sequence[SymbolRow]) -> None:
        """Remember where symbols begin: of one that is in several pieces, the first defines the name."""
        for row in rows:
            key = (row.file_id, row.qualified_name, row.signature)
            self._begins[key] = min(self._begins.get(key, row.start_line), row.start_line)

    def apply(self, hit: Ranked) -> Ranked:
        """Add what speaks for a symbol to its score."""
        profile, row = self._profile, hit.row
        for name, share in (
            ("definition", profile.definition and profile.definition * self._is_named(row)),
            ("name", profile.name and profile.name * self._share(name_terms(row.name))),
            ("file", profile.file and profile.file * self._share(_file_terms(row.path))),
            ("folder", profile.folder and profile.folder * self._share(_folder_terms(row.path))),
            ("header", profile.header if _is_header(row) else 0.0),
        ):
            if share:
                hit.parts.append(Contribution(f"signal.{name}", share * self._top))
                hit.score += share * self._top
        return hit

    def demote(self, hit: Ranked) -> None:
        """Lower what stands in tests, examples and the like, unless the query asks for them."""
        role = hit.row.role
        left = self._profile.roles.get(role, 1.0) if role and role not in self._asked else 1.0
        if left != 1.0 and hit.score > 0:  # less of what is below nothing would be more
            hit.parts.append(Contribution(f"signal.{role}", hit.score * (left - 1), f"× {left:g}"))
            hit.score *= left

    def _is_named(self, row: SymbolRow) -> float:
        """Return 1 if the query names this symbol, qualified or not, and less if only but for case.

        The head of a file bears the file's name, but defines nothing.
        """
        names = self._wanted.names
        if not names or _is_header(row):
            return 0.0
        if row.start_line > self._begins.get(
            (row.file_id, row.qualified_name, row.signature), row.start_line
        ):
            return 0.0
        if row.name in names or row.qualified_name in names:
            return 1.0
        return _OTHER_CASE * (row.name.lower() in self._folded or row.qualified_name.lower() in self._folded)

    def _share(self, present: frozenset[str]) -> float:
        """Return how many of these words the query has, or has a longer or shorter form of."""
        known = self._shares.get(present)
        if known is None:
            shared = sum(map(self._has, present))
            known = self._shares[present] = shared / len(present) if present else 0.0
        return known

    def _has(self, word: str) -> bool:
        known = self._words.get(word)
        if known is None:
            known = self._words[word] = word in self._wanted.terms or (
                len(word) >= _MIN_PREFIX
                and any(
                    term.startswith(word) or (len(term) >= _MIN_PREFIX and word.startswith(term))
                    for term in self._wanted.terms
                )
            )
        return known


def _let_definitions_speak(ranked: list[Ranked]) -> None:
    """Let the best definition of a file change places with its head, if that stands higher.

    What stands outside all definitions, imports and the like, may well tell that this is the file; what one
    wants to see of it is code that does something.
    """
    heads: dict[int, int] = {}  # where the head of a file stands; -1 once there is nothing to exchange
    for place, hit in enumerate(ranked):
        at = heads.setdefault(hit.row.file_id, place if _is_header(hit.row) else -1)
        if at < 0 or hit.row.kind in BESIDES:
            continue
        heads[hit.row.file_id] = -1
        head = ranked[at]
        gain = head.score - hit.score
        hit.parts.append(Contribution("signal.head", gain, "in the place of its file's head"))
        head.parts.append(Contribution("signal.head", -gain, f"after {hit.row.name}"))
        head.score, hit.score = hit.score, head.score
        ranked[at], ranked[place] = hit, head


def _saturate(ranked: list[Ranked], left: float) -> list[Ranked]:
    """Lower all but the first hit of a file, so that one file does not fill the answer.

    All by the same factor: lowering each further one more hides the right functions of large files.
    """
    seen: set[int] = set()
    for hit in ranked:
        if hit.row.file_id in seen and hit.score > 0:
            hit.parts.append(Contribution("signal.saturation", hit.score * (left - 1), f"× {left:g}"))
            hit.score *= left
        seen.add(hit.row.file_id)
    ranked.sort(key=_order)
    return ranked


def _order(hit: Ranked) -> float:
    return -hit.score


def by_place(row: SymbolRow) -> tuple[str, str, int, int]:
    """Return where a symbol stands, to order equals by."""
    return (row.repo, row.path, row.start_line, row.row)


def _keep_company(ranked: list[Ranked], weights: Sequence[float], worth: float) -> None:
    """Let the best symbol of each file be held up by all that matches beside it, each by its weight."""
    sums: dict[int, float] = defaultdict(float)
    best: dict[int, Ranked] = {}
    for hit, weight in zip(ranked, weights, strict=True):
        file_id = hit.row.file_id
        sums[file_id] += weight
        if file_id not in best or hit.score > best[file_id].score:
            best[file_id] = hit
    most = max(sums.values()) or 1.0
    for file_id, hit in best.items():
        share = worth * sums[file_id] / most
        hit.parts.append(Contribution("signal.coherence", share))
        hit.score += share


def _is_header(row: SymbolRow) -> bool:
    """Whether this is what a file holds outside its definitions."""
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
