"""File names that writers and readers share; loads no NumPy."""

from __future__ import annotations

from pathlib import Path

from dowse.errors import DowseError

# The state of a folder of vectors: what is committed.
STATE = "state.json"
# The suffix of temporary files of `write_atomically`.
TEMPORARY = ".new"


def encoder_path(folder: Path, encoder: str, ending: str = "") -> Path:
    """Return the path for an encoder; its name can't lead out of the folder."""
    if encoder in ("", ".", "..") or "/" in encoder or "\\" in encoder or "\0" in encoder:
        raise DowseError("the name of an encoder has a path in it; name the encoder's folder with --encoder")
    return folder / f"{encoder}{ending}"
