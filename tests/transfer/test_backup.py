"""The backup that docs/OPERATIONS.md names: an export beside a writer is one whole generation."""

from __future__ import annotations

import queue
import re
import threading
from pathlib import Path

from archive_targets import import_file
from dowse import Index
from dowse.transfer.export_snapshot import export

from helpers import write_tree

# Every commit changes all files at once; an export that mixes two generations has two numbers.
FILES = 6


def tree(root: Path, number: int) -> Path:
    names = {f"m{file}.py": f"def made_{number}_in_{file}():\n    pass\n" for file in range(FILES)}
    return write_tree(root, names)


def test_export_while_a_writer_commits(tmp_path: Path) -> None:
    root, folder = tree(tmp_path / "tree", 0), str(tmp_path / "index")
    Index.open(root, index_dir=folder).update()
    done, commits = threading.Event(), queue.SimpleQueue()

    def write() -> None:
        with Index.open(root, index_dir=folder) as index:
            number = 0
            while not done.is_set():
                number += 1
                tree(root, number)
                index.update()
                commits.put(number)

    writer = threading.Thread(target=write)
    writer.start()
    seen = []
    try:
        with Index.open(root, index_dir=folder) as index:
            for copy in range(2):
                commits.get(timeout=60)  # the writer goes on meanwhile
                export(index.backend, tmp_path / f"{copy}.snap")
    finally:
        done.set()
        writer.join()
    for copy in range(2):
        with Index.open(root, index_dir=str(tmp_path / f"restored-{copy}")) as restored:
            import_file(tmp_path / f"{copy}.snap", restored.backend, restored.settings, root)
            with restored.backend.reader() as reader:
                rows = reader.rows_of_files([file.file_id for file in reader.files()])
            found = [re.fullmatch(r"made_(\d+)_in_(\d+)", row.name).groups() for row in rows]
            assert len(found) == FILES and len({number for number, _ in found}) == 1, found
            seen.append(int(found[0][0]))
            assert restored.backend.check() == []
    assert seen == sorted(seen) and seen[0] >= 1
