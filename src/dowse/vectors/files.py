"""Names and steps that writers and readers agree on; loads no NumPy."""

from __future__ import annotations

import os
from pathlib import Path

from dowse.errors import DowseError

# What is committed in a folder of vectors.
STATE = "state.json"
TEMPORARY = ".new"


def encoder_path(folder: Path, encoder: str, ending: str = "") -> Path:
    """Return the path that belongs to an encoder; its name never leads out of the folder."""
    if encoder in ("", ".", "..") or "/" in encoder or "\\" in encoder or "\0" in encoder:
        raise DowseError("the name of an encoder has a path in it; name the encoder's folder with --encoder")
    return folder / f"{encoder}{ending}"


def replace_file(path: Path, data: bytes) -> None:
    """Give a file new contents in one step that survives a crash."""
    temporary = path.with_name(path.name + TEMPORARY)
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
