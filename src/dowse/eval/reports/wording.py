"""How reports say things: names of metrics, figures, halves, verdicts, and text that others wrote."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from dowse.eval.stats import FEWEST, Difference
from dowse.eval.types import Interval

_NAMES = {
    "mrr": "MRR",
    "ndcg": "nDCG",
    "condensed_ndcg": "condensed nDCG",
    "alpha_ndcg": "α-nDCG",
    "tree_distance": "tree distance",
    "meaning_distance": "meaning distance",
}
_HALVES = {
    "all": "all questions",
    "tune": "the half for choosing",
    "report": "the half for reporting",
}
_ABOUT = {
    "dowse": "dowse",
    "commit": "dowse commit",
    "index": "Index settings",
    "settings": "Index settings",
}
NOTHING = "–"
# Digits of a commit that are shown.
_COMMIT = 12
# What would be written as .000, which no chance is.
_SMALL_P = 0.0005
# Labels of `about_items` whose values are code.
SEARCHED = "Searched commit"
CODE_LABELS = ("Command", "dowse commit", SEARCHED)
# So many names of rows are written out.
_NAMED = 3


def metric_label(metric: str) -> str:
    """Return a metric's name as people write it: `MRR@100`, `nDCG@10`."""
    name, at, cut = metric.partition("@")
    return f"{_NAMES.get(name, name)}{at}{cut}"


def half_label(half: str) -> str:
    """Return which questions were asked."""
    return _HALVES.get(half, half)


def number(value: float | None, places: int = 3) -> str:
    """Return a share with three places, or as many as are asked for, and no needless zero: `.512`."""
    if value is None:
        return NOTHING
    text = f"{value:.{places}f}"
    return text[1:] if text.startswith("0.") else text


def signed(value: float) -> str:
    """Return a difference with its sign, also where it is tiny: `+.031`, `−.004`, `±.000`."""
    text = number(abs(value))
    return ("±" if text == ".000" else "−" if value < 0 else "+") + text


def milliseconds(value: float | None) -> str:
    """Return a time with the digits that matter: `0.42`, `3.1`, `18`, `1,240`."""
    if value is None:
        return NOTHING
    places = 2 if value < 0.995 else 1 if value < 9.95 else 0
    return f"{value:,.{places}f}"


def figure(name: str, value: float | None) -> str:
    """Return a metric's value, or a time where that is what the name says."""
    return milliseconds(value) if name.endswith("_ms") else number(value)


def tick(value: float) -> str:
    """Return a round number at an axis: `0.5`, `20`, `1,000`."""
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def between(interval: Interval | None) -> str:
    """Return an interval: `.487–.537`."""
    return f"{number(interval.low)}–{number(interval.high)}" if interval else NOTHING


def chance(p: float) -> str:
    """Return a p value as it is usually written."""
    return f"p {p_value(p)}" if p < _SMALL_P else f"p = {p_value(p)}"


def p_value(p: float) -> str:
    """Return a p value alone: `.034`, `< .001`."""
    return "< .001" if p < _SMALL_P else number(p)


def verdict(difference: Difference) -> str:
    """Return whether a difference is more than the choice of questions explains."""
    return "real" if difference.real else "noise"


def compared(difference: Difference) -> str:
    """Return a difference with all that is known of it."""
    lies = f"{signed(difference.low)} to {signed(difference.high)}"
    return f"{signed(difference.mean)} ({lies}, {chance(difference.p)}): {verdict(difference)}"


def named(names: Sequence[str]) -> str:
    """Return names, of many the first ones and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def too_few(count: int | str) -> str:
    """Return what so few questions can't tell."""
    return f"too few questions to tell ({count}): under {FEWEST} nothing is real, and intervals mean little"


def like(names: Sequence[str]) -> str:
    """Return which rows are as good as the best, as far as anybody can tell; "" for none."""
    return f"{named(names)} can't be told apart from it (noise)" if names else ""


def searched_commit(sets: Iterable[tuple[str, Mapping[str, object]]]) -> list[tuple[str, str]]:
    """Return which commit was searched, as a label and its value; none where it is not known of a few sets.

    Args:
        sets: Name of each, and what is known of its index.
    """
    known = {name: str(commit)[:_COMMIT] for name, index in sets if (commit := index.get("commit"))}
    if not known or len(set(known.values())) > _NAMED:
        return []
    if len(set(known.values())) == 1:
        return [(SEARCHED, next(iter(known.values())))]
    return [(SEARCHED, one_line(", ".join(f"{name} {commit}" for name, commit in known.items())))]


def gains(graded: bool) -> str:
    """Return how nDCG counts."""
    return "nDCG is graded (gain 2^grade − 1)" if graded else "nDCG is binary"


def one_line(text: str, width: int = 0) -> str:
    """Return text on one line without characters that steer a terminal, cut to a width if that is given.

    Questions and paths come from others' repositories, and must neither move a cursor nor turn text around.
    """
    plain = "".join(" " if c.isspace() or unicodedata.category(c)[0] == "C" else c for c in text)
    plain = " ".join(plain.split())
    return plain if not width or len(plain) <= width else plain[: width - 1].rstrip() + "…"


def tail(text: str, width: int) -> str:
    """Return the end of a path or name, which tells most."""
    text = one_line(text)
    return text if len(text) <= width else "…" + text[len(text) - width + 1 :]


def about_items(about: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return where the figures come from, as labels and values."""
    told = ((name, value) for name, value in about.items() if value not in ("", None))
    return [(one_line(_about_label(name)), one_line(_flat(value))) for name, value in told]


def index_facts(index: Mapping[str, object]) -> str:
    """Return what was searched, on one line; "" where nothing is known."""
    return one_line(_flat(index))


def first_right(rank: int | None) -> str:
    """Return where the first relevant result stood."""
    return f"first right one at {rank}" if rank else "none of the first 100 is right"


def _about_label(name: str) -> str:
    return _ABOUT.get(name, name.replace("_", " ").capitalize())


def _flat(value: object) -> str:
    """Return any plain value on one line."""
    if isinstance(value, Mapping):
        told = {name: each for name, each in value.items() if each not in ("", None, (), [], {})}
        return ", ".join(f"{name.replace('_', ' ')} {_flat(each)}" for name, each in told.items())
    if isinstance(value, list | tuple):
        return ", ".join(_flat(each) for each in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)
