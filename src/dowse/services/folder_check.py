"""Which folders of a client are indexed without a question."""

from __future__ import annotations

from pathlib import Path

from dowse.errors import DowseError


def check_not_home(folder: Path, how: str, remedy: str) -> None:
    """Reject a home folder and all that is above it: nobody means to index everything they have."""
    if Path.home().resolve().is_relative_to(folder.resolve()):
        raise DowseError(f"{how} {folder}, which is not one repository; {remedy}")
