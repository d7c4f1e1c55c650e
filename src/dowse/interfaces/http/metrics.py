"""Prometheus metrics: requests, latencies, load, and the size of the indexes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from dowse.answer import Answer
from dowse.errors import DowseError
from dowse.interfaces.http.prometheus_text import Histogram, Series, family
from dowse.services.indexes import ServedIndex, ServedIndexes
from dowse.services.thread_pool import BoundedThreadPool

# Histogram buckets, from a suggestion's tenth of a millisecond to the time limit of a request.
_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20)
# Streams last as long as the client listens: their duration says nothing.
_STREAMS = frozenset(["events"])


class Metrics:
    """All metrics of one server."""

    def __init__(self, indexes: ServedIndexes, threads: Sequence[BoundedThreadPool]) -> None:
        self._indexes, self._threads = indexes, threads
        self._requests = _counter("requests", "Requests answered", "operation", "status")
        self._seconds = Histogram("dowse_request_seconds", "Time to answer", "operation", _BUCKETS)
        self._lane_seconds = Histogram("dowse_lane_seconds", "Time that a lane took", "lane", _BUCKETS)
        self._lane_problems = _counter("lane_problems", "Lanes left out of an answer", "lane")
        self._searches = _counter("searches", "Searches answered", "mode")
        self._refused = _counter("refused", "Requests refused", "reason")
        self._feedback = _counter("feedback_events", "Feedback events recorded", "kind")
        self._in_flight = Series("gauge", "dowse_in_flight", "Requests being answered")

    def text(self) -> bytes:
        """Return all metrics in the Prometheus text format."""
        series: list[Series | Histogram] = [self._requests, self._seconds, self._lane_seconds]
        series += [self._lane_problems, self._searches, self._refused, self._feedback, self._in_flight]
        lines = [line for each in series for line in each.lines()]
        return "".join(f"{line}\n" for line in [*lines, *self._gauges()]).encode()

    @contextlib.contextmanager
    def in_flight(self) -> Iterator[None]:
        """Count a request while it is being answered."""
        self._in_flight.add()
        try:
            yield
        finally:
            self._in_flight.add(amount=-1)

    def answered(self, operation: str, status: int, seconds: float) -> None:
        """Count a response."""
        self._requests.add(operation, str(status))
        if operation not in _STREAMS:
            self._seconds.observe(operation, seconds)

    def refused(self, reason: str) -> None:
        """Count a rejected request."""
        self._refused.add(reason)

    def searched(self, answer: Answer) -> None:
        """Count a search of one index, with the latency and failures of its lanes."""
        self._searches.add(answer.mode)
        for lane in answer.lanes:
            self._lane_seconds.observe(lane.lane, lane.milliseconds / 1000)
            if lane.problem:
                self._lane_problems.add(lane.lane)

    def recorded(self, kind: str) -> None:
        """Count a feedback event."""
        self._feedback.add(kind)

    def _gauges(self) -> Iterator[str]:
        """Give the load and the sizes of the indexes as they are now."""
        pending = sum(pool.pending for pool in self._threads)
        yield from family("gauge", "dowse_queued", "Searches running or queued", [("", {}, pending)])
        sizes = [({"index": served.name}, _sizes(served)) for served in self._indexes]
        for place, name in enumerate(("generation", "symbols", "embedded")):
            samples = [("", labels, values[place]) for labels, values in sizes]
            yield from family("gauge", f"dowse_index_{name}", f"The {name} of an index", samples)


def _counter(name: str, text: str, *labels: str) -> Series:
    return Series("counter", f"dowse_{name}_total", text, *labels)


def _sizes(served: ServedIndex) -> tuple[int, int, int]:
    """Return the generation of an index, its symbols and how many have vectors; zeros if it can't be read."""
    try:
        encoder = served.index.encoder
        with served.index.backend.reader() as reader:
            embedded = reader.embedded_count(encoder.id) if encoder else 0
            return reader.generation, reader.symbol_count(), embedded
    except (DowseError, OSError):
        return 0, 0, 0
