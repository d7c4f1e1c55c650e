"""What is published: tables are what was measured, changes since are told, nothing is typed by hand."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dowse.services.reports import shipped_folder
from eval.git_repo import GitRepo

ROOT = Path(__file__).parents[2]
PROGRAM = ("figures", "measures", "extract", "tables", "common")
# Measures one thing: the sum of the numbers in a file, which is what it depends on.
SUM = """
import json, sys
numbers = [int(line) for line in open("src/numbers")]
about = {"command": "sum", "commit": sys.argv[2], "machine": "m", "date": "d"}
result = {"about": about, "results": {"sum": sum(numbers), "count": len(numbers)}}
json.dump(result, open(sys.argv[1], "w"))
"""
ONE_MEASURE = """
from table_of_measures import Measure
from extract import leaves
STEPS = ("{python} bench/sum.py {out} $COMMIT",)
ENGINE = ("src/",)
MEASURES = (
    Measure("total", "quality", "crumbs", 1, STEPS, leaves("sum", n="count"), ("src/",), quick="quickly"),
    Measure("unmeasured", "speed", "s", 1, ("{python} $NOWHERE/script.py",), leaves(), ("bench/",)),
)
GROUPS = ("quality", "speed")
"""
PAGE = """# Bread

<!-- figures: crumbs -->

| crumbs |

<!-- /figures -->

In a line: <!-- figures: line -->?<!-- /figures -->.
"""
TEMPLATES = """# Templates

## crumbs

| crumbs | {total: sum} | {total: sum as .1f} |

## line

{total: sum} of {unmeasured: anything}
"""
# A share with three digits, or a factor, that somebody has measured.
_MEASURED = re.compile(r"(?<![\w.])(\.\d{3}\b(?!\.)|\d[\d.]* (?:×|times) (?:as|faster|slower))")
# It explains how a score is made on one example, with its numbers.
_EXAMPLES = {"docs/RANKING.md"}


@pytest.fixture
def tree(tmp_path: Path) -> GitRepo:
    """A repository with one page, one file to measure, and the program with one measure of it."""
    repository = GitRepo(tmp_path / "tree")
    for name in PROGRAM:
        target = repository.root / "bench" / f"{'table_of_measures' if name == 'measures' else name}.py"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "bench" / f"{name}.py", target)
    files = {
        "src/numbers": "1200\n34\n",
        "src/dowse/version.py": '__version__ = "1.2.3"\n',
        "bench/measures.py": ONE_MEASURE,
        "bench/sum.py": SUM,
        "bench/tables.md": TEMPLATES,
        "README.md": PAGE,
        "scripts/docs_site/languages_reference.py": "",
        ".gitignore": "build\n__pycache__\n",
    }
    repository.commit("begin", files)
    return repository


def figures(tree: GitRepo, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(tree.root / "bench/figures.py"), *options]
    head = tree.git("rev-parse", "HEAD").strip()
    return subprocess.run(
        command, env={**os.environ, "COMMIT": head}, capture_output=True, text=True, check=False
    )


def test_what_was_measured_is_in_the_tables(tree: GitRepo) -> None:
    before = figures(tree, "--check")
    assert before.returncode == 1 and "missing: total, unmeasured" in before.stdout
    assert "README.md: tables differ" in before.stdout
    done = figures(tree, "--only", "quality")
    assert done.returncode == 0, done.stderr
    figure = json.loads((tree.root / "bench/figures/total.json").read_text())
    assert (figure["values"], figure["n"], figure["unit"]) == ({"sum": 1234}, 2, "crumbs")
    page = (tree.root / "README.md").read_text()
    assert "| crumbs | 1,234 | 1234.0 |" in page and "line -->1,234 of –<!--" in page
    assert figures(tree, "--check").returncode == 0
    (tree.root / "README.md").write_text(page.replace("1,234 |", "1,235 |"))
    assert "README.md: tables differ" in figures(tree, "--check").stdout


def test_a_changed_file_makes_its_figure_stale_and_it_alone_is_measured_again(tree: GitRepo) -> None:
    figures(tree, "--only", "total")
    assert "0 measured" in figures(tree, "--only", "total").stdout
    tree.commit("elsewhere", {"docs/more.md": "More.\n"})
    assert "stale" not in figures(tree, "--check").stdout
    tree.commit("more numbers", {"src/numbers": "5\n"})
    assert "stale: total" in figures(tree, "--check").stdout
    assert figures(tree, "--check", "--fresh").returncode == 1
    assert "1 measured" in figures(tree, "--only", "total").stdout
    assert "| crumbs | 5 |" in (tree.root / "README.md").read_text()


def test_a_figure_stays_if_rankings_are_equal_and_nothing_is_slower(tree: GitRepo, tmp_path: Path) -> None:
    figures(tree, "--only", "total")
    base = tree.git("rev-parse", "HEAD").strip()
    tree.commit("the same numbers", {"src/numbers": "34\n1200\n"})
    head, evidence = tree.git("rev-parse", "HEAD").strip(), [tmp_path / "rankings", tmp_path / "compare"]
    cases = ((["csn 1"], 1.0, head, 1), ([], 1.2, head, 1), ([], 1.0, base, 0), ([], 1.02, head, 0))
    for number, (different, ratio, commit, code) in enumerate(cases):
        results = {"different": different}, {"all": {"median_of_ratios": ratio}}
        for path, each in zip(evidence, results, strict=True):
            path.write_text(json.dumps({"about": {"commit": commit}, "results": each}))
        assert figures(tree, "--confirm", base, *map(str, evidence)).returncode == code
        assert ("stale: total" in figures(tree, "--check").stdout) is (number < 3)
    figure = json.loads((tree.root / "bench/figures/total.json").read_text())
    assert figure["commit"] == base[: len(figure["commit"])] and figure["confirmed"] != figure["commit"]


def test_what_cannot_be_measured_is_told_and_the_rest_goes_on(tree: GitRepo) -> None:
    done = figures(tree)
    assert done.returncode == 1 and "1 measured, not: unmeasured" in done.stdout
    assert "needs $NOWHERE" in done.stdout
    (tree.root / "src/numbers").write_text("7\n")
    refused = figures(tree)
    assert refused.returncode == 2 and "commit your changes first" in refused.stderr


def test_a_quick_run_publishes_nothing(tree: GitRepo) -> None:
    assert figures(tree, "--quick").returncode == 0
    assert not (tree.root / "bench/figures").exists()


def test_a_value_that_is_not_there_is_an_error(tree: GitRepo) -> None:
    figures(tree, "--only", "total")
    (tree.root / "bench/tables.md").write_text(TEMPLATES.replace("total: sum as", "total: product as"))
    assert "bench/figures/total.json has no value 'product'" in figures(tree, "--check").stderr


def test_every_table_of_this_repository_is_what_was_measured() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "bench/figures.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_reports_of_the_page_have_the_same_figures() -> None:
    reports = sorted(shipped_folder().glob("*.json.gz"))
    assert len(reports) >= 4
    for path in reports:
        figure = json.loads((ROOT / "bench/figures" / path.name.replace(".json.gz", ".json")).read_text())
        means = json.loads(gzip.decompress(path.read_bytes()))["means"]
        (ours,) = (row for row in means if row["mode"].removeprefix("mean:") == "auto")
        assert figure["values"]["mean/auto/mrr@100"] == ours["metrics"]["mrr@100"], path.name


@pytest.mark.parametrize(
    "page", ["README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]
)
def test_no_figure_is_typed_by_hand(page: str) -> None:
    if page in _EXAMPLES:
        return
    text = re.sub(r"<!-- figures: .*?<!-- /figures -->", "", (ROOT / page).read_text(), flags=re.DOTALL)
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    assert _MEASURED.findall(text) == []
