"""How soon after saving a file can be searched, by words and by meaning, in a watched repository.

python bench/watch_latency.py REPOSITORY --out bench/results/watch_latency.json

The repository is copied. A function with a name of its own is appended to a file, and searches ask for it as
often as they can until it is found; nobody tells the watcher to hurry.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import threading
import time
from pathlib import Path

from dowse import Index
from dowse.watch import Maintainer, WatchEvent

from common import work_folder, write_results

# Between two saves: as if somebody thought in between.
_PAUSE_SECONDS = 1.0
_LOOK_SECONDS = 0.01
_PATIENCE_SECONDS = 60.0


def main() -> None:
    """Measure on a copy."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repository", type=Path)
    parser.add_argument("--saves", type=int, default=20)
    parser.add_argument("--encoder", default="base")
    parser.add_argument("--work", type=Path, help="folder to work in (default: a temporary one)")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with work_folder(options.work) as folder:
        os.environ.setdefault("DOWSE_CACHE_DIR", str(folder / "cache"))
        root = folder / options.repository.name
        if not root.exists():
            shutil.copytree(options.repository, root, symlinks=True)
        results = run(root, options)
    print(results)
    if options.out:
        write_results(options.out, results)


def run(root: Path, options: argparse.Namespace) -> dict[str, object]:
    """Return how long it took for words and for meaning, of all saves."""
    embedded = threading.Event()

    def hear(event: WatchEvent) -> None:
        if event.kind == "embedded":
            embedded.set()

    with Index.open(root, encoder=options.encoder, isolation="never", refresh="never") as index:
        index.update()
        index.embed()
        maintainer = Maintainer(hear)
        maintainer.request(index, "watch")
        embedded.wait()
        files = [file.path for file in index.files() if file.path.endswith(".py")]
        chance = random.Random(0)
        index.search("anything at all", mode="hybrid")
        times = [_save(index, root / chance.choice(files), number) for number in range(options.saves)]
        maintainer.close()
        counted = index.file_count()
    words, meaning = ([pair[at] for pair in times] for at in (0, 1))
    return {
        "files": counted,
        "encoder": options.encoder,
        "saves": options.saves,
        "words, seconds": _summary(words),
        "meaning, seconds": _summary(meaning),
    }


def _save(index: Index, file: Path, number: int) -> tuple[float, float]:
    """Save a new function; return after how long words found it, and then meaning."""
    time.sleep(_PAUSE_SECONDS)
    name = f"zebra_crossing_{number}_{time.time_ns()}"
    before = file.read_bytes()
    file.write_bytes(
        before + f'\n\ndef {name}():\n    """Paint stripes number {number} on a road."""\n'.encode()
    )
    saved = time.monotonic()
    words = _until(lambda: bool(index.symbols(name, 1)), saved)
    meaning = _until(lambda: _is_found(index, name, number), saved)
    file.write_bytes(before)
    return words, meaning


def _is_found(index: Index, name: str, number: int) -> bool:
    answer = index.search(f"paint stripes number {number} on a road", mode="embedding", k=5)
    return any(hit.symbol.name == name for hit in answer.hits)


def _until(holds: object, since: float) -> float:
    while not holds():  # type: ignore[operator]
        if time.monotonic() - since > _PATIENCE_SECONDS:
            raise SystemExit("it was never found")
        time.sleep(_LOOK_SECONDS)
    return time.monotonic() - since


def _summary(times: list[float]) -> dict[str, float]:
    times = sorted(times)
    return {
        "median": round(statistics.median(times), 3),
        "p95": round(times[min(len(times) - 1, int(0.95 * len(times)))], 3),
        "worst": round(times[-1], 3),
    }


if __name__ == "__main__":
    main()
