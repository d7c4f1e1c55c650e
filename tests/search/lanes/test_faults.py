"""Lanes that raise, hang, crash and vanish, in real processes: the others answer, and in time."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.errors import DowseError
from dowse.search.lanes import lane_queue
from dowse.search.lanes.bm25 import keyword_lane
from dowse.search.lanes.host import LaneHost
from dowse.search.lanes.jobs import Lane, LaneJob
from search.lanes.asking import ECHO, KEYWORD, LONG, wait_for

from helpers import large_from

QUERIES = 50
# The limit of queries with a lane that never answers; the healthy lanes need milliseconds of it.
LIMIT = 2.0
# No lane that hangs would let go by itself before this.
FOREVER = 600.0

HANGS = ("hang_asleep", "hang_holding_the_lock", "hang_spinning", "hang_blocking_signals", "stop")
# What a lane does, and what is said of it (before a rest).
DEATHS = {
    "leave": "ended unexpectedly (exit code 3)",
    "crash": "ended unexpectedly (SIGSEGV)",
    "not_readable": "its process sent what can't be used (a message can't be read",
}
ERRORS = {
    "raise_error": "RuntimeError: boom",
    "not_picklable": "Can't pickle",
    "too_large": "a message of 64 MB is too large",
}


def fault(name: str) -> dict[str, str]:
    return {"bad": f"search.lanes.faults:{name}"}


BAD = LaneJob("bad", {})


@pytest.mark.parametrize("name", large_from(2, HANGS))
def test_a_lane_that_hangs_is_left_out_and_its_process_ended(make_host, reader, name):
    host = make_host(**fault(name))
    host.warm("bad")
    expected = keyword_lane(reader, **KEYWORD.arguments)
    host.run(reader, [KEYWORD], LONG)
    started = time.monotonic()
    keyword, bad = host.run(reader, [KEYWORD, BAD], LIMIT)
    assert time.monotonic() - started < FOREVER
    assert keyword.result == expected and not keyword.problem
    assert bad.result is None and bad.problem == "bad: no answer within 2 s"


@pytest.mark.parametrize(("name", "said"), [*DEATHS.items(), *ERRORS.items()])
def test_a_lane_that_fails_is_told_at_once(make_host, reader, name, said, caplog):
    host = make_host(**fault(name))
    with caplog.at_level(logging.WARNING, "dowse.search.lanes"):
        bad, keyword = host.run(reader, [BAD, KEYWORD], FOREVER)
    assert bad.problem.startswith("bad: ") and said in bad.problem and "\n" not in bad.problem
    assert bad.result is None and bad.error is None
    assert keyword.result.rows and not keyword.problem
    assert [record.message for record in caplog.records] == [bad.problem]


def test_processes_killed_from_outside_under_fifty_queries(make_host, reader):
    host = make_host()
    host.run(reader, [KEYWORD, ECHO], LONG)
    expected = keyword_lane(reader, **KEYWORD.arguments)
    over = threading.Event()

    def kill() -> int:
        killed = 0
        while not over.is_set() or not killed:
            pid = host.pids().get("echo")
            if pid:
                with contextlib.suppress(ProcessLookupError):  # gone meanwhile
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
        return killed

    def ask(number: int) -> list[object]:
        return host.run(reader, [KEYWORD, LaneJob("echo", {"number": number})], LONG)

    with ThreadPoolExecutor(QUERIES + 1) as pool:
        killer = pool.submit(kill)
        answers = list(pool.map(ask, range(2 * QUERIES)))
        over.set()
        assert killer.result()
    for number, (keyword, echo) in enumerate(answers):
        assert (keyword.problem, keyword.result) == ("", expected)
        assert echo.result[1]["number"] == number if echo.result else echo.problem.startswith("echo: ")


def test_a_process_killed_between_questions_costs_nothing(make_host, reader):
    host = make_host()
    (before,) = host.run(reader, [ECHO], LONG)
    for _ in range(2 * lane_queue.MAX_DEATHS):
        pid = host.pids()["echo"]
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not host.pids())
        (after,) = host.run(reader, [ECHO], LONG)
        assert not after.problem and after.result[1] == before.result[1] and after.result[0] != pid


def test_mistakes_of_the_user_come_back_as_they_were_raised(make_host, reader):
    host = make_host(bad="search.lanes.faults:mistake", query="search.lanes.faults:wrong_query")
    bad, query = host.run(reader, [BAD, LaneJob("query", {})], LONG)
    assert isinstance(bad.error, DowseError) and str(bad.error) == "no such thing; name another"
    assert bad.problem == "bad: no such thing; name another"
    assert query.error.position == 7 and query.problem == "query: unbalanced"


@settings(max_examples=8)
@given(kinds=st.lists(st.sampled_from(["answer", "answer", "raise", "leave"]), min_size=1, max_size=12))
def test_each_job_gets_what_it_asked_for_whatever_the_others_do(sample_index, kinds):
    lanes = {"bad": Lane("search.lanes.faults:as_told")}
    host = LaneHost(sample_index.backend.address, sample_index.settings, lanes)
    jobs = [LaneJob("bad", {"kind": kind, "number": number}) for number, kind in enumerate(kinds)]
    with pytest.MonkeyPatch.context() as patch, sample_index.backend.reader() as reader:
        patch.setattr(lane_queue, "MAX_DEATHS", len(kinds) + 1)  # no rest
        outcomes = host.run(reader, jobs, LONG)
        host.close()
    said = {"leave": "bad: its process ended unexpectedly (exit code 3)"}
    for number, (kind, outcome) in enumerate(zip(kinds, outcomes, strict=True)):
        assert outcome.result == (number if kind == "answer" else None)
        said["raise"], said["answer"] = f"bad: RuntimeError: {number}", ""
        assert outcome.problem == said[kind]


def test_jobs_behind_one_that_hangs_go_to_the_next_process(make_host, reader, tmp_path):
    host = make_host(**fault("hang_if"))
    (first,) = host.run(reader, [LaneJob("bad", {"hang": False})], LONG)
    note = tmp_path / "ran"
    with ThreadPoolExecutor(3) as pool:
        hung = pool.submit(host.run, reader, [LaneJob("bad", {"hang": True})], 0.5)
        (late,) = hung.result()
        # The process still has its grace, or is being replaced: this one waits, and nobody waits for it.
        (dead,) = host.run(reader, [LaneJob("bad", {"hang": False, "note": str(note)})], 0.0)
        (good,) = host.run(reader, [LaneJob("bad", {"hang": False})], LONG)
    assert late.problem == "bad: no answer within 0.5 s"
    assert dead.problem and not note.exists()
    assert not good.problem and good.result != first.result


def test_a_lane_that_keeps_dying_rests_and_comes_back(make_host, reader, tmp_path, monkeypatch):
    flag = tmp_path / "flag"
    flag.touch()
    host = make_host(**fault("leave_while"))
    job = LaneJob("bad", {"flag": str(flag)})
    problems = [host.run(reader, [job], LONG)[0].problem for _ in range(lane_queue.MAX_DEATHS + 1)]
    died = "bad: its process ended unexpectedly (exit code 3)"
    assert problems[:-1] == [died] * lane_queue.MAX_DEATHS
    assert problems[-1] == (
        "bad: circuit breaker open after repeated failures (its process ended unexpectedly (exit code 3))"
    )
    assert host.pids() == {}
    # A host with no rest at all is like one whose rest is over.
    monkeypatch.setattr(lane_queue, "OPEN_SECONDS", 0.0)
    host = make_host(**fault("leave_while"))
    for _ in range(lane_queue.MAX_DEATHS + 1):
        assert host.run(reader, [job], LONG)[0].problem == died
    flag.unlink()
    assert host.run(reader, [job], LONG)[0].result == "alive"


def test_a_lane_that_cannot_start_is_tried_a_few_times_for_all_queries(make_host, reader, monkeypatch):
    monkeypatch.setenv("FAULTY_START", "leave")
    host = make_host(bad="search.lanes.faulty_start:any")
    with ThreadPoolExecutor(QUERIES) as pool:
        answers = list(pool.map(lambda _: host.run(reader, [BAD], LONG), range(QUERIES)))
    said = "bad: circuit breaker open after repeated failures (its process ended unexpectedly (exit code 4))"
    assert {outcome.problem for (outcome,) in answers} == {said}


def test_a_start_that_takes_longer_than_an_answer_costs_no_answer(make_host, reader, tmp_path, monkeypatch):
    """A lane whose model loads for longer than the time limit answers, and then has its whole limit."""
    release = tmp_path / "release"
    monkeypatch.setenv("FAULTY_START", str(release))
    host = make_host(bad="search.lanes.faulty_start:any")
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(host.run, reader, [BAD, KEYWORD], LIMIT)
        (echo,) = host.run(reader, [ECHO], LIMIT)
        assert not echo.problem
        assert not wait([slow], timeout=LIMIT).done  # a limit from the moment of the question would be over
        release.touch()
        bad, keyword = slow.result()
    assert (bad.problem, bad.result, keyword.problem) == ("", "started", "")
