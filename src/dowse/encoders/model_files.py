"""Files of model folders. A model that the user names is trusted, as any program is (docs/SECURITY.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from dowse.errors import DowseError
from dowse.security.terminal import first_line

# Describes an encoder that dowse trained.
CONFIG_FILE = "encoder.json"


@lru_cache(maxsize=1)
def shipped_folder() -> Path:
    """Return the folder of shipped models: in the installed package, or at the root of a checkout."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "models"
    return installed if installed.is_dir() else package.parents[1] / "models"


def is_shipped(encoder: str) -> bool:
    """Whether an encoder comes with dowse: then its configuration is read in no time."""
    return encoder.isidentifier() and (shipped_folder() / encoder / CONFIG_FILE).exists()


def find_model_folder(name: str, config_file: str) -> Path:
    """Return the folder of a shipped model with this configuration file, else the path that a name is."""
    folder = shipped_folder() / name
    is_path = "/" in name or "\\" in name
    return Path(name).expanduser() if is_path or not (folder / config_file).exists() else folder


def is_shipped_file(file: Path) -> bool:
    """Whether a file comes with dowse."""
    return file.is_relative_to(shipped_folder())


def read_model_settings(file: Path) -> dict[str, Any]:
    """Return the JSON object in a file of a model; nothing if there is no such file."""
    if not file.exists():
        return {}
    with model_errors(file):
        values = json.loads(file.read_bytes())
        if not isinstance(values, dict):
            raise ValueError("it is no JSON object")
    return values


@contextmanager
def model_errors(model: object) -> Iterator[None]:
    """Turn whatever a library raises about a model, or while it reads a text, into one line that names it.

    The tokenizers library raises plain `Exception`s and Rust's panics, which are no `Exception`s and whose
    class can't be imported.
    """
    try:
        yield
    except BaseException as error:
        is_panic = type(error).__name__ == "PanicException"
        if isinstance(error, DowseError) or not (is_panic or isinstance(error, Exception)):
            raise
        reason = first_line(error)
        raise DowseError(
            f"{model} can't be used ({reason}); fetch the model again, or use another"
        ) from error
