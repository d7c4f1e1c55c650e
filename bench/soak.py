"""A long run of one `dowse serve`: many requests, many updates of the index. Does anything grow?

    python bench/soak.py [--requests 1000000] [--updates 10000] [--clients 8] [--files 200] [--encoder none]
        [--out bench/results/soak.json]

The server follows a generated tree (`--watch`). A writer edits one of its files after the other, evenly
spread over the requests: a function changes, a file goes and comes back, and each update is waited for.
Clients ask words, names, patterns, symbols, walks of the call graph, suggestions and status meanwhile, one
question at a time. Memory (Pss of the server and its processes), open files, processes, threads, and the
size of the index folder are sampled; the first fifth, while caches fill, does not count. Of each, the slope
of a line through the samples (least squares) is reported as a share of the mean over the whole run. Caches
are bounded by size, so memory must not grow by more than 5 %; the others not at all but for what is open at
the moment.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote, urlsplit

from serving import descendants, memory_megabytes, serving, wait_until_indexed

from common import work_folder, write_results

_SAMPLES = 100
_WARM_SHARE = 0.2
# Functions of a file.
_FUNCTIONS = 12


def main() -> None:
    """Run server, clients and writer, and write what grew."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--updates", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--encoder", default="none")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with work_folder(options.work) as work:
        tree = _Tree(work / "tree", options.files)
        flags = ("--watch", "--rate", "0", "--no-feedback")
        with serving(tree.root, options.encoder, work, *flags) as (process, url):
            wait_until_indexed(url)
            soak = Soak(url, process.pid, work / "index", options.requests, options.files)
            results = soak.run(tree, options.clients, options.updates)
        results["log, bytes"] = (work / "log.txt").stat().st_size
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


class _Tree:
    """A tree of small modules that call each other; each edit makes another version of one."""

    def __init__(self, root: Path, files: int) -> None:
        self.root, self._files, self._draw = root, files, random.Random(0)
        self._version = 0
        root.mkdir(parents=True, exist_ok=True)
        for number in range(files):
            self._write(number)

    def edit(self) -> str:
        """Change a file, some of them by removing it first; return a name that the index has afterwards."""
        self._version += 1
        number = self._draw.randrange(self._files)
        if self._draw.randrange(10) == 0 and self._path(number).exists():
            self._path(number).unlink()
        self._write(number)
        return f"version_{self._version}"

    def _path(self, number: int) -> Path:
        return self.root / f"package_{number % 10}" / f"module_{number}.py"

    def _write(self, number: int) -> None:
        path = self._path(number)
        path.parent.mkdir(exist_ok=True)
        functions = [
            f"def step_{number}_{each}(order):\n"
            f'    """Step {each} of the order number {number}: check, pay, bake and send it."""\n'
            f"    return step_{(number * 7 + each) % self._files}_{(each + 1) % _FUNCTIONS}(order)\n"
            for each in range(_FUNCTIONS)
        ]
        functions.append(f"def version_{self._version}():\n    return {self._version}\n")
        path.write_text("\n\n".join(functions))


class Soak:
    """One run: clients, a writer, and samples of what the server holds."""

    def __init__(self, url: str, pid: int, index: Path, requests: int, files: int) -> None:
        self._place, self._pid, self._index = urlsplit(url), pid, index
        self._requests, self._files = requests, files
        self._lock = threading.Lock()
        self._asked = 0
        self._statuses: Counter[str] = Counter()
        self._samples: list[dict[str, float]] = []

    def run(self, tree: _Tree, clients: int, updates: int) -> dict[str, object]:
        """Run until all requests are answered."""
        started = time.monotonic()
        threads = [threading.Thread(target=self._ask_all, args=(number,)) for number in range(clients)]
        for each in threads:
            each.start()
        done, late = self._edit_all(tree, updates, threads)
        for each in threads:
            each.join()
        self._sample()
        warm = self._samples[int(_WARM_SHARE * len(self._samples)) :]
        growth = {name: _growth([sample[name] for sample in warm]) for name in warm[0]}
        return {
            "requests": self._asked,
            "updates": done,
            "updates that took over 60 s": late,
            "minutes": round((time.monotonic() - started) / 60, 1),
            "statuses": dict(sorted(self._statuses.items())),
            "after warming up": {name: round(value, 1) for name, value in warm[0].items()},
            "at the end": {name: round(value, 1) for name, value in warm[-1].items()},
            "growth by the slope": {name: f"{share:+.1%}" for name, share in growth.items()},
        }

    def _edit_all(self, tree: _Tree, updates: int, clients: Sequence[threading.Thread]) -> tuple[int, int]:
        """Edit the tree evenly over the requests and sample; return how many updates, and how many late."""
        line, done, late = self._connect(), 0, 0
        next_sample = 0.0
        while any(each.is_alive() for each in clients):
            share = self._asked / self._requests
            if share >= next_sample:
                self._sample()
                next_sample += 1 / _SAMPLES
            if done >= updates * share:
                time.sleep(0.01)
                continue
            name, until = tree.edit(), time.monotonic() + 60
            while not self._has(line, name):
                if time.monotonic() > until:
                    late += 1
                    break
                time.sleep(0.02)
            done += 1
        return done, late

    def _has(self, line: http.client.HTTPConnection, name: str) -> bool:
        """Whether the index has a symbol yet."""
        return self._ask(line, f"/api/symbol?target={name}") == "200"

    def _ask_all(self, number: int) -> None:
        line, draw = self._connect(), random.Random(number)
        while True:
            with self._lock:
                if self._asked >= self._requests:
                    return
                self._asked += 1
            status = self._ask(line, _question(draw, self._files))
            with self._lock:
                self._statuses[status] += 1

    def _connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self._place.hostname or "", self._place.port, timeout=60)

    def _ask(self, line: http.client.HTTPConnection, path: str) -> str:
        try:
            line.request("GET", path)
            response = line.getresponse()
            response.read()
            return str(response.status)
        except (OSError, http.client.HTTPException) as error:
            line.close()
            return type(error).__name__

    def _sample(self) -> None:
        pids = [self._pid, *descendants(self._pid)]
        self._samples.append(
            {
                "memory, MB": memory_megabytes(self._pid),
                "open files": float(sum(map(_count_files, pids))),
                "processes": float(len(pids)),
                "threads": float(sum(map(_count_threads, pids))),
                "disk, MB": sum(each.stat().st_size for each in _files(self._index)) / 1e6,
                "files of the index": float(len(_files(self._index))),
            }
        )


def _question(draw: random.Random, files: int) -> str:
    number = draw.randrange(files)
    name = f"step_{number}_{draw.randrange(_FUNCTIONS)}"
    words = draw.sample(["check", "pay", "bake", "send", "order", "number", str(number)], 3)
    return draw.choice(
        [
            f"/api/search?q={quote(' '.join(words))}",
            f"/api/search?q={name}",
            f"/api/search?q={quote(f'/{name}/')}",
            f"/api/search?q={quote(f'what calls {name}')}",
            f"/api/symbol?target={name}",
            f"/api/graph/impact?target={name}",
            f"/api/suggest?q={name[:6]}",
            "/api/status",
            f"/api/search?q=unknown{draw.randrange(1_000_000)}",
            "/api/metrics",
        ]
    )


def _growth(values: Sequence[float]) -> float:
    """Return by how much the line through some values rises, as a share of their mean."""
    count, middle = len(values), sum(values) / len(values)
    if count < 2 or not middle:
        return 0.0
    center = (count - 1) / 2
    slope = sum((at - center) * value for at, value in enumerate(values))
    slope /= sum((at - center) ** 2 for at in range(count))
    return slope * (count - 1) / middle


def _files(folder: Path) -> list[Path]:
    return [each for each in folder.rglob("*") if each.is_file()]


def _count_files(pid: int) -> int:
    try:
        return len(list(Path(f"/proc/{pid}/fd").iterdir()))
    except OSError:
        return 0


def _count_threads(pid: int) -> int:
    try:
        return len(list(Path(f"/proc/{pid}/task").iterdir()))
    except OSError:
        return 0


if __name__ == "__main__":
    main()
