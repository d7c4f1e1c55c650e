"""The parser of regular expressions: the syntax of Rust's regex crate, as in ripgrep, to an AST."""

from __future__ import annotations

from dowse.errors import QueryError
from dowse.lazy_classes import dataclass, replace
from dowse.query.regex.ast import (
    Alternate,
    Assertion,
    CharClass,
    CharSet,
    ClassItem,
    Concat,
    Dot,
    Literal,
    Node,
    Perl,
    Posix,
    Property,
    Range,
    Repeat,
    SetOperation,
)
from dowse.query.regex.translate import property_body

# Deep enough for any pattern that people write, far below Python's recursion limit.
MAX_DEPTH = 60
# RE2's own bound on counted repetition.
MAX_REPEAT = 1000
POSIX_NAMES = frozenset({
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph",
    "lower", "print", "punct", "space", "upper", "word", "xdigit",
})  # fmt: skip
CONTROL_ESCAPES = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}
HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
NO_NEWLINE = (
    "a match never crosses lines, so a pattern cannot hold a line feed; search for the lines one by one"
)

_LINEAR = "the engine is linear-time and has no look-around or back-references; rewrite without them"
_NOTHING_TO_REPEAT = "nothing to repeat before this operator; escape it with \\ to search for it"
_UNCLOSED_CLASS = "an unclosed '[' in the regex; close it, or write \\[ for a literal one"
_COUNTS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def parse_regex(pattern: str, *, fold: bool = False) -> Node:
    """Parse a pattern; `fold` sets the i flag at its start."""
    return _Parser(pattern, fold).parse()


def folds_smartly(pattern: str) -> bool:
    """Whether smart case ignores case: the pattern has literals, and none is an upper-case letter."""
    parser = _Parser(pattern, fold=False)
    parser.parse()
    return bool(parser.literals) and not any(char.isupper() for char in parser.literals)


@dataclass(frozen=True, slots=True)
class _Flags:
    """The flags that apply at a position of the pattern."""

    fold: bool = False  # i
    swap_greed: bool = False  # U
    verbose: bool = False  # x


class _Parser:
    """A recursive-descent parser over one pattern."""

    def __init__(self, pattern: str, fold: bool) -> None:
        self.text = pattern
        self.position = 0
        self.depth = 0
        self.flags = _Flags(fold=fold)
        self.literals: list[str] = []  # for smart case
        self.names: set[str] = set()

    def parse(self) -> Node:
        node = self.alternation()
        if self.position < len(self.text):
            raise self.error("a ')' too many in the regex; write \\) for a literal one")
        return node

    def error(self, message: str, position: int | None = None) -> QueryError:
        """Return an error at a position, by default the current one."""
        return QueryError(message, self.position if position is None else position)

    def peek(self) -> str:
        """Return the next character, or "" at the end."""
        if self.flags.verbose:
            self.skip_space()
        return self.text[self.position] if self.position < len(self.text) else ""

    def skip_space(self) -> None:
        """Skip white space and comments, which the x flag allows."""
        while self.position < len(self.text):
            if self.text[self.position] == "#":
                end = self.text.find("\n", self.position)
                self.position = len(self.text) if end < 0 else end
            elif self.text[self.position].isspace():
                self.position += 1
            else:
                return

    def accept(self, string: str) -> bool:
        """Skip a string if it comes next; return whether it does."""
        if self.text.startswith(string, self.position):
            self.position += len(string)
            return True
        return False

    def alternation(self) -> Node:
        """Parse alternatives up to the end of the group."""
        branches = [self.sequence()]
        while self.peek() == "|":
            self.position += 1
            branches.append(self.sequence())
        return branches[0] if len(branches) == 1 else Alternate(tuple(branches))

    def sequence(self) -> Node:
        """Parse one alternative."""
        parts: list[Node] = []
        while self.peek() not in ("", "|", ")"):
            atom = self.atom()
            if atom is not None:  # a flag group such as (?i) has no node
                parts.append(self.repeated(atom))
            elif self.peek() and self.peek() in "*+?{":
                raise self.error(_NOTHING_TO_REPEAT)
        return parts[0] if len(parts) == 1 else Concat(tuple(parts))

    def repeated(self, node: Node) -> Node:
        """Parse the repetition operators after an atom."""
        stacked = 0
        while (char := self.peek()) and char in "*+?{":
            stacked += 1
            if stacked > MAX_DEPTH // 4:
                raise self.error("too many repetition operators in a row; leave some out")
            if char == "{":
                low, high = self.counted()
            else:
                self.position += 1
                low, high = _COUNTS[char]
            lazy = self.peek() == "?"
            self.position += lazy
            node = Repeat(node, low, high, greedy=lazy == self.flags.swap_greed)
        return node

    def counted(self) -> tuple[int, int | None]:
        """Parse {m}, {m,} or {m,n}."""
        start = self.position
        end = self.text.find("}", start)
        if end < 0:
            raise self.error("an unclosed '{' in the regex; write \\{ for a literal one")
        low, comma, high = (part.strip() for part in self.text[start + 1 : end].partition(","))
        if not _is_number(low) or (high and not _is_number(high)):
            raise self.error("'{' wants numbers as in {2} or {2,5}; write \\{ for a literal one")
        self.position = end + 1
        bounds = int(low), (int(high) if high else None if comma else int(low))
        if bounds[1] is not None and bounds[1] < bounds[0]:
            raise self.error("the smaller number of a {m,n} repetition comes first", start)
        if max(bounds[0], bounds[1] or 0) > MAX_REPEAT:
            raise self.error(f"at most {MAX_REPEAT} repetitions can be counted; use + or * instead", start)
        return bounds

    def atom(self) -> Node | None:
        """Parse an expression that can be repeated."""
        char = self.text[self.position]
        if char in "*+?{":
            raise self.error(_NOTHING_TO_REPEAT)
        if char == "(":
            return self.group()
        if char == "[":
            return CharClass(self.bracket(), self.flags.fold)
        if char == "\\":
            return self.escape()
        self.position += 1
        if char == ".":
            return Dot()
        if char in "^$":
            return Assertion("start" if char == "^" else "end")
        return self.literal(char, self.position - 1)

    def literal(self, char: str, position: int) -> Literal:
        """Return a literal node; a line feed is an error."""
        if char == "\n":
            raise self.error(NO_NEWLINE, position)
        self.literals.append(char)
        return Literal(char, self.flags.fold)

    def group(self) -> Node | None:
        """Parse a group, or a flag setting like (?i), which has no node."""
        start = self.enter("groups")
        outer = self.flags
        if self.accept("?") and not self.group_name(start) and self.inline_flags(start):
            self.depth -= 1
            return None
        node = self.alternation()
        if not self.accept(")"):
            raise self.error("an unclosed '(' in the regex; close it, or write \\( for a literal one", start)
        self.flags = outer
        self.depth -= 1
        return node

    def enter(self, what: str) -> int:
        """Skip an opening bracket, with a limit on nesting; return its position."""
        self.position += 1
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"{what} nested more than {MAX_DEPTH} deep; simplify the regex")
        return self.position - 1

    def group_name(self, start: int) -> bool:
        """Parse the name of (?P<name> or (?<name>; look-around and back-references are errors."""
        for sign in ("=", "!", "<=", "<!", ">", "P=", "P>", "#"):
            if self.text.startswith(sign, self.position):
                raise self.error(f"(?{sign} is not supported: {_LINEAR}", start)
        if not (self.accept("P<") or self.accept("<")):
            return False
        end = self.text.find(">", self.position)
        name = self.text[self.position : max(end, self.position)]
        if not name or not (name[0].isalpha() or name[0] == "_") or name in self.names:
            raise self.error(
                "a group name is a word used once, as in (?P<name>…); leave it out if unsure", start
            )
        self.names.add(name)
        self.position = end + 1
        return True

    def inline_flags(self, start: int) -> bool:
        """Parse flags after "(?"; True when they stand alone, as in (?i)."""
        on = True
        letters = 0
        flags = self.flags
        while self.position < len(self.text):
            char = self.text[self.position]
            self.position += 1
            if char in ":)" and (letters or char == ":"):
                self.flags = flags
                return char == ")"
            if char == "-" and on:
                on = False
            elif char in "imsUxu" and (char != "u" or on):
                letters += 1
                field = {"i": "fold", "U": "swap_greed", "x": "verbose"}.get(char)
                # m, s and u change nothing: every match stays within one line of Unicode text.
                flags = replace(flags, **{field: on}) if field else flags
            else:
                break
        raise self.error("an unknown group flag; the flags are i, m, s, x and U, as in (?i)", start)

    def escape(self) -> Node:
        """Parse an escape outside brackets."""
        start = self.position
        following = self.text[start + 1 : start + 2]
        if following and following in "AbBz":
            self.position += 2
            if following == "b" and self.text.startswith("{", self.position):
                raise self.error("\\b{…} is not supported; use a plain \\b", start)
            kinds = {"A": "start", "z": "end", "b": "boundary", "B": "not_boundary"}
            return Assertion(kinds[following])  # type: ignore[arg-type]
        item = self.class_escape()
        if isinstance(item, tuple):
            return self.literal(chr(item[0]), start)
        return CharClass(CharSet((item,)), self.flags.fold)

    def class_escape(self) -> ClassItem:
        """Parse an escape that stands for characters."""
        start = self.position
        char = self.text[start + 1 : start + 2]
        self.position += 2
        if not char:
            raise self.error("the regex ends in a lone \\; write \\\\ for a literal one", start)
        if char in "dswDSW":
            return Perl(char.lower(), char.isupper())
        if char in "pP":
            return self.property(start, char == "P")
        if char in HEX_DIGITS:
            return self.hexadecimal(start, char)
        if char in CONTROL_ESCAPES:
            return _single(CONTROL_ESCAPES[char])
        if char.isdigit():
            raise self.error(f"back-references such as \\{char} are not supported: {_LINEAR}", start)
        if char in "<>" or char.isalnum() or not char.isascii():
            raise self.error(
                f"\\{char} is not a known escape; leave the \\ out, or write \\\\ for one", start
            )
        return _single(char)

    def hexadecimal(self, start: int, kind: str) -> Range:
        r"""Parse the rest of \x41, \x{41}, \u0041 or \U00000041."""
        if self.accept("{"):
            end = self.text.find("}", self.position)
            digits = self.text[self.position : max(end, self.position)]
            self.position = end + 1
        else:
            digits = self.text[self.position : self.position + HEX_DIGITS[kind]]
            self.position += len(digits)
            if len(digits) < HEX_DIGITS[kind]:
                digits = ""
        code = int(digits, 16) if digits and all(c in "0123456789abcdefABCDEF" for c in digits) else -1
        if not 0 <= code <= 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise self.error("not a character's hexadecimal number; write it as in \\x{e9}", start)
        return code, code

    def property(self, start: int, negated: bool) -> Property:
        r"""Parse the name in \pL or \p{Greek}."""
        name = self.text[self.position : self.position + 1]
        self.position += 1
        if name == "{":
            end = self.text.find("}", self.position)
            name = self.text[self.position : max(end, self.position)]
            self.position = end + 1
        body = property_body(name)
        if body is None:
            raise self.error(
                f"\\p{{{name}}} is not a known category or script; try \\p{{L}} or \\p{{Greek}}", start
            )
        return Property(body, negated)

    def bracket(self) -> CharSet:
        """Parse a bracketed class with its set operators."""
        start = self.enter("classes")
        negated = self.accept("^")
        items = self.leading_items()
        operation: ClassItem | None = None
        operator = ""
        while True:
            if not self.peek():
                raise self.error(_UNCLOSED_CLASS, start)
            delimiter = next((op for op in ("&&", "--", "~~", "]") if self.accept(op)), "")
            if not delimiter:
                items.append(self.bracket_item(start))
                continue
            operation = self.operate(operator, operation, items, start)
            operator, items = delimiter, []
            if delimiter == "]":
                self.depth -= 1
                return self.finished(operation, negated, start)

    def leading_items(self) -> list[ClassItem]:
        """Parse the characters that are literal only right after the opening bracket."""
        items: list[ClassItem] = []
        while self.peek() == "-" or (not items and self.peek() == "]"):
            char = self.peek()
            self.position += 1
            self.literals.append(char)
            items.append(_single(char))
            if char == "]":
                break
        return items

    def operate(self, operator: str, left: ClassItem | None, items: list[ClassItem], start: int) -> ClassItem:
        """Combine the left operand of a set operator with the union to its right."""
        if not items:
            raise self.error(
                "an empty character class; put a character in, or write \\[ for a literal one", start
            )
        right = CharSet(tuple(items))
        return right if left is None else SetOperation(operator, left, right)  # type: ignore[arg-type]

    def finished(self, content: ClassItem, negated: bool, start: int) -> CharSet:
        """Return a complete class; one with nothing but a line feed is an error."""
        items = content.items if isinstance(content, CharSet) else (content,)
        if not negated and all(item == (10, 10) for item in items):
            raise self.error(NO_NEWLINE, start)
        return CharSet(items, negated)

    def bracket_item(self, start: int) -> ClassItem:
        """Parse one item of a class: a nested one, an escape, a character or a range."""
        if self.text.startswith("[", self.position):
            return self.posix() or self.bracket()
        position = self.position
        item = self.class_character(start)
        return self.class_range(item, position) if isinstance(item, tuple) else item

    def class_character(self, start: int) -> ClassItem:
        """Parse a character or escape within brackets."""
        if self.position >= len(self.text):
            raise self.error(_UNCLOSED_CLASS, start)
        if self.text[self.position] == "\\":
            if self.text[self.position + 1 : self.position + 2] in ("b", "B", "A", "z"):
                raise self.error("that escape has no meaning inside [ ]; put it outside")
            return self.class_escape()
        self.position += 1
        return _single(self.text[self.position - 1])

    def class_range(self, low: Range, position: int) -> Range:
        """Extend a character to a range if a dash and another one follow."""
        self.literals.append(chr(low[0]))
        following = self.text[self.position + 1 : self.position + 2] if self.peek() == "-" else "]"
        if following in ("]", "-", ""):
            return low
        self.position += 1
        self.peek()
        high = self.class_character(position)
        if not isinstance(high, tuple) or len(high) != 2 or not isinstance(high[0], int):
            raise self.error(
                "a range in [ ] goes from character to character; put a literal '-' last", position
            )
        if high[0] < low[0]:
            raise self.error(
                "a range in [ ] goes upwards; swap its ends, or put a literal '-' last", position
            )
        self.literals.append(chr(high[0]))
        return low[0], high[0]

    def posix(self) -> Posix | None:
        """Parse [:alpha:] or [:^alpha:]; anything else is a nested class."""
        end = self.text.find(":]", self.position)
        if not self.text.startswith("[:", self.position) or end < 0:
            return None
        name = self.text[self.position + 2 : end]
        if name.removeprefix("^") not in POSIX_NAMES:
            return None
        self.position = end + 2
        return Posix(name.removeprefix("^"), name.startswith("^"))


def _single(char: str) -> Range:
    return ord(char), ord(char)


def _is_number(text: str) -> bool:
    """Whether `text` is a short run of ASCII digits."""
    return text.isascii() and text.isdigit() and len(text) < 10
