"""Which project files the user trusts, recorded in the user's own configuration.

Trust is for one path and one content: after any change of the file it counts for nothing.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from dowse.errors import ConfigError
from dowse.security.safe_files import make_private_directory, read_regular_file, write_atomically

_MAX_BYTES = 10_000_000


def is_trusted(store: Path, path: Path, content: bytes) -> bool:
    """Tell whether the user trusts a project file with exactly this content.

    Args:
        store: Where trust is recorded (`dowse.config.trust_file`).
        path: The project file.
        content: What it holds now.
    """
    return trusted_files(store).get(str(path)) == _digest(content)


def trust(store: Path, path: Path, content: bytes) -> None:
    """Record that the user trusts a project file with this content."""
    _save(store, {**trusted_files(store), str(path): _digest(content)})


def revoke(store: Path, path: Path) -> bool:
    """Forget that a project file is trusted; returns whether it was."""
    known = trusted_files(store)
    was_trusted = known.pop(str(path), None) is not None
    if was_trusted:
        _save(store, known)
    return was_trusted


def trusted_files(store: Path) -> dict[str, str]:
    """Return every recorded path with the hash of its trusted content."""
    try:
        found = json.loads(read_regular_file(store, _MAX_BYTES, follow_symlinks=True))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{store} can't be read ({error}); remove it and run `dowse trust` again") from None
    if not isinstance(found, dict):
        raise ConfigError(f"{store} holds no trusted files; remove it and run `dowse trust` again")
    return {str(path): str(digest) for path, digest in found.items()}


def _save(store: Path, known: dict[str, str]) -> None:
    make_private_directory(store.parent)
    write_atomically(store, (json.dumps(known, indent=2, sort_keys=True) + "\n").encode())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
