"""What syncing names costs: commits of one changed file with and without it, taking turns.

python bench/commit_sync.py --rounds 30 --out bench/results/commit_sync.json
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from unittest.mock import patch

from common import milliseconds, work_folder, write_results

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from dowse.storage.local import layout
from dowse.storage.local.backend import LocalBackend
from dowse.types import FileRecord
from dowse.vectors import writer as vector_writer

from helpers import file_record, symbol

FILES = 200
DIMENSION = 256
_BATCH = 128


def main() -> None:
    """Time commits of words and of vectors."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--work", type=Path, help="folder on the disk to measure (default: a temporary one)")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with work_folder(options.work) as base:
        results = {
            "update of one file": _compare(_Words(base / "words"), options.rounds),
            f"{_BATCH} vectors": _compare(_Vectors(base / "vectors"), options.rounds),
        }
    print(results)
    if options.out:
        write_results(options.out, {"rounds": options.rounds, **results})


def _compare(commit: _Words | _Vectors, rounds: int) -> dict[str, object]:
    synced, plain = [], []
    for _ in range(rounds):
        synced.append(_seconds(commit))
        with (
            patch("dowse.security.safe_files.sync_folder"),
            patch.object(layout, "sync_folder"),
            patch.object(vector_writer, "sync_folder"),
        ):
            plain.append(_seconds(commit))
    return {
        "synced": milliseconds(synced),
        "without": milliseconds(plain),
        "ratio": round(statistics.median(synced) / statistics.median(plain), 3),
        "ratio of the fastest": round(min(synced) / min(plain), 3),
    }


def _seconds(commit: _Words | _Vectors) -> float:
    began = time.perf_counter()
    commit()
    return time.perf_counter() - began


def _record(number: int, version: int) -> FileRecord:
    text = f"def function_{number}():\n    return {version}\n"
    return file_record(f"m{number}.py", [symbol(f"function_{number}", f"return {version}")], text=text)


class _Words:
    """Replaces one file of an index, as an update does."""

    def __init__(self, folder: Path) -> None:
        self._backend, self._number = LocalBackend(folder), 0
        with self._backend.writer() as writer:
            for number in range(FILES):
                writer.put(_record(number, 0))
            writer.commit({})

    def __call__(self) -> None:
        self._number += 1
        with self._backend.writer() as writer:
            writer.put(_record(self._number % FILES, self._number))
            writer.commit({})


class _Vectors:
    """Adds vectors to a matrix, as an embedding run does."""

    def __init__(self, folder: Path) -> None:
        import numpy as np

        self._folder, self._random = folder, np.random.default_rng(1)

    def __call__(self) -> None:
        import numpy as np

        vectors = self._random.standard_normal((_BATCH, DIMENSION), np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        keys = np.frombuffer(self._random.bytes(16 * _BATCH), np.uint8).reshape(-1, 16)
        with vector_writer.matrix_writer(self._folder, DIMENSION) as writer:
            writer.append(keys, vectors)
            writer.commit()


if __name__ == "__main__":
    main()
