"""Imports SCIP files: their occurrences become references from our call sites to our symbols.

A definition of the compiler is the symbol of ours that has its name and spans its line; an occurrence is the
reference that our parser found at its position. What has no counterpart is left to our own resolution.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from dowse.graph.keys import is_scoped_by_file
from dowse.graph.scip.compiled import CompiledReferences, Implementation, TargetKey, encode_compiled
from dowse.graph.scip.names import SymbolName, is_definable, is_local, parse_symbol, split_module
from dowse.graph.scip.positions import Lines, Position
from dowse.graph.scip.reading import ScipError, ScipFile, folder_of_project, is_safe_path
from dowse.graph.scip.schema import DEFINITION, FORWARD_DEFINITION, IMPORT, Message
from dowse.graph.scip.validity import (
    CHANGED_BEFORE,
    hash_names,
    is_build_file,
    mentioned_names,
    module_name,
)
from dowse.parsing.languages import detect_language
from dowse.storage.protocol import CompiledFile, GraphStore, SourceFile, SourceSymbol
from dowse.types import TYPE_KINDS

# The tool that wrote the file, as `dowse export` names itself.
OWN_TOOL = "dowse"


class ScipReport(NamedTuple):
    """What was read from SCIP files."""

    files: int  # of the index, that they describe as they are
    changed: int  # that they describe as they were
    unknown: int  # documents that are not in the index


class _Definition(NamedTuple):
    """Where a symbol of SCIP is defined, and the symbol of ours that it is."""

    path: str
    key: str
    kind: str
    position: Position


def import_scip(
    store: GraphStore,
    root: Path,
    scip_files: Sequence[ScipFile],
    content_hash: Callable[[bytes], str],
) -> ScipReport:
    """Replace what the index knows from compilers by what these files say.

    Args:
        store: The graph, with all files as they are now.
        root: The tree. Nothing of it is read but the times of files.
        scip_files: The files; what two of them say about one document is added up.
        content_hash: The hash by which the index knows the content of its files.
    """
    reader = _Importer(store, root, content_hash)
    for file in scip_files:
        reader.read_definitions(file)
    for file in scip_files:
        reader.read_references(file)
    store.replace_compiled(reader.compiled_files(max((file.mtime_ns for file in scip_files), default=0)))
    stale = len(reader.stale)
    return ScipReport(len(reader.documents) - stale, stale, len(reader.unknown))


def refuse_own_export(file: ScipFile) -> None:
    """Raise if dowse has written a file: what it found by itself is not a compiler's word."""
    if file.metadata().tool_info.name == OWN_TOOL:
        raise ScipError(f"{file.path} was written by dowse, not by a compiler")


class _Importer:
    """Collects what SCIP files say: first all definitions, then the references to them."""

    def __init__(self, store: GraphStore, root: Path, content_hash: Callable[[bytes], str]) -> None:
        self._store, self._root, self._content_hash = store, root, content_hash
        self._hashes = store.file_hashes()
        self._definitions: defaultdict[str, list[_Definition]] = defaultdict(list)
        self._locals: dict[tuple[str, str], _Definition] = {}
        self._places: defaultdict[str, set[str]] = defaultdict(set)  # symbol → files that define it
        self._members: defaultdict[str, set[str]] = defaultdict(set)  # type → files that define its members
        self._packages: set[str] = set()  # of the symbols that are defined here
        self._defined: defaultdict[str, set[str]] = defaultdict(set)  # path → names
        self._modules: defaultdict[str, set[str]] = defaultdict(set)  # name inside of a module → modules
        self._references: dict[str, CompiledReferences] = {}
        self._needs: defaultdict[str, set[str]] = defaultdict(set)  # path → files that it depends on
        self.documents: dict[str, str] = {}  # path → language of ours
        self.stale: set[str] = set()
        self.unknown: set[str] = set()

    def _documents(self, file: ScipFile) -> Iterator[tuple[str, Message]]:
        """Yield the documents of a file that are in the index, or were, each with its path in the index."""
        refuse_own_export(file)
        prefix = folder_of_project(file.metadata().project_root, self._root)
        for document in file.documents():
            if not is_safe_path(document.relative_path):
                self.unknown.add(document.relative_path)
                continue
            path = prefix + document.relative_path
            # What the index leaves out on purpose, such as generated files, can't be watched for changes.
            if path in self._hashes or not os.path.lexists(self._root / path):
                yield path, document
            else:
                self.unknown.add(path)

    def read_definitions(self, file: ScipFile) -> None:
        """Match the definitions of a SCIP file with our symbols."""
        for path, document in self._documents(file):
            _, language = self._hashes.get(path) or ("", detect_language(path) or "")
            self.documents[path] = language
            source = self._store.source_file(path) if self._is_current(path, document, file) else None
            if source is None:
                self.stale.add(path)
            matched = self._match_definitions(path, document, source)
            for symbol, definition in _earliest(matched):
                if is_local(symbol):
                    self._locals[path, symbol] = definition
                else:
                    self._definitions[symbol].append(definition)

    def _is_current(self, path: str, document: Message, file: ScipFile) -> bool:
        """Whether the index holds a file as the compiler saw it: by its text if known, else by its time."""
        if path not in self._hashes:
            return False
        if document.text:
            return self._hashes[path][0] == self._content_hash(document.text.encode("utf-8", "replace"))
        return not self._is_newer(path, file.mtime_ns)

    def _is_newer(self, path: str, mtime_ns: int) -> bool:
        try:
            return os.lstat(self._root / path).st_mtime_ns > mtime_ns
        except OSError:
            return True

    def _match_definitions(
        self,
        path: str,
        document: Message,
        source: SourceFile | None,
    ) -> list[tuple[str, _Definition]]:
        lines = Lines(source.text, document.position_encoding) if source else None
        by_name: defaultdict[str, list[SourceSymbol]] = defaultdict(list)
        for symbol in source.symbols if source else ():
            if not symbol.part and symbol.kind != "module":
                by_name[symbol.name].append(symbol)
        matched = []
        for occurrence in document.occurrences:
            if not occurrence.symbol_roles & DEFINITION or occurrence.symbol_roles & FORWARD_DEFINITION:
                continue
            name = parse_symbol(occurrence.symbol)
            if name is None:
                continue
            if name.package:
                self._places[occurrence.symbol].add(path)
                self._packages.add(name.package)
                self._members[_type_around(occurrence.symbol)].add(path)
                self._defined[path].add(name.name)
                module, inside = split_module(occurrence.symbol)
                self._modules[inside].add(module)
            position = lines.locate(occurrence) if lines and is_definable(name) else None
            if position is None:
                continue
            ours = _innermost(by_name.get(position.text, ()), position.line, name)
            if ours is not None:
                matched.append((occurrence.symbol, _Definition(path, ours.key, ours.kind, position)))
        return matched

    def read_references(self, file: ScipFile) -> None:
        """Find the targets of the occurrences of a SCIP file."""
        for path, document in self._documents(file):
            for occurrence in document.occurrences:
                self._needs[path] |= self._places.get(occurrence.symbol, set())
            source = None if path in self.stale else self._store.source_file(path)
            if source is None:
                continue
            references = self._references.setdefault(path, CompiledReferences({}, set(), set(), []))
            self._add_sites(path, document, source, references)
            for information in document.symbols:
                self._add_implementations(path, information, references)

    def _add_sites(
        self,
        path: str,
        document: Message,
        source: SourceFile,
        references: CompiledReferences,
    ) -> None:
        lines = Lines(source.text, document.position_encoding)
        ours = {(each.line, each.column): each.name for each in source.references}
        import_lines = {each.line for each in source.references if each.kind == "import"}
        # A local symbol in an import is a name of a module that the compiler did not find; one without a
        # definition is a name that a module passes on (`export … from`): scip-typescript does not follow it.
        defined = {each.symbol for each in document.occurrences if each.symbol_roles & DEFINITION}
        unfound = {
            each.symbol
            for each in document.occurrences
            if is_local(each.symbol)
            and (each.symbol not in defined or (each.range and each.range[0] + 1 in import_lines))
        }
        for occurrence in document.occurrences:
            if occurrence.symbol_roles & (DEFINITION | FORWARD_DEFINITION) or occurrence.symbol in unfound:
                continue
            targets = self._targets(path, occurrence.symbol)
            position = lines.locate(occurrence) if targets is not None else None
            if targets is None or position is None:
                continue
            site = (position.line, position.column)
            if (not targets and site not in ours) or ours.get(site, position.text) != position.text:
                continue
            known = references.sites.setdefault(site, [])
            known += [target for target in targets if target not in known]
            if not targets and self._may_run_ours(occurrence.symbol):
                references.dispatched.add(site)
            if occurrence.symbol_roles & IMPORT or position.line in import_lines:
                references.imports.add(site)

    def _targets(self, path: str, symbol: str) -> list[TargetKey] | None:
        """Return our symbols for one of SCIP: none if it is no symbol of ours, None if that is not known."""
        if is_local(symbol):
            local = self._locals.get((path, symbol))
            return [(local.path, local.key)] if local else []
        if symbol in self._definitions:
            return [(each.path, each.key) for each in self._definitions[symbol]]
        name = parse_symbol(symbol)
        if name is None or not is_definable(name):
            return None
        if symbol in self._places:
            return []
        return None if name.package in self._packages or self._is_installed_copy(symbol) else []

    def _is_installed_copy(self, symbol: str) -> bool:
        """Whether a symbol of another package is one of this tree: its own package can be installed, too."""
        module, inside = split_module(symbol)
        return any(f".{own}".endswith(f".{module}") for own in self._modules.get(inside, ()) if module)

    def _may_run_ours(self, symbol: str) -> bool:
        """Whether a call of what is no symbol of ours may run one: a variable, field or method may."""
        return is_local(symbol) or symbol in self._places or bool(_type_around(symbol))

    def _add_implementations(self, path: str, information: Message, references: CompiledReferences) -> None:
        """Add what a type implements; the overrides of methods follow from that."""
        sources = [each for each in self._definitions.get(information.symbol, ()) if each.path == path]
        for relationship in information.relationships if sources else ():
            if not relationship.is_implementation:
                continue
            for target in self._definitions.get(relationship.symbol, ()):
                if sources[0].kind in TYPE_KINDS and target.kind in TYPE_KINDS:
                    key, (line, column, _) = sources[0].key, sources[0].position
                    references.implementations.append(
                        Implementation(key, line, column, (target.path, target.key))
                    )
                    # Whether it does is decided where its methods are, and those of the interface.
                    for symbol in (information.symbol, relationship.symbol):
                        self._needs[path] |= self._members[symbol]

    def compiled_files(self, mtime_ns: int) -> Iterator[CompiledFile]:
        """Yield what is stored: the documents, and the files beside them that could change what they mean."""
        modules = _modules(self.documents)
        for path, language in self.documents.items():
            source = None if path in self.stale else self._store.source_file(path)
            names = mentioned_names(source, language) if source else set()
            needs = self._needs[path].union(*(modules.get(name, ()) for name in names))
            if "" in names:  # an import of its own folder, or of one above
                needs.update(*(modules.get(folder, ()) for folder in path.split("/")[:-1]))
            references = self._references.get(path, CompiledReferences({}, set(), set(), []))
            yield CompiledFile(
                path,
                language,
                CHANGED_BEFORE if source is None else self._hashes[path][0],
                hash_names({*self._defined[path], module_name(path)}),
                hash_names(names),
                tuple(sorted(needs & self.documents.keys() - {path})),
                b"" if source is None else encode_compiled(references),
            )
        languages = set(self.documents.values())
        for path, (digest, language) in self._hashes.items():
            if path not in self.documents and (language in languages or is_build_file(path)):
                known = CHANGED_BEFORE if self._is_newer(path, mtime_ns) else digest
                yield CompiledFile(path, language, known, b"", b"", (), b"")


def _modules(documents: Mapping[str, str]) -> dict[str, set[str]]:
    """Return the documents that imports can name, by that name."""
    modules: defaultdict[str, set[str]] = defaultdict(set)
    for path, language in documents.items():
        if is_scoped_by_file(language):
            modules[module_name(path)].add(path)
    return modules


def _innermost(symbols: Iterable[SourceSymbol], line: int, name: SymbolName) -> SourceSymbol | None:
    """Return the smallest symbol around a line that can be what is defined there."""
    fitting = [
        each
        for each in symbols
        if each.first <= line <= each.last
        and (name.suffix != "#" or each.kind in TYPE_KINDS)
        and (name.suffix != ")." or each.kind not in TYPE_KINDS)
    ]
    return min(fitting, key=lambda each: (each.last - each.first, -each.first), default=None)


def _earliest(matched: Sequence[tuple[str, _Definition]]) -> Iterator[tuple[str, _Definition]]:
    """Yield the first definition in each of our symbols; a later one of that name is a variable inside."""
    first: dict[str, tuple[int, int]] = {}
    for _, definition in matched:
        at = definition.position[:2]
        first[definition.key] = min(at, first.get(definition.key, at))
    for symbol, definition in matched:
        if definition.position[:2] == first[definition.key]:
            yield symbol, definition


def _type_around(symbol: str) -> str:
    """Return the symbol of the type that a member belongs to."""
    return symbol[: symbol.rfind("#", 0, -1) + 1]
