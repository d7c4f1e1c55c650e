"""The messages of SCIP (https://scip-code.org), described by names and numbers of their fields.

Only the fields that are read or written here; a reader of protobuf skips the others.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

# A message of protobuf, whose fields are attributes.
Message = Any

# Roles of an occurrence, as bits.
DEFINITION, IMPORT, FORWARD_DEFINITION = 0x1, 0x2, 0x40
# Units in which columns are counted: UTF-8, UTF-16 and UTF-32 code units.
UTF8, UTF16, UTF32 = 1, 2, 3
# What `Metadata.text_document_encoding` calls UTF-8.
TEXT_UTF8 = 1
# Numbers of the fields of `Index`, which is read field by field: it may be larger than memory.
METADATA_FIELD, DOCUMENTS_FIELD = 1, 2
# Kinds of symbols.
KINDS = {
    "class": 7,
    "constant": 8,
    "enum": 11,
    "function": 17,
    "interface": 21,
    "macro": 25,
    "method": 26,
    "module": 29,
    "struct": 49,
    "trait": 53,
    "type": 54,
}

# Message → field → (number, type); "*" marks a repeated field, an upper-case type another message.
_FIELDS = {
    "Index": {"metadata": (1, "Metadata"), "documents": (2, "*Document")},
    "Metadata": {
        "version": (1, "int32"),
        "tool_info": (2, "ToolInfo"),
        "project_root": (3, "string"),
        "text_document_encoding": (4, "int32"),
    },
    "ToolInfo": {"name": (1, "string"), "version": (2, "string"), "arguments": (3, "*string")},
    "Document": {
        "relative_path": (1, "string"),
        "occurrences": (2, "*Occurrence"),
        "symbols": (3, "*SymbolInformation"),
        "language": (4, "string"),
        "text": (5, "string"),
        "position_encoding": (6, "int32"),
    },
    "SymbolInformation": {
        "symbol": (1, "string"),
        "documentation": (3, "*string"),
        "relationships": (4, "*Relationship"),
        "kind": (5, "int32"),
        "display_name": (6, "string"),
        "enclosing_symbol": (8, "string"),
    },
    "Relationship": {"symbol": (1, "string"), "is_implementation": (3, "bool")},
    "SingleLineRange": {
        "line": (1, "int32"),
        "start_character": (2, "int32"),
        "end_character": (3, "int32"),
    },
    "MultiLineRange": {
        "start_line": (1, "int32"),
        "start_character": (2, "int32"),
        "end_line": (3, "int32"),
        "end_character": (4, "int32"),
    },
    "Occurrence": {
        "range": (1, "*int32"),  # of older indexers; newer ones use one of the two messages
        "symbol": (2, "string"),
        "symbol_roles": (3, "int32"),
        "enclosing_range": (7, "*int32"),
        "single_line_range": (8, "SingleLineRange"),
        "multi_line_range": (9, "MultiLineRange"),
    },
}


class Messages(NamedTuple):
    """The classes of the messages that are made or parsed by themselves."""

    index: Any
    metadata: Any
    document: Message


@cache
def messages() -> Messages:
    """Return the message classes; protobuf is loaded here, on first use."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="dowse/scip.proto", package="scip", syntax="proto3")
    for name, fields in _FIELDS.items():
        message = file.message_type.add(name=name)
        for field, (number, type_name) in fields.items():
            _add_field(message, field, number, type_name)
    pool = descriptor_pool.DescriptorPool()  # one of its own: another library may have loaded SCIP's schema
    pool.Add(file)
    classes = (pool.FindMessageTypeByName(f"scip.{name}") for name in ("Index", "Metadata", "Document"))
    return Messages(*(message_factory.GetMessageClass(each) for each in classes))


def _add_field(message: Message, name: str, number: int, type_name: str) -> None:
    bare = type_name.lstrip("*")
    field = message.field.add(name=name, number=number)
    field.label = field.LABEL_REPEATED if type_name != bare else field.LABEL_OPTIONAL
    if bare[0].isupper():
        field.type, field.type_name = field.TYPE_MESSAGE, f".scip.{bare}"
    else:
        field.type = {"int32": field.TYPE_INT32, "bool": field.TYPE_BOOL, "string": field.TYPE_STRING}[bare]
