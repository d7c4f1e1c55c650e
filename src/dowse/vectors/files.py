"""Names and steps that writers and readers agree on; loads no NumPy."""

from __future__ import annotations

import os
from pathlib import Path

# What is committed in a folder of vectors.
STATE = "state.json"
TEMPORARY = ".new"


def replace_file(path: Path, data: bytes) -> None:
    """Give a file new contents in one step that survives a crash."""
    temporary = path.with_name(path.name + TEMPORARY)
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
