"""The lease of a source: one writer at a time, on whatever machine; a dead writer's lease expires.

It is part of the source's document. The holder increments a counter every few seconds (heartbeat); a waiting
writer takes over when the counter stands still, or at once if the holder was a process of this machine that
has ended. A holder whose heartbeats fail stops writing by itself before anybody takes over; the owner in the
transaction fences it off should it be alive after all (see `transactions`).
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
from dowse.storage.elastic.meta_documents import MetaDocuments, State
from dowse.storage.elastic.names import META, source_id

HEARTBEAT_SECONDS = 5.0
# Without a heartbeat for so long, a holder counts as dead …
STALE_SECONDS = 30.0
# … and stops by itself some seconds earlier, so that nothing it sends arrives late.
LEASE_SECONDS = 20.0
# A node that hangs must not delay a heartbeat until the lease is over: another one gets the request in time.
_WRITE_SECONDS = 6.0
_POLL_SECONDS = 0.25
# Versions of a source's description that are kept: readers of the last one may be in use.
_VERSIONS = 2


class LeaseLost(DowseError):
    """Another writer has taken over."""


class SourceLease:
    """Held by one writer of one source."""

    def __init__(self, client: Client, source: str) -> None:
        self._client, self.source = client, source
        self._documents = MetaDocuments(client, _WRITE_SECONDS)
        self.owner = uuid.uuid4().hex
        self._holder: dict[str, Any] = {
            **{"owner": self.owner, "host": _host_id(), "pid": os.getpid(), "beat": 0}
        }
        self.last_heartbeat = 0.0
        self._stopped = threading.Event()
        self._updating = threading.Lock()
        self._thread: threading.Thread | None = None

    def acquire(self, wait: float | None, on_wait: Callable[[str], None]) -> None:
        """Become the holder; wait up to `wait` seconds for another one (None: as long as it takes)."""
        started = since = time.monotonic()
        last_seen, is_waiting = None, False
        while True:
            requested = time.monotonic()
            holder = self._try_acquire()
            if holder is None:
                break
            if holder != last_seen:
                last_seen, since = holder, time.monotonic()
            if _has_ended(holder) or time.monotonic() - since > STALE_SECONDS:
                self._try_acquire(instead_of=holder)
                continue
            writer = f"another dowse (process {holder['pid']} on {holder['host'].partition('/')[0]})"
            if wait is not None and time.monotonic() - started >= wait:
                raise IndexLocked(
                    f"{writer} is writing {self.source} to {self._client.address}; "
                    "wait for it to finish, or end that process"
                )
            if not is_waiting:
                on_wait(f"waiting for {writer} to finish writing")
                is_waiting = True
            time.sleep(_POLL_SECONDS)
        self.last_heartbeat = requested
        self._thread = threading.Thread(target=self._send_heartbeats, name="dowse-lease", daemon=True)
        self._thread.start()

    def release(self) -> None:
        """End the lease; if the cluster can't be reached, it expires."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
        with contextlib.suppress(DowseError):
            self._update(lambda data: {**data, "lock": None} if data and self._is_holder(data) else None)

    @property
    def versions(self) -> dict[str, Any]:
        """The last versions of the source, and the one of a transaction that is under way, by transaction."""
        return dict((self._documents.last_known(source_id(self.source)) or {}).get("versions", {}))

    def check(self) -> None:
        """Raise if the lease may have expired; without a request."""
        if time.monotonic() - self.last_heartbeat > LEASE_SECONDS:
            raise self._lost()

    def confirm(self) -> None:
        """Ask the cluster, and raise if somebody else holds the lease."""
        self._update_own(lambda data: data, refresh=False)

    def put_version(self, last_tx: int, tx: int, version: Mapping[str, Any]) -> None:
        """Write the version that the source will have once a transaction is committed."""

        def change(versions: State) -> State:
            kept = sorted(int(each) for each in versions if int(each) <= last_tx)[-_VERSIONS:]
            return {**{str(each): versions[str(each)] for each in kept}, str(tx): dict(version)}

        self._update_versions(change)

    def drop_version(self, tx: int) -> None:
        """Remove the version of a transaction that is rolled back."""
        self._update_versions(
            lambda versions: {each: version for each, version in versions.items() if each != str(tx)}
        )

    def drop_versions(self) -> None:
        """Remove all versions: the source is deleted."""
        self._update_versions(lambda _: {})

    def _update_versions(self, change: Callable[[State], State]) -> None:
        self._update_own(lambda data: {**data, "versions": change(data.get("versions", {}))})

    def _update_own(self, change: Callable[[State], State], refresh: bool = True) -> None:
        """Change the source's document, provided that we hold its lease."""

        def checked(data: State | None) -> State:
            if data is None or not self._is_holder(data):
                raise self._lost()
            return change(data)

        # Refreshed, because sources are also found by searching.
        self._update(checked, refresh=refresh)

    def _update(
        self, change: Callable[[State | None], State | None], *, refresh: bool = False, fresh: bool = False
    ) -> None:
        with self._updating:
            self._documents.update(
                source_id(self.source), change, source=self.source, refresh=refresh, fresh=fresh
            )

    def _is_holder(self, data: State) -> bool:
        return bool((data.get("lock") or {}).get("owner") == self.owner)

    def _try_acquire(self, instead_of: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
        """Take the lease if it is free or held by `instead_of`; return the holder, None if we are."""
        holder: dict[str, Any] | None = None

        def change(data: State | None) -> State | None:
            nonlocal holder
            holder = (data or {}).get("lock")
            if holder and holder["owner"] != self.owner and holder != instead_of:
                return None
            holder = None
            return {**(data or {"slot": self.source, "versions": {}}), "lock": self._holder}

        self._update(change, fresh=True)
        return holder

    def _send_heartbeats(self) -> None:
        """Increment the counter until the lease is released; failures are retried."""

        def change(data: State) -> State:
            self._holder = {**self._holder, "beat": self._holder["beat"] + 1}
            return {**data, "lock": self._holder}

        while not self._stopped.wait(HEARTBEAT_SECONDS):
            # The time before it is sent: others count from its arrival, and the response may come much later.
            requested = time.monotonic()
            try:
                self._update_own(change, refresh=False)
                self.last_heartbeat = requested
            except LeaseLost:
                self.last_heartbeat = -LEASE_SECONDS
                return
            except DowseError:
                continue

    def _lost(self) -> LeaseLost:
        return LeaseLost(
            f"another dowse is writing {self.source} to {self._client.address} now, "
            "because this one could not reach the cluster for a while; run the same again"
        )


def find_holder(client: Client, source: str) -> dict[str, Any] | None:
    """Return the process that holds the lease of a source, None if there is none."""
    document = client.get(client.alias(META), source_id(source))
    holder = document["_source"]["data"].get("lock") if document else None
    return None if not holder or _has_ended(holder) else dict(holder)


def _has_ended(holder: Mapping[str, Any]) -> bool:
    """Whether the holder was a process of this machine that has ended."""
    if holder["host"] != _host_id():
        return False
    pid = int(holder["pid"])
    try:
        os.kill(pid, 0)
        # A zombie has ended, and only its parent does not know yet.
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[:1] == ["Z"]


def _host_id() -> str:
    """Return what tells this machine from others, and one container on it from the next."""
    boot = namespace = ""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        namespace = str(Path("/proc/self/ns/pid").stat().st_ino)
    return f"{socket.gethostname()}/{boot}/{namespace}"
