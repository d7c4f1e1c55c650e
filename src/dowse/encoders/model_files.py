"""Files of model folders. A model that the user names is trusted, as any program is (docs/SECURITY.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from dowse.errors import DowseError, MissingExtra
from dowse.security.terminal import first_line

# Describes an encoder that dowse trained.
CONFIG_FILE = "encoder.json"
# The package that `pip install "dowse[rerank]"` brings, and its models with their configuration files.
EXTRA_PACKAGE = "dowse_models"
EXTRA_MODELS = {"small": CONFIG_FILE, "rerank": "cross.json"}


@lru_cache(maxsize=1)
def shipped_folder() -> Path:
    """Return the folder of shipped models: in the installed package, or at the root of a checkout."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "models"
    return installed if installed.is_dir() else package.parents[1] / "models"


@lru_cache(maxsize=1)
def shipped_folders() -> tuple[Path, ...]:
    """Return all folders of shipped models: that of the extra, which lies beside the package, comes last."""
    extra = Path(__file__).resolve().parents[2] / EXTRA_PACKAGE
    return (shipped_folder(), extra) if extra.is_dir() else (shipped_folder(),)


@lru_cache(maxsize=16)
def is_shipped(encoder: str) -> bool:
    """Whether an encoder comes with dowse: then its configuration is read in no time."""
    return encoder.isidentifier() and _find_shipped(encoder, CONFIG_FILE) is not None


def find_model_folder(name: str, config_file: str) -> Path:
    """Return the folder of a shipped model with this configuration file, else the path that a name is.

    Raises:
        DowseError: The model comes with an extra that is not installed.
    """
    if "/" in name or "\\" in name:
        return Path(name).expanduser()
    shipped = _find_shipped(name, config_file)
    # A folder of this name, in whatever repository this may be, is no substitute.
    if shipped is None and EXTRA_MODELS.get(name) == config_file:
        raise MissingExtra(f"the model {name!r}", "rerank")
    return shipped or Path(name).expanduser()


def is_shipped_file(file: Path) -> bool:
    """Whether a file comes with dowse."""
    return any(file.is_relative_to(folder) for folder in shipped_folders())


def _find_shipped(name: str, config_file: str) -> Path | None:
    places = (folder / name for folder in shipped_folders())
    return next((place for place in places if (place / config_file).exists()), None)


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
