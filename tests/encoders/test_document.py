"""What is encoded of a document."""

from __future__ import annotations

import pytest

from dowse.encoders.byte_pairs import BytePairs
from dowse.encoders.document import Document, Form, docs_view, first_sentence, query_view, views
from dowse.encoders.word_tokenizer import BOS, EOS, UNK, WordTokenizer
from encoders.tiny import DOCUMENTS, tokenizer_json


@pytest.fixture(scope="module")
def words() -> WordTokenizer:
    return WordTokenizer(BytePairs(tokenizer_json()))


@pytest.mark.parametrize(
    ("docs", "sentence"),
    [
        ("Open a large file. Then close it.", "Open a large file"),
        ("\n  Open a file\n\nMore.", "Open a file"),
        ("Return the mean\n@param xs numbers", "Return the mean"),
        ("Return the mean\n    :param xs: numbers", "Return the mean"),
        ("E.g. this one is short: more", "E.g. this one is short"),
        ("", ""),
    ],
)
def test_first_sentence(docs: str, sentence: str) -> None:
    assert first_sentence(docs) == sentence


def test_views_begin_and_end_and_are_short_enough(words: WordTokenizer) -> None:
    form = Form(tokens=40, name_weight=0.1)
    for document in DOCUMENTS:
        for view in views(document, words, form):
            assert view.ids[0] == BOS
            assert view.ids[-1] == EOS
            assert 3 <= len(view.ids) <= 40


def test_parts_without_weight_or_words_are_left_out(words: WordTokenizer) -> None:
    document = DOCUMENTS[0]
    assert [view.weight for view in views(document, words, Form(docs_weight=0.5, name_weight=0.2))] == [
        1,
        0.5,
        0.2,
    ]
    assert len(views(document, words, Form(docs_weight=0, name_weight=0))) == 1
    assert len(views(document._replace(docs=" -- "), words, Form(name_weight=0))) == 1
    assert len(views(Document("", "", "", "x"), words, Form(name_weight=1))) == 1


def test_code_comes_after_qualifier_and_name(words: WordTokenizer) -> None:
    document = Document("Files", "openAll", "", "def openAll(path): walk(path)")
    view, name = views(document, words, Form())
    assert name.ids == [BOS, *words.encode_text("open all", 50), EOS]
    expected = words.encode_text("files open all", 50) + words.encode_code("path walk path", 50)
    assert view.ids == [BOS, *expected, EOS]


def test_the_place_is_read_where_the_form_says_so(words: WordTokenizer) -> None:
    document = Document("A", "b", "", "code", path="src/http/client.py")
    with_place, without = (views(document, words, Form(place=place))[0].ids for place in (8, 0))
    assert with_place == [BOS, *words.encode_text("http client", 8), *without[1:]]


def test_nothing_is_still_a_sequence(words: WordTokenizer) -> None:
    assert views(Document("", "", "", ""), words, Form())[0].ids == [BOS, UNK, EOS]
    assert query_view("?!", words, Form()).ids == [BOS, UNK, EOS]


def test_the_docs_view_falls_back_to_the_name(words: WordTokenizer) -> None:
    with_docs = docs_view(Document("A", "b", "Reads all. And more", "code"), words, Form())
    assert with_docs.ids == [BOS, *words.encode_text("reads all and more", 50), EOS]
    assert docs_view(Document("A", "b", "", "code"), words, Form()).ids == [
        BOS,
        *words.encode_text("a b", 9),
        EOS,
    ]
