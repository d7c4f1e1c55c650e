"""Reports written as JSON: by the schema, and back without a loss that matters."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from dowse.errors import EvalError
from dowse.eval.reports.json_form import from_json, to_json
from dowse.eval.reports.model import Report
from dowse.eval.reports.text import render_text
from eval.report_samples import dataset, hostile_report, report, set_report, small_report

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "report.schema.json").read_text())


def through_json(whole: Report) -> dict[str, object]:
    return json.loads(json.dumps(to_json(whole), allow_nan=False))


@pytest.mark.parametrize(
    "whole",
    [small_report(), hostile_report(), report(set_report(dataset("x", 2), {"a": [1, 0]})), Report({}, ())],
    ids=["small", "hostile", "single", "empty"],
)
def test_every_report_meets_the_schema(whole: Report) -> None:
    Draft202012Validator(SCHEMA).validate(through_json(whole))


def test_what_was_read_says_the_same_as_what_was_written() -> None:
    whole = small_report()
    again = from_json(through_json(whole))
    assert to_json(again) == to_json(whole)
    assert render_text(again) == render_text(whole)


def test_values_stand_in_the_order_of_the_ids() -> None:
    each = set_report(dataset("x", 3), {"a": [1, 2, 3]})
    written = to_json(report(each))["sets"][0]
    assert written["ids"] == ["x-00", "x-01", "x-02"]
    assert written["rows"][0]["values"]["mrr@100"] == [1.0, 0.5, 0.333333]
    assert set(written["rows"][0]["values"]) == {"mrr@100", "ndcg@10", "recall@10"}


def test_a_row_with_other_questions_keeps_its_own_ids() -> None:
    each = set_report(dataset("x", 3), {"a": [1, 2, 3], "b": [1, 2, 3]})
    short = replace(each.results[1], cases=each.results[1].cases[1:])
    whole = report(replace(each, results=(each.results[0], short)))
    Draft202012Validator(SCHEMA).validate(through_json(whole))
    again = from_json(through_json(whole)).sets[0]
    assert [[case.id for case in row.cases] for row in again.results] == [
        ["x-00", "x-01", "x-02"],
        ["x-01", "x-02"],
    ]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, "no report"),
        ([], "no report"),
        ({"dowse_report": 9}, "format 9"),
        ({"dowse_report": 1, "about": {}, "sets": [{}], "means": []}, "damaged"),
    ],
)
def test_what_is_no_report_is_refused_with_a_remedy(data: dict[str, object], said: str) -> None:
    with pytest.raises(EvalError, match=said) as problem:
        from_json(data)
    assert "run" in str(problem.value) or "write one" in str(problem.value)
