"""`dowse watch`: update indexes while files change, and answer commands from this warm process."""

from __future__ import annotations

import argparse
import contextlib
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.errors import DowseError
from dowse.interfaces.cli import flags
from dowse.interfaces.cli.command import EXIT_FOUND, CommandParser
from dowse.interfaces.cli.common import root_here
from dowse.interfaces.daemon.foreground import serve_in_foreground
from dowse.security.terminal import escape_name

if TYPE_CHECKING:
    from dowse.watch import WatchEvent


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse watch`."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="repositories or folders (default: .)")
    parser.add_argument("--index-dir", metavar="DIR", help="folder of the index, if there is one PATH")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="encoding threads (default: 1)")
    parser.add_argument("--nice", type=int, default=10, metavar="N", help="niceness (default: 10)")
    flags.add(parser, "--encoder")
    parser.add_argument(
        "--poll", action="store_true", help="scan every few seconds instead of using system notifications"
    )
    flags.add(parser, "--quiet")


def run(options: argparse.Namespace) -> int:
    """Watch until a signal stops the process."""
    from dowse.index import Index
    from dowse.watch import Maintainer

    named = options.paths or [root_here(options)]
    paths = list(dict.fromkeys(str(Path(path).expanduser().resolve()) for path in named))
    if options.index_dir and len(paths) > 1:
        raise DowseError("--index-dir names the index of one PATH; watch several without it")
    flags = {"index_dir": options.index_dir, "encoder": options.encoder}
    indexes = [Index.open(path, **flags) for path in paths]
    show = _event_writer(len(indexes) > 1, options.quiet)
    maintainer = Maintainer(show, niceness=options.nice, threads=options.threads, poll=options.poll)
    with _stop_signals() as wait_for_signal:
        for index in indexes:
            maintainer.request(index, "watch")
        with serve_in_foreground(maintainer):
            wait_for_signal()
        maintainer.close()
        for index in indexes:
            index.close()
    return EXIT_FOUND


def _event_writer(has_several: bool, quiet: bool) -> Callable[[WatchEvent], None]:
    """Return a function that logs events."""

    def write(event: WatchEvent) -> None:
        text = _describe(event)
        if text and (not quiet or event.kind == "failed"):
            _write_event(event, f"{Path(event.root).name}: {text}" if has_several else text)

    return write


@contextlib.contextmanager
def _stop_signals() -> Iterator[Callable[[], object]]:
    """Yield a function that waits for SIGINT or SIGTERM; a second signal ends the process at once.

    The kernel may deliver a signal to any thread, and a main thread that waits for a lock does not notice
    then. The wake-up socket is written by the C handler, whichever thread it runs in.
    """
    readable, writable = socket.socketpair()
    writable.setblocking(False)

    def restore_default(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)

    before = {number: signal.signal(number, restore_default) for number in (signal.SIGINT, signal.SIGTERM)}
    wakeup = signal.set_wakeup_fd(writable.fileno())
    try:
        yield lambda: readable.recv(1)
    finally:
        signal.set_wakeup_fd(wakeup)
        for number, handler in before.items():
            signal.signal(number, handler)
        readable.close()
        writable.close()


def _write_event(event: WatchEvent, text: str) -> None:
    """Write one line, with errors to standard error."""
    stream = sys.stderr if event.kind == "failed" else sys.stdout
    with contextlib.suppress(BrokenPipeError):  # nobody reads it any more; watching goes on
        stream.write(f"{time.strftime('%H:%M:%S')} {escape_name(text)}\n")
        stream.flush()


def _describe(event: WatchEvent) -> str:
    """Return the text of an event; "" for one that only reports progress."""
    if event.kind == "indexed":
        counts = (("added", event.added), ("changed", event.changed), ("deleted", event.deleted))
        done = ", ".join(f"{count:,} {name}" for name, count in counts if count) or "brought up to date"
        return f"indexed: {done} in {event.seconds:.1f} s"
    if event.kind == "embedded":
        symbols = "symbol" if event.done == 1 else "symbols"
        return f"embedded: {event.done:,} {symbols} in {event.seconds:.1f} s" if event.done else ""
    if event.kind == "watching":
        return f"watching {event.root} ({event.detail}); Ctrl-C ends it"
    return f"{event.kind}: {event.detail}" if event.kind in ("waiting", "failed") else ""
