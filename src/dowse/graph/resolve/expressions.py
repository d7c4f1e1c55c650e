"""What an expression can stand for, as far as static analysis sees."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from dowse.kinds import TYPES
from dowse.storage.local.graph_tables import Target


class Found(NamedTuple):
    """A symbol with the place of its name: where its members are looked for."""

    target: Target | None  # None for a class that is known by name alone
    scope: str
    full: str


class Value(NamedTuple):
    """What an expression stands for."""

    kind: str  # "module", "class", "instance", "super", "function" or "outside"
    found: tuple[Found, ...] = ()
    module: str = ""  # what a module is called depends on the language: a path, a package


# Something that is certainly not defined in this index.
OUTSIDE = Value("outside")

_CALLABLE = frozenset(["function", "method", "macro"])
# Types that are made by calling their name.
_MADE = frozenset(["class", "struct", "enum"])
_STEP = re.compile(r"@{0,2}[\w$]+[?!]?")
_JOINTS = re.compile(r"\?\.|!\.|&\.|->|::|\\|\.|:")


def value_of(targets: tuple[Target, ...], scope: str, full: str) -> Value | None:
    """The value that symbols of one name have; None for none."""
    if not targets:
        return None
    found = tuple(Found(target, scope, full) for target in targets)
    kinds = {target.kind for target in targets}
    if kinds & TYPES or kinds == {"module"}:
        return Value("class", found)
    return Value("constant" if kinds == {"constant"} else "function", found)


def only_types(value: Value) -> Value:
    """A class without functions of the same name."""
    if len(value.found) < 2:
        return value
    types = tuple(each for each in value.found if each.target is None or each.target.kind not in _CALLABLE)
    return value._replace(found=types) if types else value


def only_callable(value: Value) -> Value:
    """What runs when something is called: an interface can share its name with the function that is meant."""
    if len(value.found) < 2:
        return value
    kinds = {each.target.kind for each in value.found if each.target}
    functions = tuple(each for each in value.found if each.target and each.target.kind in _CALLABLE)
    if value.kind == "class" and functions and not kinds & _MADE:
        return Value("function", functions)
    return only_types(value) if value.kind == "class" else value


def last_in_file(value: Value) -> Value:
    """Of symbols in one file the last."""
    if len(value.found) < 2:
        return value
    paths = {each.target.path for each in value.found if each.target}
    kinds = {each.target.kind for each in value.found if each.target}
    return value._replace(found=value.found[-1:]) if len(paths) == 1 and len(kinds) == 1 else value


class Step(NamedTuple):
    """One name of a path, and whether it is called there."""

    name: str
    called: bool


@lru_cache(maxsize=32768)
def steps_of(path: str) -> tuple[Step, ...]:
    """The names of `a.b().c`; none if something in it has no name."""
    if "?" in path and "?." not in path and not path.endswith("?"):
        return ()
    steps: list[Step] = []
    for part in _JOINTS.split(path.strip()):
        name, bracket, _ = part.partition("(")
        name = name.strip().lstrip("$*&!")
        if not name or not _STEP.fullmatch(name):
            if not steps and not part:
                continue
            return ()
        steps.append(Step(name, bool(bracket)))
    return tuple(steps)
