"""Pairs of a question and the function that answers it, from written questions and pairs that are there.

Documentation reuses the words of the code. The questions of `training/data/questions.jsonl.xz` were written
in the words of somebody who has not seen it, for functions named by package and by a hash of their code.
Other functions of the same packages come with them: what a question must tell its function from.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from dowse_training.pairs.exclusion import text_hash

KIND = "question"
# Functions of a package that come beside those that are asked for.
NEIGHBOURS = 8


def question_pairs(
    questions: Iterable[dict[str, Any]], pairs: Iterable[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield a pair for each question whose function is there, and pairs of its neighbours."""
    asked = defaultdict[tuple[str, str], dict[str, list[str]]](dict)
    for each in questions:
        asked[each["lang"], each["pkg"]][each["code_hash"]] = each["questions"]
    neighbours = Counter[tuple[str, str]]()
    for pair in pairs:
        place = (pair["lang"], pair["pkg"])
        if place not in asked:
            continue
        # Packages of several languages may have one name; those of one chunk must be neighbours.
        found = {**pair, "pkg": "/".join(place), "kind": KIND}
        texts = asked[place].pop(text_hash(pair["code"]), [])
        for text in texts:
            yield {**found, "doc": text}
        if not texts and neighbours[place] < NEIGHBOURS:
            neighbours[place] += 1
            yield found
