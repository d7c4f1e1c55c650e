"""Small pieces of SVG, and scales from values to places."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence

Scale = Callable[[float], float]
# Steps of a logarithmic axis within a power of ten.
_STEPS = (1.0, 2.0, 5.0)


def tag(name: str, content: str = "", **attributes: object) -> str:
    """Return an element; `content` is markup, attributes are escaped (`stroke_width` → `stroke-width`)."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(_value(value))}"'
        for key, value in attributes.items()
    )
    return f"<{name}{told}>{content}</{name}>" if content else f"<{name}{told}/>"


def text(x: float, y: float, content: str, class_: str = "", anchor: str = "start") -> str:
    """Return text, escaped."""
    return tag("text", html.escape(content), x=x, y=y, text_anchor=anchor, class_=class_)


def picture(width: float, height: float, title: str, content: str, class_: str = "plot") -> str:
    """Return a drawing that tells its title to those who can't see it."""
    told = tag("title", html.escape(title))
    box = f"0 0 {_value(width)} {_value(height)}"
    return tag("svg", told + content, viewBox=box, role="img", aria_label=title, class_=class_)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> str:
    """Return a straight line."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def path(points: Sequence[tuple[float, float]], class_: str, *, closed: bool = False) -> str:
    """Return a line through points."""
    steps = " ".join(f"{'L' if i else 'M'}{_value(x)} {_value(y)}" for i, (x, y) in enumerate(points))
    return tag("path", d=steps + (" Z" if closed else ""), class_=class_)


def linear(low: float, high: float, start: float, end: float) -> Scale:
    """Return a scale that takes [low, high] to [start, end]."""
    span = (high - low) or 1.0
    return lambda value: start + (value - low) / span * (end - start)


def logarithmic(low: float, high: float, start: float, end: float) -> Scale:
    """Return a scale on which factors are distances."""
    inner = linear(math.log10(low), math.log10(high), start, end)
    return lambda value: inner(math.log10(min(max(value, low), high)))


def log_range(values: Sequence[float]) -> tuple[float, float, list[float]]:
    """Return the ends of a logarithmic axis for values above 0, and its marks."""
    low, high = min(values), max(values)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    marks = [step * 10.0**power for power in range(first, last + 1) for step in _STEPS]
    below = max((mark for mark in marks if mark <= low), default=low)
    above = min((mark for mark in marks if mark >= high and mark > below), default=high * 10)
    shown = [mark for mark in marks if below <= mark <= above]
    tens = [mark for mark in shown if math.isclose(math.log10(mark) % 1, 0, abs_tol=1e-9)]
    return below, above, tens if len(shown) > 6 and len(tens) > 1 else shown


def share_range(values: Sequence[float]) -> tuple[float, float, list[float]]:
    """Return the ends of an axis of shares that holds all values with some air, and its marks."""
    low, high = min(values), max(values)
    step = next((s for s in (0.01, 0.02, 0.05, 0.1, 0.2) if (high - low) / s <= 6), 0.2)
    below = max(0.0, math.floor(low / step + 1e-9) * step)
    above = min(1.0, math.ceil(high / step - 1e-9) * step)
    if above - below < step / 2:
        below, above = max(0.0, below - step), min(1.0, above + step)
    count = round((above - below) / step)
    return below, above, [below + i * step for i in range(count + 1)]


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.1f}".removesuffix(".0")
    return str(value)
