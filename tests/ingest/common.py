"""What tests of many workers share: running the command, and looking at what came of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from dowse import Index

ENCODER = "small"
# A machine with other tests at work may be slow; a run that hangs must not hang the tests.
SECONDS = 240


def start(*arguments: object, **environment: str) -> subprocess.Popen[str]:
    """Start the real command."""
    return subprocess.Popen(
        [sys.executable, "-m", "dowse.interfaces.cli.main", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for it; return its exit code and what it said."""
    out, errors = process.communicate(timeout=SECONDS)
    return process.returncode, out, errors


def run(*arguments: object, **environment: str) -> tuple[int, str, str]:
    """Run the real command to its end."""
    return finish(start(*arguments, **environment))


def everything(address: str, root: Path) -> dict[str, object]:
    """Return all that an index of a cluster says, free of what hangs on the order in which it was filled."""
    with Index.open(root, backend=address, encoder=ENCODER) as index, index.backend.reader() as reader:
        encoder = index.encoder
        assert encoder is not None
        files = reader.files()
        rows = reader.rows_of_files([file.file_id for file in files])
        names = {row.row: row.key for row in rows}
        numbers = [row.row for row in rows]
        vectors = reader.vectors(encoder.id, numbers)
        return {
            "files": sorted(file[1:] for file in files),
            "symbols": sorted(
                (s.repo, s.path, s.id, s.doc, s.code, s.start_line) for s in reader.symbols(rows)
            ),
            "edges": sorted(
                (e.kind, names[e.source], names[e.target], e.line) for e in reader.edges(numbers)
            ),
            "vectors": {names[n]: vector.tobytes() for n, vector in zip(numbers, vectors, strict=True)},
            "clusters": reader.cluster_centroids(encoder.id).tobytes(),
            "counts": reader.counts(),
        }


def indexed_plainly(address: str, roots: Iterable[Path]) -> dict[str, object]:
    """Index repositories one by one, as `dowse index` does, and return what the index says."""
    for root in roots:
        with Index.open(root, backend=address, encoder=ENCODER) as index:
            index.update()
    return everything(address, root)
