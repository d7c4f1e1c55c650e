"""The TF-IDF index in an index's folder: made when it is first asked for, kept up to date from then on.

    score = sum over the query's terms and pairs of neighbouring terms of tf · idf
    idf   = ln((1 + n) / (1 + df)) + 1

`tf` is how often a symbol's text has the term, `df` how many symbols have it, `n` how many there are:
scikit-learn's `TfidfVectorizer` without normalisation. Texts are named by what they say and symbols carry
that name, so that segments fit every generation; df and n are counted over the symbols of the one that is
asked, when it is asked: scores are those of an index made afresh, whatever was added and removed before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dowse.parsing.spans import join_spans
from dowse.parsing.tokenizer import tokenize
from dowse.storage.local.layout import TFIDF, writer_lock
from dowse.storage.local.tfidf_files import (
    State,
    is_there,
    open_segments,
    problems,
    read_state,
    remove_leftovers,
    write_segment,
    write_state,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dowse.storage.local.catalog import Catalog
    from dowse.storage.local.tfidf_files import SegmentFacts
    from dowse.storage.local.tfidf_segment import Hashes, Segment
    from dowse.vectors.keys import Keys

    Rows = NDArray[np.int64]

OnCounted = Callable[[int, int], None]  # called with how many texts are counted, and how many there are
# Terms in a segment, about: sorting them takes some 400 MB for a moment.
SEGMENT_TERMS = 4_000_000
# Segments with fewer postings than this are put together when there are more of them than this.
_SMALL, _MANY = 2_000_000, 8
# Share of a segment's texts that may belong to no symbol any more before it is written anew.
_WASTE = 0.5
# Symbols whose texts are in memory at the same time.
_AT_ONCE = 2_000


class TextNames(NamedTuple):
    """The symbols of a generation, by row, each with its file and the name of its text."""

    rows: Rows
    files: Rows
    keys: Keys


class LocalTfidf:
    """The TF-IDF index of a folder; what is open is shared by the readers of a generation."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / TFIDF
        self._open: tuple[object, State, GenerationTfidf] | None = None

    def folders(self) -> list[Path]:
        """Return the folder, if there is one."""
        return [self.folder] if self.folder.is_dir() else []

    def of(self, generation: int, catalog: Catalog, *, whole: bool = True) -> GenerationTfidf:
        """Return the index of one generation; what is not on disk is counted here and now if it is wanted."""
        known, wanted = self._open, (catalog.identity, generation)
        if known and known[0] == wanted and known[1] == read_state(self.folder):
            _, state, found = known
        else:
            state, opened = open_segments(self.folder)
            found = GenerationTfidf([segment for _, segment in opened], _names(catalog))
        if whole and len(found.missing):
            more = counted(catalog, found.names, found.missing)
            found = GenerationTfidf([*found.segments, *more], found.names)
        self._open = (wanted, state, found)
        return found

    def covers(self, generation: int, catalog: Catalog) -> bool:
        """Whether every symbol of a generation is known to be counted; loads nothing."""
        state = read_state(self.folder)
        named = state.covers == _covered(generation, catalog)
        return named and all(is_there(self.folder, facts) for facts in state.segments)

    def update(
        self,
        generation: int,
        catalog: Catalog,
        wait: float | None,
        on_wait: Callable[[str], None],
        on_counted: OnCounted,
    ) -> int:
        """Count what is not counted yet and keep it; return how many texts that were."""
        with writer_lock(self.folder, wait, on_wait):
            state, opened = open_segments(self.folder)
            remove_leftovers(self.folder, state)
            kept = [facts for facts, _ in opened]  # without those that can't be read
            found = GenerationTfidf([segment for _, segment in opened], _names(catalog))
            added = 0
            for segment in counted(catalog, found.names, found.missing, on_counted):
                kept.append(write_segment(self.folder, segment))
                write_state(self.folder, State(tuple(kept)))
                added += len(segment.keys)
            kept = self._tidied(found.names)
            state = State(tuple(kept), _covered(generation, catalog))
            write_state(self.folder, state)
            remove_leftovers(self.folder, state)
            return added

    def _tidied(self, names: TextNames) -> list[SegmentFacts]:
        """Put small segments together if they are many, else write anew what is mostly of no use."""
        from dowse.storage.local.tfidf_segment import merge

        segments = dict(open_segments(self.folder)[1])
        used = GenerationTfidf(list(segments.values()), names).used()
        masks = dict(zip(segments, used, strict=True))
        small = [facts for facts in segments if facts.postings < _SMALL]
        if len(small) > _MANY:
            groups = [_smallest(small, 2 * _SMALL)]
        else:
            groups = [[facts] for facts, mask in masks.items() if mask.mean() < 1 - _WASTE]
        gone = {facts for group in groups for facts in group}
        kept = [facts for facts in segments if facts not in gone]
        for group in groups:
            merged = merge([(segments[facts], masks[facts]) for facts in group])
            if len(merged.keys):
                kept.append(write_segment(self.folder, merged))
        return kept

    def problems(self) -> list[str]:
        """Return what is wrong with what is on disk."""
        return list(problems(self.folder, read_state(self.folder).segments))

    def close(self) -> None:
        """Let go of what is open."""
        self._open = None


class GenerationTfidf:
    """The symbols of one generation and where in some segments their texts are; it never changes."""

    def __init__(self, segments: Sequence[Segment], names: TextNames) -> None:
        import numpy as np

        from dowse.vectors.keys import find_sorted, heads

        self.segments, self.names = segments, names
        sizes = [len(segment.keys) for segment in segments]
        self._offsets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        keys = np.concatenate([names.keys[:0], *(segment.keys for segment in segments)])
        order = np.argsort(heads(keys), kind="stable")
        # A text has a number among all of them; -1 for a symbol whose text is in no segment.
        self._text = find_sorted(names.keys, keys, heads(keys)[order], order)
        self._bearers = np.bincount(self._text[self._text >= 0], minlength=len(keys))
        self.missing = np.flatnonzero(self._text < 0)

    def used(self) -> list[NDArray[np.bool_]]:
        """Return, for each segment, which of its texts belong to a symbol."""
        return [self._bearers[a:b] > 0 for a, b in zip(self._offsets[:-1], self._offsets[1:], strict=True)]

    def top(
        self, terms: Sequence[str], limit: int, allowed: Sequence[int] | None, catalog: Catalog
    ) -> list[tuple[int, float]]:
        """Return (row, score) of the best symbols, among the allowed ones if those are given.

        Equals are in the order of their places, which does not depend on when they came.
        """
        import numpy as np

        scores = self._scores(terms)[self._text]
        found = np.flatnonzero(scores > 0)
        if allowed is not None:
            found = np.intersect1d(found, np.searchsorted(self.names.rows, np.array(allowed, np.int64)))
        if 0 < limit < len(found):
            last = -np.partition(-scores[found], limit - 1)[limit - 1]
            found = found[scores[found] >= last]  # with all that are as good as the last
        value = dict(zip(self.names.rows[found].tolist(), scores[found].tolist(), strict=True))
        best = sorted(catalog.by_place(list(value)), key=lambda row: -value[row])
        return [(row, value[row]) for row in best[:limit]]

    def parts(self, terms: Sequence[str], rows: Sequence[int]) -> dict[int, dict[str, tuple[int, float]]]:
        """Return, by row, how often it has each term and what one time is worth: their products sum to it."""
        import numpy as np

        texts = self._text[np.searchsorted(self.names.rows, np.array(rows, np.int64))]
        found: dict[int, dict[str, tuple[int, float]]] = {row: {} for row in rows}
        for term, (having, counts, idf) in zip(terms, self._postings(terms), strict=True):
            places = np.searchsorted(having, texts)  # they ascend, from segment to segment too
            for row, text, place in zip(rows, texts.tolist(), places.tolist(), strict=True):
                if place < len(having) and having[place] == text:
                    found[row][term] = (int(counts[place]), idf)
        return found

    def _scores(self, terms: Sequence[str]) -> NDArray[np.float64]:
        """Return the score of every text; one more, nought, for symbols that have none."""
        import numpy as np

        scores = np.zeros(len(self._bearers) + 1)
        for texts, counts, idf in self._postings(terms):
            scores[texts] += counts * idf  # no text is twice among the postings of one term
        return scores

    def _postings(self, terms: Sequence[str]) -> Iterator[tuple[Rows, NDArray[np.int64], float]]:
        """Give, for each term, the texts that have it, how often each, and its idf."""
        import numpy as np

        from dowse.storage.local.tfidf_segment import term_hashes

        hashes: Hashes = term_hashes(terms)
        places = [segment.find(hashes).tolist() for segment in self.segments]
        nothing = np.empty(0, np.int64)
        for number in range(len(terms)):
            texts, counts = [nothing], [nothing]
            for segment, offset, at in zip(self.segments, self._offsets, places, strict=False):
                if at[number] >= 0:
                    having, often = segment.postings(at[number])
                    texts.append(having + offset)
                    counts.append(often.astype(np.int64))
            having = np.concatenate(texts)
            frequency = int(self._bearers[having].sum())
            idf = math.log((1 + len(self.names.rows)) / (1 + frequency)) + 1
            yield having, np.concatenate(counts), idf


def counted(
    catalog: Catalog, names: TextNames, which: Rows, on_counted: OnCounted = lambda _, __: None
) -> Iterator[Segment]:
    """Give segments of the texts of some symbols, each text once."""
    from dowse.storage.local.tfidf_segment import Counter

    row_of: dict[bytes, int] = {}
    for at in sorted(which.tolist(), key=names.files.__getitem__):  # then each file is read once or twice
        row_of.setdefault(names.keys[at].tobytes(), int(names.rows[at]))
    keys, counter = list(row_of), Counter()
    for start in range(0, len(keys), _AT_ONCE):
        some = {row_of[key]: key for key in keys[start : start + _AT_ONCE]}
        for row, terms in _terms(catalog, list(some)):
            counter.add(some[row], terms)
        on_counted(start + len(some), len(keys))
        if counter.size >= SEGMENT_TERMS or start + len(some) == len(keys):
            yield counter.segment()
            counter = Counter()


def _terms(catalog: Catalog, rows: Sequence[int]) -> Iterable[tuple[int, list[str]]]:
    """Give the terms of some symbols' own text: the same text that the keyword field `body` has."""
    found = catalog.own_texts(rows)
    texts = dict(catalog.texts(sorted({file_id for _, file_id, _, _ in found})))
    beside = catalog.is_corpus()
    for row, file_id, spans, doc in found:
        terms = tokenize(join_spans(texts[file_id], spans).decode("utf-8", "replace"))
        if beside and doc:
            # Some corpora hold documentation beside the code; where it stands in it, it counts once.
            said = tokenize(doc)
            terms += [] if set(said) <= set(terms) else said
        yield row, terms


def _names(catalog: Catalog) -> TextNames:
    """Return what names the text of every symbol.

    Documentation that stands beside the code is no part of the hash of its content; but of what is encoded.
    """
    import numpy as np

    from dowse.vectors.keys import as_keys

    found = catalog.text_names()
    rows, files, hashes, vector_keys = zip(*found, strict=True) if found else ((), (), (), ())
    keys = as_keys([bytes.fromhex("".join(digest.zfill(32) for digest in hashes))])
    if catalog.is_corpus():
        keys = keys ^ as_keys(vector_keys)
    return TextNames(np.array(rows, np.int64), np.array(files, np.int64), keys)


def _smallest(segments: Sequence[SegmentFacts], most: int) -> list[SegmentFacts]:
    """Return the smallest segments, two or more, with about so many postings together."""
    chosen: list[SegmentFacts] = []
    for facts in sorted(segments, key=lambda each: each.postings):
        if len(chosen) > 1 and sum(each.postings for each in chosen) + facts.postings > most:
            break
        chosen.append(facts)
    return chosen


def _covered(generation: int, catalog: Catalog) -> str:
    return "-".join(map(str, (*(catalog.identity or ()), generation)))
