"""The keyword lane: BM25 over weighted fields, with query relaxation when too little matches.

The scoring itself is the backend's (tantivy or Elasticsearch: k1 = 1.2, b = 0.75; Robertson and
Zaragoza, 2009).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import starmap

from dowse import deadline
from dowse.lazy_classes import dataclass, replace
from dowse.parsing.tokenizer import tokenize, tokenize_query
from dowse.query.ast import Constraint
from dowse.search.lanes.jobs import LaneResult, columns
from dowse.storage.protocol import KeywordRequest, Reader, Term

# A query that matches fewer symbols than this is relaxed.
_RELAX_BELOW = 100
# Weight of a fuzzy match, as a share of an exact one.
_FUZZY_SHARE = 0.35
# Weight of half of a split compound, as a share of a whole word.
_SPLIT_SHARE = 0.5
# Minimum length of each half of a split compound; a longer word than the second is data.
_MIN_PIECE, _MAX_COMPOUND = 3, 50
# A word of this length has abbreviations of this length, if so many names use them.
_MIN_ABBREVIATED, _MIN_ABBREVIATION, _MIN_USES = 6, 4, 3
# Names of languages that hardly mean anything else in a query ("go", "c" and "node" do).
_LANGUAGE_NAMES = {
    **{name: name for name in ("elixir", "haskell", "java", "javascript", "kotlin", "php", "python", "ruby")},
    **{"golang": "go", "python3": "python", "rust": "rust", "scala": "scala", "typescript": "typescript"},
}
# Share of files from which on an index is written in one language.
_NEARLY_ALL = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordResult(LaneResult):
    """The candidates, and the request that matched them."""

    request: KeywordRequest
    exact: frozenset[int] = frozenset()  # rows that matched before the query was relaxed
    notes: tuple[str, ...] = ()  # how it was relaxed


def keyword_lane(
    reader: Reader,
    text: str,
    *,
    limit: int,
    fuzziness: str,
    field_weights: Mapping[str, float],
    relax_below: int = _RELAX_BELOW,
    abbreviation: float = 0.0,
    term_weights: Mapping[str, float] | None = None,
    constraint: Constraint | None = None,
    exact_rows: Mapping[object, frozenset[int]] | None = None,
) -> KeywordResult:
    """Find the symbols that share terms with a text; relax the query while too few match."""
    terms = tuple(starmap(Term, term_weights.items())) if term_weights else query_terms(text)
    reader.prefetch_document_frequencies(term.text for term in terms)
    abbreviations = tuple(_abbreviations(reader, terms, abbreviation)) if abbreviation else ()
    request = KeywordRequest((*terms, *abbreviations), field_weights, constraint, exact_rows)
    if constraint is None and any(reader.document_frequency(t.text) >= relax_below for t in terms):
        relax_below = 0  # enough symbols match: no need to rank more than the limit
    hits = reader.search_bm25(request, max(limit, relax_below))
    exact = frozenset(row for row, _ in hits)
    notes: list[str] = []
    for relax in (_relax_by_edits, _relax_by_splitting):
        if len(hits) >= relax_below:
            break
        relaxed, note = relax(reader, request, text, fuzziness)
        if relaxed is request:
            continue
        more = reader.search_bm25(relaxed, max(limit, relax_below))
        if len(more) > len(hits):
            hits, request = more, relaxed
            notes.append(note)
    return KeywordResult(*columns(hits[:limit]), request=request, exact=exact, notes=tuple(notes))


def query_terms(text: str) -> tuple[Term, ...]:
    """Return the distinct terms of a query, without stop words unless it has nothing else."""
    return tuple(map(Term, tokenize_query(text)))


def without_language(reader: Reader, text: str) -> str:
    """Return a text without the name of the language that nearly all files are written in.

    "python list to string" in a Python repository asks for lists and strings, not for the few functions that
    say "python".
    """
    words = text.split()
    named = {word: _LANGUAGE_NAMES.get(word.lower()) for word in words}
    if not any(named.values()) or len(words) == 1:
        return text
    files = reader.languages()
    main_language = max(files, key=files.__getitem__, default="")
    if not main_language or files[main_language] < _NEARLY_ALL * sum(files.values()):
        return text
    return " ".join(word for word in words if named.get(word) != main_language) or text


def edit_distance_for(term: str, fuzziness: str) -> int:
    """Return the maximum edit distance of a term: 0 for two letters, 1 for more; 2 on request."""
    if not term.isalpha() or len(term) <= 2:
        return 0
    if fuzziness == "auto":
        return 1
    return min(int(fuzziness), 1 if len(term) <= 5 else 2)


def _abbreviations(reader: Reader, terms: tuple[Term, ...], share: float) -> Iterator[Term]:
    """Yield the abbreviations that names use: `config` for configuration, `param` for parameter."""
    known = {term.text for term in terms}
    prefixes = {term: _prefixes(term.text) for term in terms}
    reader.prefetch_document_frequencies((prefix for each in prefixes.values() for prefix in each), "name")
    for term in terms:
        for prefix in prefixes[term]:
            if prefix in known:
                break
            if reader.document_frequency(prefix, "name") >= _MIN_USES:
                known.add(prefix)
                yield Term(prefix, term.weight * share)
                break


def _prefixes(word: str) -> list[str]:
    """Return the prefixes of a word that could be its abbreviation, longest first."""
    if len(word) < _MIN_ABBREVIATED or not word.isalpha():
        return []
    return [word[:length] for length in range(len(word) - 2, _MIN_ABBREVIATION - 1, -1)]


def _relax_by_edits(
    _reader: Reader, request: KeywordRequest, _text: str, fuzziness: str
) -> tuple[KeywordRequest, str]:
    """Add fuzzy terms within the edit distance."""
    extra = [
        Term(term.text, term.weight * _FUZZY_SHARE, distance)
        for term in request.terms
        if (distance := edit_distance_for(term.text, fuzziness))
    ]
    if not extra:
        return request, ""
    distance = max(term.distance for term in extra)
    note = f"few exact matches: also words up to {distance} edit{'s' if distance > 1 else ''} away"
    return replace(request, terms=(*request.terms, *extra)), note


def _relax_by_splitting(
    reader: Reader, request: KeywordRequest, text: str, _fuzziness: str
) -> tuple[KeywordRequest, str]:
    """Split compounds that the index does not have into two words that it has."""
    pieces: list[Term] = []
    split: list[str] = []
    for word in dict.fromkeys(text.lower().split()):
        deadline.check()
        is_known = len(word) > _MAX_COMPOUND or not word.isalpha() or _frequency(reader, word)
        pair = None if is_known else _best_split(reader, word)
        if pair:
            split.append(f"{word} → {' + '.join(pair)}")
            pieces.extend(Term(term, _SPLIT_SHARE) for piece in pair for term in tokenize(piece))
    if not pieces:
        return request, ""
    return replace(request, terms=(*request.terms, *pieces)), f"split: {', '.join(split)}"


def _best_split(reader: Reader, word: str) -> tuple[str, str] | None:
    """Return the two words that a compound consists of, the rarer of them as frequent as possible."""
    best: tuple[int, tuple[str, str]] | None = None
    pairs = [(word[:cut], word[cut:]) for cut in range(_MIN_PIECE, len(word) - _MIN_PIECE + 1)]
    reader.prefetch_document_frequencies(term for pair in pairs for piece in pair for term in tokenize(piece))
    for pair in pairs:
        frequency = min(_frequency(reader, piece) for piece in pair)
        if frequency and (best is None or frequency > best[0]):
            best = (frequency, pair)
    return best[1] if best else None


def _frequency(reader: Reader, piece: str) -> int:
    terms = tokenize(piece)
    return min(map(reader.document_frequency, terms)) if terms else 0
