"""Type annotations of Python and TypeScript in one form: `Name`, `Name[Argument,…]`, `A|B`."""

from __future__ import annotations

import re
from functools import lru_cache

# A literal type, or anything else that is certainly no class of this index.
LITERAL = "!"
# The form of functions, with the type of their result, and of classes as values.
CALLABLE, CLASS = "Callable", "type"

_TOKEN = re.compile(r"""\s*(?:([\w$]+(?:\s*\.\s*[\w$]+)*)|("[^"]*"|'[^']*'|`[^`]*`)|(=>|\.\.\.|\S))""")
_MAX_NESTING = 12
_NOTHING = frozenset(["None", "null", "undefined", "void", "never"])
_UNKNOWN = frozenset(["Any", "any", "unknown", "object", "mixed", "dynamic", "infer", "unique", "keyof"])
# Types that stand for their first argument: their methods are used on what they hold.
_WRAPPERS = frozenset(
    "Optional Annotated ClassVar Final Required NotRequired ReadOnly Readonly Partial NonNullable Promise"
    " PromiseLike Awaitable Awaited InitVar Mapped Omit Pick NoInfer Extract Exclude".split()
)
# Prefixes and suffixes that change nothing here.
_MODIFIERS = frozenset(["readonly", "asserts", "abstract", "new"])
_CLOSING = {"[": "]", "<": ">", "(": ")", "{": "}"}


@lru_cache(maxsize=8192)
def parse_type(text: str) -> str:
    """Return a type annotation in the common form; "" if it says nothing, "!" for no class at all."""
    reader = _Reader(_TOKEN.findall(text.strip().removeprefix(":")))
    try:
        value = reader.type(0)
    except (IndexError, RecursionError):
        return ""
    return value if reader.is_at_end() else ""  # a type guard


@lru_cache(maxsize=8192)
def split_union(text: str) -> tuple[str, ...]:
    """Return the members of a union in the common form."""
    return tuple(_split(text, "|"))


@lru_cache(maxsize=8192)
def split_arguments(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the name of a type in the common form, and its type arguments."""
    name, bracket, inside = text.partition("[")
    return name, tuple(_split(inside[:-1], ",")) if bracket else ()


def _split(text: str, separator: str) -> list[str]:
    """Split at the separators outside brackets."""
    depth, start, parts = 0, 0, list[str]()
    for index, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if char == separator and not depth:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def _join_union(members: list[str]) -> str:
    """Return a union in the common form; one that names a class needs no literal."""
    known = dict.fromkeys(part for member in members for part in split_union(member) if part)
    if len(known) > 1:
        known.pop(LITERAL, None)
    return "|".join(known)


class _Reader:
    """A recursive descent parser over the tokens of a type: (name, string, other)."""

    def __init__(self, tokens: list[tuple[str, str, str]]) -> None:
        self._tokens = tokens
        self._at = 0

    def is_at_end(self) -> bool:
        """Whether all tokens are read."""
        return self._at >= len(self._tokens)

    def _peek(self) -> str:
        return self._tokens[self._at][2] if self._at < len(self._tokens) else ""

    def type(self, depth: int) -> str:
        """Read a type; a conditional one, `A extends B ? C : D`, is a union of both branches."""
        value = self.union(depth)
        if self.is_at_end() or self._tokens[self._at][0] != "extends":
            return value
        while (token := self._tokens[self._at][2]) != "?":
            self._at += 1
            if token in _CLOSING:
                self._skip_group(token)
        self._at += 1
        branches = [self.type(depth + 1)]
        if self._peek() != ":":
            raise IndexError
        self._at += 1
        branches.append(self.type(depth + 1))
        return _join_union(branches)

    def union(self, depth: int) -> str:
        """Read members joined with `|` or `&`; the methods of any of them can be called."""
        if depth > _MAX_NESTING:
            raise RecursionError
        if self._peek() in ("|", "&"):
            self._at += 1
        members = [self._member(depth)]
        while self._peek() in ("|", "&"):
            self._at += 1
            members.append(self._member(depth))
        return _join_union(members)

    def _member(self, depth: int) -> str:
        while self._peek() == "*":
            self._at += 1
        name, string, other = self._tokens[self._at]
        self._at += 1
        if name in _MODIFIERS and not self.is_at_end() and self._peek() in ("", "("):
            return self._member(depth)
        if name == "typeof":
            return f"{CLASS}[{self._member(depth)}]"
        if string:
            # Python quotes types that are defined later; a literal type of TypeScript is no name of a class.
            inner = parse_type(string[1:-1]) if string[0] != "`" and string[1:2].isupper() else LITERAL
            return inner or LITERAL
        value = self._named(re.sub(r"\s", "", name), depth) if name else self._group(other, depth)
        while self._peek() == "[" and self._tokens[self._at + 1][2] == "]":  # an array of TypeScript
            self._at += 2
            value = f"Array[{value}]"
        return value

    def _named(self, name: str, depth: int) -> str:
        opener = self._peek()
        is_array = opener == "[" and self._tokens[self._at + 1][2] == "]"
        arguments: list[str] = []
        if opener in ("<", "[") and not is_array:
            self._at += 1
            arguments = self._arguments(_CLOSING[opener], depth)
            if self._peek() == "[" and self._tokens[self._at + 1][2] != "]":
                return self._indexed()
        if name in _NOTHING or name in _UNKNOWN or name.isdigit():
            return ""
        bare = name.rpartition(".")[2]
        if bare in _WRAPPERS and arguments:
            return arguments[0]
        if bare == "Union":
            return "|".join(dict.fromkeys(argument for argument in arguments if argument))
        if bare == "Coroutine" and arguments:
            return arguments[-1]
        if bare in ("Literal", "LiteralString"):
            return LITERAL
        if opener == "[" and arguments == [LITERAL]:
            return ""  # the type of a member in TypeScript
        if bare == "Callable":
            return f"{CALLABLE}[{arguments[-1]}]" if arguments else LITERAL
        if bare in ("type", "Type") and arguments:
            return f"{CLASS}[{arguments[0]}]"
        return f"{name}[{','.join(arguments)}]" if any(arguments) else name

    def _indexed(self) -> str:
        """Skip the member of a type, as in `Foo<T>["bar"]`."""
        self._at += 1
        self._skip_group("[")
        return ""

    def _arguments(self, closer: str, depth: int) -> list[str]:
        arguments: list[str] = []
        while True:
            if self._peek() == closer:
                self._at += 1
                return arguments
            arguments.append("" if self._peek() == "..." else self.type(depth + 1))
            while self._peek() not in (",", closer):  # defaults
                token = self._tokens[self._at][2]
                self._at += 1
                arguments[-1] = ""
                if token in _CLOSING:
                    self._skip_group(token)
            if self._peek() == ",":
                self._at += 1

    def _group(self, opener: str, depth: int) -> str:
        """Read a group in brackets: a type in parentheses, a function, a tuple, an object."""
        if opener not in _CLOSING:
            return ""
        start = self._at
        if opener == "<":  # type parameters of a function
            self._skip_group("<")
            return self._member(depth)
        self._skip_group(opener)
        if opener == "(" and self._peek() == "=>":
            self._at += 1
            return f"{CALLABLE}[{self.type(depth + 1)}]"
        if opener != "(":
            return LITERAL if opener == "[" else ""  # the members of an object can have any type
        end, self._at = self._at, start
        members = [self.type(depth + 1)]
        while self._peek() == ",":  # the classes of `isinstance(x, (A, B))`
            self._at += 1
            members.append(self.union(depth + 1) if self._at < end - 1 else "")
        self._at = end
        return "|".join(filter(None, members))

    def _skip_group(self, opener: str) -> None:
        """Move past the bracket that closes one that was read."""
        level = 1
        while level:
            token = self._tokens[self._at][2]
            level += (token == opener) - (token == _CLOSING[opener])
            self._at += 1
