"""`dowse train shards`: turn pairs into token ids, once for all runs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse_training.arguments import add_exclude, add_pairs, exclusion_of

if TYPE_CHECKING:
    from dowse_training.pairs.files import PairFile

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
    add(
        "--group",
        action="append",
        default=[],
        type=_group,
        metavar="KIND=NAME",
        help="pairs of a kind (commit, news, comment …) go into a shard NAME, whatever their language",
    )


def run(args: argparse.Namespace) -> int:
    """Write a shard for each language, for training and for validation."""
    from dowse.encoders.word_tokenizer import WordTokenizer
    from dowse_training import shard_files
    from dowse_training.pairs.files import find_files, languages_of
    from dowse_training.shards import Sharder

    files = find_files(args.pairs)
    words = WordTokenizer.read(args.tokenizer)
    exclusion = exclusion_of(args)
    groups = dict(args.group)
    for valid in (True, False):
        chosen = [file for file in files if file.valid == valid]
        most = min(args.most, _VALID_PAIRS) if valid else args.most
        languages = languages_of(chosen)
        for language in args.language or [*languages, *sorted(set(groups.values()))]:
            sharder = Sharder(words, exclusion, args.path_share)
            for pair in _rows(chosen, language, languages, groups):
                if len(sharder) >= most:
                    break
                sharder.add(pair)
            counts = sharder.statistics
            if len(sharder):
                shard_files.write(args.out, sharder.shard(language), valid=valid, statistics=counts)
            told = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
            sys.stdout.write(f"{language}{' (valid)' if valid else ''}: {told}\n")
    return 0


def _rows(
    files: Sequence[PairFile], shard: str, languages: Sequence[str], groups: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """The pairs of a shard: of a language without the grouped kinds, or of the kinds under its name."""
    from dowse_training.pairs.files import rows_of

    for language in languages if shard in groups.values() else [shard]:
        for pair in rows_of(files, language):
            if groups.get(pair.get("kind", ""), language) == shard:
                yield pair


def _group(text: str) -> tuple[str, str]:
    kind, equals, name = text.partition("=")
    if not (kind and equals and name):
        raise argparse.ArgumentTypeError(f"{text!r} is not KIND=NAME")
    return kind, name
