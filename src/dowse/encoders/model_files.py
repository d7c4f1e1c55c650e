"""Files of model folders: regular, within a size limit, and inside the folder that the user named.

A model may come from anywhere: it is read like any untrusted input (docs/SECURITY.md).
"""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.errors import DowseError
from dowse.security.terminal import first_line

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# Describes an encoder that dowse trained.
CONFIG_FILE = "encoder.json"
# The largest vocabularies take some 35 MB and have two million values.
_MAX_TOKENIZER_BYTES = 64_000_000
_MAX_TOKENIZER_VALUES = 4_000_000
_MAX_SETTINGS_BYTES = 10_000_000
_MAX_SETTINGS_VALUES = 1_000_000


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


def folder_megabytes(folder: Path) -> float:
    """Return the size of a model's files."""
    return round(sum(file.stat().st_size for file in folder.iterdir() if file.is_file()) / 1e6, 1)


def is_shipped_file(file: Path) -> bool:
    """Whether a file comes with dowse."""
    return file.is_relative_to(shipped_folder())


def check_model_file(file: Path, folder: Path, max_bytes: int) -> Path:
    """Return the real path of a model's file, after a check against symlink attacks.

    Raises:
        DowseError: It is no regular file, too large, or a symbolic link that leads out of the folder.
    """
    if is_shipped_file(file):
        return file
    try:
        real = file.resolve(strict=True)
        status = real.stat()
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "a symbolic link to itself"
        raise DowseError(f"{file} can't be read ({reason}); fetch the model again") from None
    if not stat.S_ISREG(status.st_mode):
        raise DowseError(f"{file} is no regular file; fetch the model again")
    if status.st_size > max_bytes:
        raise DowseError(f"{file} has more than {max_bytes:,} bytes; use a smaller model")
    if not real.is_relative_to(model_boundary(folder)):
        raise DowseError(f"{file} leads out of the model's folder; copy the file there")
    return real


def model_boundary(folder: Path) -> Path:
    """Return the folder that must hold all files of a model.

    The cache of the Hugging Face hub holds links: models--OWNER--NAME/snapshots/COMMIT/FILE → blobs/HASH.
    """
    real = folder.resolve()
    home = real.parent.parent
    is_hub = real.parent.name == "snapshots" and home.name.startswith("models--")
    return home if is_hub and (home / "blobs").is_dir() else real


def read_model_settings(file: Path, folder: Path) -> Any:  # noqa: ANN401 - any JSON
    """Return the JSON of a small file of a model; None if there is no such file."""
    if not file.exists() and not file.is_symlink():
        return None
    try:
        if is_shipped_file(file):  # every search reads the configuration of a shipped model
            return json.loads(file.read_bytes())
        from dowse.security.limited_json import parse_json_limited
        from dowse.security.safe_files import read_regular_file

        data = read_regular_file(check_model_file(file, folder, _MAX_SETTINGS_BYTES), _MAX_SETTINGS_BYTES)
        return parse_json_limited(data, max_memory=4 * _MAX_SETTINGS_BYTES, max_elements=_MAX_SETTINGS_VALUES)
    except (OSError, ValueError) as error:
        raise DowseError(f"{file} is not JSON ({str(error)[:200]}); fetch the model again") from error


def load_tokenizer(file: Path, folder: Path | None = None) -> Tokenizer:
    """Load a tokenizer.json; the format holds tables and rules, no code.

    Raises:
        DowseError: It is no tokenizer, or has steps that are not known to be harmless (tokenizer_check.py).
    """
    if is_shipped_file(file):
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(file))
    from dowse.security.safe_files import read_regular_file

    real = check_model_file(file, folder or file.parent, _MAX_TOKENIZER_BYTES)
    try:
        data = read_regular_file(real, _MAX_TOKENIZER_BYTES)
    except OSError as error:
        raise DowseError(f"{file} can't be read ({error.strerror}); fetch the model again") from None
    return parse_tokenizer(data, file)


def parse_tokenizer(data: bytes, source: object) -> Tokenizer:
    """Return the tokenizer in a JSON text; `source` names it in messages. See `load_tokenizer`."""
    from tokenizers import Tokenizer

    from dowse.encoders.tokenizer_check import check_tokenizer
    from dowse.security.limited_json import parse_json_limited

    try:
        value = parse_json_limited(
            data, max_memory=4 * _MAX_TOKENIZER_BYTES, max_elements=_MAX_TOKENIZER_VALUES
        )
        check_tokenizer(value)
        # Load what was checked: of a duplicate key, another parser may take another value.
        return Tokenizer.from_str(json.dumps(value, ensure_ascii=False))
    except BaseException as error:
        _reraise_unless_library_error(error)
        raise DowseError(
            f"{source} is no tokenizer that can be used ({first_line(error)}); "
            "fetch the model again, or use another"
        ) from None


@contextmanager
def model_errors(model: object) -> Iterator[None]:
    """Turn what a library raises while a model reads texts into one line that names the model."""
    try:
        yield
    except BaseException as error:
        _reraise_unless_library_error(error)
        raise DowseError(f"{model} can't read a text ({first_line(error)}); use another model") from None


def _reraise_unless_library_error(error: BaseException) -> None:
    """Raise an error again unless it comes from the tokenizers library.

    The library raises plain `Exception`s and Rust's panics, which are no `Exception`s and whose class can't
    be imported.
    """
    is_panic = type(error).__name__ == "PanicException"
    if isinstance(error, DowseError) or not (is_panic or isinstance(error, Exception)):
        raise error
