"""Repositories to index, and a real Ray cluster to do it."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from helpers import age, write_tree

_PROGRAM = Path(__file__).with_name("two_nodes.py")


@dataclass(frozen=True)
class RayCluster:
    """Where two nodes are, where they write their logs, and what they remember."""

    workers: str
    folder: Path

    @property
    def cache(self) -> Path:
        """The cache folder of the workers."""
        return self.folder / "cache"

    def forget(self) -> None:
        """Let the workers remember nothing, so that they have to encode."""
        shutil.rmtree(self.cache, ignore_errors=True)


class RayNodes:
    """A cluster of two Ray nodes with a processor each, started by need and again after a loss."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._cluster: RayCluster | None = None

    def running(self) -> RayCluster:
        """Return the cluster, a new one if there is none."""
        if self._process is None or self._process.poll() is not None or self._cluster is None:
            self.stop()
            self._cluster = self._start()
        return self._cluster

    def _start(self) -> RayCluster:
        # Not below pytest's folders, nor in a long TMPDIR: names of sockets must be short.
        short = tempfile.gettempdir() if len(tempfile.gettempdir()) < 20 else "/tmp"
        folder = Path(tempfile.mkdtemp(prefix="ray-", dir=short))
        quiet = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
        # Ray's cluster for tests notes its address in the default folder, which only a plain start makes.
        quiet["RAY_TMPDIR"] = str(folder)
        (folder / "ray").mkdir()
        with (folder / "nodes.log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(_PROGRAM), str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, **quiet, "DOWSE_CACHE_DIR": str(folder / "cache")},
            )
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        if not said:
            pytest.fail(f"Ray did not start: {(folder / 'nodes.log').read_text(errors='replace')[-2000:]}")
        return RayCluster(json.loads(said)["workers"], folder)

    def stop(self) -> None:
        """End the nodes and remove what they wrote."""
        if self._process is not None:
            self._process.communicate()  # it ends with its standard input
        if self._cluster is not None:
            shutil.rmtree(self._cluster.folder, ignore_errors=True)


@pytest.fixture(scope="module")
def ray_nodes() -> Iterator[RayNodes]:
    """Ray, where it is installed."""
    if not all(map(importlib.util.find_spec, ("ray", "grpc"))):
        reason = "Ray is not installed (`dowse[ray]`)"
        if os.environ.get("DOWSE_REQUIRE_CLUSTER"):
            pytest.fail(reason)
        pytest.skip(reason)
    nodes = RayNodes()
    yield nodes
    nodes.stop()


@pytest.fixture
def ray_cluster(ray_nodes: RayNodes) -> RayCluster:
    """Two Ray nodes that are alive."""
    return ray_nodes.running()


def make_repository(root: Path, name: str, modules: int, functions: int = 6) -> Path:
    """Write a repository of small modules that call each other."""
    files = {"README.md": f"# {name}\n\nShelves and labels.\n"}
    for module in range(modules):
        lines = [f"from {name}.m{(module + 1) % modules} import shelve_{(module + 1) % modules}_0\n\n"]
        for number in range(functions):
            lines.append(
                f"def shelve_{module}_{number}(box, room={number}):\n"
                f'    """Put box {number} of {name} on shelf {module}."""\n'
                f"    label = '{name}-{module}-{number}'\n"
                f"    return shelve_{(module + 1) % modules}_0(box) if room > {module} else label\n\n"
            )
        files[f"{name}/m{module}.py"] = "".join(lines)
    tree = write_tree(root / name, files)
    git = tree / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text(f'[remote "origin"]\n\turl = https://example.org/depot/{name}.git\n')
    age(tree)
    return tree


@pytest.fixture(scope="session")
def depot(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three repositories; one has enough symbols for its encoding to be spread."""
    root = tmp_path_factory.mktemp("depot")
    sizes = {"attic": 3, "cellar": 60, "yard": 4}
    return [make_repository(root, name, modules) for name, modules in sizes.items()]
