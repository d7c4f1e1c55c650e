"""Figures for Prometheus: what was asked, how long it took, how full the server is, what is indexed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from dowse.errors import DowseError
from dowse.interfaces.http.worker_threads import Workers
from dowse.services.indexes import Place, Places
from dowse.types import Answer

# From a suggestion's tenth of a millisecond to the limit of a request.
_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20)
# Streams last as long as somebody listens: their length says nothing.
_STREAMS = frozenset(["events"])


class Metrics:
    """All figures of one server."""

    def __init__(self, places: Places, workers: Workers) -> None:
        self._registry = CollectorRegistry()
        self._requests = self._counter("requests", "Requests answered", "operation", "status")
        self._seconds = self._histogram("request_seconds", "Time to answer", "operation")
        self._lane_seconds = self._histogram("lane_seconds", "Time that a lane took", "lane")
        self._lane_problems = self._counter("lane_problems", "Lanes left out of an answer", "lane")
        self._searches = self._counter("searches", "Searches answered", "mode")
        self._refused = self._counter("refused", "Requests refused", "reason")
        self._feedback = self._counter("feedback_events", "Choices recorded", "kind")
        self._in_flight = Gauge("dowse_in_flight", "Requests being answered", registry=self._registry)
        self._registry.register(_Indexes(places, workers))

    def text(self) -> bytes:
        """Return all figures as Prometheus reads them."""
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
        """Count an answer."""
        self._requests.labels(operation, str(status)).inc()
        if operation not in _STREAMS:
            self._seconds.labels(operation).observe(seconds)

    def refused(self, reason: str) -> None:
        """Count a request that was not let in."""
        self._refused.labels(reason).inc()

    def searched(self, answer: Answer) -> None:
        """Count a search of one index, and how its lanes fared."""
        self._searches.labels(answer.mode).inc()
        for lane in answer.lanes:
            self._lane_seconds.labels(lane.lane).observe(lane.milliseconds / 1000)
            if lane.problem:
                self._lane_problems.labels(lane.lane).inc()

    def recorded(self, kind: str) -> None:
        """Count a choice."""
        self._feedback.labels(kind).inc()

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"dowse_{name}", text, labels, registry=self._registry)

    def _histogram(self, name: str, text: str, *labels: str) -> Histogram:
        return Histogram(f"dowse_{name}", text, labels, registry=self._registry, buckets=_SECONDS)


class _Indexes(Collector):
    """What is indexed, and how much waits: read when somebody asks."""

    def __init__(self, places: Places, workers: Workers) -> None:
        self._places, self._workers = places, workers

    def collect(self) -> Iterable[Metric]:
        """Give the figures of this moment."""
        yield GaugeMetricFamily("dowse_queued", "Searches in threads or in line", self._workers.held)
        names = ("generation", "symbols", "embedded")
        found = {
            name: GaugeMetricFamily(f"dowse_index_{name}", f"The {name} of an index", labels=["index"])
            for name in names
        }
        for place in self._places:
            for name, value in zip(names, _figures(place), strict=True):
                found[name].add_metric([place.name], value)
        yield from found.values()


def _figures(place: Place) -> tuple[int, int, int]:
    try:
        encoder = place.index.encoder
        with place.index.backend.reader() as reader:
            embedded = reader.embedded_count(encoder.id) if encoder else 0
            return reader.generation, reader.symbol_count(), embedded
    except (DowseError, OSError):
        return 0, 0, 0
