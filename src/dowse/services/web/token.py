"""The bearer token of the user's servers: made once, and kept in a file that only the user can read."""

from __future__ import annotations

import secrets
from pathlib import Path

from dowse.errors import DowseError
from dowse.runtime_paths import data_folder
from dowse.security.safe_files import read_regular_file, write_atomically
from dowse.write_lock import write_lock

# The name of the file in the data folder. It stays when a server ends, so that cookies of browsers and the
# settings of MCP clients stay valid; to withdraw the token, remove the file and start the servers again.
TOKEN_FILE = "token"  # noqa: S105 - a name, no secret
_MAX_BYTES = 10_000


def own_token() -> str:
    """Return the user's token; where it can't be kept (a read-only home), one for this process."""
    folder = Path(data_folder())
    try:
        with write_lock(folder, None, lambda _: None):  # two servers may start at once
            return _read(folder / TOKEN_FILE) or _create(folder / TOKEN_FILE)
    except (OSError, DowseError):
        return _random()


def read_token(path: Path) -> str:
    """Return the token in a file that the user names: a credential of systemd, a secret of Kubernetes."""
    try:
        token = path.read_text().strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DowseError(f"{path} can't be read ({reason}); check --token-file") from error
    if not token:
        raise DowseError(f"{path} is empty; write the token to it")
    return token


def _read(file: Path) -> str:
    """Return the token in the user's own file, "" if there is none."""
    try:
        return read_regular_file(file, _MAX_BYTES).decode().strip()
    except (FileNotFoundError, ValueError):
        return ""


def _create(file: Path) -> str:
    token = _random()
    write_atomically(file, f"{token}\n".encode())
    return token


def _random() -> str:
    return secrets.token_urlsafe(32)
