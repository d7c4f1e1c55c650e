"""What a change would do to a file, as `diff -u` shows it."""

from __future__ import annotations

import difflib

from dowse.install.plan import Change

_NO_END = "\\ No newline at end of file\n"


def unified(change: Change) -> str:
    """Return the difference between a file as it is and as it would be."""
    path = str(change.target.path)
    lines = difflib.unified_diff(
        _lines(change.before),
        _lines(change.after),
        "/dev/null" if change.before is None else path,
        "/dev/null" if change.after is None else path,
    )
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_END}" for line in lines)


def _lines(data: bytes | None) -> list[str]:
    """Return the lines with their breaks, cut at line feeds and nowhere else."""
    text = (data or b"").decode(errors="replace")
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
