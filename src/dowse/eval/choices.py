"""What a set can be asked as: each a word out of a few."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.errors import EvalError

LEVELS = ("file", "symbol")
# How several results in one file count at file level: once, so that files are ranked; or each takes a place.
COUNTINGS = ("distinct", "results")
HALVES = ("all", "tune", "report")


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Raise EvalError for a word that is none of the choices."""
    if value not in choices:
        raise EvalError(f"the {name} is one of {', '.join(choices)}, not {value!r}")
