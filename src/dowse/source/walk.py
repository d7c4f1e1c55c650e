"""Which files of a folder are worth indexing, and why the others are not."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dowse.errors import SourceError
from dowse.security.safe_files import read_regular_file
from dowse.source import git
from dowse.source.default_excludes import (
    MARKER_FILES,
    VERSION_CONTROL,
    skipped_directory_reason,
    skipped_file_reason,
)
from dowse.source.ignore import IgnoreRules, Rule, read_rules
from dowse.source.secrets import (
    SUSPECT_BEGINNING,
    SUSPECT_EXTENSIONS,
    SUSPECT_NAMES,
    secret_directory_reason,
    secret_file_reason,
)

# Code that people write stays far below; what is above is data, bundles or amalgamations, which would fill
# the index with text nobody asks for.
MAX_FILE_BYTES = 1_000_000

# No repository of people goes near it; each level costs every path below it.
MAX_DEPTH = 150

GIT_IGNORE, DOWSE_IGNORE = ".gitignore", ".dowseignore"

# A larger ignore file does not count. Neither does one more where so many of its kind are in force already,
# or so many characters of patterns: each is tried on every path below (see source/ignore.py).
MAX_IGNORE_BYTES = 1_000_000
MAX_IGNORE_FILES, MAX_WILDCARD_CHARACTERS_IN_FORCE = 100, 16_384

_READABLE_BY_ALL = 0o444


@dataclass(frozen=True, slots=True)
class WalkedFile:
    """A file to index."""

    path: str  # relative to the root, with "/"; undecodable bytes are surrogate escapes
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file or, ending with "/", a whole folder that is left out."""

    path: str
    reason: str


def walk(
    root: str | os.PathLike[str],
    *,
    exclude: Iterable[str] = (),
    include_hidden: bool = True,
    include_secrets: bool = False,
    max_file_bytes: int = MAX_FILE_BYTES,
    user_ignores: bool = True,
) -> Iterator[WalkedFile | SkippedFile]:
    """Everything under a folder in a fixed order: a folder's files by name, then its folders by name.

    Three layers of gitignore patterns decide, and in each the first rule to match a path wins:

    1. `exclude`, seen from the root: what the user said. A match is final, and a negation brings back what
       git ignores or our own list of names leaves out.
    2. `.dowseignore` from the innermost outwards: what the repository says. It is untrusted, so it can only
       leave out more: a negation undoes an outer `.dowseignore` or our own list of names, and never what git
       ignores.
    3. `.gitignore` from the innermost outwards up to the git toplevel, `.git/info/exclude`, and the user's
       own git ignore file (unless `user_ignores` is off, for the same answer on every machine).

    Files that are secrets by name (`dowse.source.secrets`) are left out unless `include_secrets` is on: no
    pattern brings them back. As in git, nothing comes back from inside an excluded folder; the root itself
    is never excluded, since it was asked for.

    Hidden files count by default: `.github`, `.storybook` or `.eslintrc.js` hold what people search for, and
    the hidden folders that only hold noise are known by name. Symbolic links are never followed.
    """
    top = os.path.realpath(root)
    if not Path(top).is_dir():
        raise SourceError(f"{os.fspath(root)} is not a folder; name an existing folder to index")
    layers = outer_layers(top, tuple(exclude), user_ignores, include_secrets=include_secrets)
    return walk_below(top, Folder("", layers, asked_for=True), include_hidden, max_file_bytes)


@dataclass(frozen=True, slots=True)
class _Scope:
    """The rules of one ignore file and where paths must be seen from to compare with them."""

    rules: IgnoreRules
    cut: int = 0  # characters of the path that lead to the ignore file's folder
    lead: str = ""  # or, for a folder above the root, the way from it down to the root


@dataclass(frozen=True, slots=True)
class Layers:
    """Every rule in force in one folder, innermost first within each kind."""

    command: tuple[_Scope, ...] = ()  # what the user said
    dowse: tuple[_Scope, ...] = ()  # what the repository says to dowse
    git: tuple[_Scope, ...] = ()
    user: tuple[_Scope, ...] = ()  # the user's own git ignore
    include_secrets: bool = False
    # The layers that have rules, strongest first, each with whether the user wrote it.
    kinds: tuple[tuple[bool, tuple[_Scope, ...]], ...] = field(init=False)

    def __post_init__(self) -> None:
        kinds = ((True, self.command), (False, self.dowse), (False, self.git + self.user))
        object.__setattr__(self, "kinds", tuple(kind for kind in kinds if kind[1]))

    def verdict(self, path: str, is_directory: bool) -> tuple[Rule | None, _Scope | None]:
        """The rule that decides about a path and where it is written; a negated rule keeps the path.

        A `.dowseignore` that negates only decides where git has nothing against the path: the repository
        must not bring back what the user keeps out of it.
        """
        restored: tuple[Rule | None, _Scope | None] = (None, None)
        for trusted, scopes in self.kinds:
            for scope in scopes:
                seen = path[scope.cut :] if scope.cut else scope.lead + path
                rule = scope.rules.match(seen, is_directory)
                if rule is not None:
                    if trusted or not rule.negated:
                        return rule, scope
                    if scopes is self.dowse:
                        restored = rule, scope
                    break
        return restored

    def inside(self, dowse: _Scope | None, own: _Scope | None) -> Layers:
        """The layers in force in a folder with ignore files of its own."""
        dowse, own = _affordable(dowse, self.dowse), _affordable(own, self.git)
        if dowse is None and own is None:
            return self
        return Layers(
            self.command,
            (dowse, *self.dowse) if dowse is not None else self.dowse,
            (own, *self.git) if own is not None else self.git,
            self.user,
            self.include_secrets,
        )

    def at_repository(self, exclude: _Scope | None) -> Layers:
        """The layers at the top of a nested repository, where the outer one's rules end."""
        own = (exclude,) if exclude is not None else ()
        return Layers(self.command, self.dowse, own, self.user, self.include_secrets)


def _affordable(scope: _Scope | None, in_force: tuple[_Scope, ...]) -> _Scope | None:
    """The scope, unless so many of its kind are in force that a hostile tree could make every path slow.

    Each kind by itself: else files of `.dowseignore` could leave no room for what git ignores.
    """
    if scope is None or len(in_force) >= MAX_IGNORE_FILES:
        return None
    cost = sum(each.rules.cost for each in in_force)
    return scope if cost + scope.rules.cost <= MAX_WILDCARD_CHARACTERS_IN_FORCE else None


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder still to be read."""

    path: str  # "" for the root, else ending with "/"
    layers: Layers  # without its own ignore files
    asked_for: bool  # by the user or an overriding negation: what it holds does not disqualify it


def walk_below(
    top: str,
    start: Folder,
    include_hidden: bool,
    max_file_bytes: int,
    on_folder: Callable[[str], None] | None = None,
    rules: dict[str, Layers] | None = None,
) -> Iterator[WalkedFile | SkippedFile]:
    """Read folder after folder, depth first.

    Args:
        top: The root, as it is really called.
        start: Where to begin.
        include_hidden: Whether hidden files count.
        max_file_bytes: What is larger is left out.
        on_folder: Called with every folder right before it is read.
        rules: Filled with the rules in force in every folder that was read.
    """
    pending = [start]
    while pending:
        folder = pending.pop()
        if on_folder is not None:
            on_folder(folder.path)
        try:
            with os.scandir(os.path.join(top, folder.path)) as listing:
                entries = {entry.name: entry for entry in listing}
        except OSError as error:
            yield SkippedFile(folder.path or "./", _unreadable(error))
            continue
        telltale = next((why for name, why in MARKER_FILES.items() if name in entries), "")
        if telltale and not folder.asked_for:
            yield SkippedFile(folder.path, telltale)
            continue
        here = _layers_inside(top, folder, entries)
        if rules is not None:
            rules[folder.path] = here
        below: list[Folder] = []
        for name in sorted(entries):
            found = judge(entries[name], folder.path + name, here, include_hidden, max_file_bytes)
            if isinstance(found, Folder) and found.path.count("/") > MAX_DEPTH:
                yield SkippedFile(found.path, f"more than {MAX_DEPTH} folders deep")
            elif isinstance(found, Folder):
                below.append(found)
            else:
                yield found
        below.reverse()
        pending += below


def judge(
    entry: os.DirEntry[str], path: str, layers: Layers, include_hidden: bool, max_file_bytes: int
) -> WalkedFile | SkippedFile | Folder:
    """What to do with one entry of a folder."""
    name = entry.name
    is_directory = _is_directory(entry)
    shown = path + "/" if is_directory else path
    if name in VERSION_CONTROL:
        return SkippedFile(shown, "version control")
    rule, scope = layers.verdict(path, is_directory)
    if rule is not None and scope is not None and not rule.negated:
        return SkippedFile(shown, f"ignored by {scope.rules.source}: {rule.pattern}")
    lowered = name.lower()
    extension = lowered[lowered.rfind(".") + 1 :]
    if not layers.include_secrets and (
        lowered in SUSPECT_NAMES or extension in SUSPECT_EXTENSIONS or lowered.startswith(SUSPECT_BEGINNING)
    ):
        reason = secret_directory_reason(name) if is_directory else secret_file_reason(name, path)
        if reason:
            return SkippedFile(shown, reason)
    wanted = rule is not None
    if not wanted:
        reason = skipped_directory_reason(name) if is_directory else skipped_file_reason(name, extension)
        if not reason and not include_hidden and name[0] == ".":
            reason = "hidden"
        if reason:
            return SkippedFile(shown, reason)
    return Folder(shown, layers, wanted) if is_directory else _judge_file(entry, path, max_file_bytes)


def _judge_file(entry: os.DirEntry[str], path: str, max_file_bytes: int) -> WalkedFile | SkippedFile:
    """What the file system says about a file, without opening it."""
    try:
        if entry.is_symlink():
            return SkippedFile(path, f"symlink to {os.readlink(entry.path)}")  # noqa: PTH115
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        return SkippedFile(path, _unreadable(error))
    mode = status.st_mode
    if not stat.S_ISREG(mode):
        return SkippedFile(path, "not a regular file")
    if status.st_size > max_file_bytes:
        return SkippedFile(path, f"larger than {max_file_bytes:,} bytes")
    # Asking the kernel costs as much as the stat; files that everybody may read need no asking.
    if mode & _READABLE_BY_ALL != _READABLE_BY_ALL and not os.access(entry.path, os.R_OK):
        return SkippedFile(path, "unreadable: permission denied")
    return WalkedFile(path, status.st_size, status.st_mtime_ns)


def _is_directory(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a real folder; one that cannot be asked is not."""
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _layers_inside(top: str, folder: Folder, entries: dict[str, os.DirEntry[str]]) -> Layers:
    """The layers in force among a folder's entries."""
    layers, path = folder.layers, folder.path
    if path and ".git" in entries and git.git_directory(os.path.join(top, path)) is not None:
        layers = layers.at_repository(_exclude_scope(os.path.join(top, path), cut=len(path)))
    own = dowse = None
    if GIT_IGNORE in entries:
        own = _scope(entries[GIT_IGNORE].path, path + GIT_IGNORE, cut=len(path))
    if DOWSE_IGNORE in entries:
        dowse = _scope(entries[DOWSE_IGNORE].path, path + DOWSE_IGNORE, cut=len(path))
    return layers.inside(dowse, own)


def outer_layers(
    top: str,
    exclude: tuple[str, ...],
    user_ignores: bool,
    *,
    include_secrets: bool = False,
) -> Layers:
    """The layers that come from above and beside the root; arguments as of `walk`."""
    command = IgnoreRules(exclude, "--exclude")
    repository = git.toplevel(top)
    user = _scope(git.global_excludes(), "the user's git ignore", follow=True) if user_ignores else None
    layers = Layers(
        command=(_Scope(command),) if command else (),
        user=(user,) if user is not None else (),
        include_secrets=include_secrets,
    )
    if repository is None:
        return layers
    steps = [] if repository == top else os.path.relpath(top, repository).split("/")
    layers = layers.at_repository(_exclude_scope(repository, lead="".join(f"{step}/" for step in steps)))
    for depth in range(len(steps)):
        above = os.path.join(repository, *steps[:depth])
        lead = "".join(f"{step}/" for step in steps[depth:])
        shown = "../" * (len(steps) - depth)
        dowse = _scope(os.path.join(above, DOWSE_IGNORE), shown + DOWSE_IGNORE, lead=lead)
        own = _scope(os.path.join(above, GIT_IGNORE), shown + GIT_IGNORE, lead=lead)
        layers = layers.inside(dowse, own)
    return layers


def _exclude_scope(work_tree: str, *, cut: int = 0, lead: str = "") -> _Scope | None:
    """The repository's own exclude file as a scope."""
    place = git.info_exclude(work_tree)
    if place is None:
        return None
    return _scope(place, ".git/info/exclude", cut=cut, lead=lead)


def _scope(place: str, shown: str, *, cut: int = 0, lead: str = "", follow: bool = False) -> _Scope | None:
    """The rules of an ignore file as a scope; None when it is missing, empty or not a plain file."""
    try:
        # Like git, no symbolic links for ignore files in the tree.
        data = read_regular_file(place, MAX_IGNORE_BYTES, follow_symlinks=follow)
        text = data.decode("utf-8", "surrogateescape")
    except (OSError, ValueError):
        return None
    rules = read_rules(text, shown)
    return _Scope(rules, cut, lead) if rules else None


def _unreadable(error: OSError) -> str:
    """A reason out of an operating system's error."""
    return f"unreadable: {(error.strerror or str(error)).lower()}"
