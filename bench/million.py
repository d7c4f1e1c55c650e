"""From ten thousand functions to a million: size, speed and recall of one index on one machine.

    python bench/million.py --corpus FOLDER --work DIR [--sizes 10000,100000,1000000] [--out FILE]

`--corpus` is as in keyword_speed.py. Each size is an index of its own in `--work` that is kept: a second
run only asks. Functions are encoded where the user's cache of vectors does not have them yet; `encoded` says
how many were. Queries are first sentences of documentation, which is not indexed; each mode is asked in turn,
in one warm process. Recall is that of the first 100 by the usual search of vectors (approximate, if there are
many) against the exact one. Memory is the peak of a new process that answers one question.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any

from dowse import Index
from keyword_speed import Function, choose_queries, read_corpus, say

from common import percentile, write_results

SIZES = "10000,100000,1000000"
MODES = ("keyword", "embedding", "hybrid")
_PER_FILE = 5_000
_DEPTH = 100
_MEMORY = """
import pathlib, re, sys
from dowse import Index
with Index.open(sys.argv[1], index_dir=sys.argv[2], encoder=sys.argv[3], isolation="never") as index:
    index.search(sys.argv[4], k=10)
# ru_maxrss would be that of the benchmark, which a child inherits
print(int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) * 1024)
"""


def main() -> None:
    """Measure each size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--encoder", default="base")
    parser.add_argument("--words-only", action="store_true", help="build the indexes and stop")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    functions = list(islice(read_corpus(options.corpus), max(sizes)))
    queries = choose_queries(functions, options.queries, 1)
    table: dict[str, object] = {}
    for size in sizes:
        place = options.work / str(size)
        write_corpus(functions[:size], place / "corpus")
        fixed = {"index_dir": str(place / "index"), "encoder": options.encoder, "isolation": "never"}
        with Index.open(place / "corpus", **fixed) as index:
            row: dict[str, Any] = {"functions": min(size, len(functions)), **build(index, options.words_only)}
            if not options.words_only:
                with Index.open(place / "corpus", vectors="exact", **fixed) as exact:
                    row |= ask(index, exact, queries)
                row["search_memory_mb"] = memory(place, options.encoder, queries[0])
                row["bytes"] = bytes_by_part(place / "index")
                row["update_after_one_edit_s"] = edit(index, place / "corpus")
        table[str(size)] = row
        say(json.dumps({size: row}))
    if options.out and not options.words_only:
        first, last = table[str(sizes[0])], table[str(sizes[-1])]
        growth = {mode: round(last[mode]["p50_ms"] / first[mode]["p50_ms"], 2) for mode in MODES}  # type: ignore[index]
        write_results(options.out, {"sizes": table, "growth of p50": growth})


def write_corpus(functions: list[Function], folder: Path) -> None:
    """Write the functions in files of some thousands, unless that was done."""
    if folder.is_dir():
        return
    folder.mkdir(parents=True)
    for start in range(0, len(functions), _PER_FILE):
        lines = (json.dumps(each.entry) + "\n" for each in functions[start : start + _PER_FILE])
        (folder / f"{start:08}.jsonl").write_text("".join(lines), encoding="utf-8")


def build(index: Index, words_only: bool) -> dict[str, float]:
    """Index and embed what is missing; say how long it took."""
    words = index.update(embed=False)
    say(f"words in {words.seconds:.0f} s")
    if words_only:
        return {"words_s": round(words.seconds, 1)}
    vectors = index.vectors.embed()
    return {
        "words_s": round(words.seconds, 1),
        "vectors_s": round(vectors.seconds, 1),
        "encoded": vectors.encoded,
        "vectors_from_the_cache": vectors.reused,
    }


def ask(index: Index, exact: Index, queries: list[str]) -> dict[str, Any]:
    """Ask every query in every mode, in turn; compare the usual search of vectors with the exact one."""
    times: dict[str, list[float]] = {}
    shared: list[float] = []
    asked = [(mode, index, mode) for mode in MODES] + [("exact embedding", exact, "embedding")]
    for number, query in enumerate(queries):
        for name, where, mode in asked:
            started = time.perf_counter()
            where.search(query, k=10, mode=mode)
            if number >= len(queries) // 10:  # the first open files and fill caches
                times.setdefault(name, []).append(time.perf_counter() - started)
        usual, right = (
            {hit.symbol.id for hit in each.search(query, k=_DEPTH, mode="embedding").hits}
            for each in (index, exact)
        )
        shared.append(len(usual & right) / max(1, len(right)))
    described = {name: _percentiles(values) for name, values in times.items()}
    return {**described, "recall@100": round(sum(shared) / len(shared), 4)}


def _percentiles(seconds: list[float]) -> dict[str, float]:
    return {f"p{share}_ms": round(1000 * percentile(seconds, share / 100), 2) for share in (50, 99)}


def memory(place: Path, encoder: str, query: str) -> int:
    """Return the peak of a new process that answers one question, in MB."""
    command = [sys.executable, "-c", _MEMORY, place / "corpus", place / "index", encoder, query]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout) // 1_000_000


def bytes_by_part(folder: Path) -> dict[str, int]:
    """Return how large each entry of the index is."""
    sizes: dict[str, int] = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            part = path.relative_to(folder).parts[0]
            sizes[part] = sizes.get(part, 0) + path.stat().st_size
    return dict(sorted(sizes.items(), key=lambda item: -item[1])[:8])


def edit(index: Index, corpus: Path) -> float:
    """Add a function to one file and bring the words up to date; return the seconds."""
    extra = corpus / "edited.jsonl"
    code = f"def edited_{os.getpid()}():\n    return {time.time_ns()}"
    extra.write_text(
        json.dumps({"id": "edited", "name": "edited", "code": code, "language": "python"}) + "\n"
    )
    try:
        return round(index.update(embed=False).seconds, 2)
    finally:
        extra.unlink()
        index.update(embed=False)


if __name__ == "__main__":
    main()
