"""Plain text: words, whatever else stands in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.errors import QueryError
from dowse.query.parser import plain_query


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('fix "quoted text', "fix quoted text"),
        ("lang:python is not a filter", "lang python is not a filter"),
        ("either AND or NOT that OR this", "either or that this"),
        ("-x (unclosed /regex", "x unclosed regex"),
        ("Really? Yes, really!", "Really Yes really"),
        ("fix: std:: and ::Cart at 12:30", "fix std and Cart at 12 30"),
    ],
)
def test_signs_of_the_query_language_mean_nothing(text: str, words: str):
    query = plain_query(text)
    assert query.text_for_ranking == words
    assert query.constraint is None


def test_names_are_known_by_their_form_or_by_backticks():
    words = {
        word.text: word.identifier for word in plain_query("why does `render` call getUserName() here").words
    }
    assert words["render"] and words["getUserName"]
    assert not words["call"]


@pytest.mark.parametrize("name", ["Shop::Cart", "Shop::Cart#add", "Cart#add", "shop.cart"])
def test_qualified_names_stay_whole(name: str):
    assert [(word.text, word.identifier) for word in plain_query(f"{name}: why").words] == [
        (name, True),
        ("why", False),
    ]


@pytest.mark.parametrize("text", ["C#", "issue#12", "F#"])
def test_other_number_signs_make_no_name(text: str):
    assert not plain_query(text).words[0].identifier


@pytest.mark.parametrize("text", ["", "  ", '"" () //', "AND OR NOT", "?!"])
def test_a_text_without_words_is_refused(text: str):
    with pytest.raises(QueryError, match="no words"):
        plain_query(text)


def test_of_a_long_text_the_first_words_count():
    text = " ".join(f"word{n}" for n in range(5_000))
    words = [word.text for word in plain_query(text).words]
    assert 500 < len(words) < 5_000
    assert words[:-1] == text.split()[: len(words) - 1]


@given(st.text(max_size=200))
def test_any_text_has_words_or_is_refused_and_never_has_conditions(text: str):
    try:
        query = plain_query(text)
    except QueryError:
        return
    assert query.words and query.constraint is None and query.source == text
