"""Sandboxed git, and fetching: the only module that runs git.

git obeys the configuration of the repository that it works in: a remote's `uploadpack`, `core.fsmonitor`,
hooks and the like are commands. So it never sees a repository's own configuration here. `open_sandboxed_git`
creates a private git folder with its own configuration, whose HEAD is a commit that dowse resolved itself,
and which uses only the repository's objects. It works with git 2.30; newer variables (GIT_CONFIG_GLOBAL,
GIT_NO_LAZY_FETCH) repeat what the private folder ensures.
"""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from dowse.errors import DowseError
from dowse.security.leftovers import temporary_folder
from dowse.security.safe_files import read_below

# git is killed if it prints nothing for so long: crafted objects can take for ever.
IDLE_TIMEOUT_SECONDS = 120.0
_CONFIG_TIMEOUT_SECONDS = 10.0
# Crafted objects can be decompression bombs: limit one allocation.
_MAX_ALLOCATION = "256m"
_MAX_ANSWER_BYTES = 1_000_000
_MAX_GRAFTS_BYTES = 1_000_000
_MAX_ALTERNATES_BYTES = 65_536
# The folders of an object store that git reads.
_READ_BY_GIT = re.compile(r"[0-9a-f]{2}|pack|info")
_BLOCK_BYTES, _MAX_ERROR_BYTES = 1 << 16, 4096

# The environment variables that git needs. All others, GIT_* above all, could change what it does.
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

# Of a fetch. The protocols are those of `git_address.SCHEMES`: none that names a program.
_FETCH_PROTOCOLS = "https:http:ssh:git:file"
_FETCHED_REF = "refs/dowse/fetched"
_MAX_FETCH_SECONDS = 3_600.0
_MAX_FETCHED_BYTES = 8_000_000_000
# The user's variables that say how to connect; other GIT_* could name another repository.
_FETCH_VARIABLES = ("GIT_CONFIG", "GIT_SSH", "GIT_ASKPASS", "GIT_SSL", "GIT_HTTP", "GIT_PROXY")
# Set over the user's configuration. What old versions of git wrote is no attack; other flaws are refused.
_FETCH_CONFIGURATION = (
    *(f"core.hooksPath={os.devnull}", f"core.attributesFile={os.devnull}", "core.fsmonitor=false"),
    *("fetch.fsckObjects=true", "transfer.fsckObjects=true", "transfer.bundleURI=false"),
    *(
        f"fetch.fsck.{flaw}=ignore"
        for flaw in ("badTimezone", "zeroPaddedFilemode", "missingSpaceBeforeDate")
    ),
    *("gc.auto=0", "maintenance.auto=false", "core.symlinks=false", "fetch.writeCommitGraph=false"),
    # Only what the user named is connected to.
    "http.followRedirects=false",
    *("http.lowSpeedLimit=1000", "http.lowSpeedTime=60", "core.bigFileThreshold=1m"),
)

# Drivers that git brings along: by them it finds the function that a changed line is in.
_ATTRIBUTES = "".join(
    f"*.{extension} diff={driver}\n"
    for driver, extensions in {
        **{"python": "py pyi", "golang": "go", "java": "java", "rust": "rs", "ruby": "rb", "php": "php"},
        **{"cpp": "c cc cpp cxx h hh hpp", "csharp": "cs", "kotlin": "kt kts", "bash": "sh bash"},
        **{"perl": "pl pm", "elixir": "ex exs", "scheme": "scm", "markdown": "md", "css": "css"},
    }.items()
    for extension in extensions.split()
)


class GitError(DowseError):
    """git failed or took too long; the message is a phrase without a remedy."""


class GitMissing(GitError):
    """git can't be run at all; the message is a whole one."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"git can't be run ({reason}); install it and make sure it is on the PATH")


class GitProcess:
    """A running git process: its output is read in blocks, with a timeout for each."""

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
        assert self._process.stdout is not None and self._process.stderr is not None  # noqa: S101 - pipes
        self._out, self._err = self._process.stdout, self._process.stderr
        self._ready = selectors.DefaultSelector()
        self._ready.register(self._out, selectors.EVENT_READ)
        self._ready.register(self._err, selectors.EVENT_READ)
        self._seconds = IDLE_TIMEOUT_SECONDS
        self._error_output = b""
        self._buffer = bytearray()

    def read_block(self) -> bytes:
        """Return the next bytes of the output, b"" at the end; raises GitError after the timeout."""
        while self._out in self._ready.get_map():
            data = self._wait()
            if data is not None:
                return data
        return b""

    def lines(self, max_bytes: int) -> Iterator[bytes]:
        """Yield the output line by line; raises GitError if a line is longer than `max_bytes`."""
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

    def request(self, line: str) -> bytes:
        """Write a line to git and return the line of its answer; raises GitError if it has ended."""
        assert self._process.stdin is not None  # noqa: S101 - interactive
        with contextlib.suppress(BrokenPipeError):  # the end of its output tells that too
            self._process.stdin.write(line.encode() + b"\n")
        while (end := self._buffer.find(b"\n")) < 0:
            self._fill()
        return self._take(end + 1)

    def read_exactly(self, size: int) -> bytes:
        """Return exactly `size` bytes; raises GitError if git ends before."""
        while len(self._buffer) < size:
            self._fill()
        return self._take(size)

    def wait_for_end(self, check: Callable[[], None]) -> None:
        """Wait for the end of a process that prints its progress; `check` may raise to stop it."""
        while self._ready.get_map():
            self._wait()
            check()
        self.finish()

    def finish(self) -> None:
        """Wait for the end; raises GitError with git's error message if it failed."""
        while self._err in self._ready.get_map():
            self._wait()
        try:
            status = self._process.wait(self._seconds)
        except subprocess.TimeoutExpired:
            raise GitError(f"no end after {self._seconds:.0f} s") from None
        if status:
            raise GitError(self._reason(status))

    def close(self) -> None:
        """Kill the process and release its pipes."""
        self._process.kill()
        self._ready.close()
        for pipe in (self._process.stdin, self._out, self._err):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._process.wait()

    def _fill(self) -> None:
        """Wait for more output and buffer it."""
        data = self.read_block()
        if not data:
            self.finish()
            raise GitError("it ended early")
        self._buffer += data

    def _wait(self) -> bytes | None:
        """Return new output, b"" at its end, None if there was only error output."""
        events = self._ready.select(self._seconds)
        if not events:
            raise GitError(f"no answer within {self._seconds:.0f} s")
        output: bytes | None = None
        for key, _ in events:
            data = os.read(key.fd, _BLOCK_BYTES)
            if not data:
                self._ready.unregister(key.fileobj)
            if key.fileobj is self._out:
                output = data
            else:
                self._error_output = (self._error_output + data)[-_MAX_ERROR_BYTES:]
        return output

    def _take(self, size: int) -> bytes:
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def _reason(self, status: int) -> str:
        lines = [line.strip() for line in os.fsdecode(self._error_output).splitlines() if line.strip()]
        fatal = [line for line in lines if line.startswith("fatal: ")]
        message = fatal[0] if fatal else lines[-1] if lines else ""  # later ones are about other processes
        if not message:
            return f"git was ended by signal {-status}" if status < 0 else f"git ended with status {status}"
        printable = "".join(character if character.isprintable() else "?" for character in message)
        return printable.removeprefix("fatal: ")[:300]


class SandboxedGit:
    """git with a private folder and configuration, over the objects of one repository."""

    def __init__(self, folder: str, objects: str, *, own_objects: bool = False) -> None:
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
        if own_objects:
            own = os.path.join(folder, "objects")
            # In quotes: else a colon in the path would begin another folder.
            quoted = objects.replace("\\", "\\\\").replace('"', '\\"')
            self._environment |= {
                "GIT_OBJECT_DIRECTORY": own,
                "GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{quoted}"',
            }

    def store_object(self, name: str, data: bytes) -> None:
        """Add an object, compressed as git does, to the private folder; with `own_objects` git finds it."""
        place = Path(self._folder, "objects", name[:2])
        place.mkdir(exist_ok=True)
        (place / name[2:]).write_bytes(data)

    @contextlib.contextmanager
    def start(self, *arguments: str, interactive: bool = False) -> Iterator[GitProcess]:
        """Run git; it is killed at the end of the context."""
        command = [self._program, "--no-pager", *arguments]
        process = GitProcess(command, self._environment, self._folder, interactive=interactive)
        try:
            yield process
        finally:
            process.close()

    def run(self, *arguments: str) -> bytes:
        """Return the output of git; raises GitError if it fails, takes too long or prints too much."""
        with self.start(*arguments) as process:
            output = bytearray()
            while block := process.read_block():
                output += block
                if len(output) > _MAX_ANSWER_BYTES:
                    raise GitError("its output is too long")
            process.finish()
        return bytes(output)


@contextlib.contextmanager
def open_sandboxed_git(
    common: str, commit: str, max_blob_bytes: int, *, own_objects: bool = False
) -> Iterator[SandboxedGit]:
    """Create the private git folder for the objects of a repository, and remove it at the end.

    Args:
        common: The repository's git folder, the shared one for linked work trees.
        commit: HEAD, as `git.head_commit` resolved it.
        max_blob_bytes: Larger files are compared as binary ones, without reading them.
        own_objects: Whether new objects may be made, in the private folder.

    Raises:
        DowseError: The object store leads outside of the git folder.
    """
    objects = check_objects(common)
    is_sha256 = len(commit) == 64
    with temporary_folder("dowse-git-") as folder:
        for part in ("refs", "objects", "info"):
            (folder / part).mkdir()
        (folder / "HEAD").write_text(commit + "\n", encoding="ascii")
        text = _CONFIGURATION.format(version=int(is_sha256), max_blob_bytes=max_blob_bytes)
        if is_sha256:
            text += "[extensions]\n\tobjectFormat = sha256\n"
        (folder / "config").write_text(text, encoding="utf-8")
        (folder / "info" / "attributes").write_text(_ATTRIBUTES, encoding="ascii")
        with contextlib.suppress(OSError):  # only parents of commits, so they may count as in git
            (folder / "info/grafts").write_bytes(read_below(common, "info/grafts", _MAX_GRAFTS_BYTES))
        yield SandboxedGit(str(folder), objects, own_objects=own_objects)


def make_repository(directory: str, url: str) -> None:
    """Make an empty git folder: no template, so no hooks; the address is only a name for people."""
    for part in ("refs/heads", "refs/tags", "objects", "info"):
        Path(directory, part).mkdir(parents=True, exist_ok=True)
    Path(directory, "HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")
    quoted = url.replace("\\", "\\\\").replace('"', '\\"')
    text = f'[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote "origin"]\n\turl = "{quoted}"\n'
    Path(directory, "config").write_text(text, encoding="utf-8")


def fetch_commit(directory: str, url: str, ref: str, *, history: bool = False, may_ask: bool = False) -> str:
    """Fetch a branch, tag or commit into a git folder that `make_repository` made, and return the commit.

    The user's own configuration counts here: proxies, certificates, credential helpers, `insteadOf`.

    Args:
        directory: The git folder.
        url: An address that `parse_git_address` accepted.
        ref: What to fetch; "" for what the remote has checked out.
        history: Whether to fetch all commits; else the last one alone.
        may_ask: Whether git may ask for a password on the terminal.
    """
    program, path = _find_git()
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(_FETCH_VARIABLES)
    }
    environment |= {"PATH": path, "LC_ALL": "C", "GIT_DIR": directory, "GIT_LFS_SKIP_SMUDGE": "1"}
    environment |= {"GIT_ALLOW_PROTOCOL": _FETCH_PROTOCOLS, "GIT_TERMINAL_PROMPT": str(int(may_ask))}
    settings = [part for each in _FETCH_CONFIGURATION for part in ("-c", each)]
    is_shallow = Path(directory, "shallow").exists()
    depth = (["--unshallow"] if is_shallow else []) if history else ["--depth=1"]
    fetch = [
        "fetch",
        "--progress",
        "--no-tags",
        "--no-recurse-submodules",
        "--no-write-fetch-head",
        "--force",
    ]
    command = [program, *settings, *fetch, *depth, "--", url, f"+{ref or 'HEAD'}:{_FETCHED_REF}"]
    process = GitProcess(command, environment, directory)
    started = time.monotonic()

    def check() -> None:
        if time.monotonic() - started > _MAX_FETCH_SECONDS:
            raise GitError(f"it took more than {_MAX_FETCH_SECONDS:.0f} s")
        if _pack_bytes(directory) > _MAX_FETCHED_BYTES:
            raise GitError(f"the repository has more than {_MAX_FETCHED_BYTES:,} bytes")

    try:
        process.wait_for_end(check)
    finally:
        process.close()
    resolve = [program, *settings, "rev-parse", "--verify", "--quiet", f"{_FETCHED_REF}^{{commit}}"]
    commit = _run_trusted(resolve[1:], environment, directory)
    if not commit:
        raise GitError("what was fetched is no commit")
    return commit


def _pack_bytes(directory: str) -> int:
    with contextlib.suppress(OSError), os.scandir(os.path.join(directory, "objects", "pack")) as packs:
        return sum(pack.stat(follow_symlinks=False).st_size for pack in packs)
    return 0


def read_user_config(key: str) -> list[str]:
    """Return the paths that the user's own git configuration sets; none if git fails or is missing.

    git runs outside of any repository: GIT_DIR names none, so that not even one at "/" is read.
    """
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith("GIT_CONFIG")
    }
    environment |= {"GIT_DIR": os.devnull, "GIT_TERMINAL_PROMPT": "0"}
    command = ["config", "--includes", "--type=path", "--get-all", key]
    return _run_trusted(command, environment, os.sep).splitlines()


def run_in_own_checkout(folder: str, *arguments: str) -> str:
    """Return the output of git in the checkout that this code runs from, whose configuration is trusted."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["GIT_OPTIONAL_LOCKS"] = "0"  # else `status` writes the index
    return _run_trusted(["-c", "core.fsmonitor=false", *arguments], environment, folder)


def _run_trusted(arguments: Sequence[str], environment: Mapping[str, str], folder: str) -> str:
    """Return the output of git, stripped; "" if it fails, is missing or hangs."""
    try:
        done = subprocess.run(
            [_find_git()[0], *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=folder,
            env=environment,
            timeout=_CONFIG_TIMEOUT_SECONDS,
            check=False,
        )
    except (GitError, OSError, subprocess.SubprocessError, ValueError):
        return ""
    return os.fsdecode(done.stdout).strip() if done.returncode == 0 else ""


def _find_git() -> tuple[str, str]:
    """Return the path of git and a PATH without relative entries, which would lead into the repository."""
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(entry for entry in entries if os.path.isabs(entry))  # noqa: PTH117
    program = shutil.which("git", path=path)
    if program is None:
        raise GitMissing("not found")
    return program, path


def check_objects(common: str) -> str:
    """Return the objects folder of a git folder.

    Raises:
        DowseError: The folder or something in it is a symbolic link or special file, or alternates name other
            folders: git would read files outside of the repository, or block.
    """
    objects = os.path.join(common, "objects")
    try:
        if not stat.S_ISDIR(os.lstat(objects).st_mode):
            raise _refused(objects)
        for name in ("info/alternates", "info/http-alternates"):
            _check_alternates(objects, name)
        for entry in _entries(objects):
            if not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)):
                raise _refused(entry.path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DowseError(
            f"git's objects in {objects} can't be read ({reason}); `git fsck` may tell more"
        ) from error
    return objects


def _entries(objects: str) -> Iterator[os.DirEntry[str]]:
    """Yield the entries of the objects folder, and of the folders in it that git reads."""
    with os.scandir(objects) as listing:
        for entry in listing:
            yield entry
            if _READ_BY_GIT.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                with os.scandir(entry.path) as inner:
                    yield from inner


def _check_alternates(objects: str, name: str) -> None:
    """Refuse alternates: the file names other object stores anywhere on the machine."""
    try:
        text = read_below(objects, name, _MAX_ALTERNATES_BYTES)
    except FileNotFoundError:
        return
    if any(line and not line.startswith(b"#") for line in map(bytes.strip, text.splitlines())):
        raise DowseError(
            f"{objects} borrows objects of other repositories ({name}), which dowse does not read; "
            f"run `git repack -a -d` there and remove that file"
        )


def _refused(path: str) -> DowseError:
    return DowseError(
        f"{path} is a symbolic link or special file, which dowse does not read; clone the repository again"
    )
