"""A file's bytes → the record that the store takes: parsed, tokenised, hashed."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections import Counter
from dataclasses import dataclass

from dowse.parse import parse_file
from dowse.parse.tokens import term_string
from dowse.source.corpus import CorpusFunction
from dowse.source.roles import role_of
from dowse.store.catalog import pack_text
from dowse.types import Definition, FileRecord, ParsedFile, Span, SymbolRecord


@dataclass(frozen=True, slots=True)
class Source:
    """A text to be indexed, and what is known of it before parsing."""

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


def content_hash(data: bytes) -> str:
    """Return the hash that tells whether two texts are the same."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def corpus_hash(function: CorpusFunction) -> str:
    """Return the hash that tells whether a corpus entry changed."""
    fields = (function.repo, function.path, function.name, function.language, function.code, function.doc)
    return content_hash("\0".join(fields).encode("utf-8", "replace"))


def symbol_key(repo: str, path: str, qualified_name: str, ordinal: int) -> str:
    """Return the id of a symbol, the same as long as these four are."""
    identity = "\0".join((repo, path, qualified_name, str(ordinal)))
    return hashlib.blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def make_record(source: Source, strip_docs: bool) -> FileRecord:
    """Parse a file and return its record; documentation is blanked out first if it must be held back."""
    data = source.text.encode("utf-8", "replace")
    parsed = parse_file(data, source.language, source.path)
    if strip_docs:
        data, parsed = hold_back_docs(data, parsed)
    path_terms = term_string(source.path)
    seen: Counter[str] = Counter()
    symbols = []
    for definition in parsed.definitions:
        ordinal = seen[definition.qualified_name]
        seen[definition.qualified_name] += 1
        key = symbol_key(source.repo, source.path, definition.qualified_name, ordinal)
        symbols.append(symbol_record(data, definition, key, path_terms))
    return FileRecord(
        *(source.key, source.repo, source.path, parsed.language or source.language, source.role),
        *(source.size, source.mtime_ns, source.content_hash, source.encoding),
        lines=data.count(b"\n") + (not data.endswith(b"\n") and data != b""),
        problem=parsed.problem,
        packed_text=pack_text(data),
        references=_packed_references(parsed),
        text=data.decode() if strip_docs else source.text,
        symbols=tuple(symbols),
    )


def corpus_record(function: CorpusFunction, strip_docs: bool) -> FileRecord:
    """Return the record of one corpus function: a file of its own that holds one symbol."""
    data = function.code.encode("utf-8", "replace")
    parsed = parse_file(data, function.language, function.path or "function")
    if strip_docs:
        data, parsed = hold_back_docs(data, parsed)
    first = parsed.definitions[0] if parsed.definitions else None
    lines = data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
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
    # Some corpora hold the documentation beside the code; it is searched all the same.
    beside = "" if strip_docs else function.doc
    symbol = symbol_record(data, definition, function.id, term_string(function.path), beside)
    return FileRecord(
        *(function.id, function.repo, function.path, function.language, role_of(function.path)),
        *(len(data), 0, corpus_hash(function), "utf-8", lines, parsed.problem),
        packed_text=pack_text(data),
        references=_packed_references(parsed),
        text=data.decode(),
        symbols=(symbol,),
    )


def symbol_record(
    data: bytes, definition: Definition, key: str, path_terms: str, beside: str = ""
) -> SymbolRecord:
    """Tokenise one definition, field by field; `beside` is text that belongs to it but stands elsewhere."""
    code = own_text(data, definition.spans)
    context = definition.qualified_name.removesuffix(definition.name)
    terms = (
        term_string(definition.name),
        term_string(context),
        term_string(definition.signature),
        path_terms,
        term_string(code.decode("utf-8", "replace") + beside),
    )
    return SymbolRecord(
        *(key, definition.kind, definition.name, definition.qualified_name),
        *(definition.start_line, definition.end_line, definition.signature, definition.doc),
        spans=definition.spans,
        content_hash=content_hash(code),
        terms=terms,
    )


def own_text(data: bytes, spans: tuple[Span, ...]) -> bytes:
    """Return the text of a definition without what is cut out of it."""
    return b"".join([data[start:end] for start, end in spans])


def hold_back_docs(data: bytes, parsed: ParsedFile) -> tuple[bytes, ParsedFile]:
    """Blank out all documentation, keeping every byte offset and line number as it was."""
    blanked = bytearray(data)
    for definition in parsed.definitions:
        for start, end in definition.doc_spans:
            blanked[start:end] = bytes(b if b in b"\r\n" else 32 for b in data[start:end])
    bare = tuple(_without_doc(d) for d in parsed.definitions)
    return bytes(blanked), ParsedFile(parsed.language, bare, parsed.references, parsed.problem)


def _without_doc(d: Definition) -> Definition:
    return Definition(
        *(d.kind, d.name, d.qualified_name, d.start_line, d.end_line, d.signature),
        doc="",
        spans=d.spans,
        doc_spans=(),
        part=d.part,
    )


def _packed_references(parsed: ParsedFile) -> bytes:
    if not parsed.references:
        return b""
    return zlib.compress(json.dumps(parsed.references, separators=(",", ":")).encode(), 1)
