"""Records of files, symbols and names as JSON values and back.

Terms are left out: they are computed again from the text.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from typing import Any

from dowse.types import FileRecord, NameRecord, SymbolRecord

# Fields that are JSON values as they are.
FILE_FIELDS = FileRecord._fields[: FileRecord._fields.index("packed_text")]
_SYMBOL_FIELDS = tuple(name for name in SymbolRecord._fields if name not in ("terms", "vector_key"))


def encode_file(record: FileRecord) -> dict[str, Any]:
    """Return the fields of a file, without its text, symbols and names."""
    return {
        **{name: getattr(record, name) for name in FILE_FIELDS},
        "references": b64encode(record.references).decode(),
        "facts": b64encode(record.facts).decode(),
        "offers": list(record.offers),
        "marks": list(record.marks),
    }


def decode_file(
    value: Mapping[str, Any], symbols: Iterable[SymbolRecord], names: Iterable[NameRecord]
) -> FileRecord:
    """Return the record of a file, without its text."""
    return FileRecord(
        **{name: value[name] for name in FILE_FIELDS},
        packed_text=b"",
        references=b64decode(value["references"]),
        text="",
        symbols=tuple(symbols),
        facts=b64decode(value["facts"]),
        offers=tuple(value["offers"]),
        marks=tuple(value["marks"]),
        names=tuple(names),
    )


def encode_symbol(symbol: SymbolRecord) -> dict[str, Any]:
    """Return the fields of a symbol."""
    return {**{name: getattr(symbol, name) for name in _SYMBOL_FIELDS}, "vector_key": symbol.vector_key.hex()}


def decode_symbol(value: Mapping[str, Any]) -> SymbolRecord:
    """Return the record of a symbol, without its terms."""
    fields = {name: value[name] for name in _SYMBOL_FIELDS}
    fields |= {name: tuple((start, end) for start, end in value[name]) for name in ("spans", "doc_spans")}
    return SymbolRecord(**fields, terms=(), vector_key=bytes.fromhex(value["vector_key"]))


def encode_name(name: NameRecord) -> dict[str, Any]:
    """Return the fields of a name; its line is called like the first line of a symbol."""
    return {"start_line" if field == "line" else field: value for field, value in name._asdict().items()}


def decode_name(value: Mapping[str, Any]) -> NameRecord:
    """Return the record of a name."""
    fields = {**value, "line": value["start_line"]}
    return NameRecord(**{name: fields[name] for name in NameRecord._fields})
