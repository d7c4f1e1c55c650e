"""Go: which interfaces a type implements, by its method set (https://go.dev/ref/spec#Method_sets)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from dowse.graph.resolve.values import Candidate, Value

if TYPE_CHECKING:
    from dowse.graph.resolve.go import GoRules

# Embedded types that are searched for methods.
_MAX_EMBEDDED = 50
_NAME = re.compile(r"^(?:func\s*(?:\([^)]*\)\s*)?)?\w+(?:\[[^\]]*\])?")
_QUALIFIED = re.compile(r"\b\w+\.(?=\w)")
_EMPTY_INTERFACE = re.compile(r"\binterface\s*\{\s*\}")
# The name of a parameter before its type, unless it is a word that types start with.
_PARAMETER = re.compile(r"^\w+\s+(?=\S)")
_TYPE_WORDS = ("chan", "func", "map", "struct", "interface")

# Method → its parameters and results.
MethodSet = dict[str, str]


class MethodSets:
    """The method sets of types and interfaces, as far as they are in the index."""

    def __init__(self, rules: GoRules) -> None:
        self._rules, self._lookups = rules, rules.lookups
        self._sets: dict[tuple[str, str], MethodSet] = {}

    def reset(self) -> None:
        """Start on another file."""
        self._sets.clear()

    def implemented(self, type_: Candidate) -> Iterator[Value]:
        """Yield the interfaces that a type implements, other than by declaration."""
        methods = self._method_set(type_)
        # Interfaces that only embed others are found by the name of one of them.
        names, seen = list(methods), set[tuple[str, str]]()
        for name in names:
            for path in self._lookups.package_files("go interface", name):
                for _, interface, _ in self._lookups.bindings(path, f"interfaces {name}"):
                    folder = path.rpartition("/")[0]
                    value = self._rules.lookups.value("go", folder, interface)
                    if (folder, interface) in seen or value is None or value.kind != "class":
                        continue
                    seen.add((folder, interface))
                    if self._covers(type_, methods, value.candidates[0]):
                        names.append(interface)
                        yield value

    def _covers(self, type_: Candidate, methods: MethodSet, interface: Candidate) -> bool:
        wanted = self._method_set(interface)
        target = interface.target
        is_generic = target is not None and "[" in target.signature
        is_near = type_.scope == interface.scope
        return bool(wanted) and all(
            (is_near or name[0].isupper()) and name in methods and (is_generic or methods[name] == signature)
            for name, signature in wanted.items()
        )

    def _method_set(self, type_: Candidate) -> MethodSet:
        """Return the methods of a type and of those that it embeds, by breadth-first search."""
        key = (type_.scope, type_.full_name)
        if key not in self._sets:
            methods: MethodSet = {}
            level, seen = [type_], {key}
            while level and len(seen) < _MAX_EMBEDDED:
                for each in level:
                    for name, signature in self._own_methods(each):
                        methods.setdefault(name, signature)
                bases = [base for each in level for base in self._rules.base_classes(each)]
                level = [
                    candidate
                    for base in bases
                    if base is not None and base.kind == "class"
                    for candidate in base.candidates[:1]
                    if (candidate.scope, candidate.full_name) not in seen
                ]
                seen.update((each.scope, each.full_name) for each in level)
            self._sets[key] = methods
        return self._sets[key]

    def _own_methods(self, type_: Candidate) -> Iterator[tuple[str, str]]:
        for path in self._lookups.package_files("go methods", type_.scope, type_.full_name):
            for _, name, signature in self._lookups.bindings(path, f"methods {type_.full_name}"):
                yield name, _types_of(signature)


@lru_cache(maxsize=16384)
def _types_of(signature: str) -> str:
    """Return the types of parameters and results, without names and packages: `(int,*Foo)(error)`."""
    rest = _NAME.sub("", signature, count=1).strip()
    rest = _EMPTY_INTERFACE.sub("any", _QUALIFIED.sub("", rest))
    parameters, end = _group(rest)
    results = rest[end:].strip()
    if results.startswith("("):
        results = _group(results)[0]
    return f"({parameters})({results.replace(' ', '')})"


def _group(text: str) -> tuple[str, int]:
    """Return the types in the bracket at the start of a text, and the offset after it."""
    depth, start, parts = 0, 1, list[str]()
    for at, char in enumerate(text):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(char, 0)
        if (char == "," and depth == 1) or not depth:
            parts.append(text[start:at].strip())
            start = at + 1
        if not depth:
            return ",".join(_without_names([part for part in parts if part])), at + 1
    return "", len(text)


def _without_names(parameters: list[str]) -> list[str]:
    """Return the types of parameters; in `a, b int` both are of the type that follows."""
    named = [
        _PARAMETER.match(each) is not None and not each.startswith(tuple(f"{w} " for w in _TYPE_WORDS))
        for each in parameters
    ]
    if not any(named):
        return [each.replace(" ", "") for each in parameters]
    types: list[str] = []
    for each, is_named in zip(reversed(parameters), reversed(named), strict=True):
        types.append(_PARAMETER.sub("", each).replace(" ", "") if is_named else types[-1] if types else each)
    return types[::-1]
