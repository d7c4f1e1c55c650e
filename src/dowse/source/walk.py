"""The file walker: which files of a folder to index, and why the others are skipped."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from dowse.errors import SourceError
from dowse.lazy_classes import dataclass, field, replace
from dowse.security.safe_files import OpenFolder, open_folder_below, read_below, read_regular_file
from dowse.source import git
from dowse.source.default_excludes import (
    MARKER_FILES,
    VERSION_CONTROL,
    skipped_directory_reason,
    skipped_file_reason,
)
from dowse.source.ignore import IgnoreRules, Rule, read_rules
from dowse.source.secrets import (
    SUSPECT_EXTENSIONS,
    SUSPECT_NAMES,
    SUSPECT_PREFIX,
    secret_directory_reason,
    secret_file_reason,
)

# Hand-written code stays far below; larger files are data, bundles or amalgamations, which would fill the
# index with text nobody searches for.
MAX_FILE_BYTES = 1_000_000
# How the reason for leaving out a larger one begins.
TOO_LARGE = "larger than "

# No real repository comes near it; each level costs every path below it.
MAX_DEPTH = 150

GIT_IGNORE, DOWSE_IGNORE = ".gitignore", ".dowseignore"

# A larger ignore file is not read.
MAX_IGNORE_BYTES = 1_000_000

_READABLE_BY_ALL = 0o444


@dataclass(frozen=True, slots=True)
class WalkedFile:
    """A file to index."""

    path: str  # relative to the root, with "/"; undecodable bytes are surrogate escapes
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file or, ending with "/", a whole folder that is not indexed."""

    path: str
    reason: str
    # Whether the file's size, type or permissions decided, which can change, and not a rule or its name.
    by_state: bool = field(default=False, compare=False)


def walk(
    root: str | os.PathLike[str],
    *,
    exclude: Iterable[str] = (),
    include_secrets: bool = False,
    max_file_bytes: int = MAX_FILE_BYTES,
    user_ignores: bool = True,
) -> Iterator[WalkedFile | SkippedFile]:
    """Yield everything under a folder in a fixed order: a folder's files by name, then its folders by name.

    Three layers of gitignore patterns decide, and in each the first rule to match a path wins:

    1. `exclude`, relative to the root: the user's patterns. A match is final, and a negation brings back what
       git ignores or the default excludes skip.
    2. `.dowseignore` from the innermost outwards: the repository's patterns. They are untrusted, so they can
       only exclude more: a negation undoes an outer `.dowseignore` or the default excludes, never what git
       ignores.
    3. `.gitignore` from the innermost outwards up to the git toplevel, `.git/info/exclude`, and the user's
       own git ignore file (unless `user_ignores` is off, for the same result on every machine).

    Files that are secrets by name (`dowse.source.secrets`) are skipped unless `include_secrets` is on: no
    pattern brings them back. As in git, nothing comes back from inside an excluded folder; the root itself
    is never excluded, since the user named it.

    Hidden files are included: `.github`, `.storybook` or `.eslintrc.js` hold what people search
    for, and the hidden folders that only hold noise are known by name. Symbolic links are never followed.
    """
    top = os.path.realpath(root)
    if not Path(top).is_dir():
        raise SourceError(f"{os.fspath(root)} is not a folder; name an existing folder to index")
    layers = root_layers(top, tuple(exclude), user_ignores, include_secrets=include_secrets)
    return walk_below(top, Folder("", layers, is_requested=True), max_file_bytes)


@dataclass(frozen=True, slots=True)
class _ScopedRules:
    """The rules of one ignore file, and how to make paths relative to its folder."""

    rules: IgnoreRules
    cut: int = 0  # length of the path of the ignore file's folder, to cut off
    prefix: str = ""  # or, for a folder above the root, the path from it to the root, to put before


@dataclass(frozen=True, slots=True)
class IgnoreLayers:
    """All ignore rules that apply in one folder, innermost first within each kind."""

    command: tuple[_ScopedRules, ...] = ()  # the user's `exclude`
    dowse: tuple[_ScopedRules, ...] = ()  # of .dowseignore
    git: tuple[_ScopedRules, ...] = ()
    user: tuple[_ScopedRules, ...] = ()  # the user's own git ignore file
    include_secrets: bool = False
    # The layers that have rules, strongest first, each with whether it is trusted.
    kinds: tuple[tuple[bool, tuple[_ScopedRules, ...]], ...] = field(init=False)

    def __post_init__(self) -> None:
        kinds = ((True, self.command), (False, self.dowse), (False, self.git + self.user))
        object.__setattr__(self, "kinds", tuple(kind for kind in kinds if kind[1]))

    def deciding_rule(self, path: str, is_directory: bool) -> tuple[Rule | None, _ScopedRules | None]:
        """Return the rule that decides about a path, and its file; a negated rule includes the path.

        A negation in `.dowseignore` only decides where git does not ignore the path: the repository must not
        bring back what the user keeps out of it.
        """
        restored: tuple[Rule | None, _ScopedRules | None] = (None, None)
        for trusted, scopes in self.kinds:
            for scope in scopes:
                relative = path[scope.cut :] if scope.cut else scope.prefix + path
                rule = scope.rules.match(relative, is_directory)
                if rule is not None:
                    if trusted or not rule.negated:
                        return rule, scope
                    if scopes is self.dowse:
                        restored = rule, scope
                    break
        return restored

    def with_folder_rules(self, dowse: _ScopedRules | None, own: _ScopedRules | None) -> IgnoreLayers:
        """Return the layers that apply in a folder with ignore files of its own."""
        if dowse is None and own is None:
            return self
        return replace(
            self,
            dowse=(dowse, *self.dowse) if dowse is not None else self.dowse,
            git=(own, *self.git) if own is not None else self.git,
        )

    def at_repository(self, exclude: _ScopedRules | None) -> IgnoreLayers:
        """Return the layers at the top of a nested repository, where the outer one's rules end."""
        return replace(self, git=(exclude,) if exclude is not None else ())


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder to be read."""

    path: str  # "" for the root, else ending with "/"
    layers: IgnoreLayers  # without its own ignore files
    is_requested: bool  # by the user or an overriding negation: marker files in it do not exclude it


def walk_below(
    top: str,
    start: Folder,
    max_file_bytes: int,
    on_folder: Callable[[str], None] | None = None,
    rules: dict[str, IgnoreLayers] | None = None,
) -> Iterator[WalkedFile | SkippedFile]:
    """Read folder after folder, depth first.

    Args:
        top: The real path of the root.
        start: The first folder.
        max_file_bytes: Larger files are skipped.
        on_folder: Called with every folder right before it is read.
        rules: Filled with the rules that apply in every folder that was read.
    """
    pending = [start]
    while pending:
        folder = pending.pop()
        if on_folder is not None:
            on_folder(folder.path)
        below: list[Folder] = []
        for verdict in _walk_folder(top, folder, max_file_bytes, rules):
            if isinstance(verdict, Folder) and verdict.path.count("/") > MAX_DEPTH:
                yield SkippedFile(verdict.path, f"more than {MAX_DEPTH} folders deep")
            elif isinstance(verdict, Folder):
                below.append(verdict)
            else:
                yield verdict
        below.reverse()
        pending += below


def _walk_folder(
    top: str, folder: Folder, max_file_bytes: int, rules: dict[str, IgnoreLayers] | None
) -> list[WalkedFile | SkippedFile | Folder]:
    """Decide about every entry of a folder, or about the whole folder."""
    try:
        with open_folder_below(top, folder.path.split("/")[:-1]) as opened:
            entries = opened.list_entries()
            marker = next((why for name, why in MARKER_FILES.items() if name in entries), "")
            if marker and not folder.is_requested:
                return [SkippedFile(folder.path, marker)]
            here = _layers_inside(top, folder, entries)
            if rules is not None:
                rules[folder.path] = here
            return [
                classify_entry(opened, entries[name], folder.path + name, here, max_file_bytes)
                for name in sorted(entries)
            ]
    except OSError as error:
        return [_unreadable(folder.path or "./", error)]


def classify_entry(
    folder: OpenFolder, entry: os.DirEntry[str], path: str, layers: IgnoreLayers, max_file_bytes: int
) -> WalkedFile | SkippedFile | Folder:
    """Decide whether to index, skip or descend into one entry of a folder."""
    name = entry.name
    is_directory = _is_directory(entry)
    shown = path + "/" if is_directory else path
    if name in VERSION_CONTROL:
        return SkippedFile(shown, "version control")
    rule, scope = layers.deciding_rule(path, is_directory)
    if rule is not None and scope is not None and not rule.negated:
        return SkippedFile(shown, f"ignored by {scope.rules.source}: {rule.pattern}")
    lowered = name.lower()
    extension = lowered[lowered.rfind(".") + 1 :]
    if not layers.include_secrets and (
        lowered in SUSPECT_NAMES or extension in SUSPECT_EXTENSIONS or lowered.startswith(SUSPECT_PREFIX)
    ):
        reason = secret_directory_reason(name) if is_directory else secret_file_reason(name, path)
        if reason:
            return SkippedFile(shown, reason)
    wanted = rule is not None
    if not wanted:
        reason = skipped_directory_reason(name) if is_directory else skipped_file_reason(name, extension)
        if reason:
            return SkippedFile(shown, reason)
    if is_directory:
        return Folder(shown, layers, wanted)
    return _classify_file(folder, entry, path, max_file_bytes)


def _classify_file(
    folder: OpenFolder, entry: os.DirEntry[str], path: str, max_file_bytes: int
) -> WalkedFile | SkippedFile:
    """Classify a file by its type, size and permissions, without opening it."""
    try:
        if entry.is_symlink():
            return SkippedFile(path, f"symlink to {folder.read_link(entry.name)}", by_state=True)
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        return _unreadable(path, error)
    mode = status.st_mode
    if not stat.S_ISREG(mode):
        return SkippedFile(path, "not a regular file", by_state=True)
    if status.st_size > max_file_bytes:
        return SkippedFile(path, f"{TOO_LARGE}{max_file_bytes:,} bytes", by_state=True)
    # access(2) costs as much as the stat; files that everybody may read don't need it.
    if mode & _READABLE_BY_ALL != _READABLE_BY_ALL and not folder.can_read(entry.name):
        return SkippedFile(path, "unreadable: permission denied", by_state=True)
    return WalkedFile(path, status.st_size, _within_int64(status.st_mtime_ns))


def _within_int64(nanoseconds: int) -> int:
    """Return a time as it is stored; one after the year 2262 wraps around, which still tells changes."""
    return (nanoseconds + (1 << 63)) % (1 << 64) - (1 << 63)


def _is_directory(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a real folder, no symbolic link; False if it can't be read."""
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _layers_inside(top: str, folder: Folder, entries: dict[str, os.DirEntry[str]]) -> IgnoreLayers:
    """Return the layers that apply to a folder's entries."""
    layers, path = folder.layers, folder.path
    if path and ".git" in entries and git.git_directory(os.path.join(top, path)) is not None:
        layers = layers.at_repository(_exclude_scope(os.path.join(top, path), cut=len(path)))
    own = dowse = None
    if GIT_IGNORE in entries:
        own = _read_rules(top, path + GIT_IGNORE, path + GIT_IGNORE, cut=len(path))
    if DOWSE_IGNORE in entries:
        dowse = _read_rules(top, path + DOWSE_IGNORE, path + DOWSE_IGNORE, cut=len(path))
    return layers.with_folder_rules(dowse, own)


def root_layers(
    top: str,
    exclude: tuple[str, ...],
    user_ignores: bool,
    *,
    include_secrets: bool = False,
) -> IgnoreLayers:
    """Return the layers from above and beside the root; arguments as of `walk`."""
    command = IgnoreRules(exclude, "exclude")
    repository = git.toplevel(top)
    user = _user_rules() if user_ignores else None
    layers = IgnoreLayers(
        command=(_ScopedRules(command),) if command else (),
        user=(user,) if user is not None else (),
        include_secrets=include_secrets,
    )
    if repository is None:
        return layers
    steps = [] if repository == top else os.path.relpath(top, repository).split("/")
    layers = layers.at_repository(_exclude_scope(repository, prefix="".join(f"{step}/" for step in steps)))
    for depth in range(len(steps)):
        above = os.path.join(repository, *steps[:depth])
        prefix = "".join(f"{step}/" for step in steps[depth:])
        shown = "../" * (len(steps) - depth)
        dowse = _read_rules(above, DOWSE_IGNORE, shown + DOWSE_IGNORE, prefix=prefix)
        own = _read_rules(above, GIT_IGNORE, shown + GIT_IGNORE, prefix=prefix)
        layers = layers.with_folder_rules(dowse, own)
    return layers


def _exclude_scope(work_tree: str, *, cut: int = 0, prefix: str = "") -> _ScopedRules | None:
    """Return the rules of the repository's own exclude file."""
    path = git.info_exclude(work_tree)
    if path is None:
        return None
    common, shown = path.removesuffix("/info/exclude"), ".git/info/exclude"
    return _read_rules(common, "info/exclude", shown, cut=cut, prefix=prefix)


def _user_rules() -> _ScopedRules | None:
    """Return the rules of the user's own git ignore file."""
    try:
        data = read_regular_file(git.global_excludes(), MAX_IGNORE_BYTES, follow_symlinks=True)
    except (OSError, ValueError):
        return None
    return _parse_rules(data, "the user's git ignore")


def _read_rules(
    directory: str, path: str, shown: str, *, cut: int = 0, prefix: str = ""
) -> _ScopedRules | None:
    """Return the rules of an ignore file; None if it is missing, empty or, as for git, a symbolic link."""
    try:
        data = read_below(directory, path, MAX_IGNORE_BYTES)
    except (OSError, ValueError):
        return None
    return _parse_rules(data, shown, cut, prefix)


def _parse_rules(data: bytes, shown: str, cut: int = 0, prefix: str = "") -> _ScopedRules | None:
    rules = read_rules(data.decode("utf-8", "surrogateescape"), shown)
    return _ScopedRules(rules, cut, prefix) if rules else None


def _unreadable(path: str, error: OSError) -> SkippedFile:
    return SkippedFile(path, f"unreadable: {(error.strerror or str(error)).lower()}", by_state=True)
