"""Run `dowse serve` and start it again whenever the package's code changes; for scripts/dev."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import time
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "dowse"
# Saving in an editor is answered within this time; looking costs some milliseconds.
_EVERY_SECONDS = 0.7


def main() -> int:
    """Serve until this process is stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", default="8742")
    parser.add_argument("paths", nargs="*", default=["."])
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    while True:
        dowse = [sys.executable, "-m", "dowse.interfaces.cli.main"]
        command = [*dowse, "serve", "--port", options.port, *options.paths]
        before, server = code_version(), subprocess.Popen(command)
        try:
            while code_version() == before:
                time.sleep(_EVERY_SECONDS)
        except KeyboardInterrupt:
            return 0
        finally:
            server.terminate()
            server.wait()


def code_version() -> tuple[float, int]:
    """Return when the code last changed, and how many files it has; the built page does not count."""
    times = [path.stat().st_mtime for path in PACKAGE.rglob("*.py")]
    return max(times), len(times)


if __name__ == "__main__":
    sys.exit(main())
