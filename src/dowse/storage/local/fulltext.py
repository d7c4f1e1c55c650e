"""Writing the two tantivy indexes of a generation: symbols by terms, files by trigrams."""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from pathlib import Path

import tantivy

from dowse.types import KEYWORD_FIELDS, FileRecord

SYMBOLS = "symbols"
FILES = "files"
# Memory a writer may fill before it writes a segment. Large enough that a usual repository is one
# segment, small enough that both writers together stay far below a gigabyte.
_SYMBOL_HEAP = 96_000_000
_FILE_HEAP = 64_000_000
_TERMS = "whitespace"
_RAW = "raw"


@functools.cache
def symbol_schema() -> tantivy.Schema:
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
def file_schema() -> tantivy.Schema:
    """Return the schema of the file index: the trigrams of the text, lower-cased."""
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("file", indexed=True, fast=True)
    builder.add_text_field("trigrams", tokenizer_name="trigram", index_option="basic")
    return builder.build()


class FulltextWriter:
    """Adds and deletes in both indexes of one generation folder."""

    def __init__(self, folder: Path, *, create: bool) -> None:
        self._symbols = _open(folder / SYMBOLS, symbol_schema(), create)
        self._files = _open(folder / FILES, file_schema(), create)
        # One thread each: the parsing processes already use the cores.
        self._symbol_writer = self._symbols.writer(_SYMBOL_HEAP, 1)
        self._file_writer = self._files.writer(_FILE_HEAP, 1)

    def put(self, record: FileRecord, file_id: int, rows: Sequence[int]) -> None:
        """Add one file and its symbols."""
        document = tantivy.Document()
        document.add_unsigned("file", file_id)
        document.add_text("trigrams", folded(record.text))
        self._file_writer.add_document(document)
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

    def delete(self, file_id: int) -> None:
        """Remove one file and its symbols."""
        # By query, not by term: tantivy-py makes a term of a plain number signed, and matches nothing.
        of_file = tantivy.Query.term_query
        self._symbol_writer.delete_documents_by_query(of_file(symbol_schema(), "file", file_id))
        self._file_writer.delete_documents_by_query(of_file(file_schema(), "file", file_id))

    def commit(self) -> None:
        """Write everything to disk; merges are finished when this returns."""
        failures: list[BaseException] = []

        def finish_files() -> None:
            try:
                _finish(self._file_writer)
            except BaseException as error:  # raised below, in the thread of the caller
                failures.append(error)

        files = threading.Thread(target=finish_files)
        files.start()  # in parallel, both take the time of one
        try:
            _finish(self._symbol_writer)
        finally:
            files.join()
        if failures:
            raise failures[0]

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
