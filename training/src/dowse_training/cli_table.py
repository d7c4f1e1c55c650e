"""`dowse train table`: train the token table of a shipped encoder."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add(
        "--shards",
        type=Path,
        action="append",
        required=True,
        help="folder of token shards; may be given again",
    )
    add("--encoder", type=Path, required=True, help="folder of the encoder, whose tokenizer made the shards")
    add("--out", type=Path, required=True, help="folder to write the model to")
    add("--name", default="tiny", help="the model's name (default: %(default)s)")
    add("--epochs", type=int, default=6, help="passes over the pairs (default: %(default)s)")
    add("--batch", type=int, default=4096, help="pairs in a batch (default: %(default)s)")
    add("--rate", type=float, default=0.003, help="learning rate (default: %(default)s)")
    add("--seed", type=int, default=0, help="start of all randomness (default: %(default)s)")
    add("--device", default="auto", help="cuda, cpu, or auto (default)")


def run(args: argparse.Namespace) -> int:
    """Train, write the folder, and log how teacher and table rank pairs that were kept from training."""
    import torch

    from dowse_training import shard_files
    from dowse_training.corpus import Corpus
    from dowse_training.journal import Journal
    from dowse_training.model import Network
    from dowse_training.shipped import read_shipped
    from dowse_training.table import TableOptions, TableTrainer

    device = args.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    network = Network(torch.device(device), compiled=False)
    corpus = Corpus(shard_files.read_all(args.shards), network.device)
    options = TableOptions(args.epochs, args.batch, args.rate, args.seed)
    trainer = TableTrainer(network, network.constants(read_shipped(args.encoder)), corpus, options)
    journal = Journal(args.out / "log.jsonl")
    journal.write(pairs=len(corpus), tokens=len(corpus.tokens))
    trainer.train(journal)
    trainer.table.write(args.out, args.name, args.encoder.name)
    valid = shard_files.read_all(args.shards, valid=True)
    teacher, table = trainer.mrr(Corpus(valid, network.device))
    journal.write(valid_mrr={"teacher": round(teacher, 4), "table": round(table, 4)}, written=str(args.out))
    return 0
