"""Processes of other tools: SQLite FTS5 as a command, FTS5 and zoekt kept running, semble for agents.

`peers.py` starts those of FTS5 and zoekt, `agent.py` that of semble, with the Python that has it.

python bench/peers_workers.py fts5-index|fts5-search|fts5-warm DATABASE [ROOT|QUERY]
python bench/peers_workers.py zoekt-warm FOLDER ZOEKT_WEBSERVER
python bench/peers_workers.py semble-answers ROOT [ENCODER]
"""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
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
    commands: dict[str, Callable[..., None]] = {
        "fts5-index": fts5_index,
        "fts5-search": fts5_search,
        "fts5-warm": fts5_warm,
    }
    commands |= {"zoekt-warm": zoekt_warm, "semble-answers": semble_answers}
    commands[name](*arguments)


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


def semble_answers(root: str, encoder: str = "") -> None:
    """Print what semble's server keeps in an agent's context, then its answer to each question.

    Questions are lines of JSON with `query` and `top_k`. With an encoder of dowse, that stands in for
    semble's model, where it can't be fetched.
    """
    from semble.cache import save_index_to_cache
    from semble.index import SembleIndex, create, dense
    from semble.utils import format_results

    if encoder:
        model = DowseVectors(encoder)
        create.embed_chunks = model.encode_chunks
        dense._load_cached = lambda _: model
    index = SembleIndex.from_path(root, model_path=f"dowse-{encoder}" if encoder else None)
    save_index_to_cache(index, str(Path(root).resolve()))
    print(json.dumps(semble_context()), flush=True)
    for line in sys.stdin:
        query, top_k = (question := json.loads(line))["query"], question["top_k"]
        found = index.search(query, top_k=top_k, max_snippet_lines=10)  # as its tool has it by default
        answer = json.dumps(format_results(query, found, 10, index.sources))
        print(json.dumps(answer), flush=True)


def semble_context() -> str:
    """Return the instructions of semble's server, and its tools with their schemas."""
    from semble import mcp

    server = mcp.create_server(mcp._IndexCache())
    tools = [each.model_dump(by_alias=True, exclude_none=True) for each in asyncio.run(server.list_tools())]
    return f"{server.instructions}\n{json.dumps(tools, separators=(',', ':'), ensure_ascii=False)}"


class DowseVectors:
    """An encoder of dowse in the place of semble's model."""

    def __init__(self, name: str) -> None:
        from dowse.encoders.registry import load_encoder

        self._encoder = load_encoder(name, view="text")
        self.dim = self._encoder.dimension

    def encode(self, texts: list[str], **_: object) -> Any:  # noqa: ANN401 - an array
        """Encode questions."""
        return self._encoder.encode_queries(texts)

    def encode_chunks(self, _: object, chunks: list[Any]) -> Any:  # noqa: ANN401 - an array
        """Encode chunks of code, in the place of `embed_chunks`."""
        import numpy as np

        from dowse.encoders.document import Document

        if not chunks:
            return np.empty((0, self.dim), dtype=np.float32)
        return self._encoder.encode_documents(
            [Document("", "", "", each.content, each.language or "", each.file_path) for each in chunks]
        )


if __name__ == "__main__":
    main()
