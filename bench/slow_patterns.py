"""Patterns made to be slow or large, on lines of 1 MB to 50 MB: does each end in time, and alone?

    python bench/slow_patterns.py [--count 500] [--megabytes 1 5 20 50] [--seconds 2] [--seed 0]
        [--only cli|server] [--out FILE]

Each pattern is searched for by the command, with `exact_seconds` = `--seconds`, and by four clients of
`dowse serve`, whose limit is 10 s. Another client asks for words and for `/livez`, beside the patterns and
between blocks of them, as a plain command runs between others: what else runs slows down all of them.
Reported: by how much the limit was exceeded (bar: 1 s) and how often by more, percentiles of other requests
(bar: p99 <= 2 x idle), and the memory of the server and its processes before and after, each a minute later
(bar: 50 MB).
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from urllib.parse import quote, urlsplit

from processes import family_megabytes
from serving import serving, wait_until_indexed

from common import beside_python, percentile, work_folder, write_results

_SAMPLE = Path(__file__).resolve().parents[1] / "tests" / "data" / "sample"
_SERVER_SECONDS, _CLIENTS, _REST_SECONDS, _BAR = 10.0, 4, 10.0, 1.0
# A server gives memory back twice a minute.
_MEMORY_SECONDS = 60.0
# Patterns between two times of rest.
_BLOCK = 25
_ALPHABETS = ["ab", "abc ", "aé ", "aA0_"]
_CLASSES = ["[ab]", "[a-c]", r"\w", r"\p{L}", r"[^b]", ".", r"[\w--b]", "(?:a|ab)", "[aé]"]


def slow_pattern(draw: random.Random) -> str:
    """Return a pattern with a large program, many states, many matches or a long way to each."""
    part, count = draw.choice(_CLASSES), draw.randrange(20, 1000)
    other, few = draw.choice(_CLASSES), draw.randrange(2, 90)
    return draw.choice([
        "|".join(f"a{part}{{{count - n}}}c" for n in range(min(few, count))),
        f"a{part}{{{count}}}c",
        f"(?:{part}{{1,{count}}}|{other}{{1,{count}}})c",
        f"a.*{part}{{{few}}}#|a",
        f"(?:{part}?){{{count}}}{other}{{{few}}}#",
        f"(?:{part}*{other}*){{{few}}}#",
        rf"\b{part}{{1,{count}}}\b{other}",
        rf"(?i)(?:{part}+{other}+){{{few}}}\B#",
        "|".join("".join(draw.choices("abcé", k=12)) for _ in range(10 * few)),
        part,
    ])  # fmt: skip


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that something takes."""
    started = time.monotonic()
    work()
    return time.monotonic() - started


def get(url: str, path: str) -> int:
    """Read the answer to a request over a connection of its own; return its status."""
    line = http.client.HTTPConnection(urlsplit(url).netloc, timeout=120)
    line.request("GET", path)
    answer = line.getresponse()
    answer.read()
    line.close()
    return answer.status


class Samples:
    """The times of requests for words and for a sign of life."""

    def __init__(self, url: str) -> None:
        self._url, self._words, self._alive = url, list[float](), list[float]()

    def add_until(self, end: threading.Event) -> None:
        """Ask for both until told to end."""
        while not end.wait(0.05):
            self._words.append(timed(lambda: get(self._url, "/api/v1/search?q=order+repository&k=5")))
            self._alive.append(timed(lambda: get(self._url, "/livez")))

    def percentiles(self) -> dict[str, float]:
        """Return percentiles in milliseconds."""
        return {"requests": len(self._words)} | {
            f"{name}_{share:g}": round(1000 * percentile(times, share), 1)
            for name, times in (("words", self._words), ("livez", self._alive))
            for share in (0.5, 0.99, 1.0)
        }


def lateness(times: list[tuple[float, str]], limit: float) -> dict[str, object]:
    """Return by how much the slowest pattern exceeded the limit, and how many did by more than the bar."""
    slowest, pattern = max(times)
    over = sum(seconds > limit + _BAR for seconds, _ in times)
    return {"late_s": round(slowest - limit, 2), "of": pattern[:80], "over_bar": over}


def by_server(url: str, pid: int, patterns: list[str]) -> dict[str, object]:
    """Have the server match all patterns, several at once."""
    idle, meanwhile = Samples(url), Samples(url)
    times, statuses = list[tuple[float, str]](), Counter[int]()
    get(url, f"/api/v1/search?mode=regex&k=5&q={quote('a.?b')}")  # texts are in the cache from here on
    time.sleep(_MEMORY_SECONDS)  # that of indexing is given back, too
    memory = family_megabytes(pid)

    def ask(pattern: str) -> None:
        started = time.monotonic()
        statuses[get(url, f"/api/v1/search?mode=regex&k=5&q={quote(pattern)}")] += 1
        times.append((time.monotonic() - started, pattern))

    for start in range(0, len(patterns), _BLOCK):
        rest, end = threading.Event(), threading.Event()
        threading.Timer(_REST_SECONDS, rest.set).start()
        idle.add_until(rest)
        with ThreadPoolExecutor(_CLIENTS + 1) as pool:
            beside = pool.submit(meanwhile.add_until, end)
            list(pool.map(ask, patterns[start : start + _BLOCK]))
            end.set()
            beside.result()
    time.sleep(_MEMORY_SECONDS)
    grown = round(family_megabytes(pid) - memory)
    measured = {"idle": idle.percentiles(), "meanwhile": meanwhile.percentiles(), "grown_megabytes": grown}
    return {**lateness(times, _SERVER_SECONDS), "statuses": statuses, **measured}


def by_command(tree: Path, work: Path, patterns: list[str], seconds: float) -> dict[str, object]:
    """Have a command match each pattern; its start and end count, too."""
    flags = "--refresh never --mode regex -k 5 --json --repo".split()
    environment = {**os.environ, "DOWSE_INDEX_DIR": str(work / "index"), "DOWSE_RESIDENT_MINUTES": "0"}
    environment |= {"DOWSE_EXACT_SECONDS": str(seconds), "DOWSE_QUERY_SECONDS": str(seconds)}

    def run(pattern: str) -> tuple[float, str]:
        command = [beside_python(), "search", *flags, tree, "--", pattern]
        return timed(partial(subprocess.run, command, env=environment, capture_output=True)), pattern

    plain, times = list[float](), list[tuple[float, str]]()
    for number, pattern in enumerate(patterns):
        if number % _BLOCK == 0:
            plain.append(run("repository")[0])
        times.append(run(pattern))
    return {**lateness(times, seconds), "plain_s": round(max(plain), 2)}


def main() -> None:
    """Make the lines and the patterns, and write what was measured."""
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=style)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--megabytes", type=int, nargs="+", default=[1, 5, 20, 50])
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=["cli", "server"])
    parser.add_argument("--work", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    results: dict[str, object] = {"patterns": options.count, "megabytes": options.megabytes}
    with work_folder(options.work) as work:
        tree = work / "tree"
        shutil.copytree(_SAMPLE, tree, dirs_exist_ok=True)
        for size, alphabet in zip(options.megabytes, _ALPHABETS * len(options.megabytes), strict=False):
            line = "".join(draw.choices(alphabet, k=size * 1_000_000))
            (tree / f"line{size}.txt").write_text(f"one\n{line}\ntwo\n")
        patterns = [slow_pattern(draw) for _ in range(options.count)]
        with serving(tree, "none", work, DOWSE_MAX_FILE_BYTES="200_000_000") as (process, url):
            wait_until_indexed(url)
            if options.only != "cli":
                results["server"] = by_server(url, process.pid, patterns)
        if options.only != "server":
            results["command"] = by_command(tree, work, patterns, options.seconds)
    print(results)
    if options.out:
        write_results(options.out, results)


if __name__ == "__main__":
    main()
