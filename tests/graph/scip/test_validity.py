"""After edits, nothing stale is shown as the compiler's word, and an update equals a rebuild."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from dowse.config import Settings
from dowse.indexing.update import update
from dowse.storage.local.backend import LocalBackend
from graph.scip.builder import ScipBuilder, package_symbol
from graph.scip.programs import Program

from helpers import write_tree


def compiled_calls(folder: Path) -> set[tuple[str, int, str]]:
    """File, line and target of every call by the compiler."""
    with LocalBackend(folder).reader() as reader:
        rows = {row.row: row for row in reader.rows_of_files([file.file_id for file in reader.files()])}
        return {
            (rows[e.source].path, e.line, f"{rows[e.target].path}:{rows[e.target].qualified_name}")
            for e in reader.edges(list(rows), ("calls",), limit=1 << 30)
            if e.confidence == "compiler" and rows[e.source].name.startswith("run_")
        }


def all_edges(folder: Path) -> list[tuple[object, ...]]:
    with LocalBackend(folder).reader() as reader:
        rows = {row.row: row for row in reader.rows_of_files([file.file_id for file in reader.files()])}
        found = reader.edges(list(rows), limit=1 << 30)
        return sorted((rows[e.source].key, rows[e.target].key, *e[:1], *e[4:]) for e in found)


@pytest.mark.parametrize("seed", range(2))
def test_random_edits_leave_nothing_stale(tmp_path, seed):
    rng = random.Random(seed)
    program = Program.random(rng)
    root, folder, scip = tmp_path / "tree", tmp_path / "index", tmp_path / "a.scip"
    write_tree(root, program.files())
    update(LocalBackend(folder), root, Settings(), scip=[program.scip().write(scip)])
    assert compiled_calls(folder) == program.truth()
    kept = 0
    for number in range(25):
        program.edit(rng)
        write_tree(root, program.files())
        update(LocalBackend(folder), root, Settings())
        shown = compiled_calls(folder)
        assert shown <= program.truth(), f"after edit {number}"
        kept += bool(shown)
        if number % 10 == 9:
            fresh = tmp_path / f"fresh{number}"
            update(LocalBackend(fresh), root, Settings(), scip=[scip])
            assert all_edges(folder) == all_edges(fresh), f"after edit {number}"
        if number % 10 == 4:  # the compiler runs again
            update(LocalBackend(folder), root, Settings(), scip=[program.scip().write(scip)])
            assert compiled_calls(folder) == program.truth()
    assert kept > 5, "some of it must survive some edits"


GO = {
    "go.mod": "module shop\n",
    "base.go": "package shop\n\ntype Base struct{}\n\nfunc (b Base) Close() {}\n",
    "door.go": "package shop\n\ntype Door struct{ Base }\n",
    "use.go": "package shop\n\nfunc Use(d Door) {\n\td.Close()\n}\n",
}


def go_scip() -> ScipBuilder:
    builder = ScipBuilder()
    base, close = package_symbol("shop/Base#"), package_symbol("shop/Base#Close().")
    door = package_symbol("shop/Door#")
    documents = {path: builder.document(path, text) for path, text in GO.items() if path.endswith(".go")}
    documents["base.go"].define(3, "Base", base).define(5, "Close", close)
    documents["door.go"].define(3, "Door", door).mark(3, "Base", base)
    documents["use.go"].define(3, "Use", package_symbol("shop/Use().")).mark(3, "Door", door)
    documents["use.go"].mark(4, "Close", close)
    return builder


@pytest.mark.parametrize(
    ("path", "text", "holds"),
    [
        ("other.go", "package shop\n\nfunc (d Door) Close() {}\n", False),  # a new file hides the method
        ("other.go", "package shop\n\nfunc Unrelated() {}\n", True),
        ("door.go", GO["door.go"] + "\nfunc (d Door) Close() {}\n", False),
        ("base.go", GO["base.go"].replace("{}\n\nf", "{}\n\n\nf"), False),
        ("go.mod", "module other\n", False),
        ("notes.md", "Close the Door\n", True),
    ],
)
def test_what_can_change_a_meaning(tmp_path, path, text, holds):
    root, folder = write_tree(tmp_path / "tree", GO), tmp_path / "index"
    scip = go_scip().write(tmp_path / "a.scip")
    for name in GO:
        os.utime(root / name, ns=(1, 1))

    def calls(index: Path) -> bool:
        with LocalBackend(index).reader() as reader:
            rows = [row.row for row in reader.rows_of_files([file.file_id for file in reader.files()])]
            edges = reader.edges(rows, ("calls",))
        return any(edge.confidence == "compiler" for edge in edges)

    update(LocalBackend(folder), root, Settings(), scip=[scip])
    assert calls(folder)
    (root / path).write_text(text)
    os.utime(root / path, ns=(scip.stat().st_mtime_ns + 1_000_000,) * 2)
    update(LocalBackend(folder), root, Settings())
    assert calls(folder) is holds
    update(LocalBackend(tmp_path / "fresh"), root, Settings(), scip=[scip])
    assert all_edges(folder) == all_edges(tmp_path / "fresh")
