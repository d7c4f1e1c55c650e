"""The words of a question that say something."""

from __future__ import annotations

import re

# What questions are built with: nobody would search for these, and they are in every file.
_FUNCTION_WORDS = frozenset(
    (
        "a about after all also an and any are as at be been before being both but by can could did do does "
        "done each etc for from had has have how i if in into is it its just like may me might more most "
        "must my no not of on one only or other our out over shall should so some such than that the their "
        "them then there these they this those through to under up us use used uses using was we were what "
        "when where whether which while who whom whose why will with within without would you your"
    ).split()
)


def content_words(query: str) -> list[str]:
    """Return the distinct words of a question in lower case, without those that only hold it together.

    If nothing is left, it is made of such words, and they are all there is to go by.
    """
    words = list(dict.fromkeys(re.findall(r"\w+", query.lower())))
    return [word for word in words if len(word) > 1 and word not in _FUNCTION_WORDS] or words
