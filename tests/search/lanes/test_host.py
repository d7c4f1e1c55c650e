"""Lanes in processes that do what they should: answers, start, end, and nothing left behind."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from dowse import Index
from dowse.query.ast import with_exact_words
from dowse.query.parser import parse_query
from dowse.search.lanes.bm25 import keyword_lane
from dowse.search.lanes.host import LaneHost
from dowse.search.lanes.jobs import LaneJob
from search.lanes.asking import ECHO, KEYWORD, LONG, gone, wait_for

from helpers import write_tree


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_a_process_answers_as_this_one_would(make_host, reader):
    constraint = with_exact_words(parse_query("bread lang:python -path:vendor/** kind:function"))
    filtered = LaneJob("keyword", {**KEYWORD.arguments, "constraint": constraint})
    plain, narrow, echo = make_host().run(reader, [KEYWORD, filtered, ECHO], LONG)
    assert (plain.problem, narrow.problem, echo.problem) == ("", "", "")
    assert plain.result == keyword_lane(reader, **KEYWORD.arguments)
    assert narrow.result == keyword_lane(reader, **filtered.arguments)
    assert narrow.result.rows and len(narrow.result.rows) < len(plain.result.rows)
    assert echo.result[1] == ECHO.arguments and echo.milliseconds > 0


def test_many_threads_each_get_their_own_answer(make_host, reader):
    host = make_host()

    def ask(number: int) -> object:
        (outcome,) = host.run(
            reader, [LaneJob("echo", {"number": number, "filler": "x" * number * 100})], LONG
        )
        return outcome.result[1]["number"]

    with ThreadPoolExecutor(50) as pool:
        assert list(pool.map(ask, range(300))) == list(range(300))
    assert len(host.pids()) == 1


def test_nothing_starts_before_it_is_needed_and_warm_waits_for_nothing(make_host, reader):
    before = threading.active_count()
    host = make_host()
    assert host.pids() == {} and threading.active_count() == before
    host.warm("keyword", "echo")
    (outcome,) = host.run(reader, [ECHO], LONG)
    assert not outcome.problem
    wait_for(lambda: set(host.pids()) == {"keyword", "echo"})
    host.warm("echo")  # it is there already
    assert host.run(reader, [ECHO], LONG)[0].result[0] == outcome.result[0]


def test_a_process_started_before_the_index_was_made(tmp_path, make_host):
    root = write_tree(tmp_path / "code", {"a.py": "def bread(): ...\n"})
    with Index.open(root, index_dir=str(tmp_path / "i")) as index:
        host = make_host(index)
        host.warm("keyword")
        index.update()
        with index.backend.reader() as reader:
            (outcome,) = host.run(reader, [KEYWORD], LONG)
    assert len(outcome.result.rows) == 1


def test_the_keyword_process_loads_no_more_than_it_needs(make_host, reader):
    host = make_host(modules="search.lanes.faults:modules_of_keyword")
    (outcome,) = host.run(reader, [LaneJob("modules", KEYWORD.arguments)], LONG)
    unwanted = {
        "numpy",
        "onnxruntime",
        "tokenizers",
        "re2",
        "tree_sitter",
        "multiprocessing",
        "subprocess",
        "asyncio",
    }
    assert "tantivy" in outcome.result and not unwanted & set(outcome.result)


def test_ctrl_c_is_not_for_the_processes(make_host, reader):
    host = make_host()
    host.warm("echo")
    wait_for(host.pids)  # not longer: Python itself is still starting
    pid = host.pids()["echo"]
    for _ in range(3):
        os.kill(pid, signal.SIGINT)
        assert host.run(reader, [ECHO], LONG)[0].result[0] == pid


def test_closing_ends_everything_and_the_host_can_start_again(make_host, reader):
    host = make_host()
    host.run(reader, [ECHO], LONG)
    host.close()
    files, threads = open_files(), threading.active_count()
    (outcome, _) = host.run(reader, [ECHO, KEYWORD], LONG)
    pids = host.pids()
    assert len(pids) == 2 and outcome.result[0] == pids["echo"]
    host.close()
    assert all(gone(pid) for pid in pids.values())
    assert (open_files(), threading.active_count()) == (files, threads)
    assert host.pids() == {}
    host.close()


def test_closing_ends_processes_that_are_still_starting(make_host, monkeypatch):
    monkeypatch.setenv("FAULTY_START", "hang")
    host = make_host(faulty="search.lanes.faulty_start:any")
    host.warm("faulty")
    wait_for(host.pids)
    (pid,) = host.pids().values()
    host.close()
    assert gone(pid)


def test_a_host_that_nobody_holds_ends_its_processes(sample_index, reader):
    host = LaneHost(sample_index.backend.address, sample_index.settings)
    host.run(reader, [KEYWORD], LONG)
    (pid,) = host.pids().values()
    del host
    gc.collect()
    assert gone(pid)


def run_program(sample_index: Index, program: str) -> subprocess.Popen[str]:
    """Start a Python process with a host of its own, `jobs` for it and a reader."""
    setting = pickle.dumps((sample_index.backend.folder, sample_index.settings, KEYWORD))
    start = f"""
import sys; sys.path[:] = {sys.path!r}
import os, pickle, signal, threading
from dowse.storage.local.backend import LocalBackend
from dowse.search.lanes.host import LaneHost
from dowse.search.lanes.jobs import LaneJob
from dowse.search.lanes.jobs import LANES, Lane
folder, settings, keyword = pickle.loads({setting!r})
lanes = {{**LANES, "hang": Lane("search.lanes.faults:hang_holding_the_lock")}}
host = LaneHost(str(folder), settings, lanes)
held = LocalBackend(folder).reader()
reader = held.__enter__()
"""
    command = [sys.executable, "-c", start + program]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)


LIVES_ON = """
host.run(reader, [keyword], 60)
threading.Thread(target=host.run, args=(reader, [LaneJob("hang", {})], HANG), daemon=True).start()
host.run(reader, [LaneJob("hang", {})], 0.01)
while len(host.pids()) < 2: pass
print(*host.pids().values(), flush=True)
"""


@pytest.mark.parametrize("end", ["", "sys.exit(3)", "os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_processes_never_outlive_their_parent(sample_index, end):
    program = LIVES_ON.replace("HANG", "2") + end
    with run_program(sample_index, program) as parent:
        pids = [int(pid) for pid in parent.communicate(timeout=300)[0].split()]
    assert len(pids) == 2 and all(gone(pid) for pid in pids)
