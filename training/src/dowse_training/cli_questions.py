"""`dowse train questions`: pairs of a written question and its function, from pairs of documentation."""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from pathlib import Path

from dowse_training.arguments import add_pairs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "questions", type=Path, help="file of questions, e.g. training/data/questions.jsonl.xz"
    )
    add_pairs(parser)
    parser.add_argument("--out", type=Path, required=True, help="folder for the pairs")


def run(args: argparse.Namespace) -> int:
    """Write one file of pairs."""
    from dowse_training.pairs.files import find_files, read_lines, read_rows
    from dowse_training.pairs.questions import question_pairs

    questions = list(read_lines(args.questions))
    files = [file for file in find_files(args.pairs) if not file.valid]
    pairs = ({"lang": file.language, **row} for file in files for row in read_rows(file.path))
    args.out.mkdir(parents=True, exist_ok=True)
    count = 0
    with gzip.open(args.out / "questions.jsonl.gz", "wt", encoding="utf-8") as lines:
        for pair in question_pairs(questions, pairs):
            lines.write(json.dumps(pair) + "\n")
            count += 1
    sys.stdout.write(f"{count:,} pairs of {len(questions):,} functions and their neighbours\n")
    return 0
