"""Code before tests wherever callers are listed, by real indexes; and words that fit every interface."""

from __future__ import annotations

import pytest

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


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return index_tree(tmp_path_factory.mktemp("order") / "code", FILES, refresh="never")


def test_commands_list_code_then_examples_then_tests(index: Index) -> None:
    answer = index.graph.callers("Stack.push")
    assert [step.symbol.role for step in answer] == [""] * 12 + ["example"] + ["test"] * 12
    assert answer.total_tests == 12
    assert not index.graph.callers("Stack.push", k=12).tests
