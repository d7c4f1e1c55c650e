"""Supervised processes: real ones that answer, hang, crash and are replaced."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from dowse.workers.supervisor import Cause, CircuitBreaker, Supervisor, WorkerDied

LONG = 60.0
# A worker that evaluates the expressions it gets.
EVALUATE = f"""
import sys; sys.path[:] = {sys.path!r}
import os, signal, time
from dowse.workers.child import READY, Channel, time_limit
channel = Channel()
setup = channel.receive()
channel.send(READY)
while True:
    expression = channel.receive()
    # Little wall time for those that sleep, little CPU time for the others: the machine may be busy.
    with time_limit(0.3 if "sleep" in expression else 60, 0.1):
        value = eval(expression)
    channel.send(value)
"""


@pytest.fixture
def worker():
    """A worker process that evaluates expressions."""
    worker = Supervisor(EVALUATE)
    yield worker
    worker.discard()


def test_a_process_is_started_on_demand_and_kept(worker):
    assert worker.pid is None and not worker.send("1")
    worker.start("the setup")
    pid = worker.pid
    worker.start("the setup")
    assert worker.exchange("setup, os.getpid()", LONG) == ("the setup", pid)


@pytest.mark.parametrize(
    ("expression", "cause", "detail"),
    [
        ("time.sleep(60)", Cause.WALL_TIME, ""),
        ("sum(iter(int, 1))", Cause.CPU_TIME, ""),
        ("os.kill(os.getpid(), signal.SIGSEGV)", Cause.CRASH, "SIGSEGV"),
        ("os._exit(3)", Cause.CRASH, "exit code 3"),
        ("channel.send_frame(b'x' * 99)", Cause.PROTOCOL, "a message is too large"),
    ],
)
def test_the_cause_of_a_death_is_known_and_the_process_replaced(worker, expression, cause, detail):
    worker.start(None)
    first = worker.pid
    with pytest.raises(WorkerDied) as died:
        worker.exchange(expression, LONG)
    assert (died.value.cause, died.value.detail) == (cause, detail)
    worker.start(None)
    assert worker.exchange("1 + 1", LONG) == 2 and worker.pid != first


def test_a_process_that_ignores_its_timer_is_killed_at_the_deadline(worker):
    worker.start(None)
    os.kill(worker.pid, signal.SIGSTOP)
    with pytest.raises(WorkerDied, match=r"hung, and was ended \(after 0.1 s\)"):
        worker.exchange("1", 0.1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="by a device of Linux")
def test_a_process_that_cannot_be_written_to_is_ended(worker):
    """It waits for the rest of a message; so would its parent for the reply."""
    worker.start(None)
    kept = os.dup(worker._stdin)  # the pipe stays open: its end is not what ends the process
    with open("/dev/full", "wb") as full:
        os.dup2(full.fileno(), worker._stdin)
    assert not worker.send("1 + 1")
    with pytest.raises(WorkerDied) as died:
        worker.receive(LONG)
    assert died.value.detail == "SIGKILL"
    os.close(kept)


def test_a_process_that_cannot_start_tells_why():
    worker = Supervisor("raise ImportError('no such module')", quiet=True)
    with pytest.raises(WorkerDied) as died:
        worker.start(None)
    assert (died.value.cause, died.value.detail) == (Cause.NOT_STARTED, "ImportError: no such module")
    assert not worker.is_ready
    worker.discard()


def test_a_stopped_supervisor_starts_no_process(worker):
    worker.start(None)
    worker.stop()
    with pytest.raises(WorkerDied):
        worker.exchange("1", LONG)
    with pytest.raises(WorkerDied, match="was stopped"):
        worker.start(None)
    assert worker.pid is None


def test_a_circuit_breaker_opens_after_deaths_in_a_row_and_longer_each_time():
    breaker = CircuitBreaker(2, 100.0, 300.0)
    breaker.record_death()
    breaker.record_success()
    breaker.record_death()
    assert breaker.remaining_seconds == 0
    for seconds in (100, 200, 300, 300):
        breaker.record_death()
        assert breaker.remaining_seconds == pytest.approx(seconds, abs=5)
