"""Workers of a Ray cluster: one CPU each, for indexing a repository or for encoding.

A repository is one task. While it waits for vectors, Ray lends its CPU to tasks that encode, so a worker
never does two things at once and none is idle while there is work. Encoders stay loaded in the processes,
which Ray uses again. A task whose process dies is retried on another; all writes are idempotent.
"""

from __future__ import annotations

import functools
import logging
import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from dowse.errors import ConfigError, DowseError, MissingExtra
from dowse.ingest.encoding import EncoderSpec, encode_batch
from dowse.ingest.repository import FAILED, Counts, IngestOptions, Outcome, index_repository
from dowse.security.terminal import first_line

if TYPE_CHECKING:
    from dowse.encoders.document import Document
    from dowse.ingest.encoding import Codes

REMOTE, LOCAL = "ray://", "local:"
# How often a task is retried when its process, or its machine, dies.
_RETRIES = 3
# How often a task reports its progress.
_REPORT_SECONDS = 0.5
# Memory for what tasks exchange: texts and vectors, a few megabytes at a time.
_OBJECT_STORE_BYTES = 200_000_000
_CONNECT_SECONDS, _CONNECT_ATTEMPTS = 5.0, 3


@contextmanager
def ray_workers(address: str, options: IngestOptions) -> Iterator[RayWorkers]:
    """Connect to a cluster (`ray://HOST:PORT`), or start one here (`local:N`) and stop it again."""
    ray = _import_ray()
    if ray.is_initialized():
        yield RayWorkers(ray, options)
        return
    _start(ray, address)
    try:
        yield RayWorkers(ray, options)
    except ConnectionError as error:  # of Ray's client, after it has tried to reconnect
        raise DowseError(
            f"the Ray cluster at {address} is lost ({first_line(error)}); start it again, "
            "then run the same: it resumes where it stopped"
        ) from error
    finally:
        ray.shutdown()


def check_workers(address: str) -> None:
    """Raise if an address of workers has no valid form."""
    if address.startswith(REMOTE):
        host, _, port = address.removeprefix(REMOTE).rpartition(":")
        if host and port.isdecimal():
            return
    number = address.removeprefix(LOCAL)
    if address.startswith(LOCAL) and number.isdecimal() and int(number) > 0:
        return
    raise ConfigError(f"--workers is ray://HOST:PORT or local:N, not {address!r}")


def _import_ray() -> Any:  # noqa: ANN401 - a module
    # Before it is imported: no usage statistics are sent, and no warning about GPUs is shown.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError as error:
        raise MissingExtra("indexing by Ray", "ray") from error
    return ray


def _start(ray: Any, address: str) -> None:  # noqa: ANN401
    check_workers(address)
    quiet = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": True}
    if address.startswith(LOCAL):
        ray.init(
            "local",
            num_cpus=int(address.removeprefix(LOCAL)),
            include_dashboard=False,
            object_store_memory=_OBJECT_STORE_BYTES,
            _node_ip_address="127.0.0.1",  # reachable from this machine only
            **quiet,
        )
        return
    # It warns of lost connections by itself, in several lines.
    logging.getLogger("ray.util.client").setLevel(logging.CRITICAL)
    logging.getLogger("ray.util.client.logsclient").disabled = True  # Ray sets its level
    host, _, port = address.removeprefix(REMOTE).rpartition(":")
    remedy = "start one with `ray start --head`, and name its client port, usually 10001"
    for attempt in range(_CONNECT_ATTEMPTS):
        try:
            socket.create_connection((host, int(port)), _CONNECT_SECONDS).close()
            ray.init(address, **quiet)
            return
        except (OSError, RuntimeError, ImportError) as error:
            # It answers, but starts a process for us, which takes a busy machine too long sometimes.
            is_slow = isinstance(error, (RuntimeError, ConnectionError))
            if is_slow and not isinstance(error, ConnectionRefusedError) and attempt + 1 < _CONNECT_ATTEMPTS:
                continue
            raise DowseError(
                f"no Ray cluster answers at {address} ({first_line(error)}); {remedy}"
            ) from error


class RayWorkers:
    """All workers of a cluster."""

    def __init__(self, ray: Any, options: IngestOptions) -> None:  # noqa: ANN401
        self._ray, self._options = ray, options
        self.capacity = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._progress = ray.remote(num_cpus=0, max_restarts=-1)(ProgressActor).remote()
        self._task = ray.remote(num_cpus=1, max_retries=_RETRIES)(index_task)
        self._paths: dict[Any, str] = {}
        self._counts = Counts()

    def submit(self, path: str) -> None:
        """Start to index one repository."""
        self._paths[self._task.remote(path, self._options, self._progress)] = path

    def wait(self, seconds: float) -> list[Outcome]:
        """Wait up to `seconds` and return the repositories that are finished."""
        ready, _ = self._ray.wait(list(self._paths), num_returns=1, timeout=seconds)
        return [self._outcome(each) for each in ready]

    def counts(self) -> Counts:
        """Return the counts so far; the last known ones where the actor does not answer."""
        with suppress(self._ray.exceptions.RayError):
            totals = self._ray.get(self._progress.totals.remote(), timeout=_CONNECT_SECONDS)
            self._counts = Counts(*totals)
        return self._counts

    def _outcome(self, task: Any) -> Outcome:  # noqa: ANN401
        path = self._paths.pop(task)
        try:
            outcome: Outcome = self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            return Outcome(path, FAILED, _failure_reason(error))
        return outcome


class ProgressActor:
    """Collects the progress of tasks, by path: a task that is retried starts again at 0."""

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, int]] = {}

    def report(self, path: str, files: int, symbols: int) -> None:
        """Replace the counts of one task."""
        self._counts[path] = (files, symbols)

    def totals(self) -> tuple[int, int]:
        """Return files and symbols of all tasks."""
        counts = self._counts.values()
        return sum(files for files, _ in counts), sum(symbols for _, symbols in counts)


def index_task(path: str, options: IngestOptions, progress: Any) -> Outcome:  # noqa: ANN401
    """Index one repository on a worker."""
    _limit_threads()
    os.environ.update(options.environment)
    reported = 0.0

    def report(files: int, symbols: int) -> None:
        nonlocal reported
        if time.monotonic() - reported > _REPORT_SECONDS:
            reported = time.monotonic()
            progress.report.remote(path, files, symbols)

    outcome = index_repository(path, options, dispatch=dispatch_by_ray, on_count=report)
    progress.report.remote(path, outcome.files, outcome.symbols)
    return outcome


def encode_task(spec: EncoderSpec, documents: Sequence[Document]) -> Codes:
    """Encode documents on a worker."""
    _limit_threads()
    return encode_batch(spec, documents)


def _limit_threads() -> None:
    """Keep tokenizers to one thread: the other CPUs are other workers'.

    Ray does the same for libraries that heed OMP_NUM_THREADS.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def dispatch_by_ray(spec: EncoderSpec, batches: Sequence[Sequence[Document]]) -> Callable[[], list[Codes]]:
    """Encode batches on all workers; encoding is deterministic, so a task may be retried."""
    import ray

    tasks = [_remote_encode_task().remote(spec, batch) for batch in batches]

    def wait() -> list[Codes]:
        try:
            codes: list[Codes] = ray.get(tasks)
        except ray.exceptions.RayError as error:
            raise DowseError(f"encoding failed: {_failure_reason(error)}") from error
        return codes

    return wait


@functools.cache
def _remote_encode_task() -> Any:  # noqa: ANN401
    import ray

    return ray.remote(num_cpus=1, max_retries=_RETRIES)(encode_task)


def _failure_reason(error: Any) -> str:  # noqa: ANN401 - Ray's errors have no common form
    """Return in one line why a task failed."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, BaseException):
        return first_line(cause) or repr(cause)
    return f"its worker died {_RETRIES + 1} times ({type(error).__name__}); check the memory of the machines"
