"""Trees as points of hyperbolic space: time, memory, distortion and mean average precision.

    python bench/tree_embedding.py --repos DIR [--symbols N] [--out bench/results/tree_embedding.json]

`--repos` is a folder of repositories. Their folders, files and symbols are one tree, as an index of them has
it; repeated under other names until there are N symbols, they are the large tree that the bars are for. Two
small trees are hard: one deep and one wide. Every way runs in a process of its own. Seconds and memory are
those of the shape and the points; memory is the process's peak before anything is measured. Linux only: it is
read from /proc.

Distortion is of distances over edges (mean of |ratio − 1|; `worst` is the largest ratio over the smallest),
`map` the mean average precision of neighbours, on samples. 53 digits are float64; where 0 were asked for, the
scale chose them itself.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np

from dowse.parsing.languages import detect_language
from dowse.parsing.parser import parse_file
from dowse.research.hyperbolic.embed import embed
from dowse.research.hyperbolic.scale import Scale
from dowse.research.hyperbolic.shape import tree_from_parents, tree_from_paths
from dowse.source.walk import WalkedFile, walk

from common import work_folder, write_results

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from research.hyperbolic.embedding_quality import distortion, mean_average_precision

BARS = {"seconds": 60, "megabytes": 1000}
# Dimension and digits.
WAYS = [(2, 53), (2, 0), (3, 53), (5, 53), (8, 53), (10, 53), (10, 0), (16, 53)]
CHAIN, WIDTH, STAR = 200, 3, 100_000
# Nodes times distances that are computed for the precision: decimals take fifty times as long.
FLOAT_WORK, DECIMAL_WORK = 10**8, 1_000_000


def main() -> None:
    """Make the trees, embed them in every way, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repos", type=Path, help="a folder of repositories")
    parser.add_argument("--symbols", type=int, default=1_000_000, help="of the large tree")
    parser.add_argument("--work", type=Path, help="trees here (default: a temporary folder)")
    parser.add_argument("--one", nargs=3, metavar=("TREE", "DIMENSION", "DIGITS"), help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(Path(options.one[0]), int(options.one[1]), int(options.one[2]))))
        return
    if not options.repos:
        parser.error("--repos is needed")
    results: dict[str, object] = {"bars": BARS}
    with work_folder(options.work) as work:
        for name, parents in trees(options.repos, options.symbols):
            np.save(work / f"{name}.npy", parents)
            results[name] = [in_own_process(work / f"{name}.npy", *way) for way in WAYS]
    if options.out:
        write_results(options.out, results)


def trees(repos: Path, symbols: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the name and the parents of every tree."""
    chains = list(symbol_chains(repos))
    yield "repositories", tree_from_paths(chains)[0].parents
    yield "large", tree_from_paths(repeated(chains, symbols))[0].parents
    spine = np.arange(CHAIN) * WIDTH  # each has some children, of which the last has again
    yield "deep", np.concatenate([[0], np.repeat(spine, WIDTH)])
    yield "wide", np.zeros(STAR + 1, np.int64)


def symbol_chains(repos: Path) -> Iterator[tuple[str, ...]]:
    """Yield repository, folders, file and number of every symbol."""
    for repo in sorted(path for path in repos.iterdir() if path.is_dir()):
        for file in walk(repo):
            if not isinstance(file, WalkedFile):
                continue
            data = (repo / file.path).read_bytes().decode(errors="replace").encode()
            for number in range(len(parse_file(data, detect_language(file.path), file.path).definitions)):
                yield (repo.name, *file.path.split("/"), str(number))


def repeated(chains: list[tuple[str, ...]], symbols: int) -> Iterator[tuple[str, ...]]:
    """Yield chains again and again, under new names of repositories, until there are enough."""
    for number in range(symbols):
        turn, which = divmod(number, len(chains))
        yield (f"{chains[which][0]}-{turn}", *chains[which][1:])


def in_own_process(tree: Path, dimension: int, digits: int) -> dict[str, object]:
    """Measure one way, with a memory of its own."""
    command = [sys.executable, __file__, "--one", str(tree), str(dimension), str(digits)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, object] = json.loads(done.stdout)
    print(tree.stem, found, flush=True)
    return found


def measured(file: Path, dimension: int, digits: int) -> dict[str, object]:
    """Embed a tree and say what it took and how good it is."""
    parents = np.load(file)
    started, cpu = time.perf_counter(), time.process_time()
    tree = tree_from_parents(parents)
    scale = Scale.choose(tree.widest, tree.depth, dimension, digits)
    points = embed(tree, scale)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    megabytes = peak_megabytes()
    sample = max(2, min(200, len(tree), (DECIMAL_WORK if scale.decimal else FLOAT_WORK) // len(tree)))
    said = asdict(distortion(tree, points, scale))
    precision = mean_average_precision(tree, points, sample)
    return {
        "nodes": len(tree),
        "widest": tree.widest,
        "depth": tree.depth,
        "dimension": dimension,
        "asked_digits": digits,
        "digits": scale.digits,
        "edge": round(scale.length, 3),
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2),
        "megabytes": round(megabytes),
        "distortion": {name: round(value, 4) for name, value in said.items()},
        "map": round(precision, 4),
        "map_sample": sample,
    }


def peak_megabytes() -> float:
    """Return the most memory this process has held, without its parent's peak, which getrusage hands on."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


if __name__ == "__main__":
    main()
