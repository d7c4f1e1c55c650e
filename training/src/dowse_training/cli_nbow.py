"""`dowse train --arch nbow`: from files of pairs to the folder of a bag-of-words model."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.errors import DowseError
from dowse_training.arguments import add_exclude, add_pairs, exclusion_of

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from dowse_training.nbow_data import PairBags
    from dowse_training.pairs.exclusion import Exclusion
    from dowse_training.pairs.files import PairFile

# A query is ranked among this many when a run checks itself, as in the paper.
VALID_PAIRS = 1_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_pairs(parser)
    parser.add_argument("--out", type=Path, required=True, help="folder to write the model to")
    add_exclude(parser)
    parser.add_argument("--name", default="nbow", help="the model's name (default: %(default)s)")
    parser.add_argument("--epochs", type=int, default=8, help="passes over the pairs (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=1_000, help="pairs in a batch (default: %(default)s)")
    parser.add_argument("--dimension", type=int, default=128, help="length of vectors (default: %(default)s)")
    parser.add_argument("--vocabulary", type=int, default=10_000, help="tokens (default: %(default)s)")
    parser.add_argument("--rate", type=float, default=0.05, help="first learning rate (default: %(default)s)")
    parser.add_argument("--limit", type=int, help="pairs of each language, at most (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="start of all randomness (default: %(default)s)")
    parser.add_argument(
        "--threads", type=int, default=1, help="threads to compute with (default: %(default)s)"
    )
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in the folder")


def run(options: argparse.Namespace) -> int:
    """Train, write the folder, and say how well the model ranks the pairs kept from training."""
    import torch

    from dowse.encoders.word_tokenizer import WordTokenizer
    from dowse.research.nbow import FORM, TOKENIZER_FILE
    from dowse_training.nbow_data import read_bags
    from dowse_training.pairs.files import find_files

    torch.set_num_threads(options.threads)
    exclusion = exclusion_of(options)
    files = find_files(options.pairs)
    trained, kept = [f for f in files if not f.valid], [f for f in files if f.valid]
    if not trained:
        raise DowseError("no pairs to train on there; make some with `dowse train pairs`")
    tokenizer = _tokenizer(options, trained, exclusion)
    words = WordTokenizer.read(options.out / TOKENIZER_FILE)
    bags = read_bags(trained, exclusion, words, FORM, options.limit)
    valid = read_bags(kept, exclusion, words, FORM, VALID_PAIRS)
    _train(options, tokenizer, bags, valid)
    return 0


def _tokenizer(options: argparse.Namespace, files: Sequence[PairFile], exclusion: Exclusion) -> Tokenizer:
    """The tokenizer, new or of the run to go on with; it is written at once, for the ids depend on it."""
    from tokenizers import Tokenizer

    from dowse.research.nbow import TOKENIZER_FILE
    from dowse_training.nbow_data import train_tokenizer

    path: Path = options.out / TOKENIZER_FILE
    if options.resume:
        if not path.exists():
            raise DowseError(f"there is no run in {options.out} to go on with: train without --resume")
        return Tokenizer.from_file(str(path))
    tokenizer = train_tokenizer(files, exclusion, options.vocabulary)
    path.parent.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(path))
    return tokenizer


def _train(
    options: argparse.Namespace,
    tokenizer: Tokenizer,
    bags: Mapping[str, PairBags],
    valid: Mapping[str, PairBags],
) -> None:
    from dowse.research.nbow import NbowModel, write_model
    from dowse_training.journal import Journal
    from dowse_training.nbow import NbowOptions, NbowTrainer, pool_mrr

    names = ("dimension", "batch", "epochs", "rate", "seed")
    settings = NbowOptions(**{name: getattr(options, name) for name in names})
    trainer = NbowTrainer(list(bags), tokenizer.get_vocab_size(), settings)
    if options.resume:
        trainer.resume(options.out)
    counts = {language: len(pairs) for language, pairs in sorted(bags.items())}
    journal = Journal(options.out / "log.jsonl")
    journal.write(pairs=counts, seed=options.seed, epoch=trainer.epoch)
    trainer.train(bags, journal, options.out)
    model = NbowModel(tokenizer.to_str(), trainer.tables(bags), name=options.name)
    results = {language: pool_mrr(model, language, pairs) for language, pairs in sorted(valid.items())}
    write_model(model, options.out, training={**asdict(settings), "pairs": counts, "valid_mrr": results})
    journal.write(valid_mrr=results, pool=VALID_PAIRS, written=str(options.out))
