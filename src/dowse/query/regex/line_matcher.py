r"""A small linear-time matcher for single lines that RE2 cannot judge: Unicode \b next to non-ASCII words.

It is Thompson's construction run with Pike's threads, in Python: slow per character, never exponential.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dowse.query.errors import QueryError
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

# Bounds the work per character; counted repetitions are the only way to come near it.
MAX_PROGRAM = 20_000
_WORD = CharClass(CharSet((Perl("w", False),)))


@dataclass(slots=True)
class _Step:
    """One instruction: test a character, test a place, branch (first target preferred), or accept."""

    tester: _CharTester | None = None
    place: str = ""
    targets: tuple[int, ...] = ()


class _CharTester:
    """Whether a character is in a class, asking RE2 once for each."""

    def __init__(self, node: Node) -> None:
        self.regex = re2_engine.compile_re2(to_re2(node, ascii_text=False))
        self.known: dict[str, bool] = {}

    def __call__(self, char: str) -> bool:
        """Test one character."""
        answer = self.known.get(char)
        if answer is None:
            encoded = char.encode(errors="replace")
            answer = self.known[char] = self.regex.fullmatch(encoded) is not None
        return answer


@dataclass(slots=True)
class LineMachine:
    """A compiled tree that finds all matches in one line."""

    node: Node
    steps: list[_Step] = field(default_factory=list)
    testers: dict[Node, _CharTester] = field(default_factory=dict)
    is_word: _CharTester = field(default_factory=lambda: _CharTester(_WORD))

    def __post_init__(self) -> None:
        self._compile(self.node)
        self._emit(_Step())

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Return all non-overlapping matches, leftmost first, in characters."""
        found: list[tuple[int, int]] = []
        at = 0
        while at <= len(line):
            span = self._first(line, at)
            if span is None:
                break
            if span[0] < span[1] or not found or span[0] != found[-1][1]:
                found.append(span)
            at = span[1] if span[0] < span[1] else span[1] + 1
        return found

    def _emit(self, step: _Step) -> int:
        """Append an instruction and return where it stands."""
        if len(self.steps) >= MAX_PROGRAM:
            raise QueryError("the regex repeats too much; lower its {m,n} counts")
        self.steps.append(step)
        return len(self.steps) - 1

    def _compile(self, node: Node) -> None:
        """Append the instructions of a node; each falls through to what follows."""
        if isinstance(node, Literal | CharClass | Dot):
            tester = self.testers.get(node) or _CharTester(node)
            self.testers[node] = tester
            self._emit(_Step(tester=tester))
        elif isinstance(node, Assertion):
            self._emit(_Step(place=node.kind))
        elif isinstance(node, Concat):
            for part in node.parts:
                self._compile(part)
        elif isinstance(node, Alternate):
            self._compile_alternatives(node)
        else:
            self._compile_repeat(node)

    def _compile_alternatives(self, node: Alternate) -> None:
        """Branch to each alternative in order of preference."""
        branch = self._emit(_Step())
        starts, ends = [], []
        for part in node.parts:
            starts.append(len(self.steps))
            self._compile(part)
            ends.append(self._emit(_Step()))
        self.steps[branch].targets = tuple(starts)
        for end in ends:
            self.steps[end].targets = (len(self.steps),)

    def _compile_repeat(self, node: Repeat) -> None:
        """Write the demanded copies out, then a loop or the optional copies."""
        for _ in range(node.low):
            self._compile(node.node)
        if node.high is None:
            branch = self._emit(_Step())
            self._compile(node.node)
            self._emit(_Step(targets=(branch,)))
            self._choose(branch, node.greedy)
            return
        branches = []
        for _ in range(node.high - node.low):
            branches.append(self._emit(_Step()))
            self._compile(node.node)
        for branch in branches:
            self._choose(branch, node.greedy)

    def _choose(self, branch: int, greedy: bool) -> None:
        """Let a branch enter what follows it or leave to the present end."""
        enter, leave = branch + 1, len(self.steps)
        self.steps[branch].targets = (enter, leave) if greedy else (leave, enter)

    def _first(self, line: str, at: int) -> tuple[int, int] | None:
        """Find the leftmost match from `at` on, preferring as a backtracker would."""
        best: tuple[int, int] | None = None
        threads: list[tuple[int, int]] = []
        accept = len(self.steps) - 1
        for position in range(at, len(line) + 1):
            seen: set[int] = set()
            ready: list[tuple[int, int]] = []
            for state, start in threads:
                self._follow(state, start, line, position, seen, ready)
            if best is None:
                self._follow(0, position, line, position, seen, ready)
            threads = []
            char = line[position] if position < len(line) else ""
            for state, start in ready:
                if state == accept:
                    best = (start, position)
                    break  # threads behind this one are less preferred
                tester = self.steps[state].tester
                if char and tester is not None and tester(char):
                    threads.append((state + 1, start))
            if not threads and best is not None:
                break
        return best

    def _follow(
        self, state: int, start: int, line: str, position: int, seen: set[int], ready: list[tuple[int, int]]
    ) -> None:
        """Add every state reachable without consuming a character, most preferred first."""
        stack = [state]
        accept = len(self.steps) - 1
        while stack:
            current = stack.pop()
            if current in seen:
                continue
            seen.add(current)
            step = self.steps[current]
            if step.tester is not None or current == accept:
                ready.append((current, start))
            elif step.place:
                if self._holds(step.place, line, position):
                    stack.append(current + 1)
            else:
                stack.extend(reversed(step.targets or (current + 1,)))

    def _holds(self, place: str, line: str, position: int) -> bool:
        """Whether an assertion is true at a position."""
        if place == "start":
            return position == 0
        if place == "end":
            return position == len(line)
        before = position > 0 and self.is_word(line[position - 1])
        after = position < len(line) and self.is_word(line[position])
        return (before != after) == (place == "boundary")
