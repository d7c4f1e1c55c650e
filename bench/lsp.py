"""How long `dowse lsp` takes to answer an editor, over stdio, in a generated tree of 5,000 files.

`workspace/symbol` is asked for beginnings of names and for questions in turn, then callers of a function.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

from common import beside_python, milliseconds, work_folder, write_results

_VERBS = "load store parse render merge split validate encode decode fetch send retry cancel schedule".split()
_NOUNS = "order invoice session token cart account report payment message user image queue cache file".split()
# The client reports changed files, as editors do.
_CAPABILITIES = {"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}}
_WAYS = "by id, with a timeout, in batches, from disk, over the network, for a tenant, as json".split(", ")


def write_tree(root: Path, files: int) -> None:
    """Write Python files with a class and two functions each; each calls one of another file."""
    draw = random.Random(1)
    for number, (verb, noun) in zip(
        range(files), itertools.cycle(itertools.product(_VERBS, _NOUNS)), strict=False
    ):
        way, other = draw.choice(_WAYS), draw.randrange(files)
        name = f"{verb}_{noun}_{number}"
        folder = root / f"package{number % 50}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"module_{number}.py").write_text(
            f'"""{verb.title()} a {noun}."""\n\n'
            f"from package{other % 50}.module_{other} import helper_{other}\n\n\n"
            f'def {name}({noun}):\n    """{verb.title()} one {noun} {way}."""\n'
            f"    return helper_{other}({noun})\n\n\n"
            f'def helper_{number}(value):\n    """Check the {noun} before it is {verb}ed."""\n'
            f"    return value\n"
        )


class Connection:
    """A client that asks one thing after another."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._in, self._out, self._number = process.stdin, process.stdout, 0

    def send(self, message: dict[str, Any]) -> None:
        """Send a message."""
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._in.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def request(self, method: str, params: object) -> tuple[Any, float]:
        """Return the result of a request, and its seconds."""
        self._number += 1
        started = time.perf_counter()
        self.send({"id": self._number, "method": method, "params": params})
        while True:
            message = await self._receive()
            if message.get("id") == self._number and "method" not in message:
                if "error" in message:
                    raise SystemExit(message["error"]["message"])
                return message["result"], time.perf_counter() - started
            if "id" in message and "method" in message:
                self.send({"id": message["id"], "result": None})

    async def _receive(self) -> dict[str, Any]:
        length = 0
        while line := (await self._out.readline()).strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        return dict(json.loads(await self._out.readexactly(length)))


async def measure(
    dowse: Path, root: Path, cache: Path, files: int, rounds: int, encoder: str
) -> dict[str, object]:
    """Build the index, ask, and return times."""
    process = await asyncio.create_subprocess_exec(
        *(dowse, "lsp", "--encoder", encoder),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "DOWSE_CACHE_DIR": str(cache)},
        limit=1 << 24,
    )
    client, started = Connection(process), time.perf_counter()
    folders = [{"uri": root.as_uri(), "name": root.name}]
    await client.request(
        "initialize", {"processId": None, "capabilities": _CAPABILITIES, "workspaceFolders": folders}
    )
    client.send({"method": "initialized", "params": {}})
    await _until(client, lambda status: status["symbols"] > 0)
    searchable = time.perf_counter() - started
    await _until(client, lambda status: status["progress"]["phase"] == "done")
    complete = time.perf_counter() - started
    draw = random.Random(2)
    names = [f"{draw.choice(_VERBS)}_{draw.choice(_NOUNS)}"[: draw.randint(3, 12)] for _ in range(rounds)]
    questions = [
        f"where do we {draw.choice(_VERBS)} the {draw.choice(_NOUNS)} {draw.choice(_WAYS)}"
        for _ in range(rounds)
    ]
    times: dict[str, list[float]] = {"names": [], "questions": [], "incoming_calls": []}
    for name, question in zip(names, questions, strict=True):
        for kind, query in (("names", name), ("questions", question)):
            found, seconds = await client.request("workspace/symbol", {"query": query})
            assert found, query
            times[kind].append(seconds)
    uri = next(root.rglob("module_0.py")).as_uri()
    position = {"textDocument": {"uri": uri}, "position": {"line": 10, "character": 6}}
    items, _ = await client.request("textDocument/prepareCallHierarchy", position)
    for _ in range(rounds):
        times["incoming_calls"].append(
            (await client.request("callHierarchy/incomingCalls", {"item": items[0]}))[1]
        )
    await client.request("shutdown", None)
    client.send({"method": "exit"})
    await process.wait()
    both = times["names"][5:] + times["questions"][5:]
    return {
        "files": files,
        "encoder": encoder,
        "searchable_seconds": round(searchable, 1),
        "complete_seconds": round(complete, 1),
        "workspace_symbol": milliseconds(both),
        **{kind: milliseconds(each[5:]) for kind, each in times.items()},
    }


async def _until(client: Connection, holds: Any) -> None:  # noqa: ANN401 - a predicate
    while not holds((await client.request("dowse/status", {}))[0]["indexes"][0]):
        await asyncio.sleep(0.5)


def main() -> None:
    """Measure, print and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=100, help="of each kind of query")
    parser.add_argument("--encoder", default="base")
    parser.add_argument("--dowse", type=Path, default=beside_python())
    parser.add_argument("--work", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with work_folder(options.work) as work:
        root = work / "tree"
        if not root.exists():
            write_tree(root, options.files)
        results = asyncio.run(
            measure(options.dowse, root, work / "cache", options.files, options.rounds, options.encoder)
        )
    json.dump(results, sys.stdout, indent=1)
    if options.out:
        write_results(options.out, results)


if __name__ == "__main__":
    main()
