"""The two tantivy indexes of a generation: symbols by terms (BM25), files by trigrams."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tantivy
from tantivy import Occur, Query

from dowse.damage import translate_errors
from dowse.parsing.tokenizer import tokenize
from dowse.query.ast import (
    And,
    Constraint,
    KindFilter,
    LangFilter,
    Leaf,
    Not,
    Or,
    Phrase,
    Regex,
    WordConstraint,
)
from dowse.storage.cache import ReadCache
from dowse.storage.protocol import KeywordRequest, Term
from dowse.types import KEYWORD_FIELDS, FileRecord

if TYPE_CHECKING:
    from dowse.query.regex.trigrams import TrigramQuery

_SYMBOLS, _FILES = "symbols", "files"
# Memory a writer may fill before it writes a segment. Large enough that a usual repository is one
# segment, small enough that both writers together stay far below a gigabyte.
_BUFFER_BYTES = 120_000_000
_SYMBOL_SHARE = 0.6
_MIN_HEAP = 15_000_000  # tantivy takes no less
_TERMS = "whitespace"
_RAW = "raw"
# For a leaf that is evaluated outside tantivy: the field ("file" or "row") and the values that match.
Resolver = Callable[[Leaf], tuple[str, Iterable[int]]]


@functools.cache
def _symbol_schema() -> tantivy.Schema:
    """Return the schema of the symbol index: terms by field, and columns to filter by."""
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("row", indexed=True, fast=True)
    builder.add_unsigned_field("file", indexed=True, fast=True)
    for name in KEYWORD_FIELDS:
        builder.add_text_field(name, tokenizer_name=_TERMS, index_option="freq")
    for name in ("language", "kind"):
        builder.add_text_field(name, tokenizer_name=_RAW, index_option="basic")
    return builder.build()


@functools.cache
def _file_schema() -> tantivy.Schema:
    """Return the schema of the file index: the trigrams of the text, lower-cased."""
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("file", indexed=True, fast=True)
    builder.add_text_field("trigrams", tokenizer_name="trigram", index_option="basic")
    return builder.build()


class FulltextWriter:
    """Adds and deletes in both indexes of one generation folder."""

    def __init__(self, folder: Path, *, create: bool) -> None:
        self._symbols = _open(folder / _SYMBOLS, _symbol_schema(), create)
        self._files = _open(folder / _FILES, _file_schema(), create)
        # One thread each: the parsing processes already use the cores.
        self._symbol_writer = self._symbols.writer(max(_MIN_HEAP, int(_BUFFER_BYTES * _SYMBOL_SHARE)), 1)
        self._file_writer = self._files.writer(max(_MIN_HEAP, int(_BUFFER_BYTES * (1 - _SYMBOL_SHARE))), 1)

    def put(self, record: FileRecord, file_id: int, rows: Sequence[int]) -> None:
        """Add one file and its symbols; the trigrams of a deferred file follow."""
        if not record.is_deferred:
            self.put_trigrams(file_id, record.text)
        for row, symbol in zip(rows, record.symbols, strict=True):
            document = tantivy.Document()
            document.add_unsigned("row", row)
            document.add_unsigned("file", file_id)
            for name, terms in zip(KEYWORD_FIELDS, symbol.terms, strict=True):
                if terms:
                    document.add_text(name, terms)
            document.add_text("language", record.language)
            document.add_text("kind", symbol.kind)
            self._symbol_writer.add_document(document)

    def put_trigrams(self, file_id: int, text: str) -> None:
        """Add the trigrams of one file."""
        document = tantivy.Document()
        document.add_unsigned("file", file_id)
        document.add_text("trigrams", folded(text))
        self._file_writer.add_document(document)

    def delete(self, file_id: int) -> None:
        """Remove one file and its symbols."""
        # By query, not by term: tantivy-py makes a term of a plain number signed, and matches nothing.
        of_file = Query.term_query
        self._symbol_writer.delete_documents_by_query(of_file(_symbol_schema(), "file", file_id))
        self._file_writer.delete_documents_by_query(of_file(_file_schema(), "file", file_id))

    def commit(self) -> None:
        """Write everything to disk; merges are finished when this returns."""
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as pool:
            files = pool.submit(_finish, self._file_writer)  # in parallel, both take the time of one
            _finish(self._symbol_writer)
            files.result()

    def abort(self) -> None:
        """Drop what was not committed."""
        for writer in (self._symbol_writer, self._file_writer):
            writer.rollback()


def _open(folder: Path, schema: tantivy.Schema, create: bool) -> tantivy.Index:
    if create:
        folder.mkdir(parents=True)
        index = tantivy.Index(schema, str(folder))
    else:
        index = tantivy.Index.open(str(folder))
    trigrams = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.ngram(3, 3, False))
    index.register_tokenizer("trigram", trigrams.build())
    return index


def folded(text: str) -> str:
    """Lower-case a text letter by letter, as the trigrams of a query are.

    Python's own rule for a final sigma depends on its neighbours.
    """
    return text.lower() if text.isascii() else text.replace("Σ", "σ").lower()


def _finish(writer: tantivy.IndexWriter) -> None:
    writer.commit()
    writer.wait_merging_threads()


class FulltextReader:
    """Searches both tantivy indexes of a generation; their folder may be removed once they are open."""

    def __init__(self, folder: Path) -> None:
        self._index_folder = folder.parents[1]
        with self._name_damage():
            self._symbols = _open_searcher(folder / _SYMBOLS)
            self._files = _open_searcher(folder / _FILES)
            meta = (folder / _SYMBOLS / "meta.json").read_bytes().replace(b" ", b"")
        # Only then does tantivy's own document frequency include deleted symbols.
        self._has_deletes = b'"deletes":{' in meta
        self.cache = ReadCache()

    def _name_damage(self) -> AbstractContextManager[None]:
        """Return a context in which errors of tantivy become errors that name the remedy."""
        return translate_errors(self._index_folder, ValueError, OSError)

    def check(self) -> None:
        """Read the columns of all symbols and files; raises IndexDamaged if that fails."""
        self._hits(Query.all_query(), max(1, self.symbol_count))
        self._file_ids(Query.all_query())

    @property
    def symbol_count(self) -> int:
        """The number of symbols."""
        return int(self._symbols.num_docs)

    @property
    def file_count(self) -> int:
        """The number of files."""
        return int(self._files.num_docs)

    def search(self, request: KeywordRequest, limit: int, resolve: Resolver) -> list[tuple[int, float]]:
        """Return (row, BM25 score) of the best symbols that match the constraint."""
        return self._hits(_keyword_query(request, resolve), limit)

    def explain(
        self, request: KeywordRequest, rows: Sequence[int]
    ) -> dict[int, dict[tuple[str, str], float]]:
        """Return, by row, what each (field, term) adds to its score."""
        contributions: dict[int, dict[tuple[str, str], float]] = {row: {} for row in rows}
        symbols = [row for row in rows if row >= 0]  # names are not in the index
        if not symbols:
            return contributions
        among = Query.const_score_query(_set("row", symbols), 0.0)
        for field, term, sub in _subqueries(request):
            both = Query.boolean_query([(Occur.Must, among), (Occur.Must, sub)])
            for row, score in self._hits(both, len(symbols)):
                key, by_term = (field, term.label), contributions[row]
                by_term[key] = by_term.get(key, 0.0) + score
        return contributions

    def coverage(self, terms: Mapping[str, float], rows: Sequence[int]) -> dict[int, float]:
        """Return, by row, the sum of the weights of the terms in its body, however often each occurs."""
        if not rows or not terms:
            return {}
        # One query a row: a set would be looked up in the whole dictionary of rows, however few it has.
        each = [Query.term_query(_symbol_schema(), "row", row, "basic") for row in rows]
        among = Query.const_score_query(_any(each), 0.0)
        weighted = [
            (Occur.Should, Query.const_score_query(_term("body", Term(term)), weight))
            for term, weight in terms.items()
        ]
        return dict(self._hits(Query.boolean_query([(Occur.Must, among), *weighted]), len(rows)))

    def document_frequency(self, field: str, term: str) -> int:
        """Return how many symbols have a term in a field, or in the field where that is most if it is "".

        Deleted symbols are left out.
        """
        fields = (field,) if field else KEYWORD_FIELDS
        return self.cache.frequencies.get_one(
            (field, term), lambda: max([self._read_frequency(each, term) for each in fields])
        )

    def _read_frequency(self, field: str, term: str) -> int:
        with self._name_damage():
            frequency = int(self._symbols.doc_freq(field, term))
            if not frequency or not self._has_deletes:
                return frequency
            return int(self._symbols.search(_term(field, Term(term)), 1, count=True).count)

    def trigram_candidates(self, trigrams: TrigramQuery, limit: int | None = None) -> list[int]:
        """Return the ids of files whose trigrams match, no more than the limit."""
        return self._file_ids(_trigram_query(trigrams), limit) if self.file_count else []

    def _file_ids(self, query: Query, limit: int | None = None) -> list[int]:
        with self._name_damage():
            hits = self._files.search(query, limit or max(1, self.file_count), count=False).hits
            return list(self._files.fast_field_values("file", [address for _, address in hits]))

    def _hits(self, query: Query, limit: int) -> list[tuple[int, float]]:
        with self._name_damage():
            hits = self._symbols.search(query, limit, count=False).hits
            rows = self._symbols.fast_field_values("row", [address for _, address in hits])
            return list(zip(rows, [score for score, _ in hits], strict=True))


def _open_searcher(folder: Path) -> Any:  # noqa: ANN401 - tantivy's Searcher has no public constructor to name
    if os.access(folder, os.W_OK):
        return tantivy.Index.open(str(folder)).searcher()
    # tantivy makes a lock file even to read; in a read-only folder it opens a temporary folder of links.
    from dowse.security.leftovers import temporary_folder

    with temporary_folder("dowse-links-") as links:
        for file in folder.iterdir():
            if file.suffix != ".lock":
                (links / file.name).symlink_to(file.absolute())
        return tantivy.Index.open(str(links)).searcher()


def _keyword_query(request: KeywordRequest, resolve: Resolver) -> Query:
    """Rank by the terms among the symbols that match the constraint."""
    ranking = _any([sub for _, _, sub in _subqueries(request)])
    if request.constraint is None:
        return ranking if request.terms else Query.empty_query()
    condition = _condition(request.constraint, request, resolve)
    if not request.terms:
        return Query.const_score_query(condition, 1.0)
    # Conditions filter and add nothing to a score.
    return Query.boolean_query([(Occur.Must, Query.const_score_query(condition, 0.0)), (Occur.Must, ranking)])


def _trigram_query(wanted: TrigramQuery) -> Query:
    """Match the files whose trigrams satisfy a condition."""
    from dowse.query.regex import trigrams

    if isinstance(wanted, trigrams.All):
        return Query.all_query()
    if isinstance(wanted, trigrams.Trigram):
        return Query.term_query(_file_schema(), "trigrams", wanted.text, "basic")
    occur = Occur.Must if isinstance(wanted, trigrams.And) else Occur.Should
    return Query.boolean_query([(occur, _trigram_query(part)) for part in wanted.parts])


def _subqueries(request: KeywordRequest) -> list[tuple[str, Term, Query]]:
    return [
        (field, term, Query.boost_query(_term(field, term), weight * term.weight))
        for term in request.terms
        for field, weight in request.field_weights.items()
        if weight
    ]


def _term(field: str, term: Term) -> Query:
    if term.distance:
        return Query.fuzzy_term_query(_symbol_schema(), field, term.text, term.distance)
    return Query.term_query(_symbol_schema(), field, term.text, "freq")


def _condition(constraint: Constraint, request: KeywordRequest, resolve: Resolver) -> Query:
    if isinstance(constraint, And | Or):
        parts = [_condition(part, request, resolve) for part in constraint.parts]
        occur = Occur.Must if isinstance(constraint, And) else Occur.Should
        return Query.boolean_query([(occur, part) for part in parts])
    if isinstance(constraint, Not):
        inner = _condition(constraint.part, request, resolve)
        # tantivy needs something to subtract from.
        return Query.boolean_query([(Occur.Must, Query.all_query()), (Occur.MustNot, inner)])
    return _leaf(constraint, request, resolve)


def _leaf(leaf: Leaf, request: KeywordRequest, resolve: Resolver) -> Query:
    if isinstance(leaf, LangFilter):
        return Query.term_query(_symbol_schema(), "language", leaf.language, "basic")
    if isinstance(leaf, KindFilter):
        return Query.term_query(_symbol_schema(), "kind", leaf.kind, "basic")
    if isinstance(leaf, WordConstraint):
        terms = tokenize(leaf.word.text)
        if not terms:
            return Query.empty_query()
        # An identifier's first term is the whole identifier; of several words, each has to occur.
        words = [terms[0]] if leaf.word.text.isidentifier() else terms
        fields = [_any([_term(field, Term(word)) for field in KEYWORD_FIELDS]) for word in words]
        return Query.boolean_query([(Occur.Must, field) for field in fields])
    if isinstance(leaf, Phrase | Regex):
        return _set("row", (request.exact_rows or {}).get(leaf, ()))
    field, values = resolve(leaf)
    return _set(field, values)


def _set(field: str, values: Iterable[int]) -> Query:
    return Query.term_set_query(_symbol_schema(), field, list(values))


def _any(queries: list[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, query) for query in queries])
