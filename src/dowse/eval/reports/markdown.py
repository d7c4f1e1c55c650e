"""Reports as Markdown, in the tables that GitHub shows."""

from __future__ import annotations

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
    between,
    compared,
    figure,
    first_right,
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

# Characters that mean something in Markdown, in a table, or in the HTML that Markdown may hold.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~@!&$])")
_QUERY_WIDTH = 160
_SHOWN = 3


def render_markdown(report: Report, worst: int = 5, *, title: str = "Evaluation") -> str:
    """Return a report as Markdown.

    Args:
        report: What to show.
        worst: How many of the worst questions to list, of each set's row that is compared with; 0 for none.
        title: The heading.
    """
    parts = [f"{mark_comment(REPORT)}\n# {escaped(title)}"]
    means = mean_table(report)
    if means:
        parts += [_section(means), *_budget(mean_budget(report))]
    for each in report.sets:
        parts += [_section(set_table(each)), *_budget(set_budget(each))]
        parts += [part for part in (_index(each), _worst(each, worst)) if part]
    facts = about_items(report.about) + searched_commit(report.indexes)
    about = [f"- **{escaped(label)}**: {_about_value(label, value)}" for label, value in facts]
    if about:
        parts.append("## About\n\n" + "\n".join(about))
    return "\n\n".join(parts) + "\n"


def escaped(text: str, width: int = 0) -> str:
    """Return text that stands for itself in Markdown."""
    return _SPECIAL.sub(r"\\\1", one_line(text, width))


def code(text: str, *, cell: bool = False) -> str:
    """Return text as code; in a cell bars are escaped, because tables are cut before code is read."""
    plain = one_line(text)
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", plain)), default=0))
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    marked = f"{ticks}{pad}{plain}{pad}{ticks}" if plain else NOTHING
    return marked.replace("|", "\\|") if cell else marked


def _section(table: Table) -> str:
    said = [
        f"## {escaped(table.name)}",
        f"{escaped(' · '.join(table.facts))}. {escaped('; '.join(table.notes))}.",
    ]
    said += [f"> Note: {escaped(each)}." for each in table.remarks]
    return "\n\n".join([*said, _table(table), *_conclusion(table)])


def _table(table: Table) -> str:
    head = ["mode", *(["cases"] if table.uneven else []), table.metric, "95 %"]
    head += [f"against {table.against}"] if table.compares else []
    names = []
    for group in table.groups:
        for name, label in group.columns:
            names.append(name)
            head.append(f"{label} ms" if name.endswith("_ms") else metric_label(name))
    lines = [_line([escaped(cell) for cell in head]), _line(["---"] + ["---:"] * (len(head) - 1))]
    lines += [_line(_cells(row, names, table)) for row in table.rows]
    return "\n".join(lines)


def _cells(row: Row, names: Sequence[str], table: Table) -> list[str]:
    mode = escaped(row.mode)
    cells = [f"**{mode}**" if row.best else mode]
    cells += [f"{row.cases:,}"] if table.uneven else []
    cells += [f"**{number(row.value)}**" if row.best else number(row.value), between(row.interval)]
    if table.compares:
        found = row.difference
        cells.append(f"{signed(found.mean)} {verdict(found)}" if found else "")
    for name in names:
        cells.append(figure(name, row.metric(name)))
    return cells


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _conclusion(table: Table) -> list[str]:
    best = table.best
    if best is None or len(table.rows) == 1:
        return []
    said = f"{table.standing.capitalize()}: **{escaped(best.mode)}**"
    if best.difference:
        said += f", {escaped(compared(best.difference))} against {escaped(table.against)}"
    return [f"{said}; {escaped(like(table.also))}." if table.also else f"{said}."]


def _budget(table: BudgetTable | None) -> list[str]:
    """Return what was read within budgets; nothing where that was not measured."""
    if table is None:
        return []
    parts = [f"### {escaped(table.title)}", f"{escaped(table.note)}."]
    for kind in table.kinds:
        head, *rows = table.grid(kind)
        rule = ["---"] + ["---:"] * (len(head) - 1)
        parts.append("\n".join(_line(cells) for cells in (head, rule, *(map(escaped, row) for row in rows))))
    return [*parts, *(f"{escaped(each)}." for each in table.conclusions)]


def _index(each: SetReport) -> str:
    told = index_facts(each.dataset.index)
    return f"Searched: {escaped(told)}." if told else ""


def _worst(each: SetReport, count: int) -> str:
    cases = each.worst(each.told, count)
    if not cases:
        return ""
    head = [metric_label(each.metric), "question", "wanted", "found instead"]
    lines = [_line(head), _line(["---:", "---", "---", "---"])]
    lines += [_line(_case(case, each.metric)) for case in cases]
    summary = f"<summary>Worst questions of {_html(each.told)}</summary>"
    return "\n".join(["<details>", summary, "", *lines, "", "</details>"])


def _case(case: CaseResult, metric: str) -> list[str]:
    place = first_right(first_rank(case))
    return [
        f"{number(case.values[metric])} ({place})",
        escaped(case.query, _QUERY_WIDTH),
        "<br>".join(code(name, cell=True) for name in case.relevant[:_SHOWN]) or NOTHING,
        "<br>".join(code(name, cell=True) for name in case.found[:_SHOWN]) or "nothing",
    ]


def _about_value(label: str, value: str) -> str:
    return code(value) if label in CODE_LABELS else escaped(value)


def _html(text: str) -> str:
    import html

    return html.escape(one_line(text))
