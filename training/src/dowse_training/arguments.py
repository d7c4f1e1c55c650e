"""Arguments that several steps of `dowse train` share, and what becomes of them."""

from __future__ import annotations

import argparse
from pathlib import Path

from dowse_training.pairs.exclusion import Exclusion, merge, read_exclusion


def add_pairs(parser: argparse.ArgumentParser) -> None:
    """Add the files of pairs to read."""
    parser.add_argument(
        "pairs",
        nargs="+",
        metavar="PAIRS",
        help="folder, file LANGUAGE[.valid].jsonl[.xz|.gz], or LANGUAGE=FILE; valid ones are for checks",
    )


def add_exclude(parser: argparse.ArgumentParser) -> None:
    """Add the lists of what must not be trained on."""
    parser.add_argument(
        "--exclude",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="list of what must not be trained on; may be given again",
    )


def exclusion_of(options: argparse.Namespace) -> Exclusion:
    """Return all that the lists name."""
    return merge(read_exclusion(path) for path in options.exclude)
