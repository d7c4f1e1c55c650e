"""Files of model folders: regular, within a size limit, and inside the folder that the user named."""

from __future__ import annotations

import json
import stat
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.errors import DowseError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# The largest vocabularies take some 35 MB.
_TOKENIZER_BYTES = 100_000_000
_SETTINGS_BYTES = 10_000_000
_SETTINGS_VALUES = 1_000_000


@lru_cache(maxsize=1)
def shipped_folder() -> Path:
    """Return where the models of dowse lie: in the installed package, or at the root of a checkout."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "models"
    return installed if installed.is_dir() else package.parents[1] / "models"


def is_shipped_file(file: Path) -> bool:
    """Whether a file comes with dowse."""
    return file.is_relative_to(shipped_folder())


def check_model_file(file: Path, folder: Path, max_bytes: int) -> Path:
    """Return where a file of a model really lies.

    Raises:
        DowseError: It is no regular file, too large, or a symbolic link that leads out of the folder.
    """
    if is_shipped_file(file):
        return file
    try:
        real = file.resolve(strict=True)
        found = real.stat()
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "a symbolic link to itself"
        raise DowseError(f"{file} can't be read ({reason}); fetch the model again") from None
    if not stat.S_ISREG(found.st_mode):
        raise DowseError(f"{file} is no regular file; fetch the model again")
    if found.st_size > max_bytes:
        raise DowseError(f"{file} has more than {max_bytes:,} bytes; use a smaller model")
    if not real.is_relative_to(model_boundary(folder)):
        raise DowseError(f"{file} leads out of the model's folder; copy the file there")
    return real


def model_boundary(folder: Path) -> Path:
    """Return the folder that no file of a model may lie outside of.

    The cache of the Hugging Face hub holds links: models--OWNER--NAME/snapshots/COMMIT/FILE → blobs/HASH.
    """
    real = folder.resolve()
    home = real.parent.parent
    is_hub = real.parent.name == "snapshots" and home.name.startswith("models--")
    return home if is_hub and (home / "blobs").is_dir() else real


def read_model_settings(file: Path, folder: Path) -> Any:  # noqa: ANN401 - any JSON
    """Return the JSON of a small file of a model; None where there is no such file."""
    if not file.exists() and not file.is_symlink():
        return None
    try:
        if is_shipped_file(file):  # every search reads a description of ours
            return json.loads(file.read_bytes())
        from dowse.limited_json import parse_limited
        from dowse.safe_files import read_regular_file

        data = read_regular_file(check_model_file(file, folder, _SETTINGS_BYTES), _SETTINGS_BYTES)
        return parse_limited(data, max_memory=4 * _SETTINGS_BYTES, max_elements=_SETTINGS_VALUES)
    except (OSError, ValueError) as error:
        raise DowseError(f"{file} is not JSON ({str(error)[:200]}); fetch the model again") from error


def load_tokenizer(file: Path, folder: Path | None = None) -> Tokenizer:
    """Read a tokenizer.json; the format holds tables and rules, no code."""
    from tokenizers import Tokenizer

    real = check_model_file(file, folder or file.parent, _TOKENIZER_BYTES)
    try:
        return Tokenizer.from_file(str(real))
    except Exception as error:  # the library raises nothing more specific
        reason = str(error).partition("\n")[0][:200]
        raise DowseError(f"{file} is no tokenizer ({reason}); fetch the model again") from error
