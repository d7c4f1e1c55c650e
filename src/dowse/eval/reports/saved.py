"""Saved reports: read from a file."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

from dowse.errors import EvalError
from dowse.eval.reports.json_form import from_json
from dowse.eval.reports.model import Report
from dowse.security.terminal import first_line


def read_report(path: str) -> Report:
    """Read what `dowse eval --report` saved."""
    try:
        return from_json(read_saved(Path(path)))
    except EvalError as error:
        raise EvalError(f"{path}: {error}") from error


def read_saved(path: Path) -> dict[str, Any]:
    """Return the JSON of a report, packed if its name ends with .gz; raise EvalError if it is none."""
    try:
        data = path.read_bytes()
        text = gzip.decompress(data) if path.suffix == ".gz" else data
        report = json.loads(text, parse_constant=_refuse)
    except (OSError, EOFError, ValueError, RecursionError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or first_line(error)
        raise EvalError(
            f"no report ({reason}); check the path, or save one with `dowse eval --report FILE`"
        ) from error
    if not isinstance(report, dict):
        raise EvalError("no report; save one with `dowse eval --report FILE`")
    return report


def _refuse(constant: str) -> None:
    """Refuse what JSON has no number for."""
    raise ValueError(f"{constant} is no number")
