"""Middles of groups of points in hyperbolic space: Fréchet means, with the least sum of squared distances.

There is no formula for them. Karcher's way is to walk: look from the present place in the direction of all
points (their tangents), and go where these pull. Plain steps of that kind are short, since far points make
the sum of squares steep across the line of sight (r·coth r at distance r, against 1 along it); with these
known curvatures the step is Newton's, and a few are enough. Newton may go too far where the paths to the
points part, so several lengths are tried at once. Among them is the one mean that has a formula, that of the
hyperboloid (least sum of cosh): far points count too much in it, but it is near from anywhere.

All groups take their steps together, over the same arrays.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dowse.research.hyperbolic.poincare import distance, exp_map, inside, log_map, room

Floats: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.int64]

# Enough from any start that was tried; fewer are taken where nothing gets better.
STEPS = 12
# The shares of a Newton step that are tried.
_LENGTHS = np.array([1.0, 0.5, 0.2])[:, None, None]
# What is less far has no direction.
_TINY = 1e-12
# Of a squared sum: better by less than this is rounding.
_ENOUGH = 1e-13


def frechet_means(
    points: Floats, labels: Labels, count: int, start: Floats | None = None, steps: int = STEPS
) -> Floats:
    """Return the Fréchet mean of each group of points in the Poincaré ball.

    No step makes a sum of squares larger, so few steps from a good start are a mean that is nearly right.

    Args:
        points: One a row, all inside the unit ball; what rounding put on its boundary counts as just inside.
        labels: The group of each, from 0 to `count` − 1.
        count: How many groups there are. An empty one stays at its start, else at the origin.
        start: Where to begin, a row for each group; without, at the first point of each.
        steps: How many to take at most.
    """
    points = inside(points)
    weights = _weights(labels, count)
    centres = _first_points(points, weights) if start is None else start
    groups = np.arange(count)
    for _ in range(steps):
        trials = _trials(centres, points, labels, weights)
        far = distance(trials[:, labels], points)
        values = (far * far) @ weights.T
        best = values.argmin(axis=0)
        if (values[0] - values[best, groups] <= _ENOUGH * values[0]).all():
            break
        centres = trials[best, groups]
    return centres


def _weights(labels: Labels, count: int) -> Floats:
    """Return for each group what each point counts: all of a group together 1."""
    own = (labels == np.arange(count)[:, None]).astype(np.float64)
    found: Floats = own / np.maximum(own.sum(axis=1, keepdims=True), 1)
    return found


def _first_points(points: Floats, weights: Floats) -> Floats:
    """Return the first point of each group, the origin for an empty one."""
    found: Floats = points[weights.argmax(axis=1)] * weights.any(axis=1, keepdims=True)
    return found


def _trials(centres: Floats, points: Floats, labels: Labels, weights: Floats) -> Floats:
    """Return places where the means may be, (trial, group, dimension); the present ones first."""
    unit = room(centres)[:, None] / 2  # a tangent of this length leads 1 far
    tangents = log_map(centres[labels], points) / unit[labels]
    far = np.maximum(np.sqrt(np.einsum("ij,ij->i", tangents, tangents)), _TINY)
    towards = tangents / far[:, None]
    newton = _newton(tangents, towards, far, weights)
    ways = np.concatenate([_LENGTHS * newton, _hyperboloid(towards, far, weights)[None]])
    return np.concatenate([centres[None], exp_map(centres, ways * unit)])


def _newton(tangents: Floats, towards: Floats, far: Floats, weights: Floats) -> Floats:
    """Return Newton's steps: the mean pull, by the mean curvature."""
    count, dimension = len(weights), tangents.shape[1]
    across = far / np.tanh(far)
    outer = (towards * (across - 1)[:, None])[:, :, None] * towards[:, None, :]
    less = (weights @ outer.reshape(len(far), -1)).reshape(count, dimension, dimension)
    # Never below 1 but for an empty group, whose matrix would be none.
    curvature = np.maximum(weights @ across, 1)[:, None, None] * np.eye(dimension) - less
    return np.asarray(np.linalg.solve(curvature, (weights @ tangents)[:, :, None])[:, :, 0], np.float64)


def _hyperboloid(towards: Floats, far: Floats, weights: Floats) -> Floats:
    """Return the ways to the means on the hyperboloid, where points are (cosh r, sinh r · direction)."""
    sums = weights @ (np.sinh(far)[:, None] * towards)
    aside = np.sqrt(np.einsum("ij,ij->i", sums, sums))
    up = np.maximum(weights @ np.cosh(far), 1)
    # Rounding may make both equal; that far one comes at most.
    length = np.arctanh(np.minimum(aside / up, 1 - 2.0**-53))
    found: Floats = sums * (length / np.maximum(aside, _TINY))[:, None]
    return found
