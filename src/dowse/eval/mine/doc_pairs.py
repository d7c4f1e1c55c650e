"""Pairs of documentation and code: cleaning and filters, for mined questions and for training."""

from __future__ import annotations

import re
import textwrap
from collections import Counter

from dowse.lazy_classes import NamedTuple
from dowse.types import Definition

_PARAGRAPH_END = re.compile(r"\n[ \t\r]*\n")

# Tags whose text is the documentation itself.
_SUMMARY_TAG = re.compile(r"[@\\](?:brief|short|summary|description|desc)\b[ \t:]*\n?\s*", re.IGNORECASE)

# Lines that tell tools what a reader of the code sees anyway.
_LABEL = re.compile(
    r"""[@\\](?:name|function|func|fn|method|memberof|category|module|public|static|api|access|ingroup|since
        |version|author|export|async|kind|scope|instance|relates|relatesalso|addtogroup|overload)\b[^\n]*(?:\n\s*|\Z)""",
    re.VERBOSE | re.IGNORECASE,
)

# Where this is all there is, it is the best description: "@return the number of open files".
_RETURNS = re.compile(r"[@\\]returns?\b[ \t:]*(?:\{[^}\n]*\}[ \t]*)?", re.IGNORECASE)

# In words (identifiers, keywords, numbers), which is what an encoder sees of code.
MIN_CODE_WORDS = 6

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

# Prose is mostly letters; names and a few symbols make up the remainder.
MIN_LETTERS = 0.65

# A heading with nothing of its own before it.
_HEADING = r"""(?:parameters?|args?|arguments?|returns?|raises|yields|notes?|examples?|usage|see\ also
    |attributes|inputs?|outputs?|keyword\ arg\w*|todo|fixme|xxx|deprecated|internal|private|constructor
    |destructor)\s*(?:[:\-=.]|\n|\Z)"""

_TAG = r"""[@:\\](?:param|returns?|rtype|type|see|inheritdoc|deprecated|throws|raises|internal|ignore|todo
    |private|api|override|hide|function|method|class|name|ingroup|constructor|since|author|access)\b
    | \{?@inheritdoc\b"""

_CROSS_REFERENCE = r"""see\ (?:above|below|base|parent|super|the\ (?:base|parent)|docstring|\#|:|\{|`)
    | same\ as\b | ditto\b | inherit(?:ed|s)?\b | overrid(?:e|es|den|ing)\b
    | implements?\ (?:the\ )?(?:interface|abstract|base|parent)\b"""

_PLACEHOLDER = r"""not\ implemented | placeholder | dummy | no[- ]?op | stub | document\ me | missing\ doc
    | add\ (?:your\ )?doc | undocumented | lorem\ ipsum
    | (?:summary|description|docstring)\b\s*(?:[:.]|\Z)"""

_NOT_A_SENTENCE = r">>> | \.\.\s | -{3,} | ={3,} | \*{3,} | \#{3,} | https?://\S+\s*\Z | <!--"

_FOR_TOOLS = r"""(?:noqa|type:|pylint|eslint|istanbul|jshint|jslint|tslint|prettier|nolint|rubocop|phpcs
    |clang|nosec|region|endregion)\b"""

_BOILERPLATE = re.compile(
    rf"\s*(?:{'|'.join((_HEADING, _TAG, _CROSS_REFERENCE, _PLACEHOLDER, _NOT_A_SENTENCE, _FOR_TOOLS))})",
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


class Candidate(NamedTuple):
    """A documented function as the parser found it, uncut, before any filter."""

    language: str
    path: str
    name: str
    qualified_name: str
    signature: str
    doc: str
    code: str  # without its documentation, dedented
    written_doc: str  # with the tags that `doc` has lost


def first_paragraph(doc: str) -> str:
    """Return the documentation before its first empty line."""
    return _PARAGRAPH_END.split(doc.strip(), maxsplit=1)[0]


def code_without_docs(text: bytes, definition: Definition) -> str:
    """Return a definition's own text without its documentation and the lines that leaves empty."""
    kept = bytearray()
    for start, end in definition.spans:
        for doc_start, doc_end in sorted(definition.doc_spans):
            if start <= doc_start < end:
                kept += text[start:doc_start]
                start = min(doc_end, end)
        kept += text[start:end]
    indent = _indent_before(text, definition.spans[0][0])
    lines = (indent + kept.decode("utf-8", "replace")).splitlines()
    return textwrap.dedent("\n".join(line.rstrip() for line in lines if line.strip()))


def _indent_before(text: bytes, start: int) -> str:
    """Return the white space before a definition on its line, so that dedenting is even."""
    before = text[text.rfind(b"\n", 0, start) + 1 : start]
    return before.decode("utf-8", "replace") if not before.strip() else ""


def clean_doc(doc: str) -> str:
    """Return documentation without leading tags and labels; texts without tags stay as they are."""
    doc = doc.strip()
    while label := _LABEL.match(doc):
        doc = doc[label.end() :]
    if summary := _SUMMARY_TAG.match(doc):
        doc = doc[summary.end() :]
    elif returns := _RETURNS.match(doc):
        doc = "Returns " + doc[returns.end() :].lstrip("- ")
    return doc.strip()


def is_test(candidate: Candidate) -> bool:
    """Whether the function checks others."""
    if _TEST_NAME.match(candidate.name):
        return True
    return any(_TEST_CLASS.match(part) for part in candidate.qualified_name.split(".")[:-1])


def is_short_code(candidate: Candidate) -> bool:
    """Whether there is hardly any code, or nothing but a declaration."""
    words = len(_WORD.findall(candidate.code))
    return words < MIN_CODE_WORDS or words <= len(_WORD.findall(candidate.signature))


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
