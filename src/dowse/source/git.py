"""git repositories, by reading git's files: no process to start, no git to be installed.

A `.git` folder is untrusted data like the rest of a repository. Files in it are read if regular and of a
sensible size, symbolic links are not followed, and no other folder is read unless it proves that it belongs
to this work tree (`git_directory`). Ref names are checked against path traversal before they become part of a
path; HEAD as a link, as git made it before 2005, is read as the name of a ref.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from dowse.security.safe_files import FileTooLarge, NotRegularFile, read_below, read_regular_file
from dowse.security.terminal import escape_surrogates
from dowse.source.git_config import MAX_CONFIG_BYTES, read_config

_SCP_URL = r"(?:[^@/]+@)?(?:\[[^\]]+\]|[^:/\[\]]+):(?!//)(.+)"
_MAX_URL_CHARACTERS = 4096
MAX_REF_BYTES = 4096
MAX_PACKED_REFS_BYTES = 64_000_000
_MAX_SYMBOLIC_REFS = 5  # git itself gives up on longer chains
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|\Z)|[/.]\Z")


def toplevel(path: str | os.PathLike[str]) -> str | None:
    """Return the work tree that holds a path, or None."""
    start = Path(os.path.realpath(path))
    folders = map(str, (start, *start.parents))
    return next(
        (each for each in folders if git_directory(each) is not None and _may_contain(each, start)), None
    )


def _may_contain(work_tree: str, start: Path) -> bool:
    """Whether a repository above a folder counts: not one of another user, as in /tmp, unless git allows it.

    The owner of the folder itself counts too: whoever asks for somebody's folder gets it as it is.
    """
    if not hasattr(os, "geteuid"):
        return True
    try:
        owner = os.lstat(os.path.join(work_tree, ".git")).st_uid
        if owner in (0, os.geteuid()) or owner == start.stat().st_uid:
            return True
    except OSError:
        return False
    from dowse.source.git_process import read_user_config

    allowed: set[str] = set()
    for value in read_user_config("safe.directory"):
        allowed = allowed | {value.rstrip("/")} if value else set()  # as in git, an empty one starts anew
    return not allowed.isdisjoint(("*", work_tree))


def git_directory(work_tree: str) -> str | None:
    """Return the git folder of a work tree, or None if it is none.

    That is `.git`, or what a `.git` file names, provided that it names this work tree in turn: an unpacked
    archive must not make dowse read the repository of somebody else. A `.git` that is a symbolic link, a FIFO
    or a device is no repository.
    """
    path = os.path.join(work_tree, ".git")
    try:
        mode = os.lstat(path).st_mode
        directory = path if stat.S_ISDIR(mode) else None
        if stat.S_ISREG(mode):
            directory = _linked_directory(work_tree)
        if directory is None:
            return None
        head = os.lstat(os.path.join(directory, "HEAD")).st_mode
    except (OSError, ValueError):
        return None
    return directory if stat.S_ISREG(head) or stat.S_ISLNK(head) else None


def common_directory(directory: str) -> str:
    """Return the git folder that linked work trees share, with configuration, refs and objects.

    Without links it is the folder itself. The folder of a linked work tree is `worktrees/NAME` of the shared
    one, so `commondir` can name no other.
    """
    outer, kind = os.path.split(os.path.dirname(directory))  # noqa: PTH120
    if kind != "worktrees" or os.path.basename(directory) == ".git":  # noqa: PTH119
        return directory
    shared = os.path.join(directory, read_line_below(directory, "commondir"))
    return outer if os.path.realpath(shared) == outer else directory


def info_exclude(work_tree: str) -> str | None:
    """Return the path of the repository's own exclude file (it may not exist), or None outside of git."""
    directory = git_directory(work_tree)
    if directory is None:
        return None
    folder = os.path.join(common_directory(directory), "info")
    return None if os.path.islink(folder) else os.path.join(folder, "exclude")  # noqa: PTH114


def global_excludes() -> str:
    """Return the path of the user's own ignore file: core.excludesFile, else git's default; it may not exist.

    Only the configuration of the user and the system counts, never that of a repository. A relative path,
    which git would resolve in the repository, does not count either.
    """
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path("~/.config").expanduser())
    if _may_configure_excludes(base):
        from dowse.source.git_process import read_user_config

        configured = read_user_config("core.excludesFile")
        if configured and os.path.isabs(configured[-1]):  # noqa: PTH117
            return configured[-1]
    return str(Path(base, "git", "ignore"))


def head_commit(path: str | os.PathLike[str]) -> str:
    """Return the commit that is checked out, or "" if there is none."""
    top = toplevel(path)
    directory = git_directory(top) if top is not None else None
    return read_head(directory, common_directory(directory)) if directory is not None else ""


def repo_identity(path: str | os.PathLike[str]) -> str:
    """Return a name for the repository: "owner/name" from its origin, else the name of its folder."""
    top = toplevel(path)
    if top is not None and (directory := git_directory(top)) is not None:
        config = os.path.join(common_directory(directory), "config")
        urls = read_config(config, ("remote.origin.url",)).get("remote.origin.url", [""])
        if identity := normalise_url(urls[0]):
            return escape_surrogates(identity)
    return escape_surrogates(Path(top or os.path.realpath(path)).name) or "root"


def normalise_url(url: str) -> str:
    """Return the "owner/name" of a remote URL in any form; "" if there is none."""
    url = url.strip()
    if len(url) > _MAX_URL_CHARACTERS or not url.isprintable():
        return ""
    if "://" in url:
        scheme, _, rest = url.partition("://")
        path = rest if scheme == "file" else rest.partition("/")[2]
    elif (scp := re.fullmatch(_SCP_URL, url)) is not None:
        path = scp[1]
    else:
        path = url
    segments = [part for part in path.partition("?")[0].rstrip("/").split("/") if part not in ("", ".", "..")]
    if not segments:
        return ""
    segments[-1] = segments[-1].removesuffix(".git") or segments[-1]
    return "/".join(segments[-2:])


def _linked_directory(work_tree: str) -> str | None:
    """Return the folder that a `.git` file names, if it is that of this linked work tree or submodule.

    Nothing is opened in a folder whose path is that of neither.
    """
    pointer = read_line_below(work_tree, ".git").partition("\n")[0]
    if not pointer.startswith("gitdir:"):
        return None
    target = os.path.realpath(os.path.join(work_tree, pointer.removeprefix("gitdir:").strip()))
    parents = Path(target).parent.parts
    if parents[-1:] == ("worktrees",):
        back = os.path.join(target, read_line_below(target, "gitdir"))
        folder, name = os.path.split(back)
        if name == ".git" and _is_same(folder, work_tree):
            return target
    if "modules" in parents:
        named = read_config(os.path.join(target, "config"), ("core.worktree",)).get("core.worktree")
        if named and _is_same(os.path.join(target, named[-1]), work_tree):
            return target
    return None


def _is_same(folder: str, work_tree: str) -> bool:
    return os.path.realpath(folder) == os.path.realpath(work_tree)


def _may_configure_excludes(base: str) -> bool:
    """Whether a file of the user's configuration may name an ignore file: running git takes longer."""
    if any(name.startswith("GIT_CONFIG") for name in os.environ):
        return True
    for file in ("/etc/gitconfig", Path("~/.gitconfig").expanduser(), Path(base, "git", "config")):
        try:
            text = read_regular_file(file, MAX_CONFIG_BYTES, follow_symlinks=True).lower()
        except (FileTooLarge, NotRegularFile):
            return True
        except OSError:
            continue
        if b"excludesfile" in text or b"[include" in text:
            return True
    return False


def is_ref_name(name: str) -> bool:
    """Whether a name is a valid ref below `refs/`, by the rules of `git check-ref-format`."""
    return name.startswith("refs/") and len(name) < MAX_REF_BYTES and not _FORBIDDEN.search(name)


def is_commit_hash(value: str) -> bool:
    """Whether a value is a full SHA-1 or SHA-256 object name."""
    return _HASH.match(value) is not None


def read_head(directory: str, common: str) -> str:
    """Resolve HEAD to a commit; "" when it has none, is malformed, or refs are kept as reftable."""
    value = _read_head_file(directory)
    for _ in range(_MAX_SYMBOLIC_REFS):
        if not value.startswith("ref:"):
            break
        value = _read_ref(directory, common, value.removeprefix("ref:").strip())
    return value if is_commit_hash(value) else ""


def read_ref(directory: str, common: str, name: str) -> str:
    """Resolve the name of a branch, tag or remote branch as git does; "" if there is none.

    The branches of `origin` come last, so that a fresh clone need not name it.
    """
    if name == "HEAD":
        return read_head(directory, common)
    places = ("", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/", "refs/remotes/origin/")
    for place in places:
        value = _read_ref(directory, common, place + name)
        for _ in range(_MAX_SYMBOLIC_REFS):
            if not value.startswith("ref:"):
                break
            value = _read_ref(directory, common, value.removeprefix("ref:").strip())
        if is_commit_hash(value):
            return value
    return ""


def read_line_below(directory: str, name: str) -> str:
    """Read a one-line file below a directory, stripped; "" if it can't be read."""
    try:
        return os.fsdecode(read_below(directory, name, MAX_REF_BYTES)).strip()
    except (OSError, ValueError):
        return ""


def _read_head_file(directory: str) -> str:
    """Return the content of HEAD, "ref: NAME" where it is an old-style symbolic link."""
    try:
        return f"ref: {Path(directory, 'HEAD').readlink()}"
    except (OSError, ValueError):
        return read_line_below(directory, "HEAD")


def _read_ref(directory: str, common: str, name: str) -> str:
    """Return the value of a loose or packed ref, or ""."""
    if not is_ref_name(name):
        return ""
    return read_line_below(directory, name) or read_line_below(common, name) or _read_packed_ref(common, name)


def _read_packed_ref(common: str, name: str) -> str:
    """Find a ref in packed-refs, which has a line "HASH NAME" for each."""
    try:
        packed = read_below(common, "packed-refs", MAX_PACKED_REFS_BYTES) + b"\n"
        wanted = b" " + os.fsencode(name) + b"\n"
    except (OSError, ValueError):
        return ""
    at = packed.find(wanted)
    while at >= 0:
        value = packed[packed.rfind(b"\n", 0, at) + 1 : at].decode("ascii", "replace")
        if is_commit_hash(value):
            return value
        at = packed.find(wanted, at + len(wanted))
    return ""
