"""The fields of a long text, such as a bug report or a commit message: title, prose, errors and code.

What every report has and no code is about is left out: headings of templates, lists of versions, quoted
replies, trailers, addresses, check boxes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from dowse.lazy_classes import NamedTuple, dataclass
from dowse.query.lexer import TRAILING, is_code_word

# A text of fewer words is a question; one whose own words are fewer than the second is pasted output.
MIN_WORDS, MIN_PROSE = 50, 15
# Characters that are read, and at which a longer line is cut in two: a pasted log may have megabytes.
_MAX_LENGTH, _MAX_LINE = 20_000, 1_000
_FENCE = re.compile(r"\s*(?:```|~~~)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)")
_URL = re.compile(r"<?\b(?:https?|ftp|git|file)://[^\s>)\]]+>?|\b[\w.+-]{1,64}@[\w-]{1,64}\.\w+")
# Ids of commits, addresses in memory, numbers of issues and versions: no code has them.
_NUMBER = re.compile(
    r"\b(?=[a-f]*\d)[0-9a-f]{7,64}\b|\b0x[0-9a-fA-F]+\b|(?:\b[\w./-]{1,80})?#\d+\b|\bv?\d+(?:\.\d+)+[\w.+-]*"
)
_HEADING = re.compile(
    r"(?:describe the (?:bug|issue|problem)|bug (?:report|description)|description|summary|overview"
    r"|motivation"
    r"|(?:steps? )?(?:to )?reproduc\w*(?: steps?)?|steps|minimal (?:\w+ )?example|example(?: code)?"
    r"|sample code"
    r"|(?:what (?:was|is|did|happened|you)|expected|actual|current|desired|observed)\b.{0,40}"
    r"|additional (?:context|info\w*)|context|other|notes?|screenshots?|logs?|output|stack ?trace|traceback"
    r"|(?:possible |suggested |proposed )?(?:fix|solution|workaround)s?|checklist"
    r"|(?:initial )?checks?|changes?"
    r"|(?:related )?issues?|pull request|type of change|testing|test plan|how has this been tested.{0,3})",
    re.IGNORECASE,
)
_ENVIRONMENT = re.compile(
    r"(?:(?:your |system |runtime )?(?:environment|platform|system|setup|configuration|versions?)\b.{0,30}"
    r"|.{0,30}\b(?:versions?|environment|system info\w*)"
    r"|(?:python|os|node|go|rust|java|ruby|\w+ env)\b.{0,30}(?:version|info))",
    re.IGNORECASE,
)
_VERSION_LINE = re.compile(
    r"[-*\s]*(?:[\w./ ()&@-]{1,40}[:=]\s*|[\w./@-]{1,40}[ =@-]+)[\"'(]?(?:v|>=|\^|~)?\d+(?:\.\w+)+\b.{0,80}$"
    r"|[-*\s]*(?:os|platform|system|arch\w*|install path|shell|browser|device|compiler|cpu|ram)\s*:.{0,100}$",
    re.IGNORECASE,
)
_TRAILER = re.compile(
    r"(?:[A-Z][\w-]+-(?:by|on|url|id|from)\s*:.*|(?:pr-url|cc)\s*:.*"
    r"|(?:(?:this )?(?:fix(?:es|ed)?|close[sd]?|refs?|resolve[sd]?|see|related(?: to)?|part of|bug|issue"
    r"|pr)\b[:,]?\s*(?:[\w./-]{0,80}#\d+|<?https?://\S+)[\s,.;)]*)+)$",
    re.IGNORECASE,
)
_REPLY = re.compile(r"\s*>|On .{5,80} wrote:\s*$")
_CHECK_BOX = re.compile(r"\s*[-*+] \[[ xX]\]")
_ERROR = re.compile(
    r"(?:\S{1,40} ){0,3}[\w.]{0,80}(?:error|exception|warning|failure|fatal|panic)(?:\[\w+\])?: "
    r"|.*\bpanicked at ",
    re.IGNORECASE,
)
_CODE_LINE = re.compile(r"(?: {4}|\t)\S|\$ \S|>>> |[+-]{3} |@@ |In \[\d+\]")


class Field(NamedTuple):
    """A line or paragraph, by what it is."""

    kind: str  # "title", "prose", "error" or "code"
    text: str


@dataclass(frozen=True, slots=True)
class LongText:
    """A long text by its fields, in their order."""

    fields: tuple[Field, ...]

    def text(self, *kinds: str) -> str:
        """Return the fields of some kinds, or all."""
        return "\n".join(field.text for field in self.fields if not kinds or field.kind in kinds)

    @property
    def summary(self) -> str:
        """What was read, in words."""
        counts = Counter(field.kind for field in self.fields)
        lines = [f"{kind} ({counts[kind]})" for kind in ("prose", "error", "code") if counts[kind]]
        return f"its title and lines of {', '.join(lines)}"


def read_long_text(text: str) -> LongText | None:
    """Return the fields of a long text; None for a short one, and for output without words of its own."""
    text = text[:_MAX_LENGTH]
    if len(text.split()) < MIN_WORDS:
        return None
    long_text = LongText(tuple(_fields(_COMMENT.sub(" ", text))))
    is_written = len(long_text.text("title", "prose").split()) >= MIN_PROSE
    return long_text if is_written else None


def names_in(text: str) -> list[str]:
    """Return the words of a text that look like names in code, or stand in backticks."""
    quoted = re.findall(r"`([^`\s]{2,80})`", text)
    words = (word.strip(f"{TRAILING}\"'`()[]{{}}<>*") for word in text.split())
    names = [*(each.strip("()") for each in quoted), *(word for word in words if is_code_word(word))]
    return list(dict.fromkeys(name for name in names if re.search(r"[^\W\d_]", name)))


def _fields(text: str) -> Iterator[Field]:
    in_code = in_environment = False
    kind = "title"
    for line in _lines(text):
        if _FENCE.match(line):
            in_code, in_environment = not in_code, False
            continue
        cleaned = _NUMBER.sub(" ", _URL.sub(" ", _LINK.sub(r"\1", line)))
        if in_code or (kind == "prose" and _CODE_LINE.match(line)):
            if re.search(r"[^\W\d_]{3}", cleaned) and not _is_version_line(line):
                yield Field("error" if _ERROR.match(line) else "code", cleaned.strip())
            continue
        heading = _heading(line)
        if heading and (_HEADING.fullmatch(heading) or _ENVIRONMENT.fullmatch(heading)):
            in_environment = not _HEADING.fullmatch(heading)
            continue
        in_environment = in_environment and not _is_prose(line)
        if in_environment:
            continue
        if _is_boilerplate(line) or not re.search(r"[^\W\d_]{2}", cleaned):
            continue
        cleaned = cleaned.strip(" \t#*=_-")
        yield Field("error" if kind == "prose" and _ERROR.match(line) else kind, cleaned)
        kind = "prose"


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield from (line[start : start + _MAX_LINE] for start in range(0, max(1, len(line)), _MAX_LINE))


def _heading(line: str) -> str:
    """Return the words of a heading, "" if a line is none."""
    words = line.strip().strip("#*_=: \t")
    is_marked = line.lstrip().startswith("#") or line.strip().startswith("**") or line.rstrip().endswith(":")
    return words if is_marked or len(words.split()) <= 5 else ""


def _is_prose(line: str) -> bool:
    """Whether a line is a sentence rather than a row of a list."""
    return len(line.split()) > 8 and not _is_version_line(line)


def _is_version_line(line: str) -> bool:
    return bool(_VERSION_LINE.match(line))


def _is_boilerplate(line: str) -> bool:
    stripped = line.strip()
    return bool(
        _REPLY.match(line) or _CHECK_BOX.match(line) or _TRAILER.match(stripped) or _is_version_line(line)
    )
