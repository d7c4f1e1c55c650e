"""JavaScript and TypeScript: modules are files, found by relative paths or by the names of packages."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from dowse.graph.lookups import FileScope, Lookups
from dowse.graph.npm import CONFIG_SLOT, EXPORTS_SLOT
from dowse.graph.resolve.rules import MAX_DEPTH, Rules
from dowse.graph.resolve.signatures import (
    aliased_type,
    function_types,
    return_type,
    type_parameters,
    written_parameter_type,
)
from dowse.graph.resolve.values import (
    EXTERNAL,
    IMPORTED,
    INHERITED,
    OUTSIDE_RESULT,
    UNDEFINED,
    Candidate,
    Value,
    last_in_file,
    only_callable,
    union_of,
)
from dowse.parsing.type_expressions import CALLABLE, LITERAL, parse_type, split_arguments, split_union
from dowse.storage.protocol import Target
from dowse.types import Reference

_SUFFIXES = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts")
# Suffixes of compiled files, and of the sources that they are compiled from.
_COMPILED = {
    ".js": (".ts", ".tsx", ".js", ".jsx"),
    ".mjs": (".mts", ".mjs"),
    ".cjs": (".cts", ".cjs"),
    ".jsx": (".tsx", ".jsx"),
}
# Names of the platform that programs rarely define.
_GLOBALS = frozenset(
    "console window document globalThis process module exports require navigator localStorage sessionStorage"
    " setTimeout clearTimeout setInterval clearInterval parseInt parseFloat isNaN isFinite encodeURIComponent"
    " decodeURIComponent queueMicrotask structuredClone undefined arguments".split()
)
_NODE_MODULES = frozenset(
    "assert async_hooks buffer child_process cluster crypto dgram dns events fs http http2 https net os path"
    " perf_hooks process querystring readline stream string_decoder timers tls tty url util v8 vm"
    " worker_threads zlib".split()
)
_CONFIGS = ("tsconfig.json", "jsconfig.json")
# Configurations that extend each other in a chain.
_MAX_EXTENDS = 5
# Kinds of symbols that are no values at run time, and of the variables that may share their names.
_ERASED = frozenset(["interface", "type", "constant"])
# A type with members of its own, not computed from another.
_OBJECT_TYPE = re.compile(r"(?:Readonly<)?\{(?!\s*\[)")
# Folders that builds write to.
_BUILT = re.compile(r"(^|/)(?:dist|build|lib|out|esm|cjs)/")


def _expand(pattern: str, target: str, name: str) -> str:
    """Return the path for a name that matches a pattern with at most one `*`, "" if it does not."""
    prefix, star, suffix = pattern.partition("*")
    if not star:
        return target if name == pattern else ""
    if not name.startswith(prefix) or not name.endswith(suffix) or len(name) < len(prefix) + len(suffix):
        return ""
    return target.replace("*", name[len(prefix) : len(name) - len(suffix)])


class EcmascriptRules(Rules):
    """Imports, exports and classes of JavaScript and TypeScript."""

    self_names = frozenset(["this"])
    constructor_names = ("constructor",)
    functions_are_classes = True
    names_values = False
    sigil = ""

    def __init__(self, lookups: Lookups) -> None:
        super().__init__(lookups)
        self._in_literals: set[Candidate] = set()  # functions in values of variables with a declared type

    def reset(self) -> None:
        """Start on another file."""
        super().reset()
        self._in_literals.clear()

    def external_result(self, value: Value | None, name: str) -> Value | None:
        """Return the result of a function: even one from outside can return what it is given."""
        return OUTSIDE_RESULT if value == EXTERNAL and name[:1].islower() else value

    def resolve_import(self, file: FileScope, name: str, origin: str, enclosing: str) -> Value | None:
        """Return a module, its default export, or one of its names."""
        path = self.find_module(file.path, origin)
        if path is None:
            if origin.removeprefix("node:").partition("/")[0] in _NODE_MODULES:
                return EXTERNAL
            return IMPORTED if name in ("", "default") else self.outside(file, name, IMPORTED)
        if name in ("", "default"):
            value = self._default_export(path) if name else None
            return value or Value("module", module=path)
        return self.module_member(file, path, name)

    def resolve_free_name(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        """Return a global name: of the platform, or of a script that is loaded before."""
        if name in _GLOBALS:
            return EXTERNAL
        return self.outside(file, name) if name[:1].isupper() else UNDEFINED

    def enclosing_scopes(self, file: FileScope, enclosing: str) -> Iterator[str]:
        """Yield the namespaces around a name, and the top level."""
        while "." in enclosing:
            enclosing = enclosing.rpartition(".")[0]
            if any(
                kind == "namespace" for kind, _, _ in self.lookups.bindings(file.path, f"var {enclosing}")
            ):
                yield enclosing
        yield ""

    def module_member(self, file: FileScope, module: str, name: str) -> Value | None:
        """Return a name that a module exports or re-exports."""
        module_file = self.lookups.file_scope(module)
        if module_file is None:
            return UNDEFINED
        if name == "default":
            return self._default_export(module)
        value = self.resolve_name(module_file, name)
        if value is not None and value.kind != "external":
            return value
        key = (module, "star", name)
        if key in self._active:
            return EXTERNAL
        self._active.add(key)
        try:
            for kind, _, origin in self.lookups.bindings(module, "stars"):
                path = self.find_module(module, origin) if kind == "export" else None
                inner = self.module_member(file, path, name) if path else None
                if inner is not None and inner.kind != "external":
                    return inner
        finally:
            self._active.discard(key)
        for binding in self.lookups.bindings(module, f"var exports.{name}"):
            return self.variable_value(module_file, [binding])
        return value

    def _member_at_level(self, file: FileScope, level: list[Candidate], name: str) -> Value | None:
        """Return a member; a method can be assigned under a second name: `a.x = a.y = function`."""
        value = super()._member_at_level(file, level, name)
        if value is None:
            for each in level:
                bindings = self.lookups.bindings(file.path, f"var {each.full_name}.{name}")
                if bindings and each.scope == file.path:
                    return self.bound_value(file, bindings)
        return value

    def member(self, file: FileScope, value: Value | None, name: str) -> Value | None:
        """Return a member; a variable can have the name of an interface or type."""
        if value is not None and value.kind in ("class", "constant") and name[:1] != "[":
            variable = self._variable(value) if value.kind == "class" else self._constant_value(value)
            if variable is not None and variable.kind == "instance":
                return self._declared_member(file, value, variable, name)
            value = variable if variable is not None and value.kind == "class" else value
        member = super().member(file, value, name)
        if value is None or value.kind != "instance" or not value.arguments:
            return member
        if member is not None and member is not INHERITED:
            return member
        aliased = self._aliased(value)
        return self.member(file, aliased, name) if aliased is not None else member

    def _declared_member(self, file: FileScope, value: Value, variable: Value, name: str) -> Value | None:
        """Return what the type of a variable declares; the function in its value may run."""
        declared = self.member(file, variable, name)
        own = next(
            filter(None, (self.symbol(file, c.scope, f"{c.full_name}.{name}") for c in value.candidates)),
            None,
        )
        if own is None or own.kind != "function":
            return declared
        if declared is None or declared.kind != "function":
            return own
        self._in_literals.update(own.candidates)
        return declared._replace(candidates=(*declared.candidates, *own.candidates))

    def preferred(self, file: FileScope, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Return what types declare; the functions in the values of variables stay possible."""
        return [each for each in candidates if each not in self._in_literals]

    def _aliased(self, value: Value) -> Value | None:
        """Return what type aliases with type arguments stand for."""
        values: list[Value | None] = []
        for each in value.candidates if self._depth <= MAX_DEPTH else ():
            file = self.lookups.file_scope(each.target.path) if each.target else None
            if each.target and file and each.target.kind == "type":
                signature = each.target.signature
                known = dict(zip(type_parameters(signature), value.arguments, strict=False))
                self._depth += 1
                aliased = parse_type(aliased_type(signature))
                values.append(self._instance_with(file, aliased, "", known) if aliased else None)
                self._depth -= 1
        return union_of(values)

    def _find_base_classes(self, candidate: Candidate) -> list[Value | None]:
        """Return base classes, and what a type alias stands for: unknown if it is computed."""
        bases = super()._find_base_classes(candidate)
        if bases or candidate.target is None or candidate.target.kind != "type":
            return bases
        return [] if _OBJECT_TYPE.match(aliased_type(candidate.target.signature)) else [None]

    def _variable(self, value: Value) -> Value | None:
        """Return the variable that has the name of an interface or type."""
        target = value.candidates[0].target
        if target is None or any(c.target is None or c.target.kind not in _ERASED for c in value.candidates):
            return None
        file = self.lookups.file_scope(target.path)
        bindings = self.lookups.bindings(target.path, f"var {target.qualified_name}") if file else []
        return self.bound_value(file, bindings) if file and bindings else None

    def callback_parameter(self, file: FileScope, callee: Value | None, position: str) -> Value | None:
        """Return a parameter of a callback: `x` of `f((x) => …)` by `function f(g: (x: Item) => void)`."""
        function = only_callable(callee) if callee is not None else None
        if function is not None and function.kind == "class":
            function = self.constructor(file, function)
        if function is None or function.kind not in ("function", "instance"):
            return None
        numbers, _, declared = position.partition(" ")
        argument, parameter = map(int, numbers.split("."))
        values: list[Value | None] = []
        if function.kind == "instance":
            for own, target, signature, known in self._call_signatures(function):
                written = written_parameter_type(signature, argument)
                values.append(self._parameter_of_type(own, written, parameter, target.qualified_name, known))
            return union_of(values)
        for each in function.candidates:
            own_file = self.lookups.file_scope(each.target.path) if each.target else None
            written = written_parameter_type(each.target.signature, argument) if each.target else ""
            if each.target and own_file and written:
                known = self._argument_types(file, each.target, own_file, function.receiver, declared)
                scope = each.target.qualified_name
                values.append(self._parameter_of_type(own_file, written, parameter, scope, known))
        return union_of(values)

    def _call_signatures(
        self, value: Value
    ) -> Iterator[tuple[FileScope, Target, str, Mapping[str, Value | None]]]:
        """Yield how an object can be called: with the file, its type, and what its type parameters are."""
        for each in value.candidates:
            file = self.lookups.file_scope(each.target.path) if each.target else None
            if each.target is None or file is None:
                continue
            slot = f"signature {each.target.qualified_name}"
            known = dict(zip(type_parameters(each.target.signature), value.arguments, strict=False))
            for _, signature, _ in self.lookups.bindings(each.target.path, slot):
                yield file, each.target, signature, known

    def _argument_types(
        self, file: FileScope, target: Target, own: FileScope, receiver: Value | None, declared: str
    ) -> dict[str, Value | None]:
        """Return what the type parameters of a function stand for in a call, by what is declared there."""
        known = self.known_types(own, receiver, target.qualified_name.rpartition(".")[0]) if receiver else {}
        names = [*type_parameters(target.signature)]
        written = split_arguments(declared)[1]
        if not declared.startswith("["):  # the type of the variable is that of the result
            names = [*split_arguments(return_type(target.language, target.signature))[1]]
        for name, each in zip(names, written, strict=False):
            if name in type_parameters(target.signature):
                known[name] = self.instance_of(file, each, "") if each else None
        for name, bound in type_parameters(target.signature).items():
            if name not in known:
                known[name] = self.instance_of(own, bound, target.qualified_name) if bound else None
        return known

    def _parameter_of_type(
        self, file: FileScope, written: str, number: int, scope: str, known: Mapping[str, Value | None]
    ) -> Value | None:
        """Return a parameter of a function type, or of a type alias of one."""
        values: list[Value | None] = []
        for function in function_types(written):
            type_name = parse_type(written_parameter_type(function, number))
            values.append(self._instance_with(file, type_name, scope, known) if type_name else None)
        for member in split_union(parse_type(written)) if self._depth <= MAX_DEPTH else ():
            if member and member[0] != LITERAL and split_arguments(member)[0] != CALLABLE:
                self._depth += 1
                values.append(self._parameter_of_named_type(file, member, number, scope, known))
                self._depth -= 1
        return union_of(values)

    def _parameter_of_named_type(
        self, file: FileScope, type_name: str, number: int, scope: str, known: Mapping[str, Value | None]
    ) -> Value | None:
        """Return a parameter of a type alias of functions, or of an interface that can be called."""
        name, arguments = split_arguments(type_name)
        value = self.resolve_path(file, name, scope)
        if value is None or value.kind != "class":
            return None
        given = tuple(self._instance_with(file, each, scope, known) if each else None for each in arguments)
        values: list[Value | None] = []
        for own, target, signature, inner in self._call_signatures(value._replace(arguments=given)):
            type_name = parse_type(written_parameter_type(signature, number))
            values.append(self._instance_with(own, type_name, target.qualified_name, inner))
        for each in value.candidates:
            file_of_alias = self.lookups.file_scope(each.target.path) if each.target else None
            if each.target and file_of_alias and each.target.kind == "type":
                aliased, names = aliased_type(each.target.signature), type_parameters(each.target.signature)
                inner = dict(zip(names, given, strict=False))
                values.append(self._parameter_of_type(file_of_alias, aliased, number, "", inner))
        return union_of(values)

    def overload_result(self, results: list[Value | None]) -> Value | None:
        """Return what any of the overloads may return: few members are common to several of them."""
        return union_of(results)

    def call_result(self, value: Value | None) -> Value | None:
        """Return the value of a call; calling a module calls its default export."""
        value = self.default_export(value)
        if value is None or value.kind != "instance" or self._depth > MAX_DEPTH:
            return super().call_result(value)
        memo = (value.candidates[0], value)
        if memo not in self._results:
            self._results[memo] = None  # breaks cycles
            self._depth += 1
            self._results[memo] = union_of(
                self._instance_with(file, type_name, target.qualified_name, known)
                for file, target, signature, known in self._call_signatures(value)
                if (type_name := return_type("typescript", signature))
            )
            self._depth -= 1
        return self._results[memo]

    def default_export(self, value: Value | None) -> Value | None:
        """Return the default export of a module; other values stay as they are."""
        return self._default_export(value.module) if value is not None and value.kind == "module" else value

    def _default_export(self, path: str) -> Value | None:
        """Return the default export of a module, or what `module.exports` is set to."""
        file = self.lookups.file_scope(path)
        if file is None:
            return None
        for slot in ("var export default", "var module.exports", "var exports"):
            for kind, value, origin in self.lookups.bindings(path, slot):
                if kind == "import":
                    return self.resolve_import(file, value, origin, "")
                exported = self.variable_value(file, [[kind, value, origin]])
                if exported is not None:
                    return exported
        return None

    def _find_module(self, path: str, origin: str) -> str | None:
        if origin.startswith("."):
            return self._module_file(posixpath.normpath(posixpath.join(posixpath.dirname(path), origin)))
        mapped = self._find_mapped(path, origin)
        if mapped is not None:
            return mapped
        if origin.startswith(("@/", "~/")):
            return self._find_from_root(path, origin[2:])
        parts = origin.split("/")
        count = 2 if origin.startswith("@") else 1
        for manifest in self.lookups.package_files("npm", "/".join(parts[:count])):
            folder, subpath = posixpath.dirname(manifest), "/".join(parts[count:])
            exported = self._find_exported(manifest, f"./{subpath}" if subpath else ".")
            if exported is not None:
                return exported
            for inner in ("src/" + subpath, subpath, "lib/" + subpath, "src/index", "index", "lib/index"):
                if not subpath and inner.endswith("/"):
                    inner += "index"
                module_path = self._module_file(posixpath.normpath(posixpath.join(folder, inner or "index")))
                if module_path is not None:
                    return module_path
        for index in self.lookups.package_files("npm folder", parts[0]):
            folder = posixpath.dirname(index)
            # A package whose manifest git ignores and builds write: its folder has its name.
            if self.lookups.language(f"{posixpath.dirname(folder)}/package.json") is None:
                return self._module_file(posixpath.join(folder, *parts[1:]))
        return None

    def _find_mapped(self, path: str, origin: str) -> str | None:
        """Return a module by `paths` and `baseUrl` of the nearest tsconfig.json, and of those it extends."""
        folder = posixpath.dirname(path)
        while True:
            for name in _CONFIGS:
                config = posixpath.join(folder, name)
                for _ in range(_MAX_EXTENDS):
                    entries = self.lookups.bindings(config, CONFIG_SLOT)
                    module_path = self._mapped_file(entries, origin)
                    extended = [value for kind, value, _ in entries if kind == "extends"]
                    if module_path is not None or not extended:
                        break
                    config = extended[0]
                if module_path is not None:
                    return module_path
            if not folder:
                return None
            folder = posixpath.dirname(folder)

    def _mapped_file(self, entries: list[list[str]], origin: str) -> str | None:
        for kind, value, target in entries:
            stem = posixpath.join(value, origin) if kind == "base" else ""
            if kind == "paths":
                stem = _expand(value, target, origin)
            module_path = self._module_file(stem) if stem else None
            if module_path is not None:
                return module_path
        return None

    def _find_exported(self, manifest: str, subpath: str) -> str | None:
        """Return a module of a package by its manifest; a built file stands for its source."""
        for _, pattern, target in self.lookups.bindings(manifest, EXPORTS_SLOT):
            stem = _expand(pattern, target, subpath)
            for each in (stem, _BUILT.sub(r"\1src/", stem, count=1)) if stem else ():
                module_path = self._module_file(each.removesuffix(".d.ts") if each != stem else each)
                if module_path is not None:
                    return module_path
        return None

    def _find_from_root(self, path: str, module: str) -> str | None:
        """Return a module by its path from the source folder that a file is in."""
        folder = posixpath.dirname(path)
        while True:
            for stem in (f"{folder}/src/{module}", f"{folder}/{module}"):
                module_path = self._module_file(stem.lstrip("/"))
                if module_path is not None:
                    return module_path
            if not folder:
                return None
            folder = posixpath.dirname(folder)

    def _module_file(self, stem: str) -> str | None:
        base, suffix = posixpath.splitext(stem)
        candidates = [base + other for other in _COMPILED.get(suffix, ())]
        candidates += [stem] if suffix in _SUFFIXES else []
        candidates += [stem + each for each in _SUFFIXES]
        candidates += [f"{stem}/index{each}" for each in _SUFFIXES]
        for path in candidates:
            if path and not path.startswith("..") and self.lookups.language(path) is not None:
                return path
        return None

    def select_overloads(self, value: Value, reference: Reference) -> Value:
        """Return the last of several definitions in one file; those before are its overloads."""
        return last_in_file(value)

    def resolve_import_statement(self, file: FileScope, name: str, qualifier: str) -> Value | None:
        """Return a name that a module exports; a name of the importer's own is the module or its default."""
        path = self.find_module(file.path, qualifier)
        if path is None:
            return EXTERNAL
        value = self.module_member(file, path, name)
        if value is not None and value.kind != "external":
            return value
        return self._default_export(path) or Value("module", module=path)
