"""Symbols, names and files by row and file id (rows, texts, line ranges, lists), cached in memory."""

from __future__ import annotations

from base64 import b64decode
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dowse.lazy_classes import NamedTuple
from dowse.parsing.spans import join_spans
from dowse.security.terminal import replace_surrogates
from dowse.storage.cache import BoundedCache, ReadCache
from dowse.storage.compression import unpack
from dowse.storage.elastic.globs import Query, suffix_query, wildcard_query
from dowse.storage.elastic.names import FILES, NAMES, SYMBOLS, SYMBOLS_AND_NAMES, kind_of_rows
from dowse.storage.elastic.query import all_of, among, trigram_query
from dowse.storage.elastic.snapshot import MAX_HITS, SnapshotSearcher, batches, doc_values
from dowse.storage.symbols import SymbolDetails, build_document, build_symbols, file_row
from dowse.types import FileFingerprint, StoredFile, Symbol, SymbolRanges, SymbolRow

if TYPE_CHECKING:
    from dowse.encoders.document import Document
    from dowse.query.regex.trigrams import TrigramQuery

Hit = Mapping[str, Any]

_TEXT_COLUMNS = ("key", "repo", "path", "language", "role", "kind", "name", "qualified_name")
# What a search brings along of its hits, so that `rows` makes no request: columns, because a stored document
# would have to be decompressed whole.
ROW_COLUMNS = ["row", "file", *_TEXT_COLUMNS, "start_line", "end_line", "signature", "name_key", "overrides"]
_DETAILS_SOURCE = ["row", *(f"data.{name}" for name in SymbolDetails._fields)]
# A text that is longer than a column takes is missing.
_NO_TEXT = ("",)
# Texts that are read at once: some megabytes.
_TEXT_BATCH = 250
_FILE_BATCH = 2_000
_DETAILS_BATCH = 1_000
# Cached details hold documentation, a few hundred bytes each; terms and their frequencies take less.
_MAX_DETAILS = 10_000
_MAX_COUNTS = 100_000


class NameKey(NamedTuple):
    """The bare name that references may call a symbol by."""

    key: str  # "" for none
    overrides: bool  # whether its name may be that of a class of another file


class GenerationCache(ReadCache):
    """Rows, texts, details and frequencies of one generation: a warm search makes few requests."""

    def __init__(self) -> None:
        super().__init__()
        self.document_frequencies = BoundedCache[tuple[str, str], int](_MAX_COUNTS)  # by field and term
        self.details = BoundedCache[int, SymbolDetails](_MAX_DETAILS)
        self.name_keys = BoundedCache[int, NameKey](_MAX_COUNTS)
        self.languages: dict[str, int] | None = None
        self.embedded: dict[str, int] = {}  # only where every symbol has its vector

    def add_rows(self, pairs: Iterable[tuple[SymbolRow, NameKey]]) -> None:
        """Add rows that a search has brought along."""
        by_row = {row.row: (row, name_key) for row, name_key in pairs}
        self.rows.add({number: row for number, (row, _) in by_row.items()})
        self.name_keys.add({number: name_key for number, (_, name_key) in by_row.items()})


def symbol_row(hit: Hit) -> tuple[SymbolRow, NameKey]:
    """Return a symbol and its name key from a hit that has ROW_COLUMNS."""
    fields = hit["fields"]
    texts = (fields.get(name, _NO_TEXT)[0] for name in _TEXT_COLUMNS)
    lines = (fields["start_line"][0], fields.get("end_line", fields["start_line"])[0])  # of a name, one
    signature = fields.get("signature", _NO_TEXT)[0]
    row = SymbolRow._make((fields["row"][0], *texts, *lines, signature, fields["file"][0]))
    return row, name_key(hit)


def name_key(hit: Hit) -> NameKey:
    """Return the name key of a symbol."""
    fields = hit["fields"]
    return NameKey(fields.get("name_key", _NO_TEXT)[0], bool(fields.get("overrides", _NO_TEXT)[0]))


def number(hit: Hit, column: str = "row") -> int:
    """Return the value of a numeric column."""
    return int(hit["fields"][column][0])


class RowReader:
    """The part of a reader that knows rows and file ids."""

    def __init__(self, searcher: SnapshotSearcher, cache: GenerationCache) -> None:
        self._searcher, self._cache = searcher, cache

    def rows(self, rows: Sequence[int]) -> list[SymbolRow]:
        """Return symbols and names by row, in the given order; missing ones are left out."""

        def read(missing: Sequence[int]) -> Iterator[tuple[int, SymbolRow]]:
            hits = self._searcher.fetch(kind_of_rows(missing), missing, doc_values(ROW_COLUMNS))
            pairs = list(map(symbol_row, hits))
            self._cache.name_keys.add({row.row: name_key for row, name_key in pairs})
            return ((row.row, row) for row, _ in pairs)

        known = self._cache.rows.get(rows, read)
        return [known[row] for row in rows if row in known]

    def rows_by_key(self, keys: Sequence[str]) -> list[SymbolRow]:
        """Return the symbols and names with these keys, as far as they exist."""
        return [
            symbol_row(hit)[0]
            for batch in batches(dict.fromkeys(map(replace_surrogates, keys)), MAX_HITS)
            for hit in self._searcher.scan_columns(SYMBOLS_AND_NAMES, among("key", batch), ROW_COLUMNS)
        ]

    def rows_of_files(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        """Return the symbols of files, file by file, in the order of their lines."""
        return self._rows_of(SYMBOLS, file_ids)

    def names_of_files(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        """Return the names of files, file by file, in the order of their lines."""
        return self._rows_of(NAMES, file_ids)

    def _rows_of(self, kind: str, file_ids: Sequence[int]) -> list[SymbolRow]:
        by_file: dict[int, list[tuple[tuple[int, ...], SymbolRow]]] = {file_id: [] for file_id in file_ids}
        for batch in batches(by_file, _FILE_BATCH):
            columns = [*ROW_COLUMNS, "order"]
            hits = list(self._searcher.scan_columns(kind, among("file", batch), columns))
            rows = list(map(symbol_row, hits))
            if len(rows) <= MAX_HITS:  # a whole index would evict what searches use
                self._cache.add_rows(rows)
            for hit, (row, _) in zip(hits, rows, strict=True):
                order = (row.start_line, -row.end_line, number(hit, "order"))
                by_file[row.file_id].append((order, row))
        return [row for symbols in by_file.values() for _, row in sorted(symbols, key=lambda each: each[0])]

    def text_keys(self) -> list[tuple[int, int, bytes]]:
        """Return row, file id and a key of the own text of every symbol; here the row is the key."""
        hits = self._searcher.scan_columns(SYMBOLS, None, ["row", "file"])
        return [(number(hit), number(hit, "file"), number(hit).to_bytes(16)) for hit in hits]

    def symbol_texts(self, rows: Sequence[int]) -> Iterator[tuple[int, str, str]]:
        """Yield row, own text and, in a corpus, documentation of symbols."""
        symbols = self.rows(rows)
        file_ids = {row.file_id for row in symbols}
        details, texts = self._details_and_texts([row.row for row in symbols], file_ids)
        # A function of a corpus is a file of its own, and has its key.
        is_corpus = self._searcher.snapshot.corpora > 0
        keys = {row.file_id: row.key for row in self.file_rows(list(file_ids))} if is_corpus else {}
        for row in symbols:
            text = join_spans(texts[row.file_id], details[row.row].spans).decode("utf-8", "replace")
            yield row.row, text, details[row.row].doc if keys.get(row.file_id) == f"file:{row.key}" else ""

    def symbol_ranges(self, file_ids: Sequence[int]) -> Iterator[tuple[int, SymbolRanges]]:
        """Yield, for each file, the lines of its symbols: by first line, outer before inner."""
        columns = ["file", "start_line", "end_line", "row"]
        for batch in batches(dict.fromkeys(file_ids), _FILE_BATCH):
            lines: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
            for hit in self._searcher.scan_columns(SYMBOLS, among("file", batch), columns):
                file_id, start, end, row = (number(hit, column) for column in columns)
                lines[file_id].append((start, -end, row))
            for file_id in batch:
                ordered = sorted(lines[file_id])
                rows, starts = [row for *_, row in ordered], [start for start, *_ in ordered]
                yield file_id, SymbolRanges(rows, starts, [-end for _, end, _ in ordered])

    def file_rows(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        """Return files as if each were one symbol of kind "file" around all its lines."""
        files: list[SymbolRow] = []
        texts = ("key", "repo", "path", "language", "role")
        fields = {**doc_values(["file", "lines", *texts]), "sort": [{"file": "asc"}]}
        for hit in self._searcher.fetch(FILES, file_ids, fields):
            key, repo, path, language, role = (hit["fields"].get(each, _NO_TEXT)[0] for each in texts)
            lines, file_id = number(hit, "lines"), number(hit, "file")
            files.append(file_row(file_id, key, repo, path, language, role, lines))
        return files

    def lookup(
        self, pattern: str, limit: int, *, is_unqualified: bool = False, with_names: bool = False
    ) -> list[SymbolRow]:
        """Return the symbols whose name or qualified name matches, by name first, shortest names first.

        Where more match than one search returns, the first in alphabetical order are taken.
        """
        pattern = replace_surrogates(pattern)
        name, full = (wildcard_query(field, pattern) for field in ("name", "qualified_name"))
        scored: list[Query] = [
            {"constant_score": {"filter": name, "boost": 2.0}},
            *([] if is_unqualified else [{"constant_score": {"filter": full}}]),
        ]
        body = {
            # The better of the two, not their sum: that both match is no reason to be first.
            "query": self._searcher.query(should=[{"dis_max": {"queries": scored}}]),
            "sort": ["_score", *_sort_by_name(with_names)],
            **doc_values([]),
        }
        # Names without wildcards all have one length: the best are the first.
        candidates = max(limit, MAX_HITS) if "*" in pattern or "?" in pattern else limit
        matches: list[tuple[tuple[object, ...], int]] = []
        for hits in self._searcher.pages(_kind(with_names), body, limit=candidates):
            for score, symbol_name, *place, row in (hit["sort"] for hit in hits):
                tier = (symbol_name, row < 0, *place[-3:])
                matches.append(((score < 2, len(symbol_name), *tier), row))
        return self.rows([row for _, row in sorted(matches)[:limit]])

    def rows_named(self, names: Sequence[str], limit: int, *, with_names: bool = False) -> list[SymbolRow]:
        """Return the symbols called so, letter by letter; by name, path and line."""
        sort = _sort_by_name(with_names)
        rows: list[SymbolRow] = []
        for batch in batches(sorted(set(map(replace_surrogates, names))), MAX_HITS):
            body = {"query": self._searcher.query([among("name", batch)]), "sort": sort}
            for hits in self._searcher.pages(
                _kind(with_names), {**body, **doc_values(ROW_COLUMNS)}, limit=limit - len(rows)
            ):
                pairs = list(map(symbol_row, hits))
                self._cache.add_rows(pairs)
                rows += (row for row, _ in pairs)
        return rows

    def texts(self, file_ids: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Yield the texts of files, some at a time."""
        for batch in batches(sorted(set(file_ids)), _TEXT_BATCH):
            yield from _texts(self._searcher.search(FILES, self._texts_body(batch)))

    def text(self, file_id: int) -> bytes:
        """Return the text of one file."""
        return self._cache.texts.get([file_id], self.texts)[file_id]

    def symbols(self, rows: Sequence[SymbolRow]) -> list[Symbol]:
        """Return symbols with their text; names with the lines around them."""
        file_ids = {row.file_id for row in rows}
        details, texts = self._details_and_texts([row.row for row in rows if row.row > 0], file_ids)
        return build_symbols(rows, texts, details)

    def documents(self, rows: Sequence[int]) -> list[Document]:
        """Return what an encoder reads of symbols."""
        stored = self.rows(rows)
        details, texts = self._details_and_texts([row.row for row in stored], {row.file_id for row in stored})
        return [
            build_document(row, details[row.row], texts[row.file_id], row.language, row.path)
            for row in stored
        ]

    def _details_and_texts(
        self, rows: Sequence[int], file_ids: Collection[int]
    ) -> tuple[dict[int, SymbolDetails], dict[int, bytes]]:
        """Return details of symbols and texts of files, in one round trip where they are few."""
        details = self._cache.details.get(rows)
        missing = [row for row in dict.fromkeys(rows) if row not in details]
        pending = [(SYMBOLS, self._details_body(batch)) for batch in batches(missing, _DETAILS_BATCH)]

        def read(file_ids: Sequence[int]) -> Iterator[tuple[int, bytes]]:
            searches = [(FILES, self._texts_body(batch)) for batch in batches(file_ids, _TEXT_BATCH)]
            # The first texts come along with the details; other batches follow one after the other.
            *answers, texts = self._searcher.msearch([*pending, searches[0]])
            pending.clear()
            for answer in answers:
                details.update(_details(answer))
            yield from _texts(texts)
            for kind, body in searches[1:]:
                yield from _texts(self._searcher.search(kind, body))

        texts = self._cache.texts.get(file_ids, read)
        for answer in self._searcher.msearch(pending):  # no text was missing
            details.update(_details(answer))
        self._cache.details.add(details)
        return details, texts

    def _texts_body(self, file_ids: Sequence[int]) -> dict[str, Any]:
        query, fields = self._searcher.query([among("file", file_ids)]), ["file", "data.text"]
        return {"query": query, "size": len(file_ids), "_source": fields, "sort": [{"file": "asc"}]}

    def _details_body(self, rows: Sequence[int]) -> dict[str, Any]:
        query = self._searcher.query([among("row", rows)])
        return {"query": query, "size": len(rows), "_source": _DETAILS_SOURCE}

    def fingerprints(self) -> dict[str, FileFingerprint]:
        """Return size, time and content hash of every file of this machine's source, by key."""
        source = self._searcher.source
        only = {"term": {"source": source}} if source else None
        columns = ["key", "size", "mtime_ns", "content_hash"]
        files = (hit["fields"] for hit in self._searcher.scan_columns(FILES, only, columns))
        return {each["key"][0]: FileFingerprint(*(each[name][0] for name in columns[1:])) for each in files}

    def files(self) -> list[StoredFile]:
        """Return every file of the index."""
        return self._files(None)

    def files_with_suffix(self, ending: str) -> list[StoredFile]:
        """Return the files whose path is this, or ends with it after a `/`."""
        return self._files(suffix_query("path", replace_surrogates(ending)))

    def source_files(self, paths: Collection[str]) -> list[StoredFile]:
        """Return the files of this machine's source with these paths."""
        own: Query = {"term": {"source": self._searcher.source}}
        return [
            file
            for batch in batches(map(replace_surrogates, paths), MAX_HITS)
            for file in self._files(all_of((own, among("path", batch))))
        ]

    def files_with_problems(self) -> list[StoredFile]:
        """Return the files that have a problem."""
        return self._files({"bool": {"must_not": [{"term": {"problem": ""}}]}})

    def _files(self, only: Query | None) -> list[StoredFile]:
        """Return the files that match a query, by repository and path."""
        columns = StoredFile._fields[1:]
        files = [
            StoredFile(number(hit, "file"), *(hit["fields"].get(name, _NO_TEXT)[0] for name in columns))
            for hit in self._searcher.scan_columns(FILES, only, ["file", *columns])
        ]
        return sorted(files, key=lambda file: (file.repo, file.path, file.file_id))

    def trigram_candidates(self, trigrams: TrigramQuery, limit: int | None = None) -> list[int]:
        """Return the ids of files whose trigrams satisfy a condition."""
        hits = self._searcher.scan_columns(FILES, trigram_query(trigrams), ["file"])
        return [number(hit, "file") for hit in hits]

    def languages(self) -> dict[str, int]:
        """Return the number of files per language."""
        if self._cache.languages is None:
            groups = {"languages": {"terms": {"field": "language", "size": 1_000}}}
            body = {"query": self._searcher.query(), "size": 0, "aggs": groups}
            buckets = self._searcher.search(FILES, body)["aggregations"]["languages"]["buckets"]
            self._cache.languages = {each["key"]: each["doc_count"] for each in buckets}
        return dict(self._cache.languages)


def _kind(with_names: bool) -> str:
    return SYMBOLS_AND_NAMES if with_names else SYMBOLS


def _sort_by_name(with_names: bool) -> list[dict[str, str]]:
    """Return the order of what has the same name: symbols first, then by place."""
    tier = [{"_index": "desc"}] if with_names else []  # "symbols" is after "names"
    return [{"name": "asc"}, *tier, *({each: "asc"} for each in ("path", "start_line", "order", "row"))]


def _texts(answer: Mapping[str, Any]) -> Iterator[tuple[int, bytes]]:
    for hit in answer["hits"]["hits"]:
        source = hit["_source"]
        yield source["file"], unpack(b64decode(source["data"]["text"]))


def _details(answer: Mapping[str, Any]) -> Iterator[tuple[int, SymbolDetails]]:
    for hit in answer["hits"]["hits"]:
        data = hit["_source"]["data"]
        yield hit["_source"]["row"], SymbolDetails(*(data[name] for name in SymbolDetails._fields))
