"""The matrix: what was committed stays, whatever happens to its writer; damage is named."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from dowse.errors import DowseError, IndexDamaged, IndexLocked, IndexVersionError
from dowse.vectors.keys import as_keys
from dowse.vectors.matrix import Matrix
from dowse.vectors.quantize import quantise, restore
from dowse.vectors.writer import MatrixWriter, matrix_writer

DIMENSION = 8


def key(number: int) -> bytes:
    """Keys of which many begin alike, which hashes never do."""
    return (number % 5).to_bytes(8, "little") + number.to_bytes(8, "little")


def vector(number: int) -> np.ndarray:
    return np.random.default_rng(number).standard_normal(DIMENSION).astype(np.float32)


def fill(folder: Path, numbers: range) -> None:
    with matrix_writer(folder, DIMENSION) as writer:
        writer.append(as_keys(map(key, numbers)), np.stack([vector(n) for n in numbers]))
        writer.commit()


def as_stored(vectors: np.ndarray) -> np.ndarray:
    return restore(*quantise(vectors))


class AgainstDict(RuleBasedStateMachine):
    """A matrix and a dict under the same appends, commits, crashes and compactions are the same."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.committed: list[int] = []
        self.pending: list[int] = []
        self.writer: MatrixWriter | None = None
        self.context = None

    def teardown(self) -> None:
        if self.context is not None:
            self.context.__exit__(None, None, None)
        shutil.rmtree(self.folder)

    @precondition(lambda self: self.writer is None)
    @rule()
    def start(self) -> None:
        self.context = matrix_writer(self.folder, DIMENSION, wait=0)
        self.writer = self.context.__enter__()

    @precondition(lambda self: self.writer is not None)
    @rule(numbers=st.lists(st.integers(0, 30), min_size=1, max_size=6))
    def append(self, numbers: list[int]) -> None:
        new = [n for n in dict.fromkeys(numbers) if n not in self.committed + self.pending]
        vectors = np.stack([vector(n) for n in numbers])
        assert self.writer.append(as_keys(map(key, numbers)), vectors) == len(new)
        self.pending += new
        assert len(self.writer) == len(self.committed) + len(self.pending)

    @precondition(lambda self: self.writer is not None)
    @rule()
    def commit(self) -> None:
        self.writer.commit()
        self.committed += self.pending
        self.pending = []

    @precondition(lambda self: self.writer is not None)
    @rule(chosen=st.sets(st.integers(0, 30)))
    def compact(self, chosen: set[int]) -> None:
        keep = [row for row in range(len(self.committed)) if row in chosen]
        before = Matrix.open(self.folder, DIMENSION)
        names = [before.key(row) for row in range(len(before))]
        self.writer.compact(np.array(keep, np.int64))
        assert [before.key(row) for row in range(len(before))] == names  # its files are still mapped
        self.committed = [self.committed[row] for row in keep]
        self.pending = []

    @precondition(lambda self: self.writer is not None)
    @rule()
    def finish(self) -> None:
        self.context.__exit__(None, None, None)
        self.context = self.writer = None
        self.pending = []

    @precondition(lambda self: self.writer is None and (self.folder / "000001.keys").exists())
    @rule(extra=st.binary(min_size=1, max_size=40))
    def leave_bytes_of_a_killed_writer(self, extra: bytes) -> None:
        for path in (p for p in self.folder.iterdir() if p.suffix in (".keys", ".rows", ".scales")):
            with open(path, "ab") as file:
                file.write(extra)

    @invariant()
    def readers_see_what_is_committed(self) -> None:
        matrix = Matrix.open(self.folder, DIMENSION)
        assert [matrix.key(row) for row in range(len(matrix))] == [key(n) for n in self.committed]
        rows = matrix.find(as_keys(key(n) for n in range(31)))
        places = {n: row for row, n in enumerate(self.committed)}
        assert rows.tolist() == [places.get(n, -1) for n in range(31)]
        if self.committed:
            expected = as_stored(np.stack([vector(n) for n in self.committed]))
            assert np.array_equal(matrix.rows(np.arange(len(matrix))), expected)


AgainstDict.TestCase.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)
TestAgainstDict = AgainstDict.TestCase


@given(st.integers(1, 40), st.integers(1, 20), st.integers(0, 2**32 - 1), st.sampled_from([1e-30, 1, 1e30]))
def test_bytes_made_twice_are_the_same(dimension: int, count: int, seed: int, size: float) -> None:
    values = np.random.default_rng(seed).standard_normal((count, dimension)) * size
    codes, scales = quantise(values)
    again, scales_again = quantise(restore(codes, scales))
    assert np.array_equal(codes, again)
    assert np.array_equal(scales, scales_again)
    assert np.allclose(np.linalg.norm(restore(codes, scales), axis=1), 1, atol=1e-5)


def test_zeros_stay_zeros_and_no_nan_gets_in(tmp_path: Path) -> None:
    with matrix_writer(tmp_path, DIMENSION) as writer:
        writer.append(as_keys([key(1)]), np.zeros((1, DIMENSION)))
        with pytest.raises(ValueError, match="finite"):
            writer.append(as_keys([key(2)]), np.full((1, DIMENSION), np.nan))
        writer.commit()
    matrix = Matrix.open(tmp_path, DIMENSION)
    assert matrix.rows(np.array([0])).tolist() == [[0.0] * DIMENSION]
    assert matrix.problem() == ""


def test_one_writer_at_a_time_and_a_folder_that_moves(tmp_path: Path) -> None:
    with matrix_writer(tmp_path / "a", DIMENSION), pytest.raises(IndexLocked):
        matrix_writer(tmp_path / "a", DIMENSION, wait=0).__enter__()
    fill(tmp_path / "a", range(5))
    (tmp_path / "a").rename(tmp_path / "b")
    assert len(Matrix.open(tmp_path / "b", DIMENSION)) == 5
    assert len(Matrix.open(tmp_path / "a", DIMENSION)) == 0


def test_a_writer_whose_folder_was_removed_leaves_the_next_one_alone(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    with pytest.raises(DowseError, match="removed meanwhile"), matrix_writer(folder, DIMENSION) as writer:
        writer.append(as_keys([key(1)]), vector(1)[None])
        writer.commit()
        shutil.rmtree(folder)
        with matrix_writer(folder, DIMENSION) as other:
            other.append(as_keys(map(key, range(3))), np.stack([vector(n) for n in range(3)]))
            other.commit()
            writer.append(as_keys([key(2)]), vector(2)[None])
            writer.commit()
    assert len(Matrix.open(folder, DIMENSION)) == 3
    assert Matrix.open(folder, DIMENSION).problem() == ""


@pytest.mark.parametrize("ending", ["keys", "rows", "scales"])
def test_a_short_or_missing_file_is_named(tmp_path: Path, ending: str) -> None:
    fill(tmp_path, range(5))
    path = tmp_path / f"000001.{ending}"
    os.truncate(path, path.stat().st_size - 1)
    with pytest.raises(IndexDamaged, match=rf"000001\.{ending} has .* instead of .*--rebuild"):
        Matrix.open(tmp_path, DIMENSION)
    path.unlink()
    with pytest.raises(IndexDamaged, match="missing"):
        Matrix.open(tmp_path, DIMENSION)


@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_bad_state_is_named(tmp_path: Path, text: str) -> None:
    fill(tmp_path, range(5))
    (tmp_path / "state.json").write_text(text, "latin-1")
    with pytest.raises(IndexDamaged, match=r"state\.json"):
        Matrix.open(tmp_path, DIMENSION)


def test_other_dimensions_and_formats_are_named(tmp_path: Path) -> None:
    fill(tmp_path, range(5))
    with pytest.raises(DowseError, match="8 dimensions, the encoder has 9"):
        Matrix.open(tmp_path, 9)
    state = json.loads((tmp_path / "state.json").read_bytes())
    (tmp_path / "state.json").write_text(json.dumps({**state, "format": 99}))
    with pytest.raises(IndexVersionError, match="format 99"):
        Matrix.open(tmp_path, DIMENSION)


@pytest.mark.parametrize("ending", ["keys", "rows", "scales"])
def test_changed_bytes_are_found_by_reading_all(tmp_path: Path, ending: str) -> None:
    fill(tmp_path, range(500))
    with matrix_writer(tmp_path, DIMENSION) as writer:
        writer.compact(np.arange(1, 500, 2))
    fill(tmp_path, range(600, 700))
    path = tmp_path / f"000002.{ending}"
    for damaged in (False, True):
        assert bool(Matrix.open(tmp_path, DIMENSION).problem()) == damaged
        flip(path, path.stat().st_size // 2)


@pytest.mark.parametrize("number", [np.nan, np.inf, -1.0, 1e30])
def test_impossible_scales_are_damage(tmp_path: Path, number: float) -> None:
    fill(tmp_path, range(5))
    with (tmp_path / "000001.scales").open("r+b") as file:
        file.write(np.array([number], "<f4").tobytes())
    with pytest.raises(IndexDamaged, match="impossible"):
        Matrix.open(tmp_path, DIMENSION)


def test_without_the_order_keys_are_found_and_it_is_written_again(tmp_path: Path) -> None:
    fill(tmp_path, range(50))
    os.truncate(tmp_path / "000001.order", 100)
    matrix = Matrix.open(tmp_path, DIMENSION)
    assert matrix.find(as_keys(map(key, range(50)))).tolist() == list(range(50))
    assert not matrix.is_ordered
    fill(tmp_path, range(50))
    assert Matrix.open(tmp_path, DIMENSION).is_ordered


def test_vectors_of_the_format_before_are_kept(tmp_path: Path) -> None:
    fill(tmp_path, range(50))
    before = Matrix.open(tmp_path, DIMENSION).rows(np.arange(50))
    state = {"format": 2, "dimension": DIMENSION, "rows": 50, "number": 1, "sums": [1, 2, 3, 4]}
    (tmp_path / "state.json").write_text(json.dumps(state) + "\n00000000\n")
    assert np.array_equal(Matrix.open(tmp_path, DIMENSION).rows(np.arange(50)), before)
    fill(tmp_path, range(60))
    assert not Matrix.open(tmp_path, DIMENSION).problem()
    flip(tmp_path / "000001.rows", 0)
    assert Matrix.open(tmp_path, DIMENSION).problem()


def flip(path: Path, at: int) -> None:
    """Change one byte of a file, or change it back."""
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 0x10]))


# Appends 7 rows at a time and says how many are committed, without end.
WRITER = """
import sys
sys.path[:0] = [sys.argv[2]]
from pathlib import Path
import numpy as np
from test_matrix import DIMENSION, key, vector
from dowse.vectors.keys import as_keys
from dowse.vectors.writer import matrix_writer
with matrix_writer(Path(sys.argv[1]), DIMENSION) as writer:
    for start in range(len(writer), 10**9, 7):
        numbers = range(start, start + 7)
        writer.append(as_keys(map(key, numbers)), np.stack([vector(n) for n in numbers]))
        writer.commit()
        print(len(writer), flush=True)
"""


def start_writer(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(folder), str(Path(__file__).parent)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_killed_writer_leaves_what_it_had_committed(tmp_path: Path) -> None:
    told = 0
    for commits in (1, 3, 10):
        with start_writer(tmp_path) as writer:
            for line in itertools.islice(writer.stdout, commits):
                told = int(line)
            writer.send_signal(signal.SIGKILL)
        matrix = Matrix.open(tmp_path, DIMENSION)
        assert len(matrix) >= told
        assert len(matrix) % 7 == 0
        assert matrix.find(as_keys(map(key, range(len(matrix))))).tolist() == list(range(len(matrix)))
        expected = as_stored(np.stack([vector(n) for n in range(len(matrix))]))
        assert np.array_equal(matrix.rows(np.arange(len(matrix))), expected)
    fill(tmp_path, range(len(matrix) + 1))
    sizes = {p.suffix: p.stat().st_size for p in tmp_path.iterdir() if p.suffix in (".keys", ".rows")}
    assert sizes == {".keys": 16 * (len(matrix) + 1), ".rows": DIMENSION * (len(matrix) + 1)}


def test_readers_go_on_while_a_writer_appends_and_compacts(tmp_path: Path) -> None:
    fill(tmp_path, range(20))
    first = Matrix.open(tmp_path, DIMENSION)
    with start_writer(tmp_path) as writer:
        for _ in itertools.islice(writer.stdout, 25):
            matrix = Matrix.open(tmp_path, DIMENSION)
            last = len(matrix) - 1
            assert matrix.key(last) == key(last)
            assert matrix.find(as_keys([key(last), key(last + 10**6)])).tolist() == [last, -1]
        writer.send_signal(signal.SIGKILL)
    with matrix_writer(tmp_path, DIMENSION) as compacting:
        compacting.compact(np.arange(1, len(compacting), 2))
    assert first.find(as_keys([key(4)])).tolist() == [4]
    assert Matrix.open(tmp_path, DIMENSION).key(0) == key(1)
    assert {p.name.split(".")[0] for p in tmp_path.iterdir()} == {"000002", "state", "writer"}
