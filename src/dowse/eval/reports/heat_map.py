"""Every mode on every set: the value as text, its difference to the baseline as colour.

A table and not a drawing: it can be read aloud, copied and scrolled on a phone.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from dowse.eval.reports.model import MEAN
from dowse.eval.reports.tables import Row, Table
from dowse.eval.reports.wording import number, one_line, signed, verdict

# Where colours begin: less is no difference to the eye, more is all the same.
STEPS = (0.01, 0.04, 0.1)
# From so many columns on, their heads stand upright.
_UPRIGHT = 7
_MEAN_COLUMN = ' class="mean"'


def heat_map(tables: Sequence[Table], means: Table | None, modes: Sequence[str], against: str) -> str:
    """Return rows for modes and columns for sets, the mean of all first."""
    columns = [*([means] if means else []), *tables]
    names = [*(["mean"] if means else []), *short_names([table.name for table in tables])]
    upright = " upright" if len(columns) >= _UPRIGHT else ""
    heads = "".join(
        f'<th scope="col"{_MEAN_COLUMN if means and i == 0 else ""}><span>{html.escape(name)}</span></th>'
        for i, name in enumerate(names)
    )
    body = "".join(_line(mode, columns, means) for mode in modes)
    metrics = " or ".join(dict.fromkeys(table.metric for table in tables))
    caption = (
        f"{metrics} of every mode on every set. The colour is the difference to {one_line(against)}; "
        "bold where it is real."
    )
    return (
        '<div class="scroll" role="region" tabindex="0" aria-label="Every mode on every set">'
        f'<table class="heat{upright}"><caption><span class="said">{html.escape(caption)}</span></caption>'
        f'<thead><tr><th scope="col">mode</th>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
        f"{_legend()}"
    )


def short_names(names: Sequence[str]) -> list[str]:
    """Return names without the folder that all of them share."""
    plain = [one_line(name) for name in names]
    folder = plain[0].rpartition("/")[0] + "/" if plain else ""
    shared = len(plain) > 1 and folder != "/" and all(name.startswith(folder) for name in plain)
    return [name.removeprefix(folder) for name in plain] if shared else plain


def shade(difference: float) -> str:
    """Return the class of a difference: l3 … l1, even, g1 … g3."""
    strength = sum(abs(difference) >= step for step in STEPS)
    return "even" if not strength else f"{'g' if difference > 0 else 'l'}{strength}"


def _line(mode: str, columns: Sequence[Table], means: Table | None) -> str:
    cells = "".join(_cell(_row(table, mode), table is means) for table in columns)
    return f'<tr><th scope="row">{html.escape(one_line(mode))}</th>{cells}</tr>'


def _row(table: Table, mode: str) -> Row | None:
    return next((row for row in table.rows if row.mode in (mode, MEAN + mode)), None)


def _cell(row: Row | None, mean: bool) -> str:
    """Return a value with what its colour says in words."""
    place = _MEAN_COLUMN if mean else ""
    if row is None or row.value is None:
        return f'<td{place}><span class="cell none">·</span><span class="unseen">not run</span></td>'
    found = row.difference
    if found is None:
        told, kind = "the baseline" if row.baseline else "not compared", "even"
    else:
        told = f"{signed(found.mean)}, {verdict(found)}"
        kind = shade(found.mean) + (" real" if found.real else "")
    return (
        f'<td{place} title="{told}"><span class="cell {kind}">{number(row.value)}</span>'
        f'<span class="unseen"> {told}</span></td>'
    )


def _legend() -> str:
    small, middle, large = (f"{step:g}".removeprefix("0") for step in STEPS)
    keys = (
        ("l3", f"−{large} or worse"),
        ("l2", f"−{large} to −{middle}"),
        ("l1", f"−{middle} to −{small}"),
        ("even", f"within {small}"),
        ("g1", f"+{small} to +{middle}"),
        ("g2", f"+{middle} to +{large}"),
        ("g3", f"+{large} or better"),
    )
    items = "".join(f'<li><i class="{name}"></i>{label}</li>' for name, label in keys)
    return f'<ul class="shades" aria-label="What the colours mean">{items}</ul>'
