"""Resolve what users type to symbols: `file.py:42`, `name`, `Class.method`, `pkg.Class.method`."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache, partial
from itertools import accumulate

from dowse import deadline
from dowse.errors import DowseError
from dowse.query.edits import edit_distance, fold_name
from dowse.security.terminal import escape_name, escape_surrogates
from dowse.storage.protocol import Reader
from dowse.types import NON_DEFINITION_KINDS, TYPE_KINDS, SymbolRow, is_test

_LOCATION = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?::\d+)?\Z")
# The path of a file, and the name of a symbol in it: src/server.c:main.
_PATH_AND_NAME = re.compile(r"(?P<path>[^:]+\.\w+):(?P<name>[^\W\d].*)")
# `Class.method`, `Class::method`, `Class#method`, `Class:method`, `folder/file.name`.
_SEPARATORS = re.compile(r"::|->|[.#/\\]|(?<=\w):(?=[^\W\d])")
_OPERATOR = re.compile(r"\boperator\s+(?=\W)")
# Candidates that an error about an ambiguous name lists.
_MAX_LISTED = 8
# Names of files that stand for their folder.
_FOLDER_FILES = frozenset(["__init__", "index", "mod"])
# Symbols of one name that are read: a large repository has tens of thousands of `__init__`.
_MAX_SAME_NAME = 100_000
# Names that are compared with a misspelt one, and the size of an index up to which all names are scanned.
_MAX_NEAR, _MAX_SCANNED = 2_000, 300_000
# A longer text is no name.
_MAX_LENGTH = 80
# Names that an error suggests, and the length of a name from which on two edits are allowed.
_MAX_SUGGESTED, _MIN_TWO_EDITS = 3, 8
# The shortest name of a type that can be misspelt.
_MIN_OWNER = 4
# Files in which definitions inside functions are told from others.
_MAX_FILES = 200


class UnknownName(DowseError):
    """A name that no symbol has, or a location that is not in the index."""


class AmbiguousName(DowseError):
    """A name that several symbols have."""

    is_list = True

    def __init__(self, name: str, candidates: Sequence[SymbolRow]) -> None:
        shown = "".join(
            f"\n  {escape_name(f'{row.path}:{row.start_line}  {row.kind} {row.qualified_name}')}"
            for row in candidates[:_MAX_LISTED]
        )
        more = f"\n  and {len(candidates) - _MAX_LISTED} more" if len(candidates) > _MAX_LISTED else ""
        message = f"{escape_name(name)} could be any of these; name one by its path:line"
        super().__init__(f"{message}{shown}{more}")
        self.name = name
        self.candidates = tuple(candidates)


@lru_cache(maxsize=100_000)
def module_path(path: str) -> str:
    """Return the path of a file as a module: without its ending, and of `__init__.py` and such its folder."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder if stem in _FOLDER_FILES and folder else f"{folder}/{stem}".lstrip("/")


def resolve(reader: Reader, text: str, *, names_at_lines: bool = False) -> SymbolRow:
    """Return the one symbol that a text names; raise if there is none, or more than one."""
    return resolve_all(reader, text, names_at_lines=names_at_lines)[0]


def resolve_all(
    reader: Reader, text: str, kinds: Collection[str] = (), *, names_at_lines: bool = True
) -> list[SymbolRow]:
    """Return the one symbol that a text names, with all its overloads and the later parts of a long one."""
    groups = resolve_groups(reader, text, kinds, names_at_lines=names_at_lines)
    if not groups:
        raise _unknown(reader, text)
    if len(groups) > 1:
        raise AmbiguousName(text, [group[0] for group in groups])
    return groups[0]


def resolve_groups(
    reader: Reader, text: str, kinds: Collection[str] = (), *, names_at_lines: bool = True
) -> list[list[SymbolRow]]:
    """Return every symbol that a text names, each with its overloads and the later parts of a long one.

    Args:
        reader: One generation of an index.
        text: A name, or a location, which names a symbol without its overloads.
        kinds: If some candidates are of these kinds, only those count.
        names_at_lines: Whether a location may be that of a name, such as a field, instead of the symbol
            around it.
    """
    matches = _matches(reader, text, names_at_lines=names_at_lines)
    matches = [row for row in matches if row.kind in kinds] or matches
    if not _LOCATION.match(normalize_name(text)):
        groups: dict[tuple[int, str], list[SymbolRow]] = {}
        for row in matches:
            groups.setdefault((row.file_id, row.qualified_name), []).append(row)
        return list(groups.values())
    files = [row.file_id for row in matches]
    rows = [*reader.rows_of_files(files), *(row for row in matches if row.row < 0)]
    same = [(row.file_id, row.qualified_name, row.signature) for row in matches]
    return [
        [row for row in rows if (row.file_id, row.qualified_name, row.signature) == each] for each in same
    ]


def candidates(reader: Reader, text: str) -> list[SymbolRow]:
    """Return every symbol that a text can name."""
    return _first_parts(_matches(reader, text))


def symbols_named(reader: Reader, name: str, limit: int) -> list[SymbolRow]:
    """Return the first symbols that a text can name; none if the name or location is unknown."""
    try:
        return candidates(reader, name)[:limit]
    except DowseError:
        return []


def has_symbol(reader: Reader, name: str, *, with_names: bool = False) -> bool:
    """Whether a text names a symbol or, if asked, a name."""
    if _LOCATION.match(normalize_name(name)):
        return bool(symbols_named(reader, name, 1))
    parts = _parts(name)
    if len(parts) == 1:  # however many symbols have it
        return bool(reader.rows_named(_spellings(name, parts[-1]), 1, with_names=with_names))
    return bool(_longest_match(*_named_like(reader, name, with_names=with_names)))


def rows_meant(reader: Reader, text: str) -> list[SymbolRow]:
    """Return all symbols and names that a text means, each once, the project's own code first."""
    if _LOCATION.match(normalize_name(text)):
        return symbols_named(reader, text, _MAX_LISTED)
    parts, named = _named_like(reader, text)
    rows = sorted(_longest_suffix(parts, named), key=partial(_relevance_key, parts))
    return [*_first_parts([row for row in rows if row.row > 0]), *(row for row in rows if row.row < 0)]


def inside_functions(reader: Reader, rows: Sequence[SymbolRow]) -> set[int]:
    """Return which rows are defined inside functions."""
    files = sorted({row.file_id for row in rows if _owner(row)})[:_MAX_FILES]
    functions = {
        (row.file_id, row.qualified_name)
        for row in (reader.rows_of_files(files) if files else ())
        if row.kind in ("function", "method")
    }
    scopes = {row.row: list(accumulate(row.qualified_name.split(".")[:-1], "{}.{}".format)) for row in rows}
    return {row.row for row in rows if any((row.file_id, scope) in functions for scope in scopes[row.row])}


def names_containing(reader: Reader, part: str, limit: int) -> list[SymbolRow]:
    """Return names that a text is a part of, shortest first."""
    if reader.symbol_count() > _MAX_SCANNED:
        return []
    rows = reader.lookup(f"*{part}*", _MAX_NEAR, is_unqualified=True, with_names=True)
    return [row for row in rows if row.row < 0][:limit]


def known_names(reader: Reader, names: Sequence[str]) -> list[str]:
    """Return the names, in their order, of which symbols have the last part; by one lookup for all."""
    last = {name: parts[-1] for name in names if (parts := _parts(name))}
    known = {row.name for row in reader.rows_named(list(set(last.values())), _MAX_SAME_NAME)}
    return [name for name, part in last.items() if part in known]


def nearest_names(
    reader: Reader, name: str, distance: int, limit: int, *, with_names: bool = False
) -> list[SymbolRow]:
    """Return symbols whose name is within an edit distance, without case and separators; nearest first.

    One for each name: the project's own code before tests, types before members.
    """
    wanted = fold_name(name)
    if not wanted or len(wanted) > _MAX_LENGTH or reader.symbol_count() > _MAX_SCANNED:
        return []
    if distance and (same := nearest_names(reader, name, 0, limit, with_names=with_names)):
        return same
    # Of k + 1 pieces of a name, k edits leave one as it is.
    size = -(-len(wanted) // (distance + 1))
    pieces = [wanted[start : start + size] for start in range(0, len(wanted), size)]
    found: dict[str, tuple[tuple[object, ...], SymbolRow]] = {}
    for place, piece in enumerate(pieces):
        deadline.check()
        pattern = f"{'*' if place else ''}{'*'.join(piece)}{'*' if place < len(pieces) - 1 else ''}"
        for row in reader.lookup(pattern, _MAX_NEAR, is_unqualified=True, with_names=with_names):
            far = edit_distance(fold_name(row.name), wanted, distance)
            if far > distance or not row.row or row.kind in NON_DEFINITION_KINDS:
                continue
            key = (
                far,
                name.isupper() and not row.name.isupper(),  # a constant or macro is meant
                row.row < 0,
                bool(row.role),
                row.name.lower() != name.lower(),
                row.kind not in TYPE_KINDS,
                row.path,
            )
            if row.name not in found or key < found[row.name][0]:
                found[row.name] = key, row
    return [row for _, row in sorted(found.values(), key=lambda each: each[0])[:limit]]


def suggestions(reader: Reader, text: str) -> list[str]:
    """Return the qualified names nearest to a misspelt one: by its last part, or by what stands before it."""
    parts = _parts(text)
    if not parts:
        return []
    rows = _with_near_owner(_named(reader, parts[-1]), parts)
    distance = 1 if len(parts[-1]) < _MIN_TWO_EDITS else 2
    rows = rows or nearest_names(reader, parts[-1], distance, _MAX_SUGGESTED, with_names=True)
    return list(dict.fromkeys(row.qualified_name for row in rows))[:_MAX_SUGGESTED]


def is_partial_match(text: str, row: SymbolRow) -> bool:
    """Whether only the last part of a name matches a symbol, and nothing of its qualifier."""
    parts, in_file = _parts(text), _PATH_AND_NAME.fullmatch(normalize_name(text))
    if _LOCATION.match(normalize_name(text)) or (in_file and _is_at(row, in_file["path"])):
        return False
    return len(parts) > 1 and not _ends_with(row, parts[-2:])


def _matches(reader: Reader, text: str, *, names_at_lines: bool = False) -> list[SymbolRow]:
    """Return what a text names, by location or by name: those with the longest matching suffix."""
    location = _LOCATION.match(normalize_name(text))
    if location:
        rows = _symbols_at_line(reader, location["path"], int(location["line"]))
        return _names_at_line(reader, rows, int(location["line"])) if names_at_lines else rows
    parts, named = _named_like(reader, text)
    matching = _longest_match(parts, named)
    defined = [row for row in matching if row.kind not in NON_DEFINITION_KINDS] or matching
    # `Y.Y` in Y.java is the constructor, not the file's class; `server.c:main` is no member of a type.
    is_exact = len(parts) > 1 or bool(_PATH_AND_NAME.fullmatch(normalize_name(text)))
    exact = [row for row in defined if is_exact and row.qualified_name == ".".join(parts)]
    rows = exact or _without_inner(reader, _without_constructors(defined))
    return sorted(rows, key=partial(_relevance_key, parts))


def _named_like(reader: Reader, text: str, *, with_names: bool = True) -> tuple[list[str], list[SymbolRow]]:
    """Return the parts of a name, and what has the last of them; of `src/server.c:main` in that file."""
    in_file = _PATH_AND_NAME.fullmatch(normalize_name(text))
    if in_file:
        parts = _parts(in_file["name"])
        named = _named(reader, parts[-1], with_names=with_names)
        if named := _longest_suffix(parts, [row for row in named if _is_at(row, in_file["path"])]):
            return parts, named
    whole, parts = normalize_name(text), _parts(text)
    if not parts:
        return [], []
    named = reader.rows_named(_spellings(text, parts[-1]), _MAX_SAME_NAME, with_names=with_names)
    same = [row for row in named if row.name == whole and row.kind not in NON_DEFINITION_KINDS]
    if same and whole != parts[-1]:
        return [whole], same
    return parts, [row for row in named if row.name == parts[-1]] or named


def _spellings(text: str, last: str) -> list[str]:
    """Return the names that a text may mean: some shells have `log.info`; `name=` of Ruby sets `name`."""
    return [normalize_name(text), last, last.removesuffix("=")]


def _is_at(row: SymbolRow, path: str) -> bool:
    return f"/{row.path}".endswith(f"/{path.removeprefix('./')}")


def _longest_match(parts: list[str], named: list[SymbolRow]) -> list[SymbolRow]:
    """Return the symbols whose path and qualified name end in as many of these parts as any do.

    Names count where no symbol that defines something matches as well; an alias for what it is made of.
    """
    matching = _longest_suffix(parts, named)
    defined = [row for row in matching if row.row > 0 and row.kind not in NON_DEFINITION_KINDS]
    if not defined and matching and all(row.kind == "alias" for row in matching):
        defined = _imported(matching, named)
    return defined or [row for row in matching if row.row < 0] or matching


def _imported(aliases: list[SymbolRow], named: list[SymbolRow]) -> list[SymbolRow]:
    """Return what a package imports from its own modules under its own name, if one module defines it."""
    packages = tuple(f"{row.path.rpartition('/')[0]}/" for row in aliases)
    rows = [row for row in named if row.row > 0 and row.qualified_name == row.name]
    rows = [row for row in rows if row.kind not in NON_DEFINITION_KINDS and row.path.startswith(packages)]
    return rows if len({row.file_id for row in rows}) == 1 else []


def _longest_suffix(parts: list[str], named: list[SymbolRow]) -> list[SymbolRow]:
    for length in range(len(parts), 0, -1):
        if length == 1 < len(parts) and _with_near_owner(named, parts):
            return []  # a misspelt class is no reason to take any method of that name
        matching = [row for row in named if length == 1 or _ends_with(row, parts[-length:])]
        if matching:
            return matching
    return []


def _named(reader: Reader, name: str, *, with_names: bool = True) -> list[SymbolRow]:
    return reader.rows_named([name], _MAX_SAME_NAME, with_names=with_names)


def _with_near_owner(rows: list[SymbolRow], parts: list[str]) -> list[SymbolRow]:
    """Return the members whose type has nearly the name that was given for it: Sesion.close."""
    if len(parts) < 2 or len(parts[-2]) < _MIN_OWNER:
        return []
    wanted = parts[-2].lower()
    return [row for row in rows if 0 < edit_distance(_owner(row).rpartition(".")[2].lower(), wanted, 1) < 2]


def _owner(row: SymbolRow) -> str:
    return row.qualified_name.rpartition(".")[0]


def _without_inner(reader: Reader, rows: list[SymbolRow]) -> list[SymbolRow]:
    """Leave out definitions in tests and inside functions, if there are others."""
    if len({(row.file_id, row.qualified_name) for row in rows}) < 2:
        return rows
    rows = [row for row in rows if not is_test(row)] or rows
    inner = inside_functions(reader, rows)
    return [row for row in rows if row.row not in inner] or rows


def _without_constructors(rows: list[SymbolRow]) -> list[SymbolRow]:
    """Leave out symbols that share the name of a type in the list: constructors, separate impl blocks."""
    types = {(row.file_id, row.qualified_name) for row in rows}
    named = [row for row in rows if (row.file_id, row.qualified_name.rpartition(".")[0]) not in types]
    return [row for row in named if row.kind != "impl"] or named


def _relevance_key(parts: list[str], row: SymbolRow) -> tuple[bool, bool, str, int]:
    """Return a sort key: exact matches first, then the project's own code."""
    return row.qualified_name != ".".join(parts), bool(row.role), row.path, row.start_line


def normalize_name(text: str) -> str:
    """Return a name as the index has it, without quotes and brackets of a call."""
    # An index has no lone surrogates: undecodable bytes in a path are stored as escapes.
    name = _OPERATOR.sub("operator", escape_surrogates(text).strip().strip("`"))
    return name if name.endswith("operator()") else name.removesuffix("()")


def _parts(text: str) -> list[str]:
    in_file = _PATH_AND_NAME.fullmatch(normalize_name(text))
    joined = f"{in_file['path'].rpartition('.')[0]}/{in_file['name']}" if in_file else normalize_name(text)
    return [part for part in _SEPARATORS.split(joined) if part] or [joined][: len(joined)]


def _unknown(reader: Reader, text: str) -> DowseError:
    path = normalize_name(text).removeprefix("./")
    if path and (files := reader.files_with_suffix(path)):
        rows = reader.rows_of_files([files[0].file_id])
        named = [row.qualified_name for row in rows if row.kind not in NON_DEFINITION_KINDS]
        example = " or ".join(map(escape_name, named[:_MAX_SUGGESTED]))
        return UnknownName(f"{text} is a file: name a symbol in it{example and ', e.g. '}{example}")
    near = " or ".join(escape_name(name) for name in suggestions(reader, text))
    if near:
        return UnknownName(f"no symbol is called {text}; did you mean {near}?")
    return UnknownName(f"no symbol is called {text}; `dowse search {text}` shows the nearest ones")


def _ends_with(row: SymbolRow, parts: list[str]) -> bool:
    """Whether the path and qualified name of a symbol end in these parts."""
    *folders, file = (row.path.rpartition(".")[0] or row.path).split("/")
    names = row.qualified_name.split(".")
    in_package = [*folders, *names] if file in _FOLDER_FILES else []
    return parts in ([*folders, file, *names][-len(parts) :], in_package[-len(parts) :])


def _first_parts(rows: list[SymbolRow]) -> list[SymbolRow]:
    """Leave out the later parts of long symbols that are stored in parts."""
    first: dict[tuple[int, str, str], SymbolRow] = {}
    for row in rows:  # in the order of their lines, within each file
        first.setdefault((row.file_id, row.qualified_name, row.signature), row)
    return list(first.values())


def _symbols_at_line(reader: Reader, path: str, line: int) -> list[SymbolRow]:
    """Return the innermost symbol at a line of each file with a path, or with a path that ends so."""
    wanted = path.removeprefix("./")
    files = reader.files_with_suffix(wanted)
    if not files and "\\" in path:  # as Windows writes it
        wanted = path.replace("\\", "/").removeprefix("./")
        files = reader.files_with_suffix(wanted)
    files = [file for file in files if file.path == wanted] or files
    if not files:
        raise UnknownName(f"there is no file {path} in the index; `dowse status --files` lists what there is")
    innermost: dict[int, SymbolRow] = {}
    for row in reader.rows_of_files([file.file_id for file in files]):
        if not row.start_line <= line <= row.end_line:
            continue
        best = innermost.get(row.file_id)
        if best is None or row.end_line - row.start_line <= best.end_line - best.start_line:
            innermost[row.file_id] = row
    if not innermost:
        raise UnknownName(f"{path} has no symbol at line {line}")
    return list(innermost.values())


def _names_at_line(reader: Reader, rows: list[SymbolRow], line: int) -> list[SymbolRow]:
    """Return the only name of a line instead of the symbol around it, if the line does not name that."""
    at_line: dict[int, list[SymbolRow]] = {}
    for name in reader.names_of_files([row.file_id for row in rows]):
        if name.start_line == line:
            at_line.setdefault(name.file_id, []).append(name)
    return [_meant_at_line(reader, row, at_line.get(row.file_id, [])) for row in rows]


def _meant_at_line(reader: Reader, symbol: SymbolRow, names: list[SymbolRow]) -> SymbolRow:
    # A function may set a field in any of its lines.
    if len(names) != 1 or symbol.kind in ("function", "method"):
        return symbol
    line = reader.text(symbol.file_id).split(b"\n")[names[0].start_line - 1].decode("utf-8", "replace")
    is_own_line = symbol.kind not in NON_DEFINITION_KINDS and symbol.name in re.findall(r"\w+", line)
    return symbol if is_own_line else names[0]
