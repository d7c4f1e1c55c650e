"""Prints the call sites of the Python of a checkout as JSON lines (see bench/graph_oracle.py).

Two oracles are asked for the definition of each called name: pyright, through the index that scip-python
writes, and jedi. What pyright finds outside the checkout is outside. Where both name definitions, a site is
kept if they share one, and left out if not. Where only one answers, its word counts. How often each happens
goes to standard error. A variable or parameter is no answer. Methods of subclasses that override what a site
names may run by dynamic dispatch, unless it is called on `super()` or on a class.

References that are no calls are pyright's alone: reads, writes, types, bases, decorators, imports, keywords.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jedi
from protobuf_wire import fields, numbers

_SKIPPED = {".git", ".venv", "venv", "node_modules", ".tox", "build", "dist"}
# What the symbols of the checkout itself start with in its SCIP index.
_PROJECT = "checkout"
# The kind of reference that the names in a field of a node are; elsewhere they are read.
_KINDS_BY_FIELD = {
    **dict.fromkeys(["annotation", "returns", "type_params"], "type"),
    **{"bases": "base", "decorator_list": "decorator", "targets": "write", "target": "write"},
}


class Definition(NamedTuple):
    """A function or class of the checkout, by the line of its name."""

    path: str
    line: int
    name: str


class Module:
    """The syntax tree of a file: its definitions, by line and by qualified name, and its calls."""

    def __init__(self, path: str, text: bytes) -> None:
        self.path, self.lines = path, text.decode("utf-8", "replace").split("\n")
        self.by_line: dict[int, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef] = {}
        self.by_name: dict[str, list[int]] = defaultdict(list)
        self.names: dict[int, str] = {}  # qualified names, by line
        self.calls: list[tuple[ast.Call, str]] = []
        self.references: list[tuple[str, int, int, str]] = []  # name, line, column, kind of reference
        tree = ast.parse(text)
        self._visit(tree, "")
        self._refer(tree, "read")

    def _visit(self, node: ast.AST, scope: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner = scope
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                inner = f"{scope}.{child.name}".lstrip(".")
                self.by_line[child.lineno] = child
                self.names[child.lineno] = inner
                self.by_name[inner].append(child.lineno)
            elif isinstance(child, ast.Call):
                self.calls.append((child, scope))
            self._visit(child, inner)

    def _refer(self, node: ast.AST, kind: str) -> None:
        """Collect the names below a node; a call's name and what only leads to a written name are apart."""
        for field, value in ast.iter_fields(node):
            inner = "read" if kind == "write" and field == "value" else _KINDS_BY_FIELD.get(field, kind)
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.Name | ast.Attribute) and (name := called_name(child)):
                    is_call = isinstance(node, ast.Call) and field == "func"
                    self.references.append((*name, "call" if is_call else inner))
                elif isinstance(child, ast.alias | ast.keyword):
                    name = child.name if isinstance(child, ast.alias) else child.arg or ""
                    reference = "import" if isinstance(child, ast.alias) else "keyword"
                    self.references.append((name, child.lineno, child.col_offset, reference))
                if isinstance(child, ast.AST):
                    self._refer(child, "read" if isinstance(child, ast.Call) else inner)

    def kind(self, line: int, symbol: str) -> str:
        """Return the kind of the definition on a line, by the SCIP symbol and the syntax."""
        node = self.by_line.get(line)
        owner, _, name = symbol.rpartition("/")[2].rstrip("#().").rpartition("#")
        if isinstance(node, ast.ClassDef):
            return "class"
        if node is not None:
            is_property = any("property" in ast.unparse(each) for each in node.decorator_list)
            return "property" if is_property else "method" if owner else "function"
        if owner:
            classes = [self.by_line[at] for at in self.by_name.get(owner.replace("#", "."), ())]
            is_enum = any("Enum" in ast.unparse(b) for c in classes for b in getattr(c, "bases", ()))
            return "enumerator" if is_enum else "field"
        return "constant" if name.isupper() else "variable"

    def definition(self, line: int, name: str) -> Definition | None:
        """Return the definition of a name on a line; of overloads, the implementation, which is the last."""
        node = self.by_line.get(line)
        if node is None or node.name != name:
            return None
        is_overload = any(ast.unparse(each).endswith("overload") for each in node.decorator_list)
        return Definition(self.path, self.by_name[self.names[line]][-1] if is_overload else line, name)


class Answer(NamedTuple):
    """What an oracle says of a name: definitions in the checkout, or that it is outside."""

    definitions: frozenset[Definition]

    @property
    def is_outside(self) -> bool:
        """Whether the callee is outside the checkout."""
        return not self.definitions


def main() -> None:
    """Print the sites of a checkout."""
    root, tools = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    modules = dict(read_modules(root))
    if installed := own_packages(modules) & {each.name for each in site_packages()}:
        raise SystemExit(f"uninstall {installed}: they would be found instead of the checkout's own")
    pyright = Pyright(modules, scip_index(root, tools))
    jedi_oracle = Jedi(modules, root)
    overrides = find_overrides(modules, pyright)
    agreement: Counter[str] = Counter()
    for module in modules.values():
        for call, caller in module.calls:
            name = called_name(call.func)
            if name is None:
                continue
            first = pyright.ask(module, *name)
            is_outside = first is not None and first.is_outside
            second = first if is_outside else jedi_oracle.ask(module, *name)
            verdict, answer = join(first, second)
            agreement[verdict] += 1
            if answer is not None:
                print(json.dumps(site(module, call, name, caller, answer, overrides)))
        for *place, kind in module.references:
            if kind != "call" and (reference := pyright.refer(module, *place)) is not None:
                print(json.dumps({**reference, "reference": kind}))
    print(root.name, dict(agreement), file=sys.stderr)


def read_modules(root: Path) -> Iterator[tuple[str, Module]]:
    """Yield the files that parse."""
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(name for name in inner if name not in _SKIPPED)
        for name in sorted(names):
            if name.endswith(".py"):
                path = Path(folder, name)
                relative = path.relative_to(root).as_posix()
                try:
                    yield relative, Module(relative, path.read_bytes())
                except (SyntaxError, ValueError):
                    print("no syntax tree:", relative, file=sys.stderr)


def own_packages(modules: dict[str, Module]) -> set[str]:
    """Return the packages at the top of the checkout, or of its folder `src`."""
    paths = [path.removeprefix("src/").split("/") for path in modules]
    return {path[0] for path in paths if len(path) == 2 and path[1] == "__init__.py"} - {"tests", "docs"}


def site_packages() -> Iterator[Path]:
    """Yield what is installed beside jedi."""
    return Path(jedi.__file__).parents[1].iterdir()


def called_name(function: ast.expr) -> tuple[str, int, int] | None:
    """Return a called name with its line and its column in bytes."""
    if isinstance(function, ast.Name):
        return function.id, function.lineno, function.col_offset
    if isinstance(function, ast.Attribute) and function.end_lineno and function.end_col_offset:
        return function.attr, function.end_lineno, function.end_col_offset - len(function.attr.encode())
    return None


def join(first: Answer | None, second: Answer | None) -> tuple[str, Answer | None]:
    """Return how two answers relate, and the one to take."""
    if first is None or second is None:
        verdict = "neither" if first is second else "pyright only" if first else "jedi only"
        return verdict, first or second
    if first.is_outside:
        return "pyright: outside", first
    if first.definitions & second.definitions:
        return "both agree", Answer(first.definitions & second.definitions)
    return "disagree", None


def site(
    module: Module,
    call: ast.Call,
    name: tuple[str, int, int],
    caller: str,
    answer: Answer,
    overrides: dict[Definition, set[Definition]],
) -> dict[str, object]:
    """Return one line of the result."""
    dispatched = {d for named in answer.definitions for d in overrides.get(named, ())} - answer.definitions
    if is_static(call.func):
        dispatched = set()
    targets: list[dict[str, object]] = [d._asdict() for d in sorted(answer.definitions)]
    targets += [{**d._asdict(), "dispatch": "method"} for d in sorted(dispatched)]
    kind = "dynamic" if dispatched else "static"
    position = {"path": module.path, "line": name[1], "column": name[2]}
    return {**position, "caller": caller, "kind": kind, "targets": targets}


def is_static(function: ast.expr) -> bool:
    """Whether a method is called on `super()` or on what looks like a class."""
    if not isinstance(function, ast.Attribute):
        return True
    receiver = function.value
    if isinstance(receiver, ast.Call):
        return isinstance(receiver.func, ast.Name) and receiver.func.id == "super"
    return isinstance(receiver, ast.Name) and receiver.id[:1].isupper()


def scip_index(root: Path, tools: Path) -> bytes:
    """Run scip-python, with the interpreter that has the dependencies."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "index.scip")
        command = [tools / "node_modules/.bin/scip-python", "index", ".", "--output", out]
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        options = ["--project-name", _PROJECT]
        settings = {
            "NODE_OPTIONS": "--max-old-space-size=6000",
            "PYTHONPATH": str(root / "src"),
            "PATH": path,
        }
        subprocess.run([*command, *options], cwd=root, env={**os.environ, **settings}, check=True, stdout=2)
        return out.read_bytes()


class Pyright:
    """The definitions that pyright finds, from a SCIP index (scip.proto: Index, Document, Occurrence)."""

    def __init__(self, modules: dict[str, Module], index: bytes) -> None:
        self._modules = modules
        self._references: dict[tuple[str, int, int], str] = {}
        self._definitions: dict[tuple[str, str], list[tuple[str, int, int, int]]] = defaultdict(list)
        for number, document in fields(index):
            if number == 2 and isinstance(document, bytes):
                self._read(document)

    def _read(self, document: bytes) -> None:
        parts = [(number, value) for number, value in fields(document) if isinstance(value, bytes)]
        path = next(value.decode() for number, value in parts if number == 1)
        for number, value in parts:
            if number != 2:
                continue
            occurrence = dict(fields(value))
            packed, symbol = occurrence.get(1, b""), occurrence.get(2, b"")
            if not isinstance(packed, bytes) or not isinstance(symbol, bytes) or not symbol:
                continue
            line, start, *_, end = numbers(packed)
            roles, named = occurrence.get(3, 0), plain(symbol.decode())
            if isinstance(roles, int) and roles & 1:
                place = (path, line + 1, start, end)
                self._definitions[scope_of(path, named), named].append(place)
            else:
                self._references[path, line + 1, start] = named

    def ask(self, module: Module, name: str, line: int, column: int) -> Answer | None:
        """Return what the name at a position means."""
        symbol, places = self._symbol(module, line, column)
        if symbol is None:
            return None
        found = set()
        for path, at, start, end in places:
            other = self._modules.get(path)
            definition = other.definition(at, other.lines[at - 1][start:end]) if other else None
            if definition is not None:
                found.add(definition)
        if found:
            return Answer(frozenset(found))
        # Nothing is known of a variable, nor of a symbol of the checkout without a definition.
        is_own = symbol.startswith("local ") or bool(places) or symbol.split(" ")[2:3] == [_PROJECT]
        return None if is_own else Answer(frozenset())

    def _symbol(
        self, module: Module, line: int, column: int
    ) -> tuple[str | None, list[tuple[str, int, int, int]]]:
        """Return the symbol at a position, with the places of its definitions."""
        characters = len(module.lines[line - 1].encode()[:column].decode("utf-8", "replace"))
        symbol = self._references.get((module.path, line, characters))
        return symbol, self._definitions.get((scope_of(module.path, symbol), symbol), []) if symbol else []

    def refer(self, module: Module, name: str, line: int, column: int) -> dict[str, Any] | None:
        """Return a reference; without targets where it means a local variable or what is outside."""
        symbol, places = self._symbol(module, line, column)
        is_own = symbol is not None and (symbol.startswith("local ") or symbol.split(" ")[2:3] == [_PROJECT])
        if symbol is None or symbol.endswith(":") or (is_own and not places):
            return None
        is_member = module.lines[line - 1].encode()[:column].endswith(b".")
        # scip-python takes an own class for the builtin one of its name, and a slot for its class.
        if " builtins/" in symbol and (is_member or name in module.by_name):
            return None
        if is_member and symbol.endswith("#") and not symbol.endswith((f"/{name}#", f"#{name}#")):
            return None
        is_local = symbol.startswith("local ") or symbol.endswith(")")
        targets = [
            {"path": path, "line": at, "name": other.lines[at - 1][start:end], "kind": other.kind(at, symbol)}
            for path, at, start, end in places
            if (other := self._modules.get(path)) and not is_local
        ]
        position = {"path": module.path, "line": line, "column": column}
        return {**position, "name": name, "targets": targets}


def plain(symbol: str) -> str:
    """Return a symbol as its own file writes it: a module of `src` is imported without it, `x.x.` is `x.`."""
    return re.sub(r"/(\w+)\.\1\.$", r"/\1.", symbol.replace("`", "").replace(" src.", " "))


def scope_of(path: str, symbol: str) -> str:
    """Return the file that a local symbol belongs to."""
    return path if symbol.startswith("local ") else ""


class Jedi:
    """The definitions that jedi finds."""

    def __init__(self, modules: dict[str, Module], root: Path) -> None:
        self._modules, self._root = modules, root
        sources = [str(root / name) for name in ("src", ".") if (root / name).is_dir()]
        self._project = jedi.Project(root, environment_path=sys.prefix, added_sys_path=sources)
        self._script: tuple[str, jedi.Script] | None = None

    def ask(self, module: Module, name: str, line: int, column: int) -> Answer | None:
        """Return what the name at a position means."""
        if self._script is None or self._script[0] != module.path:
            self._script = module.path, jedi.Script(path=self._root / module.path, project=self._project)
        characters = len(module.lines[line - 1].encode()[:column].decode("utf-8", "replace"))
        try:
            names = self._script[1].goto(line, characters, follow_imports=True, follow_builtin_imports=True)
        except Exception:  # jedi fails on some code in many ways; then it does not answer
            return None
        found, outside = set(), False
        for each in names:
            inside = each.module_path and each.module_path.is_relative_to(self._root)
            if not inside:
                outside = outside or each.type in ("function", "class")
                continue
            other = self._modules.get(each.module_path.relative_to(self._root).as_posix())
            definition = other.definition(each.line, each.name) if other and each.line else None
            if definition is not None:
                found.add(definition)
        if found:
            return Answer(frozenset(found))
        return Answer(frozenset()) if outside else None


def find_overrides(modules: dict[str, Module], pyright: Pyright) -> dict[Definition, set[Definition]]:
    """Return the methods of subclasses that override each method."""
    bases: dict[Definition, set[Definition]] = defaultdict(set)
    methods: dict[Definition, dict[str, Definition]] = {}
    for module in modules.values():
        for line, node in module.by_line.items():
            if not isinstance(node, ast.ClassDef):
                continue
            own = Definition(module.path, line, node.name)
            inner = (n for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
            methods[own] = {n.name: Definition(module.path, n.lineno, n.name) for n in inner}
            for base in node.bases:
                name = called_name(base.value if isinstance(base, ast.Subscript) else base)
                answer = pyright.ask(module, *name) if name else None
                bases[own] |= answer.definitions if answer else set()
    overrides: dict[Definition, set[Definition]] = defaultdict(set)
    for own in methods:
        ancestors, waiting = set[Definition](), [own]
        while waiting:
            new = bases[waiting.pop()] - ancestors
            ancestors |= new
            waiting += new
        for ancestor in ancestors - {own}:
            for name, method in methods[own].items():
                if name in methods.get(ancestor, {}):
                    overrides[methods[ancestor][name]].add(method)
    return overrides


if __name__ == "__main__":
    main()
