"""How long a command takes from start to output when a warm process answers, beside `python -c pass`.

python bench/warm_speed.py REPOSITORY --out FILE

The warm process is the one that a first search leaves; with `--watch` it is `dowse watch`.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from common import work_folder, write_results

QUERIES = (
    "parse cookie header",
    "where are requests retried",
    "what calls close",
    "getUserName",
    "/def \\w+_key/",
)
# Seconds until the process that a search leaves must answer.
_PATIENCE = 60.0
# Fails where no warm process has answered.
_ASK = """import sys
from dowse.interfaces.daemon.client import run_in_daemon
sys.exit(run_in_daemon(["search", sys.argv[1], "-l"]) is None)"""


def main() -> None:
    """Measure in turn, so that all see the same machine."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repository", type=Path)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--encoder", default="base")
    parser.add_argument("--watch", action="store_true", help="measure `dowse watch`")
    parser.add_argument("--work", type=Path, help="folder to work in (default: a temporary one)")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with work_folder(options.work) as folder:
        environment = {
            **os.environ,
            "DOWSE_CACHE_DIR": str(folder / "cache"),
            "DOWSE_ENCODER": options.encoder,
        }
        results = run(options, environment)
    print(results)
    if options.out:
        write_results(options.out, results)


def run(options: argparse.Namespace, environment: dict[str, str]) -> dict[str, object]:
    """Return medians and their ratios to a Python that does nothing."""
    root = options.repository.resolve()
    dowse = [sys.executable, "-m", "dowse.entry"]
    subprocess.run([*dowse, "index", "-q"], cwd=root, env=environment, check=True)
    with warm_process(dowse, root, environment, watch=options.watch):
        rows: dict[str, list[float]] = {"python -c pass": []}
        for number in range(options.rounds + 2):  # the first two warm up what is cached by the system
            for name, command in _commands(dowse):
                seconds = _timed(command, root, environment)
                rows.setdefault(name, [])
                if number > 1:
                    rows[name].append(seconds)
    medians = {name: statistics.median(times) for name, times in rows.items()}
    least = medians["python -c pass"]
    warm = [value for name, value in medians.items() if name.startswith("warm")]
    return {
        "milliseconds": {name: round(1000 * value, 1) for name, value in medians.items()},
        "times python -c pass": {name: round(value / least, 2) for name, value in medians.items()},
        "warm search, median": round(statistics.median(warm) / least, 2),
        "warm process": "dowse watch" if options.watch else "left by a search",
        "rounds": options.rounds,
        "encoder": options.encoder,
        "repository": root.name,
    }


@contextlib.contextmanager
def warm_process(
    dowse: Sequence[str], root: Path, environment: dict[str, str], *, watch: bool
) -> Iterator[None]:
    """Have a process answer commands: `dowse watch`, or the one that a search leaves."""
    if not watch:
        subprocess.run([*dowse, "search", QUERIES[0]], cwd=root, env=environment, stdout=subprocess.DEVNULL)
        until = time.monotonic() + _PATIENCE
        while subprocess.run([sys.executable, "-c", _ASK, QUERIES[0]], cwd=root, env=environment).returncode:
            if time.monotonic() > until:
                raise SystemExit("no process answers; is `resident_minutes` 0?")
            time.sleep(0.05)
        try:
            yield
        finally:
            subprocess.run([*dowse, "stop"], cwd=root, env=environment, stdout=subprocess.DEVNULL)
        return
    process = subprocess.Popen(
        [*dowse, "watch"],
        cwd=root,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        next(line for line in process.stdout or () if "watching" in line)
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate()


def _commands(dowse: Sequence[str]) -> list[tuple[str, list[str]]]:
    asked = [(f"warm: {query}", [*dowse, "search", query, "-k", "5"]) for query in QUERIES]
    cold = [*dowse, "search", QUERIES[0], "-k", "5", "--no-daemon"]
    return [("python -c pass", [sys.executable, "-c", "pass"]), *asked, (f"cold: {QUERIES[0]}", cold)]


def _timed(command: list[str], root: Path, environment: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(
        command, cwd=root, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
    )
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
