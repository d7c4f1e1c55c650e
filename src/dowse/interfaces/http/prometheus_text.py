"""Counters, gauges and histograms in the text format of Prometheus (version 0.0.4)."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

Labels = tuple[str, ...]
# The end of its name, its labels and its value.
Sample = tuple[str, Mapping[str, str], float]


class Series:
    """A counter or gauge with a value for each set of labels; thread-safe."""

    def __init__(self, kind: str, name: str, text: str, *labels: str) -> None:
        self._kind, self._name, self._text, self._labels = kind, name, text, labels
        self._lock = threading.Lock()
        self._values: dict[Labels, float] = {} if labels else {(): 0.0}

    def add(self, *values: str, amount: float = 1) -> None:
        """Add to the value of these labels."""
        with self._lock:
            self._values[values] = self._values.get(values, 0) + amount

    def lines(self) -> list[str]:
        """Return the lines of all values."""
        with self._lock:
            samples = [(dict(zip(self._labels, each, strict=True)), n) for each, n in self._values.items()]
        return family(self._kind, self._name, self._text, (("", *sample) for sample in samples))


class Histogram:
    """How many values were at most as large as each bound, for each set of labels; thread-safe."""

    def __init__(self, name: str, text: str, label: str, bounds: Sequence[float]) -> None:
        self._name, self._text, self._label, self._bounds = name, text, label, bounds
        self._lock = threading.Lock()
        self._counts: dict[str, list[int]] = {}
        self._sums: dict[str, float] = {}

    def observe(self, label: str, value: float) -> None:
        """Count a value."""
        with self._lock:
            counts = self._counts.setdefault(label, [0] * (len(self._bounds) + 1))
            counts[bisect_left(self._bounds, value)] += 1
            self._sums[label] = self._sums.get(label, 0) + value

    def lines(self) -> list[str]:
        """Return the lines of all buckets."""
        with self._lock:
            seen = [(label, list(counts), self._sums[label]) for label, counts in self._counts.items()]
        return family("histogram", self._name, self._text, self._samples(seen))

    def _samples(self, seen: list[tuple[str, list[int], float]]) -> Iterator[Sample]:
        bounds = [*map(str, self._bounds), "+Inf"]
        for label, counts, total in seen:
            labels = {self._label: label}
            for bound, count in zip(bounds, accumulate(counts), strict=True):
                yield "_bucket", {**labels, "le": bound}, count
            yield "_count", labels, sum(counts)
            yield "_sum", labels, total


def family(kind: str, name: str, text: str, samples: Iterable[Sample]) -> list[str]:
    """Return the lines of one metric."""
    values = (f"{name}{end}{_braces(labels)} {value}" for end, labels, value in samples)
    return [f"# HELP {name} {text}", f"# TYPE {name} {kind}", *values]


def _braces(labels: Mapping[str, str]) -> str:
    pairs = ",".join(f'{name}="{_escape(value)}"' for name, value in labels.items())
    return f"{{{pairs}}}" if pairs else ""


def _escape(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
