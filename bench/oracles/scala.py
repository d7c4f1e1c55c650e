"""The call sites of a Scala repository as scalac types them, one JSON object a line.

    python scala.py CHECKOUT SEMANTICDB > calls.jsonl

SEMANTICDB is the folder of the files that scalac writes with the plugin semanticdb-scalac (`-Yrangepos`),
from the root of the checkout. A site is an occurrence of a method in the source, or of a class or case class
where an instance is made. Operators, fields, patterns and calls that the source does not name (implicit ones)
are left out.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from protobuf_wire import fields

_METHOD = re.compile(r"(?P<owner>.*[/#.])(?P<name>`[^`]+`|[\w$]+)\((?:\+\d+)?\)\.$")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:(?<=_)[!#%&*+\-/:<=>?@\\^|~]+)?")
# What precedes a name in a pattern, where it is matched and not called.
_PATTERN = re.compile(r"\bcase\b(?!.*=>)")
_REFERENCE, _DEFINITION = 1, 2
# Numbers of fields in semanticdb.proto.
_DOCUMENTS, _URI, _SYMBOLS, _OCCURRENCES = 1, 2, 5, 6
_RANGE, _SYMBOL, _ROLE, _OVERRIDDEN = 1, 2, 3, 19


class Occurrence(NamedTuple):
    """A symbol in a source: line and character from 0."""

    line: int
    character: int
    symbol: str
    role: int


class Document(NamedTuple):
    """A source with its occurrences in order, and what its methods override."""

    path: str
    occurrences: list[Occurrence]
    overridden: dict[str, list[str]]


def main() -> None:
    """Print the sites of all documents."""
    root, folder = Path(sys.argv[1]), Path(sys.argv[2])
    documents = [doc for file in sorted(folder.rglob("*.semanticdb")) for doc in read_documents(file)]
    sources = {document.path: (root / document.path).read_text().split("\n") for document in documents}
    definitions: dict[str, dict[str, object]] = {}
    overriding: dict[str, list[str]] = defaultdict(list)
    for document in documents:
        for line, character, symbol, role in document.occurrences:
            written = _IDENTIFIER.match(sources[document.path][line], character)
            if role == _DEFINITION and written and not symbol.startswith("local"):
                definitions[symbol] = {"path": document.path, "line": line + 1, "name": written[0]}
        for symbol, bases in document.overridden.items():
            for base in bases:
                overriding[base].append(symbol)
    for document in documents:
        for site in sites(document, sources[document.path], definitions, overriding):
            print(json.dumps({"path": document.path, **site}))


def sites(
    document: Document,
    lines: list[str],
    definitions: dict[str, dict[str, object]],
    overriding: dict[str, list[str]],
) -> Iterator[dict[str, object]]:
    """Yield the sites of a document."""
    caller = ""
    at_position: dict[tuple[int, int], list[str]] = defaultdict(list)
    callers: dict[tuple[int, int], str] = {}
    for line, character, symbol, role in document.occurrences:
        if role == _DEFINITION:
            caller = symbol if _METHOD.match(symbol) else caller
        elif role == _REFERENCE:
            at_position[line, character].append(symbol)
            callers[line, character] = caller
    for (line, character), symbols in at_position.items():
        written = _IDENTIFIER.match(lines[line], character)
        if lines[line].lstrip().startswith("import ") or _PATTERN.search(lines[line], 0, character):
            continue
        called = called_symbol(symbols, lines[line][written.end() :], definitions) if written else ""
        if not written or not called:
            continue
        targets = [definitions[called]] if called in definitions else []
        if targets and called.endswith("#") and targets[0]["name"] != written[0]:
            continue  # the constructor of a base class
        others = [definitions[each] for each in overriding[called] if targets and each in definitions]
        targets += [{**target, "dispatch": "method"} for target in others if target not in targets]
        yield {
            "line": line + 1,
            "column": len(lines[line][:character].encode()),
            "caller": callers[line, character],
            "kind": "dynamic" if len(targets) > 1 else "static",
            "targets": targets,
        }


def called_symbol(symbols: list[str], after: str, definitions: dict[str, dict[str, object]]) -> str:
    """Return what is called by a name: a method, the class of a constructor, or a case class."""
    for symbol in symbols:
        method = _METHOD.match(symbol)
        if method and method["name"] == "`<init>`":
            return method["owner"]
        if method:
            # The methods of a case class that the compiler makes have no definition.
            is_made = symbol not in definitions and method["name"] in ("apply", "copy")
            return method["owner"][:-1] + "#" if is_made else symbol
        if symbol.endswith(".") and symbol not in definitions and after.lstrip()[:1] in ("(", "["):
            return symbol[:-1] + "#" if symbol[:-1] + "#" in definitions else ""
    return ""


def read_documents(file: Path) -> Iterator[Document]:
    """Yield the documents of a SemanticDB file."""
    for number, data in fields(file.read_bytes()):
        if number != _DOCUMENTS or not isinstance(data, bytes):
            continue
        path, occurrences, overridden = "", list[Occurrence](), dict[str, list[str]]()
        for each, value in fields(data):
            if each == _URI:
                path = bytes(value).decode()
            elif each == _OCCURRENCES:
                found = dict(fields(value))
                place = dict(fields(found.get(_RANGE, b"")))
                symbol = bytes(found[_SYMBOL]).decode()
                occurrences.append(Occurrence(place.get(1, 0), place.get(2, 0), symbol, found.get(_ROLE, 0)))
            elif each == _SYMBOLS:
                information = list(fields(value))
                symbol = next(bytes(v).decode() for n, v in information if n == 1)
                bases = [bytes(v).decode() for n, v in information if n == _OVERRIDDEN]
                overridden[symbol] = bases
        yield Document(path, sorted(occurrences), overridden)


if __name__ == "__main__":
    main()
