"""Judging in an editor: a Markdown file with every result and a line for its grade, and its parser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dowse.errors import EvalError
from dowse.eval.files import SHEET, mark_comment
from dowse.eval.judge.dialogue import describe_item
from dowse.eval.judge.judgements import GRADES, Judgement, Judgements
from dowse.eval.judge.pool import Item, Question
from dowse.eval.reports.wording import one_line
from dowse.security.safe_files import read_regular_file

_MAX_BYTES = 50_000_000
_FIELDS = ("question", "query", "path", "symbol", "start_line", "end_line", "entry")
_RESULT = re.compile(r"\s*<!-- result (?P<data>\{.*\}) -->\s*\Z")
_NEXT = re.compile(r"#{2,}\s")  # the heading of a question or a result
# People write `grade: 2`, `Grade=2`, `- **grade**: 2`.
_GRADE = re.compile(r"\s*(?:[-*]\s)?\s*\**grade\**\s*[:=]\**\s*(?P<text>.*?)\s*\Z", re.IGNORECASE)
_NOTE = re.compile(r"\s*(?:[-*]\s)?\s*\**note\**\s*[:=]\**\s*(?P<text>.*?)\s*\Z", re.IGNORECASE)
# … and after it why: `2, but only half of it`.
_VALUE = re.compile(r"[\[(*`]*(?P<grade>[0-9]+)[\])*`]*(?:[\s,;:–—-]+\D.*)?\Z")
_EMPTY = ("", "_", "__", "…", "[]", "[ ]")
_SKIPPED = ("s", "skip", "skipped", "-", "–", "?")


@dataclass(frozen=True, slots=True)
class Sheet:
    """The content of a sheet."""

    judgements: tuple[Judgement, ...]
    empty: int  # results that still want a grade
    problems: tuple[str, ...]  # lines that can't be understood, each with what to write instead


def write_sheet(path: str | Path, questions: Sequence[Question], judgements: Judgements | None = None) -> int:
    """Write a sheet with all results, those already judged with their grades; return how many there are.

    Raises:
        EvalError: If the file is there already: it may hold work.
    """
    blocks = list(_blocks(questions, judgements))
    try:
        with Path(path).open("x", encoding="utf-8", errors="backslashreplace") as sheet:
            sheet.write("\n".join([*_instructions(), *blocks]))
    except FileExistsError:
        raise EvalError(
            f"{path} is there already and may hold grades; read it back first, or name another file"
        ) from None
    return sum(len(question.items) for question in questions)


def _instructions() -> Iterator[str]:
    yield f"{mark_comment(SHEET)}\n# Which of these answer the question?\n"
    yield "Write a number after each `grade:`; `s` skips, and what stays empty is not judged.\n"
    yield from (f"- {grade} = {meaning}" for grade, meaning in GRADES.items())
    yield "\nThe lines in `<!-- -->` say what each result is: leave them as they are.\n"


def _blocks(questions: Sequence[Question], judgements: Judgements | None) -> Iterator[str]:
    for number, question in enumerate(questions, 1):
        yield f"\n## Query {number} of {len(questions)}: {one_line(question.query)}\n"
        for item in question.items:
            known = judgements.get(question, item) if judgements else None
            yield from _block(question, item, known)


def _block(question: Question, item: Item, known: Judgement | None) -> Iterator[str]:
    head, *code = describe_item(item)
    grade = "" if known is None else "s" if known.skipped else "" if known.grade is None else str(known.grade)
    yield f"### {head}\n{_comment(question, item)}\n"
    yield f"grade: {grade}".rstrip()
    yield f"note: {one_line(known.note) if known else ''}".rstrip()
    yield ""
    yield from ("    " + line for line in code)
    yield ""


def _comment(question: Question, item: Item) -> str:
    values = (question.id, question.query, item.path, item.symbol, item.start_line, item.end_line, item.id)
    data = json.dumps(dict(zip(_FIELDS, values, strict=True)))
    # Nothing in it may end the comment.
    return f"<!-- result {data.replace('>', chr(92) + 'u003e')} -->"


def read_sheet(path: str | Path) -> Sheet:
    """Parse the grades of a sheet; lines that can't be parsed are reported and left out.

    Raises:
        EvalError: If the file is no sheet.
    """
    try:
        data = read_regular_file(path, _MAX_BYTES, follow_symlinks=True)
        text = data.decode("utf-8-sig", "replace")
    except OSError as error:
        raise EvalError(f"{path} can't be read ({error}); check the path") from error
    blocks, problems = _split(text.splitlines(), str(path))
    if not blocks and not problems:
        raise EvalError(f"{path} is no sheet with results; write one with `dowse eval judge --sheet`")
    judged = [each for block in blocks if (each := _graded(block, problems, str(path)))]
    answered = tuple(each for each in judged if each.is_answered or each.note)
    empty = sum(not each.is_answered for each in judged)
    return Sheet(answered, empty, tuple(problems))


@dataclass(slots=True)
class _Block:
    """One result of a sheet with the lines below it."""

    judgement: Judgement
    line: int
    grades: list[tuple[int, str]]  # line, what was written
    notes: list[str]


def _split(lines: Sequence[str], path: str) -> tuple[list[_Block], list[str]]:
    """Cut a sheet into its results."""
    blocks: list[_Block] = []
    problems: list[str] = []
    current: _Block | None = None
    for number, line in enumerate(lines, 1):
        if _NEXT.match(line):
            current = None
        elif "<!-- result" in line and not line.startswith("    "):
            judgement = _read_comment(line)
            current = _Block(judgement, number, [], []) if judgement else None
            if current is None:
                problems.append(f"{path}:{number}: this no longer says what the result is; restore the line")
            else:
                blocks.append(current)
        elif not line.startswith("    ") and (match := _GRADE.match(line)):
            if current is not None:
                current.grades.append((number, match["text"]))
            elif match["text"] not in _EMPTY:
                problems.append(f"{path}:{number}: a grade of nothing; write it below a result's heading")
        elif current is not None and not line.startswith("    ") and (match := _NOTE.match(line)):
            current.notes.append(match["text"])
    return blocks, problems


def _read_comment(line: str) -> Judgement | None:
    """Return the judgement, without a grade, that a result's comment stands for."""
    match = _RESULT.match(line)
    try:
        data = json.loads(match["data"]) if match else None
    except ValueError:
        return None
    if not isinstance(data, dict) or set(data) != set(_FIELDS):
        return None
    whole = all(isinstance(data[name], int if name.endswith("_line") else str) for name in _FIELDS)
    return Judgement(**data) if whole else None


def _graded(block: _Block, problems: list[str], path: str) -> Judgement | None:
    """Return a result's judgement; None, and a problem, if its grade can't be parsed."""
    written = [(line, text) for line, text in block.grades if text not in _EMPTY]
    judgement = replace(block.judgement, note=" ".join(filter(None, block.notes)))
    if not written:
        return judgement
    if len({text for _, text in written}) > 1:
        lines = " and ".join(str(line) for line, _ in written)
        problems.append(f"{path}:{written[1][0]}: one result has several grades (lines {lines}); keep one")
        return None
    line, text = written[0]
    if text.lower() in _SKIPPED:
        return replace(judgement, skipped=True)
    match = _VALUE.match(text)
    if not match or int(match["grade"]) not in GRADES:
        problems.append(
            f"{path}:{line}: {one_line(text, 40)!r} is no grade; write 0, 1, 2 or 3, or nothing to leave it"
        )
        return None
    return replace(judgement, grade=int(match["grade"]))
