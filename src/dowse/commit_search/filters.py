"""The words of `dowse log`: a question, and the filters author:, since:, path: and symbol:."""

from __future__ import annotations

import re
import time

from dowse.errors import DowseError
from dowse.lazy_classes import dataclass
from dowse.query.evaluate import path_matches

_FILTER = re.compile(r'(?<!\S)(author|since|path|symbol):("[^"]*"|\S+)')
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_AGE = re.compile(r"(\d{1,5})[ .]?(d|w|m|y|days?|weeks?|months?|years?)(?:[ .]ago)?")
_DAYS = {"d": 1, "w": 7, "m": 30.44, "y": 365.25}


@dataclass(frozen=True, slots=True)
class CommitQuery:
    """What to look for among commits; filters of one name are alternatives."""

    text: str
    authors: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    since: int = 0

    def allows(self, author: str, seconds: int, paths: list[str]) -> bool:
        """Whether a commit meets the filters, but for symbols."""
        lowered = author.lower()
        return (
            seconds >= self.since
            and (not self.authors or any(each.lower() in lowered for each in self.authors))
            and (not self.paths or any(map(self.has_path, paths)))
        )

    def has_path(self, path: str) -> bool:
        """Whether a file meets the filters of paths."""
        return not self.paths or any(path_matches(glob, path) for glob in self.paths)

    @property
    def has_filters(self) -> bool:
        """Whether there is any."""
        return bool(self.authors or self.paths or self.symbols or self.since)


def parse_commit_query(text: str) -> CommitQuery:
    """Split a query into words and filters.

    Raises:
        DowseError: A date can't be read.
    """
    values: dict[str, list[str]] = {"author": [], "since": [], "path": [], "symbol": []}
    for name, value in _FILTER.findall(text):
        values[name].append(value.strip('"'))
    return CommitQuery(
        " ".join(_FILTER.sub(" ", text).split()),
        tuple(values["author"]),
        tuple(values["path"]),
        tuple(values["symbol"]),
        max(map(parse_since, values["since"]), default=0),
    )


def parse_since(text: str) -> int:
    """Return the time of `2024`, `2024-05-01`, `3 months` or `2y ago`."""
    if match := _DATE.fullmatch(text):
        year, month, day = (int(part or 1) for part in match.groups())
        try:
            return int(time.mktime((year, month, day, 0, 0, 0, 0, 0, -1)))
        except (ValueError, OverflowError):
            pass
    elif match := _AGE.fullmatch(text.lower()):
        return int(time.time() - int(match[1]) * _DAYS[match[2][0]] * 86_400)
    raise DowseError(f'since:{text[:40]} is no date; write since:2024-05-01 or since:"3 months ago"')
