"""Repositories to index, and a real Ray cluster to do it."""

from __future__ import annotations

import fcntl
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


@pytest.fixture(scope="module")
def ray_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    """Two Ray nodes with a processor each; one cluster at a time, however many test processes there are."""
    if not all(map(importlib.util.find_spec, ("ray", "grpc"))):
        reason = "Ray is not installed (`dowse[ray]`)"
        if os.environ.get("DOWSE_REQUIRE_CLUSTER"):
            pytest.fail(reason)
        pytest.skip(reason)
    base = tmp_path_factory.getbasetemp()
    place = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (place / "ray.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield from _nodes()


def _nodes() -> Iterator[RayCluster]:
    # Not below pytest's folders, nor in a long TMPDIR: names of sockets must be short.
    short = tempfile.gettempdir() if len(tempfile.gettempdir()) < 20 else "/tmp"
    folder = Path(tempfile.mkdtemp(prefix="ray-", dir=short))
    quiet = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    # Ray's cluster for tests notes its address in the default folder, which only a plain start makes.
    quiet["RAY_TMPDIR"] = str(folder)
    (folder / "ray").mkdir()
    with (folder / "nodes.log").open("wb") as log:
        nodes = subprocess.Popen(
            [sys.executable, str(_PROGRAM), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env={**os.environ, **quiet, "DOWSE_CACHE_DIR": str(folder / "cache")},
        )
    assert nodes.stdin is not None
    assert nodes.stdout is not None
    try:
        said = nodes.stdout.readline()
        if not said:
            pytest.fail(f"Ray did not start: {(folder / 'nodes.log').read_text(errors='replace')[-2000:]}")
        yield RayCluster(json.loads(said)["workers"], folder)
    finally:
        nodes.stdin.close()
        nodes.wait()
        nodes.stdout.close()
        shutil.rmtree(folder, ignore_errors=True)


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
