"""Wording and number formats of reports, and how text of others is made safe for one line."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from dowse.eval.stats import FEWEST, Difference
from dowse.eval.types import Interval

_NAMES = {
    "mrr": "MRR",
    "ndcg": "nDCG",
    "condensed_ndcg": "condensed nDCG",
}
_HALVES = {"all": "all questions", "tune": "the half for choosing", "report": "the half for reporting"}
_ABOUT = {
    "dowse": "dowse",
    "commit": "dowse commit",
    "index": "Index settings",
    "settings": "Index settings",
}
NOTHING = "–"
# A smaller p would be written as .000.
_SMALL_P = 0.0005


def metric_label(metric: str) -> str:
    """Return a metric's name as people write it: `MRR@100`, `nDCG@10`."""
    name, at, cut = metric.partition("@")
    return f"{_NAMES.get(name, name)}{at}{cut}"


def half_label(half: str) -> str:
    """Return the name of a split."""
    return _HALVES.get(half, half)


def format_score(value: float | None, places: int = 3) -> str:
    """Return a share with three decimal places, or as many as requested, without a leading zero: `.512`."""
    if value is None:
        return NOTHING
    text = f"{value:.{places}f}"
    return text[1:] if text.startswith("0.") else text


def format_difference(value: float) -> str:
    """Return a difference with its sign, also where it is tiny: `+.031`, `−.004`, `±.000`."""
    text = format_score(abs(value))
    return ("±" if text == ".000" else "−" if value < 0 else "+") + text


def format_value(name: str, value: float | None) -> str:
    """Return the value of a metric, or milliseconds with the significant digits: `0.42`, `3.1`, `1,240`."""
    if value is None or not name.endswith("_ms"):
        return format_score(value)
    places = 2 if value < 0.995 else 1 if value < 9.95 else 0
    return f"{value:,.{places}f}"


def format_interval(interval: Interval | None) -> str:
    """Return an interval: `.487–.537`."""
    return f"{format_score(interval.low)}–{format_score(interval.high)}" if interval else NOTHING


def format_p(p: float) -> str:
    """Return a p value: `.034`, `< .001`."""
    return "< .001" if p < _SMALL_P else format_score(p)


def significance(difference: Difference) -> str:
    """Return whether a difference is more than the sample of queries explains."""
    return "real" if difference.real else "noise"


def short_difference(difference: Difference | None) -> str:
    """Return a difference and its significance, "" for none: `+.031 real`."""
    return f"{format_difference(difference.mean)} {significance(difference)}" if difference else ""


def too_few_note(count: int | str) -> str:
    """Return the note on a sample that is too small for the test."""
    return f"too few questions to tell ({count}): under {FEWEST} nothing is real, and intervals mean little"


def gain_note(graded: bool) -> str:
    """Return how nDCG counts grades."""
    return "nDCG is graded (gain 2^grade − 1)" if graded else "nDCG is binary"


def rank_note(rank: int | None) -> str:
    """Return the rank of the first relevant result in words."""
    return f"first right one at {rank}" if rank else "none of the first 100 is right"


def one_line(text: str, width: int = 0) -> str:
    """Return text on one line without control characters, cut to a width if that is given.

    Queries and paths come from others' repositories, and must neither move a cursor nor reverse text.
    """
    plain = "".join(" " if c.isspace() or unicodedata.category(c)[0] == "C" else c for c in text)
    plain = " ".join(plain.split())
    return plain if not width or len(plain) <= width else plain[: width - 1].rstrip() + "…"


def keep_end(text: str, width: int) -> str:
    """Return a path or name cut to a width from the left: its end tells most."""
    text = one_line(text)
    return text if len(text) <= width else "…" + text[len(text) - width + 1 :]


def about_items(about: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return where the figures come from, as labels and values."""
    items = ((name, value) for name, value in about.items() if value not in ("", None))
    labels = ((_ABOUT.get(name, name.replace("_", " ").capitalize()), value) for name, value in items)
    return [(one_line(label), one_line(_flat(value))) for label, value in labels]


def _flat(value: object) -> str:
    """Return any plain value on one line."""
    if isinstance(value, Mapping):
        items = {name: each for name, each in value.items() if each not in ("", None, (), [], {})}
        return ", ".join(f"{name.replace('_', ' ')} {_flat(each)}" for name, each in items.items())
    if isinstance(value, list | tuple):
        return ", ".join(_flat(each) for each in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
