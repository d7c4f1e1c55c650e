"""Whole runs on a CPU: losses fall, a killed run goes on exactly, plans do what they say."""

from __future__ import annotations

import itertools
import json
from xml.etree import ElementTree

import numpy as np
import pytest

torch = pytest.importorskip("torch")
torch.set_num_threads(1)  # the models are so small that threads only wait for each other

from dowse.errors import ConfigError  # noqa: E402
from dowse_training import plan, weights  # noqa: E402
from dowse_training.cli import main  # noqa: E402
from dowse_training.corpus import Piece  # noqa: E402
from dowse_training.cross import lists  # noqa: E402
from dowse_training.fit import Hooks, Trainer  # noqa: E402
from dowse_training.journal import read  # noqa: E402
from dowse_training.run import Options, Places, Run  # noqa: E402

from .conftest import WIDTH, make_weights  # noqa: E402

LOAD = '[[stage]]\nkind = "load"\nweights = ["start"]\n'
MINE = '[[stage]]\nkind = "mine"\ncandidates = 4\ncluster_size = 16\n'
SAVE = '[[stage]]\nkind = "save"\nname = "end"\n'
FIT = """
[[stage]]
kind = "{kind}"
steps = {steps}
rate = {rate}
batch = 16
warm_steps = 4
temperature = 0.1
limit = 48
log_seconds = 1e-9
{more}
"""


def fit(steps=20, kind="contrast", more="", rate=1e-3):
    return FIT.format(steps=steps, kind=kind, more=more, rate=rate)


class Killed(Exception):
    """A kill from outside."""


def run(world, text, out="out", *, kill_at=0, **options):
    def after_step(trainer):
        if kill_at and trainer.step == kill_at:
            raise Killed

    places = Places(
        [world / "shards"], world / "tokenizer.json", world / out, world / f"{out}-work", [world / "weights"]
    )
    one = Run(plan.parse(text), places, Options("cpu", quiet=True, **options), Hooks(after_step=after_step))
    one.run()
    return one


def losses(world, out="out"):
    return [record["loss"] for record in read(world / out / "log.jsonl") if "loss" in record]


def end(world, out="out"):
    return weights.read([world / out], "end")


def assert_same(ours, theirs):
    for key, value in ours.items():
        np.testing.assert_array_equal(value, theirs[key], err_msg=key)


def test_the_loss_falls_and_the_curves_are_drawn(world):
    run(world, LOAD + fit(40, more="dropout = 0.0\nmask = 0.0", rate=5e-3) + SAVE)
    values = losses(world)
    assert len(values) == 40
    assert np.mean(values[-8:]) < np.mean(values[:8]) - 0.1
    ElementTree.parse(world / "out" / "curves.svg")
    assert not np.array_equal(end(world)["word_emb"], weights.read([world / "weights"], "start")["word_emb"])


@pytest.mark.parametrize("more", ["", 'negatives = 1\norder = "cluster"\nema = 0.9'])
def test_a_killed_run_goes_on_bit_for_bit(world, more):
    text = LOAD + MINE + fit(20, more=more) + SAVE
    run(world, text, "straight")
    with pytest.raises(Killed):
        run(world, text, "killed", kill_at=13, checkpoint_steps=10)
    resumed = run(world, text, "killed", checkpoint_steps=10, resume=True)
    assert_same(end(world, "straight"), end(world, "killed"))
    assert losses(world, "straight")[10:] == losses(world, "killed")[13:]
    records = read(world / "killed" / "log.jsonl")
    assert [record["step"] for record in records if "resumed" in record] == [10]
    assert resumed.parameters is not None


def test_a_run_killed_between_stages_goes_on_there(world):
    text = LOAD + fit(6) + MINE + fit(6, more='order = "cluster"') + SAVE
    run(world, text, "straight")

    with pytest.raises(Killed):  # in the second training stage, before any checkpoint of its own
        run(world, text, "killed", kill_at=4, checkpoint_steps=5)
    with pytest.raises(Killed):
        run(world, text, "killed", kill_at=4, checkpoint_steps=100, resume=True)
    run(world, text, "killed", checkpoint_steps=5, resume=True)
    assert_same(end(world, "straight"), end(world, "killed"))


def test_resume_without_a_checkpoint_is_a_run_from_the_start(world):
    run(world, LOAD + fit(3) + SAVE, "plain")
    run(world, LOAD + fit(3) + SAVE, "resumed", resume=True)
    assert_same(end(world, "plain"), end(world, "resumed"))


def test_a_seed_is_the_run(world):
    run(world, LOAD + fit(3) + SAVE, "one")
    run(world, LOAD + fit(3) + SAVE, "two")
    run(world, "seed = 2\n" + LOAD + fit(3) + SAVE, "three")
    assert losses(world, "one") == losses(world, "two") != losses(world, "three")


def test_an_ensemble_of_one_trains_as_its_teacher_alone(world):
    start = LOAD + '[[stage]]\nkind = "student"\nlayers = [0]\n'
    run(world, start + fit(4, "distil", 'teachers = ["start"]') + SAVE, "alone")
    run(world, start + fit(4, "distil", 'teachers = ["start", "start"]') + SAVE, "twice")
    assert weights.layers(end(world, "alone")) == [0]
    np.testing.assert_allclose(losses(world, "alone"), losses(world, "twice"), atol=1e-4)


def test_languages_that_are_not_taught_learn_by_contrast_alone(world):
    languages = ", ".join(f'"{path.name.split(".")[0]}"' for path in (world / "shards").glob("*.json"))
    more = 'dropout = 0.1\nteachers = ["other"]\nuntaught = [{}]'
    run(world, LOAD + fit(4, more="dropout = 0.1") + SAVE, "contrast")
    run(world, LOAD + fit(4, "distil", more.format(languages)) + SAVE, "untaught")
    run(world, LOAD + fit(4, "distil", more.format("")) + SAVE, "taught")
    assert losses(world, "contrast") == losses(world, "untaught") != losses(world, "taught")


def test_a_student_learns_from_an_ensemble(world):
    more = 'teachers = ["start", "other"]\ndistance = 0.0\ncontrast = 0.0'
    run(world, LOAD + '[[stage]]\nkind = "student"\nlayers = [1]\n' + fit(30, "distil", more) + SAVE)
    values = losses(world)
    assert np.mean(values[-6:]) < np.mean(values[:6])


def test_a_cross_encoder_teaches_the_order_of_chunks(world):
    cross = {**make_weights(seed=7), "head": np.ones(WIDTH, np.float32)}
    weights.write_parts(world / "weights", "cross", cross)
    more = 'cross = ["other", "cross"]\ncross_rows = 16\nchunk = 4\nmask = 0.0\ndropout = 0.0\n'
    run(world, LOAD + fit(4, more=more + "cross_weight = 0.0") + SAVE, "without")
    run(world, LOAD + fit(4, more=more + "cross_weight = 1.0") + SAVE, "with")
    assert losses(world, "with")[0] > losses(world, "without")[0]
    assert not np.array_equal(end(world, "with")["word_emb"], end(world, "without")["word_emb"])


def test_the_lists_of_a_cross_encoder_hold_each_query_with_each_code_of_its_chunk():
    def piece(rows):
        ids = torch.tensor(rows)
        return Piece(ids, ids >= 0)

    queries, codes = piece([[0, 10, 2], [0, 11, 2]]), piece([[0, 20, 21, 2], [0, 22, 2, -1]])
    pairs = lists(queries, codes, 2, 2).pairs
    cut = [pairs.ids[a:b].tolist() for a, b in itertools.pairwise(pairs.bounds.tolist())]
    assert cut == [
        [0, 10, 2, 20, 21, 2], [0, 10, 2, 22, 2], [0, 11, 2, 20, 21, 2], [0, 11, 2, 22, 2]
    ]  # fmt: skip


def test_a_language_may_come_in_chunks_of_one_package(world):
    one = run(world, LOAD + MINE)
    corpus = one.materials.corpus
    stage = plan.Fit(1e-3, steps=1, batch=21, order="cluster", package_chunks={"ruby": 7})
    trainer = Trainer(one.materials, stage, one.current, (), one.guide, (1, 1))
    names = list(corpus.ranges)
    while (drawn := trainer._batches.next(21))[0] != "ruby":
        assert drawn[0] in names
    for chunk in corpus.packages[drawn[1]].view(3, 7):
        assert len(set(chunk.tolist())) <= 2  # packages of seven pairs, cut at a random place


def test_a_running_mean_lags_behind_the_weights(world):
    run(world, LOAD + fit(6) + SAVE, "raw")
    run(world, LOAD + fit(6, more="ema = 0.9") + SAVE, "mean")
    assert losses(world, "raw") == losses(world, "mean")
    start = weights.read([world / "weights"], "start")["l0.f1.w"]
    moved = [np.abs(end(world, out)["l0.f1.w"] - start).mean() for out in ("mean", "raw")]
    assert 0 < moved[0] < moved[1]


def test_average_and_save_and_evaluate(world):
    text = LOAD + '[[stage]]\nkind = "average"\nweights = ["other"]\n' + SAVE
    text += '[[stage]]\nkind = "save"\nname = "st"\nform = "safetensors"\nfolder = "work"\n'
    run(world, text + '[[stage]]\nkind = "evaluate"\n')
    start, other = (weights.read([world / "weights"], name) for name in ("start", "other"))
    np.testing.assert_allclose(end(world)["pos_emb"], (start["pos_emb"] + other["pos_emb"]) / 2, atol=1e-3)
    assert_same(end(world), weights.read([world / "out-work"], "st"))
    report = next(record["valid"] for record in read(world / "out" / "log.jsonl") if "valid" in record)
    assert [size for size, _ in report.values()] == [30, 30]
    assert all(0 < value <= 1 for _, value in report.values())


def test_without_pairs_kept_aside_there_is_nothing_to_validate_on(world):
    for path in (world / "shards").glob("*.valid.*"):
        path.unlink()
    run(world, LOAD + '[[stage]]\nkind = "evaluate"\n' + SAVE)
    assert not any("valid" in record for record in read(world / "out" / "log.jsonl"))
    assert end(world)


def test_an_evaluation_set_is_measured(world):
    """Documents that are their queries are found at once; the second half are others' and are not."""
    random = np.random.default_rng(1)
    texts = [random.choice(np.arange(20, 180), 9) for _ in range(8)]
    arrays = {}
    for part, sequences in {"N": texts, "c": texts, "q": texts}.items():
        arrays[f"cosqa.{part}.len"] = np.array([len(one) for one in sequences], np.int32)
        arrays[f"cosqa.{part}.tok"] = np.concatenate(sequences).astype(np.uint16)
    right = [(n, n if n < 4 else (n + 1) % 8, 1.0) for n in range(8)]
    arrays["cosqa.q.rel"] = np.array(right, np.float32)
    arrays["cosqa.q.tune"] = np.array([True] * 4 + [False] * 4)
    np.savez(world / "set.npz", **arrays)
    (world / "plan.toml").write_text(LOAD + '[[stage]]\nkind = "evaluate"\nvalid = false\n')
    places = ["--shards", world / "shards", "--weights", world / "weights", "--evaluation", world / "set.npz"]
    given = [
        "--plan",
        world / "plan.toml",
        "--tokenizer",
        world / "tokenizer.json",
        "--out",
        world / "out",
        *places,
    ]
    assert main(["fit", *map(str, given), "--device", "cpu"]) == 0
    report = next(record["eval"] for record in read(world / "out" / "log.jsonl") if "eval" in record)
    everything, tuned, other = report["cosqa-strip"]
    assert tuned > 0.9 > other
    assert everything == pytest.approx((tuned + other) / 2, abs=1e-3)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (fit(1), "no weights yet"),
        (LOAD + fit(1, more='order = "cluster"'), "mine"),
        (LOAD + MINE + fit(1, more="negatives = 9"), "than were mined"),
        ('[[stage]]\nkind = "load"\nweights = ["none"]\n', "--weights"),
    ],
)
def test_plans_that_cannot_run_say_why(world, text, told):
    with pytest.raises(ConfigError, match=told):
        run(world, text)


def test_the_command_tells_mistakes_without_a_traceback(world, capsys):
    (world / "plan.toml").write_text(json.dumps({}))
    assert main(["fit", "--out", str(world / "out")]) == 2
    assert "--plan" in capsys.readouterr().err
