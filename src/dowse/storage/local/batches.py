"""Queries with more values than one statement can bind."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

# Bound values of one statement.
BATCH = 500


def placeholders(count: int) -> str:
    """Return the placeholders of so many values in a statement."""
    return ",".join("?" * count)


def select_among(
    database: sqlite3.Connection, values: Sequence[int] | Sequence[str], query: str
) -> Iterator[Any]:
    """Yield the rows of a query whose `{}` stands for the values, in batches."""
    for start in range(0, len(values), BATCH):
        batch = values[start : start + BATCH]
        yield from database.execute(query.format(placeholders(len(batch))), batch)
