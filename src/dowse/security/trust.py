"""Trust on first use: the project files that the user trusts, and permissions that an index must not carry.

Trust is for one path and one content hash: after any change of the file the user has to trust it again. It is
recorded in the user's own configuration.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from dowse.errors import ConfigError
from dowse.security.safe_files import make_private_directory, read_regular_file, write_atomically

_MAX_BYTES = 10_000_000


def is_trusted(store: Path, path: Path, content: bytes) -> bool:
    """Whether the user trusts a project file with exactly this content, by `dowse.config.trust_file`."""
    return trusted_files(store).get(str(path)) == _digest(content)


def trust(store: Path, path: Path, content: bytes) -> None:
    """Record that the user trusts a project file with this content."""
    _save(store, {**trusted_files(store), str(path): _digest(content)})


def revoke(store: Path, path: Path) -> bool:
    """Remove the trust in a project file; return whether there was any."""
    known = trusted_files(store)
    was_trusted = known.pop(str(path), None) is not None
    if was_trusted:
        _save(store, known)
    return was_trusted


def trusted_files(store: Path) -> dict[str, str]:
    """Return every trusted path with the hash of its trusted content."""
    import json  # late: every search imports this module

    try:
        hashes = json.loads(read_regular_file(store, _MAX_BYTES, follow_symlinks=True))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{store} can't be read ({error}); remove it and run `dowse trust` again") from None
    if not isinstance(hashes, dict):
        raise ConfigError(f"{store} holds no trusted files; remove it and run `dowse trust` again")
    return {str(path): str(digest) for path, digest in hashes.items()}


def _save(store: Path, known: dict[str, str]) -> None:
    import json

    make_private_directory(store.parent)
    write_atomically(store, (json.dumps(known, indent=2, sort_keys=True) + "\n").encode())


def _digest(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()


def drop_permissions(
    meta: Mapping[str, str], *, include_secrets: bool = False, exclude: Collection[str] = ()
) -> dict[str, str]:
    """Return an index's metadata without permissions that let later updates read more of this machine.

    These are the permission to index secrets, and negated patterns, which bring back what git ignores. An
    index from another machine has none: only the user of this machine may give them.

    Args:
        meta: The metadata of an index.
        include_secrets: Whether the user allows secrets now.
        exclude: The user's current patterns.
    """
    kept = dict(meta)
    if not include_secrets:
        kept.pop("include_secrets", None)
    if "exclude" in kept:
        patterns = kept["exclude"].split("\n")
        kept["exclude"] = "\n".join(each for each in patterns if each[:1] != "!" or each in exclude)
    return kept
