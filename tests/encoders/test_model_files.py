"""Whatever a library raises about a model is one line that names it."""

from __future__ import annotations

import json

import pytest
from tokenizers import Tokenizer

from dowse.encoders.model_files import model_errors
from dowse.errors import DowseError

MODEL = {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1}, "unk_token": "[UNK]"}


def test_a_tokenizer_that_fails_while_it_reads_is_named() -> None:
    """This one has no token for what it does not know."""
    tokenizer = Tokenizer.from_str(json.dumps({"model": {**MODEL, "unk_token": "missing"}}))
    with pytest.raises(DowseError, match="my model") as caught, model_errors("my model"):
        tokenizer.encode("unknown")
    assert "\n" not in str(caught.value)


def test_a_panic_of_the_library_is_one_line() -> None:
    """It is no `Exception`: this pattern goes beyond what the library's engine tries."""
    pattern = {"Regex": "(a|a|b|[a-z ])*(x+x+)+y"}
    split = {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}
    tokenizer = Tokenizer.from_str(json.dumps({"pre_tokenizer": split, "model": MODEL}))
    with pytest.raises(DowseError, match="my model") as caught, model_errors("my model"):
        tokenizer.encode("a" * 40 + "x" * 40)
    assert str(caught.value).isprintable()


def test_what_is_no_fault_of_the_library_passes() -> None:
    with pytest.raises(KeyboardInterrupt), model_errors("my model"):
        raise KeyboardInterrupt
