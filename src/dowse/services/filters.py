"""Filters that come as parameters, written in the query language."""

from __future__ import annotations

from collections.abc import Iterable


def filters_text(
    lang: Iterable[str] = (),
    path: Iterable[str] = (),
    exclude: Iterable[str] = (),
    kind: Iterable[str] = (),
    more: str = "",
) -> str:
    """Return all filters as one text; each value is quoted, so that it can't contain other filters."""
    flags = (("lang", lang), ("path", path), ("kind", kind), ("-path", exclude))
    parts = [f"{name}:{_quote(value)}" for name, values in flags for value in values]
    return " ".join([more, *parts] if more.strip() else parts)


def _quote(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
