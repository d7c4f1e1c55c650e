"""What a command loads: nothing that its query does not need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dowse import Index

from helpers import write_tree

LIBRARIES = {"numpy", "onnxruntime", "tokenizers", "tantivy", "re2", "subprocess", "logging"}
# Prints the libraries that a command line has loaded at its end.
PROGRAM = """import sys
from dowse.interfaces.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print("loaded", *sorted(sys.modules), file=sys.stderr)"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with vectors; its index is in it."""
    folder = tmp_path_factory.mktemp("start")
    root = write_tree(folder / "tree", {"a.py": "def bake_bread(flour):\n    return flour\n"})
    with Index.open(root, index_dir=str(folder / "index"), encoder="small") as index:
        index.update()
    return root


def loaded(tree: Path, *arguments: str) -> set[str]:
    """Return the modules that a command has loaded."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], cwd=tree, capture_output=True, text=True, check=True
    )
    return set(done.stderr.rpartition("loaded ")[2].split())


def search(tree: Path, *arguments: str) -> set[str]:
    # Files that were saved just before are read again, which takes other processes.
    place = ("--index-dir", str(tree.with_name("index")), "--encoder", "small", "--refresh", "never")
    return loaded(tree, "search", *arguments, *place)


def test_words_load_the_index_of_words_alone(tree):
    modules = search(tree, "bake bread", "--mode", "keyword")
    assert modules & LIBRARIES == {"tantivy"}
    unused = (
        "encoders.onnx_encoder",
        "graph.queries",
        "query.stack_trace",
        "query.long_text",
        "vectors.adapter",
    )
    assert not modules & {f"dowse.{name}" for name in unused}


def test_meaning_loads_the_model_into_this_process_and_no_tokenizer(tree, monkeypatch):
    monkeypatch.setenv("DOWSE_ISOLATION", "auto")
    modules = search(tree, "bread is baked")
    assert modules & LIBRARIES == {"numpy", "onnxruntime", "tantivy"}
    assert "dowse.search.lanes.host" not in modules


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("search", "--help"), ("stop", "--help")])
def test_help_loads_no_library(tree, arguments):
    assert not loaded(tree, *arguments) & LIBRARIES
