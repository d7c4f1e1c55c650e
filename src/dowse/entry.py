"""The entry point of the command: a daemon is tried first, and only then anything is loaded."""

from __future__ import annotations

import sys

# Objects made before the garbage collector looks for cycles: what imports make stays, and looking through it
# again and again is a tenth of a short command.
_COLLECTION_THRESHOLD = 100_000


def main() -> int:
    """Run the command line of this process."""
    from dowse.interfaces.daemon.client import COMMANDS, run_in_daemon

    arguments = sys.argv[1:]
    answered = run_in_daemon(arguments)
    if answered is not None:
        _exit_at_once(answered)
        return answered
    import gc

    gc.set_threshold(_COLLECTION_THRESHOLD, 20, 20)
    from dowse.interfaces.cli.main import main as run

    code = run()
    if arguments and arguments[0] in COMMANDS:
        _exit_at_once(code)
    return code


def _exit_at_once(code: int) -> None:
    """End the process without freeing what it has loaded: the system does that, in a tenth of the time."""
    import atexit
    import os

    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return  # the interpreter reports what can't be written
    atexit._run_exitfuncs()
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
