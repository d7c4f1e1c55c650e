"""What the text of a function says about its quality and its control flow, as numbers.

Of Python the syntax tree is read; of other languages only what words and lines tell, and the rest is NaN.
Nothing here looks at the question but `flow_asked`, which lists the words of control flow in it.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dowse.parsing.grammar import compile_grammar
from dowse.parsing.languages import LANGUAGES

if TYPE_CHECKING:
    from tree_sitter import Node

    from dowse.types import Symbol

# Each opens one more way through a function (McCabe 1976, with the short-circuit operators).
_DECISIONS = frozenset(
    """if_statement elif_clause for_statement while_statement except_clause case_clause for_in_clause
    if_clause conditional_expression boolean_operator assert_statement""".split()
)
_BRANCHES = frozenset(("if_statement", "elif_clause", "conditional_expression", "case_clause", "if_clause"))
_LOOPS = frozenset(("for_statement", "while_statement", "for_in_clause"))
_NESTING = frozenset(("if_statement", "for_statement", "while_statement", "try_statement", "with_statement"))
_TYPED = frozenset(("typed_parameter", "typed_default_parameter"))
_STUBS = frozenset(("pass_statement", "ellipsis"))
_PARSE_SECONDS = 5.0

_UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")
_PARALLEL = re.compile(
    r"\b(?:async|await|threading|Thread|ThreadPool\w*|ProcessPool\w*|multiprocessing|asyncio|gevent|Pool|"
    r"concurrent|futures|submit|Lock|RLock|Semaphore|Queue|imap\w*|starmap\w*)\b"
)
_WAITS = re.compile(r"\b(?:sleep|wait|retry|retries|attempts?|timeout|poll)\b")
_TRUTHS = frozenset((b"True", b"False"))

# WordTokenizer of a question that speak of what a function does step by step, and how the code shows it.
FLOW_WORDS: dict[str, re.Pattern[str]] = {
    "loop": re.compile(
        r"\b(?:loop\w*|iterat\w+|each|every|all|through|repeat\w*|while|for|over|elements?|items?)\b"
    ),
    "recursion": re.compile(
        r"\b(?:recurs\w+|travers\w+|walk\w*|nested|tree|flatten\w*|deep\w*|descend\w*)\b"
    ),
    "parallel": re.compile(
        r"\b(?:parallel\w*|concurren\w+|threads?|threaded|async\w*|multiprocess\w*|multithread\w*|workers?|"
        r"pool|await\w*|background)\b"
    ),
    "condition": re.compile(
        r"\b(?:if|whether|check\w*|exists?|unless|otherwise|when|valid\w*|ensure\w*|determin\w+|verif\w+)\b"
    ),
    "error": re.compile(
        r"\b(?:rais\w+|errors?|exceptions?|fail\w*|try|catch\w*|throw\w*|invalid|handl\w+)\b"
    ),
    "lazy": re.compile(r"\b(?:generat\w+|yield\w*|lazy|lazily|iterators?|stream\w*|chunks?)\b"),
    "context": re.compile(r"\b(?:context|with|open\w*|clos\w+|lock\w*|read\w*|writ\w+|files?)\b"),
    "wait": re.compile(r"\b(?:wait\w*|retr(?:y|ies|ying)|until|timeout|poll\w*|sleep\w*|attempts?)\b"),
    "truth": re.compile(
        r"\b(?:is|are|has|have|whether|check\w*|true|false|boolean|bool|can|equal\w*|contains?)\b"
    ),
}


@dataclass
class Seen:
    """What a walk over a syntax tree counted."""

    kinds: Counter[str] = field(default_factory=Counter)
    depth: int = 0
    calls_itself: bool = False
    tells_truth: bool = False
    parameters: int = 0
    doc_lines: int = 0
    statements: list[str] = field(default_factory=list)  # kinds of the body's own statements, no docstring
    returns_type: bool = False
    identifiers: list[str] = field(default_factory=list)


def flow_asked(query: str) -> frozenset[str]:
    """Return the kinds of control flow that a question speaks of."""
    lowered = query.lower()
    return frozenset(kind for kind, words in FLOW_WORDS.items() if words.search(lowered))


def features(symbol: Symbol) -> tuple[dict[str, float], dict[str, float]]:
    """Return the features of a symbol's text, and which kinds of control flow it shows (1 or 0)."""
    code = textwrap.dedent(symbol.code)
    told = _of_text(symbol, code)
    if symbol.language != "python":
        return told, dict.fromkeys(FLOW_WORDS, math.nan)
    data = code.encode()
    tree = compile_grammar(LANGUAGES["python"].grammar).parse(data, _PARSE_SECONDS)
    if tree is None:
        return told, dict.fromkeys(FLOW_WORDS, math.nan)
    seen = _walk(tree.root_node, symbol.name, data)
    return {**told, **_of_tree(seen, told)}, _flow(seen, code)


def _of_text(symbol: Symbol, code: str) -> dict[str, float]:
    """Return what lines and names tell, in any language."""
    lines = [line.strip() for line in code.split("\n") if line.strip()]
    comments = sum(line.startswith(("#", "//", "*", "/*")) for line in lines)
    name = symbol.name
    dunder = name.startswith("__") and name.endswith("__")
    return {
        "lines": math.log1p(len(lines)),
        "documented": float(bool(symbol.doc)),
        "words of documentation": math.log1p(len(symbol.doc.split())),
        "comment share": comments / max(1, len(lines)),
        "unfinished": float(bool(_UNFINISHED.search(code))),
        "name length": float(len(name)),
        "words in name": float(len(re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name))),
        "private name": float(name.startswith("_") and not dunder),
        "dunder name": float(dunder),
        "test name": float(name.lower().startswith("test") or "/test" in f"/{symbol.path.lower()}"),
        "function": float(symbol.kind in ("function", "method")),
        "line length": sum(map(len, lines)) / max(1, len(lines)),
    }


def _of_tree(seen: Seen, told: dict[str, float]) -> dict[str, float]:
    """Return what the syntax tree tells."""
    kinds, names = seen.kinds, seen.identifiers
    lines = max(1.0, math.expm1(told["lines"]) - seen.doc_lines)
    decisions = sum(kinds[kind] for kind in _DECISIONS)
    typed = sum(kinds[kind] for kind in _TYPED) + seen.returns_type
    return {
        "lines": math.log1p(lines),
        "complexity": math.log1p(1 + decisions),
        "decisions a line": decisions / lines,
        "branches": math.log1p(sum(kinds[kind] for kind in _BRANCHES)),
        "loops": math.log1p(sum(kinds[kind] for kind in _LOOPS)),
        "nesting": float(seen.depth),
        "parameters": math.log1p(seen.parameters),
        "calls": math.log1p(kinds["call"]),
        "returns": math.log1p(kinds["return_statement"]),
        "handles errors": float(bool(kinds["except_clause"])),
        "raises": float(bool(kinds["raise_statement"])),
        "asserts": float(bool(kinds["assert_statement"])),
        "prints": float("print" in names),
        "type hints": min(1.0, typed / (seen.parameters + 1)),
        "decorated": float(bool(kinds["decorator"])),
        "stub": float(_is_stub(seen)),
        "identifier length": sum(map(len, names)) / max(1, len(names)),
        "one-letter names": sum(len(name) == 1 for name in names) / max(1, len(names)),
        "variety of names": len(set(names)) / max(1, len(names)),
        "does not parse": float(bool(kinds["ERROR"])),
    }


def _is_stub(seen: Seen) -> bool:
    """Whether a body does nothing: `pass`, `...`, or an error that it is not written yet."""
    if not seen.statements:
        return bool(seen.kinds["function_definition"])
    if len(seen.statements) > 1:
        return False
    only = seen.statements[0]
    return only in _STUBS or (only == "raise_statement" and "NotImplementedError" in seen.identifiers)


def _flow(seen: Seen, code: str) -> dict[str, float]:
    """Return which kinds of control flow the code shows."""
    kinds = seen.kinds
    shown = {
        "loop": any(kinds[kind] for kind in _LOOPS),
        "recursion": seen.calls_itself,
        "parallel": bool(_PARALLEL.search(code)),
        "condition": any(kinds[kind] for kind in _BRANCHES),
        "error": bool(kinds["raise_statement"] or kinds["except_clause"]),
        "lazy": bool(kinds["yield"] or kinds["generator_expression"]),
        "context": bool(kinds["with_statement"]),
        "wait": bool(kinds["while_statement"]) or bool(_WAITS.search(code)),
        "truth": seen.tells_truth,
    }
    return {kind: float(value) for kind, value in shown.items()}


def _walk(root: Node, name: str, data: bytes) -> Seen:
    """Count what a tree holds; documentation is left out."""
    seen = Seen()
    stack = [(root, 0)]
    first_function = True
    while stack:
        node, depth = stack.pop()
        kind = node.type
        seen.kinds[kind] += 1
        children = list(node.children)
        if kind == "function_definition":
            children = list(_without_docstring(node, children, seen if first_function else None))
            first_function = False
        elif kind == "identifier":
            seen.identifiers.append(data[node.start_byte : node.end_byte].decode(errors="replace"))
        elif kind == "call":
            seen.calls_itself |= _callee(node, data) == name
        elif kind == "return_statement":
            seen.tells_truth |= _is_truth(node, data)
        depth += kind in _NESTING
        seen.depth = max(seen.depth, depth)
        # An `else` holds what is chosen, not one more level.
        stack.extend((child, depth) for child in reversed(children))
    return seen


def _without_docstring(node: Node, children: list[Node], seen: Seen | None) -> Iterator[Node]:
    """Give the parts of a function, of its body all but the docstring; note what its head says."""
    for child in children:
        if child.type != "block":
            yield child
            continue
        own = [each for each in child.children if each.type != "comment"]
        doc = own[:1] if own and own[0].type == "expression_statement" and _is_string(own[0]) else []
        if seen is not None:
            seen.doc_lines = sum(each.end_point.row - each.start_point.row + 1 for each in doc)
            seen.statements = [_statement(each) for each in own[len(doc) :]]
        yield from (each for each in child.children if not doc or each.id != doc[0].id)
    if seen is not None:
        parameters = node.child_by_field_name("parameters")
        seen.parameters = parameters.named_child_count if parameters else 0
        seen.returns_type = node.child_by_field_name("return_type") is not None


def _statement(node: Node) -> str:
    """Return the kind of a statement; of a bare expression that of the expression."""
    if node.type == "expression_statement" and node.named_child_count:
        return node.named_children[0].type
    return node.type


def _is_string(node: Node) -> bool:
    return bool(node.named_child_count) and node.named_children[0].type == "string"


def _callee(node: Node, data: bytes) -> str:
    """Return the last part of what is called."""
    called = node.child_by_field_name("function")
    if called is None:
        return ""
    return data[called.start_byte : called.end_byte].decode(errors="replace").rpartition(".")[2]


def _is_truth(node: Node, data: bytes) -> bool:
    """Whether a return gives true or false for sure."""
    if not node.named_child_count:
        return False
    value = node.named_children[0]
    if value.type in ("comparison_operator", "not_operator"):
        return True
    return data[value.start_byte : value.end_byte] in _TRUTHS
