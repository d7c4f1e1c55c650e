"""What people wrote about a commit: its body without trailers, and the news that it added."""

from __future__ import annotations

import re
from collections import Counter

from dowse.history.subjects import clean_subject, query_from_subject

MAX_BODY_CHARACTERS = 1_500
MAX_NEWS_CHARACTERS = 400
# Less is a heading or a name.
_MIN_NEWS_WORDS = 5

# Signed-off-by: …, Change-Id: …, git-svn-id: …, and lines that only point at a tracker.
_TRAILER = re.compile(
    r"""(?:[\w-]+-(?:by|id|url|on|to|from|in)|cc|change-?id|bug|issues?|refs?|references|fix(?:es|ed)?|close[sd]?
        |resolve[sd]?|see(?:\ also)?|tickets?|review(?:er)?s?|approvers?|pr|pull[ ]request|backports?|see|r
        |differential[ ]revision|link|jira|task|release[ -]note|test\ plan|platform|topic|gh|part\ of|related)
        \s*(?:[:=\#].*)?
        | \(?(?:cherry[ -]picked\ from|this\ reverts)\ commit.* | git-svn-id.* | \S+@\S+
        | -{3,} | [-*]\ \[[\ x]\].* | \[(?:skip|ci)[ -]\w+\] | @\w+""",
    re.VERBOSE | re.IGNORECASE,
)
_NOISE = re.compile(r"<!--.*?-->|<?https?://\S+>?", re.DOTALL)
_SQUASHED = re.compile(r"\s*\*\s")

_NEWS_FILE = re.compile(
    r"""(?:.*/)?(?:changelog|changes|news|history|releases?|whats?[-_]?new|release[-_]?notes?)(?:[-_.]\w+)*\Z
    | (?:.*/)?(?:news(?:fragments)?|changelogs?|changelog\.d|changes|\.changeset|releasenotes/notes|towncrier
        |unreleased|release-notes|changelog_unreleased)/[^/]*(?:/[^/]*)?\Z""",
    re.VERBOSE | re.IGNORECASE,
)
_PROSE = (".md", ".rst", ".txt", ".adoc", ".markdown", ".yaml", ".yml", ".rdoc", ".textile")
_FRAGMENT = re.compile(r".*\.(?:bugfix|feature|change|removal|deprecation|doc|misc|break(?:ing)?|fix)\Z")
_SOURCE_MARK = re.compile(r"\.\w{1,5}\Z")

# Headings, dates and the front matter of fragments.
_NO_NEWS = re.compile(
    r"""\#.* | [=~^*\-_+`"]{3,} | ['"@\w/.-]+['"]?\s*:\s*(?:patch|minor|major|none)?
    | \W*v?\d+\.\d+[\w.]*\W.{0,40} | \W*\w+\s+\d{1,2},?\s+\d{4}\W*
    | (?:(?:release\ )?type|issues?|pr|author|category):.*
    | \.\.\ .* | <.*> | \[[^\[\]]*\](?:\([^()]*\))?[,.;]? | (?:please|see|refer|tba|tbd|full\ change)\b.*""",
    re.VERBOSE | re.IGNORECASE,
)
_BULLET = re.compile(r"(?:[-*+•]|\d+\.)\s+")
_LINK = re.compile(r"\[([^\[\]]*)\](?:\([^()\s]*\)|\[[^\[\]]*\])")
# :class:`~oven.Oven`, before the backticks are taken away.
_ROLE = re.compile(r":[\w+.-]+:(?=`)|(?<=`)~")
_CREDIT = re.compile(
    r"\s*[(\[]?(?:-?\s*\bby\s+|thanks\s+(?:to\s+)?)?(?:@|:user:`)[\w-]+[^\w\s]*\s*\Z", re.IGNORECASE
)
_BLANK_LINES = re.compile(r"\n\s*\n\s*")


def clean_body(body: str, query: str) -> str:
    """Return a message's body without trailers, links and what the subject (`query`) said already."""
    kept = [line.rstrip() for line in _NOISE.sub("", body).splitlines() if not _is_noise(line.strip(), query)]
    return _cut(_BLANK_LINES.sub("\n\n", "\n".join(kept)).strip(), MAX_BODY_CHARACTERS)


def _is_noise(line: str, query: str) -> bool:
    """Whether a line is a trailer, or one of a squashed commit that adds nothing ("* fix lint")."""
    if _TRAILER.fullmatch(line):
        return True
    if not _SQUASHED.match(line):
        return False
    said = query_from_subject(line.lstrip("* "))
    return not said or said.casefold() == query.casefold()


def is_news_file(path: str) -> bool:
    """Whether a file tells users what changed: a change log, or a fragment of one."""
    if not _NEWS_FILE.match(path):
        return False
    return path.endswith(_PROSE) or bool(_FRAGMENT.match(path)) or not _SOURCE_MARK.search(path)


def added_news(before: str, after: str) -> str:
    """Return what a commit added to a change log as one paragraph, "" if that is no sentence."""
    known = Counter(before.splitlines())
    added = []
    for line in after.splitlines():
        if known[line]:
            known[line] -= 1
        elif line.strip() and not _NO_NEWS.fullmatch(line.strip()):
            added.append(line.strip())
    # Of several entries most are about other commits.
    if sum(bool(_BULLET.match(line)) for line in added) > 1:
        return ""
    lines = (_ROLE.sub("", _CREDIT.sub("", _LINK.sub(r"\1", _BULLET.sub("", line)))) for line in added)
    text = clean_subject(_NOISE.sub("", " ".join(lines)))
    return _cut(text, MAX_NEWS_CHARACTERS) if len(text.split()) >= _MIN_NEWS_WORDS else ""


def _cut(text: str, limit: int) -> str:
    """Cut a text between words."""
    if len(text) <= limit:
        return text
    return text[: limit + 1].rpartition(" ")[0].rstrip()
