"""Quality against cost: a point for each mode, with its name beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dowse.eval.reports.svg import (
    line,
    linear,
    log_range,
    logarithmic,
    path,
    picture,
    share_range,
    tag,
    text,
)
from dowse.eval.reports.tables import Row, Table
from dowse.eval.reports.wording import milliseconds, number, one_line, tick

_WIDTH = 400.0
_LEFT, _RIGHT, _TOP = 36.0, 392.0, 26.0
# Where the field ends below; many points need more of it for their names.
_FEW, _LOW, _TALL = 8, 270.0, 340.0
# Roughly what a character of a label takes, and a line of them.
_CHARACTER, _LINE = 6.8, 13.0
_LABEL = 22
# Where a label may stand, seen from its point.
_AROUND = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1))
_UPWARDS = ((0, -1),)
# From this distance on, a thin line joins a label with its point.
_APART = 14.0
# What is worse than the best by more than this stands at the lower edge, with its value: the field is for
# those one would choose between.
_FIELD = 0.25


@dataclass(frozen=True, slots=True)
class _Box:
    """A place that is taken, or would be."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: _Box) -> float:
        """Return the area that both take."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return width * height if width > 0 and height > 0 else 0.0


@dataclass(frozen=True, slots=True)
class _Point:
    """A mode in the field: where it is, and how far its interval reaches."""

    row: Row
    x: float
    y: float
    low: float
    high: float
    below: bool = False  # worse than the field shows

    @property
    def label(self) -> str:
        """What is written beside it."""
        name = one_line(self.row.mode, _LABEL)
        return f"{name} {number(self.row.value)} ↓" if self.below else name


def quality_against_cost(table: Table) -> str:
    """Return the headline of every mode over the median time of a question."""
    rows = [row for row in table.rows if row.value is not None and row.metric("p50_ms")]
    if not rows:
        return ""
    bottom = _LOW if len(rows) <= _FEW else _TALL
    points, axes = _placed(rows, bottom)
    out = [axes, _frontier(points)]
    out += [line(point.x, point.low, point.x, point.high, "whisker") for point in points]
    labels = [_label(point, place) for point, place in zip(points, _labels(points, bottom), strict=True)]
    out += [leader for leader, _ in labels]
    out += [_dot(point) for point in points]
    out += [name for _, name in labels]
    out.append(text(0, 12, f"{table.metric}, with its 95 % interval", "mark"))
    out.append(text(_RIGHT, bottom + 34, "median time of a question, ms", "mark", "end"))
    told = (
        f"{one_line(row.mode)} {number(row.value)} in {milliseconds(row.metric('p50_ms'))} ms" for row in rows
    )
    title = f"{table.metric} against median time. " + "; ".join(told)
    return picture(_WIDTH, bottom + 40, title, "".join(out))


def _placed(rows: Sequence[Row], bottom: float) -> tuple[list[_Point], str]:
    """Return where the points lie, and the axes."""
    low, high, times = log_range([row.metric("p50_ms") or 0.0 for row in rows])
    x = logarithmic(low, high, _LEFT + 14, _RIGHT - 14)
    inside = _inside(rows)
    ends = [value for row in inside for value in (row.interval or (row.value or 0.0,))]
    least, most, shares = share_range(ends)
    y = linear(least, most, bottom, _TOP)
    out = []
    for share in shares:
        out.append(line(_LEFT, y(share), _RIGHT, y(share), "grid"))
        out.append(text(_LEFT - 6, y(share) + 4, number(share), "mark", "end"))
    for mark in times:
        out.append(line(x(mark), _TOP, x(mark), bottom, "grid"))
        out.append(text(x(mark), bottom + 15, tick(mark), "mark", "middle"))
    points = []
    for row in rows:
        value, cost = row.value or 0.0, x(row.metric("p50_ms") or low)
        if row in inside:
            reach = row.interval or (value, value)
            points.append(_Point(row, cost, y(value), y(reach[0]), y(reach[1])))
        else:
            points.append(_Point(row, cost, bottom - 8, bottom - 8, bottom - 8, below=True))
    return points, "".join(out)


def _inside(rows: Sequence[Row]) -> list[Row]:
    """Return what the field is for: all but a few that are far worse."""
    limit = max(row.value or 0.0 for row in rows) - _FIELD
    near = [row for row in rows if (row.value or 0.0) >= limit]
    return near if len(rows) - len(near) <= len(rows) // 3 else list(rows)


def _frontier(points: Sequence[_Point]) -> str:
    """Return the line under which one pays more for less."""
    steps: list[tuple[float, float]] = []
    for point in sorted(points, key=lambda p: (p.x, p.y)):
        if steps and point.y >= steps[-1][1]:
            continue
        if steps:
            steps.append((point.x, steps[-1][1]))
        steps.append((point.x, point.y))
    return path([*steps, (_RIGHT, steps[-1][1])], "frontier")


def _dot(point: _Point) -> str:
    kind = "dot best" if point.row.best else "dot base" if point.row.baseline else "dot"
    if point.below:
        x, y = point.x, point.y
        return path([(x - 5, y - 3), (x + 5, y - 3), (x, y + 5)], kind, closed=True)
    return tag("circle", cx=point.x, cy=point.y, r=4.5, class_=kind)


def _labels(points: Sequence[_Point], bottom: float) -> list[_Box]:
    """Return a place for every label: the first that is free, else the one that hides least.

    Points with close neighbours choose first: they have the fewest places to choose from.
    """
    dots = [_Box(p.x - 6, p.y - 6, p.x + 6, p.y + 6) for p in points]
    whiskers = [_Box(p.x - 1, p.high, p.x + 1, p.low) for p in points]
    found: dict[int, _Box] = {}
    for i in sorted(range(len(points)), key=lambda i: (-_crowd(points[i], points), points[i].y)):
        fixed = [*dots, *found.values()]
        costs = []
        for rank, box in enumerate(_candidates(points[i])):
            hidden = sum(map(box.overlap, fixed)) * 4 + sum(map(box.overlap, whiskers))
            wrong = sum(_mistaken(box, points[i], other) for other in points if other is not points[i])
            costs.append((hidden + _outside(box, bottom) + 80 * wrong + rank * 0.8, rank, box))
        found[i] = min(costs, key=lambda cost: cost[:2])[2]
    return [found[i] for i in range(len(points))]


def _mistaken(box: _Box, point: _Point, other: _Point) -> bool:
    """Whether a label would seem to name another point: it is nearer, or lies on the way."""
    x, y = _nearest(box, point)
    length = math.hypot(x - point.x, y - point.y)
    if length <= _APART:
        return math.hypot(*_minus(_nearest(box, other), other)) < length + 3
    along = ((other.x - point.x) * (x - point.x) + (other.y - point.y) * (y - point.y)) / length**2
    near = min(max(along, 0.0), 1.0)
    foot = (point.x + near * (x - point.x), point.y + near * (y - point.y))
    return math.hypot(*_minus(foot, other)) < 6


def _nearest(box: _Box, point: _Point) -> tuple[float, float]:
    """Return the place in a label that is nearest to a point."""
    return min(max(point.x, box.left), box.right), min(max(point.y, box.top + 2), box.bottom - 2)


def _minus(place: tuple[float, float], point: _Point) -> tuple[float, float]:
    return place[0] - point.x, place[1] - point.y


def _crowd(point: _Point, points: Sequence[_Point]) -> int:
    return sum(abs(point.x - other.x) < 40 and abs(point.y - other.y) < 40 for other in points)


def _candidates(point: _Point) -> Iterator[_Box]:
    """Give places around a point, near ones first: beside it, above, below, then farther away."""
    width = len(point.label) * _CHARACTER * (1.1 if point.row.best else 1.0)
    for away in (9.0, 18.0, 30.0, 44.0, 60.0, 78.0, 98.0):
        for x, y in _UPWARDS if point.below else _AROUND:
            left = point.x + away if x > 0 else point.x - away - width if x < 0 else point.x - width / 2
            if not x:
                left = min(max(left, _LEFT), _WIDTH - width)
            middle = point.y + y * (away if not x else away * 0.75)
            yield _Box(left, middle - _LINE / 2, left + width, middle + _LINE / 2)


def _outside(box: _Box, bottom: float) -> float:
    """Return how much a label would stand outside the drawing."""
    over = max(0.0, _LEFT - box.left) + max(0.0, box.right - _WIDTH)
    return 50 * (over + max(0.0, _TOP - 8 - box.top) + max(0.0, box.bottom - bottom))


def _label(point: _Point, box: _Box) -> tuple[str, str]:
    """Return a thin line to the point where a label stands apart from it, and the label."""
    kind = "name best" if point.row.best else "name"
    near = _nearest(box, point)
    apart = math.hypot(*_minus(near, point)) > _APART
    leader = line(point.x, point.y, *near, "leader") if apart else ""
    # The box is a guess at the width, so the side that faces the point is the one that is exact.
    anchor, x = ("end", box.right) if box.right < point.x else ("start", box.left)
    if box.left <= point.x <= box.right:
        anchor, x = "middle", (box.left + box.right) / 2
    return leader, text(x, box.bottom - 3, point.label, kind, anchor)
