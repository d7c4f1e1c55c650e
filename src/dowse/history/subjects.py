"""Turn a commit's subject into a query: tags and numbers are removed, subjects not about code are dropped."""

from __future__ import annotations

import re

# Fewer content words are a label ("fix tests"), not a query that some code answers.
MIN_CONTENT_WORDS = 3
# So many of them must be specific: "fix flake8 warnings" has none, "fix mypy plugin for dataclasses" has two.
MIN_SPECIFIC_WORDS = 2
# Longer subjects are whole messages without a line break.
MAX_WORDS = 30

_BOT = re.compile(
    r"""\[bot\] | -bot\b | \bbot@ | \b(?:dependabot|renovate|pre-commit-ci|github-actions|greenkeeper|snyk
        |pyup|allcontributors|codecov|semantic-release|imgbot|mergify|bors|homu|weblate|transifex|crowdin
        |deepsource|restyled|whitesource|sourcery-ai|copybara)\b""",
    re.VERBOSE | re.IGNORECASE,
)

# A subject that begins with one of these is no query about code.
_MERGES = r"""merge[ds]?\s+(?:pull|branch|remote|tag|commit|into|from|with|in|upstream|master|main|origin|pr\b
    |changes|conflict|fork|'|\#|\S+/|\w+\s*\Z) | merge:"""
_REVERTS = r"re-?vert(?:s|ed|ing)?\b | back(?:ing|ed)?[- ]?out\b | undo\b | un-?revert | roll(?:ed)?\ ?back\b"
_UNFINISHED = r"""(?:fixup|squash|amend)! | wip\b | work\ in\ progress | add\ files\ via\ upload
    | (?:initial|first|empty|dummy)\ (?:commit|import|version|check-?in)\b"""
_CHAT = r"""(?:i|i'm|i'll|i've|we|need\ to|sorry|oops|whoops|ugh|damn|let'?s|trying|maybe|hopefully|ok
    |okay|hmm|yay|even\ more|some\ more)\b"""
_REVIEWS = r"""apply\ (?:\w+\ )?(?:suggestions?|fixe?s?|edits?)\ (?:from|by|of)\b
    | address(?:e[sd]|ing)?\ .*\b(?:review|comments?|feedback|remarks|suggestions?)\b
    | (?:changes|fixe?s?|updates?|tweaks)\ (?:from|after|per|as\ per|based\ on)\ .*
      \b(?:review|feedback|comments)\b"""
_RELEASES = r"""v?\d+(?:\.\d+)+\S*\Z | bump(?:s|ed)?\b | up-?rev\b | requires?\b.*\d\.\d
    | version\ (?:bump|v?\d) | this\ is\ \d | (?:update|upgrade)[ds]?\ \S+\ (?:to|from)\ v?\d
    | (?:releas(?:e[ds]?|ing)|re-release|cut|tag|prepar(?:e|ing)|start|begin|mark|set|back\ to|switch\ to)\b.*
      \b(?:version|releases?|v?\d+(?:\.\d+)+\w*|dev|alpha|beta|rc\d*|development)\b
    | (?:increment|update|upgrade|change|set|fix|pin|unpin|correct)(?:e?d|s)?\ .*
      \bversion(?:\ (?:number|string|info|to|for|and)\b.*|\s*\Z|\ v?\d.*)"""
_HOUSEKEEPING = r"""(?:pin|unpin|upgrade|update)s?\ .*\b(?:deps|dependenc(?:y|ies)|requirements|pre-commit
      |lockfile|copyright|authors?|contributors|licen[cs]e|year|submodules?|actions|badges?|sponsors?|backers)\b
    | copyright\b | drop\ (?:support\ for\ )?(?:python|py)\ ?\d"""
# Targets are code, which a commit about tests changes only in passing. "Test client" and the like are code.
_VERB = r"""(?:add|fix|improv|updat|extend|refactor|clean\ ?up|adjust|enabl|disabl|skip|mov|renam|convert|us
    |mak|writ|restor|remov|more|another|split|delet|tweak|chang|simplif)(?:e|ed|es|s|ing|y|ies)?"""
_TESTS = rf"""(?:{_VERB}\s+)?(?:\w+\s+){{0,2}}?(?:unit)?tests?(?:cases?|uite)?
    (?:\ (?:cases?|suite|coverage|for|in|on|that|to|with|of|and|as|when|under|which|fail\w*|pass\w*|works?
      |runs?)\b.* | \s*\Z)
    | (?:skip|xfail|mark)\b.*\btests?\b"""
_TYPES = rf"""{_VERB}\s+
    (?:(?:more|missing|some|the|incorrect|wrong|unneeded|unnecessary|unused|better|basic)\s+)*
    (?:type[- ](?:hint\w*|annotation\w*|ignores?|comments?)|typing)\b"""
_DOCS = rf"""(?:{_VERB}|document|doc|docs)\s+(?:(?:the|some|more|missing|api|minor)\s+)*
    (?:docs?|docstrings?|documentation|doc-?strings?|examples?)\b | docs?\b | documentation\b"""
_OPENINGS = (_MERGES, _REVERTS, _UNFINISHED, _CHAT, _REVIEWS, _RELEASES, _HOUSEKEEPING, _TESTS, _TYPES, _DOCS)
_NO_QUESTION = re.compile("|".join(_OPENINGS), re.VERBOSE | re.IGNORECASE)

# Anywhere in a subject, these mean that it is not about code.
_ABOUT_NO_CODE = re.compile(
    r"""\btypos?\b | \bmis-?spell | \bmis-?typed\b | \bchange-?log\b | \bchanges\.\w+ | \brelease\ notes?\b
    | \breadme\b | \w\.(?:md|rst|txt)\b
    | \bnoqa\b | \btype:\s*ignore | \[wip\] | \bcode\ review\b | \breview\ (?:comments?|feedback)\b
    | \bcherry[- ]pick | \bautoupdate\b | \bpre-commit\b
    | \b(?:flake8|pep-?8|pylint|ruff|isort|pyupgrade|prettier|eslint|gofmt|rustfmt|clippy)\s*\Z
    | \b(?:docs?|docstrings?|documentation)\s*\Z | sphinx | \bversion(?:added|changed)\b
    | (?-i:\b(?:HISTORY|CHANGES|NEWS|AUTHORS)\b)""",
    re.VERBOSE | re.IGNORECASE,
)

# feat(parser)!: … and what others write in its place.
_KIND = re.compile(
    r"""(feat(?:ure)?s?|fix(?:e[sd])?|bug(?:fix)?|hotfix|docs?|refactor(?:ed|ing)?|perf|style|tests?|build|ci
        |chore|release|deps?|lint|typing|types|cleanup|improvement|enhancement|misc|internal|security)
        \s*(?:\([^()]*\))?\s*!?\s*:\s+""",
    re.VERBOSE | re.IGNORECASE,
)
# Kinds of commits whose changes nobody searches for.
_DROPPED_KINDS = frozenset("style test tests build ci release dep deps lint typing types doc docs".split())

_TAG = re.compile(r"\s*(?:\[[^\[\]]{1,40}\]\s*[:\-]?\s*)+")
_SKIP_CI = re.compile(r"\[(?:skip[ -]\w+|ci[ -]skip|no[ -]ci)\]", re.IGNORECASE)
_EMOJI_CODE = re.compile(r"(?<![\w:]):[a-z][a-z0-9_+-]*:(?![\w:`])")
_EMOJI = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u2300-\u23ff\ufe0f\u200d\U000e0000-\U000e007f]"
)
_URL = re.compile(r"<?https?://\S+>?")
_CREDIT = re.compile(
    r"[\s,;.(]*\b(?:thanks|thx|props|kudos|courtesy of|h/t|by @|cc @|reported by|patch by)\b.*\Z",
    re.IGNORECASE,
)

# Numbers of a tracker: #12, GH-12, owner/name#12, bpo-12; several of them.
_NUMBER = r"(?:(?:[\w.-]+/[\w.-]+)?\#|\bGH-?\#?|\bbpo-)\d+\b"
_THING = r"(?:(?:the\s+)?(?:github\s+)?(?:issues?|bugs?|tickets?|PRs?|pull\s+requests?|pull)\s*:?\s*)"
_NUMBERS = (
    rf"(?:{_NUMBER}|\b(?:issue|bug|ticket|PR)\s+\d{{2,}}\b)(?:(?:\s*(?:,|&|\band\b|/|\+)\s*|\s+){_NUMBER})*"
)
_REFERENCE = re.compile(
    rf"""(?:\s*[-–—,.;:/]\s*)?(?:\b(?:this|it|that|which|should|also|hopefully)\s+)*
        (?:\b(?:fix(?:e[sd]|ing)?|close[sd]?|closing|resolve[sd]?|refs?|references|see|re|address(?:es)?
            |part\ of|relate[sd]\ to|implements?|follow-?up\ (?:of|to)|regarding|(?:as\ )?per|via|from|in
            |for)\b:?\s*)?
        {_THING}?{_NUMBERS}(?:\s*[-–—:.,;](?=\s|\Z))*""",
    re.VERBOSE | re.IGNORECASE,
)
_BRACKETS = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]")
# All that may be in brackets beside an issue number or a commit id.
_IN_REFERENCES = re.compile(
    rf"""(?:{_NUMBER}|\b(?:close[sd]?|fix(?:e[sd])?|refs?|re|see|resolve[sd]?|also|issues?|pr|pull|request|bug|picked
        |from|commit|backport|of|to|on|in|part|and|[0-9a-f]{{7,40}}|v?\d+[\d.x]*)\b|[\s,;:&\-/])*""",
    re.VERBOSE | re.IGNORECASE,
)
# Words that preceded what was removed.
_DANGLING = re.compile(
    r"(?:[\s,;.:(-]+(?:see|cf|refs?|via|per|fix(?:es|ed)?|closes?|this|and|also))+[\s.:]*\Z", re.IGNORECASE
)
_BLANKS = re.compile(r"\s+")
_ENDS = "-–—:;,.!…*• "

# A word for counting: an identifier with its dots, or plain prose.
_WORD = re.compile(r"[^\W_][\w'.+-]*|_\w+")
_STOP = frozenset(
    """a an the of to in for and or is are be been was were this that these those it its if from with by
    as on at not no can will when which into all any each has have do does so but you we i my our their
    them they then than there here where what who how why also only just more most some such other
    another same too very really now again still yet even about after before during between over under up
    down out off via per etc e.g i.e vs don't doesn't didn't isn't won't can't shouldn't should let lets
    let's instead""".split()
)
# Generic words, which are true of any commit.
_GENERIC = frozenset(
    """add adds added adding fix fixes fixed fixing update updates updated updating change changes
    changed changing remove removes removed removing improve improves improved improving improvement
    improvements use uses used using make makes made making move moves moved moving rename renames
    renamed refactor refactors refactored refactoring refactorings clean cleans cleaned cleanup cleanups
    cleaning tidy simplify simplified tweak tweaks tweaked minor small little tiny few several various
    misc miscellaneous trivial quick better bit bits stuff things thing work works working done finish
    finished missing unused unneeded unnecessary obsolete redundant outdated previously leftover became
    duplicate resolve resolves resolved typing typehint typehints hint hints extra old new initial
    implement implemented implementation implementing support enhancement enhance feature features bug
    bugs bugfix bugfixes fixup fixups issue issues error errors warning warnings failure failures failing
    broken problem problems correct corrected corrections code codebase source file files line lines
    comment comments doc docs documentation documented document docstring docstrings readme example
    examples typo typos wording grammar spelling sentence paragraph test tests testing tested testcase
    unittest unittests suite coverage lint linting linter lints flake8 pep8 pep-8 pyflakes pylint black
    ruff isort mypy pyright prettier eslint style styling codestyle format formatting formatted reformat
    whitespace whitespaces indent indentation spaces tabs newline newlines trailing import imports
    cosmetic nit nits polish pyupgrade pre-commit clippy rustfmt gofmt version release releases
    dependency dependencies deps ci travis tox appveyor build builds github workflow python python2
    python3 py2 py3 py.test pytest revert wip review feedback suggestion suggestions merge oops forgot
    whoops sorry ok okay try attempt""".split()
)


def query_from_subject(subject: str, author: str = "") -> str:
    """Return the query of a commit's subject, or "" if it makes none; bots are known by the author."""
    if author and _BOT.search(author):
        return ""
    written = _without_marks(subject)
    kind = _KIND.match(written)
    if (kind and kind[1].lower() in _DROPPED_KINDS) or _ABOUT_NO_CODE.search(written):
        return ""
    cleaned = clean_subject(subject)
    if _NO_QUESTION.match(written) or _NO_QUESTION.match(cleaned):
        return ""
    return cleaned if _is_specific(cleaned) else ""


def clean_subject(subject: str) -> str:
    """Return a subject without its kind, tags, issue numbers, emoji and backticks."""
    text = _without_marks(subject)
    while kind := _KIND.match(text):
        text = text[kind.end() :]
    text = _BRACKETS.sub(_unless_reference, text)
    text = _REFERENCE.sub(" ", text)
    text = _BLANKS.sub(" ", _DANGLING.sub("", _CREDIT.sub("", text).rstrip(_ENDS)))
    return text.lstrip(_ENDS).rstrip(_ENDS)


def _without_marks(subject: str) -> str:
    """Return a subject without emoji, URLs, backticks and leading tags in brackets."""
    text = _URL.sub(" ", _SKIP_CI.sub(" ", subject))
    text = _EMOJI.sub(" ", _EMOJI_CODE.sub(" ", text)).replace("`", "")
    tag = _TAG.match(text)
    if tag and tag.end() < len(text):
        text = text[tag.end() :]
    return _BLANKS.sub(" ", text).strip()


def _unless_reference(brackets: re.Match[str]) -> str:
    """Return "" for brackets that only hold issue numbers, or a commit id."""
    inside = brackets[1]
    is_reference = any(c.isdigit() for c in inside) and _IN_REFERENCES.fullmatch(inside)
    return "" if is_reference else brackets[0]


def _is_specific(text: str) -> bool:
    """Whether enough of the words are specific to some code."""
    written = _WORD.findall(text)
    words = {word.lower().strip(".'+-") for word in written}
    content = {word for word in words if word not in _STOP and not word.isdigit() and len(word) > 1}
    if len(written) > MAX_WORDS or len(content) < MIN_CONTENT_WORDS:
        return False
    return len(content - _GENERIC) >= MIN_SPECIFIC_WORDS
