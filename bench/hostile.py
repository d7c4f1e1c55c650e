"""Every hostile repository of `tests/security/hostile.py` against every command, under strace.

    python bench/hostile.py [--kinds a,b] [--commands search,eval] [--out bench/results/hostile.json]

Counts programs executed, files written outside of cache and index, connections, files read outside of the
repository, tracebacks and hangs; all must be 0.
"""

from __future__ import annotations

import argparse
import collections
import shutil
import sys
import tempfile
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
    options = parser.parse_args()
    kinds, commands = options.kinds.split(","), options.commands.split(",")
    violations: dict[str, list[str]] = {}
    slowest: dict[str, float] = collections.defaultdict(float)
    for kind in kinds:
        top = Path(tempfile.mkdtemp(prefix="hostile-"))
        root, outside = hostile.build(top, kind)
        places = traced.Places(top, root)
        for command in commands:
            found = traced.run(command, places)
            slowest[command] = max(slowest[command], found.seconds)
            wrong = [
                *found.violations,
                *(["executed the payload"] if (outside / "executed").exists() else []),
            ]
            print(kind, command, found.code, f"{found.seconds:.1f} s", *wrong, flush=True)
            if wrong:
                violations[f"{kind} {command}"] = wrong
        shutil.rmtree(top, ignore_errors=True)
    counts = collections.Counter(
        each.split()[0].rstrip(":") for every in violations.values() for each in every
    )
    write_results(
        Path(options.out),
        {
            "kinds": kinds,
            "commands": commands,
            "runs": len(kinds) * len(commands),
            "violations": violations,
            "counts": {
                name: counts[name] for name in ("executed", "wrote", "connected", "read", "traceback", "hang")
            },
            "slowest_seconds": {name: round(value, 1) for name, value in slowest.items()},
        },
    )


if __name__ == "__main__":
    main()
