"""Cases as JSON Lines, dowse's own format: one case a line.

    {"query": "where are retries counted", "relevant_files": ["net/retry.py"]}
    {"query": "parse a date", "relevant_symbols": {"dates.py::parse": 3, "dates.py::guess": 1}, "id": "d1"}
    {"query": "…", "relevant_files": [{"path": "a.py", "start_line": 10, "end_line": 20, "grade": 2}]}
    {"query": "…", "relevant_symbols": [{"path": "a.py", "symbol": "C.f", "grade": 2}], "source": "hand"}

Answers without a grade have grade 1; grade 0 says "judged, and not relevant". Blank lines and lines that
begin with # or // are left out; a file whose name ends with .gz is compressed.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from dowse.errors import EvalError
from dowse.eval.datasets.lines import plain_text, read_rows
from dowse.eval.files import write_text
from dowse.eval.matching import SPAN
from dowse.eval.types import Case
from dowse.lazy_classes import replace

FILES, SYMBOLS = "relevant_files", "relevant_symbols"
# Gains are 2^grade − 1: far above any scale that people judge on, and far below what a float can hold.
MAX_GRADE = 100
_FILE_KEYS = ("path", "start_line", "end_line", "grade")
_SYMBOL_KEYS = ("path", "symbol", "name", "grade")


def read_cases(path: str | Path) -> list[Case]:
    """Read a file of cases; those without an id get one. Raises EvalError for what is no case."""
    cases: list[Case] = []
    locations: dict[str, str] = {}
    for where, row in read_rows(Path(path)):
        case = parse_case(row, where)
        if case.id and (first := locations.setdefault(case.id, where)) != where:
            raise EvalError(f"{where}: the id {case.id!r} is already that of {first}; give each its own")
        cases.append(case)
    if not cases:
        raise EvalError(f'{path}: no cases; write one a line: {{"query": …, "{FILES}": […]}}')
    return with_ids(cases)


def write_cases(path: str | Path, cases: Iterable[Case]) -> None:
    """Write cases so that `read_cases` gives them back."""
    lines = [json.dumps(_row(case), ensure_ascii=False) + "\n" for case in with_ids(cases)]
    write_text(Path(path), "".join(lines))


def with_ids(cases: Iterable[Case]) -> list[Case]:
    """Give an id to cases that have none: a hash, and a number if the same case comes again."""
    identified: list[Case] = []
    seen: set[str] = set()
    for case in cases:
        name, again = case.id or _hash(case), 1
        while not case.id and name in seen:
            again += 1
            name = f"{_hash(case)}-{again}"
        seen.add(name)
        identified.append(case if case.id else replace(case, id=name))
    return identified


def _hash(case: Case) -> str:
    """Return a hash of a query and its targets; grades may be reconsidered."""
    text = json.dumps([case.query, sorted(case.files), sorted(case.symbols)])
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:12]


def parse_case(row: Mapping[str, Any], where: str) -> Case:
    """Parse a case; `where` begins every message about it."""
    query = plain_text(row.get("query"))
    if not query.strip():
        raise EvalError(f'{where}: no question; write its text under "query"')
    files = _targets(row, FILES, _file_target, where)
    symbols = _targets(row, SYMBOLS, _symbol_target, where)
    if not files and not symbols:
        raise EvalError(f'{where}: no answer; name at least one under "{FILES}" or "{SYMBOLS}"')
    return Case(query, files, symbols, plain_text(row.get("id")), plain_text(row.get("source")))


def _targets(
    row: Mapping[str, Any], key: str, read: Callable[[Any, str], str], where: str
) -> dict[str, float]:
    """Return the targets under a key with their grades; of duplicates the best grade counts."""
    answers = row.get(key)
    where = f'{where}: "{key}"'
    if answers is None:
        return {}
    if isinstance(answers, dict):
        pairs = list(answers.items())
    elif isinstance(answers, list):
        pairs = [(each, each.get("grade", 1) if isinstance(each, dict) else 1) for each in answers]
    else:
        raise EvalError(f"{where} must be a list, or an object from answers to grades")
    grades: dict[str, float] = {}
    for target, value in pairs:
        name, grade = read(target, where), _grade(value, where)
        grades[name] = max(grade, grades.get(name, 0.0))
    return grades


def _grade(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_GRADE:
        raise EvalError(f"{where}: a grade is a number from 0 (not relevant) to {MAX_GRADE}, not {value!r}")
    return float(value)


def _file_target(target: object, where: str) -> str:
    """Return a file as `path` or `path#start-end`."""
    if isinstance(target, dict):
        _check_keys(target, _FILE_KEYS, where)
        path, start, end = target.get("path"), target.get("start_line"), target.get("end_line")
        if start is None and end is not None:
            raise EvalError(f'{where}: "end_line" needs a "start_line"')
        span = "" if start is None else f"#{start}-{start if end is None else end}"
        target = f"{_path(path, where)}{span}"
        if span and not SPAN.search(target):
            raise EvalError(f"{where}: lines are numbers, not {span.removeprefix('#')}")
    name = _path(target, where)
    lines = SPAN.search(name)
    if lines and not 1 <= int(lines[1]) <= int(lines[2] or lines[1]):
        raise EvalError(f"{where}: {lines[0]} is no span of lines; they count from 1, the first comes first")
    return name


def _symbol_target(target: object, where: str) -> str:
    """Return a symbol as `path::qualified.name`, its name alone, or an id."""
    if not isinstance(target, dict):
        whole = _name(target, where)
        file, _, name = whole.partition("::")
        return f"{_path(file, where)}::{name}" if file.strip() and name else whole
    _check_keys(target, _SYMBOL_KEYS, where)
    name = _name(target.get("symbol") or target.get("name"), where)
    path = target.get("path")
    return name if path is None else f"{_path(path, where)}::{name}"


def _name(value: object, where: str) -> str:
    """Return a path or name without a leading "./"."""
    if not isinstance(value, str) or not value.removeprefix("./").strip():
        raise EvalError(f"{where}: an answer is a path or a name, not {value!r}")
    return value.removeprefix("./")


def _path(value: object, where: str) -> str:
    """Return a path with "/" between folders, also one that was written on Windows."""
    return _name(_name(value, where).replace("\\", "/"), where)


def _check_keys(target: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    """Raise EvalError for an unknown key: a misspelt span would make the whole file count."""
    unknown = sorted(set(target) - set(known))
    if unknown:
        raise EvalError(f"{where}: an answer has no {unknown[0]!r}; it has {', '.join(known)}")


def _row(case: Case) -> dict[str, Any]:
    """Return a case as a JSON object; grades are written unless all are 1."""
    row: dict[str, Any] = {"query": case.query}
    for key, qrels in ((FILES, case.files), (SYMBOLS, case.symbols)):
        if qrels:
            row[key] = list(qrels) if all(grade == 1 for grade in qrels.values()) else dict(qrels)
    if len(row) == 1:
        raise EvalError(f"the case {case.query!r} has no answer; leave it out, or give it one")
    if not all(map(math.isfinite, [*case.files.values(), *case.symbols.values()])):
        raise EvalError(f"the case {case.query!r} has a grade that is no number")
    row |= {"id": case.id}
    return row | ({"source": case.source} if case.source else {})
