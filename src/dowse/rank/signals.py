"""What ranks a candidate besides its words: its name, its file, its company, its role.

Every signal is worth a share of the best keyword score of the answer, so that it means the same for
short and long queries and on small and large indexes.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from dowse.parse.tokens import split_identifier, stem
from dowse.rank.profile import Profile
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


@dataclass(frozen=True, slots=True)
class Wanted:
    """What signals need to know of a query."""

    terms: frozenset[str]  # stemmed, stop words left out
    names: frozenset[str] = frozenset()  # in lower case, if the query is nothing but names

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
    scores: Sequence[float],
    wanted: Wanted,
    profile: Profile,
    asked_roles: frozenset[str] = frozenset(),
) -> list[Ranked]:
    """Order candidates by keyword score and signals, best first, ties by place."""
    if not rows:
        return []
    signals = _Signals(wanted, profile, max(scores), wanted.roles() | asked_roles)
    company = _company(rows, scores) if profile.coherence else {}
    ranked = [
        signals.apply(row, score, company.get((row.file_id, score), 0.0))
        for row, score in zip(rows, scores, strict=True)
    ]
    ranked.sort(key=_order)
    return _saturate(ranked, profile.saturation) if profile.saturation < 1 else ranked


class _Signals:
    """The signals of one query; words seen before are not compared again."""

    def __init__(self, wanted: Wanted, profile: Profile, top: float, asked: set[str]) -> None:
        self._wanted, self._profile, self._top, self._asked = wanted, profile, top, asked
        self._shares: dict[frozenset[str], float] = {}
        self._words: dict[str, bool] = {}

    def apply(self, row: SymbolRow, score: float, company: float) -> Ranked:
        """Add every signal to a keyword score."""
        profile, parts, total = self._profile, [Contribution("keyword", score)], score
        for name, share in (
            ("definition", profile.definition and profile.definition * self._is_named(row)),
            ("name", profile.name and profile.name * self._share(_name_terms(row.name))),
            ("file", profile.file and profile.file * self._share(_file_terms(row.path))),
            ("folder", profile.folder and profile.folder * self._share(_folder_terms(row.path))),
            ("header", profile.header if _is_header(row) else 0.0),
            ("coherence", profile.coherence * company),
        ):
            if share:
                parts.append(Contribution(f"signal.{name}", share * self._top))
                total += share * self._top
        left = profile.roles.get(row.role, 1.0) if row.role and row.role not in self._asked else 1.0
        if left != 1.0:
            parts.append(Contribution(f"signal.{row.role}", total * (left - 1), f"× {left:g}"))
            total *= left
        return Ranked(row, total, parts)

    def _is_named(self, row: SymbolRow) -> bool:
        """Whether the query names this symbol, qualified or not; the head of a file is no definition."""
        names = self._wanted.names
        return bool(names) and not _is_header(row) and (
            row.name.lower() in names or row.qualified_name.lower() in names
        )

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


def _saturate(ranked: list[Ranked], left: float) -> list[Ranked]:
    """Lower each further hit of a file, so that one file does not fill the answer."""
    seen: dict[int, int] = defaultdict(int)
    for hit in ranked:
        before = seen[hit.row.file_id]
        if before:
            factor = left**before
            hit.parts.append(Contribution("signal.saturation", hit.score * (factor - 1), f"× {factor:.3g}"))
            hit.score *= factor
        seen[hit.row.file_id] = before + 1
    ranked.sort(key=_order)
    return ranked


def _order(hit: Ranked) -> tuple[float, str, str, int, int]:
    return (-hit.score, hit.row.repo, hit.row.path, hit.row.start_line, hit.row.row)


def _company(rows: Sequence[SymbolRow], scores: Sequence[float]) -> dict[tuple[int, float], float]:
    """Return, for each file and its best score, the share of the answer that lies in that file."""
    sums: dict[int, float] = defaultdict(float)
    best: dict[int, float] = defaultdict(float)
    for row, score in zip(rows, scores, strict=True):
        sums[row.file_id] += score
        best[row.file_id] = max(best[row.file_id], score)
    most = max(sums.values())
    return {(file_id, best[file_id]): value / most for file_id, value in sums.items()}


def _is_header(row: SymbolRow) -> bool:
    """Whether this is what a file holds outside its definitions."""
    return row.kind == "module" and not row.signature


@functools.lru_cache(maxsize=100_000)
def _name_terms(name: str) -> frozenset[str]:
    return frozenset(stem(part) for part in split_identifier(name))


@functools.lru_cache(maxsize=100_000)
def _file_terms(path: str) -> frozenset[str]:
    return _name_terms(path.rpartition("/")[2].partition(".")[0])


@functools.lru_cache(maxsize=100_000)
def _folder_terms(path: str) -> frozenset[str]:
    return frozenset(term for name in path.split("/")[:-1] for term in _name_terms(name))
