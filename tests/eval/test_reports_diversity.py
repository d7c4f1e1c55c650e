"""Diversity in reports: shown where a row is about it, saved and read, absent where it was not measured."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from dowse.errors import EvalError
from dowse.eval.diversity import ALPHA_NDCG, MEANING, METRICS, TREE
from dowse.eval.gate import gate
from dowse.eval.reports.html import render_html
from dowse.eval.reports.json_form import from_json, to_json
from dowse.eval.reports.markdown import render_markdown
from dowse.eval.reports.model import Report
from dowse.eval.reports.tables import mean_table, set_table
from dowse.eval.reports.text import WIDTH, render_text
from eval.report_samples import small_report, varied_report

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "report.schema.json").read_text())


def columns(whole: Report, which: int = 0) -> list[str]:
    return [name for group in set_table(whole.sets[which]).groups for name, _ in group.columns]


def without_the_row_about_it(whole: Report) -> Report:
    kept = (replace(each, results=(each.results[0], each.results[2])) for each in whole.sets)
    return Report(whole.about, tuple(kept))


def test_columns_are_those_that_were_measured() -> None:
    whole = varied_report()
    assert [name for name in columns(whole) if name in METRICS] == list(METRICS)
    assert [name for name in columns(whole, 1) if name in METRICS] == [ALPHA_NDCG, TREE]


def test_means_have_what_all_sets_have() -> None:
    means = varied_report().means
    assert [set(METRICS) & row.metrics.keys() for row in means] == [{ALPHA_NDCG, TREE}] * 2 + [set()]
    assert mean_table(varied_report()) is not None


def test_without_a_row_about_it_nothing_of_it_is_shown() -> None:
    whole = without_the_row_about_it(varied_report())
    assert ALPHA_NDCG in whole.sets[0].results[0].metrics
    assert not set(METRICS) & set(columns(whole))
    for text in (render_text(whole), render_markdown(whole)):
        assert "diversity" not in text and "α-nDCG" not in text
    written = to_json(whole)["sets"][0]["rows"][0]
    assert ALPHA_NDCG in written["metrics"] and ALPHA_NDCG not in written["values"]


def test_every_form_shows_it_with_what_it_means() -> None:
    whole = varied_report()
    text = render_text(whole)
    assert "diversity at 10" in text and "in hops of the tree" in text.replace("\n  ", " ")
    assert max(map(len, text.splitlines())) <= WIDTH
    markdown = render_markdown(whole)
    assert "| α-nDCG\\@10 | tree distance\\@10 | meaning distance\\@10 |" in markdown
    (ripgrep,) = re.findall(r"^\| ripgrep \|.*", markdown[: markdown.index("## two")], re.M)[-1:]
    assert ripgrep.count("–") == 4, "an interval, and three that nobody measured"
    assert '"alpha_ndcg@10": ' in render_html(whole) and "in hops of the tree" in render_html(whole)


def test_saved_reports_tell_it_question_by_question() -> None:
    whole = varied_report()
    written = json.loads(json.dumps(to_json(whole), allow_nan=False))
    Draft202012Validator(SCHEMA).validate(written)
    rows = [each["rows"] for each in written["sets"]]
    assert [set(METRICS) & row["values"].keys() for row in rows[1]] == [{ALPHA_NDCG, TREE}] * 2 + [set()]
    assert max(rows[0][0]["values"][TREE]) > 1
    again = from_json(written)
    assert [row["values"] for row in to_json(again)["sets"][0]["rows"]] == [row["values"] for row in rows[0]]
    assert render_text(again) == render_text(whole)


@pytest.mark.parametrize("metric", [ALPHA_NDCG, TREE])
def test_rows_can_be_compared_by_it(metric: str) -> None:
    verdict = gate(varied_report(), "keyword+cluster:euclidean", "keyword", metric=metric)
    assert {row.metric for row in verdict.rows} == {metric}
    again = from_json(to_json(varied_report()))
    assert gate(again, "keyword+cluster:euclidean", "keyword", metric=metric).mean == verdict.mean


def test_what_a_set_lacks_can_not_be_compared_and_that_is_said() -> None:
    with pytest.raises(EvalError, match=r"two: keyword\S* has no meaning_distance@10 .* choose one of"):
        gate(varied_report(), "keyword+cluster:euclidean", "keyword", metric=MEANING)


def test_reports_from_before_are_read_as_ever() -> None:
    old = json.loads(json.dumps(to_json(small_report())).replace('"odd"', '"auto+diversify"'))
    whole = from_json(old)
    assert not set(METRICS) & set(columns(whole))
    assert "auto+diversify" in render_text(whole) and "α-nDCG" not in render_text(whole)
