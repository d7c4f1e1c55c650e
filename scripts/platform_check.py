"""Try an installed dowse on this system: `python scripts/platform_check.py` searches the sample repository.

It uses nothing but Python and the `dowse` beside it, so that it runs on Windows, too
(.github/workflows/platforms.yml). It prints each command, and fails at the first wrong answer.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SAMPLE = Path(__file__).resolve().parents[1] / "tests" / "data" / "sample"
# Arguments, and what the answer must have.
TRIES = (
    (("index",), ""),
    (("search", "where is the oven heated up"), "Preheat"),
    (("search", "parse_order", "-l"), "src/bakery/orders.py"),
    (("search", r"/def \w+_order/", "-k", "0"), "parse_order"),
    (("callers", "orders.parse_order"), "calls, resolved"),
    (("symbols", "bake*"), "bake_bread"),
    (("context", "orders have the wrong total"), "orders.py"),
    (("search", "how is the dough made", "--no-daemon", "--json"), '"bake_bread"'),
    (("status",), "symbols"),
    (("doctor",), "encoder"),
)


def main() -> int:
    """Run every command in a copy of the sample."""
    dowse = shutil.which(
        "dowse", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    if not dowse:
        print("there is no dowse beside this Python; install it first", file=sys.stderr)
        return 2
    print(platform.platform(), platform.machine(), platform.python_version())
    # What a process that still ends holds open cannot be removed on Windows.
    with tempfile.TemporaryDirectory(prefix="dowse-check-", ignore_cleanup_errors=True) as folder:
        tree = Path(folder, "sample")
        shutil.copytree(SAMPLE, tree)
        environment = {**os.environ, "DOWSE_CACHE_DIR": str(Path(folder, "cache"))}
        environment |= {"DOWSE_DATA_DIR": str(Path(folder, "data")), "PYTHONUTF8": "1"}
        for arguments, expected in TRIES:
            done = subprocess.run(
                [dowse, *arguments],
                cwd=tree,
                env=environment,
                capture_output=True,
                encoding="utf-8",
                check=False,
            )
            answer = done.stdout.replace("\\", "/") + done.stderr
            is_right = done.returncode == 0 and expected in answer
            print("ok   " if is_right else "wrong", "dowse", *arguments)
            if not is_right:
                print(f"exit code {done.returncode}, {expected!r} expected:\n{answer}", file=sys.stderr)
                return 1
        subprocess.run([dowse, "stop"], env=environment, capture_output=True, check=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
