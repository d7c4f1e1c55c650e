"""tokenizer.json of others: steps that real tokenizers have, or it is not loaded."""

from __future__ import annotations

import json
import struct
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from dowse.encoders.model_files import load_tokenizer, model_errors
from dowse.encoders.tokenizer_check import RefusedTokenizer, check_tokenizer
from dowse.encoders.word_tokenizer import WordTokenizer
from dowse.errors import DowseError

MODEL = {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1}, "unk_token": "[UNK]"}
WORD_PIECE = {
    "type": "WordPiece",
    "unk_token": "[UNK]",
    "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 100,
    "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3},
}
BYTE_BPE = {"type": "BPE", "vocab": {"a": 0}, "merges": [], "ignore_merges": True}
UNIGRAM = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["▁a", -1.5]]}

GPT_2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
GPT_4 = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]"
    r"|\s+(?!\S)|\s+"
)
GPT_4O = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA_3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
QWEN = LLAMA_3.replace("{1,3}", "")
DEEPSEEK = (
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    r"""| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""
)
BLOOM = r" ?[^(\s|[.,!?…。，、।۔،])]+"
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def split(pattern: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def replace(pattern: str, content: str, kind: str = "String") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def sequence(part: str, *steps: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", part: list(steps)}


def table(*texts: bytes) -> dict[str, Any]:
    """Return a table as sentencepiece compiles it, with an empty trie."""
    data = struct.pack("<I", 1024) + bytes(1024) + b"".join(text + b"\0" for text in texts)
    return {"type": "Precompiled", "precompiled_charsmap": b64encode(data).decode()}


BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
BERT = {
    "normalizer": {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}},
            {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
        ],
        "pair": [
            {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}},
            {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
            {"Sequence": {"id": "B", "type_id": 1}},
            {"SpecialToken": {"id": "[SEP]", "type_id": 1}},
        ],
        "special_tokens": {
            "[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]},
            "[SEP]": {"id": "[SEP]", "ids": [2], "tokens": ["[SEP]"]},
        },
    },
    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
    "model": WORD_PIECE,
}
ROBERTA = {
    "pre_tokenizer": {**BYTES, "use_regex": True},
    "post_processor": {
        "type": "RobertaProcessing",
        "sep": ["</s>", 2],
        "cls": ["<s>", 0],
        "trim_offsets": True,
        "add_prefix_space": False,
    },
    "decoder": BYTES,
    "model": BYTE_BPE,
}
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
XLM_ROBERTA = {
    "normalizer": sequence("normalizers", table(b"a", b"ffi"), replace(" {2,}", " ", "Regex")),
    "pre_tokenizer": sequence("pretokenizers", {"type": "WhitespaceSplit"}, METASPACE),
    "decoder": METASPACE,
    "model": UNIGRAM,
}
LLAMA_2 = {
    "normalizer": sequence("normalizers", {"type": "Prepend", "prepend": "▁"}, replace(" ", "▁")),
    "decoder": sequence(
        "decoders",
        replace("▁", " "),
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ),
    "model": BYTE_BPE,
}
ALBERT = {
    "normalizer": sequence(
        "normalizers",
        replace("``", '"'),
        replace("''", '"'),
        {"type": "NFKD"},
        {"type": "StripAccents"},
        {"type": "Lowercase"},
        table(b"x"),
        {"type": "Strip", "strip_left": True, "strip_right": True},
    ),
    "model": UNIGRAM,
}
STARCODER = {
    "pre_tokenizer": sequence("pretokenizers", {"type": "Digits", "individual_digits": True}, BYTES),
    "model": BYTE_BPE,
}


@pytest.mark.parametrize("made", [BERT, ROBERTA, XLM_ROBERTA, LLAMA_2, ALBERT, STARCODER])
def test_tokenizers_as_real_models_have_them_are_loaded(tmp_path: Path, made: dict[str, Any]) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(made))
    assert load_tokenizer(file).encode("a").ids == Tokenizer.from_str(json.dumps(made)).encode("a").ids


@pytest.mark.parametrize(
    "pattern", [GPT_2, f"({GPT_2})", GPT_4, GPT_4O, LLAMA_3, QWEN, DEEPSEEK, BLOOM, CLIP]
)
def test_patterns_of_real_models_are_loaded(tmp_path: Path, pattern: str) -> None:
    made = {"pre_tokenizer": sequence("pretokenizers", split(pattern), BYTES), "model": BYTE_BPE}
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(made))
    assert load_tokenizer(file).encode("a a").ids


@pytest.mark.parametrize(
    "pattern",
    [
        *("(a|a|b|[a-z ])*(x+x+)+y", r"(\s+)+x", r"\s+|(a*)*b", r"\p{L}+\p{L}+x", r"(\w+)(\1)+", "a*a*a*b"),
        *("(a{1000}){1000}", r"(\s+)|(\s+)", r"\s+)|(\s+", r"[\s+|\s+]*x", "(?i:'s|'t)*", "", r"\s+\|\s+x"),
    ],
)
@pytest.mark.parametrize("part", ["normalizer", "pre_tokenizer", "decoder"])
def test_other_patterns_are_refused(pattern: str, part: str) -> None:
    step = split(pattern) if part == "pre_tokenizer" else replace(pattern, "", "Regex")
    with pytest.raises(RefusedTokenizer, match="pattern"):
        check_tokenizer({part: step, "model": MODEL})


@pytest.mark.parametrize(
    "steps",
    [
        [replace("a", "a" * 10)] * 9,
        [replace("", "a")],
        [replace("a", "ab")],
        [replace(r"\s+", "  ", "Regex")],
        [{"type": "Prepend", "prepend": "a" * 1000}],
        [{"type": "Prepend", "prepend": "a"}] * 2,
        [{"type": "ByteLevel"}] * 2,
        [{"type": "NFKC"}] * 30,
        [sequence("normalizers", sequence("normalizers", replace("a", "aa")))],
        [table(b"a" * 100_000)],
        [table(b"x"), table(b"y")],
        [{"type": "Precompiled", "precompiled_charsmap": "AAA="}],
        [{"type": "Precompiled", "precompiled_charsmap": "/////w=="}],
        [{"type": "Precompiled", "precompiled_charsmap": 5}],
        [{"type": "Evil"}],
        [{"type": ["Replace"]}],
        [{"pattern": {"String": "a"}, "content": "aaaa"}],
        [{"type": "Replace", "pattern": {"String": "a", "Regex": "b"}, "content": ""}],
        [{"type": "Replace", "pattern": "a", "content": ""}],
        [{"type": "Replace", "pattern": {"String": "a"}}],
        ["Lowercase"],
    ],
)
def test_steps_that_grow_texts_or_are_unknown_are_refused(steps: list[Any]) -> None:
    with pytest.raises(RefusedTokenizer):
        check_tokenizer({"normalizer": sequence("normalizers", *steps), "model": MODEL})


@pytest.mark.parametrize(
    "made",
    [
        {"pre_tokenizer": sequence("pretokenizers", BYTES, BYTES)},
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": {}}},
        {"post_processor": {**BERT["post_processor"], "single": [{"Sequence": {"id": "A"}}] * 9}},
        {"post_processor": {**BERT["post_processor"], "pair": [{"SpecialToken": {"id": "[SEP]"}}] * 99}},
        {"post_processor": {**BERT["post_processor"], "special_tokens": {"x": {"ids": [1] * 999}}}},
        {"post_processor": sequence("processors", BERT["post_processor"], BERT["post_processor"])},
        {"model": {**WORD_PIECE, "max_input_chars_per_word": 10**9}},
        {"model": {**BYTE_BPE, "end_of_word_suffix": "x" * 1000}},
        {"model": {"type": "Other"}},
        {"model": None},
    ],
)
def test_other_parts_are_checked_as_well(made: dict[str, Any]) -> None:
    with pytest.raises(RefusedTokenizer):
        check_tokenizer({"model": MODEL, **made})


def test_of_a_key_that_comes_twice_what_was_checked_is_loaded(tmp_path: Path) -> None:
    bad, good = json.dumps(replace("a", "a" * 10)), json.dumps({"type": "Lowercase"})
    (tmp_path / "tokenizer.json").write_text(
        f'{{"normalizer": {bad}, "normalizer": {good}, "model": {json.dumps(MODEL)}}}'
    )
    assert load_tokenizer(tmp_path / "tokenizer.json").normalizer.normalize_str("aA") == "aa"


def test_a_refused_file_is_named_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps({"normalizer": {"type": "\x1b[2J\nforged"}, "model": MODEL}))
    with pytest.raises(DowseError, match=r"tokenizer\.json") as caught:
        load_tokenizer(file)
    assert str(caught.value).isprintable()


def test_a_file_of_many_values_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text('{"model": {"vocab": [' + "[]," * 5_000_000 + "[]]}}")
    with pytest.raises(DowseError, match="too many values"):
        load_tokenizer(file)


def test_a_tokenizer_that_fails_while_it_reads_is_named() -> None:
    """This one has no token for what it does not know."""
    tokenizer = Tokenizer.from_str(json.dumps({"model": {**MODEL, "unk_token": "missing"}}))
    with pytest.raises(DowseError, match="my model") as caught:
        WordTokenizer(tokenizer, "my model").encode_text("unknown", 5)
    assert "\n" not in str(caught.value)


def test_a_panic_of_the_library_is_one_line() -> None:
    """It is no `Exception`: this pattern goes beyond what the library's engine tries."""
    made = {"pre_tokenizer": split("(a|a|b|[a-z ])*(x+x+)+y"), "model": MODEL}
    tokenizer = Tokenizer.from_str(json.dumps(made))
    with pytest.raises(DowseError, match="my model") as caught, model_errors("my model"):
        tokenizer.encode("a" * 40 + "x" * 40)
    assert str(caught.value).isprintable()


def test_what_is_no_fault_of_the_library_passes() -> None:
    with pytest.raises(KeyboardInterrupt), model_errors("my model"):
        raise KeyboardInterrupt
