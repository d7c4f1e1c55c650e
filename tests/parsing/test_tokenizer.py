"""Search terms: identifiers whole and in parts, the same for documents and queries."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.parsing.tokenizer import document_terms, split_identifier, stem, tokenize

WORDS = st.text(st.sampled_from("abcxyzABCXYZ0189_éÉßΣσ日本"), min_size=1, max_size=30)
PARTS = st.lists(st.text(st.sampled_from("abcdexyz"), min_size=1, max_size=8), min_size=2, max_size=5)


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("HTTPServerError", "http server error"),
        ("MAX_RETRY_COUNT", "max retry count"),
        ("getUserName", "get user name"),
        ("user_id", "user id"),
        ("userID", "user id"),
        ("parseJSON2XML", "parse json 2 xml"),
        ("utf8", "utf 8"),
        ("sha256sum", "sha 256 sum"),
        ("IOError", "io error"),
        ("__init__", "init"),
        ("x", "x"),
        ("ABC", "abc"),
        ("a1b2", "a 1 b 2"),
        ("größenÄnderung", "größen änderung"),
        ("naïveÉcole", "naïve école"),
        ("имяПользователя", "имя пользователя"),
        ("日本語", "日本語"),
        ("_", ""),
        ("___", ""),
    ],
)
def test_parts_of_identifiers(word, parts):
    assert split_identifier(word) == parts.split()


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("MAX_RETRY_COUNT", "max_retry_count max retri count"),
        ("HTTPServerError", "httpservererror http server error"),
        ("getUserName()", "getusername get user name"),
        ("retry", "retri"),
        ("a.b->c", "a b c"),
        ("self._cache", "self cach"),
        ("", ""),
        ("!?.,", ""),
        ("running runs", "run run"),
    ],
)
def test_terms(text, terms):
    assert tokenize(text) == terms.split()


@given(PARTS, st.sampled_from(["snake", "camel", "pascal", "upper", "kebab", "dotted"]))
def test_an_identifier_is_found_by_each_of_its_parts(parts, style):
    joined = {
        "snake": "_".join(parts),
        "camel": parts[0] + "".join(p.capitalize() for p in parts[1:]),
        "pascal": "".join(p.capitalize() for p in parts),
        "upper": "_".join(parts).upper(),
        "kebab": "-".join(parts),
        "dotted": ".".join(parts),
    }[style]
    if style in ("camel", "pascal") and any(len(part) == 1 for part in parts):
        return  # capitals in a row are an acronym
    assert {stem(part) for part in parts} <= set(tokenize(joined))


@given(PARTS)
def test_a_query_in_another_style_shares_every_part(parts):
    snake, spaced = "_".join(parts), " ".join(parts)
    assert set(tokenize(spaced)) <= set(tokenize(snake))


@given(WORDS)
def test_the_whole_identifier_is_its_own_term(word):
    terms = tokenize(word)
    if len(split_identifier(word)) > 1 and len(word) <= 80:
        assert terms[0] == word.strip("_").lower()
        assert terms[1:] == [stem(part) for part in split_identifier(word)]


@given(WORDS)
def test_nothing_of_an_identifier_is_lost(word):
    assert "".join(split_identifier(word)).casefold() == word.replace("_", "").casefold()


@given(st.text(max_size=60), st.text(max_size=60))
def test_texts_with_a_gap_between_them_are_tokenised_apart(left, right):
    assert tokenize(f"{left} {right}") == tokenize(left) + tokenize(right)


@given(st.text(max_size=200))
def test_any_text_gives_clean_terms(text):
    terms = tokenize(text)
    assert all(term and not re.search(r"\s", term) for term in terms)
    assert set(document_terms(text.encode()).split()) == set(terms)


def test_data_is_no_word():
    assert tokenize("A" * 81) == tokenize("_" * 81) == []
    assert tokenize("A" * 80) == ["a" * 80]


def test_long_names_keep_their_words_and_data_does_not():
    name = "test_that_the_session_is_saved_when_the_response_is_sent_and_the_cookie_has_not_been_changed"
    assert {"session", "respons", "cooki"} <= set(tokenize(name)) and name not in tokenize(name)
    assert (
        tokenize("aGVsbG8gd29ybGQgdGhpcyBpcyBhIHRlc3Qgb2YgYmFzZTY0IGVuY29kZWQgZGF0YSB0aGF0IGlzIGxvbmcg") == []
    )
