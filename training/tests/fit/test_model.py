"""The network, its losses, and what is hidden from a batch."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from dowse_training import loss  # noqa: E402
from dowse_training.batches import Batches  # noqa: E402
from dowse_training.corpus import Corpus, Piece  # noqa: E402
from dowse_training.model import HEAD_SIZE, Network, pack  # noqa: E402
from dowse_training.negatives import false_negatives, mine  # noqa: E402
from dowse_training.plan import Mine  # noqa: E402
from dowse_training.queries import NAME, SENTENCE  # noqa: E402
from dowse_training.views import plain_code  # noqa: E402
from dowse_training.weights import select_layers  # noqa: E402

from .conftest import WIDTH, make_shard, make_weights  # noqa: E402

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def network():
    return Network(CPU)


@pytest.fixture(scope="module")
def corpus():
    return Corpus([make_shard("python", 60, 1), make_shard("ruby", 40, 2)], CPU)


def plain_forward(weights, ids):
    """A textbook encoder: one sequence, all rows, no packing."""
    p = {key: torch.tensor(value) for key, value in weights.items()}

    def norm(x, name):
        return torch.nn.functional.layer_norm(x, (WIDTH,), p[f"{name}.w"], p[f"{name}.b"], 1e-12)

    x = norm(p["word_emb"][ids] + p["pos_emb"][2 : 2 + len(ids)] + p["type_emb"][0], "emb_ln")
    for n in range(2):
        q, k, v = (x @ p[f"l{n}.qkv.w"].T + p[f"l{n}.qkv.b"]).split(WIDTH, 1)
        heads = []
        for start in range(0, WIDTH, HEAD_SIZE):
            one = slice(start, start + HEAD_SIZE)
            scores = q[:, one] @ k[:, one].T / HEAD_SIZE**0.5
            heads.append(scores.softmax(1) @ v[:, one])
        x = norm(x + torch.cat(heads, 1) @ p[f"l{n}.ao.w"].T + p[f"l{n}.ao.b"], f"l{n}.aln")
        h = torch.nn.functional.gelu(x @ p[f"l{n}.f1.w"].T + p[f"l{n}.f1.b"])
        x = norm(x + h @ p[f"l{n}.f2.w"].T + p[f"l{n}.f2.b"], f"l{n}.fln")
    return torch.nn.functional.normalize(x[0], dim=0)


def test_packed_sequences_are_encoded_as_one_by_one(network, corpus):
    piece = plain_code(corpus, torch.arange(12), 128)
    vectors = network.encode(network.constants(make_weights()), piece, rows=5)
    for vector, ids, keep in zip(vectors, piece.ids, piece.keep, strict=True):
        torch.testing.assert_close(vector, plain_forward(make_weights(), ids[keep]), atol=1e-5, rtol=1e-4)


def test_skipped_ids_leave_no_gap(network):
    ids = torch.tensor([[0, 30, 31, 32, 2]])
    holes = Piece(ids, torch.tensor([[True, True, False, True, True]]))
    packed = pack([holes])
    assert packed.positions.tolist() == [0, 1, 2, 3]
    assert packed.bounds.tolist() == [0, 4]


def test_a_student_of_all_layers_is_its_teacher(network, corpus):
    piece = plain_code(corpus, torch.arange(20), 64)
    whole = make_weights()
    student = network.encode(network.parameters(select_layers(whole, [0, 1])), piece)
    teacher = network.encode(network.constants(whole), piece)
    assert torch.equal(student, teacher)
    told = loss.taught([teacher], 8)
    assert float(loss.distillation(student, told, 8, 0.05, 1.0)) == pytest.approx(0, abs=1e-6)


def test_an_ensemble_of_one_is_its_teacher(network, corpus):
    vectors = network.encode(network.constants(make_weights()), plain_code(corpus, torch.arange(20), 64))
    told = loss.taught([vectors], 8)
    torch.testing.assert_close(told.scores, vectors[:8] @ vectors[8:].T)
    assert torch.equal(told.vectors, vectors)
    twice = loss.taught([vectors, vectors], 8)
    torch.testing.assert_close(twice.scores, told.scores)


def test_the_contrast_is_small_when_the_own_code_is_nearest_and_hidden_ones_do_not_count():
    queries = torch.eye(4)
    nothing = torch.zeros(4, 4, dtype=torch.bool)
    assert float(loss.contrast(queries, queries, nothing, 0.05)) < 1e-3
    twins = torch.eye(4)[[0, 0, 2, 3]]
    hidden = nothing.clone()
    hidden[0, 1] = hidden[1, 0] = True
    assert float(loss.contrast(twins, twins, hidden, 0.05)) < 1e-3
    assert float(loss.contrast(twins, twins, nothing, 0.05)) > 0.3


def test_matryoshka_of_all_dimensions_is_the_contrast():
    generator = torch.Generator().manual_seed(1)
    q, c = (torch.nn.functional.normalize(torch.randn(6, 8, generator=generator), dim=1) for _ in range(2))
    nothing = torch.zeros(6, 6, dtype=torch.bool)
    whole = loss.contrast(q, c, nothing, 0.1)
    torch.testing.assert_close(loss.matryoshka(q, c, nothing, 0.1, [8]), whole)
    assert not torch.allclose(loss.matryoshka(q, c, nothing, 0.1, [8, 4]), whole)


def test_the_own_code_is_never_hidden_and_equal_ones_always(network):
    shard = make_shard("python", 30, 4)
    corpus = Corpus([shard, shard._replace(language="ruby")], CPU)  # every pair has a twin
    guide, _ = mine(network, network.constants(make_weights()), corpus, Mine(candidates=4), 64)
    pairs = torch.arange(60)
    for kind in (SENTENCE, NAME):
        hidden = false_negatives(
            corpus, pairs, torch.cat([pairs, pairs]), torch.full((60,), kind), guide, 0.5
        )
        assert not bool(hidden.diagonal().any())
        assert bool(hidden[pairs, (pairs + 30) % 60].all())


def test_mined_negatives_are_others_of_the_same_language(network, corpus):
    stage = Mine(candidates=4, cluster_size=16, threshold=2.0)
    guide, first = mine(network, network.constants(make_weights()), corpus, stage, 64)
    assert set(first) == {"python", "ruby"}
    for language, (start, end) in corpus.ranges.items():
        found = guide.negatives[start:end]
        assert bool(((found >= start) & (found < end)).all()), language
        assert not bool((found == torch.arange(start, end)[:, None]).any())
    drawn = guide.draw(torch.arange(10), 2).view(10, 2)
    for pair in range(10):
        assert set(drawn[pair].tolist()) <= set(guide.negatives[pair].tolist())
    assert len(guide.clusters.unique()) > 1


def test_batches_show_every_pair_before_any_again_and_keep_groups_together(corpus):
    import numpy as np

    groups = torch.arange(len(corpus)) // 10
    batches = Batches(corpus.ranges, groups, 5, {"ruby": 0.0}, np.random.default_rng(1))
    drawn = [batches.next(20) for _ in range(3)]
    assert {language for language, _ in drawn} == {"python"}
    assert sorted(torch.cat([pairs for _, pairs in drawn]).tolist()) == list(range(60))
    pairs = drawn[0][1]
    assert len(groups[pairs].unique()) < 10  # chunks of alike pairs, not a plain shuffle
