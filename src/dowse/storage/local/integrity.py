"""Whether the files of an index are what was written: checked before anything is read from them."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.security.checked_files import VerifiedFiles, stamps
from dowse.storage.local import layout
from dowse.storage.local.page_sums import (
    LOG,
    SUMS,
    LoggedPages,
    PageSums,
    damaged_pages,
    is_all_in_log,
    read_page_sums,
    sums_after_commit,
    write_page_sums,
)
from dowse.storage.local.page_tables import tables_of_pages
from dowse.storage.local.text_sums import TEXT_SUMS, Sums, decode_sums, text_problems
from dowse.write_lock import lock_holder

if TYPE_CHECKING:
    from dowse.storage.local.catalog import Catalog

# What seemed wrong so far, with what that depends on: the same again is no coincidence.
Doubts = list[object]
# The key of the number of the last commit in the catalog's table `meta`.
COMMIT = "commit"
# Without these, everything but the call graph can be answered.
GRAPH_TABLES = frozenset("refs facts marks lookups edges named graph_todo graph_changed graph_names".split())
_CATALOG_FILES = tuple(layout.CATALOG + ending for ending in ("", LOG, SUMS))
_SHOWN_PAGES = 3


@dataclass(frozen=True, slots=True)
class CatalogState:
    """What a check of the catalog found."""

    problem: str = ""  # why it can't answer, "" if it can
    graph: str = ""  # why the call graph can't
    note: str = ""  # why it could not be checked

    @property
    def problems(self) -> list[str]:
        """All of it."""
        return [text for text in (self.problem, self.graph, self.note) if text]


class Integrity:
    """Checks the catalog and the text indexes of one index folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._catalog = layout.catalog_path(folder)
        self._verified = VerifiedFiles(folder)
        self._last: tuple[object, CatalogState] | None = None

    def check_catalog(self, catalog: Catalog, doubts: Doubts, *, whole: bool = False) -> CatalogState | None:
        """Return the state of the catalog; None if it seems damaged: a newer snapshot has to confirm that.

        A writer may have committed since the snapshot was taken. `whole` reads all of it in any case.
        """
        found = stamps(self._folder, _CATALOG_FILES)
        if not whole:
            last = self._last
            if last and last[0] == found:
                return last[1]
            if self._verified.has("catalog", found):
                return CatalogState()
        state, evidence = self._inspect(catalog)
        if state.problems:
            evidence = (evidence, found, state)
            if evidence not in doubts or stamps(self._folder, _CATALOG_FILES) != found:
                doubts.append(evidence)
                return None
        elif evidence is None:
            return state
        else:
            self._verified.add({"catalog": found})
        self._last = (found, state)
        return state

    def _inspect(self, catalog: Catalog) -> tuple[CatalogState, object]:
        """Read all pages; return what was found with what it depends on, None if it will change by itself."""
        commit = read_commit(catalog.meta())
        if commit is None:
            return CatalogState("the number of its last commit can't be read"), ()
        name = layout.CATALOG + SUMS
        try:
            sums = read_page_sums(self._catalog)
        except (ValueError, OSError) as error:
            return CatalogState(note=f"{name} can't be used: {error}"), commit
        uses_log = not catalog.is_immutable
        if sums is None:
            if uses_log and is_all_in_log(self._catalog):  # its first writer was killed before it wrote them
                return CatalogState(), None
            return CatalogState(note=f"{name} is missing"), commit
        if sums.commit > commit and uses_log:
            return CatalogState(f"commit {sums.commit} is lost, the last one is {commit}"), commit
        pages, in_log = damaged_pages(self._catalog, sums, commit=commit, uses_log=uses_log)
        if in_log and lock_holder(self._folder) is not None:  # the next commit is being written
            in_log, sums = [], replace(sums, commit=0)
        evidence = (commit, sums.commit)
        if pages or in_log:
            return self._damage(catalog, pages, in_log), evidence
        if sums.commit != commit and not (uses_log and len(LoggedPages(self._catalog))):
            return CatalogState(note=f"{name} is of another commit"), evidence
        return CatalogState(), evidence if sums.commit == commit else None

    def _damage(self, catalog: Catalog, pages: list[int], in_log: list[int]) -> CatalogState:
        name = layout.CATALOG + (LOG if in_log else "")
        pages = in_log or pages
        shown = ", ".join(map(str, pages[:_SHOWN_PAGES])) + (" …" if len(pages) > _SHOWN_PAGES else "")
        where = f"{name}, page{'s' * (len(pages) > 1)} {shown}"
        if catalog.is_immutable or not len(LoggedPages(self._catalog)):
            tables = tables_of_pages(self._catalog, pages)
            if tables and tables <= GRAPH_TABLES:
                return CatalogState(graph=f"{where} of the call graph: not what was written")
        return CatalogState(f"{where}: not what was written")

    def text_sums(self, catalog: Catalog) -> Sums:
        """Return the checksums of the text indexes; raises IndexDamaged if they can't be read."""
        sums = decode_sums(catalog.meta().get(TEXT_SUMS, "{}"))
        if sums is None:
            raise layout.damage_error(self._folder, "the checksums of its text can't be read")
        return sums

    def text_problems(self, generation: int, sums: Sums, *, whole: bool = False) -> list[str]:
        """Return what is wrong with the text indexes of a generation; `whole` reads all in any case."""
        folder = layout.generation_path(self._folder, generation)
        return text_problems(folder, sums, None if whole else self._verified)

    def refuse_damage(
        self, catalog: Catalog, generation: int, *, ignore_text: bool = False
    ) -> PageSums | None:
        """Raise IndexDamaged for what a writer must not build upon; return the checksums of the pages.

        The caller holds the write lock, so that nothing changes meanwhile.
        """
        if not generation:
            return None
        doubts: Doubts = []
        state = self.check_catalog(catalog, doubts) or self.check_catalog(catalog, doubts)
        if state is None or state.problem or state.graph:
            reason = state.problem or state.graph if state else "it changes while it is locked"
            raise layout.damage_error(self._folder, reason)
        problems = self.text_problems(generation, self.text_sums(catalog))
        if problems and not ignore_text:
            raise layout.damage_error(self._folder, problems[0])
        commit = read_commit(catalog.meta()) or 0
        if state.note:  # of a catalog that is whole, as far as SQLite can tell
            problems = catalog.quick_check()
            if problems:
                raise layout.damage_error(self._folder, problems[0])
            return self.save_sums(None, commit)
        sums = read_page_sums(self._catalog)
        if sums is None or sums.commit < commit:  # a writer was killed before it could write them
            return self.save_sums(sums, commit)
        return sums

    def save_sums(self, before: PageSums | None, commit: int) -> PageSums:
        """Write the checksums of the pages after a commit, before its log goes into the catalog."""
        sums = sums_after_commit(self._catalog, before, commit)
        write_page_sums(self._catalog, sums)
        return sums

    def trust(self, generation: int, sums: Sums) -> None:
        """Record that all files are as they were just written."""
        text = [f"{layout.TEXT}/{generation:06d}/{name}" for name in sums]
        known = {"catalog": stamps(self._folder, _CATALOG_FILES), "text": stamps(self._folder, text)}
        self._verified.add(known)


def read_commit(meta: dict[str, str]) -> int | None:
    """Return the number of the last commit; None if it is damaged."""
    number, _, checksum = meta.get(COMMIT, "").partition(" ")
    return int(number) if number.isdigit() and checksum == _checksum(number) else None


def encode_commit(number: int) -> str:
    """Return the number of a commit as it is stored: with a checksum, as all others depend on it."""
    return f"{number} {_checksum(str(number))}"


def _checksum(number: str) -> str:
    return f"{zlib.crc32(number.encode()):08x}"
