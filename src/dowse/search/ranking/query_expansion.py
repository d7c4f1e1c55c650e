"""Query expansion: pseudo-relevance feedback with terms of the best hits, weighted by TF-IDF.

Off by default: it was measured and does not win on the average (docs/RANKING.md).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence

from dowse.parsing.tokenizer import split_identifier, stem

_WORD = re.compile(r"[^\W\d]\w+")
# Shorter words are indices and abbreviations.
_MIN_LENGTH = 3


def expansion_terms(
    texts: Sequence[str],
    known: Collection[str],
    idf: Callable[[str], float],
    count: int,
    expect: Callable[[Collection[str]], None] = lambda _: None,
) -> tuple[str, ...]:
    """Return the words of the best hits with the highest sum over texts of TF · IDF.

    `known` are the stems of the query. `expect` is called with all other stems before `idf` is called for
    each, so that they can be looked up at once.
    """
    scores: defaultdict[str, float] = defaultdict(float)
    written: dict[str, Counter[str]] = {}
    parts = [[p.lower() for word in _WORD.findall(text) for p in split_identifier(word)] for text in texts]
    counted = [Counter(stem(word) for word in words if len(word) >= _MIN_LENGTH) for words in parts]
    expect({each for stems in counted for each in stems if each not in known})
    for words, stems in zip(parts, counted, strict=True):
        longest = max(stems.values(), default=1)  # a long text should not decide alone
        for each, times in stems.items():
            if each not in known:
                scores[each] += times / longest * idf(each)
        for word in words:
            written.setdefault(stem(word), Counter())[word] += 1
    best = sorted(scores, key=lambda each: (-scores[each], each))[:count]
    # As they are written: an encoder does not know stems.
    return tuple(min(written[each], key=lambda word: (-written[each][word], word)) for each in best)
