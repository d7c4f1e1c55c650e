"""Values of expressions: what static analysis knows an expression to stand for."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from dowse.storage.protocol import Target
from dowse.types import TYPE_KINDS


class Candidate(NamedTuple):
    """A symbol with its scope and full name, under which its members are looked up."""

    target: Target | None  # None for a class of which only the name is known
    scope: str
    full_name: str


class Value(NamedTuple):
    """What an expression stands for."""

    kind: str  # "module", "class", "instance", "super", "function", "constant", "field" or "external"
    candidates: tuple[Candidate, ...] = ()
    module: str = ""  # a path, a package or a crate, depending on the language; of "external", the reason


# Something that is certainly not defined in this index.
EXTERNAL = Value("external")
# Something that seems not to be defined in this index, with the reason: a symbol of that name may be meant.
INHERITED = Value("external", module="inherited")  # by a class with a base outside the index
IMPORTED = Value("external", module="import")
UNDEFINED = Value("external", module="undefined")
VARIABLE = Value("external", module="variable")

_CALLABLE = frozenset(["function", "method", "macro"])
# Types whose name is called to make an instance.
_INSTANTIABLE = frozenset(["class", "struct", "enum"])
_NAME = re.compile(r"@{0,2}[\w$]+[?!]?")
_SEPARATORS = re.compile(r"\?\.|!\.|&\.|->|::|\\|\.|:")


def value_of(targets: tuple[Target, ...], scope: str, full_name: str) -> Value | None:
    """Return the value of the symbols with one name; None for no symbols."""
    if not targets:
        return None
    candidates = tuple(Candidate(target, scope, full_name) for target in targets)
    kinds = {target.kind for target in targets}
    if kinds & TYPE_KINDS or kinds == {"module"}:
        return Value("class", candidates)
    return Value("constant" if kinds == {"constant"} else "function", candidates)


def only_types(value: Value) -> Value:
    """Return a class without functions of the same name."""
    if len(value.candidates) < 2:
        return value
    types = tuple(c for c in value.candidates if c.target is None or c.target.kind not in _CALLABLE)
    return value._replace(candidates=types) if types else value


def only_callable(value: Value) -> Value:
    """Return what runs in a call: an interface can share its name with the function that is meant."""
    if len(value.candidates) < 2:
        return value
    kinds = {c.target.kind for c in value.candidates if c.target}
    functions = tuple(c for c in value.candidates if c.target and c.target.kind in _CALLABLE)
    if value.kind == "class" and functions and not kinds & _INSTANTIABLE:
        return Value("function", functions)
    return only_types(value) if value.kind == "class" else value


def last_in_file(value: Value) -> Value:
    """Return the last of the symbols if all are of one kind in one file."""
    if len(value.candidates) < 2:
        return value
    paths = {c.target.path for c in value.candidates if c.target}
    kinds = {c.target.kind for c in value.candidates if c.target}
    is_redefinition = len(paths) == 1 and len(kinds) == 1
    return value._replace(candidates=value.candidates[-1:]) if is_redefinition else value


class PathStep(NamedTuple):
    """One name of a member path, and whether it is called there."""

    name: str
    is_call: bool


@lru_cache(maxsize=32768)
def parse_path(path: str) -> tuple[PathStep, ...]:
    """Return the names of a member path such as `a.b().c`; none if some part of it has no name."""
    if "?" in path and "?." not in path and not path.endswith("?"):
        return ()
    steps: list[PathStep] = []
    for part in _SEPARATORS.split(path.strip()):
        name, bracket, _ = part.partition("(")
        name = name.strip().lstrip("$*&!")
        if not name or not _NAME.fullmatch(name):
            if not steps and not part:
                continue
            return ()
        steps.append(PathStep(name, bool(bracket)))
    return tuple(steps)
