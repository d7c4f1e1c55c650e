"""Reports as one self-contained page: no script, nothing loaded, drawings inline."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import replace

from dowse.eval import markers as marks
from dowse.eval.reports.budget_curve import budget_curve
from dowse.eval.reports.budget_table import BudgetTable, mean_budget, set_budget
from dowse.eval.reports.heat_map import heat_map
from dowse.eval.reports.model import MEAN, Report, SetReport, first_rank
from dowse.eval.reports.page_style import style_sheet
from dowse.eval.reports.plots import OVERLAID, interval_mark, latency_bars, radar
from dowse.eval.reports.scatter import quality_against_cost
from dowse.eval.reports.tables import Row, Table, mean_table, set_table
from dowse.eval.reports.wording import (
    CODE_LABELS,
    about_items,
    between,
    chance,
    compared,
    figure,
    first_right,
    half_label,
    index_facts,
    like,
    metric_label,
    number,
    one_line,
    searched_commit,
    signed,
    verdict,
)
from dowse.eval.types import CaseResult

# Nothing may be fetched or run, whatever a question or a path contains.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
# With so many sets, all are unfolded.
_UNFOLDED = 2
_SHOWN = 5


def render_html(report: Report, worst: int = 10, *, title: str = "Evaluation of dowse") -> str:
    """Return a report as a page.

    Args:
        report: What to show.
        worst: How many of the worst questions to list, of each set's row that is compared with.
        title: The page's title.
    """
    tables = [set_table(each) for each in report.sets]
    means = mean_table(report)
    overview = means or (tables[0] if len(tables) == 1 else None)
    parts = [_header(report, overview, title), "<main>"]
    if means:
        parts.append(_means(means))
    if len(tables) > 1:
        against = report.against
        modes = list(dict.fromkeys(row.mode for table in tables for row in table.rows))
        parts.append(_section("By set", _card(heat_map(tables, means, modes, against))))
    if overview:
        parts.append(_plots(overview))
    parts.append(_budget(set_budget(report.sets[0]) if len(report.sets) == 1 else mean_budget(report)))
    parts.append(_sets(report, tables, worst))
    parts += ["</main>", _footer(report)]
    return _page(title, "\n".join(parts))


def _page(title: str, body: str) -> str:
    return (
        f'<!doctype html>\n{marks.comment(marks.REPORT)}\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_safe(title)}</title>\n<style>{style_sheet()}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _safe(text: str, width: int = 0) -> str:
    """Return text that stands for itself on a page, and can't turn its surroundings around."""
    return html.escape(one_line(text, width))


def _section(title: str, *content: str, note: str = "") -> str:
    said = f'<p class="quiet">{note}</p>' if note else ""
    return f"<section><h2>{_safe(title)}</h2>{said}{''.join(content)}</section>"


def _card(*content: str) -> str:
    return f'<div class="card">{"".join(content)}</div>'


def _header(report: Report, overview: Table | None, title: str) -> str:
    cases = sum(each.dataset.cases for each in report.sets)
    facts = [
        ("sets" if len(report.sets) != 1 else "set", f"{len(report.sets)}"),
        ("questions", f"{cases:,}"),
        ("asked", " and ".join(dict.fromkeys(half_label(each.dataset.half) for each in report.sets))),
        ("ways of searching", f"{len(report.modes)}"),
    ]
    wanted = ("commit", "encoder", "date")
    facts += about_items({name: report.about[name] for name in wanted if name in report.about})
    facts += searched_commit(report.indexes)
    items = "".join(
        f"<div><dt>{_safe(label)}</dt><dd>{_safe(value, 40)}</dd></div>" for label, value in facts
    )
    return f'<header><h1>{_safe(title)}</h1>{_lead(overview)}<dl class="facts">{items}</dl></header>'


def _lead(overview: Table | None) -> str:
    """Return what was found, in a sentence or two."""
    best = overview.best if overview else None
    if overview is None or best is None:
        return ""
    name = _safe(best.mode.removeprefix(MEAN))
    where = f" on the {_safe(overview.name)}" if best.mode.startswith(MEAN) else ""
    standing = f" is {overview.standing}" if len(overview.rows) > 1 else ""
    said = f"<strong>{name}</strong>{standing}{where}: "
    said += f"{_safe(overview.metric)} {number(best.value)}"
    said += f" ({between(best.interval)})" if best.interval else ""
    against = _safe(overview.against.removeprefix(MEAN))
    if best.difference:
        kind = "a real difference" if best.difference.real else "which may be noise"
        said += f". Against {against} that is {signed(best.difference.mean)}, {kind}"
        said += f" ({chance(best.difference.p)})"
    if overview.also:
        said += f". {_safe(like([mode.removeprefix(MEAN) for mode in overview.also]))}"
    return f'<p class="lead">{said}.</p>'


def _means(means: Table) -> str:
    return _section("On the average", _card(_figures(_without_prefix(means))))


def _plots(table: Table) -> str:
    """Return the drawings of the means, or of the only set."""
    where = "mean of all sets" if table.rows and table.rows[0].mode.startswith(MEAN) else table.name
    plain = _without_prefix(table)
    cost = "Up is better, left is faster. Nothing beats what lies on the dashed line in both."
    times = "The mark is the median, the bar reaches to p95 and the line to p99. Milliseconds, logarithmic."
    pair = [
        _figure("Quality against cost", cost, quality_against_cost(plain)),
        _figure("Time a question takes", times, latency_bars(plain)),
    ]
    shape = _figure("MRR, nDCG and recall", _radar_note(plain), radar(plain))
    drawn = f'<div class="pair">{"".join(pair)}</div>' if any(pair) else ""
    return _section("Quality and cost", drawn, shape, note=f"{_safe(where)}") if drawn or shape else ""


def _budget(table: BudgetTable | None) -> str:
    """Return what was read within budgets, of the means or of the only set."""
    return _section("Read within a budget", _card(budget_curve(table))) if table else ""


def _radar_note(table: Table) -> str:
    return (
        f"Each corner is a metric, from 0 in the middle; dashed is {table.against.removeprefix(MEAN)}."
        if len(table.rows) > OVERLAID
        else "Each corner is a metric, from 0 in the middle."
    )


def _figure(title: str, note: str, drawing: str) -> str:
    if not drawing:
        return ""
    return f'<div class="card"><h3>{_safe(title)}</h3><p class="note">{_safe(note)}</p>{drawing}</div>'


def _without_prefix(table: Table) -> Table:
    """Return a table of means with the plain names of modes: its title says what they are."""
    return replace(table, rows=tuple(replace(row, mode=row.mode.removeprefix(MEAN)) for row in table.rows))


def _figures(table: Table) -> str:
    """Return a table with all figures and intervals."""
    facts = _safe(", ".join(table.facts))
    notes = _safe("; ".join(table.notes))
    said = f"<b>{_safe(table.name)}</b> {facts}<br>{notes}"
    said += "".join(f"<br><strong>Note: {_safe(each)}.</strong>" for each in table.remarks)
    caption = f'<caption><span class="said">{said}</span></caption>'
    bounds = [end for row in table.rows if row.interval for end in row.interval]
    bounds += [row.value for row in table.rows if row.value is not None]
    ends = (min(bounds), max(bounds)) if bounds else (0.0, 1.0)
    body = "".join(_figure_row(row, table, ends) for row in table.rows)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{_safe(table.name)}, figures">'
        f'<table class="figures">{caption}{_figure_head(table)}<tbody>{body}</tbody></table></div>'
    )


def _figure_head(table: Table) -> str:
    top = [
        '<th rowspan="2" scope="col">mode</th>',
        f'<th colspan="3" scope="colgroup">{_safe(table.metric)}</th>',
    ]
    low = [
        '<th scope="col">mean</th>',
        '<th scope="col"><span class="unseen">drawn</span></th>',
        '<th scope="col">95 %</th>',
    ]
    if table.compares:
        against = _safe(table.against.removeprefix(MEAN))
        top.append(f'<th rowspan="2" scope="col" class="first">against {against}</th>')
    for group in table.groups:
        if not group.title:
            top.append(f'<th rowspan="2" scope="col" class="first">{_safe(group.columns[0][1])}</th>')
            continue
        top.append(
            f'<th colspan="{len(group.columns)}" scope="colgroup" class="first">{_safe(group.title)}</th>'
        )
        low += [
            f'<th scope="col"{_first(i)}>{_safe(label)}</th>' for i, (_, label) in enumerate(group.columns)
        ]
    return f"<thead><tr>{''.join(top)}</tr><tr>{''.join(low)}</tr></thead>"


def _first(place: int) -> str:
    return ' class="first"' if place == 0 else ""


def _figure_row(row: Row, table: Table, ends: tuple[float, float]) -> str:
    kind = " ".join(
        name
        for name, on in (("best", row.best), ("shared", row.best and not table.clear), ("base", row.baseline))
        if on and len(table.rows) > 1
    )
    cells = [
        f'<th scope="row">{_safe(row.mode)}</th>',
        f'<td class="value">{number(row.value)}</td>',
        f"<td>{interval_mark(row, *ends)}</td>",
        f"<td>{between(row.interval)}</td>",
    ]
    if table.compares:
        cells.append(f'<td class="first">{_difference(row)}</td>')
    for group in table.groups:
        for i, (name, _) in enumerate(group.columns):
            cells.append(f"<td{_first(i)}>{figure(name, row.metric(name))}</td>")
    return f'<tr class="{kind}">{"".join(cells)}</tr>'


def _difference(row: Row) -> str:
    found = row.difference
    if found is None:
        return ""
    kind = "noise" if not found.real else "gain" if found.mean > 0 else "loss"
    return (
        f'<span class="{kind}" title="{_safe(compared(found))}">{signed(found.mean)} {verdict(found)}</span>'
    )


def _sets(report: Report, tables: Sequence[Table], worst: int) -> str:
    unfolded = " open" if len(tables) <= _UNFOLDED else ""
    parts = []
    for each, table in zip(report.sets, tables, strict=True):
        drawing = _set_radar(table) if len(tables) > 1 else ""
        curve = budget_curve(set_budget(each)) if len(tables) > 1 else ""
        inner = "".join((_figures(table), _searched(each), drawing, curve, _worst(each, worst)))
        head = f'<details class="set"{unfolded}><summary>{_summary(table)}</summary>'
        parts.append(f'{head}<div class="inner">{inner}</div></details>')
    return _section("Sets" if len(tables) != 1 else "Figures", *parts)


def _set_radar(table: Table) -> str:
    drawing = radar(table)
    return (
        f'<h3>MRR, nDCG and recall</h3><p class="note">{_safe(_radar_note(table))}</p>{drawing}'
        if drawing
        else ""
    )


def _summary(table: Table) -> str:
    best = table.best
    score = f"{_safe(best.mode)} {number(best.value)}" if best else "no figures"
    facts = _safe(", ".join(table.facts))
    standing = f"{table.standing}: " if len(table.rows) > 1 else ""
    return f'<b>{_safe(table.name)}</b><span>{facts}</span><span class="score">{standing}{score}</span>'


def _searched(each: SetReport) -> str:
    told = index_facts(each.dataset.index)
    return f'<p class="note">Searched: {_safe(told)}</p>' if told else ""


def _worst(each: SetReport, count: int) -> str:
    cases = each.worst(each.told, count)
    if not cases:
        return ""
    items = "".join(f"<li>{_case(case, each.metric)}</li>" for case in cases)
    summary = f"<summary>Worst questions of {_safe(each.told)}</summary>"
    return f'<details>{summary}<ul class="worst">{items}</ul></details>'


def _case(case: CaseResult, metric: str) -> str:
    place = first_right(first_rank(case))
    right = set(case.relevant)
    wanted = "".join(f"<li>{_safe(name)}</li>" for name in case.relevant[:_SHOWN])
    left = len(case.relevant) - _SHOWN
    wanted += f"<li>and {left} more</li>" if left > 0 else ""
    found = "".join(
        f"<li class=right>{_safe(name)} (right)</li>" if name in right else f"<li>{_safe(name)}</li>"
        for name in case.found[:_SHOWN]
    )
    return (
        f'<p class="query">{_safe(case.query, 400)}</p><dl>'
        f"<dt>{_safe(metric_label(metric))}</dt><dd>{number(case.values[metric])}, {place}</dd>"
        f"<dt>Wanted</dt><dd><ul>{wanted}</ul></dd>"
        f"<dt>Found</dt><dd>{f'<ol>{found}</ol>' if found else 'nothing'}</dd>"
        f"<dt>Id</dt><dd><code>{_safe(case.id)}</code></dd></dl>"
    )


def _footer(report: Report) -> str:
    rows = _pairs(about_items(report.about))
    read = (
        "Intervals are 95 % bootstrap intervals of the mean over questions. A difference is called real if a "
        "paired randomisation test gives p below .05, else noise. MRR counts the first 100 results."
    )
    about = _section("About", f'<dl class="about">{rows}</dl>') if rows else ""
    return f"<footer>{about}<section><h2>How to read this</h2><p>{_safe(read)}</p></section></footer>"


def _pairs(items: Iterable[tuple[str, str]]) -> str:
    forms = dict.fromkeys(CODE_LABELS, "<code>{}</code>")
    return "".join(
        f"<dt>{_safe(label)}</dt><dd>{forms.get(label, '{}').format(_safe(value))}</dd>"
        for label, value in items
    )
