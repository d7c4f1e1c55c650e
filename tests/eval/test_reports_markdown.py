"""Reports as Markdown, read back by a real Markdown parser."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from dowse.eval.reports.markdown import code, escape_markdown, render_markdown
from dowse.eval.reports.model import Report
from eval.report_samples import HOSTILE, dataset, hostile_report, report, set_report, small_report


def tables(text: str) -> list[list[str]]:
    """Return the lines of each table."""
    return [block.splitlines() for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)]


def columns(line: str) -> int:
    return len(re.findall(r"(?<!\\)\|", line)) - 1


@pytest.mark.parametrize("whole", [small_report(), hostile_report()], ids=["small", "hostile"])
def test_all_lines_of_a_table_have_as_many_columns(whole: Report) -> None:
    found = tables(render_markdown(whole))
    assert len(found) == 5  # the means, two sets, and the worst of each
    for lines in found:
        assert len({columns(line) for line in lines}) == 1, lines


def test_the_best_row_is_bold_and_says_if_it_is_real() -> None:
    text = render_markdown(small_report())
    assert re.search(
        r"^\| \*\*good\*\* \| \*\*\.\d{3}\*\* \| \.\d{3}–\.\d{3} \| \+\.\d{3} real \|", text, re.M
    )
    assert re.search(r"^Best: \*\*mean:good\*\*, \+.*: real against mean:plain\.$", text, re.M)


def test_titles_name_half_cut_and_kind_of_ndcg() -> None:
    text = render_markdown(small_report())
    assert "the half for reporting" in text and "MRR is cut at 100" in text
    assert "nDCG is binary" in text and "nDCG is graded" in text
    assert "| nDCG\\@10 |" in text and "MRR\\@100" in text


def test_about_lists_where_the_figures_come_from() -> None:
    text = render_markdown(small_report())
    about = text[text.index("## About") :]
    assert "- **dowse commit**: `0123abcd`" in about
    assert "- **Command**: `dowse eval --dataset cases.jsonl --compare`" in about
    assert "- **Index settings**: strip docs no, fusion auto" in about
    for name in ("Encoder", "Machine", "Date"):
        assert f"- **{name}**: " in about


def test_worst_questions_can_be_left_out() -> None:
    each = report(set_report(dataset("x", 3), {"a": [2, 0, 1]}))
    assert "<details>" not in render_markdown(each, worst=0)
    assert "`wrong/0.py`" in render_markdown(each)


def test_others_text_stands_for_itself() -> None:
    text = render_markdown(hostile_report())
    assert "<script" not in re.sub(r"(`+).*?\1(?!`)", "", text.replace("\\<", ""))
    assert "\x1b" not in text and "\u202e" not in text
    assert escape_markdown("a|b <c> *d* @e") == r"a\|b \<c\> \*d\* \@e"


def test_code_survives_backticks_and_bars() -> None:
    assert code("plain.py") == "`plain.py`"
    assert code("a`b|c") == "``a`b|c``"
    assert code("a`b|c", cell=True) == "``a`b\\|c``"
    assert code("`") == "`` ` ``"
    assert code("") == "–"


def test_a_parser_sees_no_markup_of_others() -> None:
    parser = MarkdownIt("gfm-like", {"linkify": False}).enable("table")
    html = parser.render(render_markdown(hostile_report()))
    assert "<script" not in html and "<img" not in html
    assert html.count("<table>") == 5
    assert "alert(1)" in html and HOSTILE not in html


def test_ties_and_notes_are_said() -> None:
    each = set_report(dataset("x", 5), {"a": [1] * 5, "b": [1] * 5}, "b")
    noted = replace(each, dataset=replace(each.dataset, notes=["1 of 5 <answers> is not there"]))
    text = render_markdown(report(noted))
    assert "\nBest: **b**; a can't be told apart from it (noise).\n" in text
    assert "\n> Note: 1 of 5 \\<answers\\> is not there.\n" in text
    assert "\n> Note: too few questions to tell (5)" in text


def test_the_worst_are_those_of_the_row_compared_with() -> None:
    text = render_markdown(small_report())
    assert "Worst questions of plain" in text and "Worst questions of good" not in text
