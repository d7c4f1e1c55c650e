"""Pairs become ids; what is excluded never does."""

from __future__ import annotations

import gzip
import json
from string import ascii_lowercase

import pytest

from dowse.encoders.byte_pairs import BytePairs
from dowse.encoders.document import path_words, split_docs
from dowse.encoders.word_tokenizer import WordTokenizer
from dowse_training import shard_files
from dowse_training.cli import main
from dowse_training.pairs.exclusion import make_exclusion, text_hash
from dowse_training.pairs.files import split_name
from dowse_training.shards import Sharder

WORDS = (
    "parse a date from text and read the file def value return given name other words loader module".split()
)


def pair(**changes):
    code = "def parse_date(value):\n    return value.given.other"
    base = {
        "pkg": "tool",
        "name": "loader.parse_date",
        "doc": "Parse a date from text. Other words.",
        "code": code,
    }
    return base | changes


@pytest.fixture(scope="module")
def tokenizer():
    """The JSON of a BPE whose tokens are WORDS, their beginnings and single letters."""
    merges = dict.fromkeys(
        f"Ġ{word[:at]} {word[at]}" for word in sorted(WORDS, key=len) for at in range(len(word))
    )
    tokens = ["<s>", "<pad>", "</s>", "<unk>", *(f"Ġ{word}" for word in WORDS), "Ġ", *ascii_lowercase]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    for merge in merges:
        vocabulary.setdefault(merge.replace(" ", ""), len(vocabulary))
    model = {"type": "BPE", "vocab": vocabulary, "merges": list(merges)}
    return json.dumps({"model": model, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False}})


@pytest.fixture
def sharder(tokenizer):
    return Sharder(WordTokenizer(BytePairs(tokenizer)))


def join_spans(tokens):
    return " ".join(WORDS[token - 4] if token >= 4 else "?" for token in tokens)


def test_a_pair_lies_in_the_order_of_the_layout(sharder):
    sharder.add(pair())
    shard = sharder.shard("python")
    assert join_spans(shard.tokens) == (
        "loader parse date value return value given other parse a date from text other words"
    )
    # qualifier, code with its name, place and length of the name, sentence, paragraph, rest
    assert shard.lengths.tolist() == [[1, 7, 0, 2, 5, 2, 0]]


def test_the_path_comes_before_the_qualifier_when_it_is_shown(tokenizer):
    sharder = Sharder(WordTokenizer(BytePairs(tokenizer)), path_share=1.0)
    sharder.add(pair(path="src/module/file.py"))
    assert join_spans(sharder.shard("python").tokens[:3]) == "module file loader"
    assert sharder.statistics["path"] == 1


@pytest.mark.parametrize(
    ("exclusion", "reason"),
    [
        (make_exclusion(["someone/tool"], [], []), "package excluded"),
        (make_exclusion([], [text_hash(pair()["code"])], []), "code excluded"),
        (
            make_exclusion([], [], [text_hash("Parse a date from text. Other words.")]),
            "documentation excluded",
        ),
    ],
)
def test_what_is_excluded_is_not_in_the_shard(tokenizer, exclusion, reason):
    sharder = Sharder(WordTokenizer(BytePairs(tokenizer)), exclusion)
    sharder.add(pair())
    assert len(sharder) == 0
    assert sharder.statistics[reason] == 1


def test_duplicates_and_pairs_that_say_too_little_are_left_out(sharder):
    for one in (
        pair(),
        pair(pkg="fork"),
        pair(doc="Parse", code="def other(): return 1 or 2 or 3"),
        pair(code="the"),
    ):
        sharder.add(one)
    counts = sharder.statistics
    assert (counts["kept"], counts["dup"], counts["short-doc"], counts["short-code"]) == (1, 1, 1, 1)


def test_several_questions_may_ask_for_one_function(sharder):
    for text in ("who reads dates", "who reads dates", "text to day, month and year"):
        sharder.add(pair(doc=text, kind="question"))
    assert (sharder.statistics["kept"], sharder.statistics["dup"]) == (2, 1)


def test_documentation_is_split_at_sentence_paragraph_and_fields():
    assert split_docs("Reads the file. Then more.\n\nAt last.") == (
        "Reads the file",
        ". Then more.",
        "At last.",
    )
    assert split_docs("Reads the file\n:param x: it")[0] == "Reads the file"


def test_names_and_paths_are_cut():
    assert split_name("a.b.c") == ("a.b", "c")
    assert split_name("a::b") == ("a", "b")
    assert split_name("c") == ("", "c")
    assert path_words("src/http/index.js") == "http"
    assert path_words("src/http/client.py") == "http client"


def test_the_command_writes_both_kinds_of_shards(tmp_path, tokenizer, capsys):
    (tmp_path / "tokenizer.json").write_text(tokenizer)
    (tmp_path / "pairs").mkdir()
    (tmp_path / "pairs" / "python.jsonl").write_text(json.dumps(pair()) + "\n")
    with gzip.open(tmp_path / "pairs" / "python.valid.jsonl.gz", "wt") as stream:
        stream.write(json.dumps(pair()) + "\n")
    (tmp_path / "more.jsonl").write_text(json.dumps(pair(lang="ruby")) + "\n")
    places = [str(tmp_path / "pairs"), str(tmp_path / "more.jsonl")]
    arguments = [*places, "--out", str(tmp_path / "out"), "--tokenizer", str(tmp_path / "tokenizer.json")]
    assert main(["shards", *arguments]) == 0
    assert [shard.language for shard in shard_files.read_all([tmp_path / "out"])] == ["python", "ruby"]
    assert [shard.language for shard in shard_files.read_all([tmp_path / "out"], valid=True)] == ["python"]
    assert "python (valid): kept 1, read 1" in capsys.readouterr().out


def test_the_command_names_what_is_missing(tmp_path, capsys):
    assert main(["shards", str(tmp_path / "none"), "--out", str(tmp_path), "--tokenizer", "t.json"]) == 2
    assert "name folders or files of pairs" in capsys.readouterr().err


def test_pairs_of_a_kind_may_have_a_shard_of_their_own(tmp_path, tokenizer, capsys):
    (tmp_path / "tokenizer.json").write_text(tokenizer)
    for language in ("python", "ruby"):
        kinds = ("commit", "class")
        rows = [
            pair(code=f"def {language}_{kind}(value):\n    return value.given", kind=kind) for kind in kinds
        ]
        with gzip.open(tmp_path / f"{language}.jsonl.gz", "wt") as lines:
            lines.writelines(json.dumps(row) + "\n" for row in rows)
    asked = ["--tokenizer", str(tmp_path / "tokenizer.json"), "--out", str(tmp_path / "out")]
    assert main(["shards", str(tmp_path), *asked, "--group", "commit=commits"]) == 0
    sizes = {
        name: len(shard_files.read(tmp_path / "out", name).lengths) for name in ("python", "ruby", "commits")
    }
    assert sizes == {"python": 1, "ruby": 1, "commits": 2}
