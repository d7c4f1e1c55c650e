"""What ranks a candidate besides its words: its name, its file, its company, its role.

Every signal is worth a share of the best keyword score of the answer, so that it means the same for
short and long queries and on small and large indexes. Each was measured on its own, on the half of the
sets that is for choosing; the table is in docs/RANKING.md.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from dowse.parse.tokens import split_identifier, stem, tokenize
from dowse.types import Contribution, SymbolRow


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal is worth, as a share of the best keyword score."""

    definition: float = 1.0
    name: float = 0.3
    stem: float = 0.3
    folder: float = 0.1
    coherence: float = 0.3
    # What is left of a score, by role; tests repeat the words of what they test.
    test: float = 0.5
    example: float = 0.7
    generated: float = 0.6
    vendored: float = 0.6
    docs: float = 0.7
    benchmark: float = 0.7
    # Each further hit of the same file keeps this share of its score.
    saturation: float = 0.6


DEFAULT_WEIGHTS = Weights()

# Words by which a query asks for code that is otherwise ranked lower.
_ROLE_WORDS = {
    "test": {"test", "spec", "fixtur", "mock", "unittest", "testcas"},
    "example": {"exampl", "sampl", "demo", "tutori"},
    "generated": {"generat", "autogener"},
    "vendored": {"vendor", "third", "parti"},
    "docs": {"doc", "document", "readm", "changelog", "guid"},
    "benchmark": {"bench", "benchmark"},
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What signals need to know of a query."""

    terms: frozenset[str]  # stemmed, stop words left out
    names: frozenset[str]  # identifiers as written, in lower case

    @property
    def roles(self) -> frozenset[str]:
        """The roles that the query asks for."""
        return frozenset(role for role, words in _ROLE_WORDS.items() if words & self.terms)


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
    weights: Weights = DEFAULT_WEIGHTS,
    filtered_roles: frozenset[str] = frozenset(),
) -> list[Ranked]:
    """Order candidates by keyword score and signals, best first, ties by place."""
    if not rows:
        return []
    top = max(scores)
    company = _company(rows, scores)
    asked = wanted.roles | filtered_roles
    ranked = [
        _score(row, score, top, company[row.repo, row.path], wanted, weights, asked)
        for row, score in zip(rows, scores, strict=True)
    ]
    ranked.sort(key=_order)
    return _saturate(ranked, weights.saturation)


def _score(
    row: SymbolRow,
    score: float,
    top: float,
    company: float,
    wanted: Wanted,
    weights: Weights,
    asked: frozenset[str],
) -> Ranked:
    parts = [Contribution("keyword", score)]
    signals = (
        ("definition", weights.definition * _is_named(row, wanted.names)),
        ("name", weights.name * _overlap(wanted.terms, _name_terms(row.name))),
        ("file", weights.stem * _overlap(wanted.terms, _stem_terms(row.path))),
        ("folder", weights.folder * _overlap(wanted.terms, _folder_terms(row.path))),
        ("coherence", weights.coherence * company),
    )
    total = score
    for name, value in signals:
        if value:
            parts.append(Contribution(f"signal.{name}", value * top))
            total += value * top
    if row.role and row.role not in asked:
        left = getattr(weights, row.role)
        parts.append(Contribution(f"signal.{row.role}", total * (left - 1), f"× {left:g}"))
        total *= left
    return Ranked(row, total, parts)


def _saturate(ranked: list[Ranked], left: float) -> list[Ranked]:
    """Lower each further hit of a file, so that one file does not fill the answer."""
    seen: dict[tuple[str, str], int] = defaultdict(int)
    for hit in ranked:
        file = (hit.row.repo, hit.row.path)
        if seen[file]:
            factor = left ** seen[file]
            hit.parts.append(Contribution("signal.saturation", hit.score * (factor - 1), f"× {factor:.3g}"))
            hit.score *= factor
        seen[file] += 1
    ranked.sort(key=_order)
    return ranked


def _order(hit: Ranked) -> tuple[float, str, str, int, int]:
    return (-hit.score, hit.row.repo, hit.row.path, hit.row.start_line, hit.row.row)


def _company(rows: Sequence[SymbolRow], scores: Sequence[float]) -> dict[tuple[str, str], float]:
    """Return for each file how much of the answer lies in it, from 0 to 1."""
    sums: dict[tuple[str, str], float] = defaultdict(float)
    for row, score in zip(rows, scores, strict=True):
        sums[row.repo, row.path] += score
    most = max(sums.values())
    return {file: value / most for file, value in sums.items()}


def _is_named(row: SymbolRow, names: frozenset[str]) -> float:
    """Return 1 if the query names this symbol, qualified or not."""
    if not names:
        return 0.0
    return float(row.name.lower() in names or row.qualified_name.lower() in names)


def _overlap(wanted: frozenset[str], present: frozenset[str]) -> float:
    """Return how much of both sets is shared; long queries are not held against a name."""
    shared = len(wanted & present)
    if not shared:
        return 0.0
    return 2 * shared / (min(len(wanted), 4) + len(present)) if shared < 4 else shared / len(present)


@functools.lru_cache(maxsize=100_000)
def _name_terms(name: str) -> frozenset[str]:
    return frozenset(stem(part) for part in split_identifier(name))


@functools.lru_cache(maxsize=100_000)
def _stem_terms(path: str) -> frozenset[str]:
    return _name_terms(path.rpartition("/")[2].partition(".")[0])


@functools.lru_cache(maxsize=100_000)
def _folder_terms(path: str) -> frozenset[str]:
    return frozenset(tokenize(path.rpartition("/")[0]))
