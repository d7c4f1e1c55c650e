"""Plans are read strictly: a mistake is told, not ignored."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from dowse.errors import ConfigError
from dowse_training import plan
from dowse_training.plan import Average, Evaluate, Fit, Load, Mine, Save, Student

PLANS = Path(__file__).parents[2] / "plans"


def fit(settings, kind="contrast"):
    return f'[[stage]]\nkind = "{kind}"\n{settings}'


def test_a_plan_is_its_stages_in_order():
    text = """
    seed = 7
    [[stage]]
    kind = "load"
    weights = ["a", "b"]
    [[stage]]
    kind = "mine"
    candidates = 4
    [[stage]]
    kind = "contrast"
    seconds = 30
    rate = 1e-4
    shares = { python = 2 }
    dimensions = [384, 96]
    [[stage]]
    kind = "evaluate"
    """
    read = plan.parse(text)
    load, mine, train, evaluate = read.stages
    assert (read.seed, read.limit) == (7, 128)
    assert load == Load(("a", "b"))
    assert mine == Mine(candidates=4)
    assert isinstance(train, Fit)
    assert (train.seconds, train.dimensions) == (30.0, (384, 96))
    assert evaluate == Evaluate()


def test_a_student_is_not_disturbed_by_dropout_unless_asked():
    text = 'steps = 1\nrate = 1e-3\nteachers = ["a"]'
    assert plan.parse(fit(text, "distil")).stages[0].dropout == 0.0
    assert plan.parse(fit(text + "\ndropout = 0.2", "distil")).stages[0].dropout == 0.2


def test_the_kinds_of_queries_can_be_set_for_each_view():
    stage = plan.parse(fit("steps = 1\nrate = 1\nqueries = { named = { web = 1.0 } }")).stages[0]
    assert stage.mix("named") == {"web": 1.0}
    assert stage.mix("nameless")["name"] > 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no \\[\\[stage\\]\\]"),
        ("x = [", "not TOML"),
        ('speed = 1\n[[stage]]\nkind = "mine"', "no setting 'speed'"),
        ('[[stage]]\nkind = "fly"', "known are load"),
        ('[[stage]]\nkind = "mine"\nskipp = 1', "no setting 'skipp'"),
        ('[[stage]]\nkind = "mine"\nskip = "x"', "should be int"),
        ('[[stage]]\nkind = "load"', "not complete"),
        (fit("rate = 1.0"), "one of seconds, epochs and steps"),
        (fit("rate = 1.0\nsteps = 1\nseconds = 1"), "one of seconds, epochs and steps"),
        (fit('rate = 1.0\nsteps = 1\norder = "any"'), "order"),
        (fit('rate = 1.0\nsteps = 1\nschedule = "up"'), "schedule"),
        (fit("rate = 1.0\nsteps = 1\nviews = { naked = 1 }"), "views"),
        (fit("rate = 1.0\nsteps = 1\nqueries = { named = { loud = 1 } }"), "queries"),
        (fit("rate = 1.0\nsteps = 1", "distil"), "teachers"),
        (fit('rate = 1.0\nsteps = 1\nteachers = ["a"]'), "distil"),
    ],
)
def test_mistakes_are_told(text, told):
    with pytest.raises(ConfigError, match=told):
        plan.parse(text)


def test_a_missing_plan_is_told(tmp_path):
    with pytest.raises(ConfigError, match="can't read the plan"):
        plan.read(tmp_path / "none.toml")


@pytest.mark.parametrize("name", ["base", "small"])
def test_shipped_plans_can_run(name):
    stages = plan.read(PLANS / f"{name}.toml").stages
    assert isinstance(stages[0], Load)
    saved = {stage.name: stage for stage in stages if isinstance(stage, Save)}
    assert saved[name].form == "safetensors"  # what `dowse train export` is given
    for before, stage in pairwise(stage for stage in stages if not isinstance(stage, Student)):
        if isinstance(stage, Fit):
            assert stage.order == "cluster"
            assert isinstance(before, Mine)
            assert before.threshold >= stage.mask  # what is no negative in mining is none in training
            assert set(stage.teachers) <= saved.keys()
            assert all(sum(stage.mix(view).values()) == pytest.approx(1) for view in stage.views)


def test_the_student_is_taught_by_what_the_plan_of_base_saves():
    base, small = (plan.read(PLANS / f"{name}.toml").stages for name in ("base", "small"))
    saved = {stage.name for stage in base if isinstance(stage, Save) and stage.folder == "out"}
    assert set(small[0].weights) <= saved
    averaged = [stage for stage in base if isinstance(stage, Average)]
    assert [stage.weights for stage in averaged] == [base[0].weights]
