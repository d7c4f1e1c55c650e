"""`dowse train shards`: turn pairs into token ids, once for all runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dowse_training.arguments import add_exclude, add_pairs, exclusion_of

_VALID_PAIRS = 3000  # a pool of 1,000 is drawn from them


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add_pairs(parser)
    add("--out", type=Path, required=True, help="folder for the shards")
    add("--tokenizer", type=Path, required=True, help="tokenizer.json of the encoder to train")
    add_exclude(parser)
    add("--language", action="append", default=[], help="only this one; may be given again")
    add("--most", type=int, default=10**9, metavar="N", help="pairs of a language at most (default: all)")
    add(
        "--path-share",
        type=float,
        default=0.0,
        help="share of pairs that show words of their path (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> int:
    """Write a shard for each language, for training and for validation."""
    from dowse.encoders.word_tokenizer import WordTokenizer
    from dowse_training import shard_files
    from dowse_training.pairs.files import find_files, languages_of, rows_of
    from dowse_training.shards import Sharder

    files = find_files(args.pairs)
    words = WordTokenizer.read(args.tokenizer)
    exclusion = exclusion_of(args)
    for valid in (True, False):
        chosen = [file for file in files if file.valid == valid]
        most = min(args.most, _VALID_PAIRS) if valid else args.most
        for language in args.language or languages_of(chosen):
            sharder = Sharder(words, exclusion, args.path_share)
            for pair in rows_of(chosen, language):
                if len(sharder) >= most:
                    break
                sharder.add(pair)
            counts = sharder.statistics
            if len(sharder):
                shard_files.write(args.out, sharder.shard(language), valid=valid, statistics=counts)
            told = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
            sys.stdout.write(f"{language}{' (valid)' if valid else ''}: {told}\n")
    return 0
