"""The lines that matter for a question, within a budget of tokens: `dowse context`.

Each candidate is worth its probability for each token, roughly: 1 / (5 + rank), up to doubled in the file
whose hits rank best, divided by its length to the power .4. Candidates are the first 100 hits, what the
first five call or are called by, and the other definitions of the best three files, which count for less.
Documents, tests and lines outside of definitions are left out, unless a short question is about them. The
weights were chosen on commits of gin, rack, fluentd and feign (`bench/long_questions.py`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from dowse.answer import Answer
from dowse.json_form import json_form
from dowse.lazy_classes import dataclass
from dowse.parsing.tokenizer import tokenize
from dowse.query.evaluate import is_within
from dowse.security.terminal import escape_name
from dowse.storage.protocol import Reader
from dowse.token_estimate import estimate_tokens
from dowse.types import NON_DEFINITION_KINDS, Hit, Note, Symbol, SymbolRow

# Hits that are candidates.
CANDIDATES = 100
_RANK_OFFSET, _LENGTH_POWER = 5, 0.4
# Of the first hits, what they call and what calls them; of the best files, their other definitions.
_LINKED, _LINK_WEIGHT = 5, 0.25
_FILES, _SIBLING_WEIGHT = 3, 0.05
# A longer symbol is cut to this share of the budget: its beginning, and lines with words of the question.
_LONGEST_SHARE = 0.5
_HEAD_LINES, _AROUND = 3, 3
# What a range costs beside its lines.
_HEADER_TOKENS = 7
# A short question with such a word is about tests or documents.
_ABOUT_TESTS = re.compile(r"\btest(?:s|ed|ing)?\b", re.IGNORECASE)
_ABOUT_DOCS = re.compile(r"\b(?:docs?|documentation|readme|changelog|guide)\b", re.IGNORECASE)
_SHORT_WORDS = 25
_WORD = re.compile(r"[^\W\d]\w+")


class _Candidate:
    """A symbol that may be shown."""

    def __init__(self, row: SymbolRow, weight: float, reason: str) -> None:
        self.row, self.weight, self.reason = row, weight, reason
        self.lines: list[tuple[int, str]] = []


@dataclass(frozen=True, slots=True)
class ContextRange:
    """Lines of one symbol; of a long one some are left out."""

    symbol: str
    kind: str
    start_line: int
    end_line: int
    reason: str
    lines: tuple[tuple[int, str], ...]  # numbers and texts


@dataclass(frozen=True, slots=True)
class ContextFile:
    """A file with the ranges that are shown of it, in the order of their lines."""

    path: str
    ranges: tuple[ContextRange, ...]


@json_form(renamed={"files": "context"})
@dataclass(frozen=True, slots=True)
class ContextAnswer:
    """The lines for a question, merged by file; a file that defines what another one uses comes before it."""

    query: str
    max_tokens: int
    tokens: int  # that the text takes, estimated
    files: tuple[ContextFile, ...]
    left_out: int  # candidates for which there was no room
    generation: int
    notes: tuple[Note, ...] = ()


def file_text(file: ContextFile, show_name: Callable[[str], str] = escape_name) -> str:
    """Return the text of a file: its path, and each range below its line numbers and reason."""
    lines = [show_name(file.path)]
    for each in file.ranges:
        lines.append(f"@ {each.start_line}-{each.end_line} {escape_name(each.reason)}")
        before = each.lines[0][0] - 1
        for number, text in each.lines:
            if number > before + 1:
                lines.append("…")
            lines.append(text)
            before = number
    return "\n".join(lines)


def select_context(reader: Reader, answer: Answer, max_tokens: int, within: str = "") -> ContextAnswer:
    """Return the best lines for the hits of a question, within a budget, and within a folder or file."""
    candidates = _candidates(reader, answer)
    if within:
        candidates = [each for each in candidates if is_within(within, each.row.path)]
    texts = dict(_texts(reader, [each.row for each in candidates]))
    for each in candidates:
        each.lines = texts[each.row.row].numbered_lines
        each.weight /= (_tokens(each.lines) + _HEADER_TOKENS) ** _LENGTH_POWER
    candidates.sort(key=lambda each: (-each.weight, each.row.path, each.row.start_line))
    terms, chosen = frozenset(tokenize(answer.query)), list[_Candidate]()
    shown: dict[str, set[int]] = defaultdict(set)
    left, left_out = max_tokens, 0
    for each in candidates:
        new = [line for line in each.lines if line[0] not in shown[each.row.path]]
        extra = _HEADER_TOKENS if shown[each.row.path] else _HEADER_TOKENS + estimate_tokens(each.row.path)
        new = _cut(new, terms, min(left - extra, int(_LONGEST_SHARE * max_tokens)))
        cost = _tokens(new) + extra
        if not new or cost > left:
            left_out += bool(each.lines)
            continue
        each.lines = new
        shown[each.row.path].update(number for number, _ in new)
        left -= cost
        chosen.append(each)
    files = _in_order(reader, chosen)
    while files and _total(files) > max_tokens:  # marks of gaps cost something, too
        last = min(chosen, key=lambda each: each.weight)
        chosen.remove(last)
        left_out += 1
        files = _in_order(reader, chosen)
    return ContextAnswer(
        *(answer.query, max_tokens, _total(files), tuple(files), left_out, answer.generation, answer.notes)
    )


def _total(files: Sequence[ContextFile]) -> int:
    return estimate_tokens("\n\n".join(map(file_text, files)))


def _candidates(reader: Reader, answer: Answer) -> list[_Candidate]:
    """Return the symbols that may be shown, each once, with their weights and reasons."""
    rows = {row.key: row for row in reader.rows_by_key([hit.symbol.id for hit in answer.hits])}
    hits = [(rows[hit.symbol.id], hit) for hit in answer.hits if hit.symbol.id in rows and hit.symbol.code]
    about = _roles_asked_for(answer.query)
    code = [each for each in hits if each[0].role in about and each[0].kind not in NON_DEFINITION_KINDS]
    hits = code if code and about == {""} else hits
    found: dict[int, _Candidate] = {}
    share: dict[int, float] = defaultdict(float)
    named = set(_WORD.findall(answer.query))
    for place, (row, hit) in enumerate(hits):
        weight = 1 / (_RANK_OFFSET + place)
        found.setdefault(row.row, _Candidate(row, weight, _reason(row, hit, named)))
        share[row.file_id] += weight
    first = [found[row.row] for row, _ in hits[:_LINKED]]
    for seed, row, reason in _linked(reader, first):
        _add(found, row, _LINK_WEIGHT * seed, reason, about)
    best = sorted(share, key=lambda file: -share[file])[:_FILES]
    highest = max(share.values(), default=1.0)
    for row in reader.rows_of_files(best):
        weight = _SIBLING_WEIGHT * share[row.file_id] / highest / _RANK_OFFSET
        _add(found, row, weight, "same file", about)
    for each in found.values():
        each.weight *= 1 + share.get(each.row.file_id, 0.0) / highest
    return list(found.values())


def _add(found: dict[int, _Candidate], row: SymbolRow, weight: float, reason: str, roles: set[str]) -> None:
    if row.row in found:
        found[row.row].weight += weight
    elif row.row > 0 and row.role in roles and row.kind not in NON_DEFINITION_KINDS:
        found[row.row] = _Candidate(row, weight, reason)


def _roles_asked_for(text: str) -> set[str]:
    """Return the roles of files that a question is about: "" is code, a short one may be about others."""
    is_short = len(text.split()) <= _SHORT_WORDS
    tests = {"test"} if is_short and _ABOUT_TESTS.search(text) else set()
    return {"", *tests, *({"docs"} if is_short and _ABOUT_DOCS.search(text) else ())}


def _reason(row: SymbolRow, hit: Hit, named: set[str]) -> str:
    if any(each.source == "frame" for each in hit.explanation):
        return f"stack frame, rank {hit.rank}"
    is_name = row.name in named and (len(row.name) > 3 or row.name != row.name.lower())
    return f"named, rank {hit.rank}" if is_name else f"rank {hit.rank}"


def _linked(reader: Reader, first: Sequence[_Candidate]) -> Iterator[tuple[float, SymbolRow, str]]:
    """Give what the first candidates certainly call, and what calls them, with a weight and a reason."""
    for each in first:
        links = {}
        for incoming, word in ((False, "called by"), (True, "calls")):
            for edge in reader.edges([each.row.row], ("calls",), incoming=incoming, limit=200):
                if edge.confidence in ("resolved", "unique"):
                    links[edge.source if incoming else edge.target] = word
        links.pop(each.row.row, None)
        weight = each.weight / (1 + len(links)) ** 0.5
        for row in reader.rows(sorted(links)):
            yield weight, row, f"{links[row.row]} {each.row.qualified_name}"


def _texts(reader: Reader, rows: Sequence[SymbolRow]) -> Iterator[tuple[int, Symbol]]:
    yield from zip((row.row for row in rows), reader.symbols(rows), strict=True)


def _cut(lines: list[tuple[int, str]], terms: frozenset[str], tokens: int) -> list[tuple[int, str]]:
    """Return as many lines as fit: the first ones, then those near most words of the question."""
    if _tokens(lines) <= tokens:
        return lines
    matches = [len(terms & set(tokenize(text))) for _, text in lines]
    order = list(range(min(_HEAD_LINES, len(lines))))
    for place in sorted(range(len(lines)), key=lambda place: (-matches[place], place)):
        order += range(max(0, place - _AROUND), min(len(lines), place + _AROUND + 1))
    kept: set[int] = set()
    for place in dict.fromkeys(order):
        tokens -= estimate_tokens(lines[place][1]) + 1
        if tokens < 0:
            break
        kept.add(place)
    return [lines[place] for place in sorted(kept)] if len(kept) > _HEAD_LINES else []


def _tokens(lines: Iterable[tuple[int, str]]) -> int:
    return estimate_tokens("\n".join(text for _, text in lines))


def _in_order(reader: Reader, chosen: Sequence[_Candidate]) -> list[ContextFile]:
    """Merge candidates by file: the best first, but those that define what it uses before it."""
    by_path: dict[str, list[_Candidate]] = defaultdict(list)
    for each in chosen:
        by_path[each.row.path].append(each)
    paths = {each.row.row: each.row.path for each in chosen}
    uses: dict[str, list[str]] = defaultdict(list)
    for edge in reader.edges(sorted(paths), limit=10_000):
        if edge.target in paths and edge.confidence == "resolved":
            uses[paths[edge.source]].append(paths[edge.target])
    ordered: dict[str, None] = {}
    for path in by_path:
        ordered |= dict.fromkeys(each for each in uses[path] if each != path)
        ordered[path] = None
    return [_file(path, by_path[path]) for path in ordered]


def _file(path: str, candidates: Sequence[_Candidate]) -> ContextFile:
    ranges = [
        ContextRange(
            *(each.row.qualified_name, each.row.kind, each.lines[0][0], each.lines[-1][0]),
            *(each.reason, tuple(each.lines)),
        )
        for each in sorted(candidates, key=lambda each: each.lines[0][0])
    ]
    return ContextFile(path, tuple(ranges))
