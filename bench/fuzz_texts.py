"""Random queries: by the grammar of the query language, as pasted texts, as damaged bytes, as any Unicode."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

# Longer than what the parser takes, so that its limit is tried, too.
_MAX_LENGTH = 12_000
_FILTERS = """lang:python lang:go lang:klingon lang: kind:class kind:function kind:x path:src/** path:**/*.py
    path:[ path:{a,b} -path:tests/** -lang:java sym:*a* sym:[ sym:* repo:x repo: case:yes case:no case:maybe
    rev:nowhere -test within:x foo:bar lang:py,go file:x""".split()
_OPERATORS = ["AND", "OR", "NOT", "-", "(", ")", '"', "/", "`", "'", "and", "or", "not", "!", "&&", "||"]
_QUESTIONS = """what calls {}, who calls {} and why, where is {} defined, tests for {}, what does {} return,
    path from {} to {}, callers of {}, callees of {}, what implements {}, subclasses of {}, uses of {},
    impact of changing {}, how does {} work, what happens if {} is None, show me {}, {}, {}.{}, {}::{}, {}#{},
    {}(), `{}`, src/{}.py:12, {}.py:3:4""".replace("\n    ", " ").split(", ")
_REGEX_PARTS = r""". .* .+ \w+ \d{3} [a-z]* [^x] (a|b) (?:x)? ^ $ \b \s+ a{2,5} a{1000} (?i) \p{L} \x00 \Q.\E
    (?P<n>a) (((( )) [ ] { } \ \1 (?=a) (?<=b) * + ? {,3} [[:alpha:]] \C (a+)+$ (\w+\s*)+; |""".split()
_PASTED = [
    'Traceback (most recent call last):\n  File "/{}.py", line {n}, in {}\n    {}()\n{}Error: {} not {}\n',
    "    at {}.{} ({}.java:{n})\n    at {} ({}.js:{n}:{n})\nCaused by: {}Exception: no {}\n",
    "error[E0{n}]: cannot find {} in {}\n --> src/{}.rs:{n}:{n}\n  |\n{n} | {}\n",
    "2026-01-01 12:00:{n} ERROR [{}] {}: failed to {} the {}\n",
    "diff --git a/{}.py b/{}.py\n@@ -{n},3 +{n},4 @@\n-{}\n+{} {}\n",
    "### {} does not {}\n\nSteps:\n1. {} the {}\n2. `{}`\n\n```python\n{}({n})\n```\nExpected {}.\n",
    "panic: {}\n\ngoroutine {n} [running]:\nmain.{}(0x{n})\n\t/src/{}.go:{n} +0x1\n",
    "{}.c:{n}:{n}: warning: unused {} [-W{}]\n",
]
_ODD = (
    "\x00\x01\x1b[31m\x7f\x85\xa0\u200b\u200d\u202e\u2028\ufeff\ufffd\ud800\udfff\u0301"
    "\u00e9\u6f22\U0001f3fd\U0001f680\u0130\u0131\u017f\u1e9e\ufb01\U0010ffff"
)
_MODES = ("auto", "keyword", "symbol", "regex", "graph", "tfidf", "hybrid", "embedding")


class QueryFuzzer:
    """Draws queries; the words are those of an index, so that some of them find something."""

    def __init__(self, words: Sequence[str], seed: int) -> None:
        self._random, self._words = random.Random(seed), list(words) or ["a"]
        self._kinds: list[Callable[[], str]] = [
            *[self._grammar] * 6,
            *[self._question] * 3,
            *[self._regex] * 3,
            *[self._pasted] * 2,
            *[self._damaged] * 4,
            *[self._unicode] * 2,
            self._repeated,
        ]

    def query(self) -> str:
        """Return a query."""
        return self._random.choice(self._kinds)()[:_MAX_LENGTH]

    def options(self) -> dict[str, object]:
        """Return options for it; most are the usual ones."""
        choose = self._random.choice
        drawn: dict[str, Callable[[], object]] = {
            "mode": lambda: choose(
                ["auto", "keyword", "symbol", "regex", "graph", "tfidf", "hybrid", "embedding"]
            ),
            "plain": lambda: True,
            "filters": lambda: " ".join(choose(_FILTERS) for _ in range(self._random.randrange(1, 4))),
            "lang": lambda: (choose(["python", "go", "klingon", "", "\ud800"]),),
            "path": lambda: (choose(["src/**", "*", "[", "", "**/" * 50, "../..", "\x00"]),),
            "kind": lambda: (choose(["class", "function", "x", ""]),),
            "exclude": lambda: (choose(["tests/**", "*", "["]),),
            "lanes": lambda: choose(["keyword", "graph", "keyword,graph", "tfidf,keyword"]),
            "fusion": lambda: choose(["rrf", "weighted", "adaptive", "convex", "blend", "intersection"]),
            "fuzziness": lambda: choose(["0", "1", "2"]),
            "explain": lambda: True,
            "expand": lambda: True,
            "min_score": lambda: choose([0.01, 1.0, 1e6]),
            "diversify": lambda: choose(["cluster", "sample"]),
            "clustering": lambda: choose(["euclidean", "hyperbolic", "spectral"]),
        }
        names = self._random.sample(sorted(drawn), self._random.choice([0, 0, 0, 1, 1, 2, 4]))
        return {name: drawn[name]() for name in names}

    def depth(self) -> int:
        """Return how many hits to ask for; 0 for all lines of a pattern."""
        return self._random.choice([0, 1, 3, 10, 10, 10, 100])

    def _word(self) -> str:
        word = self._random.choice(self._words)
        shape = self._random.randrange(8)
        if shape == 0 and len(word) > 3:  # misspelt
            at = self._random.randrange(len(word))
            return word[:at] + self._random.choice("aeiouxyz_") + word[at + self._random.randrange(2) :]
        return word.upper() if shape == 1 else f"unknown{word.title()}" if shape == 2 else word

    def _fill(self, template: str) -> str:
        while "{}" in template:
            template = template.replace("{}", self._word(), 1)
        while "{n}" in template:
            template = template.replace(
                "{n}", str(self._random.choice([0, 1, 7, 12, 404, 99999999999999])), 1
            )
        return template

    def _grammar(self) -> str:
        kinds: list[Callable[[], str]] = [
            *[self._word] * 2,
            lambda: self._random.choice(_FILTERS),
            lambda: self._random.choice(_OPERATORS),
            lambda: f'"{self._word()}"',
            lambda: f"-{self._word()}",
            self._regex,
        ]
        count = self._random.choice([1, 2, 3, 5, 8, 30])
        parts = [self._random.choice(kinds)() for _ in range(count)]
        return self._random.choice([" ", " ", " ", "", "\n", "\t"]).join(parts)

    def _question(self) -> str:
        return self._fill(self._random.choice(_QUESTIONS))

    def _regex(self) -> str:
        count = self._random.choice([1, 2, 4, 12])
        body = "".join(self._random.choice([*_REGEX_PARTS, self._word()]) for _ in range(count))
        return f"/{body}/{self._random.choice(['', '', 'i', 'x'])}"

    def _pasted(self) -> str:
        templates = self._random.choices(_PASTED, k=self._random.choice([1, 1, 2, 10]))
        return "".join(map(self._fill, templates))

    def _damaged(self) -> str:
        """Return another query with some bytes changed, as a broken terminal or client sends it."""
        data = bytearray(self._random.choice(self._kinds[:14])().encode("utf-8", "surrogatepass")[:2_000])
        for _ in range(self._random.choice([1, 1, 3, 20])):
            at = self._random.randrange(len(data) + 1)
            data[at : at + self._random.randrange(4)] = self._random.randbytes(self._random.randrange(4))
        return data.decode("utf-8", self._random.choice(["surrogateescape", "replace", "ignore"]))

    def _unicode(self) -> str:
        count, pick = self._random.choice([1, 3, 10, 60]), self._random.randrange
        points = [chr(pick(0x110000)) if pick(2) else self._random.choice(_ODD) for _ in range(count)]
        return "".join(points) if pick(2) else " ".join([*points, self._word()])

    def _repeated(self) -> str:
        """Return one part many times over: what takes more than linear time shows."""
        word = self._word()
        more = ["-a ", "NOT ", "a.b.", "aB", "_", 'File "a.py", line 3\n', "Error: ", "((a) ", "/a/ ", '"a" ']
        parts = [*_OPERATORS, *_FILTERS, *_ODD, word, f"{word} ", f"{word} OR ", *more]
        return (self._random.choice(parts) * self._random.choice([2, 50, 1_000, 10_000]))[:_MAX_LENGTH]
