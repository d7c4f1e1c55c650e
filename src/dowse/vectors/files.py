"""File names that writers and readers share; loads no NumPy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dowse.errors import DowseError

# The state of a folder of vectors: what is committed.
STATE = "state.json"
# The ending of the sorted keys, which are written after a commit.
ORDER = ".order"
FORMAT_VERSION = 3
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


def parse_state(text: bytes) -> dict[str, Any]:
    """Return the object in a state file; raises ValueError if it is damaged."""
    stored = json.loads(text.partition(b"\n")[0])  # format 2 has a checksum in the second line
    if not isinstance(stored, dict):
        raise ValueError("it is no object")
    return stored
