"""The head of a Ray cluster is lost while it indexes into a secured cluster; no secret shows anywhere."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from ingest.common import SECONDS, finish, run, start
from ingest.conftest import RayCluster, make_repository
from storage.secured_fixtures import Secured


def test_a_lost_head_is_one_line_and_the_next_run_resumes(
    ray_cluster: RayCluster, secured: Secured, index_name: str, tmp_path: Path
) -> None:
    sizes = {"attic": 1, "cellar": 80, "yard": 80, "shed": 80}
    roots = [make_repository(tmp_path / "depot", name, modules) for name, modules in sizes.items()]
    key, key_file = secured.key("administrator", index_name), tmp_path / "key"
    key_file.touch(0o600)
    key_file.write_text(key)
    environment = secured.environment(
        DOWSE_ELASTIC_API_KEY_FILE=str(key_file),
        DOWSE_CACHE_DIR=str(tmp_path / "cache"),
        RAY_CLIENT_RECONNECT_GRACE_PERIOD="1",
    )
    arguments = ("index", "--backend", secured.address(index_name), "--no-embed", "--json", *roots)
    process = start(*arguments, "--workers", ray_cluster.workers, **environment)
    _wait_for_checkpoint(tmp_path / "cache" / "ingest", process.poll)
    assert not [line for _, line in _command_lines() if key in line]
    for pid, line in _command_lines():
        if str(ray_cluster.folder) in line:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    code, out, errors = finish(process)
    assert (code, out) == (2, "")
    assert f"the Ray cluster at {ray_cluster.workers} is lost" in errors and "it resumes" in errors
    assert errors.count("\n") == 1
    for folder in (ray_cluster.folder, tmp_path / "cache"):
        for file in folder.rglob("*"):
            assert not file.is_file() or key.encode() not in file.read_bytes()
    code, out, errors = run(*arguments, **environment)
    assert (code, errors) == (0, "")
    report = {
        name: [Path(each["path"]).name for each in json.loads(out)[name]] for name in ("done", "unchanged")
    }
    assert report["unchanged"] and sorted(report["done"] + report["unchanged"]) == sorted(sizes)
    assert secured.backend(index_name, key=key).check() == []


def _wait_for_checkpoint(folder: Path, poll: object) -> None:
    """Wait until the first repository is done."""
    deadline = time.monotonic() + SECONDS
    while not any(file.stat().st_size for file in folder.glob("*.jsonl")):
        assert callable(poll) and poll() is None and time.monotonic() < deadline
        time.sleep(0.02)


def _command_lines() -> Iterator[tuple[int, str]]:
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdecimal():
                yield int(entry.name), (entry / "cmdline").read_bytes().decode(errors="replace")
