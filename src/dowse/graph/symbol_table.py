"""The symbol table of a parsed file: its bindings, the keys of its symbols, and what others may depend on.

It is built where files are parsed, so the work is shared between processes; linking only reads it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from dowse.damage import BrokenBlock
from dowse.graph import keys
from dowse.graph.cargo import cargo_bindings
from dowse.graph.keys import family_of, join_names, prefix_of, scope_of
from dowse.graph.npm import npm_bindings
from dowse.graph.platforms import platform_branches
from dowse.graph.properties import MAX_HEAD, is_property
from dowse.lazy_classes import NamedTuple
from dowse.parsing.declared_types import parse_declared_type
from dowse.parsing.facts import DOCUMENTED, RESULT
from dowse.parsing.languages import has_symbols
from dowse.types import TYPE_KINDS, Definition, Fact, NameRecord, ParsedFile, Reference, SymbolRecord

# A field of the current object; those of Ruby are other names than its methods.
_FIELD = re.compile(r"(?:(?:self|this|cls)\.|\$this->|(?:self|static)::\$)?(?:(?<=[.>$])(#?\w+)|(@{1,2}\w+))")
# Extension methods, and the types that they extend.
EXTENSIONS = {
    "csharp": re.compile(r"\(\s*this\s+([^,()]+?)\s+@?\w+\s*[,)=]"),
    "kotlin": re.compile(r"\bfun\s+(?:<[^()]*?>\s+)?([\w.]+(?:<[^()]*>)?\??)\.\w+\s*\("),
}
# The result of a function has a declared type.
_DECLARED = re.compile(r"->|\)\s*:")
_SCOPED_ENUM = re.compile(r"enum\s+(?:class|struct)\b")
# The package key of files of C# that import namespaces for their whole project.
GLOBAL_IMPORTS = "global using"
# The package key of files with a method that is read like a field.
PROPERTY = "property"
# Kinds of names that code does not use by their names.
_UNUSED_KINDS = frozenset(["key", "column", "table", "namespace"])
_CONTAINERS = TYPE_KINDS | {"module"}  # their names qualify those of their members
# Build constraints precede the package clause, after a licence at most.
_GO_BUILD = re.compile(r"^//go:build ([^\n]+)$", re.MULTILINE)
_MAX_HEADER = 8_000
_MANIFESTS = {
    "go.mod": (re.compile(r"^module\s+(\S+)", re.MULTILINE), "go module"),
    "package.json": (re.compile(r'^[^\S\n]*"name"\s*:\s*"([^"]+)"', re.MULTILINE), "npm"),
}

# Bindings of one name, and lists (wildcard imports, methods) that are kept: each lookup reads all of them.
_MAX_BINDINGS, _MAX_LISTED = 100, 1_000

# Bindings that other files can see, each as [kind, value, origin], by slot: "package", "stars" (wildcard
# imports), "import NAME", "var NAME", "field CLASS NAME", "result FUNCTION", "base CLASS",
# "extension METHOD", "lambda INTERFACE" (its only method) or "signature TYPE" (how it is called); in
# Go also "methods TYPE", "interfaces METHOD" and "build" (the constraint); in Cargo.toml "crate NAME",
# "crate-roots FOLDER" and "crate-alias NAME"; in JSON those of npm.py.
Bindings = dict[str, list[list[str]]]


class GraphRecord(NamedTuple):
    """The graph's part of a file record."""

    symbols: tuple[SymbolRecord, ...]
    names: tuple[NameRecord, ...]
    table: bytes  # the encoded symbol table
    offers: tuple[int, ...]
    marks: tuple[int, ...]


class SymbolTable(NamedTuple):
    """The names of a file, as linking reads them."""

    bindings: Bindings
    local: list[Fact]  # visible only in this file
    remainder: int  # index of the definition for the code outside all others, -1 for none


def make_graph_record(
    parsed: ParsedFile,
    path: str,
    text: str,
    symbols: list[SymbolRecord],
    names: tuple[NameRecord, ...] = (),
    repo: str = "",
    tree: str = "",
) -> GraphRecord:
    """Build the symbol table of a file and the keys of its symbols; `tree` names the indexed folder."""
    language = parsed.language
    bindings, local = _split_facts(parsed)
    if language == "go":
        _bind_methods(bindings, parsed)
        constraint = _GO_BUILD.search(text, 0, _MAX_HEADER)
        if constraint:
            _bind(bindings, "build", ["build", constraint[1], ""])
    if language in ("c", "cpp"):
        _bind_platforms(bindings, parsed, text)
    if path.endswith("Cargo.toml"):
        bindings.update(cargo_bindings(path, text))
    elif path.endswith(".json"):
        bindings.update(npm_bindings(path, text))
    package = bindings["package"][0][1] if "package" in bindings else ""
    family, scope, prefix = family_of(language), scope_of(language, path, package), prefix_of(language, path)
    name_family = keys.COPIES if family == "c" and keys.is_amalgamation(path) else family
    _bind_extensions(bindings, parsed)
    if family == "jvm":
        _bind_functional_interfaces(bindings, parsed)
    derived = _derived_classes(bindings, parsed)
    keyed = []
    offers = [keys.fingerprint(keys.file_key(path), language)]
    for index, (definition, symbol) in enumerate(zip(parsed.definitions, symbols, strict=True)):
        if definition.part or not has_symbols(language):
            keyed.append(symbol)
            continue
        if index == parsed.remainder:
            key = keys.remainder_key(path)
            keyed.append(symbol._replace(scope_key=key))
            offers.append(keys.fingerprint(key, symbol.key))
            continue
        key = keys.scope_key(family, scope, join_names(prefix, definition.qualified_name))
        bare = keys.name_key(name_family, definition.kind == "method", definition.name)
        overrides = definition.kind == "method" and definition.qualified_name.rpartition(".")[0] in derived
        keyed.append(symbol._replace(scope_key=key, name_key=bare, overrides=overrides))
        offers.append(keys.fingerprint(key, f"{symbol.key} {symbol.kind} {symbol.signature}"))
    named = (
        _keyed_names(parsed, names, bindings, name_family, scope, prefix) if has_symbols(language) else names
    )
    offers.extend(
        keys.fingerprint(each.scope_key, f"{each.key} {each.kind}") for each in named if each.scope_key
    )
    offers.extend(
        keys.fingerprint(keys.binding_key(path, slot), json.dumps(bound)) for slot, bound in bindings.items()
    )
    marks = _package_keys(language, path, text, bindings, (tree, repo.rstrip("/").rpartition("/")[2]))
    impls = {d.name for d in parsed.definitions if d.kind == "impl"}  # of types from other files
    marks += tuple(keys.package_key("rust impl", name) for name in sorted(impls))
    if family == "rust":
        modules = {join_names(prefix, each.qualified_name) for each in names if each.kind == "namespace"}
        marks += tuple(keys.package_key("rust module", scope, each) for each in sorted(modules))
    marks += tuple(keys.package_key(PROPERTY, family, name) for name in _properties(parsed, text))
    offers.extend(keys.fingerprint(mark, path) for mark in marks)
    is_empty = not (parsed.references or bindings or local)
    table = b"" if is_empty else encode_symbol_table(SymbolTable(bindings, local, parsed.remainder))
    return GraphRecord(tuple(keyed), tuple(named), table, tuple(offers), marks)


def _properties(parsed: ParsedFile, text: str) -> list[str]:
    """Return the names of methods that are read like fields."""
    lines = text.split("\n") if parsed.language == "python" else []
    return sorted(
        {
            each.name
            for each in parsed.definitions
            if each.kind == "method"
            and not each.part
            and is_property(
                parsed.language, each.signature, lines[each.start_line - 1 : each.start_line + MAX_HEAD]
            )
        }
    )


def _keyed_names(
    parsed: ParsedFile,
    names: Sequence[NameRecord],
    bindings: Bindings,
    name_family: str,
    scope: str,
    prefix: str,
) -> list[NameRecord]:
    """Return names with their keys: of several definitions of one, the first; none for what is imported."""
    keyed, known, family = list[NameRecord](), set[str](), family_of(parsed.language)
    signatures = {each.qualified_name: (each.kind, each.signature) for each in parsed.definitions}
    for name in names:
        full_name = name.qualified_name
        owner = full_name.rpartition(".")[0]
        kind, signature = signatures.get(owner, ("", ""))
        if family == "c" and name.kind == "enumerator" and not _SCOPED_ENUM.match(signature):
            full_name = join_names(owner.rpartition(".")[0], name.name)
        # What a trait of Rust declares is meant, not the type that an implementation gives for it.
        is_given = family == "rust" and name.kind == "alias" and bool(owner) and kind != "trait"
        is_other = name.kind in _UNUSED_KINDS or is_given or f"import {full_name}" in bindings
        if name.kind == "property" and not owner:  # of an object literal without a name
            bare = keys.key_of_names(keys.name_key(name_family, True, name.name))
            keyed.append(name._replace(name_key=bare))
            continue
        if full_name in known or is_other:
            keyed.append(name)
            continue
        known.add(full_name)
        key = keys.key_of_names(keys.scope_key(family, scope, join_names(prefix, full_name)))
        bare = keys.key_of_names(keys.name_key(name_family, "." in full_name, name.name))
        keyed.append(name._replace(scope_key=key, name_key=bare))
    return keyed


def encode_symbol_table(table: SymbolTable) -> bytes:
    """Return a symbol table as JSON."""
    return json.dumps([table.bindings, table.local, table.remainder], separators=(",", ":")).encode()


def decode_symbol_table(data: bytes) -> SymbolTable:
    """Return an encoded symbol table; raises BrokenBlock if the data is not of that form."""
    if not data:
        return SymbolTable({}, [], -1)
    try:
        bindings, local, remainder = json.loads(data)
        facts = [Fact(*fact) for fact in local]
    except (ValueError, TypeError, RecursionError) as error:
        raise BrokenBlock(str(error)) from error
    if type(bindings) is not dict:
        raise BrokenBlock("bindings are no object")
    return SymbolTable(bindings, facts, remainder)


def _split_facts(parsed: ParsedFile) -> tuple[Bindings, list[Fact]]:
    """Split facts into bindings that other files can see and those local to a function."""
    bindings: Bindings = {}
    local: list[Fact] = []
    declared: dict[str, list[str]] = {}
    classes = {d.qualified_name for d in parsed.definitions if d.kind in _CONTAINERS}
    for fact in parsed.facts:
        kind, name, value, origin, owner, first, _ = fact
        binding = [kind, value, origin]
        definition = parsed.definitions[owner] if 0 <= owner < len(parsed.definitions) else None
        if (
            definition
            and definition.kind == "constant"
            and (parsed.language == "go" or definition.name == name)
        ):
            definition = None  # a variable of the module, or one of a block of them
        field = _FIELD.fullmatch(name)
        if kind == "signature":
            if definition:
                _bind(bindings, f"signature {definition.qualified_name}", binding)
        elif name == RESULT:
            if (
                definition
                and definition.kind not in _CONTAINERS
                and (origin == DOCUMENTED or not _DECLARED.search(definition.signature))
            ):
                _bind(bindings, f"result {definition.qualified_name}", binding)
        elif name.startswith("{}."):  # a property of an object literal
            if definition and definition.kind not in _CONTAINERS:
                _bind(bindings, f"field {definition.qualified_name} {name[3:]}", binding)
        elif kind == "package":
            outer = bindings["package"][0][1] if parsed.language == "scala" and "package" in bindings else ""
            bindings["package"] = [[kind, join_names(outer, re.sub(r"\\|::", ".", value)), ""]]
        elif kind == "import" and parsed.language == "cpp":  # also those in functions
            _bind(bindings, "stars" if name == "*" else f"import {name}", binding)
        elif kind == "namespace":
            _bind(bindings, f"var {definition.qualified_name if definition else name}", binding)
        elif first or (definition and definition.kind not in _CONTAINERS and not field):
            local.append(fact)
        elif definition is None or kind in ("import", "export"):
            slot = f"{'import' if kind in ('import', 'export') else 'var'} {name}"
            if name.endswith("*"):  # those of an inline module of Rust are its own
                slot = f"stars {name[:-3]}".strip()
            _bind(bindings, slot, binding)
        else:
            owner_class = _enclosing_class(definition, classes)
            slot = f"field {owner_class} {(field[1] or field[2]) if field else name.lstrip('$')}"
            if parsed.language == "typescript" and kind == "type" and not field:
                declared[slot] = binding
            _bind(bindings, slot, binding)
    # What a field is declared as counts, whatever is assigned to it.
    bindings.update((slot, [binding]) for slot, binding in declared.items())
    for reference in parsed.references:
        if reference.kind in ("extends", "implements") and 0 <= reference.owner < len(parsed.definitions):
            derived = parsed.definitions[reference.owner].qualified_name
            _bind(bindings, f"base {derived}", [reference.kind, _dotted_path(reference), ""])
    return bindings, local


def _bind_methods(bindings: Bindings, parsed: ParsedFile) -> None:
    """Bind the methods of the types of Go, and its interfaces by one method that implementers must have.

    An interface without methods of its own is found by one that it embeds.
    """
    for definition in parsed.definitions:
        owner, _, name = definition.qualified_name.rpartition(".")
        if definition.kind == "method" and not definition.part:
            _bind(bindings, f"methods {owner}", ["method", name, definition.signature])
    for definition in parsed.definitions:
        name = definition.qualified_name
        if definition.kind == "interface" and not definition.part:
            methods = [method for _, method, _ in bindings.get(f"methods {name}", ())]
            bases = [path.rpartition(".")[2] for _, path, _ in bindings.get(f"base {name}", ())]
            # The longest name is the rarest.
            rarest = max(methods or bases, key=lambda each: (len(each), each), default="")
            if rarest:
                _bind(bindings, f"interfaces {rarest}", ["interface", name, ""])


def _bind_platforms(bindings: Bindings, parsed: ParsedFile, text: str) -> None:
    """Bind the platforms of the functions and macros that only a branch of `#if` for these defines."""
    branches = platform_branches(text)
    if not branches:
        return
    platforms: dict[str, set[str]] = {}
    for definition in parsed.definitions:
        if definition.kind in ("function", "method", "macro") and not definition.part:
            line = definition.start_line
            around = {each for first, last, names in branches if first < line < last for each in names}
            others = platforms.setdefault(definition.qualified_name, around)
            platforms[definition.qualified_name] = others | around if others and around else set()
    for name, words in platforms.items():
        if words:
            _bind(bindings, f"build {name}", ["build", " ".join(sorted(words)), ""])


def _bind_extensions(bindings: Bindings, parsed: ParsedFile) -> None:
    """Bind extension methods of C# and Kotlin by name, each with the type that it extends."""
    pattern = EXTENSIONS.get(parsed.language)
    for definition in parsed.definitions if pattern else ():
        match = pattern.search(definition.signature) if pattern else None
        if match and definition.kind in ("function", "method") and not definition.part:
            extended = parse_declared_type(match[1])
            _bind(bindings, f"extension {definition.name}", ["type", definition.qualified_name, extended])


def _bind_functional_interfaces(bindings: Bindings, parsed: ParsedFile) -> None:
    """Bind the only method of an interface: a lambda can stand for it."""
    interfaces = [d.qualified_name for d in parsed.definitions if d.kind == "interface"]
    methods: dict[str, list[Definition]] = {name: [] for name in interfaces}
    for definition in parsed.definitions:
        owner = definition.qualified_name.rpartition(".")[0]
        is_abstract = not definition.signature.startswith(("default ", "static ", "public static "))
        if owner in methods and definition.kind == "method" and not definition.part and is_abstract:
            methods[owner].append(definition)
    for name, members in methods.items():
        if len(members) == 1:
            _bind(bindings, f"lambda {name}", ["method", members[0].signature, members[0].qualified_name])


def _bind(bindings: Bindings, slot: str, binding: list[str]) -> None:
    """Add a binding of a name unless there are too many already."""
    bound = bindings.setdefault(slot, [])
    if len(bound) < (_MAX_LISTED if slot.startswith(("stars", "methods")) else _MAX_BINDINGS):
        bound.append(binding)


def _derived_classes(bindings: Bindings, parsed: ParsedFile) -> set[str]:
    """Return the classes with a base from another file: their methods may override its methods."""
    own = {d.name for d in parsed.definitions}
    return {
        slot.removeprefix("base ")
        for slot, bound in bindings.items()
        if slot.startswith("base ") and any(path.rpartition(".")[2] not in own for _, path, _ in bound)
    }


def _enclosing_class(definition: Definition, classes: set[str]) -> str:
    """Return the qualified name of the class that a definition is, or is in."""
    name = definition.qualified_name
    if definition.kind in _CONTAINERS:
        return name
    while name and name not in classes:
        name = name.rpartition(".")[0]
    return name or definition.qualified_name.rpartition(".")[0]


def _dotted_path(reference: Reference) -> str:
    return join_names(re.sub(r"::|->|\\", ".", reference.qualifier).strip("."), reference.name)


def _package_keys(
    language: str, path: str, text: str, bindings: Bindings, roots: tuple[str, str]
) -> tuple[int, ...]:
    """Return the keys of the packages that a file makes up or describes.

    The root package has the names of the folder and of the repository.
    """
    folder, _, name = path.rpartition("/")
    if name == "__init__.py":
        names = (folder.rpartition("/")[2],) if folder else dict.fromkeys(filter(None, roots))
        return tuple(keys.package_key("python package", each) for each in names)
    if language == "go":
        marks = [keys.package_key("go package", folder)]
        for slot in bindings:
            word, _, name = slot.partition(" ")
            if word == "var":
                marks.append(keys.package_key("go variable", folder, name))
            elif word == "methods":
                marks.append(keys.package_key("go methods", folder, name))
            elif word == "interfaces":
                marks.append(keys.package_key("go interface", name))
        return tuple(marks)
    if language in EXTENSIONS:
        extensions = [slot.partition(" ")[2] for slot in bindings if slot.startswith("extension ")]
        marks = [keys.package_key("extension", family_of(language), each) for each in extensions]
        if language == "csharp" and any(kind == "export" for kind, _, _ in bindings.get("stars", ())):
            marks.append(keys.package_key(GLOBAL_IMPORTS, folder.removesuffix("/Properties")))
        return tuple(marks)
    if name == "Cargo.toml":
        return tuple(keys.package_key(*slot.split(" ", 1)) for slot in bindings if slot.startswith("crate"))
    if path in ("index.ts", "index.js"):
        return (keys.package_key("npm", roots[1]),)
    if name in ("index.ts", "index.js") and folder.endswith("/src"):
        return (keys.package_key("npm folder", folder.rsplit("/", 2)[-2]),)
    pattern, kind = _MANIFESTS.get(name, (None, ""))
    match = pattern.search(text) if pattern else None
    if match is None:
        return ()
    return (keys.package_key(kind, match[1]),)
