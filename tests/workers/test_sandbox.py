"""Processes that read hostile bytes have no rights, where Linux can take them away."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dowse.indexing.parse_jobs import Job, ParserSetup
from dowse.indexing.parse_pool import keep_idle_workers, parse_all, parser_program
from dowse.workers.sandbox import protections

from helpers import write_tree

pytestmark = pytest.mark.skipif(len(protections()) < 2, reason="this system has no Landlock or no seccomp")

# Tries what a parser that was taken over would; returns what it could do.
TRIES = """
import ctypes, os, socket, subprocess, threading
def send_signal(pid):
    if ctypes.CDLL(None, use_errno=True).tgkill(pid, pid, 0) < 0:
        raise OSError(ctypes.get_errno(), "tgkill")
def tries(folder):
    return {
        "read": lambda: open(f"{folder}/tree/a.py").read(),
        "read outside": lambda: open(f"{folder}/secret").read(),
        "list outside": lambda: os.listdir(folder),
        "write": lambda: open(f"{folder}/tree/a.py", "r+"),
        "create": lambda: open(f"{folder}/tree/new", "w"),
        "remove": lambda: os.unlink(f"{folder}/tree/a.py"),
        "truncate": lambda: os.truncate(f"{folder}/tree/a.py", 0),
        "rename": lambda: os.rename(f"{folder}/tree/a.py", f"{folder}/tree/b.py"),
        "link": lambda: os.symlink("a", f"{folder}/tree/link"),
        "permissions": lambda: os.chmod(f"{folder}/tree/a.py", 0o777),
        "times": lambda: os.utime(f"{folder}/tree/a.py"),
        "internet": lambda: socket.socket(),
        "local socket": lambda: socket.socket(socket.AF_UNIX),
        "program": lambda: subprocess.run(["/bin/true"]),
        "process": lambda: os.fork() or os._exit(0),
        "signal": lambda: os.kill(os.getppid(), 0),
        "signal to a thread": lambda: send_signal(os.getppid()),
        "signal to itself": lambda: send_signal(os.getpid()),
        "thread": lambda: threading.Thread(target=int).start(),
    }
def succeeded(folder, *names):
    done, attempts = [], tries(folder)
    for name in names or attempts:
        try:
            attempts[name]()
        except PermissionError:
            continue
        done.append(name)
    return done
"""

# What a process may do to itself.
OF_ITSELF = ["signal to itself", "thread"]


def test_a_confined_process_reads_what_it_was_given_and_nothing_else(tmp_path: Path) -> None:
    write_tree(tmp_path, {"tree/a.py": "x\n", "secret": "x\n"})
    program = f"""{TRIES}
import json, sys
sys.path[:] = {[path for path in sys.path if path]!r}
from dowse.workers.sandbox import confine, program_paths
confine([{str(tmp_path / "tree")!r}, *program_paths()])
import sqlite3, decimal  # what Python loads later
print(json.dumps(succeeded({str(tmp_path)!r})))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["read", *OF_ITSELF]


def test_parser_processes_are_confined_to_the_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dowse.indexing.parse_pool.ParserSetup", ParserSetup)  # as it is outside of tests
    write_tree(tmp_path, {"tree/a.py": "def a(): ...\n", "secret": "def b(): ...\n"})
    start, _, main = parser_program().partition("\n")
    patch = f"""{TRIES}
import dowse.indexing.parse_worker as worker
parse_path = worker.parse_path
def attempt(job):
    reply = parse_path(job)
    return reply._replace(reason=" ".join(succeeded({str(tmp_path)!r})))
worker.parse_path = attempt
"""
    places = [(str(tmp_path / "tree"), "a.py"), (str(tmp_path), "secret")]
    jobs = [Job(name, "", name, "", root, name, 20, 0, "", False) for root, name in places]
    replies = list(parse_all(jobs, 1, program=f"{start}\n{patch}\n{main}", root=tmp_path / "tree"))
    could = " ".join(["read", *OF_ITSELF])
    assert [(reply.status, reply.reason) for reply in replies] == [("parsed", could), ("unreadable", could)]


def test_a_tree_that_takes_the_place_of_another_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dowse.indexing.parse_pool.ParserSetup", ParserSetup)
    tree = tmp_path / "tree"
    job = Job("a.py", "", "a.py", "", str(tree), "a.py", 20, 0, "", False)
    with keep_idle_workers():
        for place in ("before", "after"):
            write_tree(tree, {"a.py": "def a(): ...\n"})
            [reply] = parse_all([job], 1, root=tree)
            assert reply.status == "parsed", reply.reason
            tree.rename(tmp_path / place)


@pytest.mark.parametrize(
    ("missing", "could"), [("_restrict_files", "read outside"), ("_filter_system_calls", "internet")]
)
def test_what_a_kernel_lacks_is_left_out(tmp_path: Path, missing: str, could: str) -> None:
    write_tree(tmp_path, {"tree/a.py": "x\n", "secret": "x\n"})
    program = f"""{TRIES}
import json, sys
sys.path[:] = {[path for path in sys.path if path]!r}
from dowse.workers import sandbox
def fail(*_):
    raise OSError(38, "Function not implemented")
sandbox.{missing} = fail
sandbox.confine([{str(tmp_path / "tree")!r}, *sandbox.program_paths()])
print(json.dumps(succeeded({str(tmp_path)!r}, "read outside", "internet")))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [could]


def test_grammars_are_extracted_for_parsers_that_may_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, names = tmp_path / "tree", [f"{number}.py" for number in range(6)]
    write_tree(tree, dict.fromkeys(names, "def a(): ...\n"))
    jobs = [Job(name, "", name, "", str(tree), name, 20, 0, "", False) for name in names]
    memory = "from dowse.parsing import grammar_library as g; g._load_from_memory = None"
    start, _, main = parser_program().partition("\n")
    # A folder that can be made, and one that can't; then jobs that came too early may not do with memory.
    for folder, patch in [(tmp_path / "grammars", memory), (Path("/dev/null/none"), "")]:
        monkeypatch.setenv("SEMBLE_GRAMMARS_CACHE_DIR", str(folder))
        program = f"{start}\n{patch}\n{main}  # {folder}"  # with this environment
        for reply in parse_all(jobs, 1, program=program, root=tree):
            assert [each.name for each in reply.records[0].symbols if each.kind == "function"] == ["a"]
    [library] = (tmp_path / "grammars").rglob("*.so")
    assert library.name == "libtree_sitter_python.so"
    library.write_bytes(b"damaged")
    monkeypatch.setenv("SEMBLE_GRAMMARS_CACHE_DIR", str(tmp_path / "grammars"))
    [reply] = parse_all(jobs[:1], 1, program=f"{parser_program()}  # again", root=tree)
    assert not reply.records[0].problem and library.stat().st_size > 10_000
