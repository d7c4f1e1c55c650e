"""Filters that are added to every query, and the queries that contradict them."""

from __future__ import annotations

from dowse.errors import QueryError
from dowse.eval.types import Dataset
from dowse.query.ast import Query
from dowse.query.parser import narrow, plain_query


def check_filters(filters: str) -> None:
    """Raise QueryError if the filters are invalid for any query."""
    narrow(Query(()), filters)


def clashes(query: str, filters: str) -> bool:
    """Whether a query contradicts the filters, as "run the test" does with `-test`."""
    try:
        narrow(plain_query(query), filters)
    except QueryError:
        return True
    return False


def note_clashes(dataset: Dataset, filters: str) -> str:
    """Return a note on the queries that contradict the filters, "" if there are none."""
    count = sum(clashes(case.query, filters) for case in dataset.scored_cases) if filters.strip() else 0
    if not count:
        return ""
    if count == 1:
        return "1 question asks for what the filters exclude, and counts as answered with nothing"
    return f"{count} questions ask for what the filters exclude, and count as answered with nothing"
