"""File content: binary, minified and generated file detection, and encoding detection."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from dowse.source.roles import has_generated_name

# As in git and grep: a NUL byte near the start makes a file binary.
_BINARY_HEAD = 8_192

# Control bytes that are rare in text of any encoding, and the share of them that makes a file binary.
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\b\x1b")) + b"\x7f"
_CONTROL_SHARE = 0.03

# Generators put their notice at the top, perhaps below a licence.
_GENERATED_HEAD = 2_048

# Smaller files do no harm, even if minified.
_MINIFIED_MIN_BYTES = 2_048

# Hand-written lines average 30 to 40 bytes; GitHub's linguist calls scripts above 110 minified.
_SUSPICIOUS_AVERAGE = 60
_MINIFIED_AVERAGE = 110

# A line that nobody typed, and the share of a file in such lines that makes it minified.
_LONG_LINE = 1_000
_LONG_SHARE = 0.8

_SCRIPTS_AND_STYLES = (".js", ".mjs", ".cjs", ".jsx", ".css")

# One line is one paragraph here (and one cell's picture in notebooks), so long lines mean nothing.
_PROSE = (".md", ".markdown", ".mdx", ".rst", ".txt", ".adoc", ".org", ".tex", ".ipynb")

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is a prefix of this one
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# Encoding declarations: PEP 263, with the spellings of Emacs, Vim, XML, HTML and CSS.
_DECLARATION = re.compile(rb"(?:coding|charset)\s*+[:=]?\s*+[\"']?([A-Za-z][-\w.]{0,40})")

# The allow list of encodings that a file may declare: those that extend ASCII. With other codecs of Python
# (EBCDIC as cp037, UTF-7, rot13) the text is not the one that its readers see, and some (punycode, idna) take
# quadratic time.
_DECLARABLE = frozenset(
    "big5 big5hkscs cp1006 cp1125 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 cp437 cp720"
    " cp737 cp775 cp850 cp852 cp855 cp856 cp857 cp858 cp860 cp861 cp862 cp863 cp865 cp866 cp869 cp874 cp932"
    " cp949 cp950 euc_jis_2004 euc_jisx0213 euc_jp euc_kr gb18030 gb2312 gbk hp-roman8 iso8859-1 iso8859-10"
    " iso8859-11 iso8859-13 iso8859-14 iso8859-15 iso8859-16 iso8859-2 iso8859-3 iso8859-4 iso8859-5"
    " iso8859-6 iso8859-7 iso8859-8 iso8859-9 johab koi8-r koi8-t koi8-u kz1048 mac-cyrillic mac-greek"
    " mac-iceland mac-latin2 mac-roman mac-turkish ptcp154 shift_jis tis-620".split()
)

# Everything before the first line of code: only there a generator describes the file it wrote. Code about
# generators has such text in strings and further down.
_PREAMBLE = re.compile(
    rb"""(?:
        \s | \xef\xbb\xbf
        | /\*.*?(?:\*/|\Z) | <!--.*?(?:-->|\Z) | \(\*.*?(?:\*\)|\Z) | \{-.*?(?:-\}|\Z) | --\[\[.*?(?:\]\]|\Z)
        | [rbu]?\"\"\".*?(?:\"\"\"|\Z) | [rbu]?'''.*?(?:'''|\Z)
        | (?: // | \# | -- | ; | % | ' | <\?(?:php|xml) | @?rem\b | @?echo\ off ) [^\n]*
        | package\ [^\n]* | "use\ strict";?
    )*""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)

_WHAT = rb"(?:file|code|class|module|source(?:\ file)?|header|document|package|script|parser|lexer)"
_DO_NOT_EDIT = rb"(?:do\ not|don't|please\ do\ not|never|not\ to\ be)\ (?:be\ )?(?:manually\ |hand[- ]?)?"
_DO_NOT_EDIT += rb"(?:edit|modif|change|alter)"
_AUTO = rb"auto(?:matically)?[-\ ]?|machine[-\ ]?"
_GENERATED = re.compile(
    rb"""
    ^[^\w\n]*(?:this\ %(what)s\ (?:is|was)\ )?(?:automatically\ )?@generated\b
    | ^[^\w\n]*<auto-?generated\b
    | \bcode\ generated\ (?:by|from|with)\b.*\bdo\ not\ edit\b
    | ^[^\w\n]*(?:this\ )?%(what)s\ (?:is|was|has\ been)\ (?:an?\ )?(?:%(auto)s)?generated\b
    | ^[^\w\n]*(?:%(auto)s)generated\ (?:%(what)s\ )?(?:by|from|using|with|via)\b
    | \b(?:auto)?generated\b[^;{}]{0,200}?\b%(hands)s
    | \b%(hands)s[^;{}]{0,120}?\b(?:auto)?generated\b
    """
    % {b"what": _WHAT, b"hands": _DO_NOT_EDIT, b"auto": _AUTO},
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ContentVerdict:
    """What the content of a file says about it."""

    skip_reason: str  # why it is not indexed, or ""
    generated: bool  # by a program: leave it out or rank it lower


def classify_content(data: bytes, path: str) -> ContentVerdict:
    """Classify a file by its content: binary, minified, generated or none of them."""
    if _is_binary(data):
        return ContentVerdict("binary", False)
    if _is_minified(data, path):
        return ContentVerdict("minified", False)
    return ContentVerdict("", has_generated_name(path) or _has_generated_notice(data))


def decode(data: bytes) -> tuple[str, str]:
    """Decode any bytes; return the text and the name of its encoding. Newlines stay as they are.

    The text never holds lone surrogates, so it can always be written as UTF-8.
    """
    marked = _decode_bom(data)
    if marked is not None:
        return marked
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        pass
    declared = _decode_declared(data)
    if declared is not None:
        return declared
    try:
        return data.decode("cp1252"), "cp1252"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


def _decode_bom(data: bytes) -> tuple[str, str] | None:
    """Decode by the byte order mark; None if there is none, or it is wrong."""
    if data[:1] not in (b"\xef", b"\xff", b"\xfe", b"\x00"):
        return None
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(encoding), encoding
            except UnicodeDecodeError:
                continue
    return None


def _decode_declared(data: bytes) -> tuple[str, str] | None:
    """Decode by the encoding declared in the first two lines; None if there is none or it is wrong."""
    head = b"\n".join(data[:1_024].split(b"\n", 2)[:2])
    declaration = _DECLARATION.search(head)
    if declaration is None:
        return None
    try:
        name = codecs.lookup(declaration[1].decode("ascii")).name
        if name not in _DECLARABLE:
            return None
        text = data.decode(name)
        if text.encode(name) != data:  # a wrong declaration
            return None
        text.encode("utf-8")
    except (LookupError, ValueError):
        return None
    return text, name


def _is_binary(data: bytes) -> bool:
    """Whether there are NUL bytes or many control bytes near the start, unless in valid UTF-16 or UTF-32."""
    head = data[:_BINARY_HEAD]
    if b"\0" not in head:
        if head.isascii():
            return head.startswith(b"%PDF-")
        return len(head) - len(head.translate(None, _CONTROLS)) > _CONTROL_SHARE * len(head)
    marked = _decode_bom(data)
    return marked is None or "\0" in marked[0]


def _is_minified(data: bytes, path: str) -> bool:
    """Whether lines are too long for hand-written code."""
    if len(data) < _MINIFIED_MIN_BYTES:
        return False
    average = len(data) / (data.count(b"\n") + data.count(b"\r") + 1)
    if average < _SUSPICIOUS_AVERAGE:
        return False
    lowered = path.lower()
    if lowered.endswith(_PROSE):
        return False
    if average > _MINIFIED_AVERAGE and lowered.endswith(_SCRIPTS_AND_STYLES):
        return True
    in_long_lines = sum(len(line) for line in data.splitlines() if len(line) > _LONG_LINE)
    return in_long_lines > _LONG_SHARE * len(data)


def _has_generated_notice(data: bytes) -> bool:
    """Whether the comment at the top says that the file is generated."""
    head = data[:_GENERATED_HEAD]
    if b"generated" not in head.lower():
        return False
    preamble = _PREAMBLE.match(head)
    return preamble is not None and _GENERATED.search(preamble[0]) is not None
