"""The rows of the table that the flags name."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from dowse.eval.configurations import (
    BUDGETED,
    COMPARED,
    DEFAULT_BASELINE,
    Configuration,
    parse_configuration,
    per_encoder,
)


def chosen_ways(options: argparse.Namespace) -> tuple[Configuration, ...]:
    """Return the rows that the flags name.

    Switches such as `--expand` change the named rows; with `--compare` each adds a row of its own, so that
    its effect can be seen.
    """
    names = split_list(options.modes)
    switches = _switches(options)
    adaptive = ["adaptive"] if options.adaptive else []
    if options.compare:
        names = [*COMPARED, *names, *adaptive, *(f"{DEFAULT_BASELINE}+{switch}" for switch in switches)]
    else:
        usual = BUDGETED if options.budget else (DEFAULT_BASELINE,)
        names = ["+".join((name, *switches)) for name in [*names, *adaptive] or usual]
    models = list(dict.fromkeys(split_list(options.models)))
    return tuple(per_encoder(ways_named(names), models))


def ways_named(names: Sequence[str]) -> tuple[Configuration, ...]:
    """Return ways by their names, each once."""
    ways = [parse_configuration(name) for name in names]
    return tuple({each.name: each for each in ways}.values())


def split_list(text: str | None) -> list[str]:
    """Return the parts of a comma-separated list."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def _switches(options: argparse.Namespace) -> list[str]:
    switches = {"expand": options.expand, "graph": options.graph_expand, "rerank": options.rerank}
    diversify = [options.diversify] if options.diversify else []
    return [*(name for name, is_on in switches.items() if is_on), *diversify]
