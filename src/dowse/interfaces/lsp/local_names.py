"""Parameters and variables of functions, which no index holds: by the text of the function around a word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dowse.interfaces.lsp.source import Source, Word
from dowse.lazy_classes import NamedTuple
from dowse.types import StoredFile, SymbolRow

# Lines of one function that are read.
_MAX_LINES = 2_000
# Between a value and its member.
_MEMBER = re.compile(r"(?:\.|->|::|@)\s*\Z")
_COMMENT = re.compile(r"\s*(?:#(?!\s*define)|//|/?\*|--)")
# Languages in which the type of a parameter precedes its name.
_TYPE_FIRST = frozenset(["c", "cpp", "java", "csharp", "php", "dart", "groovy", "objc", "cuda", "arduino"])
# Languages in which an assignment makes a variable.
_WITHOUT_DECLARATION = frozenset(["python", "ruby", "php", "elixir", "julia", "r", "perl", "bash", "matlab"])
_DECLARING = r"(?:const|let|var|val|auto|mut|final|static|local|my|our|for|foreach|catch|using|lambda|global)"
_TYPE = r"(?:[\w$.:<>\[\],?]+[\s*&]+)"
# What precedes a name where it is bound, and what follows.
_STATEMENT = re.compile(rf"\s*[({{\[]*(?:{_TYPE}|\w+\s*,\s*|[*&]+)*[*&({{\[]*\Z")
_OTHERS = r"\s*(?:,\s*[*&\w.]+\s*)*[)\]}]*\s*"
_ASSIGNED = re.compile(rf"{_OTHERS}(?::[^=]*)?(?:=(?![=>~])|<-)")
_NEW = re.compile(rf"{_OTHERS}:=")
_DECLARED = re.compile(r"\s*(?:[;,\[]|\Z)|\s+[\w.*\[\]]+\s*\Z")
_IS_DECLARATION = re.compile(rf"\s*(?:{_DECLARING}\s+)*{_TYPE}(?:[*&]*\w+\s*,\s*)*[*&]*\Z")
_NO_TYPE = re.compile(
    r"\s*(?:return|else|goto|case|throw|delete|new|yield|await|import|from|in|not|and|or|raise|del|global"
    r"|nonlocal|assert|package|use|include|go|defer|echo|print|puts)\b"
)
_BOUND_AFTER = re.compile(
    rf"\b{_DECLARING}(?:\s+|\s*\()(?!.*\b(?:in|of)\b)[^=;]*\Z|\b(?:with|except|import)\b.*\bas\s+\(?[\w\s,]*\Z"
)
# Parameters of closures and blocks in Rust and Ruby.
_CLOSURE = re.compile(r"(?:[({,=]|\bdo|\bmove)\s*\|(?:[^|]*,)?[^|:]*\Z")
# What stands between the name of a function and its parameters.
_TO_PARAMETERS = re.compile(r"[\w$?!]*\s*(?:<.*>|\[.*\])?\s*[=:]?\s*(?:async\s*)?(?:function\b[\s\w$*]*)?\(")
_INNER_HEAD = re.compile(r"\b(?:function|func|fn|fun)\b\s*[\w$]*\s*\([^)]*\Z")
_MODIFIER = re.compile(r"\b(?:mut|var|val|const|private|public|readonly)\s+\Z")
_ARROW = re.compile(r"\s*=>|[^()]*\)\s*(?::[^=]*)?=>")


class Local(NamedTuple):
    """A parameter or variable of a function."""

    function: SymbolRow
    line: int  # from 1
    column: int  # from 0, in bytes
    references: tuple[tuple[int, int], ...]  # lines and columns, its own first


def find_local(source: Source, file: StoredFile, word: Word) -> Local | None:
    """Return the parameter or variable that a word means, None if no function around it binds the word."""
    lines = source.lines(file.file_id)
    text = lines[word.line - 1].encode()[: word.column].decode("utf-8", "ignore")
    if _MEMBER.search(text):
        return None
    around = [
        row
        for row in source.definitions(file)
        if row.kind in ("function", "method") and row.start_line <= word.line <= row.end_line
    ]
    for function in sorted(around, key=lambda row: row.end_line - row.start_line):
        places = list(_occurrences(lines, function, source.name_position(function), word.text))
        bound = (place for place in places if _binds(place, file.language, lines))
        first = next((place for place in bound if place[:2] <= (word.line, len(text))), None)
        if first is not None:
            uses = [place[:2] for place in places if place[:2] >= first[:2]]
            references = tuple((line, len(lines[line - 1][:at].encode())) for line, at in uses)
            return Local(function, *references[0], references)
    return None


# Line, character, whether it is among the parameters, brackets that are open before it.
_Place = tuple[int, int, bool, int]


def _occurrences(
    lines: Sequence[str], function: SymbolRow, name: tuple[int, int], word: str
) -> Iterator[_Place]:
    """Yield where a word stands in a function, from its head on, but as a member or in a comment."""
    pattern = re.compile(rf"[()\[\]]|(?<![\w$]){re.escape(word)}(?![\w$])")
    # The brackets after the name, and those of a receiver before it, hold parameters.
    after_name = lines[name[0] - 1].encode()[name[1] :].decode("utf-8", "ignore")
    depth, heads = 0, 1 if _TO_PARAMETERS.match(after_name) else 0
    last = min(function.end_line, name[0] + _MAX_LINES)
    for number in range(name[0], last + 1):
        line = lines[number - 1]
        if _COMMENT.match(line):
            continue
        for match in pattern.finditer(line):
            at = match.start()
            if match[0] in "([":
                depth += 1
            elif match[0] in ")]":
                depth -= 1
                heads -= depth == 0 and (number > name[0] or at > name[1])
            elif not _MEMBER.search(line[:at]):
                yield number, at, heads > 0 and depth > 0, depth


def _binds(place: _Place, language: str, lines: Sequence[str]) -> bool:
    """Whether a word is bound where it stands: as a parameter, by an assignment or a declaration."""
    number, at, is_parameter, depth = place
    line = lines[number - 1]
    end = re.compile(r"[\w$]*").match(line, at)
    before, after = line[:at], line[end.end() if end else at :]
    if is_parameter or _INNER_HEAD.search(before):
        return _is_parameter_name(before, after, language)
    if before.rstrip().endswith(":"):
        return False  # a type
    is_closure = language in ("rust", "ruby") and _CLOSURE.search(before)
    if is_closure or _BOUND_AFTER.search(before) or _ARROW.match(after):
        return True
    if depth or not _STATEMENT.match(before) or _NO_TYPE.match(before):
        return False
    if language in _WITHOUT_DECLARATION:
        return bool(_NEW.match(after) or _ASSIGNED.match(after))
    if _NEW.match(after):
        return True
    is_declared = _DECLARED.match(after) or _ASSIGNED.match(after)
    return bool(is_declared and before.strip() and _IS_DECLARATION.match(before))


def _is_parameter_name(before: str, after: str, language: str) -> bool:
    """Whether a word in the head of a function is a parameter, and not its type or its default."""
    before = re.split(r"[(,]", before)[-1]
    if re.search(r"[:=]", before):
        return False
    if language in _TYPE_FIRST:
        return bool(re.match(r"\s*(?:[,)=\[]|\Z)", after))
    if language == "go" and not re.match(r"\s*,|\s+[\w*\[.(]", after):
        return False
    return not re.search(r"\w[\s*&\[\].]+\Z", before) or bool(_MODIFIER.search(before))
