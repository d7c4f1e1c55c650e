"""Budgets from the command line to the report: rows, ripgrep's readers, every form, and what is refused."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from dowse import Index
from dowse.eval.gate import gate
from dowse.eval.reports.budget_table import mean_budget, set_budget
from dowse.eval.reports.html import render_html
from dowse.eval.reports.json_form import from_json, to_json
from dowse.eval.reports.markdown import render_markdown
from dowse.eval.reports.model import Report, SetReport
from dowse.eval.reports.saved import read_report
from dowse.eval.reports.tables import set_table
from dowse.eval.reports.text import WIDTH, render_text
from dowse.eval.systems.ripgrep import AROUND, WHOLE, WINDOW, ripgrep, ripgrep_reading
from dowse.interfaces.cli.main import main
from eval.report_samples import small_report
from eval.small_tree import make_corpus, make_suite, make_tree, write_questions

from helpers import write_tree

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "report.schema.json").read_text())
HAS_RG = shutil.which("rg") is not None or os.environ.get("DOWSE_REQUIRE_TOOLS") == "1"
needs_rg = pytest.mark.skipif(not HAS_RG, reason="ripgrep (rg) is not installed")
BUDGETS = (20, 60, 200, 5000)
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run `dowse eval` in this process; returns exit code, output and what was said beside."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: object) -> tuple[int, str, str]:
        words = ["eval", *map(str, arguments)]
        monkeypatch.setattr(sys, "argv", ["dowse", *words])
        capsys.readouterr()
        code = main(words)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return command


@pytest.fixture
def asked(run: Run, tmp_path: Path) -> Callable[..., Report]:
    """Ask the small tree with budgets, and return the report as it is saved."""
    tree, questions = make_tree(tmp_path / "tree"), write_questions(tmp_path / "cases.jsonl")

    def evaluated(*more: object) -> Report:
        budgets = ",".join(map(str, BUDGETS))
        given = (tree, "--dataset", questions, "--encoder", "none", "--budget", budgets)
        code, _, err = run(*given, "--report", tmp_path / "r.json", *more)
        assert code == 0, err
        Draft202012Validator(SCHEMA).validate(json.loads((tmp_path / "r.json").read_text()))
        return read_report(str(tmp_path / "r.json"))

    return evaluated


def shares(each: SetReport, mode: str, kind: str = "read") -> list[float]:
    row = each.row(mode)
    assert row is not None
    return [row.metrics[f"{kind}@{budget}"] for budget in BUDGETS]


@needs_rg
@pytest.mark.parametrize("level", ["file", "symbol"])
def test_rows_and_their_shares(asked: Callable[..., Report], level: str) -> None:
    (each,) = asked("--level", level).sets
    assert [row.mode for row in each.results] == ["auto", "keyword", WHOLE, WINDOW]
    for row in each.results:
        for kind in ("read", "read_lines"):
            found = shares(each, row.mode, kind)
            assert found == sorted(found) and found[0] >= 0 and found[-1] <= 1
            for case in row.cases:
                values = [case.values[f"{kind}@{budget}"] for budget in BUDGETS]
                assert values == sorted(values) and values[0] >= 0 and values[-1] <= 1
    assert min(shares(each, row.mode)[-1] for row in each.results) > 0.5, "5,000 tokens hold the whole tree"
    assert max(shares(each, row.mode)[0] for row in each.results) < 0.5, "20 tokens hold hardly a function"


@needs_rg
def test_functions_are_read_sooner_than_files_with_them(asked: Callable[..., Report]) -> None:
    (each,) = asked("--level", "symbol").sets
    assert shares(each, "auto")[1] > shares(each, WHOLE)[1]
    assert shares(each, "auto", "read_lines")[1] > shares(each, WHOLE, "read_lines")[1]


@needs_rg
def test_readers_have_no_places_and_stand_in_no_table_of_places(asked: Callable[..., Report]) -> None:
    (each,) = asked().sets
    reader = each.row(WHOLE)
    assert (
        reader is not None and each.metric not in reader.metrics and len(reader.metrics) == 2 * len(BUDGETS)
    )
    assert [row.mode for row in set_table(each).rows] == ["auto", "keyword"]
    table = set_budget(each)
    assert table is not None and [row.mode for row in table.rows] == ["auto", "keyword", WHOLE, WINDOW]


@needs_rg
def test_the_same_run_gives_the_same_figures(asked: Callable[..., Report]) -> None:
    once, again = asked().sets[0], asked().sets[0]
    assert [row.metrics for row in once.results] == [row.metrics for row in again.results]
    assert [row.intervals for row in once.results] == [row.intervals for row in again.results]


@needs_rg
def test_places_of_results_are_the_same_with_and_without_budgets(run: Run, tmp_path: Path) -> None:
    tree, questions = make_tree(tmp_path / "tree"), write_questions(tmp_path / "cases.jsonl")
    found = []
    for more in ((), ("--budget", "100")):
        code, out, err = run(
            *(tree, "--dataset", questions, "--encoder", "none", "--mode", "auto", "--json", *more)
        )
        assert code == 0, err
        row = json.loads(out)["sets"][0]["rows"][0]
        found.append({name: value for name, value in row["metrics"].items() if not name.startswith("read")})
    assert found[0] == found[1]


@needs_rg
def test_rows_that_are_named_take_the_place_of_the_usual(asked: Callable[..., Report]) -> None:
    each = asked("--mode", "keyword", "--with", "fts5,ripgrep").sets[0]
    assert [row.mode for row in each.results] == ["keyword", "fts5", "ripgrep", WHOLE, WINDOW]
    assert shares(each, "fts5")[-1] > 0.5


@needs_rg
def test_every_form_tells_it(asked: Callable[..., Report], tmp_path: Path) -> None:
    report = asked("--html", tmp_path / "r.html")
    text, markdown = render_text(report), render_markdown(report)
    assert re.search(r"files read +20 +60 +200 +5,000\n +auto +\S+ +\S+ +\S+ +\S+\n", text)
    assert "auto against rg+read: " in text.replace("\n  ", " ") and max(map(len, text.splitlines())) <= WIDTH
    assert "| files read | 20 | 60 | 200 | 5,000 |" in markdown and "| rg+window | " in markdown
    page = render_html(report)
    assert page == (tmp_path / "r.html").read_text(), "a saved report draws the same page"
    assert '"read@5000": ' in page and '"read_lines@20": ' in page and '"rg+window"' in page


@needs_rg
def test_several_sets_have_a_curve_of_means(run: Run, tmp_path: Path) -> None:
    suite = make_suite(tmp_path / "suite", tmp_path / "checkouts")
    given = (
        "--dataset",
        suite,
        "--checkouts",
        tmp_path / "checkouts",
        "--encoder",
        "none",
        "--budget",
        "50,500",
    )
    code, out, err = run(*given, "--report", tmp_path / "r.json", "--html", tmp_path / "r.html")
    assert code == 0, err
    assert out.count("relevant files that an agent has read") == 3
    report = read_report(str(tmp_path / "r.json"))
    table = mean_budget(report)
    assert table is not None and table.budgets == (50, 500)
    both = [each.row(WHOLE) for each in report.sets]
    mean = next(row for row in table.rows if row.mode == WHOLE)
    assert mean.metrics["read@500"] == pytest.approx(sum(row.metrics["read@500"] for row in both if row) / 2)
    assert '"mean:rg+read"' in (tmp_path / "r.html").read_text()


@needs_rg
def test_rows_can_be_compared_by_it(asked: Callable[..., Report]) -> None:
    verdict = gate(asked("--level", "symbol"), "auto", WHOLE, metric="read@200")
    assert verdict.passed and {row.metric for row in verdict.rows} == {"read@200"}


@needs_rg
def test_an_index_of_a_corpus(run: Run, tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus")
    code, out, err = run(
        *("--dataset", corpus, "--queries", "queries", "--encoder", "none", "--budget", "5,1000", "--json")
    )
    assert code == 0, err
    rows = {row["mode"]: row["metrics"] for row in json.loads(out)["sets"][0]["rows"]}
    assert rows["auto"]["read@5"] == 0.0 and rows["auto"]["read@1000"] == 1.0
    assert rows[WHOLE]["read@1000"] == rows[WINDOW]["read@1000"] > 0


@pytest.mark.parametrize("text", ["0", "many", "500,", "-1"])
def test_bad_budgets_are_refused_before_anything_is_run(run: Run, tmp_path: Path, text: str) -> None:
    tree, questions = make_tree(tmp_path / "tree"), write_questions(tmp_path / "cases.jsonl")
    code, out, err = run(tree, "--dataset", questions, f"--budget={text}")
    assert code == 2 and not out and "--budget is a list of tokens" in err


def test_without_ripgrep_that_is_said_before_anything_is_run(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, questions = make_tree(tmp_path / "tree"), write_questions(tmp_path / "cases.jsonl")
    monkeypatch.setenv("PATH", str(tmp_path))
    code, _, err = run(tree, "--dataset", questions, "--budget", "500")
    assert code == 2 and "ripgrep (rg) is not installed; install it" in err


def test_reports_without_budgets_say_nothing_of_them() -> None:
    report = small_report()
    assert mean_budget(report) is None and set_budget(report.sets[0]) is None
    for form in (render_text, render_markdown):
        assert "tokens" not in form(report)
    assert render_html(from_json(to_json(report))) == render_html(report)


LONG = [f"line_{number} = {number}" for number in range(1, 101)]


@pytest.fixture(scope="module")
def long_index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """A file with matches far apart and one with fewer."""
    folder = tmp_path_factory.mktemp("long")
    far = list(LONG)
    far[2], far[49], far[52], far[97] = "oven = 1", "oven = bread", "bread = 1", "bread = 2"
    near = ["first = 1", "oven = 2", "last = 3"]
    files = {"far.py": "\n".join(far) + "\n", "near.py": "\n".join(near) + "\n", "none.py": "x = 1\n"}
    settings = {"index_dir": str(folder / "i"), "encoder": "none", "refresh": "never"}
    with Index.open(write_tree(folder / "tree", files), **settings) as made:
        made.update()
        yield made


@needs_rg
def test_whole_files_come_in_the_order_of_ripgrep(long_index: Index) -> None:
    read = ripgrep_reading(long_index, WHOLE)("bread oven", 10)
    assert [each.path for each in read] == [each.path for each in ripgrep(long_index)("bread oven", 10)]
    assert [(each.path, each.start_line) for each in read] == [("far.py", 0), ("near.py", 0)]


@needs_rg
def test_windows_begin_with_the_best_of_every_file(long_index: Index) -> None:
    windows = ripgrep_reading(long_index, WINDOW)("bread oven", 10)
    assert [(each.path, each.start_line, each.end_line) for each in windows] == [
        ("far.py", 50 - AROUND, 53 + AROUND),
        ("near.py", 1, 2 + AROUND),
        ("far.py", 1, 3 + AROUND),
        ("far.py", 98 - AROUND, 98 + AROUND),
    ]
    assert ripgrep_reading(long_index, WINDOW)("bread oven", 2) == windows[:2]


@needs_rg
@pytest.mark.parametrize("name", [WHOLE, WINDOW])
def test_what_ripgrep_does_not_find_is_not_read(long_index: Index, name: str) -> None:
    assert ripgrep_reading(long_index, name)("submarine", 10) == []
