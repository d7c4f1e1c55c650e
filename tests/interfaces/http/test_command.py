"""`dowse serve` as a process: it prints where it is, answers, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from interfaces.http.conftest import INN

from helpers import large_from, run_dowse, write_tree


@contextlib.contextmanager
def serving(
    *arguments: object, with_token: bool = False, **environment: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the command; give the process and the address that it prints."""
    flags = ["--port", "0", *([] if with_token else ["--no-token"])]
    process = subprocess.Popen(
        [sys.executable, "-m", "dowse.interfaces.cli.main", "serve", *map(str, arguments), *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, **environment},
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("dowse answers at http://"), line
        yield process, line.removeprefix("dowse answers at ").strip()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def descendants(pid: int) -> set[int]:
    """Return the processes that one has started, and those that they have."""
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        for task in Path(f"/proc/{waiting.pop()}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                new = set(map(int, task.read_text().split())) - found
                found |= new
                waiting += new
    return found


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are listed in /proc")
def test_ctrl_c_stops_all_processes(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "inn", INN)
    cache = {"DOWSE_CACHE_DIR": str(tmp_path / "cache"), "DOWSE_ISOLATION": "always"}
    with serving(root, **cache) as (process, url):
        with httpx.stream("GET", f"{url}api/v1/events", timeout=300) as stream:
            assert any('"phase":"done"' in line for line in stream.iter_lines())
        found = httpx.get(f"{url}api/v1/search", params={"q": "sweep"}, timeout=300).json()
        assert found["hits"][0]["name"] == "sweep"
        children = descendants(process.pid)
        assert children  # the lanes' processes
        with httpx.stream("GET", f"{url}api/v1/events", timeout=300) as stream:  # somebody still listens
            next(stream.iter_raw())
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=300)
        assert process.returncode == 0 and not errors
        assert not [pid for pid in children if is_alive(pid)]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are listed in /proc")
@pytest.mark.parametrize("how", large_from(1, [signal.SIGKILL, signal.SIGTERM]))
def test_ctrl_c_stops_the_indexing_process(tmp_path: Path, how: signal.Signals) -> None:
    """Also where the server has no time to clean up: its helper ends when the line to it does."""
    files = {f"m{number}.py": "def f():\n    pass\n" * 400 for number in range(400)}
    root = write_tree(tmp_path / "many", files)
    with serving(root, DOWSE_CACHE_DIR=str(tmp_path / "cache")) as (process, url):
        with httpx.stream("GET", f"{url}api/v1/events", timeout=300) as stream:
            assert any('"phase":"index"' in line for line in stream.iter_lines())
        children = descendants(process.pid)
        assert children
        watched = [os.pidfd_open(pid) for pid in children if is_alive(pid)]
        process.send_signal(how)
        process.communicate(timeout=300)
        import select

        for descriptor in watched:  # readable once the process has ended
            assert select.select([descriptor], [], [], 20)[0]
            os.close(descriptor)


def test_the_library_starts_without_the_server() -> None:
    """The command line must not load what only the server needs."""
    program = """
import sys
import dowse.index
from dowse.interfaces.cli.main import build_parser
build_parser()
print([name for name in ("fastapi", "uvicorn", "pydantic", "prometheus_client") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_other_addresses_require_a_token(tmp_path: Path) -> None:
    done = run_dowse("serve", tmp_path, "--host", "0.0.0.0", "--port", "0", "--no-token")
    assert done.returncode == 2 and "--no-token" in done.stderr


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "inn", INN)
    with serving(root, DOWSE_CACHE_DIR=str(tmp_path / "cache")) as (_, url):
        port = url.rstrip("/").rpartition(":")[2]
        done = run_dowse("serve", root, "--port", port)
        assert done.returncode == 2 and "--port" in done.stderr


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    done = run_dowse("serve", tmp_path / "nowhere", "--port", "0")
    assert done.returncode == 2 and "does not exist" in done.stderr


def test_the_printed_url_has_the_token(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "inn", INN)
    folders = {"DOWSE_CACHE_DIR": str(tmp_path / "cache")}
    with serving(root, with_token=True, DOWSE_TOKEN="a b&c", **folders) as (_, url):
        with httpx.Client(follow_redirects=True) as browser:
            assert browser.get(url).status_code == 200
            assert browser.get(f"{url.partition('?')[0]}api/v1/health").status_code == 200
        assert httpx.get(f"{url.partition('?')[0]}api/v1/health").status_code == 401
