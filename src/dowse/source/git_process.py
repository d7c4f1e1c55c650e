"""The only place where git is run.

git obeys the configuration of the repository that it works in: a remote's `uploadpack`, `core.fsmonitor`,
hooks and the like are commands. So it never sees a repository's own configuration here. `open_closed_git`
makes a private git folder with a configuration of ours, whose HEAD is a commit that we resolved ourselves,
and which borrows nothing but the repository's objects. No option or variable is needed that git 2.30 does not
know; newer ones that it ignores (GIT_CONFIG_GLOBAL, GIT_NO_LAZY_FETCH) repeat what the private folder
ensures.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dowse.errors import DowseError
from dowse.source.git_objects import check_objects
from dowse.source.git_refs import read_below

# git that prints nothing for so long while we wait for it is ended: objects can be made to take for ever.
SILENCE_SECONDS = 120.0
_QUICK_SECONDS = 10.0
# Objects can be made to expand without bound: one allocation, and on Linux all memory of a process.
_MAX_ALLOCATION = "256m"
_MAX_HEAP_BYTES = 1 << 30
_MAX_ANSWER_BYTES = 1_000_000
_MAX_GRAFTS_BYTES = 1_000_000
_BLOCK_BYTES, _COMPLAINT_BYTES = 1 << 16, 4096

# What git needs of the environment. Everything else, GIT_* above all, could change what it does.
_KEPT_VARIABLES = (
    *("TZ", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LD_LIBRARY_PATH"),
    *("DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"),
)

_CONFIGURATION = f"""[core]
\tbare = true
\thooksPath = {os.devnull}
\tattributesFile = {os.devnull}
\texcludesFile = {os.devnull}
\tfsmonitor = false
\tcommitGraph = false
\tmultiPackIndex = false
\tpager = cat
\tbigFileThreshold = {{max_blob_bytes}}
\trepositoryformatversion = {{version}}
[protocol]
\tallow = never
[log]
\tmailmap = false
\tshowSignature = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""


class GitError(DowseError):
    """git failed or took too long; the message is a phrase without a remedy."""


class GitMissing(GitError):
    """git can't be run at all; the message is a whole one."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"git can't be run ({reason}); install it and make sure it is on the PATH")


class GitProcess:
    """A running git: what it prints is read in blocks, under a limit for the time that it is silent."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: str,
        *,
        interactive: bool = False,
    ) -> None:
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE if interactive else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env=environment,
                bufsize=0,
            )
        except OSError as error:
            raise GitMissing(error.strerror or str(error)) from error
        _limit_heap(self._process.pid)
        assert self._process.stdout is not None and self._process.stderr is not None  # noqa: S101 - pipes
        self._out, self._err = self._process.stdout, self._process.stderr
        self._ready = selectors.DefaultSelector()
        self._ready.register(self._out, selectors.EVENT_READ)
        self._ready.register(self._err, selectors.EVENT_READ)
        self._seconds = SILENCE_SECONDS
        self._complaint = b""
        self._buffer = bytearray()

    def read_block(self) -> bytes:
        """Return the next bytes that git prints, b"" at the end; raises GitError if none come in time."""
        while self._out in self._ready.get_map():
            data = self._wait()
            if data is not None:
                return data
        return b""

    def lines(self, max_bytes: int) -> Iterator[bytes]:
        """Give what git prints line by line; raises GitError at a longer line than that."""
        pending: list[bytes] = []
        size = 0
        while block := self.read_block():
            first, *others = block.split(b"\n")
            pending.append(first)
            size += len(first)
            if size > max_bytes:
                raise GitError(f"a line of its output has more than {max_bytes:,} bytes")
            if others:
                yield b"".join((*pending, b"\n"))
                for line in others[:-1]:
                    yield line + b"\n"
                pending, size = [others[-1]], len(others[-1])
        if size:
            yield b"".join(pending)

    def ask(self, line: str) -> bytes:
        """Write a line to git and return the line that it answers; raises GitError if it has ended."""
        assert self._process.stdin is not None  # noqa: S101 - only for interactive ones
        with contextlib.suppress(BrokenPipeError):  # the end of its output says that too
            self._process.stdin.write(line.encode() + b"\n")
        while (end := self._buffer.find(b"\n")) < 0:
            self._fill()
        return self._take(end + 1)

    def read_exactly(self, size: int) -> bytes:
        """Return so many bytes; raises GitError if git ends before."""
        while len(self._buffer) < size:
            self._fill()
        return self._take(size)

    def finish(self) -> None:
        """Wait for the end; raises GitError with what git complains about if it failed."""
        while self._err in self._ready.get_map():
            self._wait()
        try:
            status = self._process.wait(self._seconds)
        except subprocess.TimeoutExpired:
            raise GitError(f"no end after {self._seconds:.0f} s") from None
        if status:
            raise GitError(self._reason(status))

    def close(self) -> None:
        """End the process whatever it is doing."""
        self._process.kill()
        self._ready.close()
        for pipe in (self._process.stdin, self._out, self._err):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._process.wait()

    def _fill(self) -> None:
        """Wait for more output and keep it."""
        data = self.read_block()
        if not data:
            self.finish()
            raise GitError("it ended early")
        self._buffer += data

    def _wait(self) -> bytes | None:
        """Return new output, b"" at its end, None if git only complained."""
        events = self._ready.select(self._seconds)
        if not events:
            raise GitError(f"no answer within {self._seconds:.0f} s")
        found: bytes | None = None
        for key, _ in events:
            data = os.read(key.fd, _BLOCK_BYTES)
            if not data:
                self._ready.unregister(key.fileobj)
            if key.fileobj is self._out:
                found = data
            else:
                self._complaint = (self._complaint + data)[-_COMPLAINT_BYTES:]
        return found

    def _take(self, size: int) -> bytes:
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def _reason(self, status: int) -> str:
        lines = [line.strip() for line in os.fsdecode(self._complaint).splitlines() if line.strip()]
        said = next(
            (line for line in reversed(lines) if line.startswith("fatal: ")), lines[-1] if lines else ""
        )
        if not said:
            return f"git was ended by signal {-status}" if status < 0 else f"git ended with status {status}"
        printable = "".join(character if character.isprintable() else "?" for character in said)
        return printable.removeprefix("fatal: ")[:300]


class ClosedGit:
    """git with a private folder and configuration, over the objects of one repository."""

    def __init__(self, folder: str, objects: str) -> None:
        self._folder = folder
        self._program, path = _find_git()
        self._environment = {
            **{name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
            **{"PATH": path, "LC_ALL": "C", "HOME": folder, "XDG_CONFIG_HOME": folder},
            **{"GIT_DIR": folder, "GIT_OBJECT_DIRECTORY": objects, "GIT_ALLOC_LIMIT": _MAX_ALLOCATION},
            **{"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
            **{"GIT_NO_REPLACE_OBJECTS": "1", "GIT_NO_LAZY_FETCH": "1", "GIT_ATTR_NOSYSTEM": "1"},
            **{"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "GIT_PAGER": "cat", "GIT_OPTIONAL_LOCKS": "0"},
            **{"GIT_ALLOW_PROTOCOL": "none", "GIT_PROTOCOL_FROM_USER": "0"},
        }

    @contextlib.contextmanager
    def start(self, *arguments: str, interactive: bool = False) -> Iterator[GitProcess]:
        """Run git until nobody reads on."""
        command = [self._program, "--no-pager", *arguments]
        process = GitProcess(command, self._environment, self._folder, interactive=interactive)
        try:
            yield process
        finally:
            process.close()

    def run(self, *arguments: str) -> bytes:
        """Return what git prints; raises GitError if it fails, takes too long or prints a lot."""
        with self.start(*arguments) as process:
            printed = bytearray()
            while block := process.read_block():
                printed += block
                if len(printed) > _MAX_ANSWER_BYTES:
                    raise GitError("its output is too long")
            process.finish()
        return bytes(printed)


@contextlib.contextmanager
def open_closed_git(common: str, commit: str, max_blob_bytes: int) -> Iterator[ClosedGit]:
    """Make the private git folder for the objects of a repository, and remove it at the end.

    Args:
        common: The repository's git folder, the shared one for linked work trees.
        commit: What HEAD is to be, as `git.head_commit` resolved it.
        max_blob_bytes: Larger files are compared as binary ones, without reading them.

    Raises:
        DowseError: The objects lead outside of the git folder.
    """
    objects = check_objects(common)
    is_sha256 = len(commit) == 64
    with tempfile.TemporaryDirectory(prefix="dowse-git-") as name:
        folder = Path(name)
        for part in ("refs", "objects", "info"):
            (folder / part).mkdir()
        (folder / "HEAD").write_text(commit + "\n", encoding="ascii")
        text = _CONFIGURATION.format(version=int(is_sha256), max_blob_bytes=max_blob_bytes)
        if is_sha256:
            text += "[extensions]\n\tobjectFormat = sha256\n"
        (folder / "config").write_text(text, encoding="utf-8")
        with contextlib.suppress(OSError):  # only parents of commits, so they may count as they do in git
            (folder / "info/grafts").write_bytes(read_below(common, "info/grafts", _MAX_GRAFTS_BYTES))
        yield ClosedGit(str(folder), objects)


def ask_user_configuration(key: str) -> str:
    """Return a path of the user's own git configuration; "" if it is not set, or git fails or is missing.

    git is asked outside of any repository: GIT_DIR names none, so that not even one at "/" is read.
    """
    environment = {name: value for name, value in os.environ.items() if not _leads_elsewhere(name)}
    environment |= {"GIT_DIR": os.devnull, "GIT_TERMINAL_PROMPT": "0"}
    return _run_trusted(["config", "--includes", "--type=path", "--get", key], environment, os.sep)


def ask_own_checkout(folder: str, *arguments: str) -> str:
    """Return what git says in the checkout that this very code runs from, so its configuration is trusted."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["GIT_OPTIONAL_LOCKS"] = "0"  # else `status` writes the index
    return _run_trusted(["-c", "core.fsmonitor=false", *arguments], environment, folder)


def _leads_elsewhere(name: str) -> bool:
    return name.startswith("GIT_") and not name.startswith("GIT_CONFIG")


def _run_trusted(arguments: Sequence[str], environment: Mapping[str, str], folder: str) -> str:
    """Return what git prints, stripped; "" when it fails, is missing or hangs."""
    try:
        done = subprocess.run(
            [_find_git()[0], *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=folder,
            env=environment,
            timeout=_QUICK_SECONDS,
            check=False,
        )
    except (GitError, OSError, subprocess.SubprocessError, ValueError):
        return ""
    return os.fsdecode(done.stdout).strip() if done.returncode == 0 else ""


def _find_git() -> tuple[str, str]:
    """Return the path of git and a PATH without relative entries: those would lead into the repository."""
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(entry for entry in entries if os.path.isabs(entry))  # noqa: PTH117
    program = shutil.which("git", path=path)
    if program is None:
        raise GitMissing("not found")
    return program, path


def _limit_heap(process: int) -> None:
    """Limit the memory that a process can allocate, where the system can; mapped packs do not count."""
    try:
        import resource

        limits = (_MAX_HEAP_BYTES, _MAX_HEAP_BYTES)
        resource.prlimit(process, resource.RLIMIT_DATA, limits)
    except (ImportError, AttributeError, OSError, ValueError):
        return  # Windows, macOS; or the process has ended
