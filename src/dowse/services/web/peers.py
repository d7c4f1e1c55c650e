"""Which user of this machine holds the other end of a local connection."""

from __future__ import annotations

import os
import sys
from pathlib import Path

# Linux lists all connections with their owners: one table for each address family.
_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


def is_own_connection(client_port: int, server_port: int) -> bool:
    """Whether the client of a connection belongs to this user, or to root, who may read everything anyway.

    Only Linux needs the answer, as only there users see each other's command lines: elsewhere it is yes.
    """
    if not sys.platform.startswith("linux"):
        return True
    owners = _owners(f"{client_port:04X}", f"{server_port:04X}")
    return bool(owners) and owners <= {os.geteuid(), 0}


def _owners(client_port: str, server_port: str) -> set[int]:
    """Return who owns sockets from one port to another; the ports are in hexadecimal, as in the tables."""
    owners = set()
    for table in _TABLES:
        try:
            lines = table.read_text().splitlines()[1:]
        except OSError:  # no IPv6
            continue
        for line in lines:
            _, local, remote, _, _, _, _, owner, *_ = line.split()
            if local.endswith(f":{client_port}") and remote.endswith(f":{server_port}"):
                owners.add(int(owner))
    return owners
