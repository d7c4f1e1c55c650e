"""More words for a query: those that tell its best answers from all others."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dowse.parsing.tokenizer import stem, tokenize
from dowse.search.ranking.query_expansion import expansion_terms

COMMON = {"self": 0.01, "return": 0.01, "def": 0.01}


def rare(term: str) -> float:
    """Everything says a lot but what stands in every function."""
    return COMMON.get(term, 1.0)


def test_the_words_that_the_best_have_in_common():
    texts = [
        "def retry(action): delay = 1; sleep(delay); delay *= 2",
        "def again(call): sleep(delay)",
        "def wait(): sleep(1)",
    ]
    assert expansion_terms(texts, {"retri"}, rare, 2) == ("sleep", "delay")


def test_words_come_as_they_are_written_most():
    """An encoder does not know stems."""
    assert expansion_terms(["retries retries retried"], (), rare, 1) == ("retries",)
    assert expansion_terms(["retried retries"], (), rare, 1) == ("retried",)  # by the alphabet among equals


def test_names_are_taken_apart_and_short_pieces_left_out():
    assert set(expansion_terms(["parseCookieHeader x_id ab"], (), rare, 9)) >= {"parse", "cookie", "header"}
    assert not {"x", "id", "ab"} & set(expansion_terms(["parseCookieHeader x_id ab"], (), rare, 9))


def test_common_words_lose_against_rare_ones():
    assert expansion_terms(["self self self self backoff"], (), rare, 1) == ("backoff",)


def test_a_long_text_does_not_decide_alone():
    assert expansion_terms(["alpha " * 50, "omega", "omega"], (), rare, 1) == ("omega",)


WORDS = st.sampled_from("retry delay sleepSome time_out socket sockets parse parsed x self 42 naïve".split())
TEXTS = st.lists(st.lists(WORDS, max_size=12).map(" ".join), max_size=5)


@given(TEXTS, st.sets(WORDS.map(stem), max_size=4), st.integers(0, 8))
def test_any_texts(texts, known, count):
    words = expansion_terms(texts, known, rare, count)
    written = {term for text in texts for term in tokenize(text)}
    assert len(words) <= count and len({stem(word) for word in words}) == len(words)
    for word in words:
        assert stem(word) not in known and len(word) >= 3 and word == word.lower()
        assert stem(word) in written
    assert expansion_terms(texts, known, rare, count + 1)[:count] == words
