"""Makes the record of a file for the store: parsed, tokenised, hashed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import inf

from dowse.encoders.document import path_words
from dowse.graph.keys import file_key, fingerprint
from dowse.indexing.hashes import content_hash, corpus_hash, symbol_keys, vector_key
from dowse.lazy_classes import dataclass, replace
from dowse.parsing.languages import detect_language
from dowse.parsing.parser import parse_as_plain_lines, parse_file
from dowse.parsing.spans import join_spans, subtract_spans
from dowse.parsing.tokenizer import distinct_terms, document_terms
from dowse.query.languages import LANGUAGES, canonical_language
from dowse.source.corpus import CorpusFunction
from dowse.source.roles import file_role
from dowse.storage.columns import pack_columns
from dowse.storage.compression import pack
from dowse.types import (
    DeferredFile,
    Definition,
    FileRecord,
    GraphPart,
    Name,
    NameRecord,
    ParsedFile,
    Reference,
    SymbolRecord,
)

# Added to the body of every symbol of a tree; no query has this term. BM25 divides by the length of a text
# relative to the mean, with b = .75 in tantivy, where that is fixed. In a tree long functions are relevant
# more often than that allows; so many terms more in each lower b to about .3. Chosen on commit subjects of
# the four repositories of bench/manifests/git.json.
LENGTH_PADDING = " _" * 150


@dataclass(frozen=True, slots=True)
class Source:
    """A text to index, and what is known about it before parsing."""

    key: str
    repo: str
    path: str
    language: str
    role: str
    size: int
    mtime_ns: int
    content_hash: str
    encoding: str
    text: str
    tree: str = ""  # the name of the root folder


def make_record(
    source: Source, strip_docs: bool, plain_reason: str = "", is_deferred: bool = False
) -> FileRecord:
    """Parse a file and return its record.

    Args:
        source: The file.
        strip_docs: Leave out its documentation.
        plain_reason: Why the file must not be parsed, only split into lines; "" if it may.
        is_deferred: Leave out what `make_graph_part` adds later, and the text, which is compressed as well.
    """
    data = source.text.encode("utf-8", "replace")
    parsed = _parse(data, source.language, source.path, plain_reason, is_deferred)
    if strip_docs:
        data, parsed = blank_docs(data, parsed)
    key = symbol_keys(source.repo, source.path)
    language = parsed.language or source.language
    symbols = [
        symbol_record(data, d, key(d.qualified_name), source.path, language, LENGTH_PADDING)
        for d in parsed.definitions
    ]
    record = FileRecord(
        *(source.key, source.repo, source.path, language, source.role),
        *(source.size, source.mtime_ns, source.content_hash, source.encoding),
        lines=_line_count(data),
        problem=parsed.problem,
        packed_text=pack(data),
        references=b"",
        text="",
        symbols=tuple(symbols),
        is_deferred=is_deferred,
        names=name_records(parsed.names, key),
    )
    if is_deferred:
        return record
    from dowse.graph.symbol_table import make_graph_record  # slow to load, and words need none of it

    text = data.decode() if strip_docs else source.text
    graph = make_graph_record(parsed, source.path, text, symbols, record.names, source.repo, source.tree)
    return record._replace(
        references=pack_references(parsed.references),
        text=text,
        symbols=graph.symbols,
        names=graph.names,
        facts=pack(graph.table) if graph.table else b"",
        offers=graph.offers,
        marks=graph.marks,
    )


def make_graph_part(file: DeferredFile, data: bytes, keys: Sequence[str], tree: str) -> GraphPart | None:
    """Parse a stored file again and return what `make_record` left out of its record.

    None if its definitions are not those with the given keys: another version of a grammar stored them.
    """
    from dowse.graph.symbol_table import make_graph_record

    parsed = _parse(data, file.language, file.path, file.problem)
    key = symbol_keys(file.repo, file.path)
    symbols = [_bare_record(definition, key(definition.qualified_name)) for definition in parsed.definitions]
    if [symbol.key for symbol in symbols] != list(keys):
        return None
    names = name_records(parsed.names, key)
    graph = make_graph_record(parsed, file.path, data.decode(), symbols, names, file.repo, tree)
    return GraphPart(
        pack_references(parsed.references),
        pack(graph.table) if graph.table else b"",
        graph.offers,
        graph.marks,
        tuple((symbol.scope_key, symbol.name_key, symbol.overrides) for symbol in graph.symbols),
        tuple((name.key, name.scope_key, name.name_key) for name in graph.names if name.name_key),
    )


def empty_graph_part(file: DeferredFile) -> GraphPart:
    """Return the graph part of a file that can't be parsed again: other files see that it is there."""
    offers = (fingerprint(file_key(file.path), file.language),)
    return GraphPart(b"", b"", offers, (), ())


def _bare_record(definition: Definition, key: str) -> SymbolRecord:
    """Return what the call graph needs of a symbol's record."""
    kind, name, qualified_name, start_line, end_line, signature, doc, spans, doc_spans, part = definition
    return SymbolRecord(
        *(key, kind, name, qualified_name, start_line, end_line, signature, doc, spans),
        *("", (), doc_spans, b"", part),
    )


def name_records(names: Sequence[Name], key: Callable[[str], str]) -> tuple[NameRecord, ...]:
    """Return the records of names; after those of the symbols, for their keys come from one sequence."""
    return tuple(
        NameRecord(key(f"name {qualified_name}"), kind, name, qualified_name, line)
        for kind, name, qualified_name, line, _ in names
    )


def _line_count(data: bytes) -> int:
    """Return the number of lines; the last one need not end with a line feed."""
    return data.count(b"\n") + (not data.endswith(b"\n") and data != b"")


def _parse(
    data: bytes, language: str, path: str, plain_reason: str, definitions_only: bool = False
) -> ParsedFile:
    """Parse a file, or split it into lines if it has crashed a parser before."""
    if not plain_reason:
        # The process as a whole has a time limit.
        return parse_file(data, language, path, time_limit=inf, definitions_only=definitions_only)
    return parse_as_plain_lines(data, language, path, plain_reason)


def corpus_record(function: CorpusFunction, strip_docs: bool, plain_reason: str = "") -> FileRecord:
    """Return the record of one corpus function: a file of its own that holds one symbol."""
    data = function.code.encode("utf-8", "replace")
    language = (
        canonical_language(function.language, LANGUAGES)
        or detect_language(function.path)
        or function.language
    )
    parsed = _parse(data, language, function.path or "function", plain_reason)
    if strip_docs:
        data, parsed = blank_docs(data, parsed)
    first = parsed.definitions[0] if parsed.definitions else None
    lines = _line_count(data)
    definition = Definition(
        kind=first.kind if first and first.kind in ("function", "method", "class") else "function",
        name=function.name.rpartition(".")[2] or (first.name if first else ""),
        qualified_name=function.name or (first.qualified_name if first else ""),
        start_line=1,
        end_line=max(1, lines),
        signature=first.signature if first else "",
        doc="" if strip_docs else function.doc or (first.doc if first else ""),
        spans=((0, len(data)),),
        doc_spans=tuple(span for d in parsed.definitions[:1] for span in d.doc_spans),
    )
    # Some corpora have the documentation in a field of its own; it is searched all the same.
    separate_doc = "" if strip_docs else function.doc
    symbol = symbol_record(data, definition, function.id, function.path, language, separate_doc=separate_doc)
    return FileRecord(
        *(function.id, function.repo, function.path, language, file_role(function.path)),
        size=len(data),
        mtime_ns=0,
        content_hash=corpus_hash(function),
        encoding="utf-8",
        lines=lines,
        problem=parsed.problem,
        packed_text=pack(data),
        references=pack_references(parsed.references),
        text=data.decode(),
        symbols=(symbol,),
    )


def symbol_record(
    data: bytes,
    definition: Definition,
    key: str,
    path: str,
    language: str,
    padding: str = "",
    separate_doc: str = "",
) -> SymbolRecord:
    """Tokenise one definition, field by field; `separate_doc` is documentation that is not in its code."""
    kind, name, qualified_name, start_line, end_line, signature, doc, spans, doc_spans, part = definition
    code = join_spans(data, spans)
    terms = keyword_terms(
        name, qualified_name, signature, path, code + separate_doc.encode("utf-8", "replace"), padding
    )
    return SymbolRecord(
        *(key, kind, name, qualified_name, start_line, end_line, signature, doc, spans),
        *(content_hash(code), terms, doc_spans),
        vector_key(
            language,
            path_words(path),
            qualified_name,
            doc,
            join_spans(data, subtract_spans(spans, doc_spans)) if doc_spans else code,
        ),
        part,
    )


def keyword_terms(
    name: str, qualified_name: str, signature: str, path: str, text: bytes, padding: str
) -> tuple[str, ...]:
    """Return the terms of a symbol, one string for each of KEYWORD_FIELDS."""
    return (
        _short_terms(name),
        _short_terms(qualified_name.removesuffix(name)),
        distinct_terms(signature),
        _short_terms(path),
        document_terms(text) + padding,
    )


@lru_cache(maxsize=8192)
def _short_terms(text: str) -> str:
    """Return the terms of a name, a scope or a path; cached, for they repeat from symbol to symbol."""
    return distinct_terms(text)


def blank_docs(data: bytes, parsed: ParsedFile) -> tuple[bytes, ParsedFile]:
    """Blank out all documentation; byte offsets and line numbers stay."""
    blanked = bytearray(data)
    for definition in parsed.definitions:
        for start, end in definition.doc_spans:
            blanked[start:end] = bytes(b if b in b"\r\n" else 32 for b in data[start:end])
    bare = tuple(d._replace(doc="", doc_spans=()) for d in parsed.definitions)
    return bytes(blanked), replace(parsed, definitions=bare)


def pack_references(references: Sequence[Reference]) -> bytes:
    """Compress references, for `Catalog.references`; they are in the order of their lines."""
    if not references:
        return b""
    kinds, names, qualifiers, lines, columns, owners, arguments = zip(*references, strict=True)
    return pack_columns((kinds, names, qualifiers), lines, (columns, owners, arguments))
