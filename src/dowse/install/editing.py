"""What the editors of all formats share: the error, and the data that is expected after an edit."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

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


def nest(keys: Sequence[str], value: object) -> Any:  # noqa: ANN401 - any JSON
    """Return a value below nested keys."""
    for key in reversed(keys):
        value = {key: value}
    return value


def with_entry(data: object, keys: Sequence[str], entry: Mapping[str, Any]) -> object:
    """Return a copy of the data with the fields of an entry set; unchanged where it can have no entry."""
    data = copy.deepcopy(data)
    table: Any = data
    for key in keys:
        if not isinstance(table, dict):
            return data
        table = table.setdefault(key, {})
    if isinstance(table, dict):
        table.update(copy.deepcopy(dict(entry)))
    return data


def without_entry(data: object, keys: Sequence[str]) -> object:
    """Return a copy of the data without an entry that it has."""
    data = copy.deepcopy(data)
    table: Any = data
    for key in keys[:-1]:
        table = table[key]
    del table[keys[-1]]
    return data
