r"""An NFA simulation for single lines that RE2 cannot judge: Unicode \b next to non-ASCII words.

Thompson's construction (1968) run by a Pike VM, in Python: slow per character, but linear in the text.
"""

from __future__ import annotations

from dowse import deadline
from dowse.errors import QueryError
from dowse.lazy_classes import dataclass, field
from dowse.query.regex import re2_engine
from dowse.query.regex.ast import (
    Alternate,
    Assertion,
    CharClass,
    CharSet,
    Concat,
    Dot,
    Literal,
    Node,
    Perl,
    Repeat,
)
from dowse.query.regex.translate import to_re2

# Bounds the work per character; only counted repetitions come near it.
MAX_PROGRAM = 20_000
# Characters after which the deadline is checked.
_CHECKED = 16
_WORD = CharClass(CharSet((Perl("w", False),)))


@dataclass(slots=True)
class _Instruction:
    """Test a character, test an assertion, branch (the first target is preferred), or accept."""

    tester: _CharTester | None = None
    assertion: str = ""
    targets: tuple[int, ...] = ()


class _CharTester:
    """Whether a character is in a class, by RE2 and a cache."""

    def __init__(self, node: Node) -> None:
        self.regex = re2_engine.compile_re2(to_re2(node, ascii_text=False))
        self.cache: dict[str, bool] = {}

    def __call__(self, char: str) -> bool:
        result = self.cache.get(char)
        if result is None:
            result = self.cache[char] = self.regex.fullmatch(char.encode(errors="replace")) is not None
        return result


@dataclass(slots=True)
class Nfa:
    """The NFA program of a regex, which finds all matches in one line."""

    node: Node
    program: list[_Instruction] = field(default_factory=list)
    testers: dict[Node, _CharTester] = field(default_factory=dict)
    is_word: _CharTester = field(default_factory=lambda: _CharTester(_WORD))

    def __post_init__(self) -> None:
        self._compile(self.node)
        self._emit(_Instruction())

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Return all non-overlapping matches, leftmost first, in characters."""
        match_spans: list[tuple[int, int]] = []
        position = 0
        while position <= len(line):
            span = self._first_match(line, position)
            if span is None:
                break
            if span[0] < span[1] or not match_spans or span[0] != match_spans[-1][1]:
                match_spans.append(span)
            position = span[1] if span[0] < span[1] else span[1] + 1
        return match_spans

    def _emit(self, instruction: _Instruction) -> int:
        if len(self.program) >= MAX_PROGRAM:
            raise QueryError("the regex repeats too much; lower its {m,n} counts")
        self.program.append(instruction)
        return len(self.program) - 1

    def _compile(self, node: Node) -> None:
        """Append the instructions of a node; each falls through to the next."""
        if isinstance(node, Literal | CharClass | Dot):
            tester = self.testers.get(node) or _CharTester(node)
            self.testers[node] = tester
            self._emit(_Instruction(tester=tester))
        elif isinstance(node, Assertion):
            self._emit(_Instruction(assertion=node.kind))
        elif isinstance(node, Concat):
            for part in node.parts:
                self._compile(part)
        elif isinstance(node, Alternate):
            self._compile_alternatives(node)
        else:
            self._compile_repeat(node)

    def _compile_alternatives(self, node: Alternate) -> None:
        """Branch to each alternative in order of preference."""
        branch = self._emit(_Instruction())
        starts, ends = [], []
        for part in node.parts:
            starts.append(len(self.program))
            self._compile(part)
            ends.append(self._emit(_Instruction()))
        self.program[branch].targets = tuple(starts)
        for end in ends:
            self.program[end].targets = (len(self.program),)

    def _compile_repeat(self, node: Repeat) -> None:
        """Unroll the required copies, then append a loop or the optional copies."""
        for _ in range(node.low):
            self._compile(node.node)
        if node.high is None:
            branch = self._emit(_Instruction())
            self._compile(node.node)
            self._emit(_Instruction(targets=(branch,)))
            self._set_targets(branch, node.greedy)
            return
        branches = []
        for _ in range(node.high - node.low):
            branches.append(self._emit(_Instruction()))
            self._compile(node.node)
        for branch in branches:
            self._set_targets(branch, node.greedy)

    def _set_targets(self, branch: int, greedy: bool) -> None:
        """Let a branch enter what follows it or jump to the current end."""
        enter, leave = branch + 1, len(self.program)
        self.program[branch].targets = (enter, leave) if greedy else (leave, enter)

    def _first_match(self, line: str, start: int) -> tuple[int, int] | None:
        """Return the leftmost match from `start` on, with the priorities of a backtracking matcher."""
        best: tuple[int, int] | None = None
        threads: list[tuple[int, int]] = []
        accept = len(self.program) - 1
        for position in range(start, len(line) + 1):
            if position % _CHECKED == 0:
                deadline.check()
            seen: set[int] = set()
            ready: list[tuple[int, int]] = []
            for state, match_start in threads:
                self._follow(state, match_start, line, position, seen, ready)
            if best is None:
                self._follow(0, position, line, position, seen, ready)
            threads = []
            char = line[position] if position < len(line) else ""
            for state, match_start in ready:
                if state == accept:
                    best = (match_start, position)
                    break  # the threads after this one have lower priority
                tester = self.program[state].tester
                if char and tester is not None and tester(char):
                    threads.append((state + 1, match_start))
            if not threads and best is not None:
                break
        return best

    def _follow(
        self, state: int, start: int, line: str, position: int, seen: set[int], ready: list[tuple[int, int]]
    ) -> None:
        """Add the epsilon closure of a state, in the order of priority."""
        stack = [state]
        accept = len(self.program) - 1
        while stack:
            current = stack.pop()
            if current in seen:
                continue
            seen.add(current)
            instruction = self.program[current]
            if instruction.tester is not None or current == accept:
                ready.append((current, start))
            elif instruction.assertion:
                if self._holds(instruction.assertion, line, position):
                    stack.append(current + 1)
            else:
                stack.extend(reversed(instruction.targets or (current + 1,)))

    def _holds(self, assertion: str, line: str, position: int) -> bool:
        if assertion == "start":
            return position == 0
        if assertion == "end":
            return position == len(line)
        before = position > 0 and self.is_word(line[position - 1])
        after = position < len(line) and self.is_word(line[position])
        return (before != after) == (assertion == "boundary")
