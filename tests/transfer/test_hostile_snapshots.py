"""Malicious snapshots are refused in one line, before anything is written."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from archive_mutations import HOSTILE, Frames, as_json, bomb_frames, build_snapshot
from archive_targets import (
    ENCODER,
    PRINT_PEAK,
    read_header,
    small_snapshot,
    use_snapshot,
    written_outside,
)
from dowse import Index
from dowse.damage import BrokenBlock
from dowse.errors import DowseError
from dowse.storage.compression import pack, unpack
from dowse.transfer.checks import BrokenSnapshot
from dowse.transfer.export_snapshot import export
from dowse.transfer.frames import FrameWriter
from dowse.transfer.import_snapshot import import_snapshot
from dowse.transfer.validate import open_snapshot

from helpers import image, run_dowse, write_tree

Change = Callable[[Any], None]
BARE = {"a.py": "def a(): return 1\n"}
# Values that stand for JSON which breaks parsers; one key twice is no more than odd.
BROKEN_JSON = [
    each for each in HOSTILE if isinstance(each, str) and each[:1] == "\x01" and "twice" not in each
]
_MEASURE = """
import sys
from pathlib import Path
from dowse.errors import DowseError
from dowse.transfer.validate import open_snapshot
try:
    with open_snapshot(Path(sys.argv[1])) as (_, header):
        print(header.files)
except DowseError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Frames:
    """A good snapshot, frame by frame."""
    return small_snapshot(tmp_path_factory.mktemp("good"))


def changed(frames: Frames, kind: bytes, change: Change) -> bytes:
    """Return a snapshot in which the first frame of a kind says something else."""
    index = next(i for i, frame in enumerate(frames) if frame[0] == kind)
    value = json.loads(frames[index][1])
    change(value)
    return build_snapshot([*frames[:index], (kind, as_json(value)), *frames[index + 1 :]])


def set_field(name: str, value: object) -> Change:
    def change(said: Any) -> None:
        said[name] = value

    return change


def set_file(name: str, value: object) -> Change:
    return lambda files: files[0].update({name: value})


def set_symbol(name: str, value: object) -> Change:
    return lambda files: files[0]["symbols"][0].update({name: value})


def packed(plain: bytes) -> str:
    return b64encode(pack(plain)).decode()


def assert_refused(data: bytes, folder: Path) -> str:
    """Check that nothing at all is written; return the one line that is said."""
    with pytest.raises(DowseError) as caught:
        use_snapshot(data, folder)
    assert not (folder / "index").exists()
    assert written_outside(folder) == []
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_valid_snapshot_is_accepted(frames: Frames, tmp_path: Path) -> None:
    assert use_snapshot(build_snapshot(frames), tmp_path / "x")


@pytest.mark.parametrize(
    "name",
    [
        *("../../outside", "..", ".", "", "/tmp/outside", "a/b", "a\\b", "C:x", "A", "a b", "a\0b", "ä"),
        *("a" * 200, "-a", "a-", ".hidden"),
    ],
)
def test_path_traversal_by_an_encoder_name_is_refused(frames: Frames, tmp_path: Path, name: str) -> None:
    index = next(i for i, frame in enumerate(frames) if frame[0] == b"vecs")
    vectors = frames[index][1].replace(
        json.dumps(ENCODER).encode(), json.dumps(name).encode().ljust(len(ENCODER) + 2)[:300]
    )
    renamed = [*frames[:index], (b"vecs", vectors), *frames[index + 1 :]]
    data = changed(renamed, b"abou", set_field("encoders", {name: 8}))
    assert "encoders" in assert_refused(data, tmp_path / "x")


@pytest.mark.parametrize("name", ["..", "../x", "a/b", "a\\b", ""])
def test_vectors_of_an_encoder_stay_in_their_folder(tmp_path: Path, name: str) -> None:
    """Whoever else passes a name on: the store itself does not leave its folder."""
    from dowse.storage.local.backend import LocalBackend
    from dowse.vectors.cache import VectorCache

    with pytest.raises(DowseError, match="path"), LocalBackend(tmp_path / "i").vector_writer(name, 8):
        pass
    with pytest.raises(DowseError, match="path"):
        VectorCache(tmp_path / "cache", name, 8)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (b"abou", set_field("encoders", {ENCODER: 0})),
        (b"abou", set_field("encoders", {ENCODER: 4097})),
        (b"abou", set_field("encoders", {ENCODER: True})),
        (b"abou", set_field("encoders", {f"e{n}": 8 for n in range(100)})),
        (b"abou", set_field("meta", {"indexed_at": "soon"})),
        (b"abou", set_field("meta", {"left_out": "[" * 10_000})),
        (b"abou", set_field("meta", {"left_out": '{"a":[1]}'})),
        (b"abou", set_field("meta", {"corpus": 1})),
        (b"abou", set_field("slot", "a\nb")),
        (b"abou", set_field("skipped", [["a"]])),
        (b"abou", set_field("files", 10**9)),
        (b"abou", set_field("files", 0)),
        (b"abou", set_field("more", 0)),
        (b"file", set_file("path", "../outside.py")),
        (b"file", set_file("path", "a/../../outside.py")),
        (b"file", set_file("path", "/etc/passwd")),
        (b"file", set_file("path", "\\\\server\\share")),
        (b"file", set_file("path", "a\\..\\..\\b")),
        (b"file", set_file("path", "a\0b")),
        (b"file", set_file("path", "")),
        (b"file", set_file("key", "another/file.py")),
        (b"file", set_file("size", -1)),
        (b"file", set_file("mtime_ns", 2**63)),
        (b"file", set_file("lines", 10**6)),
        (b"file", set_file("content_hash", "z" * 32)),
        (b"file", set_file("text", "\x01surrogate")),
        (b"file", set_file("offers", [2**63])),
        (b"file", set_file("offers", [1.5])),
        (b"file", set_file("marks", ["x"])),
        (b"file", set_file("references", "not base64!")),
        (b"file", set_file("references", b64encode(b"\xff\xff\xff\x7f" + b"x" * 20).decode())),
        (b"file", set_file("references", packed(b"\xff\xff\xff\x7f"))),
        (b"file", set_file("references", packed(b"\1\0\0\0" + bytes(16) + b"steal\0name\0"))),
        (b"file", set_file("references", packed(b"\1\0\0\0" + b"\xff" * 16 + b"call\0name\0"))),
        (b"file", set_file("facts", packed(b"[" * 100_000))),
        (b"file", set_file("facts", packed(b"[{},[[1,2]],0]"))),
        (b"file", set_file("facts", packed(b'[{"package":[1]},[],0]'))),
        (b"file", set_file("facts", packed(b"[[],[],0]"))),
        (b"file", set_file("symbols", {})),
        (b"file", set_symbol("spans", [[0, 10**9]])),
        (b"file", set_symbol("spans", [[5, 2]])),
        (b"file", set_symbol("spans", [[5, 9], [0, 5]])),
        (b"file", set_symbol("spans", [[0, 5], [3, 9]])),
        (b"file", set_symbol("spans", [[0]])),
        (b"file", set_symbol("doc_spans", [[-5, 3]])),
        (b"file", set_symbol("start_line", 0)),
        (b"file", set_symbol("end_line", 10**6)),
        (b"file", set_symbol("scope_key", 2**64)),
        (b"file", set_symbol("vector_key", "00")),
        (b"file", set_symbol("kind", "a\x1b[31m")),
        (b"file", set_symbol("overrides", 1)),
        (b"file", lambda files: files.append(files[0])),
        (b"file", lambda files: files[0].pop("marks")),
    ],
)
def test_values_out_of_range_are_refused(frames: Frames, tmp_path: Path, kind: bytes, change: Change) -> None:
    assert_refused(changed(frames, kind, change), tmp_path / "x")


@pytest.mark.parametrize("value", BROKEN_JSON)
@pytest.mark.parametrize("name", ["files", "slot", "meta"])
def test_json_that_breaks_parsers_is_refused(frames: Frames, tmp_path: Path, name: str, value: str) -> None:
    """Not-a-number, infinity, numbers of 5,000 digits, half surrogates, nesting of 100,000, broken UTF-8."""
    assert_refused(changed(frames, b"abou", set_field(name, value)), tmp_path / "x")


@pytest.mark.parametrize(
    "rest",
    [
        [(b"evil", b"")],
        [(b"file", b"{}")],
        [(b"file", b"")],
        [(b"vecs", b"")],
        [(b"vecs", b"\xff\xff\xff\xff{}")],
        [(b"vecs", b"\x02\0\0\0{}")],
        [(b"abou", b"{}")],
    ],
)
def test_unknown_and_malformed_frames_are_refused(frames: Frames, tmp_path: Path, rest: Frames) -> None:
    assert_refused(build_snapshot([*frames, *rest]), tmp_path / "x")
    assert_refused(build_snapshot(rest), tmp_path / "x")


def test_the_count_of_vectors_must_fit_their_bytes(frames: Frames, tmp_path: Path) -> None:
    data = next(data for kind, data in frames if kind == b"vecs")
    for count in (0, 1, 10**6, -1):
        head = json.dumps({"encoder": ENCODER, "count": count}).encode()
        rest = data[4 + int.from_bytes(data[:4], "little") :]
        forged = len(head).to_bytes(4, "little") + head + rest
        assert_refused(build_snapshot([*frames[:2], (b"vecs", forged)]), tmp_path / "x")


def test_no_frame_at_all(tmp_path: Path) -> None:
    assert "does not say what it holds" in assert_refused(build_snapshot([]), tmp_path / "x")


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize(("size", "times"), [(10_000_000, 20), (3_900_000, 1)])
def test_a_decompression_bomb_takes_little_memory(
    frames: Frames, tmp_path: Path, number: int, size: int, times: int
) -> None:
    """Two hundred megabytes in two hundred kilobytes, and the most that a small file may unpack to."""
    bomb = bomb_frames(number, frames, size)
    data = build_snapshot([bomb[0], *[each for each in bomb[1:] if each[0] == b"file"] * times], 9)
    path = tmp_path / "bomb.snap"
    path.write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-c", _MEASURE + PRINT_PEAK, path],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    said, peak = done.stdout.splitlines()
    assert int(peak) < 500
    # A text of 4 MB in a file of its own is large, and not yet a bomb.
    assert ("is not what dowse writes" in said) == (times > 1 or number != 2)


def test_a_decompression_bomb_in_a_packed_block_takes_no_memory() -> None:
    """The block says that it unpacks to two gigabytes; nothing is taken for it."""
    with pytest.raises(BrokenBlock):
        unpack(b"\xff\xff\xff\x7f" + b"\0" * 100)


def test_a_file_exchanged_after_the_check_is_not_loaded(frames: Frames, tmp_path: Path) -> None:
    path = tmp_path / "x.snap"
    path.write_bytes(build_snapshot(frames))
    forged = changed(frames, b"file", set_file("path", "../outside.py"))
    index = Index.open(write_tree(tmp_path / "t", BARE), index_dir=str(tmp_path / "i"), encoder="none")
    with open_snapshot(path) as (snapshot, header):
        (tmp_path / "other").write_bytes(forged)
        os.replace(tmp_path / "other", path)  # another file at the same path: the open one is loaded
        import_snapshot(snapshot, header, index.backend, index.settings, root=tmp_path / "t")
    assert {file.path for file in _files(index)} == {"shop/order.py", "shop/bread.py", "web/page.js"}


def test_bytes_exchanged_after_the_check_are_not_loaded(frames: Frames, tmp_path: Path) -> None:
    path = tmp_path / "x.snap"
    path.write_bytes(build_snapshot(frames))
    index = Index.open(write_tree(tmp_path / "t", BARE), index_dir=str(tmp_path / "i"), encoder="none")
    with open_snapshot(path) as (snapshot, header):
        with path.open("r+b") as file:  # the same file
            file.write(changed(frames, b"file", set_file("path", "../outside.py")))
        with pytest.raises(BrokenSnapshot, match=r"changed while it was read|cut short|damaged"):
            import_snapshot(snapshot, header, index.backend, index.settings, root=tmp_path / "t")
    assert not index.exists


def _files(index: Index) -> list[Any]:
    with index.backend.reader() as reader:
        return list(reader.files())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="FIFOs are POSIX")
def test_devices_and_fifos_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.snap")
    (tmp_path / "zero.snap").symlink_to("/dev/zero")
    (tmp_path / "folder.snap").mkdir()
    for name in ("fifo.snap", "zero.snap", "folder.snap"):
        done = run_dowse("import", tmp_path / name, tmp_path, "--index-dir", tmp_path / "i")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert "no regular file" in done.stderr
    assert not (tmp_path / "i").exists()


def test_symbolic_links_are_not_followed(frames: Frames, tmp_path: Path) -> None:
    (tmp_path / "real.snap").write_bytes(build_snapshot(frames))
    (tmp_path / "link.snap").symlink_to("real.snap")
    assert read_header(tmp_path / "real.snap").files == 3
    with pytest.raises(DowseError, match="not a link"):
        read_header(tmp_path / "link.snap")


def test_the_command_refuses_path_traversal_in_one_line(frames: Frames, tmp_path: Path) -> None:
    data = changed(frames, b"abou", set_field("encoders", {"../../outside": 8}))
    (tmp_path / "x.snap").write_bytes(data)
    tree = write_tree(tmp_path / "deep" / "tree", BARE)
    done = run_dowse("import", tmp_path / "x.snap", tree, "--index-dir", tmp_path / "deep" / "i")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["deep", "x.snap"]
    assert sorted(entry.name for entry in (tmp_path / "deep").iterdir()) == ["tree"]


def test_meta_of_a_snapshot_decides_nothing_that_is_computed(frames: Frames, tmp_path: Path) -> None:
    """The scale of the tree is JSON in the catalog's meta table: what a snapshot says of it is dropped."""

    def change(about: Any) -> None:
        about["meta"].update({"tree_scale": "[" * 50, "tree_shape": "x", "generation": "-5", "own": "x"})

    assert use_snapshot(changed(frames, b"abou", change), tmp_path / "x")


def test_an_export_writes_through_no_link(frames: Frames, tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "t", {"a.py": "def a(): return 1\n"})
    index = Index.open(tree, index_dir=str(tmp_path / "i"), encoder="none")
    index.update()
    victim = tmp_path / "victim"
    victim.write_text("precious")
    target = tmp_path / "x.snap"
    target.symlink_to(victim)
    (tmp_path / f"x.snap.{os.getpid()}.part").symlink_to(victim)
    export(index.backend, target)
    assert victim.read_text() == "precious"
    assert not target.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert read_header(target).files == 1
    assert not (tmp_path / f"x.snap.{os.getpid()}.part").is_symlink()


def test_an_export_refuses_what_no_import_would_read(tmp_path: Path) -> None:
    with pytest.raises(DowseError, match="too large for a snapshot"), FrameWriter(tmp_path / "x.snap") as out:
        out.put(b"file", bytes(48_000_001))
    assert list(tmp_path.iterdir()) == []


def test_a_refused_snapshot_leaves_the_index_as_it_was(frames: Frames, tmp_path: Path) -> None:
    index = Index.open(
        write_tree(tmp_path / "t", {"a.py": "def a(): return 1\n"}), index_dir=str(tmp_path / "i")
    )
    index.update()
    before = image(index)
    path = tmp_path / "x.snap"
    path.write_bytes(changed(frames, b"file", lambda files: files[-1].update(path="../x")))
    done = run_dowse("import", path, tmp_path / "t", "--index-dir", tmp_path / "i")
    assert done.returncode == 2
    assert image(index) == before


def test_vectors_of_another_dimension_leave_the_index_as_it_was(frames: Frames, tmp_path: Path) -> None:
    """They come last, so the files were there already when they were refused."""
    index = Index.open(write_tree(tmp_path / "t", BARE), index_dir=str(tmp_path / "i"))
    index.update()
    with index.backend.reader() as reader:
        keys = [key for _, key in reader.missing_vectors(ENCODER)]
    with index.backend.vector_writer(ENCODER, 4) as writer:
        writer.put(keys, np.ones((len(keys), 4), np.float32) / 2)
    before = image(index)
    path = tmp_path / "x.snap"
    path.write_bytes(build_snapshot(frames))
    done = run_dowse("import", path, tmp_path / "t", "--index-dir", tmp_path / "i")
    assert done.returncode == 2
    assert "4 dimensions" in done.stderr and len(done.stderr.splitlines()) == 1
    assert image(index) == before


@pytest.mark.parametrize(("parts", "is_read"), [(200, True), (201, False), (2_001, False)])
def test_paths_of_very_many_parts_are_refused(
    frames: Frames, tmp_path: Path, parts: int, is_read: bool
) -> None:
    name = "a/" * (parts - 1) + "x"
    data = changed(frames, b"file", lambda files: files[0].update(path=name, key=name))
    if is_read:
        assert use_snapshot(data, tmp_path / "index")
        return
    assert "200 parts" in assert_refused(data, tmp_path)


def test_a_chain_of_thousands_of_names_is_linked(tmp_path: Path) -> None:
    """Each name is another name for the next: linking followed them into a RecursionError."""
    chain = "".join(f"    x{n} = x{n + 1}\n" for n in range(3_000))
    tree = write_tree(
        tmp_path / "t", {"a.py": f"def go():\n    pass\n\n\ndef f():\n{chain}    x0.go()\n    go()\n"}
    )
    index = Index.open(tree, index_dir=str(tmp_path / "i"), encoder="none")
    index.update()
    with index.backend.reader() as reader:
        rows = [row.row for row in reader.rows_of_files([1])]
        assert any(edge.kind == "calls" and edge.confidence == "resolved" for edge in reader.edges(rows))
