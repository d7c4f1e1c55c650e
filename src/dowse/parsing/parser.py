"""The parser: from a file to its definitions, references and name bindings."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial

from dowse.lazy_classes import replace
from dowse.parsing.call_signatures import end_call_signatures
from dowse.parsing.chunking import MAX_BYTES, MAX_LINES, line_windows, split_spans, trim
from dowse.parsing.embedded import embedded_code
from dowse.parsing.grammar import compile_grammar, has_long_unnamed_run
from dowse.parsing.item_macros import unwrap_item_macros
from dowse.parsing.languages import EMBEDDING_LANGUAGES, LANGUAGES, Language
from dowse.parsing.limits import MAX_NOTEBOOK_BYTES, parse_seconds
from dowse.parsing.line_breaks import join_class_heads
from dowse.parsing.line_patterns import PATTERNS
from dowse.parsing.macros import blank_c_macros, blank_macros
from dowse.parsing.name_definitions import defined_names, misread_variables, names_in_errors
from dowse.parsing.notebooks import notebook_code
from dowse.parsing.outline import CONTAINERS, NAMED_TYPES, Entry, Matches, Outline, signature
from dowse.parsing.preprocessor import keep_one_branch
from dowse.parsing.signature import comment_pattern
from dowse.parsing.source_text import SourceText
from dowse.parsing.spans import intersect_spans
from dowse.parsing.window_names import in_windows, pattern_names, window_names
from dowse.types import Definition, Name, ParsedFile, Reference, Span

# A remainder of one such line adds nothing to the other definitions of the file.
_BOILERPLATE_LINE = re.compile(
    rb"\s*(?:package|module|namespace|import|from|use|using|require|#include|<\?php)\b"
)

# Fields belong to these: an object type of TypeScript has fields as well.
_WITH_FIELDS = CONTAINERS | {"type"}

# Files in windows that have code of other languages in them.
_WITH_CODE = frozenset(["html", "markdown"])

# Create named tuples at the speed of plain ones.
_REFERENCE = partial(tuple.__new__, Reference)
_DEFINITION = partial(tuple.__new__, Definition)

# The definitions of an outline entry: the index of the first, and the starts of the parts if there are
# several.
EntryParts = tuple[int, list[int] | None]

# What makes a text readable for the grammar of its language, at the same length.
_READABLE: dict[str, Callable[[bytes], bytes]] = {
    "cpp": lambda text: blank_macros(keep_one_branch(text)),
    "kotlin": join_class_heads,
    "typescript": end_call_signatures,
}

# From the first word of a line to its end, so that matches are lines.
_NONBLANK_LINE = re.compile(rb"\w[^\n]*")


def parse_file(
    text: bytes,
    language: str,
    path: str,
    max_lines: int = MAX_LINES,
    time_limit: float | None = None,
    definitions_only: bool = False,
) -> ParsedFile:
    """Parse a file into definitions, references and name bindings.

    Args:
        text: The file's content, valid UTF-8.
        language: A name from `detect_language`.
        path: Names the module, and selects the dialect.
        max_lines: Longer definitions are split into parts.
        time_limit: Seconds of CPU time after which the file is chunked into lines instead; by default in
            proportion to its size. `math.inf` if the process as a whole has a limit.
        definitions_only: Leave out references and name bindings, which take most of the time.
    """
    if not text.strip():
        return ParsedFile(language, (), ())
    seconds = parse_seconds(len(text)) if time_limit is None else time_limit
    if language in EMBEDDING_LANGUAGES:
        return _parse_embedding(text, language, path, max_lines, seconds, definitions_only)
    if language in LANGUAGES:
        source = SourceText(text)
        return _parse_code(source, source, language, path, max_lines, seconds, definitions_only)
    return _parse_windows(text, language, path, seconds)


def _parse_code(
    code: SourceText,
    file: SourceText,
    language: str,
    path: str,
    max_lines: int,
    seconds: float,
    definitions_only: bool,
) -> ParsedFile:
    """Parse the code of a file: all of it, or what is embedded in it, at the same offsets."""
    text, known = code.data, LANGUAGES[language]
    kit = compile_grammar(known.grammar_for(path), definitions_only)
    is_jsx = path.endswith("x")  # where lines start with elements
    readable = bytes if language == "typescript" and is_jsx else _READABLE.get(language, bytes)
    macros = blank_c_macros(text) if language == "c" else None
    tree = kit.parse(macros.text if macros else readable(text), seconds)
    if tree is None:
        return parse_as_plain_lines(file.data, language, path, f"parsing took longer than {seconds:.2g} s")
    if language == "rust":
        tree = unwrap_item_macros(kit, text, tree, seconds)
    if has_long_unnamed_run(tree.root_node, text):
        return parse_as_plain_lines(file.data, language, path, "punctuation without end")
    matches = Matches(code, known, kit, tree.root_node, definitions_only)
    if macros:
        matches.macros = macros.used
        matches.names += macros.fields
    if tree.root_node.has_error and language in ("c", "cpp"):
        matches.names += names_in_errors(text)
        matches.drop_variables(misread_variables(text, matches.names, path.endswith(".c")))
    return _from_tree(code, file, known, _stem(path), matches, max_lines, definitions_only)


def _parse_embedding(
    text: bytes, language: str, path: str, max_lines: int, seconds: float, definitions_only: bool
) -> ParsedFile:
    """Parse a component or notebook by the code in it; without any, it is chunked into windows."""
    shifts: dict[int, int] = {}
    if language == "notebook":
        found = notebook_code(text) if len(text) <= MAX_NOTEBOOK_BYTES else None
        codes = {found[0]: found[1]} if found else {}
        shifts = found[2] if found else {}
    else:
        codes = embedded_code(text, language)
    inner = next(iter(codes), "")
    if inner not in LANGUAGES:
        return _parse_windows(text, language, path, seconds)
    code, file = SourceText(codes.pop(inner)), SourceText(text)
    parsed = _parse_code(code, file, inner, path, max_lines, seconds, definitions_only)
    styles = (name for each, style in codes.items() for name in _inner_names(style, each, path, seconds))
    references = parsed.references
    if shifts:
        references = tuple(r._replace(column=r.column + shifts.get(r.line, 0)) for r in references)
    names = sorted([*parsed.names, *styles], key=lambda name: name.line)
    return replace(parsed, language=language, references=references, names=tuple(names))


def _parse_windows(text: bytes, language: str, path: str, seconds: float) -> ParsedFile:
    """Chunk a file without symbols into windows; it may define names, also by code embedded in it."""
    source = SourceText(text)
    windows = line_windows(source, language, _stem(path))
    names = window_names(source, language, path, windows, seconds)
    if language in _WITH_CODE:
        inner = [
            name
            for each, code in embedded_code(text, language).items()
            for name in _inner_names(code, each, path, seconds)
        ]
        names = tuple(sorted([*names, *in_windows(inner, windows)], key=lambda name: name.line))
    return ParsedFile(language, windows, (), names=names)


def _inner_names(code: bytes, language: str, path: str, seconds: float) -> tuple[Name, ...]:
    """Return what embedded code defines, as names."""
    if language not in LANGUAGES:
        return window_names(SourceText(code), language, path, (), seconds)
    parsed = parse_file(code, language, path, time_limit=seconds, definitions_only=True)
    symbols = [
        Name(each.kind, each.name, each.qualified_name, each.start_line, -1)
        for index, each in enumerate(parsed.definitions)
        if index != parsed.remainder and not each.part and not parsed.problem
    ]
    return (*symbols, *(name._replace(owner=-1) for name in parsed.names))


def parse_as_plain_lines(text: bytes, language: str, path: str, reason: str) -> ParsedFile:
    """Chunk a file that could not be parsed into windows of lines."""
    windows = line_windows(SourceText(text), "", _stem(path)) if text.strip() else ()
    return ParsedFile(language, windows, (), f"{reason}; indexed as plain lines")


def _from_tree(
    text: SourceText,
    file: SourceText,
    language: Language,
    stem: str,
    matches: Matches,
    max_lines: int,
    definitions_only: bool,
) -> ParsedFile:
    """Return the definitions in the order of their starts, the module's remainder last."""
    outline = Outline(text, language, matches)
    definitions, entry_parts = _definitions(text, outline.entries, max_lines, language)
    remainder = _remainder(file, outline.root, stem, max_lines, alone=not definitions)
    entry_parts.append((len(definitions) if remainder else -1, _part_starts(remainder)))
    definitions.extend(remainder)
    names = defined_names(text, outline, entry_parts, matches.names, language)
    if language.name in PATTERNS:
        names = _with_missed_names(text.data, language.name, outline.entries, names)
    if definitions_only:
        return ParsedFile(language.name, tuple(definitions), (), remainder=entry_parts[-1][0], names=names)
    matches.add_uses(names, outline.owner_at)
    references = _references(text, outline, matches, entry_parts, names)
    # Fields belong to these; a block of variables in Go belongs to the package.
    kinds = _WITH_FIELDS | {"constant"} if language.name == "go" else _WITH_FIELDS
    in_types = frozenset(e.number for e in outline.entries if e.kind in kinds)
    owners, first_parts = (outline.owner_starts, outline.owners), [parts[0] for parts in entry_parts]
    constants = {e.number: e.name.encode() for e in outline.entries if e.kind == "constant"}
    facts = matches.facts.collect(references, owners, first_parts, in_types, constants)
    remainder_index = entry_parts[-1][0]
    return ParsedFile(
        language.name, tuple(definitions), references, facts=facts, remainder=remainder_index, names=names
    )


def _with_missed_names(
    data: bytes, language: str, entries: list[Entry], names: tuple[Name, ...]
) -> tuple[Name, ...]:
    """Return the names with those on lines that a grammar could not read."""
    known = {entry.name for entry in entries} | {name.name for name in names}
    missed = [name for name in pattern_names(data, language) if name.name not in known]
    return tuple(sorted([*names, *missed], key=lambda name: name.line)) if missed else names


def _definitions(
    text: SourceText, entries: list[Entry], max_lines: int, language: Language
) -> tuple[list[Definition], list[EntryParts]]:
    """Return the definitions of all entries, split where the text is too long, and the parts of each."""
    data, count = text.data, text.data.count
    comments = comment_pattern(language.line_comments, language.block_comments)
    definitions: list[Definition] = []
    entry_parts: list[EntryParts] = []
    at, line = 0, 1  # entries are sorted, so each line number is counted from the one before
    for entry in entries:
        start, end, kind = entry.text_start, entry.text_end, entry.kind
        line += count(b"\n", at, start) if start >= at else -count(b"\n", start, at)
        at, last = start, line + count(b"\n", start, end - 1)
        spans: tuple[Span, ...] = ((start, end),)
        if entry.holes and kind in CONTAINERS:
            spans = tuple(_remaining_spans(data, spans[0], entry.holes))
        if kind == "object":
            kind = "constant"
        # fmt: off
        whole = _DEFINITION(
            (kind, entry.name, ".".join(entry.path), line, last, signature(data, entry, comments),
             entry.doc, spans, tuple(entry.doc_spans), 0)
        )
        # fmt: on
        if last - line >= max_lines or end - start > MAX_BYTES:
            parts = _split(text, whole, max_lines)
            entry_parts.append((len(definitions), _part_starts(parts)))
            definitions.extend(parts)
        else:
            entry_parts.append((len(definitions), None))
            definitions.append(whole)
    return definitions, entry_parts


def _part_starts(parts: list[Definition]) -> list[int] | None:
    """Return the starts of the parts of one definition, None unless there are several."""
    return [part.spans[0][0] for part in parts] if len(parts) > 1 else None


def _split(text: SourceText, whole: Definition, max_lines: int) -> list[Definition]:
    """Split a definition into parts: only the first has the documentation, each has its own lines."""
    text.index_lines()
    parts = split_spans(text, list(whole.spans), max_lines)
    if len(parts) == 1:
        return [whole]
    split = []
    for number, spans in enumerate(parts):
        first, last = text.lines_of(spans[0][0], spans[-1][1])
        doc_spans = tuple(intersect_spans(spans, whole.doc_spans))
        doc = "" if number else whole.doc
        split.append(
            whole._replace(
                start_line=first, end_line=last, doc=doc, spans=tuple(spans), doc_spans=doc_spans, part=number
            )
        )
    return split


def _remainder(text: SourceText, root: Entry, stem: str, max_lines: int, alone: bool) -> list[Definition]:
    """Return the text outside of all definitions: imports, constants, top-level code."""
    spans = _remaining_spans(text.data, (0, len(text.data)), root.holes)
    lines = [len(_NONBLANK_LINE.findall(text.data, *span)) for span in spans]
    spans, count = [span for span, says in zip(spans, lines, strict=True) if says], sum(lines)
    if not count or (count == 1 and not alone and _BOILERPLATE_LINE.match(text.data, spans[0][0])):
        return []
    first, last = text.lines_of(spans[0][0], spans[-1][1])
    docs = tuple(intersect_spans(spans, root.doc_spans))
    whole = Definition("module", stem, stem, first, last, "", root.doc, tuple(spans), docs)
    if last - first < max_lines and spans[-1][1] - spans[0][0] <= MAX_BYTES:
        return [whole]
    return _split(text, whole, max_lines)


def _remaining_spans(data: bytes, whole: Span, holes: list[Span]) -> list[Span]:
    """Return a range without its holes, and without blank lines at the edges."""
    spans, start = [], whole[0]
    for begin, end in [*holes, (whole[1], whole[1])]:
        if begin > start and data[start:begin].strip():
            spans.append(trim(data, start, begin))
        start = max(start, end)
    return spans


def _references(
    text: SourceText,
    outline: Outline,
    matches: Matches,
    entry_parts: list[EntryParts],
    names: Sequence[Name],
) -> tuple[Reference, ...]:
    """Return every reference with its line and the part of the definition that holds it."""
    data, count, rfind = text.data, text.data.count, text.data.rfind
    impl_owners = _impl_owners(text, outline, entry_parts)
    fields = {(name.line, name.name) for name in names}
    # All of these are sorted: iterate over them in parallel.
    borders = zip([*outline.owner_starts[1:], len(data) + 1], outline.owners, strict=True)
    border, (first, parts) = -1, entry_parts[-1]
    at, line, line_start = 0, 1, 0
    rows = []
    for offset, kind, name, qualifier, arguments in matches.references:
        while offset >= border:
            border, owner = next(borders)
            first, parts = entry_parts[owner]
        passed = count(b"\n", at, offset)
        if passed:
            line += passed
            line_start = rfind(b"\n", at, offset) + 1
        at, owner_index = offset, first
        if parts:
            owner_index += max(0, bisect_right(parts, offset) - 1)
        if impl_owners and kind in ("implements", "extends"):
            owner_index = impl_owners.get(line_start, owner_index)
        if kind == "write" and (line, name) in fields:
            continue  # `self.x = …` defines the field
        rows.append(_REFERENCE((kind, name, qualifier, line, offset - line_start, owner_index, arguments)))
    return tuple(rows)


def _impl_owners(text: SourceText, outline: Outline, entry_parts: list[EntryParts]) -> dict[int, int]:
    """Return, by the start of its first line, the definition of the type of every impl block."""
    if not outline.impls:
        return {}
    first = {entry.name: entry.number for entry in reversed(outline.entries) if entry.kind in NAMED_TYPES}
    return {
        text.starts[bisect_right(text.starts, entry.start) - 1]: entry_parts[first[entry.name]][0]
        for entry in outline.impls
        if entry.name in first
    }


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name
