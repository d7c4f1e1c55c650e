"""The Poincaré ball model of hyperbolic space: distance, Möbius addition, exponential and logarithmic map.

Points are the last axis of an array; everything else broadcasts. `distance`, `distances`, `boundary_gap` and
`mobius_add` take float64 arrays or object arrays of `decimal.Decimal`; the others are for float64.
"""

from __future__ import annotations

import decimal
import math
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Coordinates in float64, or as decimals where those are too coarse.
Points = NDArray[Any]

# Lower bound of 1 − ‖x‖²: a point that rounding pushed onto or over the boundary is far away, not an error.
MIN_GAP = 2.0**-53
# Digits that suffice for a number whose logarithm is needed as a float.
FEW_DIGITS = 40
# From here on acosh(1 + x) is ln(2x) to every digit of a float.
FAR = 1e20


def distance(x: Points, y: Points) -> NDArray[np.float64]:
    """Return acosh(1 + 2‖x−y‖² / ((1−‖x‖²)(1−‖y‖²))), also where points are very near or very far."""
    if np.asarray(x).dtype == object or np.asarray(y).dtype == object:
        return _decimal_distance(x, y)
    apart = x - y
    ratio = 2 * squared_norm(apart) / (boundary_gap(x) * boundary_gap(y))
    length: NDArray[np.float64] = np.log1p(ratio + np.sqrt(ratio * (ratio + 2)))
    return length


def distances(x: Points, y: Points) -> NDArray[np.float64]:
    """Return the distance of each of some points (n, dimension) from each of others, as a matrix."""
    return distance(x[:, None, :], y[None, :, :])


def boundary_gap(points: Points) -> Points:
    """Return 1 − ‖x‖², which is 0 on the boundary."""
    left = np.asarray(1 - squared_norm(points))
    return left if left.dtype == object else np.maximum(left, MIN_GAP)


def squared_norm(points: Points) -> Points:
    """Return ‖x‖²."""
    if points.dtype == object:
        return np.asarray((points * points).sum(axis=-1))
    norm: Points = np.einsum("...i,...i->...", points, points)
    return norm


def mobius_add(x: Points, y: Points) -> Points:
    """Return x ⊕ y (Möbius addition): the image of y under the translation that moves the origin to x.

    Written in x + y, which is small where y is near −x: the textbook form loses all digits there.
    """
    moved = x + y
    length, left = squared_norm(moved)[..., None], boundary_gap(x)[..., None]
    total: Points = (left * moved + length * x) / (length + left * boundary_gap(y)[..., None])
    return total


def log_map(base: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithmic map at `base`: the tangents that lead to points. The inverse of `exp_map`.

    A tangent's length in the ball's metric is 2‖v‖ / (1 − ‖base‖²): the distance from `base` to the point.
    """
    seen = mobius_add(-base, points)
    length = np.linalg.norm(seen, axis=-1, keepdims=True)
    towards = seen / np.where(length > 0, length, 1)
    far = distance(base, points)[..., None] / 2
    tangents: NDArray[np.float64] = boundary_gap(base)[..., None] * far * towards
    return tangents


def exp_map(base: NDArray[np.float64], tangents: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the exponential map at `base`: the ends of tangents; always inside the ball."""
    length = np.linalg.norm(tangents, axis=-1, keepdims=True)
    towards = tangents / np.where(length > 0, length, 1)
    return clip_to_ball(mobius_add(base, np.tanh(length / boundary_gap(base)[..., None]) * towards))


def clip_to_ball(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points; those that rounding pushed out of the ball are moved just inside it."""
    length = np.linalg.norm(points, axis=-1, keepdims=True)
    most = 1 - 4 * MIN_GAP
    clipped: NDArray[np.float64] = points * (most / np.maximum(length, most))
    return clipped


def with_digits(precision: int) -> AbstractContextManager[decimal.Context]:
    """Return a context of decimal arithmetic with so many digits and unlimited exponents."""
    return decimal.localcontext(decimal.Context(prec=precision, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX))


def _decimal_distance(x: Points, y: Points) -> NDArray[np.float64]:
    # With unlimited digits, sums and products of decimals are exact; only the differences are rounded, so no
    # precision has to be known.
    with with_digits(decimal.MAX_PREC):
        parts = squared_norm(x - y), boundary_gap(x), boundary_gap(y)
    with with_digits(FEW_DIGITS):
        length = np.frompyfunc(_acosh_of, 3, 1)(*parts)
    return np.asarray(length, np.float64)


def _acosh_of(apart: decimal.Decimal, left: decimal.Decimal, right: decimal.Decimal) -> float:
    ratio = 2 * (+apart) / ((+left) * (+right))
    if ratio < FAR:
        small = float(ratio)
        return math.log1p(small + math.sqrt(small * (small + 2)))
    power = ratio.adjusted()
    return math.log(2 * float(ratio.scaleb(-power))) + power * math.log(10)
