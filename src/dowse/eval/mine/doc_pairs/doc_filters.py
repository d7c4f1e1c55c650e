"""Which documentation teaches nothing: small questions about a candidate."""

from __future__ import annotations

import re

from dowse.eval.mine.doc_pairs.candidate import Candidate, first_paragraph

# Shorter says no more than the name; longer is an essay whose first words are an introduction.
MIN_DOC_WORDS = 3
MAX_SUMMARY_WORDS = 120

# English technical prose is nearly all ASCII, and mostly letters; names and a few symbols make up the rest.
MIN_ASCII = 0.95
MIN_LETTERS = 0.65

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

# A heading with nothing of its own before it.
_HEADING = r"""(?:parameters?|args?|arguments?|returns?|raises|yields|notes?|examples?|usage|see\ also
    |attributes|inputs?|outputs?|keyword\ arg\w*|todo|fixme|xxx|deprecated|internal|private|constructor
    |destructor)\s*(?:[:\-=.]|\n|\Z)"""

_TAG = r"""[@:\\](?:param|returns?|rtype|type|see|inheritdoc|deprecated|throws|raises|internal|ignore|todo
    |private|api|override|hide|function|method|class|name|ingroup|constructor|since|author|access)\b
    | \{?@inheritdoc\b"""

_SEE_ELSEWHERE = r"""see\ (?:above|below|base|parent|super|the\ (?:base|parent)|docstring|\#|:|\{|`)
    | same\ as\b | ditto\b | inherit(?:ed|s)?\b | overrid(?:e|es|den|ing)\b
    | implements?\ (?:the\ )?(?:interface|abstract|base|parent)\b"""

_NOTHING_YET = r"""not\ implemented | placeholder | dummy | no[- ]?op | stub | document\ me | missing\ doc
    | add\ (?:your\ )?doc | undocumented | lorem\ ipsum
    | (?:summary|description|docstring)\b\s*(?:[:.]|\Z)"""

_NOT_A_SENTENCE = r">>> | \.\.\s | -{3,} | ={3,} | \*{3,} | \#{3,} | https?://\S+\s*\Z | <!--"

_FOR_TOOLS = r"""(?:noqa|type:|pylint|eslint|istanbul|jshint|jslint|tslint|prettier|nolint|rubocop|phpcs
    |clang|nosec|region|endregion)\b"""

_BOILERPLATE = re.compile(
    rf"\s*(?:{'|'.join((_HEADING, _TAG, _SEE_ELSEWHERE, _NOTHING_YET, _NOT_A_SENTENCE, _FOR_TOOLS))})",
    re.VERBOSE | re.IGNORECASE,
)

# What editors and generators of clients put in, anywhere in the text.
_TEMPLATE = re.compile(
    r"""\b_(?:summary|description|type)_\b | \[(?:summary|description)\] | \bauto-?\s?generated\b
    | \bautomatically\ generated\b | \bthis\ method\ makes\ a\ synchronous\ http\ request\b
    | \bgenerated\ by\ the\ protocol\ buffer\ compiler\b""",
    re.VERBOSE | re.IGNORECASE,
)

_LICENCE = re.compile(
    r"""\bcopyright\b | \(c\)\s*\d{4} | \bSPDX- | \ball\ rights\ reserved\b | \blicensed\ under\b
    | \bpermission\ is\ hereby\ granted\b | \bredistribution\ and\ use\b
    | \bgnu\ (?:lesser\ |affero\ )?general\ public\ licen[cs]e\b""",
    re.VERBOSE | re.IGNORECASE,
)

_COMMENTED_CODE = re.compile(
    r"[)\]}\"'];\s*$|[{}]\s*$|^\s*(?:def|import|var|let|const|function)\b.*[:;({=]\s*$", re.MULTILINE
)


def too_short(candidate: Candidate) -> bool:
    """Whether the documentation says no more than a name does."""
    return len(_WORD.findall(first_paragraph(candidate.doc))) < MIN_DOC_WORDS


def too_long(candidate: Candidate) -> bool:
    """Whether the documentation opens with an essay."""
    return len(first_paragraph(candidate.doc).split()) > MAX_SUMMARY_WORDS


def not_ascii(candidate: Candidate) -> bool:
    """Whether the documentation is written in another script."""
    doc = first_paragraph(candidate.doc)
    return sum(character.isascii() for character in doc) < MIN_ASCII * len(doc)


def not_english(candidate: Candidate) -> bool:
    """Whether the small words of the documentation are those of another language."""
    words = first_paragraph(candidate.doc).lower().split()
    foreign = sum(word in _FOREIGN for word in words)
    english = sum(word in _ENGLISH for word in words)
    # One foreign word may be a name: `os`, `per`, `die`.
    return (foreign > 1 and foreign > english) or (not english and len(words) >= _SMALL_WORDS_EXPECTED)


def not_prose(candidate: Candidate) -> bool:
    """Whether the documentation is a table, a drawing, a formula or commented-out code."""
    doc = first_paragraph(candidate.doc)
    letters = sum(character.isalpha() or character.isspace() for character in doc)
    return letters < MIN_LETTERS * len(doc) or _COMMENTED_CODE.search(doc) is not None


def is_boilerplate(candidate: Candidate) -> bool:
    """Whether the documentation begins with a tag or heading, or was filled in by a template."""
    paragraph = first_paragraph(candidate.doc)
    return _BOILERPLATE.match(paragraph) is not None or _TEMPLATE.search(candidate.doc) is not None


def is_licence(candidate: Candidate) -> bool:
    """Whether a licence header was taken for documentation."""
    return _LICENCE.search(first_paragraph(candidate.doc)) is not None
