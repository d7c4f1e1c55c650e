"""The error of a configuration file that can't be edited."""

from __future__ import annotations

from pathlib import Path

from dowse.errors import DowseError


class EditError(Exception):
    """A text that can't be edited: the problem, and its line and column."""

    def __init__(self, problem: str, text: str, offset: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = text.count("\n", 0, offset) + 1
        self.column = offset - (text.rfind("\n", 0, offset) + 1) + 1

    def in_file(self, path: Path) -> DowseError:
        """Return the error that a user reads."""
        position = f"{path}, line {self.line}, column {self.column}"
        return DowseError(f"{position}: {self.problem}; fix it and run this again. Nothing was changed")
