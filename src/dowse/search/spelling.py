"""Spelling: words that the index does not have are corrected, split or joined, for all lanes alike.

Only unknown words are touched. A word is unknown if no symbol has it; a name if no symbol is called so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, partial

from dowse import deadline
from dowse.lazy_classes import dataclass, replace
from dowse.parsing.tokenizer import STOP_WORDS, split_identifier, stem
from dowse.query.ast import Query, Word
from dowse.query.edits import edit_distance, fold_name, one_edit_away
from dowse.storage.protocol import KeywordRequest, Reader, Term
from dowse.symbol_lookup import has_symbol, nearest_names

# Minimum length of each part of a compound, and the most parts it is split into.
_MIN_PART, _MAX_PARTS = 2, 6
# The shortest compound; a longer word than the second is data.
_MIN_COMPOUND, _MAX_LENGTH = 6, 50
# A name of known words is corrected to that of a symbol from this length on: befor_request.
_MIN_LONG_NAME = 8
# Words are joined in queries of so many words: longer ones are sentences.
_MAX_JOINED = 3
# Words one edit away that are examined, the most frequent first.
_MAX_CANDIDATES = 10
# A word of such a rank is English and meant as it is written, though no symbol has it: "three" is not "tree".
_COMMON = 10_000
# Names with the stem of a word that are read to find the word itself.
_MAX_NAMES_READ = 50
# Names that have a word which no dictionary has, for it to be a correction.
_MIN_NAMES = 3
# Queries of more words are sentences: their words are not joined to one name.
_MAX_NAME_WORDS = 5
# Of a longer query, such as a pasted text, nothing is corrected: it has enough words that the index knows.
_MAX_WORDS = 12
# Names that have a part of so many letters.
_MIN_USES = {2: 5, 3: 2}
_PLAIN = re.compile(r"[^\W\d_]+\Z")
_IDENTIFIER = re.compile(r"[\w.:]+\Z")


@cache
def _word_ranks() -> dict[str, int]:
    """Return the words of the shipped encoder's vocabulary by rank: the more frequent, the lower."""
    import json

    from dowse.encoders.model_files import shipped_folder

    try:
        vocabulary = json.loads((shipped_folder() / "base" / "tokenizer.json").read_bytes())["model"]["vocab"]
    except (OSError, ValueError, KeyError):  # then every unknown word may be misspelt
        return {}
    return {token[1:]: rank for token, rank in vocabulary.items() if token.startswith("Ġ")}


def word_rank(word: str) -> int | None:
    """Return the rank of a word among those that an encoder knows as a whole; None if it is none of them."""
    return _word_ranks().get(word)


@dataclass(frozen=True, slots=True)
class Correction:
    """A query after correction, and what was changed: "sring → string"."""

    query: Query
    changes: tuple[str, ...] = ()


def correct_query(reader: Reader, query: Query, fuzziness: str) -> Correction:
    """Correct the ranking words of a query that the index does not have."""
    words = [clause for clause in query.clauses if isinstance(clause, Word)]
    if fuzziness == "0" or not words or len(words) > _MAX_WORDS:
        return Correction(query)
    speller = _Speller(reader, fuzziness)
    corrected = [speller.correct(word, is_alone=len(words) == 1) for word in words]
    if reader.is_corpus and corrected == [[word] for word in words]:
        # Among functions of many projects some name has the words joined, and is not what was meant.
        return Correction(query)
    whole = speller.join_all(words, corrected)
    if whole:
        return _replaced(query, [(words, [whole])])
    pairs = [([old], new) for old, new in zip(words, corrected, strict=True)]
    return _replaced(query, list(speller.join_neighbours(pairs)))


def _replaced(query: Query, pairs: Sequence[tuple[list[Word], list[Word]]]) -> Correction:
    """Replace words by others; they keep their places among the clauses."""
    changes, source = [], query.source
    words: list[Word] = []
    for old, new in pairs:
        words += new
        before, after = (" ".join(word.text for word in each) for each in (old, new))
        if before != after:
            changes.append(f"{before} → {after}")
            source = source.replace(before, after)
    if not changes:
        return Correction(query)
    others = [clause for clause in query.clauses if not isinstance(clause, Word)]
    return Correction(replace(query, clauses=(*words, *others), source=source), tuple(changes))


class _Speller:
    """Corrections of single words, and joins of neighbours."""

    def __init__(self, reader: Reader, fuzziness: str) -> None:
        self._reader, self._distance = reader, 2 if fuzziness == "2" else 1
        self._keeps_words = fuzziness == "auto"
        self.frequency = cache(partial(_frequency, reader, ""))
        self.name_frequency = cache(partial(_frequency, reader, "name"))

    def correct(self, word: Word, *, is_alone: bool) -> list[Word]:
        """Return what a word is taken for; the word itself if it is known or nothing is near."""
        deadline.check()
        text = word.text
        if not 3 <= len(text) <= _MAX_LENGTH or text.lower() in STOP_WORDS or not _IDENTIFIER.match(text):
            return [word]
        if _PLAIN.match(text) and not word.identifier:
            return self._correct_plain(word, is_alone)
        return self._correct_name(word, is_alone)

    def _correct_plain(self, word: Word, is_alone: bool) -> list[Word]:
        text, known = word.text, self.frequency(word.text)
        is_known = known and not (is_alone and len(text) >= _MIN_COMPOUND)
        if is_known or has_symbol(self._reader, text, with_names=is_alone):
            return [word]
        rank = word_rank(text.lower()) if self._keeps_words and not is_alone else None
        if rank is not None and rank < _COMMON:
            return [word]
        if is_alone and (name := self._nearest_name(text, 0 if known else self._distance, with_names=True)):
            return [Word(name, identifier=True)]
        if rank is None and not self.name_frequency(text) and (parts := self._split(text.lower())):
            return [*([word] if known else []), *map(Word, parts)]
        if known:
            return [word]
        if near := self._nearest_word(text):
            return [Word(near)]
        if not is_alone and (name := self._nearest_name(text, self._distance)):
            return [Word(name, identifier=True)]
        return (is_alone and self._split_with_typo(text.lower())) or [word]

    def _correct_name(self, word: Word, is_alone: bool) -> list[Word]:
        """Correct a name by the names of symbols, else the parts of it that the index does not have."""
        if has_symbol(self._reader, word.text, with_names=is_alone) or self._reader.document_frequency(
            word.text.lower()
        ):
            return [word]  # a symbol, or a name from elsewhere that the code uses
        is_short = len(word.text) < _MIN_COMPOUND and not is_alone
        unknown = [part for part in split_identifier(word.text) if len(part) > 2 and not self.frequency(part)]
        may_be_misspelt = unknown or len(word.text) >= _MIN_LONG_NAME
        distance = self._distance if may_be_misspelt else 0
        name = "" if is_short else self._nearest_name(word.text, distance, with_names=is_alone)
        if name:
            return [Word(name, identifier=True)]
        text = word.text
        for part in unknown if is_alone or "." not in text else ():
            if near := self._nearest_word(part):
                text = re.sub(re.escape(part), partial(_same_case, near), text, flags=re.I)
        if text != word.text and (name := self._nearest_name(text, 0)):
            text = name
        return [replace(word, text=text)]

    def _nearest_name(self, text: str, distance: int, *, with_names: bool = False) -> str:
        """Return the nearest name of a symbol; with distance 0, one of several words that differs in form."""
        if len(fold_name(text)) < 4:
            return ""
        rows = nearest_names(self._reader, text, distance, 1, with_names=with_names)
        if not rows:
            return ""
        is_same = fold_name(rows[0].name) == fold_name(text)
        return rows[0].name if not is_same or len(split_identifier(rows[0].name)) > 1 or distance else ""

    def _nearest_word(self, text: str) -> str:
        """Return the most frequent known word within the edit distance, "" if there is none."""
        lower = text.lower()
        if len(lower) < 3 or not lower.isalpha():
            return ""
        near = dict.fromkeys(one_edit_away(lower)) if lower.isascii() else {}
        self._reader.prefetch_document_frequencies(map(stem, near))
        known = [each for each in near if len(each) >= min(len(lower), 4) and self.frequency(each)]
        if not known and self._distance > 1 and len(lower) > 5:
            known = self._two_edits_away(lower)
        by_frequency = sorted(known, key=lambda each: (-self.name_frequency(each), -self.frequency(each)))
        return next(filter(self._is_attested, by_frequency[:_MAX_CANDIDATES]), "")

    def _is_attested(self, word: str) -> bool:
        """Whether a word itself is in the index, not only its stem: `entere` has the stem of `enter`.

        One that few names have must be a word that the encoder knows.
        """
        if self._keeps_words and word_rank(word) is None and self.name_frequency(word) < _MIN_NAMES:
            return False
        return stem(word) == word or self._is_word_of_names(word)

    def _two_edits_away(self, text: str) -> list[str]:
        """Return words of names two edits away; the backend finds the symbols that have one."""
        request = KeywordRequest((Term(stem(text), 1.0, 2),), {"name": 1.0})
        rows = self._reader.rows([row for row, _ in self._reader.search_bm25(request, 50)])
        parts = {part for row in rows for part in split_identifier(row.name)}
        return [part for part in sorted(parts) if edit_distance(part, text, 2) <= 2]

    def _split(self, text: str) -> list[str]:
        """Return the fewest words of names that a compound consists of; of several splits the likeliest."""
        if len(text) < _MIN_COMPOUND or not text.isalpha():
            return []
        # best[end]: (number of parts, minus the frequency of the rarest part, parts) up to there
        best: dict[int, tuple[int, int, list[str]]] = {0: (0, -1_000_000, [])}
        for end in range(_MIN_PART, len(text) + 1):
            for start in sorted(best):
                part = text[start:end]
                if len(part) < _MIN_PART or best[start][0] == _MAX_PARTS or part == text:
                    continue
                if not self._is_part(part):
                    continue
                count, rarest, parts = best[start]
                path = (count + 1, max(rarest, -self.name_frequency(part)), [*parts, part])
                if end not in best or path[:2] < best[end][:2]:
                    best[end] = path
        return best[len(text)][2] if len(text) in best else []

    def _is_part(self, part: str) -> bool:
        """Whether a part of a compound is a word of names; a short one must be common."""
        return self.name_frequency(part) > _MIN_USES.get(len(part), 0)

    def _split_with_typo(self, text: str) -> list[Word]:
        """Split a compound of which one part is misspelt: sugestionsfor → suggestions for."""
        for cut in range(len(text) - 3, 2, -1):
            left, right = text[:cut], text[cut:]
            if self._is_part(left) and len(right) > 3 and (near := self._nearest_word(right)):
                return [Word(left), Word(near)]
            if self._is_part(right) and len(left) > 3 and (near := self._nearest_word(left)):
                return [Word(near), Word(right)]
        return []

    def join_all(self, words: Sequence[Word], corrected: Sequence[Sequence[Word]]) -> Word | None:
        """Return the name that all words of a short query are, if it has other words than the name."""
        texts = [word.text for each in corrected for word in each]
        if not 1 < len(texts) <= _MAX_NAME_WORDS or not all(map(_PLAIN.match, texts)):
            return None
        rows = nearest_names(self._reader, "".join(texts), 0, 1)
        if not rows:
            return None
        is_as_typed = [word.text for word in words] == texts
        same_words = split_identifier(rows[0].name) == [text.lower() for text in texts]
        return None if is_as_typed and same_words else Word(rows[0].name, identifier=True)

    def join_neighbours(
        self, pairs: Sequence[tuple[list[Word], list[Word]]]
    ) -> Iterator[tuple[list[Word], list[Word]]]:
        """Add the one word that the names of symbols have for two or three neighbours: time out → timeout."""
        if len(pairs) > _MAX_JOINED:
            yield from pairs
            return
        index = 0
        while index < len(pairs):
            length = next((n for n in (3, 2) if self._is_one_word(pairs[index : index + n], n)), 1)
            old = [word for each, _ in pairs[index : index + length] for word in each]
            new = [word for _, each in pairs[index : index + length] for word in each]
            yield old, [*new, Word("".join(word.text for word in new))] if length > 1 else new
            index += length

    def _is_one_word(self, pairs: Sequence[tuple[list[Word], list[Word]]], length: int) -> bool:
        words = [word for _, each in pairs for word in each]
        if len(pairs) < length or len(words) != length or not all(_PLAIN.match(word.text) for word in words):
            return False
        joined = "".join(word.text for word in words).lower()
        if len(joined) < 5 or not self.name_frequency(joined):
            return False
        return self._is_word_of_names(joined)

    def _is_word_of_names(self, word: str) -> bool:
        """Whether the name of a symbol has a word itself; found by its stem: a scan of names takes long."""
        request = KeywordRequest((Term(stem(word), 1.0),), {"name": 1.0})
        rows = self._reader.rows([row for row, _ in self._reader.search_bm25(request, _MAX_NAMES_READ)])
        return any(word in split_identifier(row.name) for row in rows)


def _frequency(reader: Reader, field: str, word: str) -> int:
    """Return the document frequency of a word; whole identifiers are in the index without stemming."""
    lower = word.lower()
    return max(reader.document_frequency(stem(lower), field), reader.document_frequency(lower, field))


def _same_case(new: str, match: re.Match[str]) -> str:
    old = match[0]
    if old.isupper():
        return new.upper()
    return new.capitalize() if old[:1].isupper() else new
