"""A candidate passes only where it is at least as good on the mean and on every set."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.errors import EvalError
from dowse.eval.gate import gate, render_gate
from dowse.eval.reports.json_form import from_json, to_json
from dowse.eval.reports.model import Report, SetFacts, SetReport
from dowse.eval.types import CaseResult, Result
from dowse.json_form import document

METRIC = "ndcg@10"


def row(mode, values, ids=None, metric=METRIC):
    names = ids or [f"q{i}" for i in range(len(values))]
    cases = tuple(
        CaseResult(name, "a question", {metric: value, "mrr@100": value / 2}, (), ())
        for name, value in zip(names, values, strict=True)
    )
    mean = sum(values) / len(values) if values else 0.0
    return Result(mode, "", "file", {metric: mean}, {}, {}, cases)


def one_set(name, metric=METRIC, facts=None, **rows):
    results = [
        values if isinstance(values, Result) else row(mode, values, metric=metric)
        for mode, values in rows.items()
    ]
    return SetReport(SetFacts(name, metric=metric, **(facts or {})), tuple(results))


def report(*sets):
    return Report({}, sets)


def two_sets(new_a, old_a, new_b, old_b):
    return report(one_set("a", new=new_a, old=old_a), one_set("b", new=new_b, old=old_b))


# Twenty questions, all a bit worse: that is real. A single one worse among many equal ones is noise.
EQUAL = [0.5] * 20
A_LITTLE = [0.4] + [0.5] * 19


def test_better_everywhere_passes():
    verdict = gate(two_sets([0.6] * 8, [0.5] * 8, [0.9] * 6, [0.2] * 6), "new", "old")
    assert verdict.passed
    assert [each.name for each in verdict.rows] == ["a", "b"]
    assert verdict.mean.candidate == pytest.approx(0.75)
    assert verdict.mean.baseline == pytest.approx(0.35)
    assert verdict.reasons == ("at least as good on the mean and on each of the 2 sets",)


def test_noise_fails_unless_one_says_otherwise():
    whole = two_sets(A_LITTLE, EQUAL, EQUAL, EQUAL)
    strict = gate(whole, "new", "old")
    assert not strict.passed
    assert "lower on a by 0.0050, which is noise" in strict.reasons
    lenient = gate(whole, "new", "old", within_noise=True)
    assert lenient.passed
    assert [each.forgiven for each in lenient.rows] == [True, False]
    assert lenient.mean.forgiven
    assert lenient.reasons[1] == "lower on a by 0.0050, which is noise (forgiven: --within-noise)"


VALUES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=8)


@given(groups=st.lists(VALUES, min_size=1, max_size=4), within_noise=st.booleans())
def test_the_rule_holds_for_any_report(groups, within_noise):
    sets = [
        one_set(f"s{i}", new=[a for a, _ in pairs], old=[b for _, b in pairs])
        for i, pairs in enumerate(groups)
    ]
    verdict = gate(report(*sets), "new", "old", within_noise=within_noise)
    rounded = [[(round(a, 6), round(b, 6)) for a, b in pairs] for pairs in groups]
    losses = [sum(b - a for a, b in pairs) / len(pairs) for pairs in rounded]
    everything = (*zip(losses, verdict.rows, strict=True), (sum(losses) / len(losses), verdict.mean))
    allowed = [loss <= 1e-9 or (within_noise and not each.difference.real) for loss, each in everything]
    assert verdict.passed == all(allowed)
    for loss, each in everything:
        assert each.baseline - each.candidate == pytest.approx(loss, abs=1e-9)
        assert each.difference.mean == pytest.approx(-loss, abs=1e-9)


def test_another_metric_and_each_set_by_its_own():
    mixed = report(one_set("a", new=[0.6], old=[0.5]), one_set("b", metric="recall@10", new=[0.4], old=[0.2]))
    verdict = gate(mixed, "new", "old")
    assert [each.metric for each in verdict.rows] == [METRIC, "recall@10"]
    assert verdict.mean.metric == "each set's own"
    assert gate(mixed, "new", "old", metric="mrr@100").mean.candidate == pytest.approx(0.25)
    with pytest.raises(EvalError, match=r"a: new has no map.*choose one of ndcg@10, mrr@100"):
        gate(mixed, "new", "old", metric="map")


def test_missing_rows_and_questions_are_named():
    with pytest.raises(EvalError, match=r"a has no row 'newest', its rows are: new, old"):
        gate(report(one_set("a", new=[1.0], old=[1.0])), "newest", "old")
    with pytest.raises(EvalError, match="no sets"):
        gate(report(), "new", "old")
    with pytest.raises(EvalError, match="asked no questions"):
        gate(report(one_set("a", new=[], old=[])), "new", "old")


class TestTwoReports:
    new = report(one_set("a", new=[0.5, 0.75]), one_set("b", new=[1.0]))
    old = report(one_set("b", old=[0.5]), one_set("a", old=row("old", [0.7, 0.3], ["q1", "q0"])))

    def test_questions_are_paired_by_their_ids(self):
        verdict = gate(self.new, "new", "old", baseline_report=self.old)
        assert verdict.passed
        first = verdict.rows[0]
        assert (first.candidate, first.baseline) == (0.625, 0.5)
        # q0: .5 − .3, q1: .75 − .7; in the other order one of them would be lower.
        assert first.difference.low > 0

    def test_a_report_equals_its_own_file(self):
        thirds = report(one_set("a", new=[1 / 3, 2 / 3, 1 / 7]))
        read = from_json(json.loads(json.dumps(to_json(thirds))))
        for one, other in ((thirds, read), (read, thirds)):
            assert gate(one, "new", "new", baseline_report=other).passed

    def test_sets_that_only_one_has(self):
        with pytest.raises(EvalError, match=r"only one of the two reports has b; run both on the same"):
            gate(report(self.new.sets[0]), "new", "old", baseline_report=self.old)
        with pytest.raises(EvalError, match="only one of the two reports has b"):
            gate(self.new, "new", "old", baseline_report=report(self.old.sets[1]))

    @pytest.mark.parametrize(
        ("fact", "value"),
        [("half", "tune"), ("level", "symbol"), ("counting", "results"), ("strip_docs", True)],
    )
    def test_sets_that_were_asked_differently(self, fact, value):
        first = self.old.sets[0]
        other = replace(
            self.old, sets=(replace(first, dataset=replace(first.dataset, **{fact: value})), self.old.sets[1])
        )
        with pytest.raises(EvalError, match=rf"b: one report has {fact} .*run both with the same {fact}"):
            gate(self.new, "new", "old", baseline_report=other)

    def test_other_questions(self):
        other = report(one_set("a", old=row("old", [0.1, 0.2], ["q0", "q9"])), self.old.sets[0])
        with pytest.raises(EvalError, match=r"a: .*not asked the same questions, e\.g\. q1; run both"):
            gate(self.new, "new", "old", baseline_report=other)


class TestShown:
    whole = two_sets(A_LITTLE, EQUAL, [0.7] * 20, EQUAL)

    def test_text_has_every_figure_in_its_row(self):
        lines = render_gate(gate(self.whole, "new", "old")).splitlines()
        assert lines[0] == "gate FAILED: new against old"
        row_a, row_b = (next(line.split() for line in lines if line.startswith(name)) for name in "ab")
        assert row_a == "a nDCG@10 20 .4950 .5000 −.0050 −.0150 to ±.0000 1.000 noise LOWER".split()
        assert row_b == "b nDCG@10 20 .7000 .5000 +.2000 +.2000 to +.2000 < .001 real ok".split()
        assert any(line.startswith("mean") for line in lines)
        assert lines[-1].startswith("- lower on a by 0.0050")

    def test_data_survives_json(self):
        data = json.loads(json.dumps(document(gate(self.whole, "new", "old", within_noise=True))))
        assert data["passed"] and data["within_noise"]
        first = data["sets"][0]
        assert (first["candidate"], first["baseline"], first["difference"]["mean"]) == (0.495, 0.5, -0.005)
        assert first["difference"]["real"] is False and first["forgiven"] is True
