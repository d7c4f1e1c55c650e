"""The page: whole, safe, readable by machines and by people who see colours differently."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.eval.reports.heat_map import STEPS, shade, short_names
from dowse.eval.reports.html import render_html
from dowse.eval.reports.model import Report
from dowse.eval.reports.page_style import DARK, LIGHT, style_sheet
from dowse.eval.reports.plots import OVERLAID, latency_bars, radar
from dowse.eval.reports.scatter import _labels, _placed, quality_against_cost
from dowse.eval.reports.svg import linear, log_range, logarithmic, share_range
from dowse.eval.reports.tables import Table, set_table
from eval.report_samples import HOSTILE, dataset, hostile_report, report, set_report, small_report

_VOID = {"meta", "br", "circle", "line", "path", "rect"}


class Page(HTMLParser):
    """A page taken apart, with what is not closed as it should be."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.problems: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        self.problems += [f"{name} is never closed" for name in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.problems.append(f"{tag} is closed where it is not open")

    def handle_data(self, data: str) -> None:
        if not self._open or self._open[-1] != "style":
            self.text += data

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.tags if name == tag]


def many_modes(count: int) -> Table:
    """Return a table with modes of different quality and cost."""
    ranks = {f"mode-{i}": [1 + (i * j) % 7 for j in range(5)] for i in range(count)}
    table = set_table(set_report(dataset("many", 5), ranks))
    times = [{"p50_ms": 1.0 + 3 * i, "p95_ms": 2.0 + 5 * i, "p99_ms": 4.0 + 9 * i} for i in range(count)]
    rows = (
        replace(row, result=replace(row.result, latency=time))
        for row, time in zip(table.rows, times, strict=True)
    )
    return replace(table, rows=tuple(rows))


REPORTS = {
    "small": small_report(),
    "hostile": hostile_report(),
    "single": report(set_report(dataset("x", 2), {"a": [1, 0]})),
    "empty": Report({}, ()),
    "no rows": Report({}, (replace(small_report().sets[0], results=()),)),
}


@pytest.mark.parametrize("whole", REPORTS.values(), ids=REPORTS)
def test_the_page_is_well_formed_and_loads_nothing(whole: Report) -> None:
    text = render_html(whole)
    page = Page(text)
    assert page.problems == []
    assert not {"script", "link", "img", "iframe", "object", "base", "form"} & {name for name, _ in page.tags}
    for name, attributes in page.tags:
        assert not [
            key for key in attributes if key.startswith("on") or key in ("src", "href", "xlink:href")
        ], name
    assert "url(" not in text and "@import" not in text and "http://" not in text and "https://" not in text
    policy = [
        each["content"] for each in page.all("meta") if each.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_others_text_is_shown_and_does_nothing() -> None:
    text = render_html(hostile_report(), title=HOSTILE)
    page = Page(text)
    assert "<script>alert(1)</script>" in page.text
    assert "\x1b" not in text and "\u202e" not in text
    assert len(page.all("title")) == 1 + len([each for each in page.all("svg") if each.get("role") == "img"])


@given(st.text(min_size=1, max_size=40))
def test_no_name_breaks_the_page(name: str) -> None:
    each = set_report(dataset(name, 2, query=name), {"plain": [1, 2], name: [1, 0]}, "plain")
    assert Page(render_html(Report({name: name}, (each,)))).problems == []


def test_drawings_tell_what_they_show() -> None:
    page = Page(render_html(small_report()))
    drawings = page.all("svg")
    told = [each for each in drawings if each.get("aria-hidden") != "true"]
    assert len(told) == 5  # cost, time, and a radar of the means and of each set
    assert all(each["role"] == "img" and "good" in each["aria-label"] for each in told)


def test_every_table_has_a_caption_and_every_head_a_scope() -> None:
    page = Page(render_html(small_report()))
    assert len(page.all("caption")) == len(page.all("table")) == 3 + 1 + 3
    assert all(each.get("scope") in ("col", "row", "colgroup") for each in page.all("th"))


def test_it_says_what_was_found_and_where_it_was_run() -> None:
    text = Page(render_html(small_report())).text
    assert re.search(
        r"good is best on the mean of 2 sets: nDCG@10 \.\d{3} \(\.\d{3}–\.\d{3}\)\. Against plain", text
    )
    for said in ("0123abcd", "small", "x86_64, 2 cores", "dowse eval --dataset", "2025-01-31"):
        assert said in text
    assert "the half for reporting" in text and "nDCG is graded" in text and "MRR is cut at 100" in text
    assert "Worst questions of plain" in text and "src/8.py is asked" in text and "wrong/0.py" in text


def test_the_heat_map_says_in_words_what_it_says_in_colour() -> None:
    text = render_html(small_report())
    assert re.search(
        r'<td class="mean" title="(\+\.\d+, real)"><span class="cell g3 real">\.\d+</span>'
        r'<span class="unseen"> \1</span></td>',
        text,
    )
    missing = report(
        set_report(dataset("a", 2), {"x": [1, 1], "y": [1, 2]}), set_report(dataset("b", 2), {"x": [1, 1]})
    )
    assert "not run" in Page(render_html(missing)).text


def test_shades_grow_with_the_difference_either_way() -> None:
    assert [shade(step) for step in (0.0, *STEPS)] == ["even", "g1", "g2", "g3"]
    assert [shade(-step) for step in (0.0, *STEPS)] == ["even", "l1", "l2", "l3"]
    assert {f".{name}{{" in style_sheet() for name in ("l3", "l2", "l1", "even", "g1", "g2", "g3")} == {True}


def test_names_lose_only_a_folder_that_all_share() -> None:
    assert short_names(["repos/a", "repos/b"]) == ["a", "b"]
    assert short_names(["repos/a", "cosqa"]) == ["repos/a", "cosqa"]
    assert short_names(["a", "b"]) == ["a", "b"] and short_names(["repos/a"]) == ["repos/a"]


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_text_has_contrast_on_every_ground(palette: dict[str, str]) -> None:
    for text in ("ink", "muted", "accent", "gain", "loss"):
        for ground in ("paper", "card"):
            assert contrast(palette[text], palette[ground]) >= 4.5, (text, ground)
    for ground in ("l3", "l2", "l1", "even", "g1", "g2", "g3"):
        assert contrast(palette["ink"], palette[ground]) >= 4.5, ground
    for stroke in ("s0", "s1", "s2", "s3", "s4"):  # lines need 3
        assert contrast(palette[stroke], palette["card"]) >= 3, stroke


def test_every_colour_that_is_used_is_in_both_palettes() -> None:
    used = set(re.findall(r"var\(--(\w+)\)", style_sheet()))
    assert used == set(LIGHT) == set(DARK)


def test_few_modes_share_a_radar_and_many_have_one_each() -> None:
    few, many = radar(many_modes(OVERLAID)), radar(many_modes(OVERLAID + 1))
    assert few.count('role="img"') == 1 and 'class="legend"' in few
    assert many.count('role="img"') == OVERLAID + 1 and "figcaption" in many


def test_radar_corners_are_further_out_for_higher_values() -> None:
    table = set_table(set_report(dataset("x", 2), {"low": [4, 4], "high": [1, 1]}))
    outlines = re.findall(r'd="M160 ([\d.]+)[^"]*" class="outline', radar(table))
    low, high = map(float, outlines)
    assert high < low < 132  # the first corner points up, from the centre at 132


@pytest.mark.parametrize("count", [1, 5, 14])
def test_drawings_are_well_formed_and_inside_their_frame(count: int) -> None:
    table = many_modes(count)
    for drawing in (quality_against_cost(table), latency_bars(table)):
        root = ET.fromstring(drawing)
        width, height = (float(part) for part in root.attrib["viewBox"].split()[2:])
        for each in root.iter():
            for name in ("x", "x1", "x2", "cx"):
                assert 0 <= float(each.attrib.get(name, 0)) <= width
            for name in ("y", "y1", "y2", "cy"):
                assert 0 <= float(each.attrib.get(name, 0)) <= height
        written = " ".join(each.text or "" for each in root.iter("text")) + " "
        assert all(f"mode-{i} " in written for i in range(count))


def test_labels_of_fourteen_points_do_not_hide_each_other() -> None:
    points, _ = _placed(many_modes(14).rows, 340.0)
    boxes = _labels(points, 340.0)
    for i, box in enumerate(boxes):
        assert all(box.overlap(other) == 0 for other in boxes[i + 1 :])


def test_a_few_that_are_far_worse_leave_the_field_to_the_others() -> None:
    ranks = {f"mode-{i}": [1, 1, 1, 1, 1 + i] for i in range(5)} | {"far": [0, 0, 0, 0, 9]}
    table = set_table(set_report(dataset("x", 5), ranks))
    points, _ = _placed(table.rows, 270.0)
    assert [point.below for point in points] == [False] * 5 + [True]
    far = table.rows[-1].value
    assert far is not None and f"far {far:.3f} ↓".replace("0.", ".") in quality_against_cost(table)
    assert not any(point.below for point in _placed(table.rows[-2:], 270.0)[0])


def test_nothing_is_drawn_of_nothing() -> None:
    table = many_modes(2)
    bare = replace(
        table,
        rows=tuple(replace(row, result=replace(row.result, latency={}, metrics={})) for row in table.rows),
    )
    assert quality_against_cost(bare) == latency_bars(bare) == radar(bare) == ""


@given(st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=9))
def test_logarithmic_axes_hold_their_values(values: list[float]) -> None:
    low, high, marks = log_range(values)
    assert 0 < low <= min(values) and max(values) <= high and low < high
    assert marks and all(low <= mark <= high for mark in marks) and len(marks) <= 12
    scale = logarithmic(low, high, 10, 90)
    assert all(10 - 1e-6 <= scale(value) <= 90 + 1e-6 for value in values)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_axes_of_shares_hold_their_values(values: list[float]) -> None:
    low, high, marks = share_range(values)
    assert 0 <= low < high <= 1
    assert low <= min(values) + 1e-9 and max(values) <= high + 1e-9
    assert 2 <= len(marks) <= 9
    assert linear(low, high, 0, 1)(low) == 0


def test_ties_notes_and_both_commits_are_said() -> None:
    each = set_report(dataset("x", 5), {"a": [1] * 5, "b": [1] * 5}, "b")
    facts = replace(each.dataset, notes=["1 of 5 answers is not there"], index={"commit": "feedbeef" * 5})
    page = render_html(report(replace(each, dataset=facts)))
    text = Page(page).text
    assert "b is best: nDCG@10" in text and "a can't be told apart from it (noise)" in text
    assert "Note: 1 of 5 answers is not there." in text and "Note: too few questions to tell (5)" in text
    header = Page(page[page.index("<header>") : page.index("</header>")]).text
    assert "dowse commit" in header and "Searched commit" in header and "feedbeeffeed" in header
    assert '<tr class="best base">' in page


def test_what_only_scores_highest_is_not_called_best() -> None:
    close = {"a": [1, 2, 1, 2, 1, 2, 1, 2], "b": [1, 1, 1, 2, 1, 2, 1, 2]}
    page = render_html(report(set_report(dataset("x", 8), close, "a")))
    text = Page(page).text
    assert "b is highest: " in text and "which may be noise" in text and "is best" not in text
    assert '<tr class="best shared">' in page and '<tr class="base">' in page
    assert "compared with" not in page
