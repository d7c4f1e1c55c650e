"""Values of expressions: what static analysis knows an expression to stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from dowse.lazy_classes import NamedTuple
from dowse.storage.protocol import Target
from dowse.types import TYPE_KINDS

# Kinds of references, as the parser names them → kinds of edges.
EDGE_KINDS = {
    "call": "calls",
    "extends": "extends",
    "implements": "implements",
    "use": "uses",
    "import": "imports",
    "value": "calls",
    "read": "reads",
    "write": "writes",
}


class Candidate(NamedTuple):
    """A symbol with its scope and full name, under which its members are looked up."""

    target: Target | None  # None for a class of which only the name is known
    scope: str
    full_name: str


class Value(NamedTuple):
    """What an expression stands for."""

    # "module", "class", "instance", "super", "function", "constant", "name", "field", "callable" or
    # "external"
    kind: str
    candidates: tuple[Candidate, ...] = ()  # instances of several classes make up a union
    module: str = ""  # a path, a package or a crate, depending on the language; of "external", the reason
    # What the type parameters stand for: the elements of a collection, the result of a callable.
    arguments: tuple[Value | None, ...] = ()
    receiver: Value | None = None  # of a method, the object that it is called on


# Something that is certainly not defined in this index.
EXTERNAL = Value("external")
# Something that seems not to be defined in this index, with the reason: a symbol of that name may be meant.
INHERITED = Value("external", module="inherited")  # by a class with a base outside the index
IMPORTED = Value("external", module="import")
UNDEFINED = Value("external", module="undefined")
VARIABLE = Value("external", module="variable")
OUTSIDE_RESULT = Value("external", module="receiver")  # of a function outside the index
# The same, in languages where types tell that most of its methods are outside: only its fields may be here.
TYPED_RESULT = Value("external", module="result")

_CALLABLE = frozenset(["function", "method", "macro"])
# Types whose name is called to make an instance.
_INSTANTIABLE = frozenset(["class", "struct", "enum"])
_NAME = re.compile(r"(?:@{0,2}|#)[\w$]+[?!]?")
_SEPARATORS = re.compile(r"\?\.|!{1,2}\.|&\.|->|::|\\|\.|:")


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
    """Return the last of the symbols with one name in one file, if all are of one kind."""
    if len(value.candidates) < 2 or len({c.target.kind for c in value.candidates if c.target}) > 1:
        return value
    last = {(c.target.path if c.target else "", c.full_name): c for c in value.candidates}
    return value._replace(candidates=tuple(last.values()))


def is_own_member(receiver: Value, member: Value | None) -> bool:
    """Whether a member is known to be one of the receiver; a field can have a type from outside."""
    is_field = receiver.kind == "instance" and member is not INHERITED
    return member is not None and (is_field or member.kind != "external")


def union_of(values: Iterable[Value | None]) -> Value | None:
    """Return what an expression stands for that has one of these values; None if they have little in common.

    Unknown values do not count, nor do external ones beside others.
    """
    known = dict.fromkeys(value for value in values if value is not None)
    inside = [value for value in known if value.kind != "external"] or list(known)
    kinds = {value.kind for value in inside}
    if len(inside) < 2 or "external" in kinds:
        return inside[0] if inside else None
    if len(kinds) > 1 or kinds == {"module"}:
        return None
    candidates = dict.fromkeys(candidate for value in inside for candidate in value.candidates)
    arguments = {value.arguments for value in inside}
    return Value(inside[0].kind, tuple(candidates), arguments=arguments.pop() if len(arguments) == 1 else ())


# Steps of a path that are no names: an element by its index or key, each element in turn, a collection of the
# value, and what a context manager yields.
ELEMENT, ITERATION, COLLECTION, ENTERED = "[]", "[*]", "[+]", "[with]"
# What an Option or a Result of Rust holds; a number is that of one of several results.
UNWRAPPED = "[?]"
# The first step of a path that starts with an instance of a type: `<list[Room]>[].close`.
_CAST = re.compile(r"<[^<>]*>")
_SUFFIX = re.compile(r"\([^()]*\)|\[(?:\*|\+|with|it\d?|this|\?|\d+)?\]")
# Kotlin's `this@Outer`; other labels are names of functions with lambdas.
_LABELLED = re.compile(r"^this@([A-Z]\w*)|^(this|super)@\w+")
_TRY = re.compile(r"(?<=[)\]])\?|(?<=\bawait)\?")


class PathStep(NamedTuple):
    """One name of a member path, and whether it is called there."""

    name: str
    is_call: bool


@lru_cache(maxsize=32768)
def parse_path(path: str, sigil: str = "$") -> tuple[PathStep, ...]:
    """Return the names of a member path such as `a.b().c[]`; none if some part of it has no name.

    Names lose the sigil that variables start with.
    """
    path = _TRY.sub("[\0]", path.strip()).replace(UNWRAPPED, "[\0]")
    if "?" in path and "?." not in path and not path.endswith("?"):
        return ()
    path = path.replace("[\0]", UNWRAPPED)
    if "@" in path:
        path = _LABELLED.sub(lambda label: f"<{label[1]}>" if label[1] else label[2], path)
    cast = _CAST.match(path)
    steps = [PathStep(cast[0], False)] if cast else []
    for index, part in enumerate(_SEPARATORS.split(path[cast.end() :] if cast else path)):
        start = min((at for at in (part.find("("), part.find("[")) if at >= 0), default=len(part))
        name = part[:start].strip().lstrip(f"{sigil}*&!")
        if name and _NAME.fullmatch(name):
            steps.append(PathStep(name, False))
        elif name or index or (part and not cast):
            return ()
        for suffix in _SUFFIX.findall(part, start):
            if suffix[0] == "[":
                steps.append(PathStep(suffix, False))
            elif steps:
                steps[-1] = PathStep(steps[-1].name, True)
    return tuple(steps)
