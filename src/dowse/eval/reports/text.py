"""Reports for the terminal: a table for each set, the means, and the worst queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap

from dowse.eval.reports.aggregate import differences, mean_interval
from dowse.eval.reports.model import MEAN, Report, SetReport, first_rank
from dowse.eval.reports.wording import (
    about_items,
    format_interval,
    format_score,
    format_value,
    gain_note,
    half_label,
    keep_end,
    metric_label,
    one_line,
    rank_note,
    short_difference,
    too_few_note,
)
from dowse.eval.stats import FEWEST, Difference
from dowse.eval.types import CaseResult, Interval, Result
from dowse.formats.style import Style
from dowse.lazy_classes import NamedTuple
from dowse.security.terminal import escape_controls

WIDTH = 100
# Names of modes are cut here: beyond it the figures would have no room.
_MODE_WIDTH = 34
# What is shown of a bad query: the first results, and some of the relevant targets.
_SHOWN = 3
# The order of columns beside the headline.
_METRICS = ("mrr@100", "ndcg@10", "recall@", "hit@", "judged@", "condensed_ndcg@")
_LATENCY = ("p50_ms", "p95_ms", "p99_ms")
_CUT = "MRR is cut at 100"
# What stands before rows that are compared.
_MARKS = ("* best", "= what the others are compared with")
_PLAIN = Style()


class _Row(NamedTuple):
    """One configuration or tool."""

    result: Result
    value: float | None  # the headline
    interval: Interval | None
    difference: Difference | None  # to the baseline, which has none itself
    is_baseline: bool


class _Column(NamedTuple):
    """A column as it is printed: its name in two lines, and its cells."""

    title: str
    label: str
    cells: tuple[str, ...]

    @property
    def width(self) -> int:
        return max(map(len, (self.title, self.label, *self.cells)))


def render_text(report: Report, worst: int = 5, *, row: str = "", colours: Style = _PLAIN) -> str:
    """Return a report as text of at most 100 columns, with the worst queries of each set.

    They are those of one row: the baseline unless it is named, or the best row where there is no baseline.
    """
    parts = [_set(each, colours) for each in report.sets]
    if report.means and report.sets:
        parts.append(_means(report, colours))
    parts += [part for each in report.sets if (part := _worst(each, worst, row, colours))]
    facts = about_items(report.about)
    if facts:
        lines = [line for label, value in facts for line in _wrap(f"{label}: {value}")]
        parts.append("\n".join(_styled(lines, colours.dim, colours)))
    return "\n\n".join(parts) + "\n"


def _set(each: SetReport, colours: Style) -> str:
    facts, baseline = each.dataset, each.baseline_mode
    by_mode = differences((each,), baseline)
    rows = [
        _Row(
            row,
            row.metrics.get(each.metric),
            row.intervals.get(each.metric),
            by_mode.get(row.mode),
            row.mode == baseline,
        )
        for row in each.results
    ]
    many = facts.counting == "results" and facts.level == "file"
    counted = "every result takes a place" if many else f"each {facts.level} counts once"
    few = any("condensed_ndcg@10" in row.metrics for row in each.results)
    condensed = ("condensed: nDCG@10 without what nobody judged",) if few else ()
    notes = (f"{metric_label(each.metric)} decides", _CUT, gain_note(facts.graded), counted, *condensed)
    plural = "s" if facts.cases != 1 else ""
    title = (
        f"{one_line(facts.name)}: {facts.cases:,} question{plural}, {half_label(facts.half)}, "
        f"{facts.level} level{', documentation stripped' if facts.strip_docs else ''}"
    )
    remarks = [*facts.notes, *([too_few_note(facts.cases)] if rows and facts.cases < FEWEST else ())]
    return _table(title, notes, remarks, rows, each.metric, colours)


def _means(report: Report, colours: Style) -> str:
    by_mode = differences(report.sets, report.against)
    metrics = list(dict.fromkeys(each.metric for each in report.sets))
    only = metrics[0] if len(metrics) == 1 else ""
    rows = []
    for result in report.means:
        mode = result.mode.removeprefix(MEAN)
        interval = result.intervals.get(only) or mean_interval(report, mode)
        is_baseline = mode == report.against
        rows.append(_Row(result, report.headline(mode), interval, by_mode.get(mode), is_baseline))
    halves = dict.fromkeys(half_label(each.dataset.half) for each in report.sets)
    cases = sum(each.dataset.cases for each in report.sets)
    graded = {each.dataset.graded for each in report.sets}
    gains = gain_note(next(iter(graded))) if len(graded) == 1 else "nDCG is graded where judgements are"
    decides = " or ".join(map(metric_label, metrics)) + (
        " decides" if only else ", as each set has it, decides"
    )
    title = (
        f"mean of {len(report.sets)} sets: {cases:,} questions, {' and '.join(halves)}, "
        "every set counts the same"
    )
    remarks = [too_few_note(cases)] if cases < FEWEST else []
    return _table(title, (decides, _CUT, gains), remarks, rows, only, colours)


def _table(
    title: str,
    notes: Sequence[str],
    remarks: Iterable[str],
    rows: Sequence[_Row],
    metric: str,
    colours: Style,
) -> str:
    compares = any(row.difference for row in rows)
    head = _styled(_wrap(title), colours.bold, colours)
    head += _styled(_wrap("; ".join((*notes, *(_MARKS if compares else ())))), colours.dim, colours)
    head += [line for each in remarks for line in _wrap(f"note: {one_line(each)}")]
    headline = metric_label(metric) if metric else "headline"
    columns = [
        _Column(headline, "mean", tuple(format_score(row.value) for row in rows)),
        _Column("", "95 %", tuple(format_interval(row.interval) for row in rows)),
    ]
    if compares:
        columns.append(_Column("", "against =", tuple(short_difference(row.difference) for row in rows)))
    columns += _metric_columns([row.result for row in rows], metric)
    blocks = [_block(rows, block, colours) for block in _fitting_blocks(columns, _name_width(rows))]
    return "\n".join([*head, "", "\n\n".join(blocks)])


def _metric_columns(results: Sequence[Result], headline: str) -> Iterator[_Column]:
    """Give the columns beside the headline: those that some row has."""
    known = dict.fromkeys(name for result in results for name in result.metrics)
    for start in _METRICS:
        names = [name for name in known if name.startswith(start) and name != headline]
        for i, name in enumerate(names):
            title, at, cut = metric_label(name).partition("@")
            cells = tuple(_cell(result.metrics, name) for result in results)
            yield _Column("" if i else title, at + cut, cells)
    measured = [name for name in _LATENCY if any(name in result.latency for result in results)]
    for i, name in enumerate(measured):
        cells = tuple(_cell(result.latency, name) for result in results)
        yield _Column("" if i else "ms", name.removesuffix("_ms"), cells)


def _cell(values: Mapping[str, float], name: str) -> str:
    return format_value(name, values.get(name))


def _fitting_blocks(columns: Iterable[_Column], name_width: int) -> list[list[_Column]]:
    """Return the columns in blocks, each as many as fit beside the names of the modes."""
    room = WIDTH - 3 - name_width
    blocks: list[list[_Column]] = [[]]
    left = room
    for column in columns:
        if blocks[-1] and column.width + 2 > left:
            blocks.append([])
            left = room
        blocks[-1].append(column)
        left -= column.width + 2
    return blocks


def _name_width(rows: Sequence[_Row]) -> int:
    return min(_MODE_WIDTH, max((len(one_line(row.result.mode)) for row in rows), default=0))


def _block(rows: Sequence[_Row], columns: Sequence[_Column], colours: Style) -> str:
    width = _name_width(rows)
    # Of equals the baseline, or else the first.
    known = [row for row in rows if row.value is not None]
    best = max(known, key=lambda row: (row.value or 0.0, row.is_baseline), default=None)
    lines = []
    for part in ("title", "label"):
        names = "  ".join(getattr(column, part).rjust(column.width) for column in columns)
        lines.append(f"{colours.dim}{'':{width + 5}}{names}".rstrip() + colours.reset)
    for i, row in enumerate(rows):
        mark = "  " if len(rows) == 1 else ("*" if row is best else " ") + ("=" if row.is_baseline else " ")
        figures = "  ".join(column.cells[i].rjust(column.width) for column in columns)
        text = f"{mark} {one_line(row.result.mode, width):{width}}  {figures}".rstrip()
        lines.append(f"{colours.bold}{text}{colours.reset}" if row is best else text)
    return "\n".join(line.rstrip() for line in lines)


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
