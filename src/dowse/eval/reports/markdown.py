"""Reports as Markdown, in the tables that GitHub shows."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from dowse.eval.files import REPORT, mark_comment
from dowse.eval.reports.budget_table import BudgetTable, mean_budget, set_budget
from dowse.eval.reports.model import Report, SetReport, first_rank
from dowse.eval.reports.tables import Row, Table, mean_table, set_table
from dowse.eval.reports.wording import (
    CODE_LABELS,
    NOTHING,
    about_items,
    format_interval,
    format_score,
    format_value,
    full_difference,
    index_facts,
    metric_label,
    one_line,
    rank_note,
    searched_commit,
    short_difference,
    ties_note,
)
from dowse.eval.types import CaseResult

# Characters that mean something in Markdown, in a table, or in the HTML that Markdown may hold.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~@!&$])")
_QUERY_WIDTH = 160
_SHOWN = 3


def render_markdown(report: Report, worst: int = 5) -> str:
    """Return a report as Markdown, with the worst queries of each set's baseline."""
    parts = [f"{mark_comment(REPORT)}\n# Evaluation"]
    means = mean_table(report)
    if means:
        parts += [_section(means), *_budget(mean_budget(report))]
    for each in report.sets:
        parts += [_section(set_table(each)), *_budget(set_budget(each))]
        facts = index_facts(each.dataset.index)
        parts += [f"Searched: {escape_markdown(facts)}."] if facts else []
        parts += _worst(each, worst)
    items = about_items(report.about) + searched_commit(report.indexes)
    if items:
        lines = (f"- **{escape_markdown(label)}**: {_about_value(label, value)}" for label, value in items)
        parts.append("## About\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def escape_markdown(text: str, width: int = 0) -> str:
    """Return text on one line with the special characters of Markdown escaped."""
    return _SPECIAL.sub(r"\\\1", one_line(text, width))


def code(text: str, *, cell: bool = False) -> str:
    """Return text as code; in a cell bars are escaped, because tables are cut before code is read."""
    plain = one_line(text)
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", plain)), default=0))
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    marked = f"{ticks}{pad}{plain}{pad}{ticks}" if plain else NOTHING
    return marked.replace("|", "\\|") if cell else marked


def table_lines(head: Sequence[str], rows: Iterable[Iterable[str]], names: int = 1) -> str:
    """Return a table of cells that are escaped already; all columns but the first ones hold figures."""
    rule = ["---"] * names + ["---:"] * (len(head) - names)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def _section(table: Table) -> str:
    facts, notes = (escape_markdown(text) for text in (" · ".join(table.facts), "; ".join(table.notes)))
    parts = [f"## {escape_markdown(table.name)}", f"{facts}. {notes}."]
    parts += [f"> Note: {escape_markdown(each)}." for each in table.remarks]
    return "\n\n".join([*parts, _table(table), *_conclusion(table)])


def _table(table: Table) -> str:
    columns = [column for group in table.groups for column in group.columns]
    head = ["mode", *(["cases"] if table.uneven else []), table.metric, "95 %"]
    head += [f"against {table.against}"] if table.compares else []
    head += [f"{label} ms" if name.endswith("_ms") else metric_label(name) for name, label in columns]
    rows = (_cells(row, [name for name, _ in columns], table) for row in table.rows)
    return table_lines([escape_markdown(cell) for cell in head], rows)


def _cells(row: Row, names: Sequence[str], table: Table) -> list[str]:
    bold = "**" if row.best else ""
    cells = [f"{bold}{escape_markdown(row.mode)}{bold}", *([f"{row.cases:,}"] if table.uneven else [])]
    cells += [f"{bold}{format_score(row.value)}{bold}", format_interval(row.interval)]
    cells += [short_difference(row.difference)] if table.compares else []
    return [*cells, *(format_value(name, row.metric(name)) for name in names)]


def _conclusion(table: Table) -> list[str]:
    best = table.best
    if best is None or len(table.rows) == 1:
        return []
    text = f"{table.standing.capitalize()}: **{escape_markdown(best.mode)}**"
    if best.difference:
        difference = escape_markdown(full_difference(best.difference))
        text += f", {difference} against {escape_markdown(table.against)}"
    return [f"{text}; {escape_markdown(ties_note(table.other_ties))}." if table.other_ties else f"{text}."]


def _budget(table: BudgetTable | None) -> list[str]:
    """Return what was read within budgets; nothing where that was not measured."""
    if table is None:
        return []
    parts = [f"### {escape_markdown(table.title)}", f"{escape_markdown(table.note)}."]
    for kind in table.kinds:
        head, *rows = table.grid(kind)
        parts.append(table_lines(head, (map(escape_markdown, row) for row in rows)))
    return [*parts, *(f"{escape_markdown(each)}." for each in table.conclusions)]


def _worst(each: SetReport, count: int) -> list[str]:
    cases = each.worst(each.detailed_mode, count)
    if not cases:
        return []
    head = f"| {metric_label(each.metric)} | question | wanted | found instead |\n| ---: | --- | --- | --- |"
    lines = (f"| {' | '.join(_case(case, each.metric))} |" for case in cases)
    summary = f"<summary>Worst questions of {html.escape(one_line(each.detailed_mode))}</summary>"
    return ["\n".join(["<details>", summary, "", head, *lines, "", "</details>"])]


def _case(case: CaseResult, metric: str) -> list[str]:
    return [
        f"{format_score(case.values[metric])} ({rank_note(first_rank(case))})",
        escape_markdown(case.query, _QUERY_WIDTH),
        "<br>".join(code(name, cell=True) for name in case.relevant[:_SHOWN]) or NOTHING,
        "<br>".join(code(name, cell=True) for name in case.found[:_SHOWN]) or "nothing",
    ]


def _about_value(label: str, value: str) -> str:
    return code(value) if label in CODE_LABELS else escape_markdown(value)
