"""Unknown words are corrected, split or joined; what the index knows stays as it is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse import Index
from dowse.answer import Answer
from dowse.query.edits import edit_distance, one_edit_away
from dowse.query.parser import plain_query
from dowse.search.spelling import correct_query

from helpers import index_tree

FILES = {
    "src/convert.py": "def convert_int_to_string(number):\n    return str(number)\n\n\n"
    "def parse_string(text):\n    return text\n",
    "src/loader.py": "class TemplateLoader:\n    def load_template(self, name):\n        return name\n\n\n"
    "class LoaderCache:\n    pass\n\n\ndef find_template_loader(template):\n    return template\n",
    "src/cookies.py": "def get_cookie_header(jar):\n    return jar\n\n\n"
    "def parse_cookie(text):\n    return text\n\n\n"
    "def set_header(name):\n    # templateloader is written like this once\n    return name\n",
    "src/net.py": "def set_timeout(seconds):\n    return seconds\n\n\n"
    "def guess_filename(path):\n    return path\n\n\n"
    "def read_file(path):\n    return path\n\n\ndef name_of(thing):\n    return thing\n",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return index_tree(tmp_path_factory.mktemp("spelling") / "code", FILES)


def relaxed(answer: Answer) -> str:
    return "; ".join(note.text for note in answer.notes if note.code == "relaxed")


@pytest.mark.parametrize(
    ("query", "first", "change"),
    [
        ("conver int to sring", "convert_int_to_string", "conver int to sring → convert_int_to_string"),
        ("conver numbers to a sring", "convert_int_to_string", "sring → string"),
        ("conver numbers to a sring", "convert_int_to_string", "conver → convert"),
        ("parse_cokie", "parse_cookie", "parse_cokie → parse_cookie"),
        ("TemplateLodaer", "TemplateLoader", "TemplateLodaer → TemplateLoader"),
        ("templateloader", "TemplateLoader", "templateloader → TemplateLoader"),
        ("cookieheader", "get_cookie_header", "cookieheader → cookie header"),
        ("set time out", "set_timeout", "set time out → set_timeout"),
        ("path file name", "guess_filename", "file name → file name filename"),
        ("lodatemplate", "load_template", "lodatemplate → load_template"),
    ],
)
def test_an_unknown_word_is_corrected_with_a_note(tree: Index, query: str, first: str, change: str) -> None:
    answer = tree.search(query, fuzziness="1")
    assert answer.hits[0].symbol.name == first
    assert change in relaxed(answer)


@pytest.mark.parametrize("query", ["convert int to string", "parse cookie", "TemplateLoader", "read file"])
def test_known_words_stay(tree: Index, query: str) -> None:
    assert "→" not in relaxed(tree.search(query))


def test_fuzziness_0_corrects_nothing(tree: Index) -> None:
    assert relaxed(tree.search("conver int to sring", fuzziness="0")) == ""


def test_two_edits_are_corrected_on_request(tree: Index) -> None:
    assert "tmplteloader → TemplateLoader" in relaxed(tree.search("tmplteloader", fuzziness="2"))
    assert "→" not in relaxed(tree.search("tmplteloader"))


def test_a_common_english_word_is_meant_as_it_is_written(tree: Index) -> None:
    with tree.backend.reader() as reader:
        assert correct_query(reader, plain_query("home of the load"), "auto").changes == ()
        assert correct_query(reader, plain_query("laod the template"), "auto").changes == ("laod → load",)


@given(st.text("abcd", max_size=7), st.text("abcd", max_size=7))
def test_the_distance_is_symmetric_and_bounded(one: str, other: str) -> None:
    distance = edit_distance(one, other, 10)
    assert distance == edit_distance(other, one, 10)
    assert abs(len(one) - len(other)) <= distance <= max(len(one), len(other))
    assert (distance == 0) == (one == other)
    assert edit_distance(one, other, 1) == min(distance, 2)


@given(st.text("abc", min_size=1, max_size=6))
def test_words_one_edit_away_are_at_distance_1(word: str) -> None:
    assert all(edit_distance(word, near, 2) <= 1 for near in one_edit_away(word))


def test_words_of_a_corpus_are_not_joined(tmp_path):
    corpus = tmp_path / "corpus.jsonl"
    functions = [
        {"_id": "1", "title": "scatterplot", "text": "def scatterplot(x):\n    return draw(x)"},
        {
            "_id": "2",
            "title": "show",
            "text": 'def show(points):\n    """Draw a scatter plot."""\n    plot(points)',
        },
    ]
    corpus.write_text("".join(json.dumps(each) + "\n" for each in functions))
    with Index.open(corpus, encoder="none", index_dir=str(tmp_path / "index")) as index:
        index.update()
        answer = index.search("scatter plot")
        assert answer.hits[0].symbol.name == "show" and not answer.notes
        assert index.search("scater plot").notes  # a typo is corrected there, too
