"""A real `dowse serve` for benchmarks: started, waited for, and its processes and memory counted."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from common import beside_python

# Embedding a large tree takes its time.
_INDEXING_SECONDS = 1800.0


@contextlib.contextmanager
def serving(
    tree: Path, encoder: str, work: Path, *flags: str, dowse: Path | None = None, **settings: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the server on a free port, with variables of the environment; end it as Ctrl-C would."""
    folders = {"DOWSE_INDEX_DIR": str(work / "index"), "DOWSE_DATA_DIR": str(work / "data")}
    command = [dowse or beside_python(), "serve", tree, "--port", "0", "--no-token", "--encoder", encoder]
    command += flags
    environment = {**os.environ, **folders, **settings}
    with (work / "log.txt").open("w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().split()[-1].rstrip("/")
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def wait_until_indexed(url: str) -> int:
    """Listen to the server's events until everything is embedded; return how many symbols there are."""
    place = urlsplit(url)
    line = http.client.HTTPConnection(place.hostname or "", place.port, timeout=_INDEXING_SECONDS)
    line.request("GET", "/api/v1/events")
    for text in line.getresponse():
        if text.startswith(b"data: "):
            event = json.loads(text.removeprefix(b"data: "))
            if event["phase"] == "failed":
                raise SystemExit(event["detail"])
            if event["phase"] == "done":
                break
    line.close()
    line.request("GET", "/api/v1/status")
    [status] = json.load(line.getresponse())["indexes"]
    line.close()
    return int(status["symbols"])
