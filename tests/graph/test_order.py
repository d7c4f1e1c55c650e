"""Code before tests wherever callers are listed, by real indexes; and words that fit every interface."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import dowse
from dowse import Index

from helpers import index_tree

# The tests call it with a known type, the code with an unknown one: that is less certain.
FILES = {
    "stack.py": "class Stack:\n    def push(self, item):\n        return item\n",
    "shelf.py": "class Shelf:\n    def push(self, item):\n        return item\n",
    "code.py": "".join(f"def load_{number}(thing):\n    thing.push(1)\n\n\n" for number in range(12)),
    "examples/demo.py": "from stack import Stack\n\n\ndef demo():\n    Stack().push(1)\n",
    "tests/test_stack.py": "from stack import Stack\n\n\n"
    + "".join(f"def test_{number}():\n    Stack().push(1)\n\n\n" for number in range(12)),
}
# A command in backquotes, or a flag.
_AT_A_PROMPT = re.compile(r"`dowse |(?:^|[\s`(])--?[a-z]")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return index_tree(tmp_path_factory.mktemp("order") / "code", FILES, refresh="never")


def test_commands_list_code_then_examples_then_tests(index: Index) -> None:
    answer = index.callers("Stack.push")
    assert [step.symbol.role for step in answer] == [""] * 12 + ["example"] + ["test"] * 12
    assert answer.total_tests == 12
    assert not index.callers("Stack.push", k=12).tests


def test_searches_list_them_in_the_same_order(index: Index) -> None:
    hits = index.search("what calls Stack.push", 25).hits
    found = [hit.symbol.path for hit in hits if any(lane.lane == "graph" for lane in hit.lanes)]
    assert found == ["code.py"] * 12 + ["examples/demo.py"] + ["tests/test_stack.py"] * 12


def test_the_text_of_a_note_names_no_command_or_flag() -> None:
    """Notes are shown to people at a page and to agents, too; what helps at a prompt is the remedy."""
    found = 0
    for file in Path(dowse.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text())):
            if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != "Note":
                continue
            found += 1
            texts = [each.value for each in ast.walk(call.args[1]) if isinstance(each, ast.Constant)]
            assert not [text for text in texts if _AT_A_PROMPT.search(str(text))], (file, call.lineno)
    assert found > 20
