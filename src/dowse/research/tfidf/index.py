"""TF-IDF over an index: counts of terms, computed on first use and updated incrementally from then on.

    score = sum over the query's terms and bigrams of tf · idf
    idf   = ln((1 + n) / (1 + df)) + 1

`tf` is how often a symbol's text has the term, `df` the document frequency (how many symbols have it), `n`
the number of symbols: scikit-learn's `TfidfVectorizer` without normalisation. Texts are keyed by content and
symbols carry that key, so segments fit every generation; df and n are computed over the symbols of the
generation at hand: scores are those of an index made afresh, whatever was added and removed before.

Counts are cached in the index folder. For an index on a cluster, which has none, and where the folder can't
be written, they stay in the memory of this process.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dowse.damage import translate_errors
from dowse.lazy_classes import dataclass
from dowse.parsing.tokenizer import tokenize
from dowse.research.tfidf.segment import (
    Segment,
    SegmentBuilder,
    State,
    open_segments,
    read_state,
    remove_leftovers,
    term_hashes,
    write_segment,
    write_state,
)
from dowse.storage.protocol import KeywordRequest
from dowse.vectors.keys import Keys, as_keys, find_sorted, heads
from dowse.write_lock import write_lock

if TYPE_CHECKING:
    from dowse.query.ast import Constraint
    from dowse.storage.protocol import Reader

    Rows = NDArray[np.int64]

OnCounted = Callable[[int, int], None]  # called with the number of texts counted so far, and of all
FOLDER = "tfidf"
# Terms in a segment, about: sorting them takes some 400 MB for a moment.
SEGMENT_TERMS = 4_000_000
# When more than `MAX_SMALL` segments have fewer postings than `SMALL`, all but the largest of these are
# counted anew.
SMALL, MAX_SMALL = 2_000_000, 8
# Share of a segment's texts that may belong to no symbol any more before it is counted anew.
_MAX_UNUSED = 0.5
# Symbols whose texts are in memory at the same time.
BATCH = 2_000


def search_tfidf(
    reader: Reader,
    terms: Sequence[str],
    limit: int,
    constraint: Constraint | None = None,
    exact_rows: Mapping[object, frozenset[int]] | None = None,
) -> list[tuple[int, float]]:
    """Return (row, score) of the best symbols by sums of tf · idf, best first, ties by location.

    Texts that `count_terms` has not counted are counted now, which takes its time. A bigram is written
    `one other`; `exact_rows` are the rows that exact leaves (phrases, regexes) of the constraint match.
    """
    if not terms and reader.cache_folder is None:
        return []  # a warm-up: on a cluster there is nothing to load beforehand
    allowed = None
    if constraint is not None:
        among = KeywordRequest((), {}, constraint, exact_rows)
        allowed = [row for row, _ in reader.search_bm25(among, max(1, reader.symbol_count()))]
    # Counts are nowhere checked, but numbers that lead out of an array are damage.
    with translate_errors(reader.cache_folder or Path(), IndexError, ValueError):
        return _load(reader, complete=bool(terms)).top(reader, terms, limit, allowed)


def explain_tfidf(
    reader: Reader, terms: Sequence[str], rows: Sequence[int]
) -> dict[int, dict[str, tuple[int, float]]]:
    """Return, by row, (tf, idf) of each term that it has: the products sum to its score."""
    return _load(reader).explain(terms, rows)


def count_terms(
    reader: Reader,
    wait: float | None = None,
    on_wait: Callable[[str], None] | None = None,
    on_counted: OnCounted | None = None,
) -> int:
    """Count what is not counted yet, and keep it; return how many texts that were.

    Waits `wait` seconds for another process that counts (None: as long as it takes). Raises OSError where
    counts are missing and can't be written; searches then count in memory.
    """
    on_counted = on_counted or (lambda _, __: None)
    if reader.cache_folder is None:
        missing = _load(reader, complete=False).missing_texts
        _load(reader, on_counted=on_counted)
        return missing
    folder = reader.cache_folder / FOLDER
    if covers(reader):
        return 0
    try:
        return _update(reader, folder, wait, on_wait or (lambda _: None), on_counted)
    except OSError:
        # Where nothing can be written, as in a read-only copy, all counts may be there all the same.
        if _load(reader, complete=False).missing_texts:
            raise
        return 0


def covers(reader: Reader) -> bool:
    """Whether the counts on disk are known to cover every symbol of a generation."""
    if reader.cache_folder is None:
        return False
    state, segments = open_segments(reader.cache_folder / FOLDER)
    return state.covers == _generation_name(reader) and len(segments) == len(state.segments)


def _generation_name(reader: Reader) -> str:
    return f"{reader.identity}-{reader.generation}"


def _load(
    reader: Reader, *, complete: bool = True, on_counted: OnCounted = lambda _, __: None
) -> GenerationTfidf:
    """Return the TF-IDF index of a generation; if it has to be complete, missing texts are counted now."""
    folder = reader.cache_folder and reader.cache_folder / FOLDER
    known: tuple[State, GenerationTfidf] | None = reader.derived.get(FOLDER)
    if known and known[0] == (read_state(folder) if folder else State()):
        state, tfidf = known
    else:
        state, opened = open_segments(folder) if folder else (State(), {})
        tfidf = GenerationTfidf(list(opened.values()), SymbolTexts.read(reader))
    if complete and len(tfidf.missing):
        counted = count_texts(reader, tfidf.texts, tfidf.missing, on_counted)
        tfidf = GenerationTfidf([*tfidf.segments, *counted], tfidf.texts)
    reader.derived[FOLDER] = (state, tfidf)
    return tfidf


def _update(
    reader: Reader, folder: Path, wait: float | None, on_wait: Callable[[str], None], on_counted: OnCounted
) -> int:
    """Count what is not on disk yet and write it, segment by segment."""
    with write_lock(folder, wait, on_wait):
        texts = SymbolTexts.read(reader)
        opened = _worth_keeping(open_segments(folder)[1], texts)
        kept = list(opened)
        missing = GenerationTfidf(list(opened.values()), texts).missing
        added = 0
        for segment in count_texts(reader, texts, missing, on_counted):
            kept.append(write_segment(folder, segment))
            write_state(folder, State(tuple(kept)))
            added += len(segment.keys)
        state = State(tuple(kept), _generation_name(reader))
        write_state(folder, state)
        remove_leftovers(folder, state)
        return added


def _worth_keeping(segments: Mapping[int, Segment], texts: SymbolTexts) -> dict[int, Segment]:
    """Return segments by number without those that are mostly unused, and without the many small ones."""
    used = GenerationTfidf(list(segments.values()), texts).used()
    kept = {
        number: segment
        for (number, segment), mask in zip(segments.items(), used, strict=True)
        if mask.mean() >= 1 - _MAX_UNUSED
    }
    small = sorted((len(each.texts), number) for number, each in kept.items() if len(each.texts) < SMALL)
    if len(small) > MAX_SMALL:
        for _, number in small[:-1]:
            del kept[number]
    return kept


@dataclass(frozen=True, slots=True)
class SymbolTexts:
    """The symbols of a generation, by row, each with its file and the key of its text."""

    rows: Rows
    files: Rows
    keys: Keys

    @classmethod
    def read(cls, reader: Reader) -> SymbolTexts:
        """Read them from an index."""
        keyed_rows = reader.text_keys()
        rows, files, keys = zip(*keyed_rows, strict=True) if keyed_rows else ((), (), ())
        return cls(np.array(rows, np.int64), np.array(files, np.int64), as_keys(keys))


class GenerationTfidf:
    """The symbols of one generation and where in some segments their texts are; it never changes."""

    def __init__(self, segments: Sequence[Segment], texts: SymbolTexts) -> None:
        self.segments, self.texts = segments, texts
        sizes = [len(segment.keys) for segment in segments]
        self._offsets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        keys = np.concatenate([texts.keys[:0], *(segment.keys for segment in segments)])
        order = np.argsort(heads(keys), kind="stable")
        # A text has a number among all of them; -1 for a symbol whose text is in no segment.
        self._text = find_sorted(texts.keys, keys, heads(keys)[order], order)
        self._symbol_counts = np.bincount(self._text[self._text >= 0], minlength=len(keys))
        self.missing = np.flatnonzero(self._text < 0)

    @property
    def missing_texts(self) -> int:
        """How many different texts are in no segment."""
        return len(np.unique(self.texts.keys[self.missing], axis=0))

    def used(self) -> list[NDArray[np.bool_]]:
        """Return, for each segment, which of its texts belong to a symbol."""
        starts, ends = self._offsets[:-1], self._offsets[1:]
        return [self._symbol_counts[start:end] > 0 for start, end in zip(starts, ends, strict=True)]

    def top(
        self, reader: Reader, terms: Sequence[str], limit: int, allowed: Sequence[int] | None
    ) -> list[tuple[int, float]]:
        """Return (row, score) of the best symbols, among the allowed ones if those are given.

        Ties are ordered by location, which does not depend on when a symbol was added.
        """
        scores = self._scores(terms)[self._text]
        candidates = np.flatnonzero(scores > 0)
        if allowed is not None:
            candidates = np.intersect1d(
                candidates, np.searchsorted(self.texts.rows, np.array(allowed, np.int64))
            )
        if 0 < limit < len(candidates):
            last = -np.partition(-scores[candidates], limit - 1)[limit - 1]
            candidates = candidates[scores[candidates] >= last]  # with all ties of the last one
        score_of = dict(zip(self.texts.rows[candidates].tolist(), scores[candidates].tolist(), strict=True))
        best = sorted(
            reader.rows(list(score_of)),
            key=lambda row: (-score_of[row.row], row.repo, row.path, row.start_line, row.row),
        )
        return [(row.row, score_of[row.row]) for row in best[:limit]]

    def explain(self, terms: Sequence[str], rows: Sequence[int]) -> dict[int, dict[str, tuple[int, float]]]:
        """Return, by row, (tf, idf) of each term that it has."""
        texts = self._text[np.searchsorted(self.texts.rows, np.array(rows, np.int64))]
        by_row: dict[int, dict[str, tuple[int, float]]] = {row: {} for row in rows}
        for term, (with_term, counts, idf) in zip(terms, self._postings(terms), strict=True):
            positions = np.searchsorted(with_term, texts)  # ascending, from segment to segment too
            for row, text, at in zip(rows, texts.tolist(), positions.tolist(), strict=True):
                if at < len(with_term) and with_term[at] == text:
                    by_row[row][term] = (int(counts[at]), idf)
        return by_row

    def _scores(self, terms: Sequence[str]) -> NDArray[np.float64]:
        """Return the score of every text; one more, 0, for symbols whose text is in no segment."""
        scores = np.zeros(len(self._symbol_counts) + 1)
        for texts, counts, idf in self._postings(terms):
            scores[texts] += counts * idf  # no text is twice in the posting list of one term
        return scores

    def _postings(self, terms: Sequence[str]) -> Iterator[tuple[Rows, NDArray[np.int64], float]]:
        """Yield the posting list of each term over all segments: texts, tf of each; and the term's idf."""
        hashes = term_hashes(terms)
        positions = [segment.find(hashes).tolist() for segment in self.segments]
        nothing = np.empty(0, np.int64)
        for number in range(len(terms)):
            texts, counts = [nothing], [nothing]
            for segment, offset, at in zip(self.segments, self._offsets, positions, strict=False):
                if at[number] >= 0:
                    with_term, term_counts = segment.postings(at[number])
                    texts.append(with_term + offset)
                    counts.append(term_counts.astype(np.int64))
            with_term = np.concatenate(texts)
            document_frequency = int(self._symbol_counts[with_term].sum())
            idf = math.log((1 + len(self.texts.rows)) / (1 + document_frequency)) + 1
            yield with_term, np.concatenate(counts), idf


def count_texts(
    reader: Reader, texts: SymbolTexts, which: Rows, on_counted: OnCounted = lambda _, __: None
) -> Iterator[Segment]:
    """Yield segments of the texts of some symbols, each text once."""
    row_of: dict[bytes, int] = {}
    for at in sorted(which.tolist(), key=texts.files.__getitem__):  # then each file is read once or twice
        row_of.setdefault(texts.keys[at].tobytes(), int(texts.rows[at]))
    keys, builder = list(row_of), SegmentBuilder()
    for start in range(0, len(keys), BATCH):
        batch = {row_of[key]: key for key in keys[start : start + BATCH]}
        for row, text, doc in reader.symbol_texts(list(batch)):
            builder.add(batch[row], body_terms(text, doc))
        on_counted(start + len(batch), len(keys))
        if builder.size >= SEGMENT_TERMS or start + len(batch) == len(keys):
            yield builder.segment()
            builder = SegmentBuilder()


def body_terms(text: str, doc: str) -> list[str]:
    """Return the terms of a symbol, in order: of the same text that the keyword field `body` has.

    Some corpora hold documentation beside the code; where it is part of the code too, it counts once.
    """
    terms = tokenize(text)
    doc_terms = tokenize(doc)
    return terms if set(doc_terms) <= set(terms) else terms + doc_terms
