"""The names of symbols in SCIP: scheme, package and descriptors, the last of which says what it is."""

from __future__ import annotations

import re
from typing import NamedTuple

_LOCAL = "local "
# Scheme, manager, package and version end with one space; a doubled space is part of them.
_HEAD = re.compile(r"((?:[^ ]|  )*+) ((?:[^ ]|  )*+) ((?:[^ ]|  )*+) ((?:[^ ]|  )*+) ")
_MODULE = re.compile(r"`?([\w.]+)`?/")
_SIMPLE = re.compile(r"[\w+$-]+", re.ASCII)
# Longer names are no names of symbols.
_MAX_NAME = 10_000


class SymbolName(NamedTuple):
    """What the name of a symbol says about it."""

    package: str  # manager and name of its package, without the version; "" for a local symbol
    name: str  # that of the last descriptor
    suffix: str  # "#" for a type, ")." for a function, "." for another term, "/" for a namespace, …


def parse_symbol(symbol: str) -> SymbolName | None:
    """Return the parts of a name that matter here; None for one that is no name of SCIP."""
    if is_local(symbol):
        return SymbolName("", "", "")
    head = _HEAD.match(symbol) if len(symbol) <= _MAX_NAME else None
    if head is None or head.end() == len(symbol):
        return None
    rest = symbol[head.end() :]
    suffix = ")." if rest.endswith(").") else rest[-1]
    bare = rest[: rest.rfind("(")] if suffix == ")." else rest[:-1]
    # An installed copy of the project itself may be spelt otherwise: Flask and flask are one package.
    package = head[3].lower().replace("_", "-")
    return SymbolName(f"{head[2]} {package}", _last_name(bare), suffix)


def split_module(symbol: str) -> tuple[str, str]:
    """Return the dotted module of a symbol of Python, "" for none, and the descriptors inside of it."""
    head = _HEAD.match(symbol)
    match = _MODULE.match(symbol, head.end()) if head else None
    return (match[1], symbol[match.end() :]) if match else ("", symbol)


def _last_name(descriptors: str) -> str:
    if descriptors.endswith("`"):
        return descriptors[descriptors.rfind("`", 0, -1) + 1 : -1]
    start = len(descriptors)
    while start and (descriptors[start - 1].isalnum() or descriptors[start - 1] in "_+-$"):
        start -= 1
    return descriptors[start:]


def is_local(symbol: str) -> bool:
    """Whether a symbol is visible in its document alone: its name says nothing elsewhere."""
    return symbol.startswith(_LOCAL)


def is_definable(name: SymbolName) -> bool:
    """Whether a symbol can be one of ours: neither a parameter nor a namespace."""
    return name.suffix not in (")", "]", "/", ":")


def symbol_head(package: str) -> str:
    """Return the beginning of the names that dowse gives to the symbols of a repository."""
    return f"dowse . {package.replace(' ', '  ') or '.'} . "


def descriptor(name: str, suffix: str) -> str:
    """Return a name with its suffix, quoted if it is not made of plain letters; one can't be empty."""
    name = name or "_"
    if not _SIMPLE.fullmatch(name):
        name = f"`{name.replace('`', '``')}`"
    return f"{name}{suffix}"
