"""Relevance judgements: appended to a file as they are made, turned into cases, compared between judges."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from dowse.errors import DowseError, EvalError
from dowse.eval.datasets.lines import read_rows
from dowse.eval.judge.pool import Item, Question
from dowse.eval.types import Case
from dowse.security.safe_files import open_without_links

# The grades; judges see these words.
GRADES = {
    0: "not relevant: it has nothing to do with the question",
    1: "related: the same subject, but it does not help with the question",
    2: "helpful: a part of the answer, or it leads there at once",
    3: "the answer: exactly what was asked for",
}
SOURCE = "judge"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement of one result by one person."""

    question: str  # id
    query: str
    path: str
    symbol: str
    start_line: int
    end_line: int
    entry: str = ""  # of a corpus
    grade: int | None = None
    skipped: bool = False  # looked at, and left open
    note: str = ""

    @property
    def item(self) -> Item:
        """What was judged."""
        return Item(self.path, self.symbol, self.start_line, self.end_line, id=self.entry)

    @property
    def key(self) -> tuple[str, str]:
        """Its identity: a later judgement with the same key replaces it."""
        return self.question, self.item.key

    @property
    def is_graded(self) -> bool:
        """Whether it has a grade; what was skipped is asked again."""
        return self.grade is not None

    @property
    def is_answered(self) -> bool:
        """Whether it was graded or skipped."""
        return self.skipped or self.is_graded


class Judgements:
    """The judgements in a file, which grows by a line with each; later lines replace earlier ones.

    Every line is on the disk before `record` returns (write-ahead): a crash loses at most the line that was
    being written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._known: dict[tuple[str, str], Judgement] = {}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._file = open_without_links(self.path, os.O_RDWR | os.O_APPEND, 0o644)
        except (OSError, DowseError) as error:
            raise EvalError(f"{path} can't be written ({error}); name another file") from error
        try:
            self._drop_torn_line()
            for where, row in read_rows(self.path):
                self._remember(_judgement(row, where))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Judgements:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def __len__(self) -> int:
        return sum(each.is_graded for each in self._known.values())

    def get(self, question: Question, item: Item) -> Judgement | None:
        """Return the judgement of a result, if there is one."""
        return self._known.get((question.id, item.key))

    def last(self) -> Judgement | None:
        """Return the newest answer, which may be a skip."""
        return next(reversed(self.all()), None)

    def all(self) -> list[Judgement]:
        """Return every answer, skips included, oldest first."""
        return [each for each in self._known.values() if each.is_answered]

    def record(
        self,
        question: Question,
        item: Item,
        grade: int | None,
        *,
        skipped: bool = False,
        note: str | None = None,
    ) -> None:
        """Save an answer; None removes the grade. A note stays until there is another."""
        if grade is not None and grade not in GRADES:
            raise EvalError(f"a grade is one of {', '.join(map(str, GRADES))}, not {grade}")
        before = self.get(question, item)
        kept = note if note is not None else before.note if before else ""
        location = (item.path, item.symbol, item.start_line, item.end_line, item.id)
        self.add([Judgement(question.id, question.query, *location, grade, skipped, kept)])

    def add(self, judgements: Iterable[Judgement]) -> int:
        """Save judgements; return how many of them were new or changed."""
        new = [each for each in judgements if self._known.get(each.key) != each]
        lines = "".join(json.dumps(_row(each), ensure_ascii=False) + "\n" for each in new)
        if new:
            self._append(lines.encode("utf-8", "backslashreplace"))
        for each in new:
            self._remember(each)
        return len(new)

    def cases(self) -> list[Case]:
        """Return the queries with all their grades, also 0; a file has the best grade of its results."""
        by_question: dict[str, Case] = {}
        for each in self._known.values():
            if each.grade is None:
                continue
            case = by_question.get(each.question) or Case(each.query, {}, {}, each.question, SOURCE)
            files, symbols, grade = dict(case.files), dict(case.symbols), float(each.grade)
            if each.path:
                files[each.path] = max(files.get(each.path, 0.0), grade)
            if each.symbol or not each.path:
                symbols[each.item.key] = grade
            by_question[each.question] = replace(case, files=files, symbols=symbols)
        return sorted(by_question.values(), key=lambda case: case.id)

    def _remember(self, judgement: Judgement) -> None:
        self._known.pop(judgement.key, None)  # the newest comes last
        self._known[judgement.key] = judgement

    def _append(self, data: bytes) -> None:
        """Append lines in one write, and wait until they are on the disk."""
        try:
            written = os.write(self._file, data)
            os.fsync(self._file)
        except OSError as error:
            raise EvalError(f"{self.path} can't be written ({error}); see to that and go on") from error
        if written < len(data):
            raise EvalError(f"{self.path} can't be written, the disk is full; make room and go on")

    def _drop_torn_line(self) -> None:
        """Truncate a line that a killed process had begun to write."""
        data = self.path.read_bytes()
        if data and not data.endswith(b"\n"):
            try:
                json.loads(data.rpartition(b"\n")[2])
                os.write(self._file, b"\n")  # it is whole; an editor took the line feed
            except ValueError:
                os.ftruncate(self._file, data.rfind(b"\n") + 1)


def _row(judgement: Judgement) -> dict[str, Any]:
    """Return a line of the file; empty fields are left out, but never the grade."""
    return {name: value for name, value in asdict(judgement).items() if value or name == "grade"}


def _judgement(row: dict[str, Any], where: str) -> Judgement:
    names = ("question", "query", "path", "symbol", "entry", "note")
    texts = {name: row.get(name, "") for name in names}
    numbers = {name: row.get(name, 0) for name in ("start_line", "end_line")}
    grade = row.get("grade")
    whole = all(isinstance(value, str) for value in texts.values()) and texts["question"] and texts["query"]
    if not whole or not all(isinstance(value, int) for value in numbers.values()):
        raise EvalError(f"{where}: no judgement of `dowse eval judge`; name its file, or remove this line")
    if grade is not None and (isinstance(grade, bool) or grade not in GRADES):
        raise EvalError(f"{where}: {grade!r} is no grade; write {', '.join(map(str, GRADES))} or null")
    return Judgement(**texts, **numbers, grade=grade, skipped=row.get("skipped") is True)


class Agreement(NamedTuple):
    """How two judges compare on the results that both graded."""

    results: int
    same: float  # the share with equal grades
    kappa: float  # 1 is perfect, 0 is what chance gives; from .6 on judgements are usually trusted


def agreement(one: Iterable[Judgement], other: Iterable[Judgement]) -> Agreement:
    """Compare the grades of two judges; what only one of them graded does not count."""
    ours = {each.key: each.grade for each in one if each.grade is not None}
    theirs = {each.key: each.grade for each in other if each.grade is not None}
    pairs = [(grade, theirs[key]) for key, grade in ours.items() if key in theirs]
    if not pairs:
        raise EvalError("the two judges graded nothing in common; let both judge the same questions")
    seen = sum((a - b) ** 2 for a, b in pairs) / len(pairs)
    by_chance = _expected(Counter(a for a, _ in pairs), Counter(b for _, b in pairs)) / len(pairs) ** 2
    # Where both give everything the same grade, chance would agree too: nothing speaks against them.
    kappa = 1 - seen / by_chance if by_chance else 1.0
    return Agreement(len(pairs), sum(a == b for a, b in pairs) / len(pairs), kappa)


def _expected(ours: Counter[int], theirs: Counter[int]) -> float:
    """Return the sum of squared differences between all grades of one and all of the other."""
    return sum((a - b) ** 2 * n * m for a, n in ours.items() for b, m in theirs.items())
