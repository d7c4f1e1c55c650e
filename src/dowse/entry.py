"""The entry point of the command: a running daemon answers if there is one; only else is anything loaded."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line of this process."""
    from dowse.interfaces.daemon.client import ask

    answered = ask(sys.argv[1:])
    if answered is not None:
        return answered
    from dowse.interfaces.cli.main import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
