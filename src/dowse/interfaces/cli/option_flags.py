"""Flags of the command line derived from `SearchOptions`."""

from __future__ import annotations

import argparse
from typing import Any

from dowse.interfaces.cli.command import CommandParser
from dowse.search.options import OPTIONS, OptionSpec

_TYPES = {"int": int, "float": float}
# What a choice of "" is called on the command line.
_NONE = "none"
# Flags have a prefix of their own in the namespace: `--path` is no positional path.
_PREFIX = "option_"


def add_option_flags(parser: CommandParser) -> None:
    """Add a flag for every search option; one that is not given is None."""
    for spec in OPTIONS.values():
        dest = _PREFIX + spec.name
        if spec.value_without:
            (flag,) = spec.flags
            parser.add_optional_choice(flag, choices_of(spec), spec.value_without, spec.help, dest)
        elif spec.flags:
            parser.add_argument(*spec.flags, dest=dest, default=None, help=spec.help, **_keywords(spec))


def given_options(namespace: argparse.Namespace) -> dict[str, Any]:
    """Return the options that were given, as keyword arguments of `Index.search`."""
    values = {name: getattr(namespace, _PREFIX + name, None) for name in OPTIONS}
    return {
        name: "" if value == _NONE and "" in OPTIONS[name].choices else value
        for name, value in values.items()
        if value is not None
    }


def choices_of(spec: OptionSpec) -> tuple[str, ...]:
    """Return the values that a flag takes."""
    return tuple(filter(None, spec.choices)) + ((_NONE,) if "" in spec.choices else ())


def _keywords(spec: OptionSpec) -> dict[str, Any]:
    """Return the keyword arguments of `add_argument` for the kind of an option."""
    if spec.kind == "bool":
        # A default from the settings can be switched off, too.
        return {"action": argparse.BooleanOptionalAction if spec.setting else "store_true"}
    if spec.kind == "choice":
        return {"choices": choices_of(spec)}
    if spec.kind == "list":
        return {"action": "append", "metavar": spec.metavar}
    return {"type": _TYPES.get(spec.kind, str), "metavar": spec.metavar}
