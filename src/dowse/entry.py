"""The entry point of the command: a daemon is tried first, and only then anything is loaded."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line of this process."""
    from dowse.interfaces.daemon.client import run_in_daemon

    answered = run_in_daemon(sys.argv[1:])
    if answered is not None:
        return answered
    from dowse.interfaces.cli.main import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
