"""Recognise pasted stack traces, compiler and test output, and diffs: their frames and their message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from dowse.lazy_classes import NamedTuple, dataclass

# Characters that are read at the beginning and at the end, and of each line: a pasted log may have megabytes.
_MAX_HALF, _MAX_LINE = 20_000, 1_000
# Frames that are kept, and characters of the message, which is what the lanes search for.
_MAX_FRAMES, _MAX_MESSAGE = 200, 400


class Frame(NamedTuple):
    """A position in a source file that a text names."""

    path: str  # as written; may have the prefix of another machine
    line: int
    function: str = ""  # as written; "" where the text does not say


@dataclass(frozen=True, slots=True)
class StackTrace:
    """A pasted text that names source positions."""

    source: str  # what wrote it: "Python traceback", "compiler output", …
    frames: tuple[Frame, ...]  # innermost first
    message: str  # what it says went wrong


class _FrameLine(NamedTuple):
    """A line that names a position."""

    number: int
    source: str
    frame: Frame
    message: str


_PATH = r"(?P<path>(?:[A-Za-z]:)?[^\s:\"'`()<>\[\]|*?,;=]+\.[A-Za-z]\w{0,7})"
_LINE = r"(?P<line>\d{1,7})"
# How each tool writes a frame. A line is read by the first pattern that matches it.
_FORMATS = {
    "Python traceback": rf'[\s|+]*File "(?P<path>[^"]+)", line {_LINE}(?:, in (?P<function>.+))?',
    "pytest output": rf"{_PATH}:{_LINE}: (?:in (?P<function>\S+)|(?:[A-Z][\w.]*)?\s*$)",
    "Java stack trace": r"\s*at (?:[\w.@-]*/{1,2})*(?P<function>[\w.$<>/-]+)"
    rf"\((?P<path>[\w$-]+\.(?:java|kt|kts|scala|groovy|clj)):{_LINE}\)",
    "C# stack trace": rf"\s*at (?P<function>.+?) in (?P<path>\S.*?):(?:line )?{_LINE}\s*$",
    "Rust backtrace": rf"\s+at (?P<path>\S+\.rs):{_LINE}(?::\d+)?\s*$",
    "JavaScript stack trace": r"\s*(?:at|❯) (?:async )?(?:(?P<function>[^()]*?) )?\(?"
    rf"(?P<path>[^\s()]+?):{_LINE}:\d+\)?\s*$",
    # It names the function that is called there, not the one that the line is in.
    "PHP stack trace": rf"\s*#\d+ (?P<path>[^(]+)\({_LINE}\): ",
    "gdb backtrace": r"\s*#\d+\s+(?:0x[0-9a-f]+ in )?(?P<function>[^(]+?) ?\(.*"
    rf" at (?P<path>\S+):{_LINE}\s*$",
    "sanitizer report": r"\s*#\d+ 0x[0-9a-f]+ in (?P<function>.+?) "
    rf"(?P<path>[^\s:]+):{_LINE}(?::\d+)?\s*(?:\(.*)?$",
    "Go stack trace": rf"\s+(?P<path>\S+\.go):{_LINE}(?: \+0x[0-9a-f]+)?\s*$",
    "Ruby stack trace": rf"\s*(?:from |# )?{_PATH}:{_LINE}:in [`'](?P<function>[^'`]+)'"
    r"(?:: (?P<message>.+))?",
    "Elixir stack trace": rf"\s*(?:\([\w.]+ [^)\s]*\) )?{_PATH}:{_LINE}: (?P<function>[A-Z][\w.?!]+)[/(]",
    "Rust output": rf".*?(?:-->|:::|panicked at) (?:'(?P<message>.*)', )?{_PATH}:{_LINE}"
    r"(?::\d+)?(?::\s+(?P<message2>\S.*))?",
    "PHP error": rf"(?:PHP )?(?P<message>.+) in (?P<path>\S+\.\w+)(?: on line |:){_LINE}\s*$",
    "C assertion": rf"(?:\S+: )?{_PATH}:{_LINE}: (?P<function>.+?): Assertion [`'](?P<message>.*)' failed"
    r"\.?\s*$",
    # Redis, glog and their like: what comes before the position is a time, a level or a marker.
    "log line": rf"(?:.*==> |[IWEF]\d{{4}} .*? ?){_PATH}:{_LINE}\]? (?P<message>.+)",
    # glibc's own: of a frame only the function is known.
    "C backtrace": r"(?:\[?\d+\]? )?\S+?(?: [^()]*)?\((?P<function>\w+)\+0x[0-9a-f]+\) ?\[0x[0-9a-f]+\]\s*$",
    "test output": rf"(?:\[ERROR\]|\[FAIL\])\s+(?P<function>\w+\.[\w$]+):{_LINE}\s*(?P<message>.*)",
    "compiler output": r"\s*(?:(?:at|in|[ew]|\S{1,2}|\[\w+\]|error|warning|ERROR|WARN):?\s+|\*\* \(\w+\) )?"
    rf"(?:file://)?{_PATH}(?::{_LINE}(?::\d+)?|\((?P<line2>\d+)(?:,\d+)?\))(?:[:,]?\s+(?P<message>.*)|:|\s*$)",
}
_PATTERNS = {source: re.compile(pattern) for source, pattern in _FORMATS.items()}
_OUTERMOST_FIRST = ("Python traceback", "pytest output")
# In formats of two lines a frame, the line above the position names the function.
_FUNCTION_ABOVE = {
    "Go stack trace": re.compile(r"(?:created by )?(?P<function>\S.*?)(?:\([^()]*\)| in goroutine \d+)\s*$"),
    "Rust backtrace": re.compile(r"\s*\d+:\s+(?:0x[0-9a-f]+ - )?(?P<function>\S.*)$"),
}
# A path alone in a line, with positions in the lines below it, as eslint prints them.
_HEADING = re.compile(rf"{_PATH}\s*$")
_UNDER_HEADING = re.compile(rf"\s+{_LINE}:\d+\s+(?P<message>\S.*)$")
_DIFF_FILE = re.compile(r"\+\+\+ (?:b/)?(?P<path>[^\t\n]+)")
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(?P<line>\d+)(?:,\d+)? @@")
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_ERROR = re.compile(
    r"\w*(?:Error|Exception|Panic|Failure|Fault)\b|\b(?:panic|error|warning|fatal error)(?:\[\w+\])?:"
    r"|\bpanicked at |AddressSanitizer|\bAssertion|^E\s{2,}|^\*\* \("
)
# What frames a message and is no part of it.
_BOILERPLATE = re.compile(
    r"^\s*(?:Exception in thread \"[^\"]*\"|Unhandled exception\.|Uncaught|Caused by:|(?:PHP )?Fatal error:"
    r"|\*\* |panic:|==\d+==ERROR:|error(?:\[\w+\])?:|E\s{2,}|\[ERROR\])\s*"
)


def parse_stack_trace(text: str) -> StackTrace | None:
    """Return the frames and the message of a pasted trace, or None where a text is something else.

    One line is enough if it begins with a position, such as `src/app.py:12: error: …`.
    """
    if len(text) > 2 * _MAX_HALF:
        text = f"{text[:_MAX_HALF]}\n{text[-_MAX_HALF:]}"
    text = _COLOUR.sub("", text)
    lines = [line[:_MAX_LINE] for line in text.strip("\n").splitlines()]
    if any(_HUNK.match(line) for line in lines):
        return _parse_diff(lines)
    found = list(_frame_lines(lines))
    if not found:
        return None
    sources = [each.source for each in found]
    frames = [each.frame for each in found if each.source in _OUTERMOST_FIRST][::-1]
    frames += _root_cause_first(lines, [each for each in found if each.source not in _OUTERMOST_FIRST])
    return StackTrace(
        max(dict.fromkeys(sources), key=sources.count),
        tuple(dict.fromkeys(frames))[:_MAX_FRAMES],
        _message(lines, {each.number: each.message for each in found}),
    )


def error_message(text: str) -> str:
    """Return what a pasted error without positions says, without the name of its exception."""
    return _shorten([_BOILERPLATE.sub("", line[:_MAX_LINE]) for line in text.splitlines()[:_MAX_FRAMES]])


def _frame_lines(lines: list[str]) -> Iterator[_FrameLine]:
    heading = ""
    for number, line in enumerate(lines):
        if _HEADING.fullmatch(line):
            heading = line.strip()
        elif heading and (below := _UNDER_HEADING.match(line)):
            yield _FrameLine(number, "linter output", Frame(heading, int(below["line"])), below["message"])
        else:
            for source, pattern in _PATTERNS.items():
                if match := pattern.match(line):
                    groups = match.groupdict(default="")
                    function = groups.get("function", "") or _function_above(source, lines, number)
                    path = _clean_path(groups.get("path", ""), source, function)
                    number_of_line = groups.get("line") or groups.get("line2") or 0
                    frame = Frame(path, int(number_of_line), _demangle(function.strip()))
                    if path or source == "C backtrace":
                        yield _FrameLine(
                            number, source, frame, groups.get("message") or groups.get("message2", "")
                        )
                    break


def _clean_path(path: str, source: str, function: str) -> str:
    """Return a path without a URL scheme; "" for a part of the runtime, which is no file."""
    if source == "Java stack trace":  # has the package in the function, and the file alone
        package = [part for part in function.rpartition("/")[2].split(".")[:-2] if not part[:1].isupper()]
        return "/".join([*package, path])
    if source == "test output":  # Surefire: `ClassTest.method:45`
        return function.partition(".")[0] + ".java"
    path = re.sub(r"^(?:file://|webpack(?:-internal)?://[^/]*/)", "", path.strip()).partition("?")[0]
    return "" if path.startswith(("node:", "<", "internal/", "http:", "https:")) else path.replace("\\", "/")


def _demangle(function: str) -> str:
    """Return the last name in a mangled name of C++: `_ZN7leveldb6DBImpl3GetERK` is `Get`."""
    names, rest = "", function.removeprefix("_ZN").removeprefix("_Z").lstrip("K")
    while function.startswith("_Z") and (length := re.match(r"\d{1,3}", rest)):
        names, rest = rest[length.end() :][: int(length[0])], rest[length.end() + int(length[0]) :]
    return names or function


def _function_above(source: str, lines: list[str], number: int) -> str:
    pattern = _FUNCTION_ABOVE.get(source)
    match = pattern.match(lines[number - 1]) if pattern and number else None
    return match["function"] if match else ""


def _root_cause_first(lines: list[str], found: list[_FrameLine]) -> list[Frame]:
    """Return the frames of the last cause before those of the exceptions that wrap it."""
    causes = [number for number, line in enumerate(lines) if line.lstrip().startswith("Caused by: ")]
    blocks = list(pairwise([0, *causes, len(lines)]))[::-1]
    return [each.frame for first, end in blocks for each in found if first <= each.number < end]


def _parse_diff(lines: list[str]) -> StackTrace | None:
    """Read a unified diff: the first change of each hunk is a frame, all changed lines are the message."""
    path, position, is_new_hunk = "", 0, False
    frames, changed = list[Frame](), list[str]()
    for line in lines:
        if match := _DIFF_FILE.match(line):
            path, position = match["path"].strip(), 0
        elif match := _HUNK.match(line):
            position, is_new_hunk = int(match["line"]), True
        elif position and line.startswith(("+", "-")) and not line.startswith("--- "):
            if is_new_hunk and path not in ("", "/dev/null"):
                frames.append(Frame(path, position))
            is_new_hunk = False
            changed.append(line[1:])
            position += line.startswith("+")
        elif position:
            position += 1
    if not frames:
        return None
    return StackTrace("diff", tuple(dict.fromkeys(frames))[:_MAX_FRAMES], _shorten(changed))


def _message(lines: list[str], frame_messages: dict[int, str]) -> str:
    """Return what the lines say that went wrong, without positions."""
    said: list[str] = []
    for number, line in enumerate(lines):
        if number in frame_messages:
            said.append(frame_messages[number])
            continue
        after_panic = number and re.search(r"panicked at \S+:\d+:$", lines[number - 1])
        if after_panic or _ERROR.search(line):
            said.append(line)
    if not any(said):
        said = [line for number, line in enumerate(lines) if number not in frame_messages][:3]
    return _shorten([_BOILERPLATE.sub("", line) for line in said])


def _shorten(lines: list[str]) -> str:
    return " ".join(" ".join(dict.fromkeys(line.strip() for line in lines)).split())[:_MAX_MESSAGE]
