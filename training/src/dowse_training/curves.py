"""The curves of a training run as an SVG picture: loss above, measures below, over the seconds of the run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

Points = list[tuple[float, float]]

_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 900, 260, 60, 30, 60
_COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2", "#7f7f7f")


def draw(records: Iterable[Mapping[str, Any]]) -> str:
    """A picture of a log's records."""
    losses: dict[str, Points] = {}
    measures: dict[str, Points] = {}
    stage = ""
    for record in records:
        time = float(record.get("t", 0))
        if "stage" in record:
            stage = f"{record['stage']} {record.get('kind', '')}".strip()
        if "loss" in record:
            losses.setdefault(f"loss, stage {stage}", []).append((time, float(record["loss"])))
        report = {**record, **record.get("mid", {})}
        for name, value in (report.get("eval") or {}).items():
            if isinstance(value, Sequence):
                measures.setdefault(name, []).append((time, float(value[0])))
        for name, value in (report.get("valid") or {}).items():
            measures.setdefault(f"valid {name}", []).append((time, float(value[1])))
    panels = [panel for panel in (losses, measures) if panel]
    height = len(panels) * (_HEIGHT + _GAP) + _TOP
    body = "".join(_panel(panel, _TOP + n * (_HEIGHT + _GAP)) for n, panel in enumerate(panels))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH + 220}" height="{height}" '
        'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>'
        f"{body}</svg>\n"
    )


def _panel(lines: Mapping[str, Points], top: int) -> str:
    """One frame with its lines, the range of both axes, and names at the side."""
    everything = [point for points in lines.values() for point in points]
    xs, ys = [x for x, _ in everything], [y for _, y in everything]
    low, high, last = min(ys), max(ys), max(xs)
    across = (_WIDTH - _LEFT) / (last or 1)
    up = _HEIGHT / ((high - low) or 1)
    place = f'x="{_LEFT}" y="{top}" width="{_WIDTH - _LEFT}" height="{_HEIGHT}"'
    out = [f'<rect {place} fill="none" stroke="#999"/>']
    out += [_text(4, top + 10, f"{high:.4g}"), _text(4, top + _HEIGHT, f"{low:.4g}")]
    out += [_text(_LEFT, top + _HEIGHT + 16, "0 s"), _text(_WIDTH - 40, top + _HEIGHT + 16, f"{last:.0f} s")]
    for number, (name, points) in enumerate(lines.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        places = [(_LEFT + x * across, top + (high - y) * up) for x, y in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" fill="{colour}"/>' for x, y in places]
        out.append(_text(_WIDTH + 12, top + 10 + number * 13, f"{name} {points[-1][1]:.4g}", colour))
    return "".join(out)


def _text(x: float, y: float, text: str, colour: str = "#333") -> str:
    return f'<text x="{x}" y="{y}" fill="{colour}">{escape(text)}</text>'
