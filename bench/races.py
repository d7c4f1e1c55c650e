"""Folders and files that become links to the outside and back, beside everything that reads a tree.

    python bench/races.py --seconds 600 --out FILE

One process exchanges folders and files of a tree with links to others outside, as fast as it can
(renameat2, Linux), and now and then changes files. `dowse index`, `dowse search`, `dowse watch` and
`dowse serve --watch` read the tree meanwhile, each with an index of its own. Outside files hold a word that
no inside file has: it may be in no output, and in no index.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import ctypes
import json
import multiprocessing
import os
import random
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

from dowse import Index
from serving import serving

from common import beside_python, work_folder, write_results

_OUTSIDE = "outsider"
_FOLDERS, _FILES = 12, 8
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
_READERS = ("index", "search", "watch", "serve")
# A pattern needs the files themselves, words the index alone.
_QUERIES = ("inner function", _OUTSIDE, "/def inner_1/", "/def [io]\\w+/")


def main() -> None:
    """Run all readers beside the exchanges, and look for what is from outside."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    os.environ |= {"DOWSE_ENCODER": "none", "DOWSE_RESIDENT_MINUTES": "0"}
    with work_folder(None) as base:
        os.environ |= {"DOWSE_CACHE_DIR": str(base / "cache"), "DOWSE_DATA_DIR": str(base / "data")}
        _make_tree(base)
        results = _Run(base, options.seconds).results()
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


def _make_tree(base: Path) -> None:
    """Write a tree, the same outside with other text, and links to the latter, by the same names."""
    for top, word in (("tree", "inner"), ("outside", _OUTSIDE)):
        for name in _names():
            path = base / top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"def {word}_{n}(value):\n    return value + {n}\n\n" for n in range(60)))
    for name in _places():
        link = base / "links" / name.replace("/", "+")
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(base / "outside" / name)


def _names() -> list[str]:
    return [f"top{n % 3}/sub{n}/file{m}.py" for n in range(_FOLDERS) for m in range(_FILES)]


def _places() -> list[str]:
    """Return what is exchanged: files, their folders and the folders of these."""
    names = [Path(name) for name in _names()]
    folders = {str(name.parent) for name in names} | {str(name.parent.parent) for name in names}
    return sorted(folders) + [str(name) for name in names]


def _exchange_for_ever(base: Path, count: Synchronized[int]) -> None:
    rename, chance, places = ctypes.CDLL(None).renameat2, random.Random(0), _places()
    while True:
        name = chance.choice(places)
        pair = [os.fsencode(base / "tree" / name), os.fsencode(base / "links" / name.replace("/", "+"))]
        with contextlib.suppress(OSError):
            # A place that leads through a link now is outside itself: it is left alone.
            if (base / "tree" / name).parent.resolve().is_relative_to(base / "tree"):
                for _ in range(2):
                    rename(_AT_FDCWD, pair[0], _AT_FDCWD, pair[1], _RENAME_EXCHANGE)
                    count.value += 1
                    time.sleep(chance.choice((0, 0, 0.0001, 0.001, 0.01)))
        if chance.random() < 0.02:
            file = base / "tree" / chance.choice(_names())
            with contextlib.suppress(OSError):
                if file.resolve().is_relative_to(base / "tree"):
                    file.write_text(f"{file.read_text()[:4_000]}# {count.value}\n")


class _Run:
    """The readers of one run, and what they found."""

    def __init__(self, base: Path, seconds: float) -> None:
        self._base, self._tree, self._seconds = base, base / "tree", seconds
        self._counts: collections.Counter[str] = collections.Counter()
        self._faults: list[str] = []
        self._exchanges: Synchronized[int] = multiprocessing.get_context("fork").Value("q", 0)

    def results(self) -> dict[str, object]:
        """Run everything until the time is over."""
        for name in _READERS:
            self._command("index", "--index-dir", self._index_folder(name))
        with contextlib.ExitStack() as stack:
            url = stack.enter_context(self._serving())
            stack.enter_context(self._watching())
            stack.enter_context(self._exchanging())
            began = time.monotonic()
            until = began + self._seconds
            tasks: list[Callable[[], None]] = [self._index, self._search, lambda: self._ask(url), self._check]
            threads = [threading.Thread(target=self._repeat, args=(task, until)) for task in tasks]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            seconds = round(time.monotonic() - began)
        self._check()
        return {
            "seconds": seconds,
            "exchanges": self._exchanges.value,
            **{name: self._counts[name] for name in sorted(self._counts)},
            "from outside": len(self._faults),
            "faults": self._faults[:20],
        }

    def _index_folder(self, reader: str) -> str:
        path = self._base / reader / "index"
        path.parent.mkdir(exist_ok=True)
        return str(path)

    def _repeat(self, task: Callable[[], None], until: float) -> None:
        while time.monotonic() < until:
            task()

    def _index(self) -> None:
        rebuild = ["--rebuild"] if self._counts["dowse index"] % 3 == 0 else []
        self._command("index", "--index-dir", self._index_folder("index"), *rebuild)

    def _search(self) -> None:
        query = _QUERIES[self._counts["dowse search"] % len(_QUERIES)]
        self._command("search", query, "--index-dir", self._index_folder("search"), "--json")

    def _command(self, name: str, *arguments: str) -> None:
        place = ["--repo", str(self._tree)] if name == "search" else [str(self._tree)]
        command = [str(beside_python()), name, *arguments, *place]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self._counts[f"dowse {name}"] += 1
        self._counts[f"dowse {name}, exit code {done.returncode}"] += 1
        self._note(f"dowse {name}", done.stdout)
        if done.returncode not in (0, 1):
            self._counts[done.stderr.strip().replace(str(self._base), "")[-200:]] += 1

    def _ask(self, url: str) -> None:
        query = urllib.request.quote(_QUERIES[self._counts["requests"] % len(_QUERIES)])
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/api/v1/search?q={query}") as answer:
            self._note("serve", answer.read().decode())
            self._counts["requests, answered"] += 1
        self._counts["requests"] += 1

    def _check(self) -> None:
        """Look into all indexes."""
        for reader in _READERS:
            with contextlib.suppress(Exception), self._opened(reader) as index:
                names = [row.name for row in index.symbols()]
                with index.backend.reader() as opened:
                    ids = [file.file_id for file in opened.files()]
                    texts = b"\n".join(text for _, text in opened.texts(ids)).decode()
                self._note(f"index of {reader}", "\n".join([*names, texts]))
                self._counts["indexes read"] += 1
        time.sleep(0.5)

    def _opened(self, reader: str) -> Index:
        return Index.open(self._tree, index_dir=self._index_folder(reader), encoder="none")

    def _note(self, where: str, text: str) -> None:
        self._counts["bytes checked"] += len(text)
        if f"{_OUTSIDE}_" in text:
            position = text.index(f"{_OUTSIDE}_")
            self._faults.append(f"{where}: {text[max(0, position - 100) : position + 100]}")

    @contextlib.contextmanager
    def _serving(self) -> Iterator[str]:
        with serving(self._tree, "none", self._base / "serve", "--watch", "--no-feedback") as (_, url):
            yield url

    @contextlib.contextmanager
    def _watching(self) -> Iterator[None]:
        command = [str(beside_python()), "watch", str(self._tree), "--index-dir", self._index_folder("watch")]
        process = subprocess.Popen([*command, "--quiet"], stdout=subprocess.DEVNULL)
        try:
            yield
            assert process.poll() is None, "dowse watch has ended"
        finally:
            process.terminate()
            process.wait(30)

    @contextlib.contextmanager
    def _exchanging(self) -> Iterator[None]:
        context = multiprocessing.get_context("fork")
        process = context.Process(target=_exchange_for_ever, args=(self._base, self._exchanges), daemon=True)
        process.start()
        try:
            yield
            assert process.is_alive(), "nothing was exchanged any more"
        finally:
            process.terminate()
            process.join()


if __name__ == "__main__":
    main()
