"""A real Ray cluster of two nodes on this machine; ends when its standard input does.

A program of its own: Ray's warnings are not those of the tests, and nothing of it stays behind.
"""

from __future__ import annotations

import json
import socket
import sys

from ray.cluster_utils import Cluster

_MEMORY = 100_000_000


def main(folder: str) -> None:
    """Start the nodes, say where they are, and wait."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    about = {"num_cpus": 1, "object_store_memory": _MEMORY}
    head = {**about, "include_dashboard": False, "ray_client_server_port": port, "temp_dir": folder}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        cluster.add_node(**about)
        cluster.wait_for_nodes()
        sys.stdout.write(json.dumps({"workers": f"ray://127.0.0.1:{port}"}) + "\n")
        sys.stdout.flush()
        sys.stdin.read()
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main(sys.argv[1])
