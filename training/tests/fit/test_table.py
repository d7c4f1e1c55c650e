"""A token table: what it learns, what is written, and that the product reads the same vectors."""

from __future__ import annotations

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from dowse.encoders.token_table import TokenTable  # noqa: E402
from dowse_training.corpus import Corpus, Piece  # noqa: E402
from dowse_training.journal import Journal  # noqa: E402
from dowse_training.model import Network, pack  # noqa: E402
from dowse_training.table import TableOptions, TableTrainer  # noqa: E402

from .conftest import VOCABULARY, WIDTH, make_shard, make_weights  # noqa: E402

CPU = torch.device("cpu")


def attentive(weights):
    """Weights by which the first token's vector depends on the others."""
    return {key: value * 20 if key.endswith((".ao.w", ".f2.w")) else value for key, value in weights.items()}


@pytest.fixture(scope="module")
def trainer(tmp_path_factory):
    network = Network(CPU)
    corpus = Corpus([make_shard("python", 400, 1)], CPU)
    options = TableOptions(epochs=30, batch=64, rate=0.01)
    made = TableTrainer(network, network.constants(attentive(make_weights())), corpus, options)
    made.untrained = made.mrr(corpus)[1]
    made.corpus = corpus
    made.log = tmp_path_factory.mktemp("log") / "log.jsonl"
    made.train(Journal(made.log, quiet=True))
    return made


def test_the_table_comes_closer_to_the_teacher(trainer):
    first, *_, last = [json.loads(line) for line in trainer.log.read_text().splitlines()]
    assert last["code"] < first["code"] / 2 and last["order"] < first["order"]
    assert trainer.mrr(trainer.corpus)[1] >= trainer.untrained


def test_the_written_table_gives_the_trained_vectors(trainer, tmp_path):
    trainer.table.write(tmp_path, "tiny", "base")
    read = TokenTable(tmp_path / "weights.bin", VOCABULARY, WIDTH, 128)
    sequences = [[0, 120, 121, 121, 2], [0, 20, 2]]
    ids = torch.zeros(2, 5, dtype=torch.int64)
    keep = torch.zeros(2, 5, dtype=torch.bool)
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)], keep[row, : len(sequence)] = torch.tensor(sequence), True
    wanted = trainer.table.encode(pack([Piece(ids, keep)])).detach().numpy()
    assert (read.encode(sequences) * wanted).sum(1) == pytest.approx(np.ones(2), abs=1e-3)
