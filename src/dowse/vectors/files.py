"""File names that writers and readers agree on; loads no NumPy."""

from __future__ import annotations

from pathlib import Path

from dowse.errors import DowseError

# What is committed in a folder of vectors.
STATE = "state.json"
# The ending of files that `write_atomically` has not put in their place yet.
TEMPORARY = ".new"


def encoder_path(folder: Path, encoder: str, ending: str = "") -> Path:
    """Return the path that belongs to an encoder; its name never leads out of the folder."""
    if encoder in ("", ".", "..") or "/" in encoder or "\\" in encoder or "\0" in encoder:
        raise DowseError("the name of an encoder has a path in it; name the encoder's folder with --encoder")
    return folder / f"{encoder}{ending}"
