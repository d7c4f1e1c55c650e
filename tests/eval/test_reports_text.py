"""Reports for the terminal."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.eval.reports.text import WIDTH, render_text
from dowse.formats.style import Style, choose_colors
from eval.report_samples import dataset, hostile_report, report, set_report, small_report


def lines_with(text: str, start: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(start)]


def test_rows_are_marked_and_differences_are_called_real_or_noise() -> None:
    text = render_text(small_report())
    (best, *_), (base, *_), (odd, *_) = (lines_with(text, mark) for mark in ("*  good", " = plain", "   odd"))
    assert re.search(r"\+\.\d{3} real", best)
    assert not re.search("real|noise", base)
    assert re.search(r"\+\.\d{3} noise", odd)


def test_titles_name_the_half_and_notes_the_cut_and_the_kind_of_ndcg() -> None:
    text = render_text(small_report())
    assert "one: 12 questions, the half for reporting, file level" in text
    assert text.count("MRR is cut at 100") == 3
    assert "nDCG is binary" in text and "nDCG is graded (gain 2^grade − 1)" in text
    assert "the half for choosing" in render_text(
        report(set_report(dataset("x", 2, half="tune"), {"a": [1, 0]}))
    )


def test_means_follow_the_sets() -> None:
    text = render_text(small_report())
    assert text.index("\ntwo: ") < text.index("mean of 2 sets") < text.index("*  mean:good")
    assert "mean" not in lines_with(render_text(report(set_report(dataset("x", 2), {"a": [1, 0]}))), "x:")[0]


def test_the_worst_questions_show_what_was_found_instead() -> None:
    text = render_text(report(set_report(dataset("x", 3), {"a": [2, 0, 1]})), worst=1)
    worst = text[text.index("worst of a on x") :]
    assert "src/1.py is asked" in worst and "none of the first 100 is right" in worst
    assert "wanted  src/1.py" in worst and "found   1. wrong/0.py" in worst
    assert "src/0.py is asked" not in worst


@pytest.mark.parametrize("colours", [Style(), choose_colors("always", {})], ids=["plain", "colour"])
def test_colour_is_only_for_terminals_and_changes_no_text(colours: Style) -> None:
    text = render_text(small_report(), colours=colours)
    assert ("\x1b" in text) == bool(colours.bold)
    assert re.sub(r"\x1b\[[\d;]*m", "", text) == render_text(small_report())


def test_others_text_can_not_steer_the_terminal() -> None:
    text = render_text(hostile_report())
    assert all(c == "\n" or unicodedata.category(c)[0] != "C" for c in text)


@settings(max_examples=30)
@given(
    st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=6, unique=True),
    st.text(max_size=300),
    st.sets(st.integers(1, 99), min_size=1, max_size=8),
)
def test_no_line_is_longer_than_the_width(modes: list[str], query: str, ks: set[int]) -> None:
    from dowse.eval.evaluate import evaluate
    from eval.report_samples import tool

    data = dataset(query, 3, query=query)
    each = set_report(data, {mode: [1, 0, 3] for mode in modes})
    many = tuple(evaluate(tool([1, 2, 0]), data, name=mode, ks=sorted(ks)) for mode in modes)
    text = render_text(report(replace(each, results=many), each))
    assert max(len(line) for line in text.splitlines()) <= WIDTH
