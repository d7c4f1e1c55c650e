"""One file in, its definitions and references out."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import partial

from dowse.parsing.chunking import MAX_BYTES, MAX_LINES, split_spans
from dowse.parsing.grammar import toolkit
from dowse.parsing.languages import LANGUAGES, Language
from dowse.parsing.limits import parse_seconds
from dowse.parsing.outline import CONTAINERS, NAMED_TYPES, Entry, Matches, Outline, signature
from dowse.parsing.source_text import Text
from dowse.parsing.spans import overlap
from dowse.parsing.unnamed_runs import has_long_unnamed_run
from dowse.parsing.windows import trim, windows
from dowse.types import Definition, Fact, ParsedFile, Reference, Span

# A remainder of one such line says nothing that the rest of the file does not.
_BARE_LINE = re.compile(rb"\s*(?:package|module|namespace|import|from|use|using|require|#include|<\?php)\b")

# These make named tuples at the speed of plain ones.
_REFERENCE = partial(tuple.__new__, Reference)
_DEFINITION = partial(tuple.__new__, Definition)

# Where an entry went: the index of its first definition, and where its parts start if it has several.
Place = tuple[int, list[int] | None]

# From the first word of a line to its end, so that matches are lines.
_SAYS_SOMETHING = re.compile(rb"\w[^\n]*")


def parse_file(
    text: bytes,
    language: str,
    path: str,
    max_lines: int = MAX_LINES,
    time_limit: float | None = None,
) -> ParsedFile:
    """Cut a file into definitions and list what it refers to.

    Args:
        text: The file's content, valid UTF-8.
        language: A name from `detect_language`.
        path: Names the module, and tells dialects apart.
        max_lines: Longer definitions are split into parts.
        time_limit: Seconds of CPU time after which the syntax tree is given up for line windows; by default
            in proportion to the file's size. None at all (`math.inf`) if the process as a whole has one.
    """
    if not text.strip():
        return ParsedFile(language, (), ())
    source, stem = Text(text), _stem(path)
    known = LANGUAGES.get(language)
    if known is None:
        return ParsedFile(language, windows(source, language, stem), ())
    kit = toolkit(known.grammar_for(path))
    seconds = parse_seconds(len(text)) if time_limit is None else time_limit
    tree = kit.parse(text, seconds)
    if tree is None:
        return parse_as_plain_lines(text, language, path, f"parsing took longer than {seconds:.2g} s")
    if has_long_unnamed_run(tree.root_node, text):
        return parse_as_plain_lines(text, language, path, "punctuation without end")
    return _from_tree(source, known, stem, Matches(source, known, kit, tree.root_node), max_lines)


def parse_as_plain_lines(text: bytes, language: str, path: str, reason: str) -> ParsedFile:
    """Cut a file that could not be parsed into windows of lines."""
    found = windows(Text(text), "", _stem(path)) if text.strip() else ()
    return ParsedFile(language, found, (), f"{reason}; indexed as plain lines")


def _from_tree(text: Text, language: Language, stem: str, matches: Matches, max_lines: int) -> ParsedFile:
    """Definitions in the order of their starts, the module's remainder last."""
    outline = Outline(text, language, matches)
    definitions, places = _definitions(text, outline.entries, max_lines)
    rest = _remainder(text, outline.root, stem, max_lines, alone=not definitions)
    places.append((len(definitions) if rest else -1, _part_starts(rest)))
    definitions.extend(rest)
    references = _references(text, outline, matches, places)
    facts = _facts(outline, matches, places, references)
    return ParsedFile(language.name, tuple(definitions), references, facts=facts, remainder=places[-1][0])


def _definitions(text: Text, entries: list[Entry], max_lines: int) -> tuple[list[Definition], list[Place]]:
    """Every entry as a definition, or as several when its own text is over-long, and where each went."""
    data, count = text.data, text.data.count
    found: list[Definition] = []
    places: list[Place] = []
    at, line = 0, 1  # entries come in order, so each line number is counted from the one before
    for entry in entries:
        start, end, kind = entry.text_start, entry.text_end, entry.kind
        line += count(b"\n", at, start) if start >= at else -count(b"\n", start, at)
        at, last = start, line + count(b"\n", start, end - 1)
        spans: tuple[Span, ...] = ((start, end),)
        if entry.holes and kind in CONTAINERS:
            spans = tuple(_without(data, spans[0], entry.holes))
        if kind == "object":
            kind = "constant"
        # fmt: off
        whole = _DEFINITION(
            (kind, entry.name, ".".join(entry.path), line, last, signature(data, entry), entry.doc,
             spans, tuple(entry.doc_spans), 0)
        )
        # fmt: on
        if last - line >= max_lines or end - start > MAX_BYTES:
            parts = _split(text, whole, max_lines)
            places.append((len(found), _part_starts(parts)))
            found.extend(parts)
        else:
            places.append((len(found), None))
            found.append(whole)
    return found, places


def _part_starts(parts: list[Definition]) -> list[int] | None:
    """Where the parts of one definition start, None unless there are several."""
    return [part.spans[0][0] for part in parts] if len(parts) > 1 else None


def _split(text: Text, whole: Definition, max_lines: int) -> list[Definition]:
    """The parts of a definition: only the first says the documentation, each has its own lines."""
    text.index_lines()
    parts = split_spans(text, list(whole.spans), max_lines)
    if len(parts) == 1:
        return [whole]
    split = []
    for number, spans in enumerate(parts):
        first, last = text.lines_of(spans[0][0], spans[-1][1])
        doc_spans = tuple(overlap(spans, whole.doc_spans))
        doc = "" if number else whole.doc
        split.append(
            whole._replace(
                start_line=first, end_line=last, doc=doc, spans=tuple(spans), doc_spans=doc_spans, part=number
            )
        )
    return split


def _remainder(text: Text, root: Entry, stem: str, max_lines: int, alone: bool) -> list[Definition]:
    """What the file says outside its definitions: imports, constants, top-level code."""
    spans = _without(text.data, (0, len(text.data)), root.holes)
    lines = [len(_SAYS_SOMETHING.findall(text.data, *span)) for span in spans]
    spans, said = [span for span, says in zip(spans, lines, strict=True) if says], sum(lines)
    if not said or (said == 1 and not alone and _BARE_LINE.match(text.data, spans[0][0])):
        return []
    first, last = text.lines_of(spans[0][0], spans[-1][1])
    docs = tuple(overlap(spans, root.doc_spans))
    whole = Definition("module", stem, stem, first, last, "", root.doc, tuple(spans), docs)
    if last - first < max_lines and spans[-1][1] - spans[0][0] <= MAX_BYTES:
        return [whole]
    return _split(text, whole, max_lines)


def _without(data: bytes, whole: Span, holes: list[Span]) -> list[Span]:
    """A range minus its holes, without the blank lines that leaves."""
    spans, start = [], whole[0]
    for begin, end in [*holes, (whole[1], whole[1])]:
        if begin > start and data[start:begin].strip():
            spans.append(trim(data, start, begin))
        start = max(start, end)
    return spans


def _references(text: Text, outline: Outline, matches: Matches, places: list[Place]) -> tuple[Reference, ...]:
    """Give every reference its line and the part of the definition that holds it."""
    data, count, rfind = text.data, text.data.count, text.data.rfind
    homes = _impl_homes(text, outline, places)
    # All of these are in order: walk along them side by side.
    borders = zip([*outline.owner_starts[1:], len(data) + 1], outline.owners, strict=True)
    border, (first, parts) = -1, places[-1]
    at, line, line_start = 0, 1, 0
    rows = []
    for offset, kind, name, qualifier, arguments in matches.references:
        while offset >= border:
            border, owner = next(borders)
            first, parts = places[owner]
        passed = count(b"\n", at, offset)
        if passed:
            line += passed
            line_start = rfind(b"\n", at, offset) + 1
        at, home = offset, first
        if parts:
            home += max(0, bisect_right(parts, offset) - 1)
        if homes and kind in ("implements", "extends"):
            home = homes.get(line_start, home)
        rows.append(_REFERENCE((kind, name, qualifier, line, offset - line_start, home, arguments)))
    return tuple(rows)


def _facts(
    outline: Outline, matches: Matches, places: list[Place], references: tuple[Reference, ...]
) -> tuple[Fact, ...]:
    """Give what is said of names its place; a class is where fields are."""
    in_types = frozenset(e.number for e in outline.entries if e.kind in CONTAINERS)
    firsts = [place[0] for place in places]
    return matches.facts.settle(references, (outline.owner_starts, outline.owners), firsts, in_types)


def _impl_homes(text: Text, outline: Outline, places: list[Place]) -> dict[int, int]:
    """For the start of the first line of every impl block, the definition of the type it is about."""
    if not outline.impls:
        return {}
    first = {entry.name: entry.number for entry in reversed(outline.entries) if entry.kind in NAMED_TYPES}
    return {
        text.starts[bisect_right(text.starts, entry.start) - 1]: places[first[entry.name]][0]
        for entry in outline.impls
        if entry.name in first
    }


def _stem(path: str) -> str:
    """The file's name without its last extension."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name
