"""Indexing on two workers beside one: parse and encode the same repositories.

    python bench/ray_speed.py --repo DIR [--repo DIR …] [--encoder base] [--runs 3]
        [--out bench/results/ray_speed.json]

Each run is `dowse index --workers local:N` of all repositories into new folders, with nothing in the cache of
vectors; runs with one and with two workers take turns. What counts is the time from the first task to the
last outcome, loading of encoders included; starting and stopping Ray, the same for both, is given beside it.
The `ceiling` is what the machine itself allows: the same encoder in two plain processes at once beside one,
without Ray and without an index. Run it on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from common import beside_python, work_folder, write_results

BAR = 1.7
# Documents that a process encodes to find out what the machine allows.
_SAMPLE = 1_000
_PROGRAM = """
import sys, time
from dowse.encoders.document import Document
from dowse.encoders.registry import load_encoder
encoder = load_encoder(sys.argv[1], threads=1)
texts = open(sys.argv[2], encoding="utf-8").read().split("\\0")
documents = [Document("", f"f{n}", "", text, "python") for n, text in enumerate(texts)]
encoder.encode_documents(documents[:32])
print("ready", flush=True)
sys.stdin.readline()
started = time.perf_counter()
encoder.encode_documents(documents)
print(time.perf_counter() - started, flush=True)
"""


def main() -> None:
    """Index, compare, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repo", type=Path, action="append", required=True)
    parser.add_argument("--encoder", default="base")
    parser.add_argument("--runs", type=int, default=3, help="of each; the median counts")
    parser.add_argument("--dowse", type=Path, default=beside_python(), help="the command to measure")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with work_folder(options.work) as work:
        results = measure(options, work)
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


def measure(options: argparse.Namespace, work: Path) -> dict[str, Any]:
    """Let one and two workers take turns."""
    taken: dict[int, list[dict[str, Any]]] = {1: [], 2: []}
    for number in range(options.runs):
        for workers in (1, 2):
            found = index(options, workers, work / f"cache-{workers}-{number}")
            print(f"{workers} workers: {found}", file=sys.stderr)
            taken[workers].append(found)
    same = {(each["files"], each["symbols"], each["encoded"]) for runs in taken.values() for each in runs}
    if len(same) != 1:
        raise SystemExit(f"runs differ in what they did: {same}")
    seconds = {n: statistics.median(each["seconds"] for each in runs) for n, runs in taken.items()}
    ratio = seconds[1] / seconds[2]
    return {
        "encoder": options.encoder,
        "repositories": [path.name for path in options.repo],
        **{key: taken[1][0][key] for key in ("files", "symbols", "encoded")},
        "one_worker_s": round(seconds[1], 2),
        "two_workers_s": round(seconds[2], 2),
        "with_ray_s": {
            n: round(statistics.median(each["wall"] for each in runs), 2) for n, runs in taken.items()
        },
        "ratio": round(ratio, 3),
        "bar": BAR,
        "passes": ratio >= BAR,
        "ceiling": round(ceiling(options, work), 3),
    }


def index(options: argparse.Namespace, workers: int, cache: Path) -> dict[str, Any]:
    """Index all repositories anew; return how long it took and what was done."""
    command = [
        options.dowse,
        "index",
        "--workers",
        f"local:{workers}",
        "--encoder",
        options.encoder,
        "--json",
    ]
    environment = {**os.environ, "DOWSE_CACHE_DIR": str(cache), "DOWSE_ENCODER": options.encoder}
    started = time.perf_counter()
    done = subprocess.run(
        [*map(str, command), *map(str, options.repo)], env=environment, capture_output=True, check=False
    )
    wall = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(f"dowse failed: {done.stderr.decode(errors='replace')[-500:]}")
    said = json.loads(done.stdout)
    sums = {key: sum(each[key] for each in said["done"]) for key in ("files", "symbols", "encoded")}
    return {"seconds": said["seconds"], "wall": wall, **sums}


def ceiling(options: argparse.Namespace, work: Path) -> float:
    """Return how much more two plain processes encode at once than one does."""
    texts: list[str] = []
    for file in sorted(options.repo[0].rglob("*.py")):
        text = file.read_text(encoding="utf-8", errors="replace").replace("\0", "")
        texts += [text[at : at + 600] for at in range(0, len(text), 600)]
    sample = work / "sample.txt"
    sample.write_text("\0".join(texts[:_SAMPLE]), encoding="utf-8")
    rates = {n: [_encode(options.encoder, sample, n) for _ in range(options.runs)] for n in (1, 2)}
    return 2 * statistics.median(rates[1]) / statistics.median(rates[2])


def _encode(encoder: str, sample: Path, count: int) -> float:
    """Encode the sample in so many processes at once; return the time of the slowest."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, encoder, str(sample)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(count)
    ]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return max(float(process.communicate()[0]) for process in processes)


if __name__ == "__main__":
    main()
