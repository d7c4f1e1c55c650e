"""What we ask of git, mostly by reading its files: no process to start, and none needed to be installed."""

from __future__ import annotations

import os
import re
from pathlib import Path

from dowse.terminal import decodable

_SECTION = re.compile(r'\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\](.*)')
_SCP_URL = re.compile(r"(?:[^@/]+@)?(?:\[[^\]]+\]|[^:/\[\]]+):(?!//)(.+)")
_HEX = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")


def toplevel(path: str | os.PathLike[str]) -> str | None:
    """The work tree a path lies in, or None outside of any."""
    at = os.path.realpath(path)
    while True:
        if git_directory(at) is not None:
            return at
        parent = os.path.dirname(at)  # noqa: PTH120
        if parent == at:
            return None
        at = parent


def git_directory(work_tree: str) -> str | None:
    """Where the repository of this work tree is kept (`.git`, or what a `.git` file points to), or None."""
    place = Path(work_tree, ".git")
    try:
        if place.is_file():
            first = place.read_text(encoding="utf-8", errors="surrogateescape").partition("\n")[0]
            if not first.startswith("gitdir:"):
                return None
            place = Path(work_tree, first.removeprefix("gitdir:").strip())
        return str(place) if (place / "HEAD").is_file() or (place / "HEAD").is_symlink() else None
    except OSError:
        return None


def info_exclude(work_tree: str) -> str | None:
    """The path of the repository's own exclude file (it may not exist), or None outside of git."""
    directory = git_directory(work_tree)
    return None if directory is None else str(_common_directory(directory) / "info" / "exclude")


def global_excludes(path: str | os.PathLike[str]) -> str:
    """The path of the user's own ignore file (it may not exist): core.excludesFile, else git's default."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path("~/.config").expanduser())
    if _may_configure_excludes(path, base):
        configured = _run_git(path, "config", "--includes", "--type=path", "--get", "core.excludesFile")
        if configured:
            return configured
    return str(Path(base, "git", "ignore"))


def _may_configure_excludes(path: str | os.PathLike[str], base: str) -> bool:
    """Whether some file of git's configuration may name an ignore file: asking git itself takes longer."""
    if any(name.startswith("GIT_CONFIG") for name in os.environ):
        return True
    top = toplevel(path)
    directory = git_directory(top) if top is not None else None
    places = ["/etc/gitconfig", str(Path("~/.gitconfig").expanduser()), str(Path(base, "git", "config"))]
    if directory is not None:
        places.append(str(_common_directory(directory) / "config"))
    for place in places:
        try:
            text = Path(place).read_bytes().lower()
        except OSError:
            continue
        if b"excludesfile" in text or b"[include" in text:
            return True
    return False


def head_commit(path: str | os.PathLike[str]) -> str:
    """The commit checked out here, or "" when there is none to be found."""
    top = toplevel(path)
    directory = git_directory(top) if top is not None else None
    if top is None or directory is None:
        return ""
    return _read_head(Path(directory)) or _run_git(top, "rev-parse", "--verify", "--quiet", "HEAD")


def repo_identity(path: str | os.PathLike[str]) -> str:
    """A name for the repository: "owner/name" from its origin, else the name of its folder."""
    top = toplevel(path)
    if top is not None and (directory := git_directory(top)) is not None:
        identity = normalise_url(_origin_url(_common_directory(directory) / "config"))
        if identity:
            return decodable(identity)
    return decodable(Path(top or os.path.realpath(path)).name) or "root"


def normalise_url(url: str) -> str:
    """The "owner/name" of a remote, whatever its spelling; "" when there is none."""
    url = url.strip()
    if "://" in url:
        scheme, _, rest = url.partition("://")
        path = rest if scheme == "file" else rest.partition("/")[2]
    elif (scp := _SCP_URL.fullmatch(url)) is not None:
        path = scp[1]
    else:
        path = url
    segments = [part for part in path.partition("?")[0].rstrip("/").split("/") if part not in ("", ".", "..")]
    if not segments:
        return ""
    segments[-1] = segments[-1].removesuffix(".git") or segments[-1]
    return "/".join(segments[-2:])


def _common_directory(directory: str) -> Path:
    """Where linked work trees share their configuration."""
    try:
        pointer = Path(directory, "commondir").read_text(encoding="utf-8", errors="surrogateescape").strip()
    except OSError:
        return Path(directory)
    return Path(directory, pointer)


def _read_head(directory: Path) -> str:
    """Resolve HEAD by reading refs; "" when they are kept some other way (reftable)."""
    try:
        value = (directory / "HEAD").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
    for _ in range(5):  # git itself gives up on longer chains of symbolic refs
        if not value.startswith("ref:"):
            break
        value = _read_ref(directory, value.removeprefix("ref:").strip())
    return value if _HEX.match(value) else ""


def _read_ref(directory: Path, name: str) -> str:
    """The value of a loose or packed ref, or ""."""
    common = _common_directory(str(directory))
    for place in (directory, common):
        try:
            return (place / name).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            continue
    try:
        packed = (common / "packed-refs").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return next((line.split(" ")[0] for line in packed.splitlines() if line.endswith(" " + name)), "")


def _origin_url(config: Path) -> str:
    """The url of `[remote "origin"]` in a git configuration file, or ""."""
    try:
        lines = config.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    inside = False
    for line in lines:
        section = _SECTION.match(line)
        if section:
            inside = section[1].lower() == "remote" and section[2] == "origin"
            line = section[3]
        key, equals, value = line.partition("=")
        if inside and equals and key.strip().lower() == "url":
            return value.strip().strip('"')
    return ""


def _run_git(path: str | os.PathLike[str], *arguments: str) -> str:
    """What git prints, stripped; "" when it fails, is missing or hangs."""
    import subprocess

    command = ["git", "-C", os.fspath(path), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, timeout=10, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError, ValueError):
        return ""
    return os.fsdecode(done.stdout).strip() if done.returncode == 0 else ""
