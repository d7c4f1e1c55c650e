"""The Poincaré ball model of hyperbolic space: distance, Möbius addition, exponential and logarithmic map.

Points are the last axis of an array; everything else broadcasts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]

# Lower bound of 1 − ‖x‖²: a point that rounding pushed onto or over the boundary is far away, not an error.
MIN_GAP = 2.0**-53


def distance(x: Points, y: Points) -> Points:
    """Return acosh(1 + 2‖x−y‖² / ((1−‖x‖²)(1−‖y‖²))), also where points are very near or very far."""
    apart = x - y
    ratio = 2 * squared_norm(apart) / (boundary_gap(x) * boundary_gap(y))
    length: Points = np.log1p(ratio + np.sqrt(ratio * (ratio + 2)))
    return length


def distances(x: Points, y: Points) -> Points:
    """Return the distance of each of some points (n, dimension) from each of others, as a matrix."""
    return distance(x[:, None, :], y[None, :, :])


def boundary_gap(points: Points) -> Points:
    """Return 1 − ‖x‖², which is 0 on the boundary."""
    return np.maximum(1 - squared_norm(points), MIN_GAP)


def squared_norm(points: Points) -> Points:
    """Return ‖x‖²."""
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


def log_map(base: Points, points: Points) -> Points:
    """Return the logarithmic map at `base`: the tangents that lead to points. The inverse of `exp_map`.

    A tangent's length in the ball's metric is 2‖v‖ / (1 − ‖base‖²): the distance from `base` to the point.
    """
    seen = mobius_add(-base, points)
    length = np.linalg.norm(seen, axis=-1, keepdims=True)
    towards = seen / np.where(length > 0, length, 1)
    far = distance(base, points)[..., None] / 2
    tangents: Points = boundary_gap(base)[..., None] * far * towards
    return tangents


def exp_map(base: Points, tangents: Points) -> Points:
    """Return the exponential map at `base`: the ends of tangents; always inside the ball."""
    length = np.linalg.norm(tangents, axis=-1, keepdims=True)
    towards = tangents / np.where(length > 0, length, 1)
    return clip_to_ball(mobius_add(base, np.tanh(length / boundary_gap(base)[..., None]) * towards))


def clip_to_ball(points: Points) -> Points:
    """Return points; those that rounding pushed out of the ball are moved just inside it."""
    length = np.linalg.norm(points, axis=-1, keepdims=True)
    most = 1 - 4 * MIN_GAP
    clipped: Points = points * (most / np.maximum(length, most))
    return clipped
