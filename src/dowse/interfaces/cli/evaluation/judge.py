"""`dowse eval judge`: relevance judgements of pooled results, in a terminal or on a sheet."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dowse.errors import EvalError
from dowse.eval.clean_index import open_clean_index
from dowse.eval.datasets.jsonl import write_cases
from dowse.eval.judge import Judgements, Question, Sheet, pool, read_queries, read_sheet, write_sheet
from dowse.eval.judge import judge as ask
from dowse.eval.judge.judgements import SOURCE
from dowse.eval.run import Progress, embed, make_search, prepare_index
from dowse.eval.types import Case, Search
from dowse.index import Index
from dowse.interfaces.cli.command import EXIT_FOUND, EXIT_NOTHING
from dowse.interfaces.cli.evaluation.output import check_replaceable, progress
from dowse.interfaces.cli.evaluation.parser import named_configurations, split_list
from dowse.interfaces.cli.printing import print_message


def judge(options: argparse.Namespace) -> int:
    """Collect grades, and write them as cases."""
    # Checks come first: a mistake must leave no file behind.
    check_replaceable(Path(options.out), (SOURCE,), "judged questions")
    sheet = read_sheet(options.read) if options.read else None
    questions = [] if sheet else _pool_results(options, _queries(options))
    with Judgements(_grades_path(options.out)) as judgements:
        if sheet:
            _import_grades(sheet, options.read, judgements)
        elif options.sheet:
            return _write_sheet(options, questions, judgements)
        else:
            ask(questions, judgements, sys.stdin, sys.stdout)
        return _finish(options, judgements.cases())


def _queries(options: argparse.Namespace) -> list[str]:
    if not options.queries:
        raise EvalError("name the questions: --queries FILE, one a line; or a filled sheet: --read FILE")
    return read_queries(options.queries)


def _grades_path(out: str) -> Path:
    """Return the file of the single grades, beside the cases."""
    path = Path(out)
    return path.with_name(path.name.removesuffix(".jsonl") + ".grades.jsonl")


def _import_grades(sheet: Sheet, path: str, judgements: Judgements) -> None:
    for problem in sheet.problems:
        print_message(problem)
    graded = [each for each in sheet.judgements if each.is_graded]
    judgements.add(each for each in sheet.judgements if not each.is_graded)
    left = f"; {sheet.empty} have none yet" if sheet.empty else ""
    print_message(f"{judgements.add(graded)} grades taken from {path}{left}")


def _pool_results(options: argparse.Namespace, queries: list[str]) -> list[Question]:
    """Pool the results of every configuration, from an index without the queries and grades."""
    files = (options.queries, options.out, _grades_path(options.out), options.sheet)
    index = open_clean_index(
        Path(options.path).expanduser(),
        [Path(path) for path in files if path],
        settings={"encoder": options.encoder},
        index_dir=options.index_dir or "",
    )
    with index, progress() as show:
        prepare_index(index, show, refresh=not options.index_dir)
        embed(index, show)
        return pool(
            _searches(index, options.modes),
            queries,
            options.top_k,
            root=index.root,
            on_query=lambda done: show(Progress("asking", done, len(queries), "questions")),
        )


def _searches(index: Index, modes: str) -> Index | list[Search]:
    if not modes:
        return index
    return [make_search(index, each) for each in named_configurations(split_list(modes))]


def _write_sheet(options: argparse.Namespace, questions: list[Question], judgements: Judgements) -> int:
    count = write_sheet(options.sheet, questions, judgements)
    remedy = f"`dowse eval judge --read {options.sheet} --out {options.out}`"
    print_message(f"{count} results to grade in {options.sheet}; when that is done, run {remedy}")
    return EXIT_FOUND


def _finish(options: argparse.Namespace, cases: list[Case]) -> int:
    """Write the judged cases; one without anything relevant says nothing about a search."""
    useful = [case for case in cases if any(case.files.values()) or any(case.symbols.values())]
    if not useful:
        print_message("nothing is judged relevant yet; grade at least one result above 0")
        return EXIT_NOTHING
    write_cases(options.out, useful)
    path = "" if options.path == "." else f"{options.path} "
    count = "1 question" if len(useful) == 1 else f"{len(useful)} questions"
    print_message(
        f"{count} judged in {options.out}; run `dowse eval {path}--dataset {options.out} --compare`"
    )
    return EXIT_FOUND
