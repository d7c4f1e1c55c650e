"""Indexing on a real Ray cluster of two nodes into a real Elasticsearch cluster."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dowse import Index
from dowse.storage.elastic.backend import ElasticBackend
from ingest.common import ENCODER, SECONDS, everything, finish, indexed_plainly, run, start
from ingest.conftest import RayCluster, make_repository
from storage.elastic_fixtures import MakeElastic
from storage.secured_fixtures import Secured

from helpers import image

SECRET = "c2VjcmV0OnRoYXQtbm9ib2R5LW1heS1sb2c="


@pytest.fixture(scope="session")
def plain(depot: list[Path], make_elastic: MakeElastic) -> dict[str, object]:
    """What plain `dowse index` makes of the repositories."""
    return indexed_plainly(make_elastic().address, depot)


@pytest.fixture
def address(make_elastic: MakeElastic) -> str:
    """A new index, for the command."""
    return make_elastic().address


def _until(found: Callable[[], object]) -> object:
    """Wait for something to be there."""
    deadline = time.monotonic() + SECONDS
    while not (seen := found()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return seen


def _workers_doing(task: str) -> list[int]:
    """Return the processes that Ray names after what they do."""
    return [pid for pid, line in _command_lines() if line.split(" ")[0] == f"ray::{task}"]


def _command_lines() -> Iterator[tuple[int, str]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            yield int(entry.name), line


def _report(out: str) -> dict[str, list[str]]:
    said = json.loads(out)
    return {
        name: [Path(each["path"]).name for each in said[name]] for name in ("done", "unchanged", "failed")
    }


def test_a_killed_run_resumes_and_its_index_equals_that_of_single_runs(
    ray_cluster: RayCluster, depot: list[Path], plain: dict[str, object], address: str, tmp_path: Path
) -> None:
    ray_cluster.forget()
    listed = tmp_path / "list.txt"
    listed.write_text(f"# the depot\n\n{depot[0]}\n  {depot[1]}\n{tmp_path}/gone\n{depot[2]}\n{depot[0]}\n")
    flags = ("--workers", ray_cluster.workers, "--backend", address, "--encoder", ENCODER)
    arguments = ("index", *flags, "--json", "--list", listed)
    environment = {"DOWSE_CACHE_DIR": str(tmp_path / "cache"), "DOWSE_ELASTIC_API_KEY": SECRET}
    process = start(*arguments, **environment)

    _until(lambda: process.poll() is not None or ElasticBackend(address).has_generation())
    process.kill()
    finish(process)
    code, out, errors = run(*arguments, **environment)
    assert code == 2
    assert errors == f"dowse: {tmp_path}/gone: {tmp_path}/gone does not exist\n"
    report = _report(out)
    assert report["unchanged"] and report["failed"] == ["gone"]
    assert sorted(report["done"] + report["unchanged"]) == ["attic", "cellar", "yard"]
    assert everything(address, depot[0]) == plain
    # Not in any log of Ray, nor in what the runs left behind.
    for folder in (ray_cluster.folder, tmp_path):
        files = [file for file in folder.rglob("*") if file.is_file()]
        assert [file for file in files if SECRET.encode() in file.read_bytes()] == []


def test_tasks_of_dead_workers_are_retried(
    ray_cluster: RayCluster, depot: list[Path], plain: dict[str, object], make_elastic: MakeElastic
) -> None:
    for _ in range(5):  # a run may be over before anybody can be killed
        address, killed = make_elastic().address, []
        ray_cluster.forget()
        flags = ("--workers", ray_cluster.workers, "--backend", address, "--encoder", ENCODER)
        process = start("index", *flags, "--json", *depot)
        for task in ("index_task", "encode_task"):
            _until(lambda task=task, process=process: process.poll() is not None or _workers_doing(task))
            with contextlib.suppress(IndexError, ProcessLookupError):
                os.kill(_workers_doing(task)[0], signal.SIGKILL)
                killed.append(task)
        code, out, errors = finish(process)
        assert (code, errors) == (0, "")
        assert _report(out)["done"] == ["attic", "cellar", "yard"]
        assert everything(address, depot[0]) == plain
        if len(killed) == 2:
            assert sum(each["encoded"] for each in json.loads(out)["done"]) > 0
            return
    raise AssertionError("every run was over before a worker could be killed")


@pytest.mark.large
def test_local_workers_are_started_and_stopped(depot: list[Path], tmp_path: Path) -> None:
    pytest.importorskip("ray")
    place = tempfile.mkdtemp(prefix="ray-")  # short, for names of sockets must be
    cache = {"DOWSE_CACHE_DIR": str(tmp_path / "cache"), "RAY_TMPDIR": place}
    code, out, errors = run(
        "index", "--workers", "local:2", "--encoder", ENCODER, "--json", *depot[:2], **cache
    )
    assert (code, errors) == (0, "")
    assert _report(out)["done"] == ["attic", "cellar"]
    assert list(Path(place).iterdir())  # there it was,
    _until(lambda: not [pid for pid, line in _command_lines() if place in line])  # and nothing of it runs
    shutil.rmtree(place)
    for root in depot[:2]:
        alone = Index.open(root, index_dir=str(tmp_path / root.name), encoder=ENCODER)
        alone.update()
        together = Index.open(root, index_dir=str(_folder_of(tmp_path / "cache", root)), encoder=ENCODER)
        assert image(together) == image(alone)
        assert together.vectors.missing() == 0


def _folder_of(cache: Path, root: Path) -> Path:
    (found,) = (cache / "indexes").glob(f"{root.name}-*")
    return found


@pytest.mark.large
def test_unreachable_workers_are_reported_in_one_line(depot: list[Path], address: str) -> None:
    pytest.importorskip("ray")
    code, out, errors = run("index", "--workers", "ray://127.0.0.1:1", "--backend", address, *depot)
    assert (code, out) == (2, ""), errors
    assert "no Ray cluster answers at ray://127.0.0.1:1" in errors
    assert errors.count("\n") == 1


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
    backend = secured.backend(index_name, key=key)
    _until(lambda: process.poll() is not None or backend.has_generation())
    assert process.poll() is None
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
    report = _report(out)
    assert report["unchanged"] and sorted(report["done"] + report["unchanged"]) == sorted(sizes)
    assert secured.backend(index_name, key=key).check() == []
