"""Questions mined from a repository: written where the user says, or kept in the cache."""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

from dowse.cli.main import FOUND
from dowse.cli.prepare import say
from dowse.config import cache_folder
from dowse.errors import EvalError
from dowse.eval.datasets.jsonl import write_cases
from dowse.eval.manifest import Entry
from dowse.eval.mine import build_from_docs, build_from_git
from dowse.eval.types import Case


def mined(options: argparse.Namespace) -> Path:
    """Return the questions mined from a repository, mining them on first use."""
    place = _usual_place(options)
    if not place.exists():
        build(options)
    return place


def build(options: argparse.Namespace) -> int:
    """Mine questions and write them."""
    root, place = _root(options), Path(options.dataset) if options.dataset else _usual_place(options)
    say(f"mining questions from the {'history' if options.origin == 'git' else 'documentation'} of {root}")
    cases = _mine(root, _level(options), options)
    write_cases(place, cases)
    say(f"{len(cases)} questions written to {place}")
    return FOUND


def _root(options: argparse.Namespace) -> Path:
    return Path(options.path or ".").resolve()


def _level(options: argparse.Namespace) -> str:
    return options.level or ("symbol" if options.origin == "docs" else "file")


def _usual_place(options: argparse.Namespace) -> Path:
    """Return where mined questions are kept: outside the tree that they ask about."""
    root = _root(options)
    told = f"{root}\n{options.max_cases}\n{options.since}\n{options.with_tests}"
    digest = hashlib.blake2b(told.encode(), digest_size=6).hexdigest()
    name = f"{root.name}-{options.origin}-{_level(options)}-{digest}.jsonl"
    return cache_folder() / "eval" / "mined" / name


def build_entry(entry: Entry, options: argparse.Namespace) -> None:
    """Mine the questions of a manifest's entry, unless they are there."""
    place = Path(entry.dataset)
    if place.exists() or entry.dataset.startswith("own:"):
        return
    if entry.watched_dir is None:
        raise EvalError(f"{entry.name} needs a watched_dir to mine questions from")
    cases = _mine(entry.watched_dir, entry.level or options.level or "file", options)
    write_cases(place, cases)
    say(f"{entry.name}: {len(cases)} questions written")


def _mine(root: Path, level: str, options: argparse.Namespace) -> list[Case]:
    if options.origin == "docs":
        cases = build_from_docs(root, max_cases=options.max_cases)
    else:
        cases = build_from_git(
            root,
            max_cases=options.max_cases,
            symbols=level == "symbol",
            since=options.since,
            with_tests=options.with_tests,
        )
    if not cases:
        raise EvalError(
            f"nothing in {root} makes a question: too little history or documentation; "
            "write cases by hand (docs/EVALUATION.md) or run `dowse eval judge`"
        )
    return cases
