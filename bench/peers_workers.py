"""Processes that `peers.py` starts: SQLite FTS5 as a command, and FTS5 and zoekt kept running.

python bench/peers_workers.py fts5-index|fts5-search|fts5-warm DATABASE [ROOT|QUERY]
python bench/peers_workers.py zoekt-warm FOLDER ZOEKT_WEBSERVER
"""

from __future__ import annotations

import json
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

_LARGEST_FILE = 1_000_000  # as semble and dowse
# A warm process: opens its index, then reads a query a line and prints the seconds that the answer took.
LOOP = """
import sys, time
for line in sys.stdin:
    started = time.perf_counter()
    found = len(list(ask(line.strip())))
    print(time.perf_counter() - started, found, flush=True)
"""


def main() -> None:
    """Run the command that is named."""
    name, *arguments = sys.argv[1:]
    commands = {"fts5-index": fts5_index, "fts5-search": fts5_search, "fts5-warm": fts5_warm}
    {**commands, "zoekt-warm": zoekt_warm}[name](*arguments)


def any_word(query: str) -> str:
    """Return a query that asks for any of the words, as zoekt and FTS5 spell it alike but for case."""
    return " or ".join(query.split())


def fts5_warm(store: str) -> None:
    """Answer queries of standard input from an open database."""
    with closing(sqlite3.connect(store)) as database:
        exec(LOOP, {"ask": partial(fts5_rows, database)})


def zoekt_warm(store: str, server: str) -> None:
    """Answer queries of standard input by zoekt's server."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    process = subprocess.Popen(
        [server, "-index", store, "-listen", address, "-rpc"], stderr=subprocess.DEVNULL
    )

    def ask(query: str) -> list[Any]:
        body = json.dumps({"Q": any_word(query), "Opts": {"MaxDocDisplayCount": 10}}).encode()
        with urllib.request.urlopen(f"http://{address}/api/search", body) as answer:
            return json.load(answer)["Result"]["Files"] or []

    while process.poll() is None:
        try:
            ask("a")
            break
        except OSError:  # not listening yet
            time.sleep(0.05)
    exec(LOOP, {"ask": ask})
    process.send_signal(signal.SIGTERM)
    process.wait()


def fts5_index(store: str, root: str) -> None:
    """Put every file of a repository into one table."""
    with closing(sqlite3.connect(store)) as database, database:
        database.execute("CREATE VIRTUAL TABLE file USING fts5(path, text)")
        database.executemany("INSERT INTO file VALUES (?, ?)", text_files(Path(root)))


def fts5_search(store: str, query: str) -> None:
    """Print the ten best files."""
    with closing(sqlite3.connect(store)) as database:
        print(*fts5_rows(database, query), sep="\n")


def fts5_rows(database: sqlite3.Connection, query: str) -> list[Any]:
    """Return the ten best files by BM25 and a snippet of each."""
    words = " OR ".join(f'"{word}"' for word in query.split())
    ask = "SELECT path, snippet(file, 1, '', '', '…', 20) FROM file WHERE file MATCH ? ORDER BY rank LIMIT 10"
    return database.execute(ask, [words]).fetchall()


def text_files(root: Path) -> Iterator[tuple[str, str]]:
    """Yield path and text of what git tracks, without binary and very large files."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True, check=True)
    for path in filter(None, listed.stdout.split("\0")):
        file = root / path
        if file.is_file() and not file.is_symlink() and file.stat().st_size <= _LARGEST_FILE:
            content = file.read_bytes()
            if b"\0" not in content:
                yield path, content.decode(errors="replace")


if __name__ == "__main__":
    main()
