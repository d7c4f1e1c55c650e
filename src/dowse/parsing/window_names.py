"""Names in files that are chunked into windows of lines: configuration, data, schemas, styles, scripts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from dowse.parsing.grammar import compile_grammar, has_long_unnamed_run
from dowse.parsing.languages import DATA_LANGUAGES, Language
from dowse.parsing.limits import MAX_DATA_BYTES, MAX_KEYS, MAX_NAME_BYTES, MAX_NAMES, MAX_QUALIFIED_NAME
from dowse.parsing.line_patterns import PATTERNS, line_names
from dowse.parsing.name_definitions import defined_names
from dowse.parsing.outline import Matches, Outline
from dowse.parsing.source_text import SourceText
from dowse.parsing.yaml_keys import yaml_keys
from dowse.types import Definition, Name

# Files that programs write: nobody asks for their keys.
_LOCK_FILE = re.compile(r"(?:^|[-_.])(?:lock|lockfile|shrinkwrap)(?:\.|$)")
# A longer line is minified data.
_MAX_LINE_BYTES = 5_000
_LONG_LINE = re.compile(rb"[^\n]{%d}" % _MAX_LINE_BYTES)


def window_names(
    text: SourceText, language: str, path: str, windows: Sequence[Definition], seconds: float
) -> tuple[Name, ...]:
    """Return the names of a file without symbols, each in its window."""
    if _LOCK_FILE.search(path.rpartition("/")[2]):
        return ()
    if language in DATA_LANGUAGES:
        return in_windows(_data_names(text, DATA_LANGUAGES[language], seconds), windows)
    if language == "yaml":
        return in_windows(_yaml_names(text.data), windows)
    if language not in PATTERNS:
        return ()
    return in_windows(pattern_names(text.data, language), windows)


def pattern_names(data: bytes, language: str) -> list[Name]:
    """Return the names that line patterns find, each once."""
    names: dict[tuple[str, str], Name] = {}
    for line, kind, name, qualified in line_names(data, language):
        if len(qualified) <= MAX_QUALIFIED_NAME and len(name) <= MAX_NAME_BYTES:
            names.setdefault((kind, qualified), Name(kind, name, qualified, line, -1))
            if len(names) == MAX_NAMES:
                break
    return list(names.values())


def in_windows(names: Iterable[Name], windows: Sequence[Definition]) -> tuple[Name, ...]:
    """Return names with the windows that they are in as their owners."""
    starts = [window.start_line for window in windows]
    return tuple(name._replace(owner=bisect_right(starts, name.line) - 1) for name in names)


def _is_data(data: bytes) -> bool:
    """Whether a file has more in it than people write."""
    return len(data) > MAX_DATA_BYTES or _LONG_LINE.search(data) is not None


def _yaml_names(data: bytes) -> list[Name]:
    """Return the keys of a file of YAML, those of a list's items once."""
    if _is_data(data):
        return []
    names = {path: Name("key", name, path, line, -1) for line, name, path in reversed([*yaml_keys(data)])}
    return sorted(names.values(), key=lambda name: name.line) if len(names) <= MAX_KEYS else []


def _data_names(text: SourceText, language: Language, seconds: float) -> tuple[Name, ...]:
    """Return the names that a grammar tells; none of data, which has too many."""
    data = text.data
    if _is_data(data):
        return ()
    kit = compile_grammar(language.grammar)
    tree = kit.parse(data, seconds)
    if tree is None or has_long_unnamed_run(tree.root_node, data):
        return ()
    matches = Matches(text, language, kit, tree.root_node, definitions_only=True)
    outline = Outline(text, language, matches)
    nowhere = [(-1, None)] * (len(outline.entries) + 1)
    names = defined_names(text, outline, nowhere, matches.names, language)
    return names if len(names) <= MAX_KEYS else ()
