"""The lock of a source: one writer at a time, on whatever machine, and none outlives its writer for long.

It is part of the source's document. Its holder raises a number every few seconds; whoever waits takes over
when that stands still, or at once if the holder was a process of this machine that is no more. A holder that
could not raise it for a while stops writing by itself, before anybody takes over.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dowse.errors import DowseError, IndexLocked
from dowse.storage.elastic.client import Client
from dowse.storage.elastic.names import Names, source_id
from dowse.storage.elastic.transactions import Documents, LostTransaction, State, with_version

BEAT_SECONDS = 5.0
# Without a beat for so long, a holder counts as dead …
STALE_SECONDS = 30.0
# … and stops by itself some seconds earlier, so that nothing it sends arrives late.
LEASE_SECONDS = 20.0
# A node that hangs must not keep a beat until the lease is over: another one is asked in time.
_WRITE_SECONDS = 6.0
_POLL_SECONDS = 0.25


class SourceLock:
    """Held by one writer of one source."""

    def __init__(self, client: Client, names: Names, slot: str) -> None:
        self._client, self.slot = client, slot
        self._documents = Documents(client, names, _WRITE_SECONDS)
        self.owner = uuid.uuid4().hex
        self._mine: dict[str, Any] = {
            "owner": self.owner,
            "host": _this_host(),
            "pid": os.getpid(),
            "beat": 0,
        }
        self._beaten = 0.0
        self._stopped = threading.Event()
        self._changing = threading.Lock()
        self._thread: threading.Thread | None = None

    def acquire(self, wait: float | None, on_wait: Callable[[str], None]) -> None:
        """Become the holder; wait up to `wait` seconds for another one (None: as long as it takes)."""
        started, seen, since, told = time.monotonic(), None, time.monotonic(), False
        while True:
            asked = time.monotonic()
            holder = self._try()
            if holder is None:
                break
            if holder != seen:
                seen, since = holder, time.monotonic()
            if _is_dead(holder) or time.monotonic() - since > STALE_SECONDS:
                self._try(instead_of=holder)
                continue
            who = f"another dowse (process {holder['pid']} on {holder['host'].partition('/')[0]})"
            if wait is not None and time.monotonic() - started >= wait:
                raise IndexLocked(
                    f"{who} is writing {self.slot} to {self._client.address}; "
                    "wait for it to finish, or end that process"
                )
            if not told:
                on_wait(f"waiting for {who} to finish writing")
                told = True
            time.sleep(_POLL_SECONDS)
        self._beaten = asked
        self._thread = threading.Thread(target=self._keep, name="dowse-lock", daemon=True)
        self._thread.start()

    def release(self) -> None:
        """Let others write; what can't be said now, they find out by themselves."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

        def change(data: State | None) -> State | None:
            if data is None or (data.get("lock") or {}).get("owner") != self.owner:
                return None
            return {**data, "lock": None}

        try:
            self._change(change)
        except DowseError:
            return

    @property
    def versions(self) -> dict[str, Any]:
        """What the source was after its last transactions, and would be after one that is under way."""
        return dict((self._documents.read(source_id(self.slot)) or {}).get("versions", {}))

    def check(self) -> None:
        """Raise if somebody else may be writing by now."""
        if time.monotonic() - self._beaten > LEASE_SECONDS:
            raise self._lost()

    def confirm(self) -> None:
        """Ask the cluster, and raise if somebody else holds the lock."""
        self._change_mine(lambda data: data, refresh=False)

    def put_version(self, done: int, tx: int, version: Mapping[str, Any]) -> None:
        """Write down what the source will be once a transaction is done."""
        self._change_mine(
            lambda data: {**data, "versions": with_version(data.get("versions", {}), done, tx, version)}
        )

    def drop_version(self, tx: int) -> None:
        """Forget what the source would have been after a transaction that is given up."""

        def change(data: State) -> State:
            kept = {each: version for each, version in data.get("versions", {}).items() if each != str(tx)}
            return {**data, "versions": kept}

        self._change_mine(change)

    def forget_versions(self) -> None:
        """Write down that there is no such source any more."""
        self._change_mine(lambda data: {**data, "versions": {}})

    def _change_mine(self, change: Callable[[State], State], refresh: bool = True) -> None:
        def checked(data: State | None) -> State:
            if data is None or (data.get("lock") or {}).get("owner") != self.owner:
                raise self._lost()
            return change(data)

        # Refreshed, for sources are also found by searching.
        self._change(checked, refresh=refresh)

    def _change(
        self, change: Callable[[State | None], State | None], *, refresh: bool = False, fresh: bool = False
    ) -> None:
        with self._changing:
            self._documents.change(source_id(self.slot), change, slot=self.slot, refresh=refresh, fresh=fresh)

    def _try(self, instead_of: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
        """Take the lock if it is free, or held by whom we say; return who holds it, None if we do."""
        holder: dict[str, Any] | None = None

        def change(data: State | None) -> State | None:
            nonlocal holder
            holder = (data or {}).get("lock")
            if holder and holder["owner"] != self.owner and holder != instead_of:
                return None
            holder = None
            return {**(data or {"slot": self.slot, "versions": {}}), "lock": self._mine}

        self._change(change, fresh=True)
        return holder

    def _keep(self) -> None:
        """Raise the number until the lock is released; failures are tried again."""

        def change(data: State) -> State:
            self._mine = {**self._mine, "beat": self._mine["beat"] + 1}
            return {**data, "lock": self._mine}

        while not self._stopped.wait(BEAT_SECONDS):
            # From before it is sent: others count from when it arrives, which its answer may long outlast.
            asked = time.monotonic()
            try:
                self._change_mine(change, refresh=False)
                self._beaten = asked
            except LostTransaction:
                self._beaten = -LEASE_SECONDS
                return
            except DowseError:
                continue

    def _lost(self) -> LostTransaction:
        return LostTransaction(
            f"another dowse is writing {self.slot} to {self._client.address} now, "
            "for this one could not be heard for a while; run the same again"
        )


def holder_of(client: Client, names: Names, slot: str) -> dict[str, Any] | None:
    """Return who writes a source, None if nobody does."""
    found = client.get(names.alias("meta"), source_id(slot))
    holder = found["_source"]["data"].get("lock") if found else None
    return None if not holder or _is_dead(holder) else dict(holder)


def _is_dead(holder: Mapping[str, Any]) -> bool:
    """Whether the holder was a process of this machine that is no more."""
    if holder["host"] != _this_host():
        return False
    try:
        os.kill(int(holder["pid"]), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return _is_zombie(int(holder["pid"]))


def _is_zombie(pid: int) -> bool:
    """Whether a process has ended and only its parent does not know yet."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[:1] == ["Z"]


def _this_host() -> str:
    """Return what tells this machine from others, and one container on it from the next."""
    boot = space = ""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        space = str(Path("/proc/self/ns/pid").stat().st_ino)
    return f"{socket.gethostname()}/{boot}/{space}"
