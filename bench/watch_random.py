"""Random edits, renames, deletes, switches of branches and kills: is a watched index that of a rebuild?

python bench/watch_random.py --steps 1000 --out bench/results/watch_random.json
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from pathlib import Path

from common import work_folder, write_results

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from dowse import Index
from dowse.watch import maintainer as maintainer_module
from watch.random_steps import Happenings
from watch.running import DEADLINE, until, watching
from watch.whole import rebuilt, whole


def main() -> None:
    """Let things happen, and compare every few steps."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--every", type=int, default=10, help="steps between two comparisons, at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--encoder", default="small")
    parser.add_argument("--work", type=Path, help="folder to work in (default: a temporary one)")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    maintainer_module.MAX_RESTART_SECONDS = 0.1
    with work_folder(options.work) as folder:
        os.environ["DOWSE_CACHE_DIR"] = str(folder / "cache")
        results = run(folder, options)
    print(results)
    if options.out:
        write_results(options.out, results)


def run(folder: Path, options: argparse.Namespace) -> dict[str, object]:
    """Return how many steps of each kind went well; the first difference ends it."""
    chance, began = random.Random(options.seed), time.monotonic()
    happenings = Happenings(folder / "tree", options.seed)
    settings = {"index_dir": str(folder / "index"), "encoder": options.encoder, "isolation": "never"}
    done = compared = 0
    with Index.open(folder / "tree", **settings) as index, watching(index) as (watcher, heard):
        while done < options.steps:
            for _ in range(chance.randint(1, min(options.every, options.steps - done))):
                happenings.step(watcher)
                done += 1
            until(lambda: watcher.settle(DEADLINE, vectors=True))
            kept, fresh = whole(index), rebuilt(index, str(folder / "fresh"))
            differing = [name for name in fresh if name != "skipped" and kept[name] != fresh[name]]
            for name in differing:
                print(f"\n{name}: {_difference(kept[name], fresh[name])}", file=sys.stderr)
            if differing:
                print(f"last steps: {happenings.log[-15:]}", file=sys.stderr)
                raise SystemExit(f"step {done} (seed {options.seed}): {', '.join(differing)} differ")
            compared += 1
            print(f"{done} steps, {compared} comparisons", end="\r", file=sys.stderr)
        generations = sum(event.kind == "indexed" for event in heard.events)
    return {
        "steps": done,
        "comparisons": compared,
        "differences": 0,
        "generations": generations,
        "steps by kind": dict(sorted(happenings.counts.items())),
        "encoder": options.encoder,
        "seed": options.seed,
        "seconds": round(time.monotonic() - began, 1),
    }


def _difference(kept: list[object], fresh: list[object]) -> str:
    more = [each for each in kept if each not in fresh]
    less = [each for each in fresh if each not in kept]
    return f"only watched {str(more)[:800]}; only fresh {str(less)[:800]}"


if __name__ == "__main__":
    main()
