"""Search requests with the options that a test names."""

from __future__ import annotations

from typing import Any

from dowse.search.options import SearchOptions, SearchRequest


def request(text: str, **options: Any) -> SearchRequest:
    """Return a request; options that are not given have their defaults."""
    return SearchRequest(text, SearchOptions(**options))
