"""Queries mined from a repository: written to a file of the user, or kept in the cache."""

from __future__ import annotations

import argparse
from pathlib import Path

from dowse.errors import EvalError
from dowse.eval.datasets.jsonl import write_cases
from dowse.eval.files import cache_path
from dowse.eval.manifest import Entry
from dowse.eval.mine import build_from_docs, build_from_git
from dowse.eval.run import Progress
from dowse.eval.types import DOCS, Case
from dowse.interfaces.cli.command import EXIT_FOUND
from dowse.interfaces.cli.evaluation.output import check_replaceable, progress
from dowse.interfaces.cli.printing import print_message

_ORIGINS = {"git": "history", DOCS: "documentation"}


def mined_dataset(options: argparse.Namespace) -> tuple[str, Path]:
    """Return name and path of the queries mined from a repository, mining them on first use."""
    path = _default_path(options)
    if path.exists():
        print_message(
            f"using queries mined before from the {_ORIGINS[options.origin]}; `--build` mines new ones"
        )
    else:
        build(options)
    return f"{_root(options).name}/{options.origin}", path


def build(options: argparse.Namespace) -> int:
    """Mine queries and write them."""
    root = _root(options)
    path = Path(options.dataset).expanduser() if options.dataset else _default_path(options)
    check_replaceable(path, _ORIGINS, "mined questions")
    cases = _mine(root, options.level or "file", options)
    write_cases(path, cases)
    print_message(f"{len(cases)} questions written to {path}")
    return EXIT_FOUND


def build_entry(entry: Entry, options: argparse.Namespace) -> None:
    """Mine the queries of a manifest's entry, unless they exist."""
    path = Path(entry.dataset)
    if path.exists():
        return
    if entry.watched_dir is None:
        raise EvalError(f"{entry.name} needs a watched_dir to mine questions from")
    cases = _mine(entry.watched_dir, entry.level or options.level or "file", options)
    write_cases(path, cases)
    print_message(f"{entry.name}: {len(cases)} questions written to {path}")


def _root(options: argparse.Namespace) -> Path:
    return Path(options.path or ".").expanduser().resolve()


def _default_path(options: argparse.Namespace) -> Path:
    """Return the file of mined queries in the cache: outside the tree that they search."""
    root = _root(options)
    name = f"{root.name}-{options.origin}-{options.level or 'file'}"
    path = cache_path("mined", root, name, (options.max_cases, options.since, options.with_tests))
    return path.with_name(f"{path.name}.jsonl")


def _mine(root: Path, level: str, options: argparse.Namespace) -> list[Case]:
    print_message(f"mining questions from the {_ORIGINS[options.origin]} of {root}")
    if options.origin == DOCS:
        cases = build_from_docs(root, max_cases=options.max_cases)
    else:
        with progress(options.quiet) as show:
            cases = build_from_git(
                root,
                max_cases=options.max_cases,
                symbols=level == "symbol",
                since=options.since,
                with_tests=options.with_tests,
                on_progress=lambda at: show(Progress("mining", at.done, at.total, "commits")),
            )
    if not cases:
        raise EvalError(
            f"nothing in {root} makes a question: too little {_ORIGINS[options.origin]}; "
            "write cases by hand (docs/EVALUATION.md)"
        )
    return cases
