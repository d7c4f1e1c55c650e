"""Questions about how to work on a project, not about what its code does: "how do I run one test".

Guides answer them, build files and CI: a heading, a target, a job. What the code calls a test or a release
does not. A question must name an activity, and be worded as an instruction that is asked for.
"""

from __future__ import annotations

import re

# Activities, and the words that guides use for each beside those of the question.
_ACTIVITIES = {
    "test": (
        r"(?:run|running|execute|launch|start|skip|debug)\b.{0,40}\b(?:tests?|specs?|test ?suite)\b"
        r"|\b(?:tests?|specs?|test ?suite)\b.{0,40}"
        r"\b(?:run|running|takes?|locally|parallel|concurrently)\b",
        "running tests",
    ),
    "release": (
        r"\b(?:release|releasing|publish|publishing|ship|tag)\b.{0,30}\b(?:release|version|package|crate|gem)s?\b"
        r"|\b(?:make|makes|making|do|cut|cutting|publish|prepare|create|new)\b.{0,20}\b(?:release|version)s?\b"
        r"|\bhow\b.{0,25}\b(?:release|releases|released|publish)\b[ ?]*\Z"
        r"|\b(?:version|release|tarball)s?\b.{0,20}\b(?:released|published|tagged|signed|uploaded|get to)\b",
        "publishing a release, new version",
    ),
    "build": (
        r"\b(?:build|building|compile|compiling)\b.{0,40}\b(?:from source|project|it|this|docs?|documentation"
        r"|locally|myself|everything|release|debug|static|binary)\b",
        "building from source",
    ),
    "install": (
        r"\b(?:install|installing|set ?up|setting up|uninstall|upgrade to|migrate (?:to|from))\b",
        "installation",
    ),
    "contribute": (
        r"\b(?:contribut\w+|pull requests?|coding style|code style|style guide|commit messages? format"
        r"|report (?:a )?(?:bug|vulnerability|security)|dev(?:elopment)? environment|development setup)\b",
        "contributing, development",
    ),
    "develop": (
        r"\b(?:on|from) my (?:own )?(?:machine|laptop|computer|mac)\b|\bfor development\b|\bmy own build\b"
        r"|\b(?:running|start|try|work on)\b.{0,40}\b(?:locally|demos?|playground|live (?:reload|rebuild))\b",
        "contributing, local development",
    ),
    "check": (
        r"\b(?:run|running|fix)\b.{0,25}"
        r"\b(?:linters?|formatters?|benchmarks?|fuzzers?|coverage|type checks?|ci)\b",
        "development",
    ),
}
# Wordings of a question for instructions.
_ASKS_HOW = re.compile(
    r"\b(?:how (?:do|can|should|would|to|does one)\b(?! (?:it|the|this|that|they)\b)|steps? (?:to|for|of)"
    r"|how (?:is|are|does|do) (?:an? |the )?(?:new )?(?:versions?|releases?|release tarballs?)\b"
    r"|what (?:do|must|should) (?:i|we|you)|instructions|can i|could i|do i"
    r"|i (?:only |just )?(?:want|need|would like|have) to|(?:which|what) command|commands? (?:to|for)"
    r"|is there a (?:way|command|script|target)|where (?:do|can) i (?:find|read))\b",
    re.IGNORECASE,
)
# Or an instruction itself: "run the test suite in parallel".
_INSTRUCTS = re.compile(r"(?:run|running|build|building|publish|cut|cutting|work on)\b", re.IGNORECASE)
_MAX_LENGTH = 200
# Which setting, or what its default is; and what settings are called where they are declared and explained.
_SETTING = re.compile(
    r"\b(?:which|what|is there an?|any|where|one|an?)\b.{0,40}"
    r"\b(?:settings?|options?|env(?:ironment)? var(?:iable)?s?|flags?|properties|property|switch)\b"
    r"|\b(?:settings?|options?|variables?|property|flag)\b.{0,10}\b(?:to|for|that|which)\b"
    r"|\bdefaults?\b(?! (?:branch|case|constructor))|\bout of the box\b",
    re.IGNORECASE,
)
SETTING_WORDS = "configuration options, default values"
_MIN_WORDS = 6


def asked_activity(text: str) -> str:
    """Return the activity whose instructions a question asks for, "" if it asks for something else."""
    text = " ".join(text.split())
    if len(text) > _MAX_LENGTH or not (_ASKS_HOW.search(text) or _INSTRUCTS.match(text)):
        return ""
    # Compiled here, and kept by `re`: few questions come so far.
    return next((name for name, (form, _) in _ACTIVITIES.items() if re.search(form, text, re.IGNORECASE)), "")


def guide_words(activity: str) -> str:
    """Return what guides call an activity."""
    return _ACTIVITIES[activity][1]


def asks_for_setting(text: str) -> bool:
    """Whether a question asks which setting does something, or what its default is."""
    return len(text.split()) >= _MIN_WORDS and len(text) <= _MAX_LENGTH and bool(_SETTING.search(text))
