"""WordTokenizer to ids: the same as in training, whatever the text."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from dowse.encoders.bpe_table import TABLE_FILE, BpeTable
from dowse.encoders.byte_pairs import BytePairs
from dowse.encoders.document import Document, Form, views
from dowse.encoders.registry import shipped_folder
from dowse.encoders.word_tokenizer import WordTokenizer
from encoders.tiny import tokenizer_json

# Made with the code that made the training data; tokens rather than ids, which exports number anew.
GOLDEN = json.loads((Path(__file__).parent / "golden_tokens.json").read_text(encoding="utf-8"))
MERGES = BytePairs((shipped_folder() / "base/tokenizer.json").read_bytes())
# Letters of new words, of which there are more than the table encodes.
MANY = [f"{letter}{other}" for letter in "abcdefghij" for other in "qwrtz"]


@pytest.fixture(scope="module")
def shipped() -> Tokenizer:
    return Tokenizer.from_file(str(shipped_folder() / "base/tokenizer.json"))


@pytest.fixture(scope="module")
def tiny() -> WordTokenizer:
    return WordTokenizer(BytePairs(tokenizer_json()))


def test_texts_are_read_as_in_training(shipped: Tokenizer) -> None:
    words = WordTokenizer(MERGES)
    for case in GOLDEN["texts"]:
        assert _tokens(shipped, words.encode_text(case["text"], 96)) == case["tokens"]


def test_documents_are_read_as_in_training(shipped: Tokenizer) -> None:
    words = WordTokenizer(MERGES)
    for case in GOLDEN["documents"]:
        document = Document(case["qualifier"], case["name"], case["docs"], case["code"])
        code, *docs = views(document, words, Form(name_weight=0))
        assert _tokens(shipped, code.ids) == case["code_tokens"]
        assert [_tokens(shipped, view.ids) for view in docs] == [case["docs_tokens"]] * bool(
            case["docs_tokens"]
        )


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=80), st.integers(1, 12))
def test_a_limit_is_kept_and_only_cuts(tiny: WordTokenizer, text: str, limit: int) -> None:
    for read in (tiny.encode_text, tiny.encode_code):
        short, long = read(text, limit), read(text, 1000)
        assert len(short) <= limit
        assert long[: len(short)] == short


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="abXY1_. é", max_size=30), st.text(alphabet="abXY1_. é", max_size=30))
def test_a_word_does_not_depend_on_its_neighbours(tiny: WordTokenizer, one: str, other: str) -> None:
    assert tiny.encode_text(f"{one} {other}", 1000) == tiny.encode_text(one, 1000) + tiny.encode_text(
        other, 1000
    )


def test_empty_words_go_from_code_and_stay_in_text(tiny: WordTokenizer) -> None:
    assert tiny.encode_code("def self.open", 20) == tiny.encode_text("open", 20)
    assert len(tiny.encode_text("def self.open", 20)) > len(tiny.encode_text("open", 20))


def test_the_name_is_taken_out_of_the_code(tiny: WordTokenizer) -> None:
    name, code = tiny.encode_definition("loadAll", "static void loadAll(File file)", 50)
    assert name == tiny.encode_text("load all", 50)
    assert code == tiny.encode_code("static file file", 50)


def _tokens(tokenizer: Tokenizer, ids: list[int]) -> list[str]:
    return [tokenizer.id_to_token(i) for i in ids]


@settings(deadline=None)
@given(
    st.lists(st.text("aeiourstlnmpcdgkwxyzq", min_size=1, max_size=24) | st.text("0123456789", min_size=1))
)
def test_the_table_gives_the_ids_of_the_merges(words):
    table = BpeTable.read(shipped_folder() / "base" / TABLE_FILE)
    for word in (each[:20] for each in words):
        assert table.encode(word) == MERGES.encode(word)


def test_the_table_gives_the_ids_of_the_merges_for_words_of_the_vocabulary(shipped):
    table = BpeTable.read(shipped_folder() / "base" / TABLE_FILE)
    words = [each[1:] for each in shipped.get_vocab() if re.fullmatch("Ġ([a-z]+|[0-9]+)", each)]
    assert len(words) > 10_000
    for word in words[::70]:
        for each in (word, word + word[::-1]):
            assert table.encode(each) == MERGES.encode(each)


def test_a_query_reads_the_table_alone_and_many_words_the_merges():
    script = (
        "import json, sys\n"
        "from dowse.encoders.registry import load_encoder\n"
        "words = load_encoder('base').words\n"
        "json.loads = None\n"
        "print(len(words.encode_text('where are expired sessions cleaned up in 2024', 50)) >= 8)\n"
        "try: words.encode_text(sys.argv[1], 50_000)\n"
        "except Exception as error: print('tokenizer.json' in str(error))"
    )
    many = " ".join(f"{one}{other}x" for one in "abcdefghijklmnopqrstuvwxyz" * 2 for other in MANY)
    for text in (many, "naïve"):
        command = [sys.executable, "-c", script, text]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["True", "True"]


@pytest.mark.parametrize("damage", [b"", b"DOWSEBPE\xff\xff\0\0"])
def test_a_damaged_table_counts_as_none(tmp_path, damage):
    (tmp_path / TABLE_FILE).write_bytes(damage)
    assert BpeTable.read(tmp_path / TABLE_FILE) is None
    assert BpeTable.read(tmp_path / "none") is None
