"""Variants of the same code: old versions beside the current one, and code for less common systems.

`v3/types.ts` beside `v4/`, `v1/fields.py` beside `fields.py`, `legacy/`, `win/fs.c` beside `unix/fs.c`: all
match a question alike, and who does not name one of them asks for the current code of the usual system.
Whether a newer or more usual variant exists is decided among the candidates: where only the old one matches,
it is the answer.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from dowse.parsing.tokenizer import split_identifier

_VERSION = re.compile(r"v(\d{1,3})(?:(alpha|beta|rc)(\d*))?\Z", re.IGNORECASE)
_STAGES = ("alpha", "beta", "rc", "")
_OLD = frozenset(["deprecated", "legacy", "obsolete", "old"])
_USUAL_SYSTEMS = frozenset(["unix", "posix", "linux", "darwin", "macos", "mac", "osx", "bsd", "nix"])
_OTHER_SYSTEMS = frozenset(
    "win win32 win64 windows mingw cygwin msvc os390 zos aix sunos solaris haiku ibmi hpux qnx vms".split()
)
# How a question asks for a variant by another word.
_SYNONYMS = {"windows": _OTHER_SYSTEMS & frozenset(["win", "win32", "win64", "mingw", "msvc"])}


class _Version(NamedTuple):
    """A folder that is a version: `v2`, `v1beta1`."""

    parent: str
    number: int
    stage: int
    name: str


def lesser_variants(paths: Iterable[str], words: Collection[str]) -> frozenset[str]:
    """Return the paths that are old or unusual variants of others; none that the words of a query name."""
    paths = list(dict.fromkeys(paths))
    known = set(paths)
    versions = {path: version for path in paths if (version := _version(path))}
    newest: dict[str, _Version] = {}
    for version in versions.values():
        newest[version.parent] = max(newest.get(version.parent, version), version)
    has_usual_system = any(_words(path) & _USUAL_SYSTEMS for path in paths)
    named = frozenset(words).union(*(_SYNONYMS.get(word, ()) for word in words))
    lesser = set()
    for path in paths:
        version = versions.get(path)
        if version and version.name not in named:
            rest = path[len(version.parent) + len(version.name) + 1 :]
            if version < newest[version.parent] or version.parent + rest in known:
                lesser.add(path)
        system = _words(path) & _OTHER_SYSTEMS
        is_other_system = has_usual_system and system and not system & named
        if is_other_system or _words(path) & _OLD - named:
            lesser.add(path)
    return frozenset(lesser)


@functools.lru_cache(maxsize=100_000)
def _version(path: str) -> _Version | None:
    """Return the first version among the folders of a path."""
    folders = path.split("/")[:-1]
    for depth, name in enumerate(folders):
        match = _VERSION.match(name)
        if match:
            parent = "".join(f"{folder}/" for folder in folders[:depth])
            return _Version(parent, int(match[1]), _STAGES.index((match[2] or "").lower()), name.lower())
    return None


@functools.lru_cache(maxsize=100_000)
def _words(path: str) -> frozenset[str]:
    """Return the words of a path's folders and of its file's name."""
    *folders, name = path.lower().split("/")
    stem = name.partition(".")[0]
    return frozenset([*folders, stem, *split_identifier(stem)])
