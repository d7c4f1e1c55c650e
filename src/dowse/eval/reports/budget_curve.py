"""The curve of a budget: what was read over the tokens that were paid, a line for each tool."""

from __future__ import annotations

import html
from collections.abc import Sequence

from dowse.eval.reports.budget_table import BudgetRow, BudgetTable
from dowse.eval.reports.svg import Scale, line, linear, logarithmic, path, picture, tag, text
from dowse.eval.reports.wording import number, one_line

# As many strokes as the page can tell apart.
_STROKES = 5
_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 400.0, 36.0, 392.0, 26.0, 240.0
_STEPS = 5
# Intervals of several rows stand so far beside each other, or they would hide each other.
_ASIDE = 2.5
# A single budget has no ends of an axis: it stands between half and twice of it.
_AIR = 2.0


def budget_curve(table: BudgetTable | None) -> str:
    """Return a drawing for each share, with the figures as its legend; "" where nothing was measured."""
    if table is None:
        return ""
    drawn = "".join(_drawing(table, kind) for kind in table.kinds)
    said = "".join(f'<p class="note">{html.escape(one_line(each))}.</p>' for each in table.conclusions)
    return (
        f"<h3>{html.escape(one_line(table.title))}</h3>"
        f'<p class="note">{html.escape(one_line(table.note))}.{_left_out(table)}</p>{said}{drawn}'
    )


def _left_out(table: BudgetTable) -> str:
    names = ", ".join(html.escape(one_line(row.mode)) for row in table.rows if row not in _drawn(table))
    return f" Not drawn, for want of room: {names}." if names else ""


def _drawn(table: BudgetTable) -> Sequence[BudgetRow]:
    """Return the rows that are drawn: of many those compared with first, which are the last ones."""
    if len(table.rows) <= _STROKES:
        return table.rows
    first = [row for row in table.rows if row.mode == table.against][:1]
    others = [row for row in table.rows if row not in first]
    return [*first, *others[len(first) - _STROKES :]]


def _drawing(table: BudgetTable, kind: str) -> str:
    low, high = table.budgets[0], table.budgets[-1]
    air = 1.0 if low < high else _AIR
    x = logarithmic(low / air, high * air, _LEFT + 14, _RIGHT - 14)
    rows = _drawn(table)
    top = _top(table, rows, kind)
    y = linear(0.0, top, _BOTTOM, _TOP)
    out = [_axes(table, x, y, top)]
    out += [_curve(row, kind, table.budgets, i, x, y) for i, row in enumerate(rows)]
    out.append(text(0, 12, f"share of {table.label(kind)}", "mark"))
    out.append(text(_RIGHT, _BOTTOM + 34, "tokens shown", "mark", "end"))
    title = f"Share of {table.label(kind)} over tokens. " + "; ".join(_told(row, kind, table) for row in rows)
    drawing = picture(_WIDTH, _BOTTOM + 40, title, "".join(out))
    return f'<div class="radar">{drawing}{_legend(table, rows, kind)}</div>'


def _top(table: BudgetTable, rows: Sequence[BudgetRow], kind: str) -> float:
    """Return the upper end of the axis: the next fifth above all intervals."""
    values = [row.share(kind, budget) or 0.0 for row in rows for budget in table.budgets]
    values += [ends.high for row in rows for budget in table.budgets if (ends := row.interval(kind, budget))]
    return next(top / _STEPS for top in range(1, _STEPS + 1) if max(values) <= top / _STEPS + 1e-9)


def _axes(table: BudgetTable, x: Scale, y: Scale, top: float) -> str:
    out = []
    for step in range(_STEPS + 1):
        share = top * step / _STEPS
        out.append(line(_LEFT, y(share), _RIGHT, y(share), "grid"))
        out.append(text(_LEFT - 6, y(share) + 4, number(share, 2), "mark", "end"))
    for budget in table.budgets:
        out.append(line(x(budget), _TOP, x(budget), _BOTTOM, "grid"))
        out.append(text(x(budget), _BOTTOM + 15, f"{budget:,}", "mark", "middle"))
    return "".join(out)


def _curve(row: BudgetRow, kind: str, budgets: Sequence[int], stroke: int, x: Scale, y: Scale) -> str:
    """Return a line with a dot at each budget, and the interval of each."""
    known = [(budget, share) for budget in budgets if (share := row.share(kind, budget)) is not None]
    reach = [(budget, ends) for budget, _ in known if (ends := row.interval(kind, budget))]
    points = [(x(budget), y(share)) for budget, share in known]
    aside = (stroke - _STROKES // 2) * _ASIDE
    out = [
        line(x(budget) + aside, y(ends.low), x(budget) + aside, y(ends.high), f"whisker s{stroke}")
        for budget, ends in reach
    ]
    out.append(path(points, f"outline s{stroke}"))
    out += [tag("circle", cx=at, cy=height, r=2.6, class_=f"corner s{stroke}") for at, height in points]
    return "".join(out)


def _told(row: BudgetRow, kind: str, table: BudgetTable) -> str:
    shares = (f"{number(row.share(kind, budget))} at {budget:,}" for budget in table.budgets)
    return f"{one_line(row.mode)}: {', '.join(shares)}"


def _legend(table: BudgetTable, rows: Sequence[BudgetRow], kind: str) -> str:
    head = "".join(f'<th scope="col">{budget:,}</th>' for budget in table.budgets)
    lines = []
    for row in table.rows:
        cells = "".join(f"<td>{number(row.share(kind, budget))}</td>" for budget in table.budgets)
        stroke = list(rows).index(row) if row in rows else None
        mode = html.escape(one_line(row.mode))
        lines.append(f'<tr><th scope="row">{_key(stroke)}<span>{mode}</span></th>{cells}</tr>')
    label = html.escape(table.label(kind))
    return (
        f'<table class="legend"><caption class="unseen">The curves and their figures: {label}</caption>'
        f'<thead><tr><th scope="col">{label}</th>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def _key(stroke: int | None) -> str:
    drawn = "" if stroke is None else line(1, 6, 27, 6, f"outline s{stroke}")
    return tag("svg", drawn, viewBox="0 0 28 12", class_="key", aria_hidden="true")
