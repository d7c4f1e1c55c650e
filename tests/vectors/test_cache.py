"""The shared cache: gives back what was put in, and never stands in the way."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dowse.vectors.cache import VectorCache
from dowse.vectors.quantize import quantise, restore

DIMENSION = 6


def key(number: int) -> bytes:
    return number.to_bytes(16, "big")


def vectors(numbers: range) -> np.ndarray:
    return np.stack([np.random.default_rng(n).standard_normal(DIMENSION) for n in numbers])


def put(cache: VectorCache, numbers: range) -> None:
    cache.put_many([key(n) for n in numbers], vectors(numbers))


def known(cache: VectorCache, numbers: range) -> set[int]:
    """Return which numbers are known, after checking that they have their vectors."""
    found = cache.get_many([key(n) for n in numbers])
    for number in numbers:
        if key(number) in found:
            expected = restore(*quantise(vectors(range(number, number + 1))))[0]
            assert np.array_equal(found[key(number)], expected)
    return {int.from_bytes(name, "big") for name in found}


def test_gives_back_what_was_put_in_by_encoder(tmp_path: Path) -> None:
    with VectorCache(tmp_path / "new", "base", DIMENSION) as cache:
        assert cache.get_many([]) == {}
        put(cache, range(1200))
        cache.put_many([], np.empty((0, DIMENSION)))
    with (
        VectorCache(tmp_path / "new", "base", DIMENSION) as again,
        VectorCache(tmp_path / "new", "small", DIMENSION) as other,
    ):
        assert known(again, range(1500)) == set(range(1200))
        assert known(other, range(10)) == set()
        put(again, range(5))  # a second time
        assert known(again, range(5)) == set(range(5))


def test_the_oldest_go_when_there_are_too_many(tmp_path: Path) -> None:
    with VectorCache(tmp_path, "base", DIMENSION, max_bytes=100 * (DIMENSION + 64)) as cache:
        for start in range(0, 300, 50):
            put(cache, range(start, start + 50))
        assert known(cache, range(400)) == set(range(200, 300))


@pytest.mark.parametrize("contents", [b"", b"no database at all" * 100, None])
def test_a_damaged_file_is_thrown_away(tmp_path: Path, contents: bytes | None) -> None:
    with VectorCache(tmp_path, "base", DIMENSION) as cache:
        put(cache, range(500))
    if contents is None:  # pages in the middle are gone
        data = bytearray(cache.path.read_bytes())
        data[4096 : len(data) - 4096] = bytes(len(data) - 8192)
        contents = bytes(data)
    cache.path.write_bytes(contents)
    with VectorCache(tmp_path, "base", DIMENSION) as cache:
        known(cache, range(500))  # may still find some, but no wrong ones
        put(cache, range(500))
        put(cache, range(500))  # the first may have found the damage
        assert known(cache, range(500)) == set(range(500))


def test_changed_bytes_are_not_given_back_and_are_replaced(tmp_path: Path) -> None:
    with VectorCache(tmp_path, "base", DIMENSION) as cache:
        put(cache, range(3))
    database = sqlite3.connect(cache.path)
    database.execute("UPDATE vectors SET codes = zeroblob(6) WHERE key = ?", (key(1),))
    database.execute("UPDATE vectors SET codes = x'00' WHERE key = ?", (key(2),))
    database.commit()
    database.close()
    with VectorCache(tmp_path, "base", DIMENSION) as cache:
        assert known(cache, range(3)) == {0}
        put(cache, range(1, 3))
        assert known(cache, range(3)) == {0, 1, 2}


def test_a_folder_that_cannot_be_written_is_still_read(tmp_path: Path) -> None:
    with VectorCache(tmp_path / "cache", "base", DIMENSION) as cache:
        put(cache, range(3))
    # The administrator may write everywhere, and so gives up that privilege (Linux: all capabilities).
    script = """
import ctypes, os, sys
from pathlib import Path
sys.path[:0] = [sys.argv[2]]
from test_cache import DIMENSION, VectorCache, known, put
if os.geteuid() == 0:
    version_3, all_off = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert ctypes.CDLL(None).capset(version_3, all_off) == 0
with VectorCache(Path(sys.argv[1]), "base", DIMENSION) as cache:
    put(cache, range(5))
    print(sorted(known(cache, range(5))))
"""
    cache.path.chmod(0o444)
    cache.path.parent.chmod(0o555)
    command = [sys.executable, "-c", script, str(cache.path.parent), str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    cache.path.parent.chmod(0o755)
    assert done.stdout == "[0, 1, 2]\n", done.stderr


def test_processes_write_at_once(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
sys.path[:0] = [sys.argv[2]]
from test_cache import DIMENSION, VectorCache, put
with VectorCache(Path(sys.argv[1]), "base", DIMENSION) as cache:
    for start in range(int(sys.argv[3]), 400, 20):
        put(cache, range(start, start + 30))
"""
    here = str(Path(__file__).parent)
    writers = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path), here, str(start)]) for start in (0, 10)
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    with VectorCache(tmp_path, "base", DIMENSION) as cache:
        assert known(cache, range(420)) == set(range(420))
