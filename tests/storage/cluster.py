"""A real cluster on loopback, started once for all test processes and stopped after the last.

It has one node, or as many as DOWSE_TEST_NODES says.
`scripts/cluster install` brings Java and the server. `DOWSE_TEST_CLUSTER=http://host:port,…` names a cluster
that runs already. With security, it is one node with TLS, users and roles. As a program,
`cluster.py FOLDER COUNT [secured]` starts nodes and ends them when nobody is left who uses them.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pwd
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
from storage import security_files

HEAP = "512m"
_OLDEST_JAVA = 17
# Nodes take half a minute to find each other, longer where two cores have other tests to run, too.
_START_SECONDS = 240.0
# The processes of a test run do not all end at the same moment.
_IDLE_SECONDS = 15.0
_NOBODY = 65534  # the server refuses to run as root


class NoCluster(Exception):
    """Why there can be no cluster on this machine."""


def tools_folder() -> Path:
    """Return where `scripts/cluster` puts what it fetches; tests have another home than their user."""
    named = os.environ.get("DOWSE_TEST_TOOLS")
    return Path(named) if named else Path(pwd.getpwuid(os.getuid()).pw_dir, ".cache", "dowse-tests")


def server_home() -> Path:
    """Return where the server is unpacked."""
    version = os.environ.get("DOWSE_TEST_ELASTICSEARCH") or "8.*"
    found = sorted(tools_folder().glob(f"elasticsearch-{version}/bin/elasticsearch"))
    if not found:
        raise NoCluster(f"no Elasticsearch in {tools_folder()}; run `scripts/cluster install`")
    return found[-1].parent.parent


def java_home() -> Path:
    """Return a Java that the server runs on."""
    named = [os.environ.get(name, "") for name in ("ES_JAVA_HOME", "JAVA_HOME")]
    places = [Path(place, "bin", "java") for place in named if place]
    if found := shutil.which("java"):
        places.append(Path(found).resolve())
    places += sorted(Path("/usr/lib/jvm").glob("*/bin/java"))
    for place in places:
        if place.exists() and _java_version(place) >= _OLDEST_JAVA:
            return place.parent.parent
    raise NoCluster(f"no Java {_OLDEST_JAVA} or newer; run `scripts/cluster install`")


def _java_version(java: Path) -> int:
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', said)
    return int(found[1]) if found else 0


class Nodes:
    """Some nodes of one cluster, each a process of its own."""

    def __init__(self, folder: Path, count: int, heap: str = HEAP, *, secured: bool = False) -> None:
        self.folder, self.heap, self.secured = folder, heap, secured
        self.ports, self._transport = _free_ports(count), _free_ports(count)
        self._home, self._java = _readable_home(folder), java_home()
        self.processes: list[subprocess.Popen[bytes] | None] = [None] * count
        self.backups.mkdir(parents=True)
        if secured:
            security_files.write_security(folder)
        for number in range(count):
            self._configure(number)
        if os.getuid() == 0:
            for place, _, files in os.walk(folder):
                for name in (".", *files):
                    os.chown(os.path.join(place, name), _NOBODY, _NOBODY)

    @property
    def urls(self) -> list[str]:
        scheme = "https" if self.secured else "http"
        return [f"{scheme}://127.0.0.1:{port}" for port in self.ports]

    @property
    def backups(self) -> Path:
        """Where the nodes may keep snapshots."""
        return self.folder / "backups"

    def start(self, number: int) -> None:
        """Start one node."""
        place = self.folder / f"n{number}"
        dropped = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
        with (place / "out.log").open("ab") as log:
            self.processes[number] = subprocess.Popen(
                [*(dropped if os.getuid() == 0 else ()), str(self._home / "bin" / "elasticsearch")],
                cwd=place,
                env={
                    "PATH": os.environ["PATH"],
                    "ES_PATH_CONF": str(place / "config"),
                    "ES_JAVA_HOME": str(self._java),
                    "ES_TMPDIR": str(place / "tmp"),
                    # Compiled once and lightly: tests end before anything better would pay.
                    "ES_JAVA_OPTS": f"-Xms{self.heap} -Xmx{self.heap} -XX:TieredStopAtLevel=1",
                },
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self, number: int) -> None:
        """End one node the hard way."""
        process = self.processes[number]
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            self.processes[number] = None

    def shut_down(self, number: int) -> None:
        """End one node as its service manager does, and wait for it."""
        process = self.processes[number]
        if process is not None:
            process.terminate()
            process.wait()
            self.processes[number] = None

    def stop(self) -> None:
        """End all nodes; there is nothing to keep."""
        for number in range(len(self.processes)):
            self.kill(number)

    def wait(self, seconds: float = _START_SECONDS) -> None:
        """Wait until all nodes are one cluster, and each of them answers."""
        deadline = time.monotonic() + seconds
        # A node joins before it listens for requests.
        while any(self._node_count(number) < len(self.ports) for number in range(len(self.ports))):
            ended = [n for n, process in enumerate(self.processes) if process and process.poll() is not None]
            if ended or time.monotonic() > deadline:
                log = (self.folder / f"n{(ended or [0])[0]}" / "out.log").read_text(errors="replace")
                raise NoCluster(f"the test cluster did not start: {log[-2000:]}")
            time.sleep(0.2)

    def ask(self, path: str, number: int = 0) -> dict[str, Any]:
        """Return what a node answers."""
        request = urllib.request.Request(f"{self.urls[number]}{path}")
        context = None
        if self.secured:
            password = (self.folder / security_files.PASSWORD).read_text()
            request.add_header("Authorization", security_files.basic(security_files.ADMIN, password))
            context = security_files.trusting(self.folder)
        with urllib.request.urlopen(request, timeout=5, context=context) as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    def _node_count(self, number: int) -> int:
        try:
            return int(self.ask("/_cluster/health", number)["number_of_nodes"])
        except (OSError, ValueError):
            return 0

    def _configure(self, number: int) -> None:
        place = self.folder / f"n{number}"
        for name in ("data", "logs", "tmp"):
            (place / name).mkdir(parents=True)
        shutil.copytree(self._home / "config", place / "config")
        security = "xpack.security.enabled: false\n"
        if self.secured:
            security = security_files.configure_security(self.folder, place / "config")
        names = json.dumps([f"n{each}" for each in range(len(self.ports))])
        seeds = json.dumps([f"127.0.0.1:{port}" for port in self._transport])
        (place / "config" / "elasticsearch.yml").write_text(
            f"cluster.name: dowse-tests-{self.ports[0]}\nnode.name: n{number}\n"
            f"path.data: {place}/data\npath.logs: {place}/logs\nnetwork.host: 127.0.0.1\n"
            f"http.port: {self.ports[number]}\ntransport.port: {self._transport[number]}\n"
            f"discovery.seed_hosts: {seeds}\ncluster.initial_master_nodes: {names}\n"
            f"path.repo: {self.backups}\nnode.store.allow_mmap: false\n"
            "cluster.routing.allocation.disk.threshold_enabled: false\n" + security
        )


def _free_ports(count: int) -> list[int]:
    """Return ports that nobody listens at."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _open_folder() -> str | None:
    """Return a temporary folder that the user whom the nodes run as can enter; None for the usual one."""
    usual = Path(tempfile.gettempdir()).resolve()
    is_open = all(place.stat().st_mode & stat.S_IXOTH for place in (usual, *usual.parents))
    return None if os.getuid() or is_open else "/var/tmp"


def _readable_home(folder: Path) -> Path:
    """Return the server where the nodes can read it: root's own folders are closed to whom they run as."""
    home = server_home()
    if os.getuid() != 0 or all(place.stat().st_mode & 0o005 == 0o005 for place in home.parents):
        return home
    copy = folder / "server"
    shutil.copytree(home, copy)
    return copy


@contextlib.contextmanager
def shared_cluster(meeting_place: Path) -> Iterator[list[str]]:
    """Use the cluster of this test run, starting it if nobody has; `meeting_place` is the same for all."""
    named = os.environ.get("DOWSE_TEST_CLUSTER")
    if named:
        yield named.split(",")
        return
    with _shared(meeting_place, "cluster", [os.environ.get("DOWSE_TEST_NODES", "1")]) as (urls, _):
        yield urls


@contextlib.contextmanager
def shared_secured_node(meeting_place: Path) -> Iterator[tuple[str, Path]]:
    """Use the node with security of this test run; yield its address and the folder of `write_security`."""
    with _shared(meeting_place, "secured", ["1", "secured"]) as (urls, folder):
        yield urls[0], folder / "nodes"


@contextlib.contextmanager
def _shared(meeting_place: Path, name: str, arguments: list[str]) -> Iterator[tuple[list[str], Path]]:
    server_home(), java_home()  # says what is missing before anything is started
    note = meeting_place / f"{name}.folder"
    with _exclusively(meeting_place / f"{name}.lock"):
        folder = _running(note) or _start(note, arguments)
        mark = folder / "users" / str(os.getpid())
        mark.touch()
    try:
        yield _wait_for(folder), folder
    finally:
        mark.unlink(missing_ok=True)


def _running(note: Path) -> Path | None:
    folder = Path(note.read_text()) if note.exists() else None
    return folder if folder and (folder / "users").is_dir() and not (folder / "ended").exists() else None


def _start(note: Path, arguments: list[str]) -> Path:
    """Start a process that starts the nodes, and that outlives this one if others need them."""
    folder = Path(tempfile.mkdtemp(prefix="dowse-cluster-", dir=_open_folder()))
    folder.chmod(0o755)
    (folder / "users").mkdir()
    (folder / "users" / str(os.getpid())).touch()
    with (folder / "keeper.log").open("wb") as log:
        command = [sys.executable, __file__, str(folder), *arguments]
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True)
    note.write_text(str(folder))
    return folder


def _wait_for(folder: Path) -> list[str]:
    deadline = time.monotonic() + _START_SECONDS
    while not (folder / "urls.json").exists():
        if (folder / "ended").exists() or time.monotonic() > deadline:
            raise NoCluster((folder / "keeper.log").read_text(errors="replace")[-2000:])
        time.sleep(0.2)
    urls: list[str] = json.loads((folder / "urls.json").read_text())
    return urls


@contextlib.contextmanager
def _exclusively(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def keep(folder: Path, count: int, secured: bool) -> None:
    """Run nodes while there are users, each a file named after a process that is alive."""
    nodes = None
    try:
        nodes = Nodes(folder / "nodes", count, secured=secured)
        for number in range(count):
            nodes.start(number)
        nodes.wait()
        ready = folder / "urls.json.new"
        ready.write_text(json.dumps(nodes.urls))
        ready.replace(folder / "urls.json")
        used = time.monotonic()
        while time.monotonic() - used < _IDLE_SECONDS:
            if _has_users(folder):
                used = time.monotonic()
            time.sleep(0.5)
    finally:
        with contextlib.suppress(FileNotFoundError):
            (folder / "ended").touch()
        if nodes is not None:
            nodes.stop()
    shutil.rmtree(folder, ignore_errors=True)


def _has_users(folder: Path) -> bool:
    try:
        return any(_is_alive(int(user.name)) for user in (folder / "users").iterdir())
    except FileNotFoundError:  # the test run has ended, and its folder was removed
        return False


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    if os.fork():  # nobody waits for the nodes to end
        os._exit(0)
    os.setsid()
    keep(Path(sys.argv[1]), int(sys.argv[2]), "secured" in sys.argv[3:])
