"""`dowse eval` as a user runs it: rows, sets, reports, the gate, judging, and errors that help."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import jsonschema
import pytest

from dowse import Index
from dowse.config import cache_folder
from dowse.interfaces.cli.main import main
from eval.small_tree import (
    FILES,
    make_corpus,
    make_history,
    make_tree,
    rows,
    write_questions,
)

from helpers import contents, json_lines, run_dowse, write_tree

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "report.schema.json").read_text())
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run `dowse eval` in this process; returns exit code, output and what was said beside."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: object) -> tuple[int, str, str]:
        words = ["eval", *map(str, arguments)]
        monkeypatch.setattr(sys, "argv", ["dowse", *words])
        capsys.readouterr()
        try:
            code = main(words)
        except SystemExit as stopped:  # argparse
            code = int(stopped.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return command


@pytest.fixture
def report(run: Run) -> Callable[..., dict[str, Any]]:
    """Run an evaluation and return its report, which meets the schema."""

    def evaluated(*arguments: object) -> dict[str, Any]:
        code, out, err = run(*arguments, "--json")
        assert code == 0, err
        found = json.loads(out)
        jsonschema.validate(found, SCHEMA)
        return found

    return evaluated


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small tree, for reading only: its index is made once."""
    return make_tree(tmp_path_factory.mktemp("shared") / "tree")


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The questions about it, for reading only."""
    return write_questions(tmp_path_factory.mktemp("questions") / "cases.jsonl")


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a history, for reading only."""
    return make_history(tmp_path_factory.mktemp("history") / "bakery").root


def modes(found: dict[str, Any], which: int = 0) -> list[str]:
    return [row["mode"] for row in found["sets"][which]["rows"]]


# Rows


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ([], ["auto"]),
        (["--compare"], ["keyword", "graph", "auto"]),
        (["--mode", "keyword, graph,keyword"], ["keyword", "graph"]),
        (["--compare", "--mode", "keyword+expand"], ["keyword", "graph", "auto", "keyword+expand"]),
        (["--mode", "keyword", "--with", "fts5"], ["keyword", "fts5"]),
    ],
)
def test_rows_in_the_order_asked_for(report, tree, cases, flags, expected):
    assert modes(report(tree, "--dataset", cases, *flags)) == expected


# Sets of every kind


def test_a_beir_folder(report, tmp_path):
    folder = make_corpus(tmp_path / "beir")
    found = report("--dataset", folder, "--compare")
    assert [each["dataset"]["name"] for each in found["sets"]] == ["beir", "beir/short"]
    assert modes(found) == ["keyword", "auto"]
    assert [row["mode"] for row in found["means"]] == ["mean:keyword", "mean:auto"]
    one = report("--dataset", folder, "--queries", "queries-short")
    assert [each["dataset"]["name"] for each in one["sets"]] == ["beir/short"]


# The index


def test_the_users_index_is_never_touched(run, tree_copy, cases):
    with Index.open(tree_copy) as index:
        index.update()
        folder = index.backend.folder
    before = contents(folder)
    (tree_copy / "more.py").write_text("def more():\n    return 1\n")
    assert run(tree_copy, "--dataset", cases, "--compare")[0] == 0
    assert contents(folder) == before


def indexed(place: Path, tree: Path) -> set[str]:
    with Index.open(tree, index_dir=str(place)) as index:
        return {file.path for file in index.contents.files()}


def test_answers_in_the_searched_tree_are_never_found(run, tree_copy, tmp_path):
    inside = write_questions(tree_copy / "eval" / "cases.jsonl")
    place = tmp_path / "index"
    flags = ["--dataset", inside, "--index-dir", place, "--index", "--json"]
    found = [run(tree_copy, *flags, "--report", tree_copy / "out" / "r.json") for _ in range(2)]
    assert [code for code, _, _ in found] == [0, 0]
    assert indexed(place, tree_copy) == set(FILES)
    first, second = (json.loads(out)["sets"][0]["rows"][0]["values"] for _, out, _ in found)
    assert first == second


@pytest.mark.large
def test_a_named_index_is_kept_and_refreshed_with_index_alone(report, tree_copy, cases, tmp_path):
    place = [tree_copy, "--dataset", cases, "--index-dir", tmp_path / "i"]
    counts = [report(*place)["sets"][0]["dataset"]["index"]["files"]]
    (tree_copy / "more.py").write_text("def more():\n    return 1\n")
    counts.append(report(*place)["sets"][0]["dataset"]["index"]["files"])
    counts.append(report(*place, "--index")["sets"][0]["dataset"]["index"]["files"])
    assert counts == [4, 4, 5]


# Mining


def test_build_into_a_file_then_ask(run, report, history, tmp_path):
    place = tmp_path / "mined.jsonl"
    code, out, err = run(history, "--build", "--dataset", place, "--level", "symbol")
    assert (code, out) == (0, "")
    assert "mining questions from the history" in err and f"questions written to {place}" in err
    found = report(history, "--dataset", place, "--level", "symbol")["sets"][0]
    lines = [json.loads(line) for line in place.read_text().splitlines()]
    assert {line["source"] for line in lines} == {"git"}
    assert [line["id"] for line in lines] == found["ids"] and len(lines) >= 3
    assert run(history, "--build", "--dataset", place)[0] == 0, "mined questions may be mined again"


def test_without_a_dataset_the_history_is_asked_and_kept(run, history, monkeypatch, tmp_path):
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))  # other tests mine such histories, too
    monkeypatch.chdir(history)
    code, out, err = run("--worst", 0)
    assert code == 0 and out.startswith("bakery/git: ") and "questions written to" in err
    again = run("--worst", 0)
    assert again[0] == 0 and "mined before" in again[2] and "`--build`" in again[2]
    assert run("--build")[0] == 0
    kept = list((cache_folder() / "eval" / "mined").glob("bakery-git-file-*.jsonl"))
    assert len(kept) == 1 and not list(history.glob("*.jsonl"))


# Manifests


@pytest.fixture
def manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two repositories with histories, without questions yet."""
    for name in ("one", "two"):
        make_history(tmp_path / "repos" / name)
    monkeypatch.setenv("MY_REPOS", str(tmp_path / "repos"))
    entries = [
        {"name": "one", "watched_dir": "repos/one", "store_dir": "store/one", "dataset": "cases/one.jsonl"},
        {"name": "two", "watched_dir": "$MY_REPOS/two", "dataset": "cases/two.jsonl", "level": "symbol"},
    ]
    place = tmp_path / "manifest.json"
    place.write_text(json.dumps(entries))
    return place


def test_a_manifest_is_built_indexed_and_averaged(run, report, manifest, tmp_path):
    code, _, err = run("--manifest", manifest)
    assert code == 2 and "one.jsonl does not exist" in err
    found = report("--manifest", manifest, "--build", "--index", "--compare")
    assert [each["dataset"]["name"] for each in found["sets"]] == ["one", "two"]
    assert [each["dataset"]["level"] for each in found["sets"]] == ["file", "symbol"]
    for mean in found["means"]:
        name = mean["mode"].removeprefix("mean:")
        tables = [row for each in found["sets"] for row in each["rows"] if row["mode"] == name]
        for metric, value in mean["metrics"].items():
            assert value == pytest.approx(fmean(row["metrics"][metric] for row in tables), abs=2e-6)
    assert indexed(tmp_path / "store" / "one", tmp_path / "repos" / "one") == set(FILES)
    mined = (tmp_path / "cases" / "one.jsonl").read_bytes()
    (tmp_path / "repos" / "one" / "more.py").write_text("def more():\n    return 1\n")
    counts = [
        [each["dataset"]["index"]["files"] for each in report("--manifest", manifest, *flags)["sets"]]
        for flags in ((), ("--index", "--build"))
    ]
    assert counts == [[4, 4], [5, 4]]
    assert (tmp_path / "cases" / "one.jsonl").read_bytes() == mined, "what is there is not mined again"


# Reports


def test_the_table_for_people(run, tree, cases):
    code, out, err = run(tree, "--dataset", cases, "--compare", "--worst", 2, "-q")
    assert (code, err.count("\n")) == (0, 1)
    assert out.startswith("cases: 8 questions, all questions, file level\n")
    for needed in ("= auto", "keyword", "against =", "MRR", "nDCG@10", "recall", "ms", "p95"):
        assert needed in out
    for named in (
        "dowse commit: ",
        "Encoder: none",
        "Index settings: view symbol",
        "Machine: ",
        "Command: dowse eval",
    ):
        assert named in out
    assert all(len(line) <= 100 for line in out.splitlines())
    assert "\x1b[" not in out
    assert "\x1b[" in run(tree, "--dataset", cases, "--color", "always")[1]


def test_a_saved_report_is_rendered_again(run, tree, cases, tmp_path):
    _, before, _ = run(tree, "--dataset", cases, "--compare", "--report", "r.json", "--worst", 0)
    code, after, _ = run("report", "r.json", "--worst", 0)
    assert (code, after) == (0, before)
    _, before, _ = run(tree, "--dataset", cases, "--compare", "--report", "r.json")
    assert run("report", "r.json")[1] == before
    code, out, _ = run("report", "r.json", "--json")
    assert code == 0 and json.loads(out) == json.loads((tmp_path / "r.json").read_text())


def test_machine_paths_stay_out_of_the_command(report, tree, cases):
    told = report(tree, "--dataset", cases, f"--exclude={tree}/x", "--mode", "keyword")["about"]["command"]
    assert told == "dowse eval …/tree --dataset …/cases.jsonl --exclude=…/x --mode keyword --json"


# The gate


@pytest.fixture
def saved(run: Run, tree: Path, cases: Path, tmp_path: Path) -> Path:
    """A report in which keyword is clearly better than graph."""
    assert run(tree, "--dataset", cases, "--mode", "keyword,graph", "--report", "both.json")[0] == 0
    return tmp_path / "both.json"


def test_the_gate_decides_from_a_report(run, saved):
    code, out, _ = run("gate", "--candidate", "keyword", "--baseline", "graph", "--report", saved)
    assert code == 0 and out.startswith("gate PASSED: keyword against graph")
    code, out, _ = run("gate", "--candidate", "graph", "--baseline", "keyword", "--report", saved)
    assert code == 1 and out.startswith("gate FAILED")
    code, out, err = run("gate", "--candidate", "graph", "--baseline", "nothing", "--report", saved)
    assert (code, out) == (2, "") and "its rows are: keyword, graph" in err


def test_the_gate_runs_only_what_it_lacks(run, tree, cases, saved):
    assert run(tree, "--dataset", cases, "--with", "fts5", "--mode", "graph", "--report", "f.json")[0] == 0
    place = ["--dataset", cases, "--path", tree]
    # Nobody can run a row called fts5 here; it stands in the file.
    code, out, err = run("gate", "--candidate", "keyword", "--baseline", "f.json:fts5", *place)
    assert code in (0, 1) and "against fts5" in out, err


# Mistakes


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (["--dataset", "missing.jsonl"], "does not exist; name a file of cases"),
        (["--dataset", "empty.jsonl"], "holds no questions"),
        (["--dataset", "broken.jsonl"], "broken.jsonl:2: not valid JSON"),
        (["--dataset", "cases.jsonl", "--queries", "x"], "leave that choice out"),
        (["--dataset", "cases.jsonl", "nowhere"], "check the path"),
        (["--dataset", "one.jsonl", "--half", "report"], "--half all"),
        (["--dataset", "cases.jsonl", "--mode", "nonsense"], "write one of auto, keyword"),
        (["--dataset", "cases.jsonl", "--mode", "embedding"], "--encoder"),
        (
            ["--dataset", "cases.jsonl", "--mode", "auto+rerank", "--reranker", "nowhere"],
            "a folder with an ONNX file",
        ),
        (["--dataset", "cases.jsonl", "--encoder", "nothing"], "shipped are base, small"),
        (["--dataset", "cases.jsonl", "--with", "grep"], "there are ripgrep and fts5"),
        (["--dataset", "cases.jsonl", "--against", "rrf"], "is no row of these: auto"),
        (["--dataset", "cases.jsonl", "--ks", "0"], "numbers such as 1,5,10"),
        (["--dataset", "cases.jsonl", "--ks", "a,b"], "numbers such as 1,5,10"),
        (["--dataset", "cases.jsonl", "--ks", ""], "numbers such as 1,5,10"),
        (["--dataset", "cases.jsonl", "--depth", "0"], "no number from 1 on"),
        (["--dataset", "cases.jsonl", "--worst", "-1"], "no number from 0 on"),
        (["--dataset", "cases.jsonl", "--report", "folder"], "is a folder; name a file in it"),
        (["--dataset", "cases.jsonl", "--report", "cases.jsonl/x.json"], "name another file"),
        (["--dataset", "cases.jsonl", "--level", "line"], "--help"),
        (["--unknown"], "--help"),
        (["folder"], "mined from documentation instead: `dowse eval --from docs`"),
        (["gates"], "did you mean the step `dowse eval gate`; see"),
        (["--dataset", "list.jsonl"], "holds no questions"),
        (["folder", "--from", "docs"], "write cases by hand"),
        (["nowhere"], "name a git repository"),
        (["--max-cases", "-3"], "no number from 0 on"),
        (["--build", "--dataset", "x.jsonl", "folder", "--since", "soon"], "mined from documentation"),
        (["--manifest", "missing.json"], "check the path"),
        (["--manifest", "empty.jsonl"], "not valid JSON"),
        (["--manifest", "no_dir.json", "--build"], "needs a watched_dir"),
        (["gate", "--candidate", "auto", "--baseline", "keyword"], "--report FILE, --manifest FILE"),
        (["gate", "--candidate", "auto"], "--help"),
        (["gate", "--candidate", "a", "--baseline", "b", "--report", "missing.json"], "check the path"),
        (["gate", "--candidate", "a", "--baseline", "b", "--report", "cases.jsonl"], "--report FILE"),
        (["gate", "--candidate", "no.json:a", "--baseline", "b"], "check the path"),
        (["gate", "--candidate", "a", "--baseline", "b", "--dataset", "cases.jsonl"], "write one of auto"),
        (["report"], "--help"),
        (["report", "missing.json"], "check the path"),
        (["report", "empty.jsonl"], "--report FILE"),
        (["report", "list.json"], "--report FILE"),
    ],
)
def test_mistakes_are_one_line_that_names_the_remedy(run, tmp_path, words, remedy):
    make_tree(tmp_path)
    write_questions(tmp_path / "cases.jsonl")
    json_lines(tmp_path / "one.jsonl", [{**rows()[0], "id": "1"}])  # in the half for choosing
    no_dir = [{"name": "a", "dataset": "unmined.jsonl"}]
    more = {
        "empty.jsonl": "",
        "broken.jsonl": json.dumps(rows()[0]) + '\n{"query": "x", relevant\n',
        "list.json": "[1]",
        "list.jsonl": json.dumps(rows()),
    }
    write_tree(tmp_path, {**more, "no_dir.json": json.dumps(no_dir), "folder/notes.txt": "nothing here\n"})
    code, out, err = run(*words)
    assert (code, out) == (2, ""), err
    *before, last = err.splitlines()
    assert remedy in last and last.startswith("dowse: ")
    # The usage precedes what the parser refuses.
    assert all(line.startswith(("dowse: mining", "dowse: indexing", "usage: dowse eval")) for line in before)
    assert sum(line.startswith("usage: ") for line in before) <= 1


# Beside the results


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ([], ["--compare", "--manifest", "steps (each has --help)", "dowse eval gate"]),
        (["gate"], ["--candidate", "--within-noise"]),
        (["report"], ["--worst", "FILE"]),
    ],
)
def test_help(run, step, told):
    code, out, err = run(*step, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: {' '.join(['dowse eval', *step])} [OPTION ...]")
    assert all(word in out for word in told)


def on_a_terminal(*arguments: object, cwd: Path) -> str:
    """Run the command with its standard error on a terminal; return what is shown there."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "dowse.interfaces.cli.main", "eval", *map(str, arguments)]
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 65_536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not part:
                break
            shown += part
        assert process.wait(60) == 0, shown
    os.close(ours)
    return shown.decode()


@pytest.mark.large
def test_progress_is_shown_on_a_terminal_alone(tree, tree_copy, cases):
    shown = on_a_terminal(tree_copy, "--dataset", cases, cwd=tree)
    assert "indexing" in shown and "asking" in shown and "8/8 questions, auto" in shown
    assert shown.endswith("\r\x1b[K"), "nothing of it stays"
    assert on_a_terminal(tree, "--dataset", cases, "--quiet", cwd=tree) == ""
    done = run_dowse("eval", tree, "--dataset", cases)
    assert done.returncode == 0 and "\r" not in done.stderr and "asking" not in done.stderr


def test_interrupted(history, tmp_path):
    # A git that says that it is there, and then waits for something that never comes.
    (tmp_path / "bin").mkdir()
    for name in ("there", "never"):
        os.mkfifo(tmp_path / name)
    git = tmp_path / "bin" / "git"
    git.write_text(f"#!/bin/sh\necho > '{tmp_path}/there'\nexec cat '{tmp_path}/never'\n")
    git.chmod(0o755)
    command = [sys.executable, "-m", "dowse.interfaces.cli.main", "eval", str(history), "--build"]
    command += ["--dataset", str(tmp_path / "m.jsonl")]
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env={**os.environ, "PATH": path}, **pipes) as process:
        assert (tmp_path / "there").read_text() == "\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[1:] == ["dowse: interrupted; what was finished before is kept"]
