"""Reports for the terminal: a table for each set, the means, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dowse.eval.reports.budget_table import BudgetTable, mean_budget, set_budget
from dowse.eval.reports.model import Report, SetReport, first_rank
from dowse.eval.reports.tables import Group, Row, Table, mean_table, set_table
from dowse.eval.reports.wording import (
    about_items,
    between,
    compared,
    figure,
    first_right,
    like,
    metric_label,
    number,
    one_line,
    searched_commit,
    signed,
    tail,
    verdict,
)
from dowse.eval.types import CaseResult
from dowse.security.terminal import escape_controls

WIDTH = 100
# Names of modes are cut here: beyond it the figures would have no room.
_MODE_WIDTH = 34
# What is shown of a question that went wrong: the first results, and some of what was wanted.
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Colours:
    """Escape sequences, empty where there is no terminal."""

    match: str = ""
    dim: str = ""
    bold: str = ""
    reset: str = ""


_PLAIN = Colours()


def render_text(report: Report, worst: int = 5, *, row: str = "", colours: Colours = _PLAIN) -> str:
    """Return a report as text of at most 100 columns.

    Args:
        report: What to show.
        worst: How many of the worst questions of each set to list.
        row: Of which row; "" takes the one that is compared with, or the best where none was named.
        colours: What to highlight with; nothing unless it is given.
    """
    parts = []
    for each in report.sets:
        parts += [_table(set_table(each), colours), *_budget(set_budget(each), colours)]
    means = mean_table(report)
    if means:
        parts += [_table(means, colours), *_budget(mean_budget(report), colours)]
    parts += [part for each in report.sets if (part := _worst(each, worst, row, colours))]
    facts = about_items(report.about) + searched_commit(report.indexes)
    about = [f"{label}: {value}" for label, value in facts]
    if about:
        parts.append(
            "\n".join(f"{colours.dim}{line}{colours.reset}" for each in about for line in _wrap(each))
        )
    return "\n\n".join(parts) + "\n"


def _table(table: Table, colours: Colours) -> str:
    head = [
        f"{colours.bold}{line}{colours.reset}"
        for line in _wrap(f"{one_line(table.name)}: {', '.join(table.facts)}")
    ]
    head += [f"{colours.dim}{line}{colours.reset}" for line in _wrap("; ".join(table.notes))]
    head += [line for each in table.remarks for line in _wrap(f"note: {one_line(each)}")]
    blocks = [_block(table, blocks, colours) for blocks in _fitting(table)]
    return "\n".join([*head, "", "\n\n".join(blocks), *_conclusion(table, colours)])


@dataclass(frozen=True, slots=True)
class _Column:
    """A column as it is printed."""

    title: str  # stands over all columns of a group
    label: str
    cells: tuple[str, ...]

    @property
    def width(self) -> int:
        return max(len(self.label), *(len(cell) for cell in self.cells), 0)


def _fitting(table: Table) -> list[list[list[_Column]]]:
    """Return the groups of columns in blocks, each as many as stand beside the names of the modes."""
    room = WIDTH - 3 - _name_width(table)
    blocks: list[list[list[_Column]]] = [[]]
    left = room
    for group in _printed(table):
        width = _group_width(group)
        if blocks[-1] and width + 2 > left:
            blocks.append([])
            left = room
        blocks[-1].append(group)
        left -= width + 2
    return blocks


def _printed(table: Table) -> list[list[_Column]]:
    rows = table.rows
    groups = []
    if table.uneven:
        groups.append([_Column("", "cases", tuple(f"{row.cases:,}" for row in rows))])
    headline = [
        _Column(table.metric, "mean", tuple(number(row.value) for row in rows)),
        _Column(table.metric, "95 %", tuple(between(row.interval) for row in rows)),
    ]
    groups.append(headline)
    if table.compares:
        cells = tuple(_difference(row) for row in rows)
        groups.append([_Column("against =", "", cells)])
    groups += [_group(group, rows) for group in table.groups]
    return groups


def _group(group: Group, rows: Sequence[Row]) -> list[_Column]:
    columns = []
    for name, label in group.columns:
        # A lone column has its name in two lines, or a long name would make a wide column: MRR over @100.
        title, at, cut = (group.title, "", "") if group.title else label.partition("@")
        columns.append(
            _Column(title, at + cut or label, tuple(figure(name, row.metric(name)) for row in rows))
        )
    return columns


def _difference(row: Row) -> str:
    if row.difference is None:
        return ""
    return f"{signed(row.difference.mean)} {verdict(row.difference)}"


def _group_width(group: Sequence[_Column]) -> int:
    return max(sum(c.width for c in group) + len(group) - 1, len(group[0].title))


def _name_width(table: Table) -> int:
    return min(_MODE_WIDTH, max((len(one_line(row.mode)) for row in table.rows), default=0))


def _block(table: Table, groups: Sequence[Sequence[_Column]], colours: Colours) -> str:
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


def _conclusion(table: Table, colours: Colours) -> list[str]:
    """Return what the table says about its best row."""
    best = table.best
    if best is None or len(table.rows) == 1:
        return []
    against = one_line(table.against, _MODE_WIDTH)
    said = f"* {table.standing}: {one_line(best.mode, _MODE_WIDTH)}"
    if best.difference:
        said += f", {table.metric} against = {against}: {compared(best.difference)}"
    elif best.baseline and len(table.rows) > 1:
        said += ", which the others are compared with (=)"
    if table.also:
        said += f"; {like([one_line(mode, _MODE_WIDTH) for mode in table.also])}"
    return ["", *(f"{colours.match}{line}{colours.reset}" for line in _wrap(said))]


def _budget(table: BudgetTable | None, colours: Colours) -> list[str]:
    """Return what was read within budgets; nothing where that was not measured."""
    if table is None:
        return []
    lines = [f"{colours.bold}{line}{colours.reset}" for line in _wrap(one_line(table.title))]
    lines += [f"{colours.dim}{line}{colours.reset}" for line in _wrap(table.note)]
    for kind in table.kinds:
        head, *rows = ([*map(one_line, cells)] for cells in table.grid(kind, _MODE_WIDTH))
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        cells = ([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in (head, *rows))
        drawn = ["  ".join(row) for row in cells]
        lines += ["", f"   {colours.dim}{drawn[0]}{colours.reset}", *(f"   {row}" for row in drawn[1:])]
    said = [line for each in table.conclusions for line in _wrap(one_line(each))]
    return ["\n".join([*lines, *([""] if said else []), *said])]


def _worst(each: SetReport, count: int, mode: str, colours: Colours) -> str:
    """Return the questions that went worst, with what was found instead of what."""
    chosen = mode or each.told
    cases = each.worst(chosen, count)
    if not cases:
        return ""
    title = f"worst of {one_line(chosen, _MODE_WIDTH)} on {one_line(each.dataset.name)}"
    lines = [f"{colours.bold}{one_line(title, WIDTH)}{colours.reset}"]
    for case in cases:
        lines += ["", *_case(case, each.metric, colours)]
    return "\n".join(lines)


def _case(case: CaseResult, metric: str, colours: Colours) -> Iterator[str]:
    place = first_right(first_rank(case))
    head = f"{metric_label(metric)} {number(case.values[metric])}, {place}"
    yield f"{colours.bold}{one_line(case.query, WIDTH)}{colours.reset}"
    yield f"{colours.dim}  {head} · {tail(case.id, WIDTH - len(head) - 5)}{colours.reset}"
    yield from _listed("wanted", case.relevant)
    yield from _listed("found", case.found, numbered=True)


def _listed(label: str, names: Sequence[str], *, numbered: bool = False) -> Iterator[str]:
    left = len(names) - _SHOWN
    more = f" and {left} more" if left > 0 and not numbered else ""
    for i, name in enumerate(names[:_SHOWN] or ("nothing",)):
        place = f"{i + 1}. " if numbered and names else ""
        rest = more if i == _SHOWN - 1 else ""
        room = WIDTH - 10 - len(place) - len(rest)
        yield f"  {'' if i else label:<7} {place}{tail(name, room)}{rest}"


def _wrap(text: str) -> list[str]:
    from textwrap import wrap

    return wrap(escape_controls(text), WIDTH, subsequent_indent="  ", break_on_hyphens=False) or [""]
