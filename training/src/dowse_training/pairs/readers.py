"""Processes that read packages: told once what is wanted, replaced when a package kills one."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from types import TracebackType

from dowse_training.pairs.model import MinedPackage, Package
from dowse_training.pairs.package import Wanted, mine_package
from dowse_training.pairs.sources.protocol import FetchError


class Readers:
    """Reads packages in other processes, for several threads at once; with less than two, in this one."""

    def __init__(self, wanted: Wanted, processes: int) -> None:
        self._wanted = wanted
        self._processes = processes
        self._lock = threading.Lock()
        self._pool = self._new_pool(processes) if processes > 1 else None

    def __enter__(self) -> Readers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def read(self, package: Package) -> MinedPackage:
        """What a package gives.

        Raises:
            FetchError: If it kills every process that reads it.
        """
        pool = self._pool
        if pool is None:
            with self._lock:  # a parser can't be shared by threads
                return mine_package(package, self._wanted)
        try:
            return pool.submit(_mine_remembered, package).result()
        except BrokenProcessPool:
            self._replace(pool)
        return self._read_alone(package)

    def _read_alone(self, package: Package) -> MinedPackage:
        """Read a package in a process of its own: the one that died may have read another."""
        with self._new_pool(1) as pool:
            try:
                return pool.submit(_mine_remembered, package).result()
            except BrokenProcessPool as error:
                raise FetchError("reading it killed the process") from error

    def _replace(self, broken: ProcessPoolExecutor) -> None:
        """Start anew, unless another thread has done so already."""
        with self._lock:
            if self._pool is broken:
                broken.shutdown(wait=False)
                self._pool = self._new_pool(self._processes)

    def _new_pool(self, processes: int) -> ProcessPoolExecutor:
        """Processes that start clean: forked ones would inherit the locks of running threads."""
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(
            processes, mp_context=context, initializer=_remember, initargs=(self._wanted,)
        )


# The exclusion list is large: a process is told once, not with every package.
_remembered: list[Wanted] = []


def _remember(wanted: Wanted) -> None:
    """Set a process up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _remembered[:] = [wanted]


def _end_with_parent() -> None:
    """End this process when the parent is gone, however it went: the pool would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _mine_remembered(package: Package) -> MinedPackage:
    """Mine in a process that has been set up."""
    return mine_package(package, _remembered[0])
