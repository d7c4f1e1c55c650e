"""Drawings of a report: radar, latency, intervals. Colours come from the page's style sheet."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

from dowse.eval.reports.svg import Scale, line, log_range, logarithmic, path, picture, tag, text
from dowse.eval.reports.tables import Row, Table
from dowse.eval.reports.wording import milliseconds, number, one_line, tick

# Corners of the radar.
AXES = (("mrr@100", "MRR"), ("ndcg@10", "nDCG@10"), ("recall@10", "recall@10"))
# More outlines than this in one drawing can't be told apart: then every mode gets its own.
OVERLAID = 5
_RINGS = 4
_LABEL = 18  # characters of a mode's name beside a bar


def radar(table: Table) -> str:
    """Return MRR, nDCG@10 and recall@10 of every mode: in one drawing, or in one each where they are many."""
    rows = [row for row in table.rows if all(row.metric(name) is not None for name, _ in AXES)]
    if not rows:
        return ""
    top = _top([row.metric(name) or 0.0 for row in rows for name, _ in AXES])
    return _overlaid(rows, top, table.name) if len(rows) <= OVERLAID else _multiples(rows, top)


def latency_bars(table: Table) -> str:
    """Return how long questions took: a bar from the median to p95, a line on to p99."""
    rows = [row for row in table.rows if all(_times(row))]
    if not rows:
        return ""
    low, high, marks = log_range([value for row in rows for value in _times(row)])
    scale = logarithmic(low, high, 128, 280)
    height = 34 + 24 * len(rows)
    out = [
        text(x, 12, label, "mark", "end")
        for x, label in zip((322, 360, 400), ("p50", "p95", "p99"), strict=True)
    ]
    for mark in marks:
        x = scale(mark)
        out += [
            line(x, 20, x, height - 16, "grid"),
            text(x, height - 3, tick(mark), "mark", "middle"),
        ]
    out += [_bar(row, 34 + 24 * i, scale) for i, row in enumerate(rows)]
    return picture(400, height, "Milliseconds a question takes, by mode: " + _told_times(rows), "".join(out))


def interval_mark(row: Row, low: float, high: float) -> str:
    """Return a dot with its interval, small enough for a cell of a table that has the figures too."""
    if row.value is None:
        return ""
    span = (high - low) or 1.0

    def place(value: float) -> float:
        return 4 + (value - low) / span * 92

    out = ""
    if row.interval:
        out = line(place(row.interval.low), 8, place(row.interval.high), 8, "whisker")
    kind = "dot best" if row.best else "dot"
    out += tag("circle", cx=place(row.value), cy=8, r=3.5, class_=kind)
    return tag("svg", out, viewBox="0 0 100 16", class_="interval", aria_hidden="true")


def _legend_key(number_: int) -> str:
    """Return the stroke that an outline of the radar has."""
    stroke = line(1, 6, 27, 6, f"outline s{number_}")
    return tag("svg", stroke, viewBox="0 0 28 12", class_="key", aria_hidden="true")


def _top(values: Sequence[float]) -> float:
    """Return the outermost ring: the next fifth above all values."""
    return min(1.0, max(0.2, math.ceil(max(values) * 5 - 1e-9) / 5))


def _corners(
    centre: tuple[float, float], radius: float, shares: Sequence[float]
) -> list[tuple[float, float]]:
    points = []
    for i, share in enumerate(shares):
        angle = math.radians(-90 + i * 360 / len(shares))
        points.append(
            (centre[0] + math.cos(angle) * radius * share, centre[1] + math.sin(angle) * radius * share)
        )
    return points


def _web(centre: tuple[float, float], radius: float, rings: int) -> str:
    out = [path(_corners(centre, radius, [i / rings] * 3), "grid", closed=True) for i in range(1, rings + 1)]
    out += [line(*centre, *corner, "grid") for corner in _corners(centre, radius, [1.0] * 3)]
    return "".join(out)


def _shares(row: Row, top: float) -> list[float]:
    return [(row.metric(name) or 0.0) / top for name, _ in AXES]


def _told(row: Row) -> str:
    figures = ", ".join(f"{label} {number(row.metric(name))}" for name, label in AXES)
    return f"{one_line(row.mode)}: {figures}"


def _overlaid(rows: Sequence[Row], top: float, name: str) -> str:
    """Return one drawing with an outline a mode, and the figures as its legend."""
    centre, radius = (160.0, 132.0), 104.0
    out = [_web(centre, radius, _RINGS)]
    out += [
        text(centre[0] + 4, centre[1] - radius * i / _RINGS + 11, number(top * i / _RINGS), "mark name")
        for i in range(1, _RINGS + 1)
    ]
    for i, row in enumerate(rows):
        corners = _corners(centre, radius, _shares(row, top))
        out.append(path(corners, f"outline s{i}", closed=True))
        out += [tag("circle", cx=x, cy=y, r=2.6, class_=f"corner s{i}") for x, y in corners]
    out += [
        text(160, 18, AXES[0][1], "label", "middle"),
        text(254, 206, AXES[1][1], "label", "middle"),
        text(66, 206, AXES[2][1], "label", "middle"),
    ]
    title = f"{AXES[0][1]}, {AXES[1][1]} and {AXES[2][1]} on {one_line(name)}. " + "; ".join(map(_told, rows))
    return f'<div class="radar">{picture(320, 214, title, "".join(out))}{_legend(rows)}</div>'


def _legend(rows: Sequence[Row]) -> str:
    head = "".join(f'<th scope="col">{label}</th>' for _, label in AXES)
    lines = []
    for i, row in enumerate(rows):
        figures = "".join(f"<td>{number(row.metric(name))}</td>" for name, _ in AXES)
        mode = html.escape(one_line(row.mode))
        lines.append(f'<tr><th scope="row">{_legend_key(i)}<span>{mode}</span></th>{figures}</tr>')
    return (
        '<table class="legend"><caption class="unseen">The outlines and their figures</caption>'
        f'<thead><tr><th scope="col">mode</th>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
    )


def _multiples(rows: Sequence[Row], top: float) -> str:
    """Return a small drawing a mode, each with the outline of the baseline behind it."""
    base = next((row for row in rows if row.baseline), None)
    return f'<div class="multiples">{"".join(_small(row, base, top) for row in rows)}</div>'


def _small(row: Row, base: Row | None, top: float) -> str:
    centre, radius = (70.0, 72.0), 55.0
    out = [_web(centre, radius, 2)]
    if base is not None and base is not row:
        out.append(path(_corners(centre, radius, _shares(base, top)), "ghost", closed=True))
    kind = "area best" if row.best else "area"
    out.append(path(_corners(centre, radius, _shares(row, top)), kind, closed=True))
    places = ((70, 11, "middle"), (140, 115, "end"), (0, 115, "start"))
    for (x, y, anchor), (name, label) in zip(places, AXES, strict=True):
        out.append(text(x, y, f"{label.partition('@')[0]} {number(row.metric(name))}", "mark", anchor))
    mode = html.escape(one_line(row.mode))
    said = f"<strong>{mode}</strong>" if row.best else mode
    drawing = picture(140, 119, _told(row), "".join(out))
    return f"<figure><figcaption>{said}</figcaption>{drawing}</figure>"


def _times(row: Row) -> list[float]:
    return [row.metric(name) or 0.0 for name in ("p50_ms", "p95_ms", "p99_ms")]


def _told_times(rows: Sequence[Row]) -> str:
    told = [f"{one_line(row.mode)} {', '.join(milliseconds(value) for value in _times(row))}" for row in rows]
    return "; ".join(told) + " (p50, p95, p99)"


def _bar(row: Row, y: float, scale: Scale) -> str:
    middle, most, nearly = (scale(value) for value in _times(row))
    kind = " best" if row.best else ""
    out = [
        text(0, y + 4, one_line(row.mode, _LABEL), "label" + kind),
        line(middle, y, nearly, y, "reach"),
        tag("rect", x=middle, y=y - 4.5, width=max(most - middle, 2.0), height=9, rx=2, class_="bar" + kind),
        line(middle, y - 7, middle, y + 7, "median" + kind),
    ]
    figures = zip((322, 360, 400), _times(row), strict=True)
    out += [text(x, y + 4, milliseconds(value), "figure", "end") for x, value in figures]
    return tag("g", "".join(out))
