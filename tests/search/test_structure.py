"""Questions about structure get the same answers as the commands, and definitions and tests come first."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from dowse import Index
from dowse.answer import Answer
from dowse.errors import DowseError
from dowse.graph.model import RELATIONS
from dowse.graph.queries import query_relation
from dowse.symbol_lookup import AmbiguousName
from dowse.types import SymbolRow

from helpers import index_tree, write_tree

QUESTIONS = {
    "callers": "who calls `{}`",
    "callees": "what does `{}` call",
    "uses": "usages of `{}`",
    "implementers": "who overrides `{}`",
    "subclasses": "subclasses of `{}`",
    "supertypes": "what does `{}` extend",
    "impact": "what depends on `{}`",
}
# Types that override, an overload, a function inside a test of the same name, and a second class of one name.
FILES = {
    "src/store.py": "class Store:\n    def save(self, item):\n        return item\n\n"
    "    def close(self):\n        return None\n\n\ndef open_store(path):\n    return FileStore(path)\n\n\n"
    "class FileStore(Store):\n    def __init__(self, path):\n        self.path = path\n\n"
    "    def save(self, item):\n        return write_item(self.path, item)\n\n\n"
    "def write_item(path, item):\n    return path\n\n\n"
    "def main():\n    store = open_store('x')\n    store.save(1)\n    store.close()\n",
    "src/Calc.java": "class Calc {\n    int add(int a) { return a; }\n    int add(long a) { return 1; }\n"
    "    int twice(int a) { return add(a); }\n}\n",
    "tests/test_store.py": "from src.store import open_store, write_item\n\n\n"
    "def test_save():\n    def write_item(path, item):\n        return 1\n"
    "    open_store('y').save(write_item(1, 2))\n\n\n"
    "def test_write():\n    assert write_item('p', 1) == 'p'\n",
    "src/wrap.py": "def wrap():\n    def write_item(path):\n        return path\n    return write_item\n",
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return index_tree(tmp_path_factory.mktemp("structure") / "code", FILES)


def all_symbols(index: Index) -> list[SymbolRow]:
    with index.backend.reader() as reader:
        return reader.lookup("*", 10_000)


def from_graph(answer: Answer) -> set[tuple[str, str, int]]:
    symbols = [hit.symbol for hit in answer.hits if any(lane.lane == "graph" for lane in hit.lanes)]
    return {(symbol.path, symbol.qualified_name, symbol.start_line) for symbol in symbols}


def steps(symbols: list[SymbolRow]) -> set[tuple[str, str, int]]:
    return {(symbol.path, symbol.qualified_name, symbol.start_line) for symbol in symbols}


@pytest.mark.parametrize("relation", QUESTIONS)
@pytest.mark.parametrize("tree", ["sample_index", "store"])
def test_a_question_is_answered_as_by_the_command(
    relation: str, tree: str, request: pytest.FixtureRequest
) -> None:
    index: Index = request.getfixturevalue(tree)
    depth, compared = max(2, RELATIONS[relation].depth), 0
    for row in all_symbols(index):
        for name in (row.name, row.qualified_name, f"{row.path}:{row.start_line}"):
            try:
                with index.backend.reader() as reader:
                    command = query_relation(reader, relation, name, depth, 0)
            except DowseError:  # ambiguous, or no name: a search takes all of them, or words
                continue
            answer = index.search(QUESTIONS[relation].format(name), 0)
            if answer.plan is None or answer.plan.kind != "structure":
                continue  # a heading with spaces is no name
            compared += 1
            mentioned = [mention.symbol for mention in command.mentions if mention.symbol.row]
            expected = steps([step.symbol for step in command.steps] + mentioned)
            assert from_graph(answer) == expected, name
    assert compared > 10


def test_a_path_is_the_same_as_by_the_command(sample_index: Index, store: Index) -> None:
    found = 0
    for index in (sample_index, store):
        rows = [row for row in all_symbols(index) if row.kind in ("function", "method", "class")]
        for one, other in [*pairwise(rows), *((rows[0], row) for row in rows[1:])]:
            names = [f"{row.path}:{row.start_line}" for row in (one, other)]
            try:
                command = index.graph.path(*names)
            except DowseError:
                continue
            answer = index.search(f"path from {names[0]} to {names[1]}", 0)
            assert from_graph(answer) == steps([step.symbol for step in command.steps]), names
            found += bool(command.steps)
    path = index.search("how does main reach write_item", 0)
    assert {name for _, name, _ in from_graph(path)} >= {"FileStore.save", "write_item"}


@pytest.mark.parametrize(
    "question",
    [
        "where is {} defined",
        "find the definition of {}",
        "definition of {}",
        "what does {} return",
        "return type of {}",
    ],
)
@pytest.mark.parametrize("name", ["open_store", "FileStore", "Store.close"])
def test_a_question_for_a_definition_gets_it_first(store: Index, question: str, name: str) -> None:
    answer = store.search(question.format(name))
    assert answer.hits[0].symbol.qualified_name == name
    assert answer.plan and answer.plan.kind == "name" and "definition" in answer.plan.reason


@pytest.mark.parametrize("question", ["tests for {}", "which tests cover {}", "where is {} tested"])
def test_tests_that_reach_a_symbol_come_first(store: Index, question: str) -> None:
    answer = store.search(question.format("write_item"))
    assert answer.hits[0].symbol.qualified_name == "test_write"
    assert all(path == "tests/test_store.py" for path, _, _ in from_graph(answer))


def test_without_a_call_the_tests_that_name_a_symbol_come_first(tmp_path: Path) -> None:
    files = {
        "src/a.py": "def bake_bread():\n    return 1\n",
        "tests/test_a.py": "def test_bake_bread():\n    run('bake_bread')\n",
    }
    index = Index.open(write_tree(tmp_path / "c", files), index_dir=str(tmp_path / "i"))
    index.update()
    answer = index.search("tests for bake_bread")
    assert answer.hits[0].symbol.name == "test_bake_bread"
    assert any("knows no tests" in note.text for note in answer.notes)


def test_definitions_inside_tests_and_functions_make_no_name_ambiguous(store: Index) -> None:
    assert store.graph.callers("write_item").seed.path == "src/store.py"
    assert len(store.search("who calls write_item").notes) < 2


def test_overloads_are_one_entry(store: Index) -> None:
    assert {step.symbol.name for step in store.graph.callers("Calc.add")} == {"twice"}
    with pytest.raises(AmbiguousName) as caught:
        store.graph.callers("save")
    names = [row.qualified_name for row in caught.value.candidates]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("open_stor", "open_store"),
        ("wirte_item", "write_item"),
        ("openstore", "open_store"),
        ("FileStroe.save", "FileStore.save"),
        ("Stor.close", "Store.close"),
        ("Store.clsoe", "Store.close"),
    ],
)
def test_a_misspelt_name_gets_the_nearest_as_suggestion(store: Index, name: str, meant: str) -> None:
    with pytest.raises(DowseError, match=f"did you mean .*{meant}"):
        store.graph.callers(name)


def test_what_only_mentions_a_name_has_it_as_a_whole_word(tmp_path):
    files = {
        "a.py": "def save_all(items):\n    # saves what to save later: see also bake\n    return items\n",
        "b.py": "def bake():\n    return 1\n\n\ndef baked_goods(bakes):\n    return bakes\n",
        "c.md": "# Baking\n\nWho calls baking hard never did bake_it.\n",
    }
    index = index_tree(tmp_path / "code", files)
    hits = index.search("who calls bake", mode="auto").hits
    assert {hit.symbol.qualified_name for hit in hits} <= {"save_all", "bake"}
    assert "save_all" in {hit.symbol.qualified_name for hit in hits}
