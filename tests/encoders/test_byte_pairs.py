"""BytePairs gives the ids of the tokenizers library, for every word that WordTokenizer may give it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from dowse.encoders.byte_pairs import BytePairs
from dowse.encoders.registry import shipped_folder
from dowse.encoders.word_tokenizer import WORD, WordTokenizer
from dowse.errors import DowseError
from encoders.tiny import tokenizer_json

SHIPPED = (shipped_folder() / "base" / "tokenizer.json").read_text(encoding="utf-8")
# The shipped tokenizer lacks entries that no word of ours has; the other one lacks none, and is cased.
PAIRS = [(BytePairs(each), Tokenizer.from_str(each)) for each in (SHIPPED, tokenizer_json())]
ALPHABETS = ["etaoinsrhl", "aeiouöüßéñœ", "кслйё", "日本語ー々", "अनुवाद", "0123456789", "²½Ⅷ〇①", "aé²日k1İ"]


def library_ids(tokenizer: Tokenizer, word: str) -> list[int]:
    return tokenizer.encode(" " + word, add_special_tokens=False).ids


def lower_words(text: str) -> list[str]:
    """Cut a text as WordTokenizer does."""
    return [word[:20].lower() for word in WORD.findall(text)]


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.text(max_size=60), *(st.text(alphabet, max_size=30) for alphabet in ALPHABETS)))
def test_any_text(text):
    for ours, library in PAIRS:
        for word in lower_words(text):
            assert ours.encode(word) == library_ids(library, word), word


def test_every_character():
    """Alone, and beside a letter, from which a number is split."""
    ours, library = PAIRS[0]
    alone = [character for code in range(sys.maxunicode + 1) if WORD.fullmatch(character := chr(code))]
    assert len(alone) > 100_000
    for character in alone[::7]:
        for word in lower_words(f"{character} {character}é{character}"):
            assert ours.encode(word) == library_ids(library, word), hex(ord(character))


def test_every_entry_of_the_vocabulary():
    """An entry that is a word is found without merging: merging gives it, too."""
    for ours, library in PAIRS:
        words = [each[1:] for each in library.get_vocab() if each.startswith("Ġ") and each[1:].isalnum()]
        assert len(words) > 300
        for word in words:
            assert ours.encode(word) == library_ids(library, word)


def test_code_and_prose_of_this_repository():
    root = shipped_folder().parent
    files = [*root.glob("src/dowse/**/*.py"), *root.glob("docs/*.md"), *root.glob("tests/parsing/samples/*")]
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files]
    words = {word for text in texts for word in lower_words(text)}
    assert len(words) > 5_000
    for ours, library in PAIRS:
        assert [word for word in words if ours.encode(word) != library_ids(library, word)] == []


def test_bytes_without_an_entry_are_left_out():
    tokenizer = Tokenizer(models.BPE({"Ġ": 0, "a": 1, "b": 2, "ab": 3, "Ã": 4}, [("a", "b")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    ours = BytePairs(tokenizer.to_str())
    for word in ("ab", "acb", "é", "aéb", "c"):
        assert ours.encode(word) == library_ids(tokenizer, word)


@pytest.mark.parametrize(
    "change",
    [
        {"pre_tokenizer": None},
        {"pre_tokenizer": {"type": "ByteLevel", "use_regex": False}},
        {"normalizer": {"type": "Lowercase"}},
        {"model": {"type": "WordLevel", "vocab": {"a": 0}}},
        {"added_tokens": [{"content": " word", "id": 9}]},
        {"model": {"type": "BPE", "vocab": {"a": 70_000}, "merges": []}},
        {"model": {"type": "BPE", "vocab": {"a": 1}, "merges": ["a b"]}},
    ],
)
def test_another_kind_of_tokenizer_is_one_line(tmp_path, change):
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(json.loads(tokenizer_json()) | change))
    with pytest.raises(DowseError, match=r"tokenizer\.json can't be used") as caught:
        WordTokenizer.read(file)
    assert "\n" not in str(caught.value)


def test_models_of_other_projects_name_their_extra(tmp_path):
    """Without the library, which no model of ours needs."""
    (tmp_path / "model.onnx").write_bytes(b"")
    (tmp_path / "tokenizer.json").write_text(tokenizer_json())
    script = (
        "import sys; sys.modules['tokenizers'] = sys.modules['huggingface_hub'] = None\n"
        "from dowse.encoders.registry import load_encoder\n"
        "from dowse.errors import DowseError\n"
        "print(len(load_encoder('base').encode_queries(['naïve words'])))\n"
        "for name in (sys.argv[1], 'hf:owner/name'):\n"
        "    try: load_encoder(name).encode_queries(['a'])\n"
        "    except DowseError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True)
    error = 'reading models of other projects is an extra: pip install "dowse[huggingface]"'
    assert done.stdout.splitlines() == ["1", error, error], done.stderr
