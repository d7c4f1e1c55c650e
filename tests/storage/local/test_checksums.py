"""No byte of an index can change unnoticed: damage is named, the rest answers, and `repair` mends it."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dowse import Index
from dowse.errors import IndexDamaged
from dowse.services.repair import repair
from dowse.storage.local.integrity import Integrity
from dowse.storage.local.page_sums import damaged_pages, read_page_sums
from dowse.storage.local.page_tables import tables_of_pages

from helpers import age, image, run_dowse, write_tree

FILES = {
    f"m{n}.py": f"def heat_oven_{n}(degrees):\n    '''Heat oven {n}.'''\n    return cool_{n}(degrees)\n\n\n"
    f"def cool_{n}(degrees):\n    return degrees - {n}\n"
    for n in range(40)
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A tree and its index with vectors, in two generations."""
    base = tmp_path_factory.mktemp("checksums")
    root = write_tree(base / "tree", FILES)
    age(root)
    with open_index(root, base / "index") as index:
        index.update()
        (root / "m0.py").write_text(FILES["m0.py"] + "\n\ndef added():\n    return 1\n")
        index.update()
        index.embed()
    return root, base / "index"


@pytest.fixture
def copied(whole, tmp_path):
    """A copy of the index, and the tree."""
    root, folder = whole
    return root, Path(shutil.copytree(folder, tmp_path / "index"))


def open_index(root: Path, folder: Path) -> Index:
    return Index.open(root, index_dir=str(folder), encoder="small", isolation="never", refresh="never")


def flip(path: Path, at: int) -> None:
    """Change one byte in place."""
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 0x10]))


def files_of(folder: Path) -> list[Path]:
    """Return the files that answers are made of."""
    return [
        path
        for path in sorted([*folder.glob("catalog.sqlite"), *(folder / "text").rglob("*")])
        if path.is_file() and path.stat().st_size
    ]


def test_a_flipped_byte_in_any_file_is_named(whole, copied):
    root, folder = copied
    for path in files_of(folder):
        for at in {0, path.stat().st_size // 2, path.stat().st_size - 1}:
            flip(path, at)
            with open_index(root, folder) as index, pytest.raises(IndexDamaged) as raised:
                index.callers("cool_3")
                index.search("heat oven", mode="keyword")
            message = str(raised.value)
            assert "dowse repair" in message and "\n" not in message
            assert path.name in message or at == 0  # SQLite itself refuses a file without its header
            flip(path, at)
    with open_index(root, folder) as index:
        assert index.search("heat oven").hits and index.backend.damage() == []


def test_damage_is_found_while_the_index_is_open(copied):
    root, folder = copied
    with open_index(root, folder) as index:
        assert index.search("heat oven", mode="keyword").hits
        flip(next(folder.rglob("symbols/*.idx")), 40)
        with pytest.raises(IndexDamaged, match=r"\.idx is not what was written"):
            index.search("heat oven", mode="keyword")


def test_what_is_known_to_be_intact_is_read_again_by_doctor(copied):
    """Bits that flip on the disk itself change neither size nor time of a file."""
    root, folder = copied
    with open_index(root, folder) as index:
        index.search("heat oven", mode="keyword")
        path = next(folder.rglob("symbols/*.fieldnorm"))
        flip(path, 60)
        trust_all(folder)
        assert index.search("heat oven", mode="keyword").hits
        (found,) = index.backend.damage()
        assert found.part == "text" and path.name in found.reason


def trust_all(folder: Path) -> None:
    """List all files as intact, as they are now."""
    from dowse.storage.local.integrity import Integrity
    from dowse.storage.local.text_sums import decode_sums

    with closing(sqlite3.connect(folder / "catalog.sqlite")) as database:
        meta = dict(database.execute("SELECT key, value FROM meta"))
    Integrity(folder).trust(int(meta["generation"]), decode_sums(meta["text_sums"]))


def test_words_answer_though_vectors_are_damaged(copied):
    root, folder = copied
    flip(next(folder.rglob("*.rows")), 1000)
    with open_index(root, folder) as index:
        answer = index.search("how is an oven heated")
        assert answer.hits and any("000001.rows: not what was written" in str(note) for note in answer.notes)
        with pytest.raises(IndexDamaged, match="dowse repair"):
            index.search("how is an oven heated", mode="embedding")


def test_search_answers_though_the_call_graph_is_damaged(copied):
    root, folder = copied
    flip(folder / "catalog.sqlite", page_of(folder, "edges") * 4096 - 10)
    with open_index(root, folder) as index:
        assert index.search("heat oven", mode="keyword").hits
        with pytest.raises(IndexDamaged, match="of the call graph"):
            index.callers("cool_3")
        with pytest.raises(IndexDamaged, match="of the call graph"):  # nothing is built upon it
            index.update(rebuild=False)
        assert [each.part for each in index.backend.damage()] == ["graph"]
        repair(index)
        assert [step.symbol.name for step in index.callers("cool_3").steps] == ["heat_oven_3"]


def page_of(folder: Path, table: str) -> int:
    """Return the first page of a table."""
    with closing(sqlite3.connect(f"{(folder / 'catalog.sqlite').as_uri()}?mode=ro", uri=True)) as database:
        (root,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name=?", (table,)).fetchone()
    assert tables_of_pages(folder / "catalog.sqlite", [root]) == {table}
    return int(root)


def test_lost_checksums_are_a_note_and_computed_again(copied):
    root, folder = copied
    for damage in (lambda path: path.unlink(), lambda path: flip(path, 30)):
        damage(folder / "catalog.sqlite.sums")
        with open_index(root, folder) as index:
            answer = index.search("heat oven", mode="keyword")
            assert answer.hits and any("could not be checked" in str(note) for note in answer.notes)
            assert repair(index)[1] == ["computed the checksums of the catalog again"]
            assert not index.search("heat oven", mode="keyword").notes
            assert index.backend.damage() == []


@pytest.mark.parametrize(
    ("pattern", "part", "done"),
    [
        ("vectors/*/*.rows", "vectors", "dropped"),
        ("vectors/*/*.keys", "vectors", "dropped"),
        ("vectors/*/state.json", "vectors", "dropped all vectors"),
        ("vectors/*/clusters.npy", "derived", "removed"),
        ("text/*/symbols/*.term", "text", "from the catalog"),
        ("text/*/files/meta.json", "text", "from the catalog"),
        ("catalog.sqlite", "catalog", "vectors stay"),
    ],
)
def test_repair_mends_what_is_broken_and_nothing_else(copied, pattern, part, done):
    root, folder = copied
    with open_index(root, folder) as index:
        before = image(index), hits(index)
    path = next(folder.glob(pattern))
    others = [each for each in folder.glob("vectors/*/*.rows") if part in ("text", "catalog", "derived")]
    kept = {each: each.read_bytes() for each in others}
    flip(path, 4096 * page_of(folder, "files") - 10 if part == "catalog" else path.stat().st_size // 2)
    with open_index(root, folder) as index:
        damage, did = repair(index)
        assert {each.part for each in damage} == {part} and any(done in line for line in did)
        assert index.backend.damage() == [] and index.backend.check() == []
        assert (image(index), hits(index)) == before
        assert repair(index) == ([], [])
    assert all(each.read_bytes() == data for each, data in kept.items())


def hits(index: Index) -> list[str]:
    """Return hits by words and by meaning, and what a pattern matches.

    Not their scores: in a new text index no deleted symbol counts.
    """
    questions = {"heat oven": "keyword", "how is an oven heated": "embedding", "/cool_1./": "auto"}
    return [
        hit.symbol.qualified_name
        for text, mode in questions.items()
        for hit in index.search(text, k=20, mode=mode).hits
    ]


def test_only_the_damaged_block_of_vectors_is_dropped(tmp_path):
    import numpy as np

    from dowse.vectors.keys import as_keys
    from dowse.vectors.matrix import Matrix
    from dowse.vectors.sums import BLOCK_ROWS
    from dowse.vectors.writer import drop_damaged_rows, matrix_writer

    rows = 3 * BLOCK_ROWS + 10
    vectors = np.random.default_rng(1).standard_normal((rows, 8)).astype(np.float32)
    with matrix_writer(tmp_path, 8) as writer:
        writer.append(as_keys(n.to_bytes(16) for n in range(rows)), vectors)
        writer.commit()
    flip(tmp_path / "000001.scales", 4 * (BLOCK_ROWS + 5))
    os.truncate(tmp_path / "000001.keys", 16 * (rows - 2))  # of the last, which is no whole block
    assert drop_damaged_rows(tmp_path) == (2 * BLOCK_ROWS, BLOCK_ROWS + 10)
    matrix = Matrix.open(tmp_path, 8)
    found = matrix.find(as_keys(n.to_bytes(16) for n in range(rows)))
    assert set(np.flatnonzero(found < 0)) == {*range(BLOCK_ROWS, 2 * BLOCK_ROWS), *range(rows - 10, rows)}


def test_the_commands_name_the_damage_and_mend_it(copied):
    root, folder = copied
    place, settings = (root, "--index-dir", folder), {"DOWSE_ENCODER": "none"}
    path = next(folder.rglob("files/*.term"))
    path.unlink()
    found = run_dowse("search", "heat oven", *place, **settings)
    assert (
        found.returncode == 2 and found.stderr.count("\n") == 1 and f"{path.name} is missing" in found.stderr
    )
    checked = run_dowse("doctor", *place, "--json", **settings)
    assert checked.returncode == 2
    bad = [each for each in json.loads(checked.stdout) if not each["ok"]]
    assert [each["check"] for each in bad] == ["text"] and path.name in bad[0]["detail"]
    mended = run_dowse("repair", *place, **settings)
    assert mended.returncode == 0 and "damaged text" in mended.stdout and "from the catalog" in mended.stdout
    again = run_dowse("repair", *place, **settings)
    assert (again.returncode, again.stdout) == (0, "nothing is damaged\n")
    assert run_dowse("search", "heat oven", *place, **settings).returncode == 0


def test_an_index_of_an_older_format_keeps_its_vectors(copied):
    root, folder = copied
    with closing(sqlite3.connect(folder / "catalog.sqlite")) as database, database:
        database.execute("UPDATE meta SET value='10' WHERE key='format'")
    before = next(folder.rglob("*.rows")).read_bytes()
    with open_index(root, folder) as index:
        index.update()
        assert next(folder.rglob("*.rows")).read_bytes() == before
        assert index.unembedded() == 0 and index.backend.damage() == []


def test_a_log_that_a_killed_writer_left_is_checked(whole, tmp_path):
    """Pages of its last commit are in SQLite's log alone."""
    root = Path(shutil.copytree(whole[0], tmp_path / "tree"))
    folder = Path(shutil.copytree(whole[1], tmp_path / "index"))
    with closing(sqlite3.connect(folder / "catalog.sqlite", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM files").fetchall()
        with open_index(root, folder) as index:
            (root / "m1.py").write_text("def changed():\n    return 1\n")
            index.update()
        left = Path(shutil.copytree(folder, tmp_path / "left", ignore=shutil.ignore_patterns("*-shm")))
    log = left / "catalog.sqlite-wal"
    assert log.stat().st_size
    with open_index(root, left) as index:
        assert index.backend.damage() == [] and index.symbols("changed")
    flip(log, log.stat().st_size // 2)
    (left / "catalog.sqlite-shm").unlink(missing_ok=True)
    with open_index(root, left) as index, pytest.raises(IndexDamaged):
        index.symbols("changed")


def killed_before_its_checksums(monkeypatch: pytest.MonkeyPatch, folder: Path, left: Path) -> None:
    """Let the next writer copy what it would leave behind, killed between a commit and its checksums."""

    def save(self: Integrity, *arguments: object) -> object:
        if not left.exists():
            shutil.copytree(folder, left, ignore=shutil.ignore_patterns("*-shm"))
        return saved(self, *arguments)

    saved = Integrity.save_sums
    monkeypatch.setattr(Integrity, "save_sums", save)


@pytest.mark.parametrize("is_first", [True, False])
def test_checksums_that_a_killed_writer_did_not_write_follow(whole, tmp_path, monkeypatch, is_first):
    root = Path(shutil.copytree(whole[0], tmp_path / "tree"))
    folder, left = tmp_path / "index", tmp_path / "left"
    if not is_first:
        shutil.copytree(whole[1], folder)
    killed_before_its_checksums(monkeypatch, folder, left)
    (root / "m1.py").write_text("def changed():\n    return 1\n")
    with open_index(root, folder) as index:
        index.update()
    assert (left / "catalog.sqlite.sums").exists() != is_first
    (left / "catalog.sqlite.sums.1.new").write_bytes(b"half of th")
    with open_index(root, left) as index:
        assert index.symbols("changed") and index.backend.damage() == []
        with index.backend.writer():  # which commits nothing
            pass
        assert index.backend.damage() == []
        (root / "m2.py").write_text("def changed_too():\n    return 1\n")
        index.update()
        assert index.symbols("changed_too") and index.backend.damage() == []
    sums = read_page_sums(left / "catalog.sqlite")
    assert damaged_pages(left / "catalog.sqlite", sums, commit=sums.commit) == ([], [])
    assert not list(left.glob("*.new"))


def test_what_a_killed_process_was_writing_is_removed_with_the_index(copied):
    root, folder = copied
    for name in ("catalog.sqlite.sums.1.new", "verified.json.2.new"):
        (folder / name).touch()
    with open_index(root, folder) as index:
        index.backend.clear()
        assert not folder.exists()


def test_a_commit_that_was_torn_by_a_power_cut_did_not_happen(whole, tmp_path, monkeypatch):
    root = Path(shutil.copytree(whole[0], tmp_path / "tree"))
    folder = Path(shutil.copytree(whole[1], tmp_path / "index"))
    left = tmp_path / "left"
    killed_before_its_checksums(monkeypatch, folder, left)
    (root / "m1.py").write_text("def changed():\n    return 1\n")
    with open_index(root, folder) as index:
        index.update()
    flip(left / "catalog.sqlite-wal", 100)  # in its first page; the commit is marked in the last
    with open_index(root, left) as index:
        assert not index.symbols("changed") and index.backend.damage() == []
        index.update()
        assert index.symbols("changed") and index.backend.damage() == []
