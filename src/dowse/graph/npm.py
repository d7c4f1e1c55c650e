"""tsconfig.json and package.json: where the names of modules lead."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from typing import Any

# Larger files are generated.
_MAX_CHARS = 1_000_000
# Strings are matched as a whole, so that nothing in them is taken for a comment.
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')
_CONFIG = re.compile(r"[tj]sconfig[\w.-]*\.json")
# The conditions of `exports` nest, one inside of the other.
_MAX_NESTING = 6

# Slots of these files.
CONFIG_SLOT, EXPORTS_SLOT = "tsconfig", "exports"


def npm_bindings(path: str, text: str) -> dict[str, list[list[str]]]:
    """Return what a configuration binds.

    "tsconfig" lists ["paths", pattern, path], ["base", folder, ""] and ["extends", path, ""], "exports" of a
    package ["exports", subpath, path]. All paths are from the root of the index.
    """
    folder, name = posixpath.split(path)
    is_package = name == "package.json"
    if not (is_package or _CONFIG.fullmatch(name)) or len(text) > _MAX_CHARS:
        return {}
    try:
        config = json.loads(text if is_package else _plain_json(text))
    except (ValueError, RecursionError):
        return {}
    if not isinstance(config, dict):
        return {}
    found = list(_exports(folder, config) if is_package else _mappings(folder, config))
    return {EXPORTS_SLOT if is_package else CONFIG_SLOT: found} if found else {}


def _plain_json(text: str) -> str:
    """Return JSON without comments and trailing commas."""
    for pattern in (_COMMENT, _TRAILING_COMMA):
        text = pattern.sub(lambda match: match[1] or "", text)
    return text


def _mappings(folder: str, config: dict[str, Any]) -> Iterator[list[str]]:
    options = config.get("compilerOptions")
    options = options if isinstance(options, dict) else {}
    base, paths = options.get("baseUrl"), options.get("paths")
    root = _join(folder, base) if isinstance(base, str) else folder
    for pattern, targets in paths.items() if isinstance(paths, dict) else ():
        for target in targets if isinstance(targets, list) else ():
            if isinstance(target, str):
                yield ["paths", pattern, _join(root, target)]
    if isinstance(base, str):
        yield ["base", root, ""]
    extended = config.get("extends")
    for each in extended if isinstance(extended, list) else [extended]:
        if isinstance(each, str) and each.startswith("."):
            yield ["extends", _join(folder, each if each.endswith(".json") else f"{each}.json"), ""]


def _exports(folder: str, manifest: dict[str, Any]) -> Iterator[list[str]]:
    exports = manifest.get("exports")
    if isinstance(exports, dict) and any(key.startswith(".") for key in exports):
        for subpath, targets in exports.items():
            for target in _strings(targets, 0):
                yield ["exports", subpath, _join(folder, target)]
    else:
        for target in _strings(exports, 0):
            yield ["exports", ".", _join(folder, target)]
    for field in ("source", "types", "module", "main"):
        if isinstance(manifest.get(field), str):
            yield ["exports", ".", _join(folder, manifest[field])]


def _strings(targets: object, depth: int) -> Iterator[str]:
    """Yield the paths for any of the conditions."""
    if isinstance(targets, str):
        yield targets
    elif isinstance(targets, dict) and depth < _MAX_NESTING:
        for each in targets.values():
            yield from _strings(each, depth + 1)


def _join(folder: str, path: str) -> str:
    joined = posixpath.normpath(posixpath.join(folder, path))
    return "" if joined == "." else joined
