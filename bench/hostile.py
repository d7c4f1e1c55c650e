"""Every hostile repository of `tests/security/hostile.py` against every command, under strace.

    python bench/hostile.py [--kinds a,b] [--commands search,eval] [--out bench/results/hostile.json]

Counts programs executed, files written outside of cache and index, connections, files read outside of the
repository, tracebacks and hangs; all must be 0.
"""

from __future__ import annotations

import argparse
import collections
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from common import write_results

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "security")]

import traced  # noqa: E402

import hostile  # noqa: E402


def main() -> None:
    """Run the matrix and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", default=",".join(hostile.KINDS))
    parser.add_argument("--commands", default=",".join(traced.COMMANDS))
    parser.add_argument("--out", default=str(ROOT / "bench" / "results" / "hostile.json"))
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    kinds, commands = options.kinds.split(","), options.commands.split(",")
    violations: dict[str, list[str]] = {}
    slowest: dict[str, float] = collections.defaultdict(float)
    with ThreadPoolExecutor(options.processes) as pool:
        for kind, outcomes in zip(kinds, pool.map(lambda kind: attack(kind, commands), kinds), strict=True):
            for found in outcomes:
                slowest[found.command] = max(slowest[found.command], found.seconds)
                print(
                    kind, found.command, found.code, f"{found.seconds:.1f} s", *found.violations, flush=True
                )
                if found.violations:
                    violations[f"{kind} {found.command}"] = found.violations
    counts = collections.Counter(
        each.split()[0].rstrip(":") for every in violations.values() for each in every
    )
    write_results(
        Path(options.out),
        {
            "kinds": kinds,
            "commands": commands,
            "encoder": os.environ.get("HOSTILE_ENCODER", "small"),
            "runs": len(kinds) * len(commands),
            "violations": violations,
            "counts": {
                name: counts[name] for name in ("executed", "wrote", "connected", "read", "traceback", "hang")
            },
            "slowest_seconds": {name: round(value, 1) for name, value in slowest.items()},
        },
    )


def attack(kind: str, commands: list[str]) -> list[traced.Outcome]:
    """Run every command in a repository of one kind."""
    top = Path(tempfile.mkdtemp(prefix="hostile-"))
    root, outside = hostile.build(top, kind)
    places = traced.Places(top, root)
    outcomes = []
    for command in commands:
        found = traced.run(command, places)
        if (outside / "executed").exists():
            found.violations.append("executed the payload")
        outcomes.append(found)
    subprocess.run(["rm", "-rf", str(top)], check=False)  # deeper than Python's own removal goes
    return outcomes


if __name__ == "__main__":
    main()
