"""Run a command in a hostile repository under strace, and tell what it did that it must not do.

Every process and thread is traced, so native code counts as much as Python. Four things are looked for:
programs that were executed, files that were written outside of cache and index, connections, and files that
were read outside of the repository.
"""

from __future__ import annotations

import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from hostile import QUERY, SYMBOL

# What a single command may take, under strace on a busy machine; a hang takes all of it.
SECONDS = 240.0
MEMORY_BYTES = 4_000_000_000  # of address space: a bomb fails here instead of taking the machine
_CALLS = (
    "execve,execveat,connect,sendto,open,openat,openat2,creat,rename,renameat,renameat2,unlink,unlinkat,"
    "mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,truncate,chmod,fchmodat,chown,fchownat,mknod,mknodat"
)
_LINE = re.compile(r"(\w+)\((.*)\)\s+= (-?\d+|\?)(?:<(.*)>)?(?: .*)?$")
_WRITES = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_FOLDER = re.compile(r"(?:AT_FDCWD|\d+)<([^>]*)>, ")
# Of the system, for any program.
_DEVICES = (
    *("/dev/null", "/dev/tty", "/dev/urandom", "/dev/random", "/dev/shm/", "/dev/pts/"),
    *("/proc/", "/sys/"),
)
# As installed: `python -m` would look for modules in the current folder, whoever asks it to.
_DOWSE = str(Path(sys.executable).with_name("dowse"))
GIT = os.path.realpath("/usr/bin/git")


@dataclass(slots=True)
class Places:
    """The folders of one case; whatever else lies in `top` is the user's and not to be touched."""

    top: Path
    root: Path

    def __post_init__(self) -> None:
        """Make the folders."""
        for folder in (*self.own, self.top / "home"):
            folder.mkdir(exist_ok=True)

    @property
    def own(self) -> tuple[Path, ...]:
        """Where dowse may write."""
        return tuple(self.top / name for name in ("cache", "data", "tmp", "config"))

    @property
    def environment(self) -> dict[str, str]:
        """Return an environment with credentials that must stay here."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH") if name in os.environ}
        return {
            **kept,
            "HOME": str(self.top / "home"),
            "TMPDIR": str(self.top / "tmp"),
            "DOWSE_CACHE_DIR": str(self.top / "cache"),
            "DOWSE_DATA_DIR": str(self.top / "data"),
            "DOWSE_CONFIG": str(self.top / "config" / "config.toml"),
            "DOWSE_ELASTIC_API_KEY": "of the user",
            "HF_TOKEN": "of the user",
            "GIT_CONFIG_NOSYSTEM": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "DOWSE_RESIDENT_MINUTES": "0",  # a process that stays is traced until it ends
            "DOWSE_ENCODER": os.environ.get("HOSTILE_ENCODER", "small"),
        }


@dataclass(slots=True)
class Outcome:
    """What a command did."""

    command: str
    code: int | None  # None if it had to be killed
    seconds: float
    output: str
    violations: list[str] = field(default_factory=list)


def run(name: str, places: Places) -> Outcome:
    """Run one command and return what it did."""
    log = places.top / "trace"
    log.mkdir(exist_ok=True)
    for old in log.iterdir():
        old.unlink()
    strace = ["strace", "-ff", "--seccomp-bpf", "-qq", "-y", "-s", "4096", "-e", f"trace={_CALLS}"]
    started = time.monotonic()
    process = subprocess.Popen(
        [*strace, "-o", str(log / "p"), sys.executable, _DOWSE, *COMMANDS[name].arguments],
        cwd=places.root,
        env=places.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES)),
    )
    output, killed = COMMANDS[name].talk(process, started + SECONDS)
    found = Outcome(name, None if killed else process.returncode, time.monotonic() - started, output)
    found.violations = sorted(set(_violations(log, places)))
    if killed:
        found.violations.append(f"hang: still running after {SECONDS:.0f} s")
    if "Traceback (most recent call last)" in output:
        found.violations.append(f"traceback: {output.strip().splitlines()[-1][:200]}")
    if found.code not in (0, 1, 2, None, *COMMANDS[name].codes):
        found.violations.append(f"exit code {found.code}")
    return found


def _violations(log: Path, places: Places) -> Iterator[str]:
    for file in log.iterdir():
        with file.open(errors="replace") as lines:
            for line in lines:
                if (call := _LINE.match(line)) is not None:
                    yield from _judge(call[1], call[2], call[3], call[4] or "", places)


def _judge(call: str, arguments: str, result: str, opened: str, places: Places) -> Iterator[str]:
    """Give what is wrong with one system call."""
    failed = result.startswith("-") or result == "?"
    if call.startswith("execve"):
        program = _paths(arguments, places)[0]
        if not failed and not _is_own_program(program):
            yield f"executed {program}"
    elif call == "connect":
        if "AF_INET" in arguments or ("AF_UNIX" in arguments and "/nscd/" not in arguments):
            where = arguments.partition(", ")[2]
            if not any(str(folder) in where or "/proc/self/fd" in where for folder in places.own):
                yield f"connected {where[:200]}"
    elif call == "sendto":
        if "AF_INET" in arguments:
            yield f"sent {arguments[-200:]}"
    elif call.startswith(("open", "creat")):
        if failed:
            return
        writes = call == "creat" or any(flag in arguments for flag in _WRITES)
        yield from _judge_file(opened.removesuffix(" (deleted)"), writes, places)
    elif not failed:
        for path in _paths(arguments, places)[: 2 if "link" in call or "rename" in call else 1]:
            yield from _judge_file(path, True, places)


def _judge_file(path: str, writes: bool, places: Places) -> Iterator[str]:
    if path.startswith(_DEVICES):
        return
    if _is_below(path, places.own):
        return
    if writes:
        yield f"wrote {path}"
    elif path.startswith("/dev/") or (_is_below(path, (places.top,)) and not _is_allowed_read(path, places)):
        yield f"read {path}"


def _is_allowed_read(path: str, places: Places) -> bool:
    home = (places.top / "home",)
    return path == str(places.top) or _is_below(path, (places.root,)) or _is_below(path, home)


def _is_below(path: str, folders: tuple[Path, ...]) -> bool:
    return any(path == str(folder) or path.startswith(f"{folder}/") for folder in folders)


def _is_own_program(program: str) -> bool:
    real = os.path.realpath(program)
    return real in (os.path.realpath(sys.executable), GIT) or real.startswith("/usr/lib/git-core/")


def _paths(arguments: str, places: Places) -> list[str]:
    """Return the paths among the arguments of a call, as absolute ones."""
    folder = _FOLDER.search(arguments)
    base = folder[1] if folder else str(places.root)
    return [os.path.normpath(os.path.join(base, text)) for text in _TEXT.findall(arguments)] or [base]


Talk = Callable[[subprocess.Popen[bytes], float], tuple[str, bool]]


def _wait(process: subprocess.Popen[bytes], deadline: float) -> tuple[str, bool]:
    """Let a command run to its end."""
    try:
        output, _ = process.communicate(timeout=max(1.0, deadline - time.monotonic()))
        return output.decode(errors="replace"), False
    except subprocess.TimeoutExpired:
        return _kill(process), True


def _kill(process: subprocess.Popen[bytes]) -> str:
    os.killpg(process.pid, signal.SIGKILL)
    output, _ = process.communicate()
    return output.decode(errors="replace")


def _end(process: subprocess.Popen[bytes], deadline: float, before: str) -> tuple[str, bool]:
    """End a command that runs until it is told to."""
    os.killpg(process.pid, signal.SIGTERM)
    after, killed = _wait(process, deadline)
    return before + after, killed


def _until(stream: IO[bytes], words: str, deadline: float) -> str:
    """Read until some words come, the stream ends, or the time is up."""
    output = b""
    while words.encode() not in output:
        if not select.select([stream], [], [], max(0.0, deadline - time.monotonic()))[0]:
            break
        block = os.read(stream.fileno(), 65_536)
        if not block:
            break
        output += block
    return output.decode(errors="replace")


def _watch(process: subprocess.Popen[bytes], deadline: float) -> tuple[str, bool]:
    assert process.stdout is not None
    return _end(process, deadline, _until(process.stdout, "watching", deadline - 10))


def _serve(process: subprocess.Popen[bytes], deadline: float) -> tuple[str, bool]:
    """Ask a server for what a page asks for."""
    assert process.stdout is not None
    output = _until(process.stdout, "\n", deadline - 10)
    address = re.search(r"(http://[\d.]+:\d+/)\?token=(\S+)", output)
    asked = ("status", f"search?q={QUERY.replace(' ', '+')}", "eval", "health")
    for path in asked if address else ():
        try:
            bearer = {"Authorization": f"Bearer {address[2]}"}
            request = urllib.request.Request(f"{address[1]}api/{path}", headers=bearer)
            with urllib.request.urlopen(request, timeout=30) as answer:
                output += answer.read().decode(errors="replace")
        except OSError as error:
            output += f"{path}: {error}\n"
    return _end(process, deadline, output)


def _mcp(process: subprocess.Popen[bytes], deadline: float) -> tuple[str, bool]:
    """Speak to an MCP server as an agent does."""
    assert process.stdin is not None and process.stdout is not None
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    messages = [
        {"id": 1, "method": "initialize", "params": start},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "search", "arguments": {"query": QUERY}}},
    ]
    output = ""
    for message in messages:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()
        if "id" in message:
            output += _until(process.stdout, f'"id":{message["id"]}', deadline - 10)
    process.stdin.close()
    process.stdin = None
    after, killed = _wait(process, deadline)
    return output + after, killed


def _lsp(process: subprocess.Popen[bytes], deadline: float) -> tuple[str, bool]:
    """Speak to a language server as an editor does that has opened the folder."""
    assert process.stdin is not None and process.stdout is not None
    folder = Path(f"/proc/{process.pid}/cwd").readlink().as_uri()
    spot = {"textDocument": {"uri": f"{folder}/shop/till.py"}, "position": {"line": 3, "character": 5}}
    start = {
        "processId": None,
        "capabilities": {},
        "workspaceFolders": [{"uri": folder, "name": "x"}],
        "initializationOptions": {"hover": True, "references": True, "documentSymbol": True},
    }
    messages = [
        {"id": 1, "method": "initialize", "params": start},
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "workspace/symbol", "params": {"query": QUERY}},
        {"id": 3, "method": "dowse/search", "params": {"query": QUERY}},
        {"id": 4, "method": "textDocument/prepareCallHierarchy", "params": spot},
        {"id": 5, "method": "textDocument/hover", "params": spot},
        {"id": 6, "method": "dowse/status", "params": {}},
        {"id": 7, "method": "shutdown"},
        {"method": "exit"},
    ]
    output = ""
    for message in messages:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        try:
            process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            process.stdin.flush()
        except BrokenPipeError:  # it has ended: its output says why
            break
        if "id" in message:
            output += _until(process.stdout, f'"id": {message["id"]}', deadline - 10)
    after, killed = _wait(process, deadline)
    return output + after, killed


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, how to speak to it, and exit codes beside the usual ones."""

    arguments: tuple[str, ...]
    talk: Talk = _wait
    codes: tuple[int, ...] = ()


_ENDED = (-signal.SIGTERM, 128 + signal.SIGTERM)
COMMANDS = {
    "search": Command(("search", QUERY)),
    "index": Command(("index",)),
    "status": Command(("status", "--files")),
    "related": Command(("related", SYMBOL)),
    "callers": Command(("callers", SYMBOL)),
    "doctor": Command(("doctor",)),
    "eval": Command(("eval", "--max-cases", "3")),
    "import": Command(("import", "index.zip")),
    "watch": Command(("watch",), _watch, _ENDED),
    "serve": Command(("serve", "--port", "0"), _serve, _ENDED),
    "mcp": Command(("mcp", "."), _mcp, _ENDED),
    "trust": Command(("trust",)),
    "lsp": Command(("lsp",), _lsp),
}
