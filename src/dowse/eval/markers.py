"""What evaluations write says what it is: as a key in JSON, as a comment at the top of other files."""

from __future__ import annotations

REPORT, SHEET = "dowse_report", "dowse_sheet"


def comment(mark: str) -> str:
    """Return a mark for Markdown and HTML, where nobody sees it."""
    return f"<!-- {mark} -->"
