"""Every benchmark runs in its smallest size on data made here; those that take long are large."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from eval.small_tree import FILES, make_corpus, make_history, make_suite, write_questions

from helpers import large_from, need, write_tree

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "bench"
# Modules that others import; all other files of the folder are commands.
HELPERS = {
    "common",
    "extract",
    "forked",
    "fuzz_texts",
    "measures",
    "peers_workers",
    "processes",
    "quality",
    "serving",
    "tables",
}
SCRIPTS = sorted(path.stem for path in BENCH.glob("*.py") if path.stem not in HELPERS)
PARSE = """def parse(text):
    if not text:
        raise ValueError("nothing to parse but an empty text")
    return text
"""
BODY = " ".join(f"word{number}" for number in range(60))
# The smallest run of each script, in the folder that `place` makes; several are run one after another.
SMALL = {
    "confidence": [],
    "agent": [["--manifest", "suite.json", "--only", "one", "--out", "agent.json"]],
    "cluster_curve": [],
    "cluster_kill": [],
    "compare": [],
    "encode_speed": [["--data", "data", "--functions", "3"]],
    "errno": [],
    "exact_speed": [["--tree", "tree", "--runs", "1"]],
    "figures": [],
    "first_search": [],
    "fuzz_queries": [["--count", "40", "--processes", "1"]],
    "fuzz_requests": [],
    "graph_oracle": [["measure", "tree", "oracle.jsonl.gz", "--language", "python", "--work", "w"]],
    "hybrid_speed": [],
    "index_speed": [],
    "keyword_speed": [["--corpus", "functions.jsonl", "--work", "w"]],
    "kills": [],
    "load_mixed": [],
    "long_questions": [
        ["mine", "checkouts/bakery", "--out", "long.jsonl"],
        [
            "ask",
            "long.jsonl",
            "--checkouts",
            "checkouts",
            "--work",
            "w",
            "--encoder",
            "none",
            "--out",
            "a.json",
        ],
        ["compare", "a.json", "a.json"],
    ],
    "memory": [["--tree", "tree", "--processes", "1"]],
    "million": [],
    "questions": [
        ["questions.jsonl", "--checkouts", "checkouts", "--encoder", "small", "--out", "questions.json"]
    ],
    "messages": [["checkouts/bakery", "--each", "1", "--work", "w", "--out", "m.json"]],
    "names": [],
    "peers": [
        ["run", "--tools", "tools", "--rounds", "1", "checkouts/bakery", "--out", "p.json"],
        ["table", "p.json"],
    ],
    "power_cut": [],
    "races": [],
    "rankings": [],
    "slow_patterns": [],
    "startup": [],
    "warm_speed": [],
}
# What takes seconds of CPU, mostly because it loads a model or starts many processes.
LARGE = {
    "confidence": [
        [
            "report",
            "--data",
            "data",
            "--repos",
            "checkouts",
            "--encoder",
            "small",
            "--only",
            "cosqa kept",
            "--work",
            "w",
        ]
    ],
    "compare": [
        ["--before", str(ROOT), "--after", str(ROOT), "--tree", "tree", "--rounds", "1", "--out", "c.json"]
    ],
    "first_search": [
        ["quality", "manifest.json", "--counts", "0", "25"],
        ["time", "checkouts/bakery", "--runs", "1"],
    ],
    "fuzz_requests": [["--count", "30", "--clients", "2"]],
    "errno": [["--runs", "3", "--writers", "feedback"]],
    "index_speed": [["--tree", "tree", "--runs", "1", "--processes", "1"]],
    "kills": [["--kills", "5", "--writers", "index"]],
    "load_mixed": [
        ["--tree", "tree", "--clients", "2", "--seconds", "3", "--slow-heads", "2", "--encoder", "none"]
    ],
    "million": [["--corpus", "functions.jsonl", "--work", "w", "--sizes", "3", "--encoder", "small"]],
    "power_cut": [["--draws", "1", "--mended", "0", "--writers", "index"]],
    "races": [["--seconds", "2"]],
    "rankings": [
        ["dump", "r.gz", "--data", "data", "--checkouts", "checkouts"],
        ["compare", "r.gz", "r.gz", "--out", "rankings.json"],
    ],
    "slow_patterns": [["--count", "2", "--megabytes", "1", "--seconds", "1"]],
    "startup": [["--tree", "tree", "--runs", "1"]],
    "warm_speed": [["checkouts/bakery", "--rounds", "1", "--encoder", "none"]],
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with sets, checkouts, a corpus, a manifest and an oracle, each as small as it can be."""
    write_tree(tmp_path / "tree", FILES)
    (tmp_path / "tools").mkdir()
    for name in ("csn-python", "cosqa", "csn-challenge-python"):
        folder = make_corpus(tmp_path / "data" / name)
        text = (folder / "queries.jsonl").read_bytes()
        (folder / "queries.jsonl.gz").write_bytes(gzip.compress(text))
        (folder / "queries-summary.jsonl").write_bytes(text)
        (folder / "queries.jsonl").unlink()
    make_suite(tmp_path / "data" / "repos", tmp_path / "checkouts")
    bakery = make_history(tmp_path / "checkouts" / "bakery")
    oven = FILES["shop/oven.py"].replace("50", "70")
    bakery.commit(f"Ovens are cold below seventy degrees\n\n{BODY}", {"shop/oven.py": oven})
    bakery.commit("Parse text", {"shop/parse.py": PARSE})
    rows = [
        {
            "name": name,
            "code": f"def {name}(a):\n    return a\n",
            "doc": f"Do {name} with it.",
            "language": "python",
        }
        for name in ("bake", "knead", "slice")
    ]
    (tmp_path / "functions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    write_questions(tmp_path / "cases.jsonl")
    question = {
        "repo": "owner/bakery",
        "kind": "name",
        "question": "parse",
        "answers": [{"path": "shop/parse.py", "start": 1, "end": 4}],
    }
    (tmp_path / "questions.jsonl").write_text(json.dumps(question) + "\n")
    entry = {"name": "bakery", "watched_dir": "checkouts/bakery", "dataset": "cases.jsonl", "level": "symbol"}
    (tmp_path / "manifest.json").write_text(json.dumps([entry]))
    suite = {"name": "repos", "dataset": "data/repos", "checkouts": "checkouts"}
    (tmp_path / "suite.json").write_text(json.dumps([suite]))
    with gzip.open(tmp_path / "oracle.jsonl.gz", "wt") as lines:
        site = {"path": "shop/orders.py", "line": 1, "column": 0, "caller": "", "targets": []}
        lines.write(json.dumps(site) + "\n")
    return tmp_path


def run(script: str, arguments: list[str], folder: Path, **settings: str) -> None:
    """Run a script in a folder, with all that it keeps below it."""
    kept = {name: str(folder / name) for name in ("DOWSE_CACHE_DIR", "DOWSE_DATA_DIR")}
    environment = {**os.environ, **kept, **settings, "TMPDIR": str(folder)}
    command = [sys.executable, str(BENCH / f"{script}.py"), *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]


def test_the_folder_is_as_the_tables_say() -> None:
    assert set(SMALL) == set(SCRIPTS)
    assert len(SCRIPTS) + len(HELPERS) <= 41


@pytest.mark.parametrize("script", large_from(2, [name for name, runs in SMALL.items() if runs]))
def test_a_small_run(script: str, place: Path) -> None:
    if script in ("agent", "exact_speed"):
        need("rg")
    for arguments in SMALL[script]:
        run(script, arguments, place)


@pytest.mark.parametrize("script", [name for name, runs in SMALL.items() if not runs])
def test_what_a_script_is_for(script: str, tmp_path: Path) -> None:
    run(script, ["--help"], tmp_path)


@pytest.mark.large
@pytest.mark.parametrize("script", sorted(LARGE))
def test_a_longer_run(script: str, place: Path) -> None:
    if script in ("errno", "power_cut") and shutil.which("strace") is None:
        pytest.skip("strace is missing")
    settings = {"DOWSE_ENCODER": "base" if script == "first_search" else "small"}  # one has a table
    if script == "warm_speed":  # it ends the process that it measures
        settings["DOWSE_RESIDENT_MINUTES"] = "1"
    for arguments in LARGE[script]:
        run(script, arguments, place, **settings)
