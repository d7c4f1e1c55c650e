"""SCIP files through whole updates: whose word counts where, and what hostile files do."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from dowse import Index
from dowse.errors import DowseError
from dowse.graph.scip import reading
from dowse.graph.scip.schema import IMPORT, UTF8, UTF16, UTF32
from dowse.interfaces.cli.main import main
from graph.scip.builder import ScipBuilder, package_symbol

from helpers import write_tree

ROOMS = """class Room:
    def close(self):
        pass


class Door:
    def close(self):
        pass
"""
HOUSE = """import os
from rooms import Room


def leave(thing):
    thing.close()
    os.close(3)
    later(thing.close)
    return Room()
"""
CLOSE = package_symbol("rooms/Room#close().")
ROOM = package_symbol("rooms/Room#")


def make_scip(path: Path, **options: object) -> Path:
    builder = ScipBuilder(**options)
    rooms = builder.document("rooms.py", ROOMS)
    rooms.define(1, "Room", ROOM).define(2, "close", CLOSE)
    rooms.define(6, "Door", package_symbol("rooms/Door#"))
    rooms.define(7, "close", package_symbol("rooms/Door#close()."))
    house = builder.document("house.py", HOUSE)
    house.define(5, "leave", package_symbol("house/leave()."))
    house.mark(2, "Room", ROOM, IMPORT).mark(6, "close", CLOSE).mark(8, "close", CLOSE).mark(9, "Room", ROOM)
    house.mark(7, "close", "compiler pip python-stdlib 3 os/close().")
    return builder.write(path)


@pytest.fixture
def index(tmp_path):
    root = write_tree(tmp_path / "house", {"rooms.py": ROOMS, "house.py": HOUSE})
    with Index.open(root, encoder="none") as opened:
        yield opened


def edges(index: Index) -> set[tuple[str, str, str, int, str]]:
    """Kind, source, target, line and confidence of every edge."""
    with index.backend.reader() as reader:
        rows = {row.row: row for row in reader.rows_of_files([file.file_id for file in reader.files()])}
        return {
            (e.kind, rows[e.source].qualified_name, rows[e.target].qualified_name, e.line, e.confidence)
            for e in reader.edges(list(rows), limit=1 << 30)
        }


def compiled(index: Index) -> set[tuple[str, str, str, int]]:
    return {edge[:4] for edge in edges(index) if edge[4] == "compiler"}


def test_the_compiler_replaces_our_own_resolution(index, tmp_path):
    index.update()
    before = edges(index)
    assert {edge[2] for edge in before if edge[3] == 6} == {"Room.close", "Door.close"}  # a guess
    report = index.update(scip=[make_scip(tmp_path / "a.scip")])
    assert report.notes == ("a.scip: 2 files as the compiler saw them",)
    after = edges(index)
    assert {edge for edge in after if edge[3] == 6} == {("calls", "leave", "Room.close", 6, "compiler")}
    assert not {edge for edge in after if edge[3] == 7}, "os.close is outside the index"
    assert ("uses", "leave", "Room.close", 8, "compiler") in after, "a method that is passed on"
    assert ("calls", "leave", "Room", 9, "compiler") in after
    assert ("imports", "house", "Room", 2, "compiler") in after


def test_the_answer_says_who_knows(index, tmp_path, capsys):
    index.update(scip=[make_scip(tmp_path / "a.scip")])
    assert main(["callers", "Room.close", str(index.root)]) == 0
    assert "calls, by the compiler" in capsys.readouterr().out
    assert [step.confidence for step in index.callers("Room.close")] == ["compiler"]


def test_an_index_in_the_root_is_used_by_itself(index):
    make_scip(index.root / "index.scip")
    index.update()
    assert compiled(index)
    assert not index.changes().scip_changed
    (index.root / "index.scip").unlink()
    assert index.changes().scip_changed
    index.update()
    assert not compiled(index)


def test_a_file_that_was_named_is_remembered_and_read_again(index, tmp_path):
    file = make_scip(tmp_path / "a.scip")
    index.update(scip=[file])
    wanted = compiled(index)
    index.update(rebuild=True)
    assert compiled(index) == wanted, "a rebuild forgets no name"
    with sqlite3.connect(index.backend.folder / "catalog.sqlite") as catalog:
        catalog.execute("UPDATE meta SET value='1' WHERE key='format'")
    (index.backend.folder / "catalog.sqlite.sums").unlink()  # as before there were checksums
    index.update()
    assert compiled(index) == wanted, "nor does that of an index of an older format"
    ScipBuilder().write(file)
    assert index.changes().scip_changed
    index.update()
    assert not compiled(index)
    make_scip(file)
    index.update()
    assert compiled(index) == wanted
    file.unlink()
    assert not index.changes().scip_changed
    index.update()
    assert compiled(index) == wanted, "what was read stays"
    index.update(rebuild=True)
    assert not compiled(index), "it can't be read again"


def test_a_name_whose_module_the_compiler_did_not_find_is_ours(index, tmp_path):
    builder = ScipBuilder()
    house = builder.document("house.py", HOUSE)
    house.define(2, "Room", "local 1").mark(9, "Room", "local 1")
    index.update(scip=[builder.write(tmp_path / "a.scip")])
    assert ("calls", "leave", "Room", 9, "resolved") in edges(index)


def test_a_local_name_without_a_definition_is_ours(index, tmp_path):
    builder = ScipBuilder()
    builder.document("house.py", HOUSE).mark(9, "Room", "local 1")  # as of a name that a module passes on
    index.update(scip=[builder.write(tmp_path / "a.scip")])
    assert ("calls", "leave", "Room", 9, "resolved") in edges(index)


def test_an_installed_copy_of_the_project_is_the_project(index, tmp_path):
    builder = ScipBuilder()
    rooms = builder.document("rooms.py", ROOMS)
    rooms.define(1, "Room", package_symbol("`src.rooms`/Room#", "checkout"))
    house = builder.document("house.py", HOUSE)
    house.mark(9, "Room", package_symbol("rooms/Room#", "house-rooms"))
    index.update(scip=[builder.write(tmp_path / "a.scip")])
    assert ("calls", "leave", "Room", 9, "resolved") in edges(index)


def test_a_stale_file_falls_back_to_our_own_resolution(index, tmp_path):
    file = make_scip(tmp_path / "a.scip")
    index.update(scip=[file])
    (index.root / "house.py").write_text("\n" + HOUSE)
    index.update()
    assert not compiled(index)
    assert {edge[2] for edge in edges(index) if edge[3] == 7} == {"Room.close", "Door.close"}
    (index.root / "house.py").write_text(HOUSE)
    index.update()
    assert compiled(index), "it is again what was compiled"


def test_without_texts_the_times_decide(index, tmp_path):
    builder = ScipBuilder()
    rooms = builder.document("rooms.py", ROOMS, with_text=False)
    rooms.define(1, "Room", ROOM).define(2, "close", CLOSE)
    builder.document("house.py", HOUSE, with_text=False).mark(6, "close", CLOSE)
    file = builder.write(tmp_path / "a.scip")
    for path in ("house.py", "rooms.py"):
        os.utime(index.root / path, ns=(1, 1))
    index.update(scip=[file])
    assert compiled(index)
    os.utime(file, ns=(0, 0))
    index.update(scip=[file])
    assert not compiled(index)


@pytest.mark.parametrize("encoding", [UTF8, UTF16, UTF32])
def test_columns_are_read_in_their_units(tmp_path, encoding):
    text = 'def ring():\n    pass\n\n\ndef answer():\n    return "🚀 é", other.ring()\n'
    root = write_tree(tmp_path / "bell", {"bell.py": text})
    builder = ScipBuilder(encoding)
    ring = package_symbol("bell/ring().")
    builder.document("bell.py", text).define(1, "ring", ring).mark(6, "ring", ring)
    with Index.open(root, encoder="none") as index:
        index.update(scip=[builder.write(tmp_path / "a.scip")])
        assert compiled(index) == {("calls", "answer", "ring", 6)}


def test_columns_without_units_count_only_where_they_are_clear(tmp_path):
    text = (
        'def ring():\n    pass\n\n\ndef answer():\n    return "🚀", x.ring()\n\n\ndef plain():\n    ring()\n'
    )
    root = write_tree(tmp_path / "bell", {"bell.py": text})
    builder = ScipBuilder(encoding=0)
    ring = package_symbol("bell/ring().")
    builder.document("bell.py", text).define(1, "ring", ring).mark(6, "ring", ring).mark(10, "ring", ring)
    with Index.open(root, encoder="none") as index:
        index.update(scip=[builder.write(tmp_path / "a.scip")])
        assert compiled(index) == {("calls", "plain", "ring", 10)}


def test_typed_ranges_and_implementations(tmp_path):
    text = "class Shape:\n    pass\n\n\nclass Circle:\n    pass\n\n\ndef draw():\n    Circle()\n"
    root = write_tree(tmp_path / "shapes", {"shapes.py": text})
    builder = ScipBuilder()
    shape, circle = package_symbol("s/Shape#"), package_symbol("s/Circle#")
    document = builder.document("shapes.py", text).define(1, "Shape", shape).define(5, "Circle", circle)
    document.implements(circle, shape)
    occurrence = document.message.occurrences.add(symbol=circle)
    occurrence.single_line_range.line, occurrence.single_line_range.start_character = 9, 4
    occurrence.single_line_range.end_character = 10
    with Index.open(root, encoder="none") as index:
        index.update(scip=[builder.write(tmp_path / "a.scip")])
        assert compiled(index) == {("calls", "draw", "Circle", 10), ("implements", "Circle", "Shape", 5)}
        assert [step.symbol.name for step in index.implementers("Shape")] == ["Circle"]


def test_an_index_of_a_part_of_the_repository(tmp_path):
    text = "def ring():\n    pass\n\n\nx.ring()\n"
    root = write_tree(tmp_path / "all", {"part/bell.py": text, "bell.py": "def ring():\n    pass\n"})
    builder = ScipBuilder(root=f"file://{root}/part")
    ring = package_symbol("bell/ring().")
    builder.document("bell.py", text).define(1, "ring", ring).mark(5, "ring", ring)
    with Index.open(root, encoder="none") as index:
        index.update(scip=[builder.write(tmp_path / "a.scip")])
        assert compiled(index) == {("calls", "bell", "ring", 5)}


# Hostile files


def hostile_documents() -> list[ScipBuilder]:
    """Files that are well-formed and make no sense."""
    builders = []
    for path in ("../secret.py", "/etc/passwd", "a/../../b.py", "nul\0.py", ""):
        builder = ScipBuilder()
        builder.document(path, "x = 1\n").define(1, "x", package_symbol("x."))
        builders.append(builder)
    for span in ([-1, 0, 3], [0, -5, 3], [0, 9, 2], [5, 400, 404], [2**31 - 1, 0, 1], [0, 0], [], [0] * 5):
        builder = ScipBuilder(UTF16)
        document = builder.document("house.py", HOUSE)
        for roles in (0, 1):
            document.message.occurrences.add(range=span, symbol=CLOSE, symbol_roles=roles)
        builders.append(builder)
    for symbol in ("", "local", "a b", "a b c d ", " " * 5000, "x" * 20_000):
        builder = ScipBuilder(99)
        builder.document("house.py", HOUSE).define(5, "leave", symbol).mark(6, "close", symbol)
        builders.append(builder)
    return builders


@pytest.mark.parametrize("number", range(len(hostile_documents())))
def test_senseless_documents_are_skipped(index, tmp_path, number):
    index.update(scip=[hostile_documents()[number].write(tmp_path / "a.scip")])
    assert not compiled(index)


@pytest.mark.parametrize(
    "content", [b"\xff" * 50, b"\x12", b"\x12\xff\xff\xff\xff\x0f", b"not scip at all", b"\0"]
)
def test_what_is_no_scip_file_is_one_line(index, tmp_path, capsys, content):
    file = tmp_path / "bad.scip"
    file.write_bytes(content)
    assert main(["index", str(index.root), "--no-embed", "--scip", str(file)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not index.exists
    (index.root / "index.scip").write_bytes(content)
    assert main(["index", str(index.root), "--no-embed"]) == 0
    assert "it is not used" in capsys.readouterr().err
    assert not compiled(index)


def test_every_truncation_is_an_error_or_a_smaller_index(index, tmp_path):
    whole = make_scip(tmp_path / "a.scip").read_bytes()
    wanted = None
    for length in range(0, len(whole) + 1, 7):
        (tmp_path / "a.scip").write_bytes(whole[:length])
        try:
            index.update(scip=[tmp_path / "a.scip"])
        except DowseError as error:
            assert "\n" not in str(error)
        wanted = compiled(index)
        assert all(line in (2, 6, 8, 9) for *_, line in wanted)


def test_limits_of_size(index, tmp_path, monkeypatch):
    file = make_scip(tmp_path / "a.scip")
    for name, value in (("MAX_FILE_BYTES", 10), ("MAX_DOCUMENT_BYTES", 10), ("MAX_DOCUMENTS", 1)):
        with monkeypatch.context() as patch:
            patch.setattr(reading, name, value)
            with pytest.raises(reading.ScipError):
                index.update(scip=[file])


def test_links_and_folders_in_the_root_are_not_followed(index, tmp_path):
    make_scip(tmp_path / "a.scip")
    (index.root / "index.scip").symlink_to(tmp_path / "a.scip")
    index.update()
    assert not compiled(index)
    (index.root / "index.scip").unlink()
    (index.root / "index.scip").mkdir()
    index.update()
    assert not compiled(index)


def test_our_own_export_is_no_compilers_word(index, tmp_path):
    with pytest.raises(DowseError, match="written by dowse"):
        index.update(scip=[make_scip(tmp_path / "a.scip", tool="dowse")])


def test_a_cluster_and_a_corpus_take_none(index, tmp_path, capsys):
    file = make_scip(tmp_path / "a.scip")
    flags = ["--backend", "elastic://localhost:1/x", "--scip", str(file)]
    assert main(["index", str(index.root), *flags]) == 2
    assert "takes no SCIP files" in capsys.readouterr().err
    corpus = tmp_path / "c.jsonl"
    corpus.write_text('{"code": "def f(): pass", "func_name": "f"}\n')
    with Index.open(corpus, encoder="none") as opened, pytest.raises(DowseError, match="takes no SCIP"):
        opened.update(scip=[file])
