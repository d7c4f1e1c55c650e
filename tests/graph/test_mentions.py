"""Nothing calls a symbol only if no other line has its name; else those lines are listed as mentions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dowse import Index
from dowse.graph.mentions import RELATIONS_WITH_MENTIONS
from dowse.graph.model import GraphAnswer
from dowse.graph.queries import query_relation_of
from dowse.types import SymbolRow

from helpers import index_tree

# Functions that are called, stored, passed, named in a string or a comment, or nowhere, in many languages.
FILES = {
    "door.py": "class Door:\n    def shut_it(self):\n        # shut_it returns itself\n"
    "        return self.shut_it\n\n    def lock_it(self): ...\n\n    def paint_it(self): ...\n\n\n"
    "def oil_it(): ...\n\n\ndef lonely_one(): ...\n",
    "hall.py": "from door import Door, oil_it\n\nTABLE = {'oil': oil_it}\n\n\ndef run(door):\n"
    "    getattr(door, 'paint_it')()\n    door.lock_it()\n",
    "door.ts": "export class Gate {\n  swing_it() {}\n  lift_it() {}\n  constructor() {}\n}\n"
    "export function hang_it() {}\nconst handlers = { lift: hang_it };\n",
    "lamp.go": "package lamp\n\ntype Lamp struct{}\n\nfunc (l *Lamp) Glow() {}\n\n"
    "func dim(f func()) { f() }\n\nfunc use(l *Lamp) { dim(l.Glow) }\n",
    "lib.rs": "struct Lock;\nimpl Lock {\n    fn turn_it(&self) {}\n    fn jam_it(&self) {}\n}\n"
    "fn all(l: &Lock) { each!(l, turn_it); }\n",
    "Hinge.java": "class Hinge {\n  Hinge() {}\n  void creak() {}\n  void bend() {}\n"
    "  Runnable r() { return this::creak; }\n}\n",
    "knob.c": "static int twist(void) { return 1; }\nstruct ops { int (*f)(void); };\n"
    "struct ops table = { .f = twist };\nint spare(void) { return 2; }\n",
    "bell.rb": "class Bell\n  def ring!\n  end\n  def mute?\n  end\nend\nb.send(:ring!)\n",
    "roof.php": "<?php\nclass Roof {\n  function leak() {}\n  function tile() {}\n}\n"
    "array_map([$r, 'leak'], []);\n",
    "NOTES.md": "Call `spare` when all else fails.\n",
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return index_tree(tmp_path_factory.mktemp("house") / "code", FILES)


def functions(index: Index) -> list[SymbolRow]:
    with index.backend.reader() as reader:
        return [row for row in reader.lookup("*", 10_000) if row.kind in ("function", "method")]


def ask(index: Index, relation: str, row: SymbolRow) -> GraphAnswer:
    with index.backend.reader() as reader:
        return query_relation_of(reader, relation, [row], 1, 0)


def lines_with_name(index: Index, row: SymbolRow) -> set[tuple[str, int]]:
    """The lines outside of a definition that a plain search for its name finds.

    A constructor of the name of its class is defined with it.
    """
    pattern = re.compile(rf"(?<!\w){re.escape(row.name)}(?!\w)")
    with index.backend.reader() as reader:
        if row.qualified_name.endswith(f"{row.name}.{row.name}"):
            row = next(each for each in reader.lookup(row.name, 10) if each.kind == "class")
        return {
            (file.path, number)
            for file in reader.files()
            for number, line in enumerate((index.root / file.path).read_bytes().split(b"\n"), 1)
            if pattern.search(line.decode("utf-8", "replace"))
            and not (file.path == row.path and row.start_line <= number <= row.end_line)
        }


@pytest.mark.parametrize("relation", RELATIONS_WITH_MENTIONS)
@pytest.mark.parametrize("tree", ["house", "sample_index"])
def test_nothing_is_denied_that_a_plain_search_finds(
    relation: str, tree: str, request: pytest.FixtureRequest
) -> None:
    index: Index = request.getfixturevalue(tree)
    denied = 0
    for row in functions(index):
        answer = ask(index, relation, row)
        known = {(step.path, edge.line) for step in answer.steps for edge in step.references}
        is_certain = any(step.confidence in ("resolved", "unique") for step in answer.steps)
        mentioned = {(mention.symbol.path, mention.line) for mention in answer.mentions}
        assert not known & mentioned
        if not is_certain:
            assert lines_with_name(index, row) <= known | mentioned, row
        if any("occurs nowhere else" in note.text for note in answer.notes):
            denied += 1
            assert not lines_with_name(index, row), row
        else:
            assert answer.steps or answer.mentions
    assert denied


def test_each_way_to_use_a_function_is_seen(house: Index) -> None:
    denied = set()
    for row in functions(house):
        if any("occurs nowhere else" in note.text for note in ask(house, "callers", row).notes):
            denied.add(row.name)
    assert denied >= {"lonely_one", "swing_it", "lift_it", "jam_it", "bend", "mute?", "tile"}
    mentioned = {
        "oil_it",
        "paint_it",
        "hang_it",
        "Glow",
        "turn_it",
        "creak",
        "twist",
        "ring!",
        "leak",
        "spare",
    }
    assert not denied & mentioned


# What is asked, files, and what the note says instead of a denial.
NO_DENIALS = {
    "an operator": ("V.operator==", {"v.cpp": "struct V {\n  bool operator==(V o) {\n  }\n};\n"}, "without"),
    "a destructor": ("V.~V", {"v.cpp": "struct V {\n  ~V() {\n  }\n};\n"}, "cpp calls it without"),
    "a statement": ("V.__enter__", {"v.py": "class V:\n    def __enter__(self): ...\n"}, "calls it without"),
    "an operator of Kotlin": ("V.plus", {"v.kt": "class V {\n  operator fun plus(o: V) = o\n}\n"}, "without"),
    "another overload": (
        "V.log",
        {"V.java": "class V {\n  void log(int a) { log(a, 1); }\n  void log(int a, int b) {}\n}\n"},
        "nothing in the index calls V.log but itself",
    ),
    "a file that is too large": (
        "spin",
        {"a.py": "def spin(): ...\n", "b.py": "spin()\n" * 200_000},
        "1 source file is not in the index, and calls by reflection",
    ),
    "another case": (
        "OpenIt",
        {"a.php": "<?php\nfunction OpenIt() {}\n", "b.txt": "call openit\n"},
        "1 line mentions its name",
    ),
}


@pytest.mark.parametrize("reason", NO_DENIALS)
def test_what_may_call_unseen_is_said(reason: str, tmp_path: Path) -> None:
    name, files, expected = NO_DENIALS[reason]
    (note,) = (
        n
        for n in index_tree(tmp_path / "c", files).graph.callers(name).notes
        if "taken together" not in n.text
    )
    assert expected in note.text


def test_a_certain_reference_to_a_caller_hides_no_mention(tmp_path: Path) -> None:
    # `go` calls `spin` on an unknown receiver; that `main` calls `go` is certain.
    text = "class Top:\n    def spin(self): ...\n\n\nclass Fan:\n    def spin(self): ...\n\n\n"
    text += "def go(x):\n    x.spin()\n\n\ndef main():\n    go('Fan.spin')\n"
    index = index_tree(tmp_path / "c", {"a.py": text})
    for answer in (index.graph.impact("Top.spin"), index.graph.callers("Top.spin", depth=2)):
        assert {step.symbol.name for step in answer} == {"go", "main"}
        assert {mention.line for mention in answer.mentions} == {6, 14}


def test_mentions_are_limited_and_counted_code_first(tmp_path: Path) -> None:
    files = {
        "src/a.py": "def spin(): ...\n",
        "src/z.py": "".join(f"t{n} = {{'f': spin}}\n" for n in range(30)),
        "tests/test_a.py": "x = spin\n",
        "README.md": "Use `spin`.\n",
    }
    index = index_tree(tmp_path / "c", files)
    answer = index.graph.callers("spin")
    assert (len(answer.mentions), answer.total_mentions) == (20, 32)
    assert {mention.symbol.path for mention in answer.mentions} == {"src/z.py"}
    assert [mention.text for mention in answer.mentions][:1] == ["t0 = {'f': spin}"]
    everything = index.graph.callers("spin", k=0).mentions
    assert [mention.symbol.path for mention in everything][-2:] == ["tests/test_a.py", "README.md"]
    assert any("32 lines mention its name" in note.text for note in answer.notes)
