"""What a parsed file gives to the graph: its local facts, what others may ask of it, and under which keys.

This happens where files are parsed, so that it is shared between processes; linking only reads it.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from dowse.graph.keys import face_key, family_of, key_of, mark_key, name_key, offer, rest_key, scope_key
from dowse.graph.resolve.namespaces import joined, prefix_of, scope_of
from dowse.kinds import TYPES
from dowse.parsing.languages import LANGUAGES
from dowse.storage.local.compression import BrokenBlock, pack, unpack
from dowse.types import Definition, Fact, ParsedFile, SymbolRecord

_FIELD = re.compile(r"(?:(?:self|this|cls)\.|@|\$this->)(\w+)")
_HOLDERS = TYPES | {"module"}  # whose names stand before those of what is in them
_GO_MODULE = re.compile(r"^module\s+(\S+)", re.MULTILINE)
_CRATE = re.compile(r"^\[(?:package|project)\][^\[]*?^name\s*=\s*\"([^\"]+)\"", re.MULTILINE | re.DOTALL)
_NPM = re.compile(r'^[^\S\n]*"name"\s*:\s*"([^"]+)"', re.MULTILINE)

_MANIFESTS = {
    "go.mod": (_GO_MODULE, "go module"),
    "Cargo.toml": (_CRATE, "crate"),
    "package.json": (_NPM, "npm"),
}

# Kept of what a file says of one name, and of what it imports as a whole.
_MAX_SAID, _MAX_STARS = 100, 1_000

# What a file says of one of its names: (kind, value, origin).
Said = tuple[str, str, str]


class Described(NamedTuple):
    """The graph's share of a file record."""

    symbols: tuple[SymbolRecord, ...]
    facts: bytes
    offers: tuple[int, ...]
    marks: tuple[int, ...]


class FileFacts(NamedTuple):
    """What linking reads of a file."""

    face: dict[str, list[list[str]]]  # what other files may ask, by name
    local: list[Fact]  # what only this file can see
    remainder: int  # index of the definition for what stands outside all others, -1 for none


def describe(
    parsed: ParsedFile, path: str, text: str, symbols: list[SymbolRecord], repo: str = "", tree: str = ""
) -> Described:
    """Sort out what a file says of its names; `tree` is the name of the folder that is indexed."""
    language = parsed.language
    face, local = _sort(parsed)
    package = face["package"][0][1] if "package" in face else ""
    family, scope, prefix = family_of(language), scope_of(language, path, package), prefix_of(language, path)
    heirs = _heirs(face, parsed)
    keyed = []
    offers = [offer(key_of("file", path), language)]
    for index, (definition, symbol) in enumerate(zip(parsed.definitions, symbols, strict=True)):
        if definition.part or language not in LANGUAGES:
            keyed.append(symbol._replace(part=definition.part))
            continue
        if index == parsed.remainder:
            where = rest_key(path)
            keyed.append(symbol._replace(scope_key=where))
            offers.append(offer(where, symbol.key))
            continue
        where = scope_key(family, scope, joined(prefix, definition.qualified_name))
        bare = name_key(family, definition.kind == "method", definition.name)
        overrides = definition.kind == "method" and definition.qualified_name.rpartition(".")[0] in heirs
        keyed.append(symbol._replace(scope_key=where, name_key=bare, overrides=overrides))
        offers.append(offer(where, f"{symbol.key} {symbol.kind} {symbol.signature}"))
    offers.extend(offer(face_key(path, name), json.dumps(said)) for name, said in face.items())
    marks = _marks(language, path, text, face, (tree, repo.rstrip("/").rpartition("/")[2]))
    offers.extend(offer(mark, path) for mark in marks)
    facts = (
        pack_facts(FileFacts(face, local, parsed.remainder)) if parsed.references or face or local else b""
    )
    return Described(tuple(keyed), facts, tuple(offers), marks)


def _sort(parsed: ParsedFile) -> tuple[dict[str, list[list[str]]], list[Fact]]:
    """Part facts into those that other files may ask for, by name, and those of one function."""
    face: dict[str, list[list[str]]] = {}
    local: list[Fact] = []
    classes = {d.qualified_name for d in parsed.definitions if d.kind in _HOLDERS}
    typed = _typed_names(parsed.facts)
    for fact in parsed.facts:
        kind, name, value, origin, owner, first, _ = fact
        said = [kind, value, origin]
        definition = parsed.definitions[owner] if 0 <= owner < len(parsed.definitions) else None
        field = _FIELD.fullmatch(name)
        if kind == "package":
            face["package"] = [[kind, re.sub(r"\\|::", ".", value), ""]]
        elif first or (definition and definition.kind not in _HOLDERS and not field):
            local.append(fact)
        elif definition is None or kind in ("import", "export"):
            slot = "stars" if name == "*" else f"{'import' if kind in ('import', 'export') else 'var'} {name}"
            _say(face, slot, said)
        else:
            home = _class_around(definition, classes)
            said = _settled(said, typed.get((owner, said[1])))
            _say(face, f"field {home} {field[1] if field else name.lstrip('$')}", said)
    for reference in parsed.references:
        if reference.kind in ("extends", "implements") and 0 <= reference.owner < len(parsed.definitions):
            home = parsed.definitions[reference.owner].qualified_name
            _say(face, f"base {home}", [reference.kind, _dotted(reference), ""])
    return face, local


def _say(face: dict[str, list[list[str]]], slot: str, said: list[str]) -> None:
    """Add what is said under a name, unless that is too much to be of use: each lookup reads all of it."""
    held = face.setdefault(slot, [])
    if len(held) < (_MAX_STARS if slot == "stars" else _MAX_SAID):
        held.append(said)


def _heirs(face: dict[str, list[list[str]]], parsed: ParsedFile) -> set[str]:
    """The classes that inherit from something this file does not define: their methods may be its."""
    own = {d.name for d in parsed.definitions}
    return {
        slot.removeprefix("base ")
        for slot, said in face.items()
        if slot.startswith("base ") and any(path.rpartition(".")[2] not in own for _, path, _ in said)
    }


def _typed_names(facts: tuple[Fact, ...]) -> dict[tuple[int, str], list[str]]:
    """What is said first of the type of each name, by definition and name."""
    typed: dict[tuple[int, str], list[str]] = {}
    for kind, name, value, _, owner, _, _ in facts:
        if kind in ("type", "made"):
            typed.setdefault((owner, name), [kind, value, ""])
    return typed


def _settled(said: list[str], typed: list[str] | None) -> list[str]:
    """A field that is set to a parameter has its type: `self.x = x`."""
    return typed if typed and said[0] == "same" and "." not in said[1] else said


def _class_around(definition: Definition, classes: set[str]) -> str:
    """The qualified name of the class that a definition is, or is in."""
    name = definition.qualified_name
    if definition.kind in _HOLDERS:
        return name
    while name and name not in classes:
        name = name.rpartition(".")[0]
    return name or definition.qualified_name.rpartition(".")[0]


def _dotted(reference: object) -> str:
    qualifier, name = reference.qualifier, reference.name  # type: ignore[attr-defined]
    path = re.sub(r"::|->|\\", ".", qualifier).strip(".")
    return joined(path, name)


def _marks(
    language: str, path: str, text: str, face: dict[str, list[list[str]]], roots: tuple[str, str]
) -> tuple[int, ...]:
    """The keys under which a file as a whole is looked for; a root has the names of folder and repository."""
    folder, _, name = path.rpartition("/")
    if name == "__init__.py":
        names = (folder.rpartition("/")[2],) if folder else dict.fromkeys(filter(None, roots))
        return tuple(mark_key("python package", each) for each in names)
    if language == "go":
        typed = [slot[4:] for slot in face if slot.startswith("var ")]
        return (mark_key("go package", folder), *(mark_key("go variable", folder, each) for each in typed))
    if path in ("index.ts", "index.js"):
        return (mark_key("npm", roots[1]),)
    pattern, kind = _MANIFESTS.get(name, (None, ""))
    found = pattern.search(text) if pattern else None
    return (mark_key(kind, found[1].replace("-", "_") if kind == "crate" else found[1]),) if found else ()


def pack_facts(facts: FileFacts) -> bytes:
    """Compress facts for the store."""
    return pack(json.dumps([facts.face, facts.local, facts.remainder], separators=(",", ":")).encode())


def unpack_facts(packed: bytes) -> FileFacts:
    """Return what was packed; raises BrokenBlock if it is not of that form."""
    if not packed:
        return FileFacts({}, [], -1)
    try:
        face, local, remainder = json.loads(unpack(packed))
        facts = [Fact(*fact) for fact in local]
    except (ValueError, TypeError, RecursionError) as error:
        raise BrokenBlock(str(error)) from error
    if type(face) is not dict:
        raise BrokenBlock("facts are no object")
    return FileFacts(face, facts, remainder)
