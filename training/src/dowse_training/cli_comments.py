"""`dowse train comments`: pairs of a comment and its function, from pairs of documentation and code."""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from pathlib import Path

from dowse_training.arguments import add_pairs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_pairs(parser)
    parser.add_argument("--out", type=Path, required=True, help="folder for the pairs")


def run(args: argparse.Namespace) -> int:
    """Write a file of comments for each file of pairs."""
    from dowse_training.pairs.comments import comment_pair
    from dowse_training.pairs.files import find_files, read_rows

    args.out.mkdir(parents=True, exist_ok=True)
    for file in find_files(args.pairs):
        name = file.path.name.partition(".jsonl")[0]
        count = 0
        with gzip.open(args.out / f"{name}.jsonl.gz", "wt", encoding="utf-8") as lines:
            for pair in filter(None, map(comment_pair, read_rows(file.path))):
                lines.write(json.dumps(pair) + "\n")
                count += 1
        sys.stdout.write(f"{name}: {count:,} comments\n")
    return 0
