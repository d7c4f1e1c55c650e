"""The HTML file: the built evaluation page with a report inside, safe whatever the report says."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.eval.reports.html import render_html
from dowse.eval.reports.json_form import to_json
from dowse.eval.reports.model import Report
from eval.report_samples import HOSTILE, dataset, hostile_report, report, set_report, small_report


class Page(HTMLParser):
    """The elements of a page, and the text of its scripts by id."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.scripts: dict[str, str] = {}
        self._script: str | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag == "script":
            self._script = self.tags[-1][1].get("id", "")

    def handle_endtag(self, tag: str) -> None:
        self._script = None

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            self.scripts[self._script] = self.scripts.get(self._script, "") + data

    @property
    def data(self) -> dict[str, Any]:
        return json.loads(self.scripts["report"])


REPORTS = {
    "small": small_report(),
    "hostile": hostile_report(),
    "single": report(set_report(dataset("x", 2), {"a": [1, 0]})),
    "empty": Report({}, ()),
    "no rows": Report({}, (replace(small_report().sets[0], results=()),)),
}


@pytest.mark.parametrize("whole", REPORTS.values(), ids=REPORTS)
def test_the_file_holds_the_report_and_loads_nothing(whole: Report) -> None:
    page = Page(render_html(whole))
    assert page.data["report"] == json.loads(json.dumps(to_json(whole)))
    assert not {"link", "img", "iframe", "object", "base", "form"} & {name for name, _ in page.tags}
    for name, attributes in page.tags:
        assert not [key for key in attributes if key.startswith("on") or key in ("src", "href")], name


def test_only_its_own_script_may_run() -> None:
    page = Page(render_html(hostile_report()))
    script = page.scripts[""]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [each["content"] for name, each in page.tags if "http-equiv" in each]
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; font-src data:"
    )
    kinds = [each["type"] for name, each in page.tags if name == "script"]
    assert kinds == ["module", "application/json", "text/plain"]
    assert not re.search(r"\bimport\b *[(\"'`]", script), "nothing is loaded later"


def test_text_of_others_stays_text() -> None:
    text = render_html(hostile_report())
    data = text[text.index('id="report"') : text.index('id="licences"')]
    assert data.isascii() and data.count("<") == 2  # the ends of the two elements
    assert "\x1b" not in text and "alert(1)" in data
    page = Page(text)
    assert page.data["report"]["sets"][0]["dataset"]["name"] == HOSTILE
    assert [name for name, _ in page.tags] == [name for name, _ in Page(render_html(small_report())).tags]


@given(st.text(min_size=1, max_size=40))
def test_no_name_breaks_the_file(name: str) -> None:
    each = set_report(dataset(name, 2, query=name), {"plain": [1, 2], name: [1, 0]}, "plain")
    assert Page(render_html(Report({name: name}, (each,)))).data["report"]["about"] == {name: name}


def test_it_is_marked_as_a_report_at_the_top() -> None:
    assert render_html(small_report()).startswith("<!doctype html>\n<!-- dowse_report -->\n")


def test_it_says_what_was_found() -> None:
    data = Page(render_html(small_report())).data
    assert re.fullmatch(
        r"good is best on the mean of 2 sets: nDCG@10 \.\d{3} \(\.\d{3}–\.\d{3}\)\. Against plain that is "
        r"\+\.\d{3}, a real difference \(p < \.001\)",
        data["mean"]["conclusion"],
    )
    assert (
        data["mean"]["differences"].keys() == {"good", "odd"} and data["mean"]["differences"]["good"]["real"]
    )
    one, two = data["tables"]
    assert "12 questions" in one["facts"] and "the half for reporting" in one["facts"]
    assert "MRR is cut at 100" in one["notes"] and "nDCG is graded (gain 2^grade − 1)" in two["notes"]


def test_ties_and_remarks_are_said() -> None:
    each = set_report(dataset("x", 5), {"a": [1] * 5, "b": [1] * 5}, "b")
    facts = replace(each.dataset, notes=["1 of 5 answers is not there"])
    (table,) = Page(render_html(report(replace(each, dataset=facts)))).data["tables"]
    assert table["conclusion"].startswith("b is best: nDCG@10")
    assert table["conclusion"].endswith("a can't be told apart from it (noise)")
    assert table["remarks"][0] == "1 of 5 answers is not there"
    assert table["remarks"][1].startswith("too few questions to tell (5)")


def test_what_only_scores_highest_is_not_called_best() -> None:
    close = {"a": [1, 2, 1, 2, 1, 2, 1, 2], "b": [1, 1, 1, 2, 1, 2, 1, 2]}
    (table,) = Page(render_html(report(set_report(dataset("x", 8), close, "a")))).data["tables"]
    assert "b is highest: " in table["conclusion"] and "which may be noise" in table["conclusion"]


def test_without_worst_no_question_is_in_the_file() -> None:
    assert "is asked" in render_html(small_report()) and "is asked" not in render_html(small_report(), 0)
