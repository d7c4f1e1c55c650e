"""An update after a branch switch, beside a rebuild of the same tree: words, then the call graph.

    python bench/branch_switch.py --repository DIR --from HEAD~120 --to HEAD
        [--out bench/results/branch_switch.json]

The repository is cloned (its objects shared), and is never touched itself. Each side of the switch is timed
until its commit; nothing is embedded. After the switch the index must equal the rebuild, symbol by symbol.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from dowse import Index

from common import git, work_folder, write_results


def main() -> None:
    """Switch there and back, and compare with rebuilds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repository", type=Path, required=True)
    parser.add_argument("--from", dest="old", required=True)
    parser.add_argument("--to", dest="new", default="HEAD")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with work_folder(options.work) as work:
        tree = work / "tree"
        git(work, "clone", "-q", "-s", str(options.repository.resolve()), str(tree))
        old, new = (git(options.repository, "rev-parse", each).strip() for each in (options.old, options.new))
        changed = len(git(options.repository, "diff", "--name-only", "--no-renames", old, new).splitlines())
        git(tree, "checkout", "-q", "--detach", old)
        with open_index(tree, work / "kept") as index:
            timed(index)
            switches = {}
            for name, commit in (("there", new), ("back", old)):
                git(tree, "checkout", "-q", "--detach", commit)
                words, graph = timed(index)
                with open_index(tree, work / name) as fresh:
                    rebuilt_words, rebuilt_graph = timed(fresh)
                    same = described(fresh) == described(index)
                switches[name] = {
                    "words_seconds": round(words, 2),
                    "graph_seconds": round(graph, 2),
                    "over_a_rebuild": round((words + graph) / (rebuilt_words + rebuilt_graph), 3),
                    "rebuild_seconds": round(rebuilt_words + rebuilt_graph, 2),
                    "equals_the_rebuild": same,
                }
                print(name, switches[name], flush=True)
        results = {"changed_files": changed, "commits": [old, new], "switches": switches}
    if options.out:
        write_results(options.out, results)


def open_index(tree: Path, folder: Path) -> Index:
    """Open an index without vectors."""
    return Index.open(tree, index_dir=str(folder), encoder="none")


def timed(index: Index) -> tuple[float, float]:
    """Update an index; return the seconds until words are committed, and those of the graph."""
    started = time.monotonic()
    index.update(defer_graph=True)
    words = time.monotonic()
    index.link()
    return words - started, time.monotonic() - words


def described(index: Index) -> list[list[tuple[object, ...]]]:
    """Return all symbols and edges, free of internal numbers."""
    with index.backend.reader() as reader:
        path_of = {file.file_id: file.path for file in reader.files()}
        rows = reader.rows_of_files(list(path_of))
        key_of = {row.row: row.key for row in rows}
        edges = reader.edges(list(key_of), limit=10_000_000)
        return [
            sorted((row.key, row.start_line, row.end_line, row.signature) for row in rows),
            sorted((e.kind, key_of[e.source], key_of[e.target], path_of[e.file_id], *e[4:]) for e in edges),
        ]


if __name__ == "__main__":
    main()
