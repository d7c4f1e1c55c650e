"""Queries of a small graph with known answers: types, dispatch, tests, paths, notes."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from dowse.formats.graph_text import render_graph
from dowse.formats.style import Style
from dowse.graph.model import AmbiguousAnswer, GraphAnswer
from dowse.graph.queries import find_path, query_relation
from dowse.json_form import document
from dowse.symbol_lookup import AmbiguousName
from graph.memory_graph import MemoryGraph, edge, symbol

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "graph.schema.json").read_text())

# Base ← Child ← Grandchild, each with `run`; `main` makes a Child, `drive` runs whatever Base it is given.
SYMBOLS = [
    symbol(1, "Base", kind="class", path="src/base.py"),
    symbol(2, "Base.run", kind="method", path="src/base.py"),
    symbol(3, "Child", kind="class", path="src/child.py"),
    symbol(4, "Child.__init__", kind="method", path="src/child.py"),
    symbol(5, "Child.run", kind="method", path="src/child.py"),
    symbol(6, "Grandchild", kind="class", path="src/grand.py"),
    symbol(7, "Grandchild.run", kind="method", path="src/grand.py"),
    symbol(8, "main", path="src/main.py"),
    symbol(9, "drive", path="src/main.py"),
    symbol(10, "test_child", path="tests/test_child.py", role="test"),
    symbol(11, "helper", path="src/helper.py"),
    symbol(12, "lonely", path="src/helper.py"),
    symbol(13, "__main__", kind="module", path="src/__main__.py"),
    symbol(14, "importer", path="src/importer.py"),
    symbol(15, "same", path="src/one.py"),
    symbol(16, "same", path="src/two.py"),
    symbol(17, "Calc.add", kind="method", path="src/Calc.java", signature="int add(int a)", language="java"),
    symbol(18, "Calc.add", kind="method", path="src/Calc.java", signature="int add(long a)", language="java"),
]
EDGES = [
    edge(3, 1, "extends"),
    edge(6, 3, "extends", "unique"),
    edge(8, 3, "calls", line=81),
    edge(10, 3, "calls", line=101),
    edge(10, 5, "calls", line=102),
    edge(9, 2, "calls", line=91),
    edge(8, 9, "calls", line=82),
    edge(4, 11, "calls", line=41),
    edge(5, 11, "calls", "ambiguous", 4, line=51),
    edge(13, 8, "calls", line=131),
    edge(14, 13, "imports"),
    edge(8, 17, "calls", "ambiguous", 2, line=83),
    edge(8, 18, "calls", "ambiguous", 2, line=83),
]


@pytest.fixture(scope="module")
def graph() -> MemoryGraph:
    return MemoryGraph(SYMBOLS, EDGES)


def summary(answer: GraphAnswer) -> list[str]:
    """Return an answer's steps in short."""
    return [
        "  " * (step.depth - 1)
        + f"{step.symbol.qualified_name}:{step.line} {step.edge.kind}, {step.certainty}"
        for step in answer
    ]


def test_callers_of_a_class_make_objects_of_it(graph):
    assert summary(query_relation(graph, "callers", "Child")) == [
        "main:81 calls, resolved",
        "test_child:101 calls, resolved",
    ]
    assert summary(query_relation(graph, "callers", "Child.__init__")) == summary(
        query_relation(graph, "callers", "Child")
    )


def test_callers_of_a_method_may_come_through_its_base(graph):
    answer = query_relation(graph, "callers", "Child.run")
    assert summary(answer) == [
        "drive:91 calls, possible, through Base.run: resolved",
        "test_child:102 calls, resolved",
    ]
    assert answer.steps[0].confidence == "possible"
    assert tuple(map(str, answer.notes)) == ("calls of Base.run may run Child.run: shown as possible",)


def test_callers_of_callers(graph):
    assert summary(query_relation(graph, "callers", "drive", depth=3)) == [
        "main:82 calls, resolved",
        "  __main__:131 calls, resolved",
    ]
    assert summary(query_relation(graph, "callers", "helper", depth=2)) == [
        "Child.__init__:41 calls, resolved",
        "Child.run:51 calls, one of 4 possible",
        "  main:81 calls, resolved",
        "  drive:91 calls, possible, through Base.run: resolved",
        "  test_child:101 calls, resolved",
    ]


def test_callees_of_a_class_are_those_of_its_methods(graph):
    assert summary(query_relation(graph, "callees", "Child")) == ["helper:41 calls, resolved"]
    # To make an object is to run its constructor.
    assert "  helper:41 calls, resolved" in summary(query_relation(graph, "callees", "main", depth=2))


def test_subclasses_and_implementers_go_down_to_the_last(graph):
    expected = ["Child:1 extends, resolved", "  Grandchild:1 extends, only one of this name"]
    assert summary(query_relation(graph, "subclasses", "Base")) == expected
    assert summary(query_relation(graph, "implementers", "Base")) == expected
    assert summary(query_relation(graph, "subclasses", "Base", depth=1)) == expected[:1]
    assert [step.symbol.name for step in query_relation(graph, "supertypes", "Grandchild")] == [
        "Child",
        "Base",
    ]


def test_implementers_of_a_method_are_the_methods_in_its_place(graph):
    assert summary(query_relation(graph, "implementers", "Base.run")) == [
        "Child.run:5 overrides, resolved",
        "Grandchild.run:7 overrides, only one of this name",
    ]


def test_impact_names_tests_apart_and_ends_at_modules(graph):
    answer = query_relation(graph, "impact", "Child")
    assert summary(answer) == [
        "main:81 calls, resolved",
        "Grandchild:1 extends, only one of this name",
        "drive:91 calls, possible, through Base.run: resolved",
        "test_child:101 calls, resolved",
        "  __main__:131 calls, resolved",
    ]
    assert answer.total_tests == 1
    assert [step.symbol.name for step in answer.tests] == ["test_child"]


@pytest.mark.parametrize(
    ("relation", "name", "note"),
    [
        ("callers", "lonely", "reflection"),
        ("callees", "lonely", "libraries"),
        ("uses", "lonely", "reflection"),
        ("implementers", "lonely", "but in Go"),
        ("subclasses", "lonely", "nothing in the index extends lonely"),
        ("supertypes", "lonely", "nothing"),
        ("impact", "lonely", "reflection"),
    ],
)
def test_an_empty_answer_notes_what_static_analysis_cannot_see(graph, relation, name, note):
    answer = query_relation(graph, relation, name)
    assert not answer.steps and note in str(answer.notes[0])


def test_who_asks_for_subclasses_of_an_interface_is_told_of_implementers():
    graph = MemoryGraph(
        [symbol(1, "Shape", kind="interface"), symbol(2, "Circle", kind="class")], [edge(2, 1, "implements")]
    )
    note = query_relation(graph, "subclasses", "Shape").notes[0]
    assert note.text.endswith("but 1 implement it") and "`dowse implementers Shape`" in note.remedy


def test_overloads_are_taken_together_and_that_is_said(graph):
    answer = query_relation(graph, "callers", "Calc.add")
    # It means one of them, and all were asked about.
    assert summary(answer) == ["main:83 calls, only one of this name"]
    assert summary(query_relation(graph, "callers", "Calc.java:17")) == ["main:83 calls, one of 2 possible"]
    assert (
        len(answer.seeds) == 2
        and "defined 2 times" in str(answer.notes[0])
        and "17, 18" in str(answer.notes[0])
    )


def test_an_ambiguous_name_asks_back(graph):
    with pytest.raises(AmbiguousName) as caught:
        query_relation(graph, "callers", "same")
    jsonschema.validate(document(AmbiguousAnswer(caught.value.name, tuple(caught.value.candidates))), SCHEMA)
    assert [row.path for row in caught.value.candidates] == ["src/one.py", "src/two.py"]


def test_k_cuts_and_says_so(graph):
    answer = query_relation(graph, "callers", "Child", k=1)
    assert (len(answer), answer.total, answer.total_tests) == (1, 2, 1)
    assert (
        answer.notes[0].text == "the nearest 1 of 2, of them 0 of 1 tests"
        and "-k 0" in answer.notes[0].remedy
    )
    assert len(query_relation(graph, "callers", "Child", k=0)) == 2


# Paths


def test_a_path_is_the_shortest_chain(graph):
    answer = find_path(graph, "__main__", "helper")
    assert [step.symbol.name for step in answer] == ["main", "Child", "helper"]
    assert [(step.path, step.line) for step in answer] == [
        ("src/__main__.py", 131),
        ("src/main.py", 81),
        ("src/child.py", 41),
    ]
    assert answer.notes == () and answer.target is not None and answer.target.name == "helper"


def test_a_path_that_only_leads_back_is_told(graph):
    answer = find_path(graph, "helper", "main")
    assert not answer.steps
    assert "but one of 2 hops leads from main to helper" in str(answer.notes[0])
    assert "nor back" in str(find_path(graph, "lonely", "main").notes[0])


def test_a_sure_path_is_preferred_to_a_shorter_guess():
    symbols = [symbol(row) for row in range(1, 5)]
    guess = edge(1, 4, confidence="ambiguous", candidates=3)
    sure = [edge(1, 2), edge(2, 3), edge(3, 4)]
    answer = find_path(MemoryGraph(symbols, [guess, *sure]), "f1", "f4")
    assert len(answer) == 3 and answer.notes == ()
    guessed = find_path(MemoryGraph(symbols, [guess]), "f1", "f4")
    assert len(guessed) == 1 and "every path has an ambiguous link" in str(guessed.notes[0])


def test_a_path_may_end_in_a_method_that_runs_in_anothers_place(graph):
    answer = find_path(graph, "main", "Grandchild.run")
    assert summary(answer) == [
        "drive:82 calls, resolved",
        "  Base.run:91 calls, resolved",
        "    Grandchild.run:7 overrides, possible, through Base.run: only one of this name",
    ]
    assert tuple(map(str, answer.notes)) == ("calls of Base.run may run Grandchild.run: shown as possible",)
    jsonschema.validate(document(answer), SCHEMA)


# Forms


@pytest.mark.parametrize("relation", ["callers", "callees", "uses", "implementers", "subclasses", "impact"])
@pytest.mark.parametrize("name", ["Child", "Child.run", "main", "helper", "lonely", "Base.run", "Calc.add"])
def test_json_holds_the_whole_answer(graph, relation, name):
    answer = query_relation(graph, relation, name, depth=3)
    data = document(answer)
    jsonschema.validate(data, SCHEMA)
    numbers = {step["number"] for step in data["steps"]}
    assert all(step["parent"] == 0 or step["parent"] in numbers for step in data["steps"])


def test_a_path_goes_on_behind_a_method_that_runs_in_anothers_place(graph):
    """The code behind an interface is reached through what implements it."""
    symbols = [
        symbol(1, "main"),
        symbol(2, "Sink", kind="interface", path="sink.ts"),
        symbol(3, "Sink.put", kind="method", path="sink.ts"),
        symbol(4, "FileSink", kind="class", path="file.ts"),
        symbol(5, "FileSink.put", kind="method", path="file.ts"),
        symbol(6, "flush"),
    ]
    edges = [edge(1, 3), edge(4, 2, "implements"), edge(5, 6)]
    answer = find_path(MemoryGraph(symbols, edges), "main", "flush")
    assert summary(answer) == [
        "Sink.put:1 calls, resolved",
        "  FileSink.put:5 overrides, possible, through Sink.put: resolved",
        "    flush:1 calls, resolved",
    ]
    assert [n.text for n in answer.notes] == ["calls of Sink.put may run FileSink.put: shown as possible"]
    for relation in ("callers", "impact"):
        back = query_relation(MemoryGraph(symbols, edges), relation, "flush", depth=3)
        assert summary(back) == [
            "FileSink.put:1 calls, resolved",
            "  main:1 calls, possible, through Sink.put: resolved",
        ]


def test_impact_cuts_tests_and_code_apart_and_counts_all():
    code = [symbol(row) for row in range(2, 12)]
    tests = [symbol(row, path="tests/test_a.py", role="test") for row in range(12, 17)]
    far = symbol(17, path="tests/test_b.py", role="test")
    edges = [edge(row.row, 1) for row in (*code, *tests)] + [edge(17, 11)]
    answer = query_relation(MemoryGraph([symbol(1), *code, *tests, far], edges), "impact", "f1", k=3)
    assert (len(answer.steps), len(answer.tests)) == (6, 3)
    assert (answer.total, answer.total_tests, answer.total_by_depth) == (16, 6, (10, 0))
    assert "the nearest 6 of 16, of them 3 of 6 tests" in str(answer.notes[-1])
    text = render_graph(answer, Style())
    assert "directly (3 of 10)" in text and "tests to run (3 of 6, in 1 file)" in text


def test_impact_lists_certain_tests_first_and_leaves_doubtful_ones_out():
    tests = [symbol(row, path="tests/test_a.py", role="test") for row in range(3, 7)]
    edges = [
        edge(2, 1),
        edge(3, 1)._replace(confidence="ambiguous", candidates=3),
        edge(4, 1)._replace(confidence="ambiguous", candidates=166),
        edge(5, 2)._replace(confidence="resolved"),
        edge(6, 3),
    ]
    graph = MemoryGraph([symbol(1), symbol(2), *tests], edges)
    answer = query_relation(graph, "impact", "f1")
    assert [step.symbol.row for step in answer.tests] == [5, 3, 6]
    assert answer.total_tests == 3 and len(answer.certain) == 2
    assert any("1 tests are left out: they name one of more than 5" in note.text for note in answer.notes)
    text = render_graph(answer, Style())
    places = [text.index(part) for part in ("tests to run (3", "f5", "may be affected (2", "f3")]
    assert places == sorted(places)
    whole = query_relation(graph, "impact", "f1", k=0)
    assert whole.total_tests == 4


def test_impact_says_where_it_stopped():
    chain = [symbol(row) for row in range(1, 6)]
    edges = [edge(row + 1, row) for row in range(1, 5)]
    answer = query_relation(MemoryGraph(chain, edges), "impact", "f1")
    (note,) = answer.notes
    assert note.text == "stopped after 3 steps; at least 1 more symbols use what is there"
    assert note.remedy == "--depth 4 goes on"
    assert query_relation(MemoryGraph(chain, edges), "impact", "f1", depth=4).notes == ()
