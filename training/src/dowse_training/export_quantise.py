"""Eight-bit numbers for matrices and for what they are multiplied with.

A matrix has a scale a column. Its input is brought to eight bits by scales fixed beforehand, one a channel,
which the matrix takes back (SmoothQuant, Xiao et al. 2022). So a row's result depends on that row alone.
Scales found at run time over a whole batch would make a vector depend on its neighbours, and are worse by far
where single channels are large (cosine to the float vectors .92 instead of .996). Such channels are
multiplied in float (LLM.int8(), Dettmers et al. 2022).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Signed eight bits without −128: both signs reach equally far.
_MOST = 127
_STEPS = 255
# How much of a channel's size its input's scale takes; the weights bear the rest.
_SMOOTHING = 0.85
# A channel so many times larger than the median one is multiplied in float; at most so many of them are.
_OUTLIER, _MOST_OUTLIERS = 5.0, 8
# Sizes below these are as good as nothing, and must not be divided by.
_LEAST_INPUT, _LEAST_WEIGHT = 1e-3, 1e-6


class Range(NamedTuple):
    """The smallest and largest value that each channel of a matrix's input took, over many texts."""

    low: Array
    high: Array

    def including(self, other: Range) -> Range:
        """Return the range of both."""
        return Range(np.minimum(self.low, other.low), np.maximum(self.high, other.high))


Ranges = Mapping[str, Range]


class Quantised(NamedTuple):
    """How a matrix and its input become bytes."""

    stretch: Array  # an input's channel times this, rounded, plus `zero` is a byte
    zero: int
    channels: Array  # to be multiplied in float
    weights: Array  # int8, with zeros in the rows of those channels
    scales: Array  # one a column


def quantise(weights: Array, seen: Range) -> Quantised:
    """Choose bytes for a matrix (inputs × outputs) and for its input."""
    size = np.maximum(np.maximum(-seen.low, seen.high), _LEAST_INPUT)
    channels = _outliers(size)
    rest = np.setdiff1d(np.arange(len(size)), channels)
    largest = np.maximum(np.abs(weights).max(axis=1), _LEAST_WEIGHT)
    smooth = size**_SMOOTHING / largest ** (1 - _SMOOTHING)
    low = min(float((seen.low / smooth)[rest].min()), 0.0)
    high = max(float((seen.high / smooth)[rest].max()), 0.0)
    step = smooth * (max(high - low, _LEAST_INPUT) / _STEPS)
    scaled = weights * step[:, None]
    scaled[channels] = 0
    scales = _column_scales(scaled)
    zero = round(-low * smooth[0] / step[0])
    whole = np.round(scaled / scales).astype(np.int8)
    return Quantised((1 / step).astype(np.float32), zero, channels, whole, scales)


def quantise_rows(rows: Array) -> tuple[Array, Array]:
    """Return int8 rows, and the scale of each as a column."""
    scales = np.maximum(np.abs(rows).max(axis=1, keepdims=True) / _MOST, 1e-12).astype(np.float32)
    return np.round(rows / scales).astype(np.int8), scales


def _column_scales(weights: Array) -> Array:
    """Return a scale a column, so that no two neighbouring products overflow sixteen bits.

    x86 processors without VNNI add bytes × weights of neighbouring channels in sixteen bits: 255 × 128 fits.
    """
    pairs = weights.reshape(-1, 2, weights.shape[1])
    together = np.maximum(pairs.clip(min=0).sum(axis=1), -pairs.clip(max=0).sum(axis=1)).max(axis=0)
    scales: Array = np.maximum(together / _MOST, 1e-12).astype(np.float32)
    return scales


def _outliers(size: Array) -> Array:
    """Return the channels that would leave too few steps to all others."""
    largest = np.argsort(-size, kind="stable")[:_MOST_OUTLIERS]
    return np.sort(largest[size[largest] > _OUTLIER * np.median(size)]).astype(np.int64)
