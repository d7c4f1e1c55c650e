"""Errors of the system at calls of writers: one line and exit code 2, or the result; the index stays whole.

`bench/errno.py` does the same at all calls.
"""

from __future__ import annotations

import sys

import pytest

from dowse.interfaces.cli.main import exit_code
from errno_injection import Injection, calls_in, run, wrong_end
from index_writers import COMMANDS, WRITERS, Place, prepare, state

from helpers import large_from, need

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="by strace")
INJECTIONS = [
    ("dowse index", Injection("pwrite64", 12, "ENOSPC", True)),
    ("dowse log", Injection("pwrite64", 6, "EDQUOT", True)),
    ("dowse feedback", Injection("fdatasync", 1, "EIO", True)),
    ("first search", Injection("rename", 1, "EACCES", True)),
    ("dowse index", Injection("fsync", 3, "EIO", True)),
    ("search after changes", Injection("mkdir", 1, "EDQUOT", True)),
    ("dowse log", Injection("pwrite64", 40, "EFBIG")),
]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Place]:
    need("strace")
    with pytest.MonkeyPatch.context() as patch:
        keep_environment(patch)
        return prepare(tmp_path_factory.mktemp("places"))


def keep_environment(patch: pytest.MonkeyPatch) -> None:
    """Restore later what opening a place sets."""
    for name in ("DOWSE_CACHE_DIR", "DOWSE_DATA_DIR"):
        patch.setenv(name, "")


@pytest.mark.parametrize(("name", "injection"), large_from(4, INJECTIONS))
def test_a_call_that_fails(places, tmp_path, monkeypatch, name, injection):
    keep_environment(monkeypatch)
    command, start = COMMANDS[name]
    place = places[start].copy(tmp_path / "place")
    outcome = run(lambda: exit_code(lambda: command(place)), injection)
    assert outcome.injected and not wrong_end(outcome, outcome.output), outcome
    state(place)  # raises if anything is damaged


def test_a_commit_whose_sync_fails_leaves_one_generation_whole(places, tmp_path, monkeypatch):
    """SQLite calls it failed, but it is in the log, where the next process finds it."""
    keep_environment(monkeypatch)
    rebuild, start = WRITERS["rebuild"]

    def writer() -> int:
        return exit_code(lambda: rebuild(place) or 0)

    place = places[start].copy(tmp_path / "place")
    calls = calls_in(writer, tmp_path / "place/index/catalog.sqlite-wal")
    syncs = [number for call, number in calls if call == "fdatasync"]
    codes = []
    for number in syncs:
        place = places[start].copy(tmp_path / "place")
        codes.append(run(writer, Injection("fdatasync", number, "EIO")).code)
        state(place)
    assert 2 in codes
