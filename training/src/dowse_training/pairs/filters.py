"""Which documented functions make no pair, and under which name that is counted."""

from __future__ import annotations

import re
from collections.abc import Callable

from dowse.eval.mine import doc_pairs
from dowse.eval.mine.doc_pairs import Candidate, first_paragraph

# Shorter says no more than the name; longer is an essay whose first words are an introduction.
MIN_DOC_WORDS = 3
MAX_SUMMARY_WORDS = 120

# English technical prose is nearly all ASCII.
MIN_ASCII = 0.95

# Far more than is kept: of longer functions the pair would only show the beginning.
MAX_CODE_CHARACTERS = 12_000

# From here on, prose without a single small English word is a list of names or another language.
_SMALL_WORDS_EXPECTED = 12

_WORD = re.compile(r"[A-Za-z][A-Za-z']*")
_ENGLISH = frozenset(
    """a an the of to in for and or is are be been this that these it its if from with by as on at not no can
    will when which into all any each has have do does get set return returns given use used using new
    whether one only then so but you we""".split()
)
_FOREIGN = frozenset(
    """de la el los las un una que para por del con se su en le les des une est pour dans sur avec du et der
    die das und ist nicht ein eine mit von zu den im auf wird uma um os com não il che di per nel della sono
    het een van voor niet och att som ett den det på""".split()
)


def _doc_too_short(candidate: Candidate) -> bool:
    """Whether the documentation says no more than a name does."""
    return len(_WORD.findall(first_paragraph(candidate.doc))) < MIN_DOC_WORDS


def _doc_too_long(candidate: Candidate) -> bool:
    """Whether the documentation opens with an essay."""
    return len(first_paragraph(candidate.doc).split()) > MAX_SUMMARY_WORDS


def _doc_not_ascii(candidate: Candidate) -> bool:
    """Whether the documentation is written in another script."""
    doc = first_paragraph(candidate.doc)
    return sum(character.isascii() for character in doc) < MIN_ASCII * len(doc)


def _doc_not_english(candidate: Candidate) -> bool:
    """Whether the small words of the documentation are those of another language."""
    words = first_paragraph(candidate.doc).lower().split()
    foreign = sum(word in _FOREIGN for word in words)
    english = sum(word in _ENGLISH for word in words)
    # One foreign word may be a name: `os`, `per`, `die`.
    return (foreign > 1 and foreign > english) or (not english and len(words) >= _SMALL_WORDS_EXPECTED)


def _code_too_long(candidate: Candidate) -> bool:
    """Whether what would be kept of the code is only its beginning."""
    return len(candidate.code) > MAX_CODE_CHARACTERS


# The order is that of the questions, cheap and common ones first; a candidate is counted under the first
# that it answers with yes.
FILTERS: dict[str, Callable[[Candidate], bool]] = {
    "test": doc_pairs.is_test,
    "documentation not ASCII": _doc_not_ascii,
    "documentation too short": _doc_too_short,
    "documentation too long": _doc_too_long,
    "documentation is boilerplate": doc_pairs.is_boilerplate,
    "documentation is a licence": doc_pairs.is_licence,
    "documentation not prose": doc_pairs.not_prose,
    "documentation not English": _doc_not_english,
    "code too short": doc_pairs.is_short_code,
    "code too long": _code_too_long,
    "stub": doc_pairs.is_stub,
    "trivial": doc_pairs.is_trivial,
}


def drop_reason(candidate: Candidate) -> str:
    """The name of the first filter that a candidate does not pass, or "" when it passes all."""
    return next((reason for reason, drops in FILTERS.items() if drops(candidate)), "")
