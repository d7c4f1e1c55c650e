"""Our graph as a SCIP file: readable by the schema, complete, and at the right places."""

from __future__ import annotations

from pathlib import Path

import pytest

from dowse import Index
from dowse.graph.scip.names import parse_symbol
from dowse.graph.scip.reading import open_scip
from dowse.graph.scip.schema import DEFINITION, IMPORT, messages
from dowse.interfaces.cli.main import main

from helpers import write_tree

FILES = {
    "src/shapes.py": '''"""Shapes: Shape is the base."""

import functools


class Shape:
    """A Shape."""

    def area(self):
        return 0


class Circle(Shape):
    @functools.cache
    def area(self):
        # area of a circle
        return größe(3)


def größe(n):
    return n
''',
    "src/draw.py": """from shapes import Circle

SCALE = 3


def draw():
    'é', Circle().area()
    return Circle()
""",
    "tool/main.go": "package main\n\nfunc helper() {}\n\nfunc main() {\n\thelper()\n}\n",
    "odd name.py": "def f(x):\n    return x\n\n\ndef f(x, y):\n    return f(x)\n\n\nclass `:\n    pass\n",
}


@pytest.fixture
def exported(tmp_path):
    root = write_tree(tmp_path / "tree", FILES)
    with Index.open(root, encoder="none") as index:
        index.update()
    file = tmp_path / "out.scip"
    assert main(["export", str(root), str(file), "--format", "scip", "--quiet"]) == 0
    return file


def occurrences(file: Path) -> list[tuple[str, str, str, int, int]]:
    """Path, text, symbol, roles and line of every occurrence."""
    found = []
    for document in open_scip(file).documents():
        lines = FILES[document.relative_path].encode().split(b"\n")
        for each in document.occurrences:
            line, start, end = each.range
            text = lines[line][start:end].decode()
            found.append((document.relative_path, text, each.symbol, each.symbol_roles, line + 1))
    return found


def test_definitions_are_where_their_names_are(exported):
    named = {
        (path, text, line) for path, text, _, roles, line in occurrences(exported) if roles == DEFINITION
    }
    assert named >= {
        ("src/shapes.py", "Shape", 6),
        ("src/shapes.py", "area", 9),
        ("src/shapes.py", "Circle", 13),
        ("src/shapes.py", "area", 15),
        ("src/shapes.py", "größe", 20),
        ("src/draw.py", "draw", 6),
        ("tool/main.go", "helper", 3),
        ("odd name.py", "f", 1),
        ("odd name.py", "f", 5),
    }


def test_references_name_what_is_defined(exported):
    found = occurrences(exported)
    defined = [symbol for _, _, symbol, roles, _ in found if roles & DEFINITION]
    assert len(defined) == len(set(defined)), "every definition has a name of its own"
    references = {(path, text, symbol, line) for path, text, symbol, roles, line in found if not roles & 1}
    assert {symbol for _, _, symbol, _ in references} <= set(defined)
    texts = {(path, text, line, symbol.rpartition("/")[2]) for path, text, symbol, line in references}
    assert ("src/draw.py", "area", 7, "Circle#area().") in texts
    assert ("src/draw.py", "Circle", 8, "Circle#") in texts
    assert ("src/shapes.py", "größe", 17, "`größe`().") in texts
    assert ("tool/main.go", "helper", 6, "helper().") in texts
    assert any(roles == IMPORT and text == "Circle" for _, text, _, roles, _ in found)


def test_names_are_well_formed_and_inheritance_is_told(exported):
    documents = list(open_scip(exported).documents())
    for document in documents:
        for information in document.symbols:
            assert parse_symbol(information.symbol) is not None, information.symbol
    relations = {
        (information.display_name, relation.symbol.rpartition("/")[2], relation.is_implementation)
        for document in documents
        for information in document.symbols
        for relation in information.relationships
    }
    assert relations == {("Circle", "Shape#", True)}


def test_enclosing_ranges_hold_the_definition(exported):
    for document in open_scip(exported).documents():
        for each in document.occurrences:
            if each.symbol_roles & DEFINITION:
                first, _, last, _ = each.enclosing_range
                assert first <= each.range[0] <= last


def test_the_numbers_of_fields_are_those_of_the_schema():
    document = messages().document(relative_path="a", language="Go", text="t", position_encoding=1)
    document.occurrences.add(range=[1, 2, 3], symbol="s", symbol_roles=1, enclosing_range=[0])
    document.symbols.add(symbol="s", documentation=["d"], kind=7, display_name="n", enclosing_symbol="e")
    document.symbols[0].relationships.add(symbol="r", is_implementation=True)
    occurrence = b"\x0a\x03\x01\x02\x03\x12\x01s\x18\x01\x3a\x01\x00"
    relation = b"\x0a\x01r\x18\x01"
    symbol = b"\x0a\x01s\x1a\x01d\x22" + bytes([len(relation)]) + relation
    symbol += b"\x28\x07\x32\x01n\x42\x01e"
    assert document.SerializeToString() == (
        b"\x0a\x01a"
        + (b"\x12" + bytes([len(occurrence)]) + occurrence)
        + (b"\x1a" + bytes([len(symbol)]) + symbol)
        + b"\x22\x02Go\x2a\x01t\x30\x01"
    )
    metadata = messages().metadata(version=1, project_root="p", text_document_encoding=1)
    metadata.tool_info.name, metadata.tool_info.version = "n", "v"
    assert metadata.SerializeToString() == b"\x08\x01\x12\x06\x0a\x01n\x12\x01v\x1a\x01p\x20\x01"


def test_a_corpus_has_nothing_to_export(tmp_path, capsys):
    corpus = tmp_path / "c.jsonl"
    corpus.write_text('{"code": "def f(): pass", "func_name": "f"}\n')
    assert main(["index", str(corpus), "--no-embed", "--quiet"]) == 0
    assert main(["export", str(corpus), str(tmp_path / "o.scip"), "--format", "scip"]) == 2
    assert "no call graph" in capsys.readouterr().err
    assert not (tmp_path / "o.scip").exists()
