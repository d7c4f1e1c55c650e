"""From an address to its backend: a folder of this machine, or an index of a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dowse.storage.protocol import Backend

# Plain HTTP, and with TLS.
CLUSTER_SCHEMES = ("elastic://", "elastics://")


def is_cluster(address: str) -> bool:
    """Whether an address names an index of a cluster."""
    return address.startswith(CLUSTER_SCHEMES)


def beside(address: str, name: str) -> str:
    """Return the address of another index of the same cluster, whose name says whom it belongs to."""
    place, mark, options = address.partition("?")
    return f"{place.rstrip('/')}-{name}{mark}{options}"


def open_backend(address: str, root: Path | None = None) -> Backend:
    """Name a place for an index; nothing is read or written before it is asked for.

    Args:
        address: A folder, or `elastic://host:9200/NAME`.
        root: The repository or corpus that a writer brings; only a place that holds several needs it.
    """
    if is_cluster(address):
        from dowse.storage.elastic.backend import ElasticBackend

        return ElasticBackend.at(address, root)
    from dowse.storage.local.backend import LocalBackend

    return LocalBackend(Path(address))
