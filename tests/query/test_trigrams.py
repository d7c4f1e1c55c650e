"""The trigram analysis: small where it should be, and never stricter than the pattern."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.errors import QueryError
from dowse.query.regex.matcher import compile_pattern
from dowse.query.regex.trigrams import All, And, Or, Trigram, required_trigrams

from .strategies import PATTERNS, TEXTS


def holds(query, trigrams):
    """Evaluate a trigram query on the trigrams of a text."""
    if isinstance(query, And):
        return all(holds(part, trigrams) for part in query.parts)
    if isinstance(query, Or):
        return any(holds(part, trigrams) for part in query.parts)
    return isinstance(query, All) or query.text in trigrams


def trigrams_of(text):
    """Return the trigrams that the index stores for a text."""
    return {text[i : i + 3].lower() for i in range(len(text) - 2)}


def both(*texts):
    return And(tuple(map(Trigram, texts)))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("ABcd", both("abc", "bcd")),
        ("ab", All()),
        ("a.*Bcd", Trigram("bcd")),
        ("Abc|bcD", Or((Trigram("abc"), Trigram("bcd")))),
        ("Abc|b", All()),
        ("(?i)Kan", Trigram("kan")),
        ("(?i)set", Or((Trigram("set"), Trigram("ſet")))),
        ("Set", Trigram("set")),
        ("(?i)éab", All()),
        ("Éab", Trigram("éab")),
        ("A[bc]d", Or((Trigram("abd"), Trigram("acd")))),
        (r"A\wbcd", Trigram("bcd")),
        (r"^\bAbc\b$", Trigram("abc")),
        ("Ab+c", All()),
        ("(Abc)+", Trigram("abc")),
        ("(Abc)*", All()),
        ("(Ab){2}", both("aba", "bab")),
        ("Ab?cd", Or((both("abc", "bcd"), Trigram("acd")))),
        ("ΑΣ .", All()),
        ("\ue000Abc", Trigram("abc")),
    ],
)
def test_table(pattern, expected):
    assert required_trigrams(compile_pattern(pattern)) == expected


def test_trees_stay_small():
    wide = "|".join(f"[abc]{i:03}[xyz]" for i in range(100))
    assert required_trigrams(compile_pattern(wide)) == All()
    assert len(repr(required_trigrams(compile_pattern("sessions" * 20)))) < 12_000


@settings(deadline=None, max_examples=100)
@given(PATTERNS, TEXTS, st.sampled_from(["smart", "sensitive", "insensitive"]))
def test_never_stricter_than_the_pattern(pattern, text, case):
    try:
        compiled = compile_pattern(pattern, case=case)
    except QueryError:
        return
    if compiled.line_numbers(text):
        assert holds(required_trigrams(compiled), trigrams_of(text))


@settings(deadline=None)
@given(st.text(alphabet="sSkKKſaéÉßΣσς", min_size=3, max_size=6), st.data())
def test_case_folding_never_loses_a_text(literal, data):
    text = "".join(data.draw(st.sampled_from([c, c.upper(), c.lower(), c.swapcase()])) for c in literal)
    compiled = compile_pattern(literal, literal=True, case="insensitive")
    if compiled.line_numbers(text):
        assert holds(required_trigrams(compiled), trigrams_of(text))
