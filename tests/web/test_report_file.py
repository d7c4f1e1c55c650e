"""A report as one file, opened from a disk: the charts and tables of the evaluation page, and no network."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from dowse.eval.reports.html import render_html
from dowse.eval.reports.model import Report
from dowse.eval.types import Interval
from eval.report_samples import hostile_report, small_report
from web.browser import violations

Open = Callable[[Report], Page]


@pytest.fixture
def open_report(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Write a report and open it; nothing may be asked for, and no console may tell of an error."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    requests: list[str] = []
    errors: list[str] = []
    context.on("request", lambda request: requests.append(request.url))
    context.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)

    def open_file(report: Report) -> Page:
        file = tmp_path / "report.html"
        file.write_text(render_html(report))
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("dialog", lambda dialog: errors.append(dialog.message))
        page.goto(file.as_uri())
        expect(page.get_by_role("region", name="About")).to_be_visible()
        return page

    yield open_file
    context.close()
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == [] and errors == []


def test_it_shows_charts_tables_and_origin(open_report: Open) -> None:
    page = open_report(small_report())
    expect(page.get_by_text(re.compile(r"^good is best on the mean of 2 sets: nDCG@10 \."))).to_be_visible()
    expect(page.get_by_role("img", name="Radar of MRR, nDCG@10, Recall@10 by mode")).to_have_count(2)
    cost = page.get_by_role("img", name="nDCG@10 against median time: plain")
    expect(cost.locator("circle")).to_have_count(3)
    latency = page.get_by_role("region", name="Latency").get_by_role("listitem").first
    expect(latency).to_contain_text("3.3 ms · 13 ms · 140 ms")
    about = page.get_by_role("region", name="About")
    for said in ("0123abcd", "small", "x86_64, 2 cores", "dowse eval --dataset", "2025-01-31", "fusion auto"):
        expect(about).to_contain_text(said)
    expect(page.get_by_text("Searched: files 1,234")).to_be_visible()
    assert violations(page) == []


def test_the_heat_map_says_in_words_what_it_says_in_colour(open_report: Open) -> None:
    sets = open_report(small_report()).get_by_role("region", name="Sets", exact=True)
    mean = sets.get_by_role("row").filter(has_text="mean")
    expect(mean.get_by_role("cell").nth(3)).to_have_text(re.compile(r"^\.\d{3} \+0\.\d{3}, real$"))
    expect(mean.get_by_role("cell").nth(2)).to_have_text(re.compile(r"the baseline$"))
    colours = [
        each.evaluate("cell => getComputedStyle(cell).backgroundColor")
        for each in mean.get_by_role("cell").all()
    ]
    assert len(set(colours[2:4])) == 2


def test_all_metrics_and_the_worst_questions_can_be_looked_at(open_report: Open) -> None:
    page = open_report(small_report())
    page.get_by_text("All metrics over 24 questions").click()
    table = page.get_by_role("region", name="All metrics of the means")
    for name in ("MRR", "Recall@1", "Hit rate@5", "Precision@10", "p99"):
        expect(table.get_by_role("columnheader", name=name, exact=True)).to_be_visible()
    page.get_by_role("button", name="two").click()
    worst = page.get_by_role("list", name="Questions").get_by_role("listitem").first
    expect(worst).to_contain_text("src/1.py is asked")
    worst.locator("summary").click()
    expect(worst).to_contain_text("wrong/0.py")


def test_a_budget_has_curves_figures_and_factors(open_report: Open) -> None:
    whole = small_report()
    (one, *_) = whole.sets
    shares = {"plain": 0.2, "good": 0.6, "rg+read": 0.1}
    rows = []
    for row, (mode, share) in zip(one.results, shares.items(), strict=True):
        metrics = {f"read@{budget}": share * budget / 1000 for budget in (500, 1000)}
        reader = mode.startswith("rg")
        intervals = {name: Interval(value / 2, value) for name, value in metrics.items()}
        rows.append(
            replace(
                row,
                mode=mode,
                metrics=metrics if reader else {**row.metrics, **metrics},
                intervals={**row.intervals, **intervals},
            )
        )
    page = open_report(Report(whole.about, (replace(one, results=tuple(rows), against="good"),)))
    budget = page.get_by_role("region", name="Budget", exact=True)
    curve = budget.get_by_role("img", name="Share of files read over tokens shown.")
    expect(curve.locator("polyline")).to_have_count(3)
    expect(budget.get_by_role("row").filter(has_text="rg+read")).to_contain_text(".050")
    expect(budget).to_contain_text("good against rg+read: 6.0× at 500, 6.0× at 1,000")
    expect(page.get_by_role("region", name="Means").get_by_role("row")).to_have_count(3)  # and a head


def test_text_of_others_does_nothing(open_report: Open) -> None:
    page = open_report(hostile_report())
    expect(page.get_by_role("heading", level=2).filter(has_text="alert(1)")).to_be_visible()
    assert page.locator("img[src]").count() == 0
    assert "\u202e" not in page.locator("body").inner_text()


def test_nothing_was_measured(open_report: Open) -> None:
    page = open_report(Report({}, ()))
    expect(page.get_by_text("0 questions in 0 sets")).to_be_visible()
