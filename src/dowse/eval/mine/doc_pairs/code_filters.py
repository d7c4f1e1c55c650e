"""Which code teaches nothing: small questions about a candidate, the same for all languages."""

from __future__ import annotations

import re
from collections import Counter

from dowse.eval.mine.doc_pairs.candidate import Candidate

# In words (identifiers, keywords, numbers), which is what an encoder sees of code.
MIN_CODE_WORDS = 6

# Far more than is kept: of longer functions the pair would only show the beginning.
MAX_CODE_CHARACTERS = 12_000

# A body of at most so many words beside the empty ones below hands over one thing, or does nothing yet.
_TRIVIAL_WORDS = 2
_STUB_WORDS = 4

_WORD = re.compile(r"\w+")

_TEST_NAME = re.compile(r"(?:test|should)(?:_|[A-Z]|\Z)|(?:setUp|tearDown)(?:Class|Module)?\Z")
_TEST_CLASS = re.compile(r"\w+Test(?:s|Case)?\Z")

_NOT_IMPLEMENTED = r"""(?:throw|raise)\s+(?:new\s+)?\\?\w*
    (?:NotImplemented|Unsupported|BadMethodCall|AbstractMethod)\w*(?:\s*\([^()]*\)|\s*,.*)?
    | (?:unimplemented|todo|unreachable|panic)!\s*\([^()]*\)
    | panic\("(?:not\ implemented|todo|implement\ me)[^"]*"\)"""

_BARE_RETURN = r"return(?:\s+(?:\w+|\[\]|\{\}|\"\"|''))?"

_STUB = re.compile(
    rf"(?:^|[\s{{:;=])(?:pass|\.\.\.|{_NOT_IMPLEMENTED}|{_BARE_RETURN})\s*;?\s*(?:\}}|end)?\s*\Z",
    re.VERBOSE,
)

# Words that a body may hold and still do nothing but hand over one thing.
_EMPTY_WORDS = frozenset(
    """return self this cls super pass none null nil undefined true false end def fn func function public
    private static const let var get set value val new override await async ref mut as inline final void is
    not""".split()
)


def is_test(candidate: Candidate) -> bool:
    """Whether the function checks others."""
    if _TEST_NAME.match(candidate.name):
        return True
    return any(_TEST_CLASS.match(part) for part in candidate.qualified_name.split(".")[:-1])


def too_short(candidate: Candidate) -> bool:
    """Whether there is hardly any code, or nothing but a declaration."""
    words = len(_WORD.findall(candidate.code))
    return words < MIN_CODE_WORDS or words <= len(_WORD.findall(candidate.signature))


def too_long(candidate: Candidate) -> bool:
    """Whether what would be kept of the code is only its beginning."""
    return len(candidate.code) > MAX_CODE_CHARACTERS


def is_stub(candidate: Candidate) -> bool:
    """Whether the body is a placeholder."""
    return _STUB.search(candidate.code) is not None and _body_words(candidate) <= _STUB_WORDS


def is_trivial(candidate: Candidate) -> bool:
    """Whether the body only hands over one thing: a getter, a setter, a bare delegation."""
    return _body_words(candidate) <= _TRIVIAL_WORDS


def _body_words(candidate: Candidate) -> int:
    """How many words the code holds beyond its signature and what carries no meaning."""
    words = Counter(_WORD.findall(candidate.code))
    words.subtract(_WORD.findall(candidate.signature))
    return sum(count for word, count in words.items() if count > 0 and word.lower() not in _EMPTY_WORDS)
