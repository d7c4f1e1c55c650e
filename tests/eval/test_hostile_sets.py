"""Sets that anybody may have written: one line that names the file, never a traceback or a full memory."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dowse.errors import EvalError
from dowse.eval.datasets import lines, load_datasets
from dowse.eval.judge import read_queries, read_sheet
from dowse.eval.manifest import read_manifest
from dowse.source import corpus

CASE = b'{"query": "open the door", "relevant_files": ["a.py"]}\n'
BLOCK = 1_000_000


def packed(path: Path, block: bytes, count: int, first: bytes = CASE) -> Path:
    """Write a small file that unpacks to something large."""
    with gzip.open(path, "wb", 1) as file:
        file.write(first)
        for _ in range(count):
            file.write(block)
    return path


def refuse(read: Callable[[], object], reason: str) -> None:
    with pytest.raises(EvalError, match=reason) as caught:
        read()
    assert "\n" not in str(caught.value)


def beir(folder: Path) -> Path:
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text('{"_id": "d0", "text": "def f(): pass"}\n')
    (folder / "queries.jsonl").write_text('{"_id": "q0", "text": "a question"}\n')
    (folder / "qrels/test.tsv").write_text("q0\td0\t1\n")
    return folder


def suite(folder: Path, *repos: object) -> Path:
    (folder / "cases").mkdir(parents=True)
    (folder / "repos.json").write_text(json.dumps(repos))
    (folder / "cases/one.jsonl").write_bytes(CASE)
    return folder


def test_an_endless_line_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "bomb.jsonl.gz", b"a" * BLOCK, 20)
    refuse(lambda: load_datasets(path), r"bomb\.jsonl\.gz:2: too long")


def test_an_endless_line_of_a_packed_table_is_refused(tmp_path: Path) -> None:
    folder = beir(tmp_path / "set")
    (folder / "qrels/test.tsv").unlink()
    packed(folder / "qrels/test.tsv.gz", b"a" * BLOCK, 20, b"")
    refuse(lambda: load_datasets(folder), "too long")


def test_what_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(tmp_path / "bomb.jsonl.gz", (b"#" * 99_999 + b"\n") * 10, 20)
    assert load_datasets(path)  # a small file may unpack to what it likes
    monkeypatch.setattr(corpus, "_FREE_BYTES", BLOCK)
    monkeypatch.setattr(corpus, "_MAX_RATIO", 10)
    refuse(lambda: load_datasets(path), "too long: from here on")


@pytest.mark.parametrize("limit", ["MAX_LINES", "MAX_BYTES", "MAX_VALUES"])
def test_more_than_any_real_set_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(CASE * 100)
    assert len(load_datasets(path)[0].cases) == 100
    monkeypatch.setattr(lines, limit, 50)
    refuse(lambda: load_datasets(path), "too large|too many")


def test_many_values_on_one_line_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(CASE + b'{"query": [' + b"[]," * 5_000_000 + b"[]]}\n")
    refuse(lambda: load_datasets(path), "too many values")
    path.write_bytes(b'{"query": [' + b"[]," * 1_000_000 + b"[]]}\n")
    refuse(lambda: read_queries(path), "too many values")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="FIFOs are POSIX")
@pytest.mark.parametrize("name", ["queries.jsonl", "qrels/test.tsv"])
@pytest.mark.parametrize("kind", ["fifo", "link", "device"])
def test_only_regular_files_of_a_folder_are_read(tmp_path: Path, name: str, kind: str) -> None:
    folder = beir(tmp_path / "set")
    (folder / name).rename(tmp_path / "real")
    if kind == "fifo":
        os.mkfifo(folder / name)
    else:
        (folder / name).symlink_to(tmp_path / "real" if kind == "link" else "/dev/zero")
    refuse(lambda: load_datasets(folder), "not a regular file")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="FIFOs are POSIX")
def test_other_files_that_are_named_are_regular_as_well(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for read in (read_manifest, read_sheet, read_queries):
        refuse(lambda read=read: read(tmp_path / "fifo"), "can't be read")  # type: ignore[misc]
    refuse(lambda: load_datasets("/dev/zero"), "no questions")


@pytest.mark.parametrize("data", ["[" * 100_000, "[" + "[]," * 300_000 + "[]]", "{}", '[{"name": 5}]', "NaN"])
def test_lists_of_repositories_are_limited(tmp_path: Path, data: str) -> None:
    folder = suite(tmp_path / "set")
    (folder / "repos.json").write_text(data)
    refuse(lambda: load_datasets(folder), r"repos\.json")
    (tmp_path / "manifest.json").write_text(data)
    refuse(lambda: read_manifest(tmp_path / "manifest.json"), r"manifest\.json")


@pytest.mark.parametrize(
    "repo",
    [
        *({"name": name} for name in ("../one", "/etc", "a/b", "..", ["one"], "a\0b", "c:\\one")),
        *({"name": "one", "benchmark_root": root} for root in ("..", "/etc", "a/../../b", 5, "..\\b")),
    ],
)
def test_a_suite_names_no_folders_elsewhere(tmp_path: Path, repo: dict[str, object]) -> None:
    folder = suite(tmp_path / "set", repo)
    refuse(lambda: load_datasets(folder, checkouts=tmp_path), "below")


def test_a_large_set_is_read(tmp_path: Path) -> None:
    """Forty megabytes in four, as real ones have it."""
    rows = (
        json.dumps({"query": f"question {n} {os.urandom(30).hex() * 6}", "relevant_files": [f"{n}.py"]})
        for n in range(90_000)
    )
    with gzip.open(tmp_path / "cases.jsonl.gz", "wt", 1) as file:
        file.writelines(f"{row}\n" for row in rows)
    assert len(load_datasets(tmp_path / "cases.jsonl.gz")[0].cases) == 90_000


def test_the_command_says_one_line_within_little_memory(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = packed(tmp_path / "bomb.jsonl.gz", b"a" * BLOCK, 900)
    (tmp_path / "code").mkdir()
    (tmp_path / "code/a.py").write_text("def f():\n    pass\n")
    done = subprocess.run(
        [sys.executable, "-m", "dowse.entry", "eval", str(tmp_path / "code"), "--dataset", str(path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "DOWSE_CACHE_DIR": str(tmp_path / "cache"), "OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (3_000_000_000, 3_000_000_000)),
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "too long" in done.stderr.splitlines()[-1]
