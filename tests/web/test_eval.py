"""`/eval`: one sentence and one picture; radar, sets, questions one by one, two runs side by side behind."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from interfaces.http.running import Running
from web.conftest import Visitor


def opened(visitor: Visitor) -> Page:
    """Open all figures."""
    page = visitor.open("/eval")
    page.get_by_text("All figures").click()
    return page


def test_it_opens_with_a_sentence_and_a_picture(visitor: Visitor, server: Running) -> None:
    page = visitor.open("/eval")
    short = page.get_by_role("region", name="In short")
    means = {row["mode"]: row["metrics"]["hit@10"] for row in server.get("eval")["reports"][0]["means"]}
    ours, keywords = (f"{100 * means[mode]:.0f} %" for mode in ("auto", "keyword"))
    expect(short).to_contain_text(f"first ten hits for {ours}, keywords alone for {keywords}")
    expect(short.get_by_role("listitem")).to_have_text([f"dowse{ours}", f"Keywords alone{keywords}"])
    expect(page.get_by_role("table")).to_have_count(0)


def test_the_latest_own_run_is_shown_with_its_origin(visitor: Visitor) -> None:
    page = opened(visitor)
    expect(page.get_by_text("Measured here")).to_contain_text("after-change")
    expect(page.get_by_text("Measured here")).to_contain_text("24 questions in 2 sets")
    quality = page.get_by_role("region", name="Quality", exact=True)
    expect(quality.get_by_role("img", name="Radar of MRR, nDCG@10, Recall@10 by mode")).to_be_visible()
    latency = page.get_by_role("region", name="Latency")
    expect(latency.get_by_role("listitem").filter(has_text="auto")).to_contain_text("3.3 ms · 13 ms")


def test_sets_have_figures_with_intervals(visitor: Visitor, server: Running) -> None:
    page = opened(visitor)
    page.get_by_role("button", name="rolls").click()
    detail = page.get_by_role("region", name="Set rolls")
    run = server.get("eval")["reports"][0]["id"]
    rolls = server.get(f"eval/{run}")["sets"][1]
    auto = next(row for row in rolls["rows"] if row["mode"] == "auto")
    low, high = auto["intervals"]["ndcg@10"]
    shown = detail.get_by_role("row").filter(has_text="auto")
    said = f"{auto['metrics']['ndcg@10']:.3f}, between {low:.3f} and {high:.3f}".replace("0.", ".")
    expect(shown.get_by_role("img", name=said)).to_be_visible()
    assert auto["difference"]["real"]
    expect(shown.get_by_role("cell").last).to_have_text(f"+{auto['difference']['mean']:.3f}")


def test_every_question_can_be_looked_at(visitor: Visitor) -> None:
    page = opened(visitor)
    page.get_by_label("Mode", exact=True).select_option("auto")
    page.get_by_label("Order").select_option("won")
    questions = page.get_by_role("list", name="Questions").get_by_role("listitem")
    # auto found the second question's answer as second, keyword never; nothing was won by more
    expect(questions.first).to_contain_text("1st")
    page.get_by_label("Order").select_option("worst")
    worst = questions.filter(has_text="–").first
    worst.locator("summary").click()
    expect(worst).to_contain_text("Wanted")
    expect(page).to_have_url(re.compile("order=worst"))


def test_two_runs_are_compared(visitor: Visitor) -> None:
    page = opened(visitor)
    page.get_by_label("Compare with").select_option(label="before (own, before-change)")
    comparison = page.get_by_role("region", name="Comparison")
    rows = comparison.get_by_role("row")
    expect(rows.filter(has_text="auto")).to_have_count(2)
    expect(rows.filter(has_text="keyword").first).to_contain_text("same")
    expect(rows.filter(has_text="auto").first).to_contain_text("+0.")
    page.get_by_label("Mode", exact=True).select_option("auto")
    page.get_by_label("Order").select_option("won")
    first = page.get_by_role("list", name="Questions").get_by_role("listitem").first
    expect(first).to_contain_text("1st5th")  # the last question: found as 5th before the change
