"""Prometheus metrics: requests, latencies, load, and the size of the indexes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from dowse.answer import Answer
from dowse.errors import DowseError
from dowse.services.indexes import ServedIndex, ServedIndexes
from dowse.services.thread_pool import BoundedThreadPool

# Histogram buckets, from a suggestion's tenth of a millisecond to the time limit of a request.
_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20)
# Streams last as long as the client listens: their duration says nothing.
_STREAMS = frozenset(["events"])


class Metrics:
    """All metrics of one server."""

    def __init__(self, indexes: ServedIndexes, threads: Sequence[BoundedThreadPool]) -> None:
        self._registry = CollectorRegistry()
        self._requests = self._counter("requests", "Requests answered", "operation", "status")
        self._seconds = self._histogram("request_seconds", "Time to answer", "operation")
        self._lane_seconds = self._histogram("lane_seconds", "Time that a lane took", "lane")
        self._lane_problems = self._counter("lane_problems", "Lanes left out of an answer", "lane")
        self._searches = self._counter("searches", "Searches answered", "mode")
        self._refused = self._counter("refused", "Requests refused", "reason")
        self._feedback = self._counter("feedback_events", "Feedback events recorded", "kind")
        self._in_flight = Gauge("dowse_in_flight", "Requests being answered", registry=self._registry)
        self._registry.register(_IndexCollector(indexes, threads))

    def text(self) -> bytes:
        """Return all metrics in the Prometheus text format."""
        return generate_latest(self._registry)

    @contextlib.contextmanager
    def in_flight(self) -> Iterator[None]:
        """Count a request while it is being answered."""
        self._in_flight.inc()
        try:
            yield
        finally:
            self._in_flight.dec()

    def answered(self, operation: str, status: int, seconds: float) -> None:
        """Count a response."""
        self._requests.labels(operation, str(status)).inc()
        if operation not in _STREAMS:
            self._seconds.labels(operation).observe(seconds)

    def refused(self, reason: str) -> None:
        """Count a rejected request."""
        self._refused.labels(reason).inc()

    def searched(self, answer: Answer) -> None:
        """Count a search of one index, with the latency and failures of its lanes."""
        self._searches.labels(answer.mode).inc()
        for lane in answer.lanes:
            self._lane_seconds.labels(lane.lane).observe(lane.milliseconds / 1000)
            if lane.problem:
                self._lane_problems.labels(lane.lane).inc()

    def recorded(self, kind: str) -> None:
        """Count a feedback event."""
        self._feedback.labels(kind).inc()

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"dowse_{name}", text, labels, registry=self._registry)

    def _histogram(self, name: str, text: str, *labels: str) -> Histogram:
        return Histogram(f"dowse_{name}", text, labels, registry=self._registry, buckets=_BUCKETS)


class _IndexCollector(Collector):
    """Gauges of the indexes and the thread pool, computed when they are scraped."""

    def __init__(self, indexes: ServedIndexes, threads: Sequence[BoundedThreadPool]) -> None:
        self._indexes, self._threads = indexes, threads

    def collect(self) -> Iterable[Metric]:
        """Give the current values."""
        pending = sum(pool.pending for pool in self._threads)
        yield GaugeMetricFamily("dowse_queued", "Searches running or queued", pending)
        names = ("generation", "symbols", "embedded")
        gauges = {
            name: GaugeMetricFamily(f"dowse_index_{name}", f"The {name} of an index", labels=["index"])
            for name in names
        }
        for served in self._indexes:
            for name, value in zip(names, _sizes(served), strict=True):
                gauges[name].add_metric([served.name], value)
        yield from gauges.values()


def _sizes(served: ServedIndex) -> tuple[int, int, int]:
    """Return the generation of an index, its symbols and how many have vectors; zeros if it can't be read."""
    try:
        encoder = served.index.encoder
        with served.index.backend.reader() as reader:
            embedded = reader.embedded_count(encoder.id) if encoder else 0
            return reader.generation, reader.symbol_count(), embedded
    except (DowseError, OSError):
        return 0, 0, 0
