"""`dowse watch`: keep indexes true while files change, and answer commands from a process that is warm."""

from __future__ import annotations

import argparse
import contextlib
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.config import DEVICES, VECTORS, VIEWS
from dowse.interfaces.daemon.client import COMMANDS, NO_DAEMON
from dowse.security.terminal import escape_name

if TYPE_CHECKING:
    from dowse.index import Index
    from dowse.watch import WatchEvent

# Settings that are flags of this command.
_SETTINGS = ("encoder", "view", "vectors", "device")


def add_watch(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Add the command to the command line."""
    text = "keep indexes true while files change, and answer searches at once, until Ctrl-C"
    parser = commands.add_parser("watch", help=text, description=text[0].upper() + text[1:] + ".")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="repositories or folders (default: .)")
    parser.add_argument("--index-dir", metavar="DIR", help="where the index lies, if there is one PATH")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="encoding threads (default: 1)")
    parser.add_argument("--nice", type=int, default=10, metavar="N", help="of the work (default: 10)")
    parser.add_argument("--encoder", metavar="NAME", help="as for `dowse index`, and for searches to come")
    parser.add_argument("--view", choices=VIEWS, help="as for `dowse index`")
    parser.add_argument("--vectors", choices=VECTORS, help="as for `dowse index`")
    parser.add_argument("--device", choices=DEVICES, help="as for `dowse index`")
    parser.add_argument("--poll", action="store_true", help="look every few seconds instead of being told")
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing but errors")
    return parser


def add_no_daemon(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add to all that a warm process may answer how to do without one."""
    for name in sorted(COMMANDS & set(commands.choices)):
        commands.choices[name].add_argument(
            NO_DAEMON, action="store_true", help="answer here, also where a dowse process is up that could"
        )


def watch(options: argparse.Namespace) -> int:
    """Watch until told to end."""
    from dowse.errors import DowseError
    from dowse.index import Index
    from dowse.interfaces.cli.main import FOUND
    from dowse.interfaces.daemon.server import DaemonServer
    from dowse.watch import Watcher, WatchOptions

    paths = list(dict.fromkeys(str(Path(path).expanduser().resolve()) for path in options.paths or ["."]))
    if options.index_dir and len(paths) > 1:
        raise DowseError("--index-dir names the index of one PATH; watch several without it")
    settings = {name: getattr(options, name) for name in _SETTINGS}
    indexes = [Index.open(path, index_dir=options.index_dir, **settings) for path in paths]
    how = WatchOptions(threads=options.threads, niceness=options.nice, poll=options.poll)
    teller = _Teller(options.quiet, several=len(indexes) > 1)
    watchers = [Watcher(index, _hearer(index, teller), how) for index in indexes]
    server = DaemonServer(indexes, watchers)
    with _stop_signals() as wait_for_signal:
        for watcher in watchers:
            watcher.start()
        server.start()
        wait_for_signal()
        server.stop()
        for watcher in watchers:
            watcher.stop()
        _close(indexes)
    return FOUND


def _hearer(index: Index, teller: _Teller) -> Callable[[WatchEvent], None]:
    """Return what says events, and gets ready to answer once there is something to answer from."""
    from dowse.interfaces.daemon.server import warm_up

    def hear(event: WatchEvent) -> None:
        teller.hear(event)
        if event.kind == "watching":
            threading.Thread(target=warm_up, args=(index,), daemon=True).start()

    return hear


def _close(indexes: list[Index]) -> None:
    for index in indexes:
        index.close()


@contextlib.contextmanager
def _stop_signals() -> Iterator[Callable[[], object]]:
    """Give a function that waits until the process is told to end; a second signal ends it at once.

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


class _Teller:
    """Says what happens, a line each."""

    def __init__(self, quiet: bool, several: bool) -> None:
        self._quiet, self._several = quiet, several

    def hear(self, event: WatchEvent) -> None:
        """Say an event, if it is worth a line."""
        text = _words(event)
        if not text or (self._quiet and event.kind != "failed"):
            return
        said = escape_name(f"{Path(event.root).name}: {text}" if self._several else text)
        stream = sys.stderr if event.kind == "failed" else sys.stdout
        with contextlib.suppress(BrokenPipeError):  # nobody reads it any more; the work goes on
            stream.write(f"{time.strftime('%H:%M:%S')} {said}\n")
            stream.flush()


def _words(event: WatchEvent) -> str:
    """Return an event in words; "" for one that only says how far something is."""
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
