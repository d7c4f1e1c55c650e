"""Workers of a Ray cluster: one processor each, be it for parsing and writing or for encoding.

A repository is one task. While that waits for vectors Ray lends its processor to the tasks that encode, so a
worker never does two things at once and none is idle while there is work. Encoders stay loaded in the
processes, which Ray uses again. A task whose process dies is done again elsewhere: everything has a name of
its own, so nothing is there twice.
"""

from __future__ import annotations

import functools
import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from dowse.errors import ConfigError, DowseError
from dowse.ingest.encoding import EncoderChoice, encode_chunk
from dowse.ingest.repository import index_repository
from dowse.ingest.tasks import FAILED, Doing, Order, Outcome
from dowse.security.terminal import first_line

if TYPE_CHECKING:
    from dowse.encoders.document import Document
    from dowse.ingest.encoding import Codes

REMOTE, LOCAL = "ray://", "local:"
# How often a task is tried again when its process, or its machine, dies.
_RETRIES = 3
# How often a task tells how far it is.
_TELL_SECONDS = 0.5
# Memory for what tasks hand to each other: texts and vectors, a few megabytes at a time.
_OBJECT_BYTES = 200_000_000
_REACH_SECONDS, _REACH_TIMES = 5.0, 3


@contextmanager
def ray_workers(address: str, order: Order) -> Iterator[RayWorkers]:
    """Connect to a cluster (`ray://HOST:PORT`), or start one here (`local:N`) and stop it again."""
    ray = _ray()
    if not ray.is_initialized():
        _start(ray, address)
        try:
            yield RayWorkers(ray, order)
        finally:
            ray.shutdown()
        return
    yield RayWorkers(ray, order)


def check_workers(address: str) -> None:
    """Raise if an address can't be one of workers."""
    if address.startswith(REMOTE):
        host, _, port = address.removeprefix(REMOTE).rpartition(":")
        if host and port.isdecimal():
            return
    number = address.removeprefix(LOCAL)
    if address.startswith(LOCAL) and number.isdecimal() and int(number) > 0:
        return
    raise ConfigError(f"--workers is ray://HOST:PORT or local:N, not {address!r}")


def _ray() -> Any:  # noqa: ANN401 - a module
    # Before it is loaded: nothing is reported to anybody, and no warning comes that concerns GPUs.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError as error:
        raise DowseError("workers need Ray; install `dowse[ray]`") from error
    return ray


def _start(ray: Any, address: str) -> None:  # noqa: ANN401
    check_workers(address)
    quiet = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": True}
    if address.startswith(LOCAL):
        ray.init(
            "local",
            num_cpus=int(address.removeprefix(LOCAL)),
            include_dashboard=False,
            object_store_memory=_OBJECT_BYTES,
            _node_ip_address="127.0.0.1",  # nobody else is to reach it
            **quiet,
        )
        return
    host, _, port = address.removeprefix(REMOTE).rpartition(":")
    remedy = "start one with `ray start --head`, and name its client port, usually 10001"
    for attempt in range(_REACH_TIMES):
        try:
            socket.create_connection((host, int(port)), _REACH_SECONDS).close()
            ray.init(address, **quiet)
            return
        except (OSError, RuntimeError, ImportError) as error:
            # It answers, but starts a process for us, which a busy machine does not always do in time.
            is_slow = isinstance(error, (RuntimeError, ConnectionError))
            if is_slow and not isinstance(error, ConnectionRefusedError) and attempt + 1 < _REACH_TIMES:
                continue
            raise DowseError(
                f"no Ray cluster answers at {address} ({first_line(error)}); {remedy}"
            ) from error


class RayWorkers:
    """All workers of a cluster."""

    def __init__(self, ray: Any, order: Order) -> None:  # noqa: ANN401
        self._ray, self._order = ray, order
        self.room = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._board = ray.remote(num_cpus=0, max_restarts=-1)(Board).remote()
        self._task = ray.remote(num_cpus=1, max_retries=_RETRIES)(index_task)
        self._paths: dict[Any, str] = {}
        self._doing = Doing()

    def begin(self, path: str, known: str | None) -> None:
        """Hand out one repository."""
        self._paths[self._task.remote(path, self._order, known, self._board)] = path

    def finished(self, seconds: float) -> list[Outcome]:
        """Wait a little and return those that are done with."""
        ready, _ = self._ray.wait(list(self._paths), num_returns=1, timeout=seconds)
        return [self._outcome(each) for each in ready]

    def doing(self) -> Doing:
        """Return what was done so far; what it was a moment ago, where nobody answers."""
        with suppress(self._ray.exceptions.RayError):
            files, symbols = self._ray.get(self._board.sums.remote(), timeout=_REACH_SECONDS)
            self._doing = Doing(files, symbols)
        return self._doing

    def _outcome(self, task: Any) -> Outcome:  # noqa: ANN401
        path = self._paths.pop(task)
        try:
            outcome: Outcome = self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            return Outcome(path, FAILED, _reason(error))
        return outcome


class Board:
    """Where tasks write down how far they are, each in its line: one that begins again counts anew."""

    def __init__(self) -> None:
        self._lines: dict[str, tuple[int, int]] = {}

    def note(self, path: str, files: int, symbols: int) -> None:
        """Replace a line."""
        self._lines[path] = (files, symbols)

    def sums(self) -> tuple[int, int]:
        """Return files and symbols of all lines."""
        return sum(files for files, _ in self._lines.values()), sum(each for _, each in self._lines.values())


def index_task(path: str, order: Order, known: str | None, board: Any) -> Outcome:  # noqa: ANN401
    """Index one repository on a worker."""
    _be_one_processor()
    os.environ.update(order.environment)
    teller = _Teller(path, board)
    outcome = index_repository(path, order, known=known, spread=spread_by_ray, note=teller.note)
    board.note.remote(path, outcome.files, outcome.symbols)
    return outcome


def encode_task(choice: EncoderChoice, documents: Sequence[Document]) -> Codes:
    """Encode some documents on a worker."""
    _be_one_processor()
    return encode_chunk(choice, documents)


def _be_one_processor() -> None:
    """Keep libraries from starting a thread for each processor: the others are other workers'.

    Ray does so for those that heed OMP_NUM_THREADS.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


class _Teller:
    """Tells the board how far a task is, now and then."""

    def __init__(self, path: str, board: Any) -> None:  # noqa: ANN401
        self._path, self._board, self._told = path, board, 0.0

    def note(self, files: int, symbols: int) -> None:
        now = time.monotonic()
        if now - self._told > _TELL_SECONDS:
            self._told = now
            self._board.note.remote(self._path, files, symbols)


def spread_by_ray(choice: EncoderChoice, chunks: Sequence[Sequence[Document]]) -> Callable[[], list[Codes]]:
    """Encode chunks on all workers; equal chunks have equal results, so one may be encoded twice."""
    import ray

    tasks = [_encode_task().remote(choice, chunk) for chunk in chunks]

    def ready() -> list[Codes]:
        try:
            found: list[Codes] = ray.get(tasks)
        except ray.exceptions.RayError as error:
            raise DowseError(f"encoding failed: {_reason(error)}") from error
        return found

    return ready


@functools.cache
def _encode_task() -> Any:  # noqa: ANN401
    import ray

    return ray.remote(num_cpus=1, max_retries=_RETRIES)(encode_task)


def _reason(error: Any) -> str:  # noqa: ANN401 - Ray's errors have no common form
    """Say in one line why a task failed."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, BaseException):
        return first_line(cause) or repr(cause)
    return f"its worker died {_RETRIES + 1} times ({type(error).__name__}); see the memory of the machines"
