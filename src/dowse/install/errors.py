"""What is wrong with a text, and where."""

from __future__ import annotations

from pathlib import Path

from dowse.errors import DowseError


class Damaged(Exception):
    """A text that can't be edited: what is wrong, and where it was seen."""

    def __init__(self, problem: str, text: str, offset: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = text.count("\n", 0, offset) + 1
        self.column = offset - (text.rfind("\n", 0, offset) + 1) + 1

    def about(self, path: Path) -> DowseError:
        """Return the error that a user reads."""
        place = f"{path}, line {self.line}, column {self.column}"
        return DowseError(f"{place}: {self.problem}; mend it and run this again. Nothing was changed")
