"""`dowse eval judge`: grades for what searches find, given in a terminal or on a sheet."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from dowse.api import Index
from dowse.cli.evaluation.run import ways_named
from dowse.cli.main import FOUND, NOTHING
from dowse.cli.prepare import open_index, prepare, say
from dowse.errors import EvalError
from dowse.eval.datasets.jsonl import write_cases
from dowse.eval.judge import Judgements, pool, read_queries, read_sheet, write_sheet
from dowse.eval.judge import judge as ask
from dowse.eval.run import asking
from dowse.eval.types import Search


def judge(options: argparse.Namespace) -> int:
    """Collect grades, and write the cases that they make."""
    with Judgements(_notebook(options.out)) as judgements:
        if options.read:
            _take_sheet(options.read, judgements)
        else:
            finished = _collect(options, judgements)
            if options.sheet:
                return FOUND
            if not finished and not judgements.cases():
                return NOTHING
        cases = judgements.cases()
    if not cases:
        raise EvalError("nothing is judged as relevant yet; grade at least one result above 0")
    write_cases(options.out, cases)
    say(f"{len(cases)} judged questions; run `dowse eval --dataset {options.out} --compare`")
    return FOUND


def _notebook(out: str) -> Path:
    """Return where every single grade is kept, beside the cases."""
    path = Path(out)
    return path.with_name(path.name.removesuffix(".jsonl") + ".grades.jsonl")


def _take_sheet(place: str, judgements: Judgements) -> None:
    sheet = read_sheet(place)
    for problem in sheet.problems:
        say(problem)
    say(f"{judgements.add(sheet.judgements)} grades taken from {place}")


def _collect(options: argparse.Namespace, judgements: Judgements) -> bool:
    """Pool what is found and ask for grades, or write the sheet; return whether everything is judged."""
    if not options.queries:
        raise EvalError("name the questions: --queries FILE, one a line")
    queries = read_queries(options.queries)
    index = open_index(options, refresh="auto")
    prepare(index)
    if index.settings.encoder != "none":
        index.embed()
    questions = pool(_ways(index, options.modes), queries, options.top_k, root=index.root)
    if options.sheet:
        say(
            f"{write_sheet(options.sheet, questions, judgements)} results to grade in {options.sheet}; "
            f"then `dowse eval judge --read {options.sheet} --out {options.out}`"
        )
        return False
    return ask(questions, judgements, sys.stdin, sys.stdout)


def _ways(index: Index, modes: str) -> Index | Mapping[str, Search]:
    if not modes:
        return index
    return {each.name: asking(index, each) for each in ways_named(modes.split(","), None)}
