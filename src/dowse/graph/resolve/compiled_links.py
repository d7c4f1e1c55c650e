"""Puts the references of a compiler's index in the place of our own at the same positions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

from dowse.graph.lookups import Lookups
from dowse.graph.resolve.values import EDGE_KINDS
from dowse.graph.scip.compiled import CompiledReferences
from dowse.storage.protocol import (
    BY_COMPILER,
    FileSymbol,
    NamedReference,
    ResolvedReference,
    Target,
    UnlinkedFile,
)
from dowse.types import TYPE_KINDS, Reference


class Links(NamedTuple):
    """The references of a file: resolved ones, and those of which only the name is known."""

    resolved: list[ResolvedReference]
    named: list[NamedReference]


def replace_by_compiled(
    links: Links,
    compiled: CompiledReferences,
    file: UnlinkedFile,
    lookups: Lookups,
    constructor_names: tuple[str, ...],
    owner_of: Callable[[Reference], int],
) -> Links:
    """Return the links of a file with those of the compiler in place of ours.

    Args:
        links: Ours.
        compiled: The compiler's, which still hold.
        file: The file.
        lookups: Finds the targets.
        constructor_names: Names of constructors, beside that of the class.
        owner_of: Returns the index of the symbol around a reference, -1 for none.
    """
    sites = compiled.sites
    kept = Links(
        [each for each in links.resolved if (each.line, each.column) not in sites],
        [each for each in links.named if (each.line, each.column) not in sites],
    )
    # Where the compiler names a variable, or a method outside the index, one of ours may still run.
    outside = {site for site in compiled.dispatched if not sites[site]}
    kept.resolved.extend(_as_possible(e) for e in links.resolved if (e.line, e.column) in outside)
    kept.named.extend(
        each._replace(reason=each.reason or "inherited")
        for each in links.named
        if (each.line, each.column) in outside
    )
    compiler = _CompiledLinks(file, lookups, constructor_names)
    references: defaultdict[tuple[int, int], list[Reference]] = defaultdict(list)
    for reference in file.references:
        references[reference.line, reference.column].append(reference)
    for site, keys in sites.items():
        targets = [target for target in (lookups.compiled_target(*key) for key in keys) if target]
        for reference in references.get(site, ()):
            owner = owner_of(reference)
            if owner >= 0:
                kept.resolved.extend(compiler.links(file.symbols[owner], site, reference.kind, targets))
        if site not in references and targets and (owner_symbol := compiler.symbol_around(site[0])):
            kind = "import" if site in compiled.imports else "use"
            kept.resolved.extend(compiler.links(owner_symbol, site, kind, targets))
    kept.resolved.extend(compiler.implementations(compiled, kept))
    return kept


def _as_possible(link: ResolvedReference) -> ResolvedReference:
    """Return a call that we were certain of as one that may run the target as a value."""
    return link._replace(candidates=0) if link.kind == "calls" and link.candidates == 1 else link


class _CompiledLinks:
    """Makes links of what the compiler says about one file."""

    def __init__(self, file: UnlinkedFile, lookups: Lookups, constructor_names: tuple[str, ...]) -> None:
        self._file, self._lookups, self._constructor_names = file, lookups, constructor_names
        # The smallest last, so that it wins.
        self._symbols = sorted(file.symbols, key=lambda each: each.first - each.last)

    def links(
        self, source: FileSymbol, site: tuple[int, int], kind: str, targets: list[Target]
    ) -> Iterator[ResolvedReference]:
        """Yield the links of one reference."""
        for target in targets:
            edge_kind = EDGE_KINDS[kind]
            if target.kind == "module" or (edge_kind == "uses" and self._is_inside(source, target)):
                continue
            if edge_kind in ("extends", "implements") and target.kind not in TYPE_KINDS:
                edge_kind = "uses"
            if kind == "value":  # who gets it may call it
                yield ResolvedReference(source.row, *site, "calls", target.row, 0)
            if edge_kind == "calls" and (kind == "value" or target.kind == "constant"):
                edge_kind = "uses"  # what a constant holds is not known
            yield ResolvedReference(source.row, *site, edge_kind, target.row, BY_COMPILER)
            if edge_kind == "calls":
                others = self._same_call(target)
                for other in others:
                    yield ResolvedReference(source.row, *site, edge_kind, other.row, len(others))

    def _is_inside(self, source: FileSymbol, target: Target) -> bool:
        """Whether a symbol mentions itself, or the type that it is a member of."""
        return target.path == self._file.path and (
            source.row == target.row or source.qualified_name.startswith(target.qualified_name + ".")
        )

    def _same_call(self, target: Target) -> list[Target]:
        """Return the constructors that a call of a class runs, or the class of a constructor."""
        members = self._lookups.compiled_targets(target.path).values()
        parent, _, name = target.qualified_name.rpartition(".")
        if target.kind not in TYPE_KINDS:
            is_constructor = name in (*self._constructor_names, parent.rpartition(".")[2])
            types = [each for each in members if each.kind in TYPE_KINDS]
            return [each for each in types if is_constructor and each.qualified_name == parent]
        names = {f"{target.qualified_name}.{each}" for each in (*self._constructor_names, name)}
        return [each for each in members if each.qualified_name in names and each.kind not in TYPE_KINDS]

    def symbol_around(self, line: int) -> FileSymbol | None:
        """Return the smallest symbol around a line."""
        around = [each for each in self._symbols if each.first <= line <= each.last]
        if not around:
            return None
        parts = [each for each in self._file.symbols if each.qualified_name == around[-1].qualified_name]
        return parts[0]  # of one that is stored in parts, the first counts

    def implementations(self, compiled: CompiledReferences, links: Links) -> Iterator[ResolvedReference]:
        """Yield what types implement without saying so where they are declared."""
        own = self._lookups.compiled_targets(self._file.path)
        inherits = ("extends", "implements")
        known = {(each.source, each.target) for each in links.resolved if each.kind in inherits}
        for source, line, column, target_key in compiled.implementations:
            target = self._lookups.compiled_target(*target_key)
            if target and source in own and (own[source].row, target.row) not in known:
                known.add((own[source].row, target.row))
                yield ResolvedReference(own[source].row, line, column, "implements", target.row, BY_COMPILER)
