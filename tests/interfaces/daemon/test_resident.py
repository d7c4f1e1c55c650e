"""The process that a search leaves behind: one for a user, never in the way, and gone when it is not used."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse.config import load_settings
from dowse.interfaces.daemon.command import Declined
from dowse.interfaces.daemon.open_indexes import _MAX_INDEXES, OpenIndexes
from dowse.watch import Maintainer
from dowse.write_lock import lock_holder
from interfaces.daemon.running import (
    ASK_ONLY,
    COMMAND,
    NOT_ANSWERED,
    QUESTION,
    ask,
    dowse,
    sockets,
    wait_for_answers,
)
from watch.running import until

from helpers import index_tree, processes_of, write_tree

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="processes are looked up in /proc"
)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Path]:
    """A cache of its own; no process is left behind."""
    yield tmp_path / "cache"
    for pid in processes(tmp_path):
        os.kill(pid, signal.SIGKILL)
    until(lambda: not processes(tmp_path))


@pytest.fixture
def around(cache: Path) -> dict[str, str]:
    """The environment of all commands of a test."""
    return {"DOWSE_CACHE_DIR": str(cache), "DOWSE_RESIDENT_MINUTES": "10"}


def processes(folder: Path) -> list[int]:
    """Return the resident processes that were started for a repository in a folder."""
    return processes_of("daemon.resident_process", folder)


def resident_pid(cache: Path) -> int:
    """Return the process that holds the lock."""
    pid = lock_holder(cache / "run" / "resident")
    assert pid
    return pid


def leave_one(root: Path, cache: Path, around: dict[str, str]) -> int:
    """Search, and return the process that stays, once it answers."""
    assert dowse(*QUESTION, cwd=root, **around).returncode == 0
    wait_for_answers(*QUESTION, cwd=root, **around)
    return resident_pid(cache)


def test_a_search_leaves_one_that_answers_alike_and_stop_ends_it(root, cache, around):
    expected = dowse(*QUESTION, "--no-daemon", cwd=root, **around)
    assert not processes(root)
    pid = leave_one(root, cache, around)
    found = ask(*QUESTION, cwd=root, **around)
    assert (found.returncode, found.stdout, found.stderr) == (0, expected.stdout, b"")
    assert f"process {pid}".encode() in dowse("status", cwd=root, **around).stdout
    assert dowse("stop", cwd=root, **around).stdout == f"stopped process {pid}\n".encode()
    until(lambda: not processes(root))
    assert sockets(cache) == []
    assert dowse("stop", cwd=root, **around).returncode == 1


def test_only_its_owner_can_reach_it_and_no_terminal_ends_it(root, cache, around):
    pid = leave_one(root, cache, around)
    (place,) = sockets(cache)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    assert os.getsid(pid) == pid
    assert os.readlink(f"/proc/{pid}/cwd") == "/"


def test_searches_at_once_leave_one(root, cache, around):
    dowse("index", cwd=root, **around)
    environment = {**os.environ, **around}
    started = [
        subprocess.Popen([*COMMAND, *QUESTION], cwd=root, env=environment, stdout=subprocess.PIPE)
        for _ in range(4)
    ]
    assert len({process.communicate(timeout=300)[0] for process in started}) == 1
    wait_for_answers(*QUESTION, cwd=root, **around)
    until(lambda: len(processes(root)) == 1)


@pytest.mark.large
def test_the_same_one_answers_in_other_repositories(root, cache, around, tmp_path):
    pid = leave_one(root, cache, around)
    other = write_tree(tmp_path / "other", {"b.py": "def alpha_of_another():\n    return 2\n"})
    assert dowse(*QUESTION, cwd=other, **around).returncode == 0  # it has no index: the command makes one
    assert b"alpha_of_another" in ask(*QUESTION, cwd=other, **around).stdout
    assert resident_pid(cache) == pid and len(processes(tmp_path)) == 1


def test_it_notices_changed_files_settings_and_a_deleted_index(root, cache, around):
    leave_one(root, cache, around)
    (root / "b.py").write_text("def beta():\n    return alpha()\n")
    assert b"beta" in ask("search", "beta", cwd=root, **around).stdout
    (root / ".dowse.toml").write_text("top_k = 1\n")
    assert ask("search", "alpha beta return", cwd=root, **around).stdout.count(b".py:") == 1
    (index,) = (cache / "indexes").iterdir()
    shutil.rmtree(index)
    assert ask(*QUESTION, cwd=root, **around).returncode == NOT_ANSWERED
    assert b"indexing" in dowse(*QUESTION, cwd=root, **around).stderr
    assert b"alpha" in ask(*QUESTION, cwd=root, **around).stdout


def test_a_killed_one_is_replaced(root, cache, around):
    pid = leave_one(root, cache, around)
    os.kill(pid, signal.SIGKILL)
    until(lambda: not processes(root))
    assert len(sockets(cache)) == 1  # nobody listens there any more
    assert leave_one(root, cache, around) != pid


def test_one_that_is_killed_while_it_answers_costs_no_answer(root, cache, around):
    expected = dowse(*QUESTION, "--no-daemon", cwd=root, **around).stdout
    for _ in range(3):
        pid = leave_one(root, cache, around)
        os.kill(pid, signal.SIGSTOP)
        environment = {**os.environ, **around}
        client = subprocess.Popen([*COMMAND, *QUESTION], cwd=root, env=environment, stdout=subprocess.PIPE)
        os.kill(pid, signal.SIGKILL)
        assert client.communicate(timeout=300)[0] == expected and client.returncode == 0
        until(lambda gone=pid: gone not in processes(root))


@pytest.mark.large
def test_one_that_does_not_answer_is_not_waited_for(root, cache, around):
    pid = leave_one(root, cache, around)
    os.kill(pid, signal.SIGSTOP)
    assert ask(*QUESTION, cwd=root, **around).returncode == NOT_ANSWERED
    assert dowse(*QUESTION, cwd=root, **around).returncode == 0
    assert processes(root) == [pid]  # it lives, so there is no second one
    os.kill(pid, signal.SIGCONT)
    wait_for_answers(*QUESTION, cwd=root, **around)


def test_it_ends_when_nobody_asks(root, cache, around):
    around["DOWSE_RESIDENT_MINUTES"] = "0.005"
    assert dowse(*QUESTION, cwd=root, **around).returncode == 0
    until(lambda: not processes(root))
    assert sockets(cache) == []


def test_it_ends_when_the_user_switches_it_off(root, cache, around, tmp_path):
    settings = tmp_path / "config.toml"
    del around["DOWSE_RESIDENT_MINUTES"]
    around["DOWSE_CONFIG"] = str(settings)
    unset = {**around, "DOWSE_RESIDENT_MINUTES": ""}
    leave_one(root, cache, unset)
    settings.write_text("resident_minutes = 0\n")
    assert ask(*QUESTION, cwd=root, **unset).returncode == NOT_ANSWERED
    until(lambda: not processes(root))


def test_a_repository_can_not_switch_it_on(root, cache, around, tmp_path):
    settings = tmp_path / "config.toml"
    settings.write_text("resident_minutes = 0\n")
    (root / ".dowse.toml").write_text("resident_minutes = 600\n")
    environment = {**around, "DOWSE_RESIDENT_MINUTES": "", "DOWSE_CONFIG": str(settings)}
    found = dowse(*QUESTION, cwd=root, **environment)
    assert found.returncode == 0 and b"ignored resident_minutes" in found.stderr
    assert not processes(root) and sockets(cache) == []


@pytest.mark.large
def test_other_environments_are_not_answered_and_get_one_of_their_own(root, cache, around):
    leave_one(root, cache, around)
    assert ask(*QUESTION, "--no-daemon", cwd=root, **around).returncode == NOT_ANSWERED
    assert ask(*QUESTION, cwd=root, **around, DOWSE_TOP_K="3").returncode == NOT_ANSWERED
    until(lambda: not processes(root))
    leave_one(root, cache, {**around, "DOWSE_TOP_K": "3"})


def test_another_version_is_not_answered_and_ends_it(root, cache, around):
    leave_one(root, cache, around)
    program = f"import dowse.version; dowse.version.__version__ = '9.9'\n{ASK_ONLY}"
    found = subprocess.run(
        [sys.executable, "-c", program, *QUESTION], cwd=root, env={**os.environ, **around}, check=False
    )
    assert found.returncode == NOT_ANSWERED
    until(lambda: not processes(root))


def test_few_indexes_are_open_at_once(tmp_path, monkeypatch):
    monkeypatch.setenv("DOWSE_RESIDENT_MINUTES", "10")
    warm = OpenIndexes(Maintainer())
    built = [index_tree(tmp_path / f"r{i}", {"a.py": f"def f{i}(): ...\n"}) for i in range(_MAX_INDEXES + 2)]

    def opened(number: int) -> object:
        index = built[number]
        folder = index.backend.address
        return warm.open(index.root, folder, load_settings(index.root, index_dir=folder))

    first = opened(0)
    assert opened(0) is first
    for number in range(1, len(built)):
        opened(number)
    assert len(warm._indexes) == _MAX_INDEXES
    assert first.search("f0").hits  # who has it goes on
    assert opened(0) is not first


def test_models_and_clusters_of_others_are_not_served(tmp_path, monkeypatch):
    monkeypatch.setenv("DOWSE_RESIDENT_MINUTES", "10")
    index = index_tree(tmp_path / "r", {"a.py": "def f(): ...\n"})
    settings = load_settings(index.root, encoder=str(tmp_path / "model"))
    with pytest.raises(Declined):
        OpenIndexes(Maintainer()).open(index.root, index.backend.address, settings)
