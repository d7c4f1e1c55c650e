"""File names that writers and readers share; loads no NumPy."""

from __future__ import annotations

from pathlib import Path

from dowse.errors import DowseError

# The state of a folder of vectors: what is committed.
STATE = "state.json"
# Ends the name of the folder of approximate vectors, beside the folder of the encoder that they approximate.
_APPROXIMATE = "-approximate"
# The suffix of temporary files of `write_atomically`.
TEMPORARY = ".new"


def approximation_of(encoder: str) -> str:
    """Return the id under which approximate vectors of an encoder are stored."""
    return encoder + _APPROXIMATE


def encoder_path(folder: Path, encoder: str, ending: str = "") -> Path:
    """Return the path for an encoder; its name can't lead out of the folder."""
    if encoder in ("", ".", "..") or "/" in encoder or "\\" in encoder or "\0" in encoder:
        raise DowseError("the name of an encoder has a path in it; name the encoder's folder with --encoder")
    return folder / f"{encoder}{ending}"
