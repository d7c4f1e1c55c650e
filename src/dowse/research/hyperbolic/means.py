"""Fréchet (Karcher) means of groups of points in hyperbolic space: the least sum of squared distances.

There is no closed form. Karcher's iteration takes a gradient step: the mean of the tangents that lead to the
points. Plain gradient steps are short, since far points make the objective steep perpendicular to their
direction (curvature r·coth r at distance r, against 1 along it). With these known curvatures the step is
Newton's, and a few are enough. Newton may overshoot, so several step lengths are tried at once. Among them is
the one mean with a closed form, that of the hyperboloid (least sum of cosh): far points count too much in it,
but it is a good start from anywhere.

All groups take their steps together, over the same arrays.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dowse.research.hyperbolic.poincare import boundary_gap, clip_to_ball, distance, exp_map, log_map

Floats: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.int64]

# Enough from every start that was tried; fewer if nothing improves.
STEPS = 12
# The fractions of a Newton step that are tried.
_LENGTHS = np.array([1.0, 0.5, 0.2])[:, None, None]
# A shorter tangent has no direction.
_TINY = 1e-12
# Relative improvement of the objective below which the iteration stops.
_TOLERANCE = 1e-13


def frechet_means(
    points: Floats, labels: Labels, count: int, start: Floats | None = None, steps: int = STEPS
) -> Floats:
    """Return the Fréchet mean of each group of points in the Poincaré ball.

    No step makes the objective larger, so few steps from a good start give nearly the mean; by default the
    start is the first point of each group. An empty group stays at its start, else at the origin. Points that
    rounding put on the boundary are clipped.
    """
    points = clip_to_ball(points)
    weights = _weights(labels, count)
    centres = _first_points(points, weights) if start is None else start
    groups = np.arange(count)
    for _ in range(steps):
        trials = _trials(centres, points, labels, weights)
        far = distance(trials[:, labels], points)
        values = (far * far) @ weights.T
        best = values.argmin(axis=0)
        if (values[0] - values[best, groups] <= _TOLERANCE * values[0]).all():
            break
        centres = trials[best, groups]
    return centres


def _weights(labels: Labels, count: int) -> Floats:
    """Return the weight of each point in each group; those of a group sum to 1."""
    own = (labels == np.arange(count)[:, None]).astype(np.float64)
    weights: Floats = own / np.maximum(own.sum(axis=1, keepdims=True), 1)
    return weights


def _first_points(points: Floats, weights: Floats) -> Floats:
    """Return the first point of each group, the origin for an empty one."""
    firsts: Floats = points[weights.argmax(axis=1)] * weights.any(axis=1, keepdims=True)
    return firsts


def _trials(centres: Floats, points: Floats, labels: Labels, weights: Floats) -> Floats:
    """Return candidates for the means, (candidate, group, dimension); the present ones first."""
    unit = boundary_gap(centres)[:, None] / 2  # a tangent of this length has hyperbolic length 1
    tangents = log_map(centres[labels], points) / unit[labels]
    far = np.maximum(np.sqrt(np.einsum("ij,ij->i", tangents, tangents)), _TINY)
    towards = tangents / far[:, None]
    newton = _newton(tangents, towards, far, weights)
    ways = np.concatenate([_LENGTHS * newton, _hyperboloid(towards, far, weights)[None]])
    return np.concatenate([centres[None], exp_map(centres, ways * unit)])


def _newton(tangents: Floats, towards: Floats, far: Floats, weights: Floats) -> Floats:
    """Return Newton steps: the mean tangent, divided by the mean curvature."""
    count, dimension = len(weights), tangents.shape[1]
    across = far / np.tanh(far)
    outer = (towards * (across - 1)[:, None])[:, :, None] * towards[:, None, :]
    less = (weights @ outer.reshape(len(far), -1)).reshape(count, dimension, dimension)
    # At least 1, except for an empty group, whose matrix would be singular.
    curvature = np.maximum(weights @ across, 1)[:, None, None] * np.eye(dimension) - less
    return np.asarray(np.linalg.solve(curvature, (weights @ tangents)[:, :, None])[:, :, 0], np.float64)


def _hyperboloid(towards: Floats, far: Floats, weights: Floats) -> Floats:
    """Return the tangents to the means on the hyperboloid, where points are (cosh r, sinh r · direction)."""
    sums = weights @ (np.sinh(far)[:, None] * towards)
    aside = np.sqrt(np.einsum("ij,ij->i", sums, sums))
    up = np.maximum(weights @ np.cosh(far), 1)
    # Rounding may make both equal; this is the largest finite result.
    length = np.arctanh(np.minimum(aside / up, 1 - 2.0**-53))
    tangents: Floats = sums * (length / np.maximum(aside, _TINY))[:, None]
    return tangents
