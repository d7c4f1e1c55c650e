"""The tables of the vocabulary, and that training's modules stay light."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from dowse.errors import ConfigError
from dowse_training import vocabulary

from .conftest import make_vocabulary


def test_words_articles_and_verbs_are_known():
    pieces = make_vocabulary()
    made = vocabulary.from_ids(pieces)
    assert made.begins_word[pieces["Ġhow"]]
    assert not made.begins_word[pieces["w40"]]
    assert made.article[pieces["Ġthe"]]
    assert made.stop[pieces["Ġof"]]
    assert made.imperative[pieces["Ġreturns"]] == pieces["Ġreturn"]
    assert made.imperative[pieces["Ġcopies"]] == pieces["Ġcopy"]
    assert made.imperative[pieces["Ġhow"]] == pieces["Ġhow"]


def test_languages_have_names_or_none():
    made = vocabulary.from_ids(make_vocabulary())
    assert made.language("python") == [made.words["python"]]
    assert made.language("ruby") == []


def test_a_file_without_a_vocabulary_is_told(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({}))
    with pytest.raises(ConfigError, match="tokenizer"):
        vocabulary.read(path)


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("dowse_training.cli_fit", {"torch", "numpy", "tree_sitter", "tokenizers"}),
        ("dowse_training.cli_shards", {"torch", "numpy", "tree_sitter", "tokenizers"}),
        ("dowse_training.shards", {"torch", "tree_sitter", "tokenizers"}),
        ("dowse_training.shard_files", {"torch", "tree_sitter", "tokenizers"}),
    ],
)
def test_modules_load_no_more_than_they_need(module, heavy):
    code = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert heavy.isdisjoint(loaded)
