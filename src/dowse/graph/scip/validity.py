"""Decides which of a compiler's references still hold after edits: stale ones must never be shown as certain.

The references of a file hold as long as

- its own content is what was compiled,
- no build file above it has changed,
- no other change can have given a name in it another meaning: in languages whose files share a scope, none
  of the names that a changed file defines or defined; elsewhere, no changed file is imported,
- the same is true of the files that define what it mentions, and of those that these mention, and so on:
  the type of `make().items` is decided elsewhere.

All of this depends on the SCIP files and on the tree as it is now, not on what was between, so that an
incremental update gives the same as a rebuild.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping
from zlib import crc32

from dowse.graph.keys import is_scoped_by_file
from dowse.graph.symbol_table import decode_symbol_table
from dowse.storage.protocol import CompiledFile, GraphStore, SourceFile

# Stands for the hash of a file that had changed before the SCIP file was read.
CHANGED_BEFORE = "changed"
# Files that decide what the names of packages and modules mean.
_BUILD_FILES = frozenset(
    "go.mod go.work Cargo.toml package.json tsconfig.json jsconfig.json pyproject.toml pyrightconfig.json"
    " setup.py setup.cfg pom.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts"
    " CMakeLists.txt compile_commands.json".split()
)
_BUILD_ENDINGS = (".csproj", ".props", ".targets")
# Files that stand for their folder in imports.
_FOLDER_MODULES = frozenset(["__init__", "index"])
_WORD = re.compile(r"[\w$-]+")


def is_build_file(path: str) -> bool:
    """Whether a file can change what the names of other files mean without being code itself."""
    name = path.rpartition("/")[2]
    return name in _BUILD_FILES or name.endswith(_BUILD_ENDINGS)


def module_name(path: str) -> str:
    """Return the name by which imports mention a file: its own, or that of its folder."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2] or stem if stem in _FOLDER_MODULES else stem


def mentioned_names(file: SourceFile, language: str) -> set[str]:
    """Return the names by which other files can change the meaning of a file.

    Where every file is a scope, those are the modules that it imports; elsewhere, any word in it.
    """
    if not is_scoped_by_file(language):
        return set(_WORD.findall(file.text.decode("utf-8", "replace")))
    imports = [(each.name, each.qualifier) for each in file.references if each.kind == "import"]
    table = decode_symbol_table(file.table)
    for slot, bound in table.bindings.items():
        if slot == "stars" or slot.startswith("import "):
            imports += [(value, origin) for _, value, origin in bound]
    imports += [(fact.value, fact.origin) for fact in table.local if fact.kind in ("import", "export")]
    return {_last_part(each) for pair in imports for each in pair}


def _last_part(module: str) -> str:
    """Return the last name of a module as an import writes it: of `a.b`, `.b`, `./a/b.js` it is b.

    Nothing but dots is a folder, by whatever name; "" stands for that.
    """
    if "/" in module:
        return module.rstrip("/").rpartition("/")[2].partition(".")[0]
    return module.strip(".").rpartition(".")[2]


def hash_names(names: Iterable[str]) -> bytes:
    """Return the hashes of names, as they are stored; two names with one hash only add caution."""
    return array("I", sorted(set(map(_hash, names)))).tobytes()


def _hash(name: str) -> int:
    return crc32(name.encode("utf-8", "replace"))


def update_validity(store: GraphStore) -> None:
    """Find out which files' references still hold; where that has changed, the file is to be linked."""
    files = {file.path: file for file in store.compiled_files()}
    if files:
        valid = _valid_files(store, files)
        flipped = {path: path in valid for path, file in files.items() if file.is_valid != (path in valid)}
        store.set_compiled_validity(flipped)


def _valid_files(store: GraphStore, files: Mapping[str, CompiledFile]) -> set[str]:
    compiled = {path for path, file in files.items() if file.references}
    changed = _changed_files(store, files)
    names: set[int] = set()
    for path in changed:
        names |= _names_given_by(store, path, changed[path], files.get(path))
    build_folders = tuple(path[: path.rfind("/") + 1] for path in changed if is_build_file(path))
    dirty = {
        path
        for path in compiled
        if not names.isdisjoint(array("I", files[path].names)) or path.startswith(build_folders)
    }
    return compiled - _dependents(files, dirty | changed.keys())


def _changed_files(store: GraphStore, files: Mapping[str, CompiledFile]) -> dict[str, str]:
    """Return the languages of the files that are not as the compiler saw them, or that it did not see."""
    hashes = store.file_hashes()
    languages = {file.language for file in files.values() if file.references}
    changed = {
        path: file.language
        for path, file in files.items()
        if hashes.get(path, ("", ""))[0] != file.content_hash
        and (path in hashes or file.defined or is_build_file(path))  # the compiler had not seen the others
    }
    for path, (_, language) in hashes.items():
        if path not in files and (language in languages or is_build_file(path)):
            changed[path] = language
    return changed


def _names_given_by(store: GraphStore, path: str, language: str, compiled: CompiledFile | None) -> set[int]:
    """Return the hashes of names whose meaning a changed file can have changed elsewhere."""
    if is_scoped_by_file(language):
        return {_hash(module_name(path))}
    names = set(array("I", compiled.defined if compiled else b""))
    file = store.source_file(path)
    return names | {_hash(symbol.name) for symbol in (file.symbols if file else ())}


def _dependents(files: Mapping[str, CompiledFile], dirty: set[str]) -> set[str]:
    """Return these files and all that depend on them, directly or not."""
    users: defaultdict[str, list[str]] = defaultdict(list)
    for path, file in files.items():
        for needed in file.dependencies:
            users[needed].append(path)
    reached, waiting = set(dirty), list(dirty)
    while waiting:
        for user in users[waiting.pop()]:
            if user not in reached:
                reached.add(user)
                waiting.append(user)
    return reached
