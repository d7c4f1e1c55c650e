"""How a question is worded: as a topic, as a change to make, or as the description of a function.

A sentence of documentation describes one function, a commit subject ("handle empty headers") concerns
functions that do something else as well, and "request context handling" asks for a place. Each kind has
weights of its own (profile.py). A logistic regression over words, endings and length estimates the kind, and
another whether users ask in words of their own: question_kinds.json and user_questions.json are their
weights, made by `python -m dowse_training.question_kinds`.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from dowse.lazy_classes import fields, replace
from dowse.search.ranking.profile import BlendWeights, Profile

KINDS = ("change", "description", "topic")
# How much more often a user asks for a topic than in the training data, where all kinds are equally many.
_PRIOR = {"change": 1.0, "description": 1.0, "topic": 3.0}
_LENGTHS = (1, 2, 3, 4, 6, 9, 14, 24)
_FIRST_ENDINGS = ("ing", "ed", "es", "s")
_LAST_ENDINGS = ("ing", "tion", "ment", "er", "or", "ed", "es", "s")
_IDENTIFIER = re.compile(r"[a-z][A-Z]|_|`|\(\)|::|\w\.\w")
_LIKELY_CHANGE = 0.5  # the probability from which on a question counts as a request for a change
# What the order learned from questions counts, from how many terms on, and in full after how many more.
_WEIGHT, _FEW_TERMS, _MORE_TERMS = 0.5, 4, 4
_MAX_WORDS = 60  # of a question: what follows says nothing new about its kind

_Weights = TypeVar("_Weights", Profile, BlendWeights)


def question_kinds(text: str) -> dict[str, float]:
    """Return the probability of each kind."""
    return _probabilities("question_kinds", KINDS, text, **_PRIOR)


def user_question(text: str) -> float:
    """Return the probability that a user asks in own words: no topic, commit subject or documentation."""
    return _probabilities("user_questions", ("other", "user"), text)["user"]


def _probabilities(name: str, kinds: Sequence[str], text: str, **prior: float) -> dict[str, float]:
    model = _model(name)
    sums = dict(zip(kinds, model["bias"], strict=True))
    for feature in dict.fromkeys(features(text)):
        for kind, weight in zip(kinds, model["weights"].get(feature, ()), strict=False):
            sums[kind] += weight
    shares = {kind: prior.get(kind, 1.0) * math.exp(value) for kind, value in sums.items()}
    total = sum(shares.values())
    return {kind: share / total for kind, share in shares.items()}


def asks_for_change(kinds: Mapping[str, float]) -> bool:
    """Whether a question is most likely a request for a change, by the probability of each kind."""
    return kinds.get("change", 0.0) > _LIKELY_CHANGE


def learned_order(kinds: Mapping[str, float], text: str, terms: int) -> tuple[str, float]:
    """Return which learned order counts for a question of so many terms, and how much: 0 for not at all."""
    if not kinds or "guide" in kinds:
        return "", 0.0
    if asks_for_change(kinds):
        return "changes", kinds["change"]
    if terms <= _FEW_TERMS:  # short questions and topics ask for a place, and the signals know places better
        return "", 0.0
    return "questions", _WEIGHT * min(1.0, (terms - _FEW_TERMS) / _MORE_TERMS) * user_question(text)


def profile_for_question(profile: Profile, kinds: Mapping[str, float]) -> Profile:
    """Return the weights for a question: the mean of the kinds' weights, by the probability of each."""
    if kinds.get("guide") and profile.kinds:
        return profile.kinds["guide"]
    others = {name: kinds.get(name, 0.0) for name in profile.kinds}
    if not any(others.values()):
        return profile
    return _mean([(profile, 1 - sum(others.values())), *((profile.kinds[n], p) for n, p in others.items())])


def _mean(weighted: Sequence[tuple[_Weights, float]]) -> _Weights:
    """Return the weighted mean of numbers, the majority of what is true or false, the first of all else."""
    first = weighted[0][0]
    values: dict[str, Any] = {}
    for name in (each.name for each in fields(first)):
        parts = [(getattr(weights, name), share) for weights, share in weighted]
        value = parts[0][0]
        if isinstance(value, bool):
            values[name] = sum(share for part, share in parts if part) > 0.5
        elif isinstance(value, float):
            values[name] = sum(share * part for part, share in parts)
        elif isinstance(value, Profile | BlendWeights):
            values[name] = _mean(parts)
    return replace(first, **values)


def features(text: str) -> Iterator[str]:
    """Yield the features of a question."""
    words = text.split()[:_MAX_WORDS]
    plain = [word.strip(".,;:!?()`'\"").lower() for word in words]
    if not plain:
        return
    yield f"first {plain[0]}"
    yield from (f"first …{ending}" for ending in _ending(plain[0], _FIRST_ENDINGS))
    if len(plain) > 1:
        yield from (f"last …{ending}" for ending in _ending(plain[-1], _LAST_ENDINGS))
    if any(word.endswith("ing") and len(word) > 5 for word in plain[1:]):
        yield "any …ing"
    yield from (f"has {word}" for word in plain[1:])
    yield f"length {next((length for length in _LENGTHS if len(words) <= length), 'more')}"
    if any(map(_IDENTIFIER.search, words)):
        yield "has identifier"
    if text.rstrip().endswith("?"):
        yield "ends ?"
    if words[0].istitle():
        yield "capital"


def _ending(word: str, endings: tuple[str, ...]) -> list[str]:
    """Return the first of some endings that a longer word has."""
    return [each for each in endings if word.endswith(each) and len(word) > len(each) + 2][:1]


@functools.cache
def _model(name: str) -> Mapping[str, Any]:
    file = Path(__file__).with_name(f"{name}.json")
    model: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return model
