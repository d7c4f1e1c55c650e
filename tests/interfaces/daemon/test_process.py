"""Warm processes come when they are asked for, go without a trace, and are never trusted blindly."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dowse.interfaces.daemon.client import SOCKET
from dowse.interfaces.daemon.frames import ACCEPTED, EXIT, OUTPUT, pack
from dowse.runtime_paths import socket_address
from dowse.write_lock import lock_holder
from interfaces.daemon.running import NOT_ANSWERED, QUESTION, ask, dowse, running, sockets, wait_for_answers

from helpers import write_tree

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="processes are looked up in /proc"
)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache of its own, at a path that is too long for the address of a socket."""
    return tmp_path / ("c" * 80)


@pytest.fixture
def around(cache: Path) -> dict[str, str]:
    """The environment of all commands of a test."""
    return {"DOWSE_CACHE_DIR": str(cache)}


def children(pid: int) -> list[int]:
    """Return the processes that a process has started, and theirs."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")  # each thread has those that it started
    found = [child for task in tasks for child in task.read_text().split()]
    return [each for child in map(int, found) for each in (child, *children(child))]


def test_without_a_warm_process_commands_start_nothing_that_stays(root, cache, around):
    assert dowse(*QUESTION, cwd=root, **around).returncode == 0
    assert sockets(cache) == []
    assert ask(*QUESTION, cwd=root, **around).returncode == NOT_ANSWERED


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_the_end_leaves_no_socket_and_no_process(root, cache, around, end):
    with running("watch", cwd=root, ready="watching", **around) as process:
        wait_for_answers(*QUESTION, cwd=root, **around)
        started = children(process.pid)
        assert started
        process.send_signal(end)
        assert process.wait(30) == 0
    assert sockets(cache) == []
    assert not any(Path(f"/proc/{pid}").exists() for pid in started)


def test_only_the_owner_can_ask(root, cache, around):
    with running("watch", cwd=root, ready="watching", **around):
        wait_for_answers(*QUESTION, cwd=root, **around)
        (place,) = sockets(cache)
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
        assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
        place.parent.chmod(0o777)  # somebody else might have put the socket there
        assert ask(*QUESTION, cwd=root, **around).returncode == NOT_ANSWERED


def test_a_second_watch_leaves_the_answers_to_the_first(root, cache, around, tmp_path):
    other = write_tree(tmp_path / "other", {"b.py": "def alpha_of_another():\n    return 2\n"})
    with running("watch", cwd=root, ready="watching", **around):
        wait_for_answers(*QUESTION, cwd=root, **around)
        with running("watch", cwd=other, ready="watching", **around):
            assert b"alpha_of_another" in ask(*QUESTION, cwd=other, **around).stdout
            assert len(sockets(cache)) == 1
        assert ask(*QUESTION, cwd=other, **around).returncode == 0


def test_watch_takes_the_place_of_the_resident_process(root, cache, around):
    environment = {**around, "DOWSE_RESIDENT_MINUTES": "10"}
    dowse(*QUESTION, cwd=root, **environment)
    wait_for_answers(*QUESTION, cwd=root, **environment)
    with running("watch", cwd=root, ready="watching", **environment) as process:
        wait_for_answers(*QUESTION, cwd=root, **environment)
        assert lock_holder(cache / "run" / "resident") == process.pid
        stopped = dowse("stop", cwd=root, **environment)  # who started it ends it
        assert stopped.returncode == 2 and f"end it with `kill {process.pid}`".encode() in stopped.stderr


@contextlib.contextmanager
def impostor(cache: Path, answer: Callable[[socket.socket], None]) -> Iterator[None]:
    """Listen where a warm process would."""
    (cache / "run").mkdir(mode=0o700, parents=True, exist_ok=True)
    place = cache / "run" / SOCKET
    place.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listening:
        address, handle = socket_address(str(place))
        listening.bind(address)
        os.close(handle)
        listening.listen()

        def serve() -> None:
            with contextlib.suppress(OSError):
                line, _ = listening.accept()
                with line:
                    line.recv(1 << 16)
                    answer(line)

        thread = threading.Thread(target=serve)
        thread.start()
        yield
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


HALF_ANSWERS = (
    b"",
    b"N",
    b"?",
    ACCEPTED,
    ACCEPTED + b"\0\0",
    ACCEPTED + pack([OUTPUT + b"half an answer"]),
    ACCEPTED + pack([OUTPUT + b"x", EXIT + b"0"])[:-3],
)


def test_half_an_answer_is_none(root, cache, around):
    dowse("index", cwd=root, **around)
    expected = dowse(*QUESTION, cwd=root, **around)
    for said in HALF_ANSWERS:
        with impostor(cache, lambda line, said=said: line.sendall(said)):
            found = dowse(*QUESTION, cwd=root, **around)
        assert (found.returncode, found.stdout, found.stderr) == (0, expected.stdout, expected.stderr), said


@pytest.mark.large
def test_one_who_hears_and_says_nothing_is_left_alone(root, cache, around):
    dowse("index", cwd=root, **around)
    expected = dowse(*QUESTION, cwd=root, **around)
    done = threading.Event()
    with impostor(cache, lambda _: done.wait(30) and None):
        found = dowse(*QUESTION, cwd=root, **around)
        done.set()
    assert (found.returncode, found.stdout) == (0, expected.stdout)


_STOPS = """
import os, signal, socket, sys
os.chdir(sys.argv[1])
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[2])
listener.listen()
print(flush=True)
line, _ = listener.accept()
line.sendall(sys.argv[3].encode())
os.kill(os.getpid(), signal.SIGSTOP)
"""


def test_one_that_is_stopped_while_it_answers_costs_no_answer(root, cache, around):
    dowse("index", cwd=root, **around)
    expected = dowse(*QUESTION, cwd=root, **around)
    (cache / "run").mkdir(mode=0o700, exist_ok=True)
    program = [sys.executable, "-c", _STOPS, cache / "run", SOCKET, ACCEPTED.decode()]
    with subprocess.Popen(program, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = dowse(*QUESTION, cwd=root, **around)
        process.kill()
    assert (found.returncode, found.stdout) == (0, expected.stdout)


@pytest.mark.large
def test_nonsense_does_not_end_it(root, cache, around):
    nonsense = (b"", b"\xff" * 8, b"\0\0\0\x04\0\0\0\x09", pack([b"another version"] * 9))
    with running("watch", cwd=root, ready="watching", **around):
        wait_for_answers(*QUESTION, cwd=root, **around)
        for sent in nonsense:
            refused(cache, sent)
        assert ask(*QUESTION, cwd=root, **around).returncode == 0


def refused(cache: Path, sent: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as line:
        address, handle = socket_address(str(sockets(cache)[0]))
        line.connect(address)
        os.close(handle)
        line.sendall(sent)
        line.shutdown(socket.SHUT_WR)
        assert line.recv(10) == b"N"


def test_the_way_to_a_warm_process_loads_next_to_nothing(root, cache, around):
    program = """import atexit, sys
before = set(sys.modules)
atexit.register(lambda: print(*sorted(set(sys.modules) - before), file=sys.stderr, flush=True))
from dowse.entry import main
sys.exit(main())"""
    with running("watch", cwd=root, ready="watching", **around):
        wait_for_answers(*QUESTION, cwd=root, **around)
        found = subprocess.run(
            [sys.executable, "-c", program, *QUESTION],
            cwd=root,
            env={**os.environ, **around},
            capture_output=True,
            text=True,
            check=True,
        )
    loaded = set(found.stderr.split())
    own = {
        "dowse",
        "dowse.entry",
        "dowse.runtime_paths",
        "dowse.version",
        "dowse.interfaces",
        "dowse.interfaces.daemon",
    }
    assert loaded - own == {
        "dowse.interfaces.daemon.client",
        "dowse.interfaces.daemon.frames",
        "_socket",
        "__future__",
    }
    assert "alpha" in found.stdout


@pytest.mark.large
def test_output_that_nobody_reads_to_the_end_is_no_error(root, cache, around):
    write_tree(root, {f"m{n}.py": f"def alpha_{n}():\n    return '{'x' * 100}'\n" for n in range(300)})
    with running("watch", cwd=root, ready="watching", **around):
        wait_for_answers(*QUESTION, cwd=root, **around)
        command = f"{sys.executable} -m dowse.entry search alpha -k 300 | head -1; exit ${{PIPESTATUS[0]}}"
        found = subprocess.run(
            ["bash", "-c", command], cwd=root, env={**os.environ, **around}, capture_output=True, check=False
        )
        assert (found.returncode, found.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
def test_a_full_disk_is_an_error_as_ever(root, cache, around):
    with running("watch", cwd=root, ready="watching", **around):
        wait_for_answers(*QUESTION, cwd=root, **around)
        command = [sys.executable, "-m", "dowse.entry", *QUESTION]
        with Path("/dev/full").open("wb") as full:
            found = subprocess.run(
                command,
                cwd=root,
                env={**os.environ, **around},
                stdout=full,
                stderr=subprocess.PIPE,
                check=False,
            )
    assert found.returncode == 2 and b"free some space" in found.stderr and b"Traceback" not in found.stderr
