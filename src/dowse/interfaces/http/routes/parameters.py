"""Parameters that several routes take."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

# Longer texts are no queries; the query language takes some thousands of characters.
MAX_QUERY = 10_000

IndexName = Annotated[str | None, Query(max_length=200, description="The name of an index; by default all.")]
Target = Annotated[
    str,
    Query(
        min_length=1,
        max_length=1_000,
        description="A symbol: its id, a location (`src/app.py:42`) or a name (`Class.method`).",
    ),
]
