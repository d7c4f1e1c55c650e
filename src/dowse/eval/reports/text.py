"""Reports for the terminal: a table for each set, the means, and the worst queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

from dowse.eval.reports.model import Report, SetReport, first_rank
from dowse.eval.reports.tables import Group, Row, Table, mean_table, set_table
from dowse.eval.reports.wording import (
    about_items,
    format_interval,
    format_score,
    format_value,
    keep_end,
    metric_label,
    one_line,
    rank_note,
    short_difference,
)
from dowse.eval.types import CaseResult
from dowse.formats.style import Style
from dowse.security.terminal import escape_controls

WIDTH = 100
# Names of modes are cut here: beyond it the figures would have no room.
_MODE_WIDTH = 34
# What is shown of a bad query: the first results, and some of the relevant targets.
_SHOWN = 3


_PLAIN = Style()
# What stands before rows that are compared.
_MARKS = ("* best", "= what the others are compared with")


def render_text(report: Report, worst: int = 5, *, row: str = "", colours: Style = _PLAIN) -> str:
    """Return a report as text of at most 100 columns, with the worst queries of each set.

    They are those of one row: the baseline unless it is named, or the best row where there is no baseline.
    """
    parts = [_table(set_table(each), colours) for each in report.sets]
    means = mean_table(report)
    if means:
        parts.append(_table(means, colours))
    parts += [part for each in report.sets if (part := _worst(each, worst, row, colours))]
    facts = about_items(report.about)
    if facts:
        lines = [line for label, value in facts for line in _wrap(f"{label}: {value}")]
        parts.append("\n".join(_styled(lines, colours.dim, colours)))
    return "\n\n".join(parts) + "\n"


def _table(table: Table, colours: Style) -> str:
    title = _wrap(f"{one_line(table.name)}: {', '.join(table.facts)}")
    head = _styled(title, colours.bold, colours) + _styled(
        _wrap("; ".join((*table.notes, *(_MARKS if table.compares else ())))), colours.dim, colours
    )
    head += [line for each in table.remarks for line in _wrap(f"note: {one_line(each)}")]
    blocks = [_block(table, groups, colours) for groups in _fitting_blocks(table)]
    return "\n".join([*head, "", "\n\n".join(blocks)])


@dataclass(frozen=True, slots=True)
class _Column:
    """A column as it is printed."""

    title: str  # stands over all columns of a group
    label: str
    cells: tuple[str, ...]

    @property
    def width(self) -> int:
        return max(len(self.label), *(len(cell) for cell in self.cells), 0)


def _fitting_blocks(table: Table) -> list[list[list[_Column]]]:
    """Return the groups of columns in blocks, each as many as fit beside the names of the modes."""
    room = WIDTH - 3 - _name_width(table)
    blocks: list[list[list[_Column]]] = [[]]
    left = room
    for group in _column_groups(table):
        width = _group_width(group)
        if blocks[-1] and width + 2 > left:
            blocks.append([])
            left = room
        blocks[-1].append(group)
        left -= width + 2
    return blocks


def _column_groups(table: Table) -> list[list[_Column]]:
    rows = table.rows
    groups = [
        [
            _Column(table.metric, "mean", tuple(format_score(row.value) for row in rows)),
            _Column(table.metric, "95 %", tuple(format_interval(row.interval) for row in rows)),
        ]
    ]
    if table.compares:
        groups.append([_Column("against =", "", tuple(short_difference(row.difference) for row in rows))])
    return [*groups, *(_columns(group, rows) for group in table.groups)]


def _columns(group: Group, rows: Sequence[Row]) -> list[_Column]:
    columns = []
    for name, label in group.columns:
        # A lone column has its name in two lines, or a long name would make a wide column: MRR over @100.
        title, at, cut = (group.title, "", "") if group.title else label.partition("@")
        cells = tuple(format_value(name, row.metric(name)) for row in rows)
        columns.append(_Column(title, at + cut or label, cells))
    return columns


def _group_width(group: Sequence[_Column]) -> int:
    return max(sum(c.width for c in group) + len(group) - 1, len(group[0].title))


def _name_width(table: Table) -> int:
    return min(_MODE_WIDTH, max((len(one_line(row.mode)) for row in table.rows), default=0))


def _block(table: Table, groups: Sequence[Sequence[_Column]], colours: Style) -> str:
    width = _name_width(table)
    titles = "  ".join(group[0].title.rjust(_group_width(group)) for group in groups)
    labels = "  ".join(_aligned(group, [c.label for c in group]) for group in groups)
    lines = [f"{colours.dim}{'':{width + 5}}{line}".rstrip() + colours.reset for line in (titles, labels)]
    for i, row in enumerate(table.rows):
        mark = "  " if len(table.rows) == 1 else ("*" if row.best else " ") + ("=" if row.baseline else " ")
        figures = "  ".join(_aligned(group, [c.cells[i] for c in group]) for group in groups)
        text = f"{mark} {one_line(row.mode, width):{width}}  {figures}".rstrip()
        lines.append(f"{colours.bold}{text}{colours.reset}" if row.best else text)
    return "\n".join(line.rstrip() for line in lines)


def _aligned(group: Sequence[_Column], cells: Sequence[str]) -> str:
    pairs = zip(cells, group, strict=True)
    return " ".join(cell.rjust(column.width) for cell, column in pairs).rjust(_group_width(group))


def _worst(each: SetReport, count: int, mode: str, colours: Style) -> str:
    """Return the queries with the lowest scores, with what was found instead of what."""
    chosen = mode or each.detailed_mode
    cases = each.worst(chosen, count)
    if not cases:
        return ""
    title = f"worst of {one_line(chosen, _MODE_WIDTH)} on {one_line(each.dataset.name)}"
    lines = [f"{colours.bold}{one_line(title, WIDTH)}{colours.reset}"]
    for case in cases:
        lines += ["", *_case(case, each.metric, colours)]
    return "\n".join(lines)


def _case(case: CaseResult, metric: str, colours: Style) -> Iterator[str]:
    head = f"{metric_label(metric)} {format_score(case.values[metric])}, {rank_note(first_rank(case))}"
    yield f"{colours.bold}{one_line(case.query, WIDTH)}{colours.reset}"
    yield f"{colours.dim}  {head} · {keep_end(case.id, WIDTH - len(head) - 5)}{colours.reset}"
    yield from _listed("wanted", case.relevant)
    yield from _listed("found", case.found, numbered=True)


def _listed(label: str, names: Sequence[str], *, numbered: bool = False) -> Iterator[str]:
    left = len(names) - _SHOWN
    more = f" and {left} more" if left > 0 and not numbered else ""
    for i, name in enumerate(names[:_SHOWN] or ("nothing",)):
        rank = f"{i + 1}. " if numbered and names else ""
        end = more if i == _SHOWN - 1 else ""
        room = WIDTH - 10 - len(rank) - len(end)
        yield f"  {'' if i else label:<7} {rank}{keep_end(name, room)}{end}"


def _styled(lines: Sequence[str], style: str, colours: Style) -> list[str]:
    return [f"{style}{line}{colours.reset}" for line in lines]


def _wrap(text: str) -> list[str]:
    return wrap(escape_controls(text), WIDTH, subsequent_indent="  ", break_on_hyphens=False) or [""]
