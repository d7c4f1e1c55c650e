"""Built, generated and vendored copies: a hit that nearly equals a symbol of the sources gives way to it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from dowse.search.ranking.signals import COPY_ROLES, RankedHit
from dowse.storage.protocol import Reader
from dowse.types import NON_DEFINITION_KINDS, Contribution, Place, SymbolRow

# Hits that are compared; behind them nobody looks.
_WINDOW = 100
# Symbols of one name that are compared with its copies.
_MAX_SAME_NAME = 50
# Words that two near-identical texts share, as a share of the shorter one: compilers add and remove words.
_MIN_SHARED = 0.7
# The length of the shorter text as a share of the longer one: types and comments are removed, not bodies.
_MIN_LENGTH = 0.4
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"[^\W\d][\w$]*|\d+")
# Bundlers number names that occur twice: `isArray$1`.
_NUMBERED = re.compile(r"\$\d+\b")


def collapse_copies(
    reader: Reader, hits: Sequence[RankedHit], allows: Callable[[int], bool], shown: int
) -> list[RankedHit]:
    """Replace near-identical copies by their source, which takes the best score of them.

    Args:
        reader: The generation of the index.
        hits: The ranking, best first.
        allows: Whether a symbol meets the filters.
        shown: So many hits are shown: a source that no lane found is looked up for these.
    """
    window = [hit for hit in hits[:_WINDOW] if hit.row.kind not in NON_DEFINITION_KINDS]
    copied = {_name(hit.row) for hit in window if hit.row.role in COPY_ROLES}
    if not copied:
        return list(hits)
    groups: dict[str, list[RankedHit]] = defaultdict(list)
    for hit in window:
        if _name(hit.row) in copied:
            groups[_name(hit.row)].append(hit)
    _add_sources(reader, groups, {hit.row.row for hit in hits[:shown]}, allows)
    rows = [hit.row.row for group in groups.values() if len(group) > 1 for hit in group]
    words = {row: _words(text) for row, text, _ in reader.symbol_texts(rows)}
    added, removed = [], set[int]()
    for group in groups.values():
        removed |= _collapse(group, words)
        added += [hit for hit in group if hit.also_in and not hit.contributions]
    for hit in added:
        copy = f"{hit.also_in[0].path}:{hit.also_in[0].line}"
        hit.contributions.append(Contribution("signal.source", hit.score, f"source of {copy}"))
    kept = [hit for hit in [*hits, *added] if hit.row.row not in removed]
    return sorted(kept, key=lambda hit: -hit.score)


def _add_sources(
    reader: Reader, groups: Mapping[str, list[RankedHit]], shown: set[int], allows: Callable[[int], bool]
) -> None:
    """Add the symbols of the same name to groups in which nothing but copies would be shown."""
    for name, group in groups.items():
        is_shown = any(hit.row.row in shown for hit in group)
        if not is_shown or any(not hit.row.role for hit in group):
            continue
        rows = [row for row in reader.rows_named([name], _MAX_SAME_NAME) if not row.role]
        group += [RankedHit(row, 0.0, []) for row in rows if row.row and allows(row.row)]


def _collapse(group: Sequence[RankedHit], words: Mapping[int, Counter[str]]) -> set[int]:
    """Note copies at their source, or at the first copy where there is no source; return what goes."""
    sources = [hit for hit in group if not hit.row.role]
    originals: list[RankedHit] = [*sources]
    copies: dict[int, list[RankedHit]] = defaultdict(list)
    for hit in (hit for hit in group if hit.row.role in COPY_ROLES):
        same = [each for each in originals if _is_copy(hit.row, each.row, words)]
        if same:
            best = max(same, key=lambda each: _shared(words[hit.row.row], words[each.row.row]))
            copies[best.row.row].append(hit)
        else:
            originals.append(hit)
    for original in originals:
        gone = copies[original.row.row]
        _absorb(original, gone)
    return {hit.row.row for gone in copies.values() for hit in gone}


def _absorb(original: RankedHit, copies: Sequence[RankedHit]) -> None:
    """List copies at their original, which gets the score of the best of them."""
    if not copies:
        return
    best = max(hit.score for hit in copies)
    if best > original.score:
        if original.contributions:
            detail = f"as its copy in {copies[0].row.path}"
            original.contributions.append(Contribution("signal.source", best - original.score, detail))
        original.score = best
    places = {Place(hit.row.path, hit.row.start_line) for hit in copies}
    original.also_in = (*original.also_in, *sorted(places))


def _is_copy(copy: SymbolRow, original: SymbolRow, words: Mapping[int, Counter[str]]) -> bool:
    """Whether two symbols of different files have the same name, in the same scope, and nearly the same text.

    A bundle may have a scope of its own around everything.
    """
    if copy.file_id == original.file_id:
        return False
    names = _NUMBERED.sub("", copy.qualified_name), _NUMBERED.sub("", original.qualified_name)
    if not any(f".{a}".endswith(f".{b}") for a, b in (names, names[::-1])):
        return False
    return _shared(words[copy.row], words[original.row]) >= _MIN_SHARED


def _shared(one: Counter[str], other: Counter[str]) -> float:
    """Return how much of the shorter text the longer one has; 0 where one is much shorter."""
    short, long = sorted((one.total(), other.total()))
    if not short or short < _MIN_LENGTH * long:
        return 0.0
    return (one & other).total() / short


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(_NUMBERED.sub("", _COMMENT.sub(" ", text))))


def _name(row: SymbolRow) -> str:
    return _NUMBERED.sub("", row.name)
