"""Cargo.toml: the names of crates, the files that they start in, and other names for dependencies."""

from __future__ import annotations

import posixpath
import tomllib
from collections.abc import Iterator
from typing import Any

# Larger manifests are generated.
_MAX_CHARS = 1_000_000
_TARGETS = ("lib", "bin", "example", "test", "bench")
_DEPENDENCIES = ("dependencies", "dev-dependencies", "build-dependencies")


def cargo_bindings(path: str, text: str) -> dict[str, list[list[str]]]:
    """Return what a manifest binds.

    "crate NAME" has the file of the library if it is declared, "crate-roots FOLDER" the declared roots of
    crates in a folder, "crate-alias NAME" the real name of a dependency that is renamed, and
    "crate-dependency NAME" is there for each dependency.
    """
    try:
        manifest = tomllib.loads(text) if len(text) <= _MAX_CHARS else {}
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
    bindings: dict[str, list[list[str]]] = {}
    folder = posixpath.dirname(path)
    library = _table(manifest, "lib")
    name = library.get("name") or _table(manifest, "package").get("name")
    root = library.get("path")
    if isinstance(name, str):
        located = [["root", _join(folder, root), ""]] if isinstance(root, str) else [["crate", "", ""]]
        bindings[f"crate {name.replace('-', '_')}"] = located
    for each in _declared_roots(manifest):
        file = _join(folder, each)
        bindings.setdefault(f"crate-roots {posixpath.dirname(file)}", []).append(["root", file, ""])
    for name, real in _dependencies(manifest):
        bindings[f"crate-dependency {name.replace('-', '_')}"] = [["crate", "", ""]]
        if real:
            bindings[f"crate-alias {name.replace('-', '_')}"] = [["alias", real.replace("-", "_"), ""]]
    return bindings


def _declared_roots(manifest: dict[str, Any]) -> Iterator[str]:
    for kind in _TARGETS:
        targets = manifest.get(kind)
        for target in targets if isinstance(targets, list) else [targets]:
            if isinstance(target, dict) and isinstance(target.get("path"), str):
                yield target["path"]


def _dependencies(manifest: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the names of dependencies, with the real name of a renamed one."""
    for holder in (manifest, _table(manifest, "workspace")):
        for kind in _DEPENDENCIES:
            for name, dependency in _table(holder, kind).items():
                real = dependency.get("package") if isinstance(dependency, dict) else ""
                yield name, real if isinstance(real, str) else ""


def _table(manifest: dict[str, Any], key: str) -> dict[str, Any]:
    table = manifest.get(key)
    return table if isinstance(table, dict) else {}


def _join(folder: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(folder, path))
