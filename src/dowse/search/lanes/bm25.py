"""The keyword lane: BM25 over fields, and what it does when too little matches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from dowse.parsing.tokenizer import tokenize, tokenize_query
from dowse.query import Constraint
from dowse.storage.protocol import KeywordRequest, Reader, Term

# A word that is some edits away is worth this share of an exact one.
_FUZZY_SHARE = 0.35
# Half of a split word is worth this share of a whole one.
_SPLIT_SHARE = 0.5
# The shortest piece worth splitting a word into.
_MIN_PIECE = 3
# Words this long have short forms this long, if so many names use them.
_MIN_ABBREVIATED, _MIN_ABBREVIATION, _MIN_USES = 6, 4, 3
# Names of languages that hardly mean anything else in a question ("go", "c" and "node" do).
_LANGUAGE_NAMES = {
    **{name: name for name in ("elixir", "haskell", "java", "javascript", "kotlin", "php", "python", "ruby")},
    **{"golang": "go", "python3": "python", "rust": "rust", "scala": "scala", "typescript": "typescript"},
}
# So much of an index is nearly all of it.
_NEARLY_ALL = 0.8


@dataclass(frozen=True, slots=True)
class KeywordResult:
    """What the lane found, and how it had to ask."""

    rows: tuple[int, ...]
    scores: tuple[float, ...]
    request: KeywordRequest
    exact: frozenset[int] = frozenset()  # rows found before anything was relaxed
    notes: tuple[str, ...] = ()  # how it was relaxed
    details: tuple[str, ...] = ()  # this lane has nothing to say of a single symbol


def keyword_lane(
    reader: Reader,
    text: str,
    *,
    limit: int,
    relax_below: int,
    fuzziness: str,
    field_weights: Mapping[str, float],
    abbreviation: float = 0.0,
    constraint: Constraint | None = None,
    exact_rows: Mapping[object, frozenset[int]] | None = None,
) -> KeywordResult:
    """Find the symbols that share words with a text; relax the words while too few are found."""
    terms = query_terms(text)
    reader.expect_terms(term.text for term in terms)
    short = tuple(_abbreviations(reader, terms, abbreviation)) if abbreviation else ()
    request = KeywordRequest((*terms, *short), field_weights, constraint, exact_rows)
    if constraint is None and any(reader.document_frequency(t.text) >= relax_below for t in terms):
        relax_below = 0  # enough will match: no need to rank more than is wanted
    found = reader.keyword(request, max(limit, relax_below))
    exact = frozenset(row for row, _ in found)
    notes: list[str] = []
    for relax in (_with_edits, _with_pieces):
        if len(found) >= relax_below:
            break
        relaxed, note = relax(reader, request, text, fuzziness)
        if relaxed is request:
            continue
        more = reader.keyword(relaxed, max(limit, relax_below))
        if len(more) > len(found):
            found, request = more, relaxed
            notes.append(note)
    found = found[:limit]
    rows, scores = tuple(row for row, _ in found), tuple(score for _, score in found)
    return KeywordResult(rows, scores, request, exact, tuple(notes))


def query_terms(text: str) -> tuple[Term, ...]:
    """Return the distinct terms of a query, without stop words unless there is nothing else."""
    return tuple(Term(term) for term in tokenize_query(text))


def without_language(reader: Reader, text: str) -> str:
    """Return a text without the name of the language that nearly everything here is written in.

    "python list to string" in a Python repository asks for lists and strings; the few functions that
    say "python" are not what is meant.
    """
    words = text.split()
    named = {word: _LANGUAGE_NAMES.get(word.lower()) for word in words}
    if not any(named.values()) or len(words) == 1:
        return text
    files = reader.languages()
    most = max(files, key=files.__getitem__, default="")
    if not most or files[most] < _NEARLY_ALL * sum(files.values()):
        return text
    return " ".join(word for word in words if named.get(word) != most) or text


def edit_distance_for(term: str, fuzziness: str) -> int:
    """Return how many edits a term may be away: none for two letters, one for more; two on request."""
    if not term.isalpha() or len(term) <= 2:
        return 0
    if fuzziness == "auto":
        return 1
    return min(int(fuzziness), 1 if len(term) <= 5 else 2)


def _abbreviations(reader: Reader, terms: tuple[Term, ...], share: float) -> Iterator[Term]:
    """Give the short forms that names use: `config` for configuration, `param` for parameter."""
    known = {term.text for term in terms}
    shorter = {term: _shorter(term.text) for term in terms}
    reader.expect_terms((short for each in shorter.values() for short in each), "name")
    for term in terms:
        for short in shorter[term]:
            if short in known:
                break
            if reader.document_frequency(short, "name") >= _MIN_USES:
                known.add(short)
                yield Term(short, term.weight * share)
                break


def _shorter(word: str) -> list[str]:
    """Return the beginnings of a word that could be its short form, longest first."""
    if len(word) < _MIN_ABBREVIATED or not word.isalpha():
        return []
    return [word[:length] for length in range(len(word) - 2, _MIN_ABBREVIATION - 1, -1)]


def _with_edits(
    _reader: Reader, request: KeywordRequest, _text: str, fuzziness: str
) -> tuple[KeywordRequest, str]:
    """Allow every word some edits."""
    extra = [
        Term(term.text, term.weight * _FUZZY_SHARE, distance)
        for term in request.terms
        if (distance := edit_distance_for(term.text, fuzziness))
    ]
    if not extra:
        return request, ""
    most = max(term.distance for term in extra)
    note = f"few exact matches: also words up to {most} edit{'s' if most > 1 else ''} away"
    return replace(request, terms=(*request.terms, *extra)), note


def _with_pieces(
    reader: Reader, request: KeywordRequest, text: str, _fuzziness: str
) -> tuple[KeywordRequest, str]:
    """Split words that the index does not know into two that it knows."""
    pieces: list[Term] = []
    split: list[str] = []
    for word in dict.fromkeys(text.lower().split()):
        pair = None if not word.isalpha() or _known(reader, word) else _best_split(reader, word)
        if pair:
            split.append(f"{word} → {' + '.join(pair)}")
            pieces.extend(Term(term, _SPLIT_SHARE) for piece in pair for term in tokenize(piece))
    if not pieces:
        return request, ""
    return replace(request, terms=(*request.terms, *pieces)), f"split: {', '.join(split)}"


def _best_split(reader: Reader, word: str) -> tuple[str, str] | None:
    """Return the two known words a word is made of, the rarer of them as frequent as possible."""
    best: tuple[int, tuple[str, str]] | None = None
    pairs = [(word[:cut], word[cut:]) for cut in range(_MIN_PIECE, len(word) - _MIN_PIECE + 1)]
    reader.expect_terms(term for pair in pairs for piece in pair for term in tokenize(piece))
    for pair in pairs:
        known = min(_known(reader, piece) for piece in pair)
        if known and (best is None or known > best[0]):
            best = (known, pair)
    return best[1] if best else None


def _known(reader: Reader, piece: str) -> int:
    terms = tokenize(piece)
    return min(map(reader.document_frequency, terms)) if terms else 0
