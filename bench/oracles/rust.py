"""The call sites of a Rust workspace as rust-analyzer resolves them, one JSON object a line.

    python rust.py CHECKOUT INDEX > calls.jsonl

INDEX is the output of `rust-analyzer scip CHECKOUT --output INDEX`. A call is a reference to a function with
arguments behind it, inside macros too. Left out are calls of closures, of tuple structs (SCIP does not tell
them from patterns), of functions that a macro of the workspace defines (SCIP has no place for them), and of
those whose symbol is defined in several files, none of them that of the call. Where a method of a trait is
named, its implementations may run. Other names but modules, `Self` and the fields of tuples are references.
"""

from __future__ import annotations

import json
import re
import sys
from bisect import bisect_right
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from protobuf_wire import fields, numbers

_FUNCTION_SUFFIX = "()."
_DEFINITION_ROLE = 1
_IMPLEMENTATION = re.compile(
    r"impl#\[(?:`(?:[^`]|``)*`|[^\]]*)\]\[(?P<trait>`(?:[^`]|``)*`|[^\]]*)\](?P<name>\w+)\("
)
_TRAIT_METHOD = re.compile(r"(?P<trait>\w+)#(?P<name>\w+)\(")
# What definitions are that SymbolInformation.Kind of scip.proto tells apart; others are local.
_DEFINITION_KINDS = {
    **{8: "constant", 11: "enum", 12: "enumerator", 15: "field", 17: "function", 25: "macro", 26: "method"},
    **{
        3: "type",
        4: "macro",
        49: "struct",
        53: "trait",
        55: "type",
        70: "method",
        80: "method",
        82: "variable",
    },
}
_TYPES = ("struct", "enum", "trait", "type")
_USE = re.compile(rb"^[ \t]*(?:pub(?:\([^)]*\))?\s+)?use\s[^;]*;", re.M)
_ASSIGNED = re.compile(rb"\s*(?:[-+*/%|&^]|<<|>>)?=[^=>]")
_NAME = re.compile(rb"[\w\x80-\xff]")
_IS_FUNCTION = re.compile(rb"\bfn\s+(r#)?$")


class Occurrence(NamedTuple):
    """A name in a file: positions count from 0, columns are bytes."""

    path: str
    line: int
    start: int
    end: int
    symbol: str
    is_definition: bool
    body: tuple[int, int]  # lines of the definition


def main() -> None:
    """Print the calls of an index."""
    root, (documents, kinds) = Path(sys.argv[1]), read_index(Path(sys.argv[2]).read_bytes())
    texts = {path: (root / path).read_bytes().splitlines() for path in documents}
    definitions = defaultdict(list)
    for occurrences in documents.values():
        for each in occurrences:
            if each.is_definition:
                definitions[key_of(each)].append(each)
    crates = {crate_of(symbol) for symbol in definitions}
    implementations = find_implementations(definitions)
    for path, occurrences in documents.items():
        functions = sorted((o for o in occurrences if is_function(o, texts)), key=lambda o: o.body)
        imports = import_lines(b"\n".join(texts[path]))
        for each in sorted(set(occurrences)):
            declared = definitions.get(key_of(each), [])
            if len({one.path for one in declared}) > 1:  # tests, benches and examples share names of symbols
                declared = [one for one in declared if one.path == path]
                if not declared:
                    continue
            is_unknown = not declared and crate_of(each.symbol) in crates
            if each.is_definition or is_unknown or not _NAME.match(texts[path][each.line], each.start):
                continue
            site = None
            if is_call(texts[path], each):
                site = describe(each, declared, implementations, texts, functions)
            if site or (site := refer(each, declared, kinds, imports, texts)):
                print(json.dumps(site))


def describe(
    call: Occurrence,
    declared: list[Occurrence],
    implementations: dict[tuple[str, str], list[Occurrence]],
    texts: dict[str, list[bytes]],
    functions: list[Occurrence],
) -> dict[str, Any] | None:
    """Return the site of a reference, or None if what it calls is no function."""
    if call.symbol.startswith("local "):
        declared = [each for each in declared if is_function(each, texts)]
        if not declared:
            return None
    elif not call.symbol.endswith(_FUNCTION_SUFFIX):
        return None
    targets = [target_of(each, texts) for each in declared]
    method = _TRAIT_METHOD.search(call.symbol)
    if declared and method and "impl#" not in call.symbol:
        possible = implementations.get((method["trait"], method["name"]), [])
        targets += [{**target_of(each, texts), "dispatch": "method"} for each in possible]
    return {
        "path": call.path,
        "line": call.line + 1,
        "column": call.start,
        "caller": caller_of(call, functions),
        "kind": "dynamic" if any("dispatch" in target for target in targets) else "static",
        "targets": targets,
    }


def refer(
    name: Occurrence,
    declared: list[Occurrence],
    kinds: dict[str, int],
    imports: set[int],
    texts: dict[str, list[bytes]],
) -> dict[str, Any] | None:
    """Return what a name that is not called refers to, or None if that has no name of its own."""
    line = texts[name.path][name.line]
    written, after = line[name.start : name.end].decode(), line[name.end :]
    if name.symbol.endswith(("/", "]")) or written.isdigit() or written in ("self", "Self", "crate", "super"):
        return None
    kind = _DEFINITION_KINDS.get(kinds.get(name.symbol, 0), "")
    if kind in ("type", "") and line[: name.start].endswith(b"Self::"):
        return None  # the associated type of the trait, where that of the implementation is meant
    if name.line in imports:
        reference = "import"
    elif line.lstrip().startswith(b"#["):
        reference = "decorator"
    elif kind == "field" and re.match(rb"\s*:[^:]", after):
        reference = "keyword"
    else:
        reference = "type" if kind in _TYPES else "write" if _ASSIGNED.match(after) else "read"
    targets = [{**target_of(each, texts), "kind": kind} for each in declared if kind]
    position = {"path": name.path, "line": name.line + 1, "column": name.start}
    return {**position, "name": written, "reference": reference, "targets": targets}


def import_lines(source: bytes) -> set[int]:
    """Return the lines of `use` declarations."""
    starts = (
        (source.count(b"\n", 0, use.start()), use.group().count(b"\n")) for use in _USE.finditer(source)
    )
    return {line for first, count in starts for line in range(first, first + count + 1)}


def key_of(each: Occurrence) -> str:
    """Return what a symbol is looked up by: local ones belong to their file."""
    return f"{each.path} {each.symbol}" if each.symbol.startswith("local ") else each.symbol


def crate_of(symbol: str) -> str:
    """Return the crate in `rust-analyzer cargo CRATE VERSION PATH`, "" for a local name."""
    return symbol.split(" ")[2] if symbol.startswith("rust-analyzer ") else ""


def find_implementations(definitions: dict[str, list[Occurrence]]) -> dict[tuple[str, str], list[Occurrence]]:
    """Return the methods of `impl Trait for Type`, by the trait and the method."""
    found = defaultdict(list)
    for symbol, declared in definitions.items():
        if method := _IMPLEMENTATION.search(symbol):
            head = re.split(r"[<\[ ]", method["trait"].strip("`"))[0].rpartition("::")[2]
            found[head, method["name"]] += declared
    return found


def is_function(each: Occurrence, texts: dict[str, list[bytes]]) -> bool:
    """Whether this is the name in the definition of a function."""
    return each.is_definition and bool(_IS_FUNCTION.search(texts[each.path][each.line][: each.start]))


def is_call(lines: list[bytes], each: Occurrence) -> bool:
    """Whether arguments follow a name (an operator is none), perhaps after `::<…>`."""
    if not _NAME.match(lines[each.line], each.start):
        return False
    behind = b"\n".join([lines[each.line][each.end :], *lines[each.line + 1 : each.line + 6]]).lstrip()
    if behind.startswith(b"::<"):
        depth = 0
        for at, sign in enumerate(behind):
            depth += (sign == ord("<")) - (sign == ord(">") and behind[at - 1 : at] not in (b"-", b"="))
            if at > 2 and depth == 0:
                behind = behind[at + 1 :].lstrip()
                break
    return behind.startswith(b"(")


def target_of(declared: Occurrence, texts: dict[str, list[bytes]]) -> dict[str, Any]:
    """Return where a function is defined."""
    name = texts[declared.path][declared.line][declared.start : declared.end].decode()
    return {"path": declared.path, "line": declared.line + 1, "name": name}


def caller_of(call: Occurrence, functions: list[Occurrence]) -> str:
    """Return the innermost function around a call."""
    for each in reversed(
        functions[: bisect_right(functions, (call.line, sys.maxsize), key=lambda f: f.body)]
    ):
        if each.body[0] <= call.line <= each.body[1]:
            return f"{each.symbol.rpartition(' ')[2]}:{each.line + 1}"
    return ""


def read_index(data: bytes) -> tuple[dict[str, list[Occurrence]], dict[str, int]]:
    """Return the occurrences by file and the kinds of symbols; the numbers are those of scip.proto."""
    documents: dict[str, list[Occurrence]] = {}
    kinds: dict[str, int] = {}
    for field, document in fields(data):
        if field != 2:
            continue
        parts = list(fields(document))
        path = next(value for number, value in parts if number == 1).decode()
        documents[path] = [read_occurrence(path, value) for number, value in parts if number == 2]
        for symbol in (dict(fields(value)) for number, value in parts if number == 3):
            kinds[symbol[1].decode()] = symbol.get(5, 0)  # local ones share their names: all are variables
    return documents, kinds


def read_occurrence(path: str, data: bytes) -> Occurrence:
    """Decode one occurrence."""
    values: dict[int, Any] = dict(fields(data))
    line, start, *rest = numbers(values[1])
    around = numbers(values.get(7, b""))
    body = (around[0], around[2] if len(around) == 4 else around[0]) if around else (line, line)
    is_definition = bool(values.get(3, 0) & _DEFINITION_ROLE)
    return Occurrence(path, line, start, rest[-1], values.get(2, b"").decode(), is_definition, body)


if __name__ == "__main__":
    main()
