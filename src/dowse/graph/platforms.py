"""The platforms that code of C and C++ is for, by the words of its path and the conditions around it."""

from __future__ import annotations

import re
from functools import lru_cache

from dowse.lazy_classes import NamedTuple

# Words of code for other platforms than the usual one, which has no word or is one of Unix.
_PLATFORMS = frozenset(
    "win windows win32 win64 winnt msc msvc mingw mingw32 mingw64 cygwin msys uwp darwin mac macos macosx osx"
    " apple ios cocoa aix sun sunos solaris os390 zos mvs ibmi haiku hurd qnx vxworks freebsd openbsd netbsd"
    " dragonfly bsd kqueue amiga os2 symbian wasm emscripten android nintendo xbox".split()
)
_USUAL = frozenset(["linux", "unix", "posix", "gnuc"])
_WORDS = re.compile(r"[a-z]+\d*|\d+")
_DIRECTIVE = re.compile(r"#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b([^\n]*)")
_NAME = re.compile(r"(!?)\s*(?:defined\b\s*\(?\s*)?\b([A-Za-z_]\w*)")


class Branch(NamedTuple):
    """The lines of a conditional branch that is compiled for some platforms only."""

    first: int
    last: int
    platforms: frozenset[str]


@lru_cache(maxsize=16384)
def platforms_of_path(path: str) -> frozenset[str]:
    """Return the platforms that a path names."""
    return _platforms(path.rpartition(".")[0])


def _platforms(name: str) -> frozenset[str]:
    return _PLATFORMS.intersection(_WORDS.findall(name.lower()))


def platform_branches(text: str) -> list[Branch]:
    """Return the branches of `#if` that another platform than the usual one compiles."""
    branches: list[Branch] = []
    opened: list[tuple[int, frozenset[str], frozenset[str]]] = []  # line, platforms, those of `#else`
    line, at = 1, 0
    for directive in _DIRECTIVE.finditer(text):
        word, condition = directive.groups()
        line += text.count("\n", at, directive.start())
        at = directive.start()
        opposite = frozenset[str]()
        if not word.startswith("if") and opened:
            first, platforms, opposite = opened.pop()
            if platforms:
                branches.append(Branch(first, line, platforms))
        if word == "else":
            opened.append((line, opposite, frozenset()))
        elif word != "endif":
            opened.append((line, *_platforms_of_condition(condition, word == "ifndef")))
    return branches


def _platforms_of_condition(condition: str, is_negated: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Return the platforms for which a condition holds, and those for which it does not."""
    with_it, without = set[str](), set[str]()
    for negation, name in _NAME.findall(condition.partition("/*")[0].partition("//")[0]):
        words = _platforms(name) or _USUAL.intersection(_WORDS.findall(name.lower()))
        (without if bool(negation) != is_negated else with_it).update(words)
    if with_it:
        return frozenset() if with_it & _USUAL else frozenset(with_it), frozenset()
    return frozenset(), frozenset() if without & _USUAL else frozenset(without)
