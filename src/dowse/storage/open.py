"""Opens the backend of an address: a local folder, or an index on a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dowse.storage.protocol import Backend

# Plain HTTP, and with TLS.
CLUSTER_SCHEMES = ("elastic://", "elastics://")


def is_cluster(address: str) -> bool:
    """Whether an address is that of an index on a cluster."""
    return address.startswith(CLUSTER_SCHEMES)


def beside(address: str, name: str) -> str:
    """Return the address of another index on the same cluster, with a suffix to its name."""
    base, mark, options = address.partition("?")
    return f"{base.rstrip('/')}-{name}{mark}{options}"


def open_backend(address: str, root: Path | None = None) -> Backend:
    """Return the backend of an address; nothing is read or written yet.

    Args:
        address: A folder, or `elastic://host:9200/NAME`.
        root: The repository or corpus that a writer indexes; only a shared index needs it.
    """
    if is_cluster(address):
        from dowse.source.git import repo_identity
        from dowse.storage.elastic.backend import ElasticBackend

        return ElasticBackend(address, repo_identity(root) if root is not None else "")
    from dowse.storage.local.backend import LocalBackend

    return LocalBackend(Path(address))
