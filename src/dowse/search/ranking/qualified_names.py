"""Qualified names as people write them: `extract::State`, `flask.json.dumps`, `Rack::Multipart`.

They are qualified by where a symbol is imported from, which need not be the scope that it is defined in: a
module that re-exports it, the package, or the folder.
"""

from __future__ import annotations

from dowse.symbol_lookup import module_path
from dowse.types import SymbolRow


def is_named(row: SymbolRow, name: str) -> bool:
    """Whether the end of a name is the symbol's own, and what is before it a folder or file of its path."""
    scope, _, last = name.rpartition(".")
    if not scope or row.name != last:
        return False
    own = row.qualified_name.split(".")
    parts = name.split(".")
    while own and parts and own[-1] == parts[-1]:
        own.pop()
        parts.pop()
    return not parts or (not own and parts[-1] in row.path.partition(".")[0].split("/"))


def is_module_named(path: str, name: str) -> bool:
    """Whether a qualified name is that of a file, seen from its root or from any package above it."""
    parts, module = name.split("."), module_path(path).split("/")
    pairs = zip(reversed(parts), reversed(module), strict=False)
    return len(parts) > 1 and all(part == folder for part, folder in pairs)
