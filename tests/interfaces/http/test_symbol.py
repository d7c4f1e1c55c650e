"""Symbols over HTTP: source as indexed, outline, neighbours, and what is like them."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote

import jsonschema
import pytest

from dowse import Index
from dowse.json_form import document
from interfaces.http.running import Running, running

from helpers import index_tree, write_tree

GRAPH = json.loads((Path(__file__).parents[3] / "docs" / "graph.schema.json").read_text())


def test_a_symbol_is_found_by_id_location_and_name(server: Running) -> None:
    by_name = server.get("symbol", target="Room.clean", index="inn")
    by_id = server.get("symbol", target=by_name["symbol"]["id"])
    by_place = server.get("symbol", target="inn/rooms.py:8", index="inn")
    assert by_name == by_id == by_place
    assert by_name["symbol"]["qualified_name"] == "Room.clean" and by_name["index"] == "inn"


def test_source_outline_and_neighbours(server: Running, inn: Index) -> None:
    room = server.get("symbol", target="Room", index="inn")
    text = (inn.root / "inn/rooms.py").read_text().split("\n")
    first, last = room["symbol"]["start_line"], room["symbol"]["end_line"]
    assert room["source"] == "\n".join(text[first - 1 : last])
    assert room["doc"] == "A room that guests sleep in." and "def clean" not in room["code"]
    assert [entry["name"] for entry in room["outline"] if entry["kind"] != "module"] == [
        *("Room", "clean", "sweep", "evening")
    ]
    clean = server.get("symbol", target="Room.clean", index="inn")
    assert [(each["symbol"]["name"], each["line"]) for each in clean["callers"]] == [("evening", 19)]
    assert [each["symbol"]["name"] for each in clean["callees"]] == ["sweep"]
    assert clean["callees"][0]["confidence"] == "resolved"


def test_a_whole_file_is_shown_too(server: Running, tmp_path: Path) -> None:
    """Lines outside every symbol are hits of their file."""
    root = write_tree(tmp_path / "t", {"blank.py": "def f():\n    pass\n\n\n    \n"})
    index = Index.open(root, index_dir=str(tmp_path / "i"), encoder="small")
    index.update()
    with running([index]) as run:
        [hit] = [hit for hit in run.get("search", q=r"/^ +$/")["hits"] if hit["kind"] == "file"]
        found = run.get("symbol", target=hit["id"])
        assert found["symbol"]["kind"] == "file" and "def f" in found["source"] and found["callers"] == []
        run.get("graph/callers", 404, target=hit["id"])
        run.get("related", 404, target=hit["id"])


def test_the_editor_opens_the_file(server: Running, inn: Index) -> None:
    found = server.get("symbol", target="sweep", index="inn")
    file, line = unquote(found["editor"].removeprefix("vscode://file")).rsplit(":", 1)
    assert Path(file) == inn.root / "inn/rooms.py" == Path(found["file"])
    assert int(line) == found["symbol"]["start_line"]


def test_source_comes_from_the_index(sample_copy: Path, tmp_path: Path) -> None:
    """The file may say something else by now, or be a link to anywhere: nobody looks."""
    index = Index.open(sample_copy, index_dir=str(tmp_path / "i"), refresh="never")
    index.update()
    with running([index]) as run:
        hit = run.get("search", q="kind:function lang:python", k=1)["hits"][0]
        file = sample_copy / hit["path"]
        file.unlink()
        file.symlink_to("/etc/passwd")
        found = run.get("symbol", target=hit["id"])
        assert hit["name"] in found["source"] and "root:" not in found["source"]


@pytest.mark.parametrize(
    "target",
    ["../../../../etc/passwd:1", "/etc/passwd:1", "inn/rooms.py:999", "file:logo.png", "\x00", "no_such"],
)
def test_what_is_not_indexed_is_not_there(server: Running, target: str) -> None:
    assert server.get("symbol", 404, target=target)["type"].endswith("unknown-symbol")


def test_ambiguous_name_lists_candidates(tmp_path: Path) -> None:
    source = "class A:\n    def run(self):\n        pass\n\nclass B:\n    def run(self):\n        pass\n"
    index = Index.open(write_tree(tmp_path / "t", {"a.py": source}), index_dir=str(tmp_path / "i"))
    index.update()
    with running([index]) as run:
        problem = run.get("symbol", 409, target="run")
        assert [each["qualified_name"] for each in problem["candidates"]] == ["A.run", "B.run"]
        assert {each["index"] for each in problem["candidates"]} == {"t"}
        chosen = problem["candidates"][1]["id"]
        assert run.get("symbol", target=chosen)["symbol"]["qualified_name"] == "B.run"


def test_two_copies_of_one_repository(inn: Index) -> None:
    """Both give the same ids: the index must be named."""
    again = Index.open(inn.root, index_dir=str(inn.backend.folder), refresh="never")
    with running([inn, again]) as run:
        problem = run.get("symbol", 409, target="sweep")
        assert [each["index"] for each in problem["candidates"]] == ["inn", "inn-2"]
        assert run.get("symbol", target="sweep", index="inn-2")["index"] == "inn-2"


@pytest.mark.parametrize("relation", ["callers", "callees", "uses", "impact"])
def test_graph_answers_have_the_command_lines_json(server: Running, inn: Index, relation: str) -> None:
    answer = server.get(f"graph/{relation}", target="Room.clean", index="inn", depth=2)
    here = json.loads(json.dumps(document(getattr(inn.graph, relation)("Room.clean", depth=2))))
    assert {name: answer[name] for name in here} == here
    jsonschema.validate({name: answer[name] for name in here}, GRAPH)


def test_drawing_has_every_symbol_once(server: Running) -> None:
    answer = server.get("graph/uses", target="sweep", depth=3)
    ids = [node["id"] for node in answer["nodes"]]
    assert len(ids) == len(set(ids)) == 1 + len(answer["steps"])
    assert [node["id"] for node in answer["nodes"] if node["seed"]] == [answer["seeds"][0]["id"]]
    assert answer["edges"] and all(
        edge["source"] in ids and edge["target"] in ids for edge in answer["edges"]
    )
    depths = {node["id"]: node["depth"] for node in answer["nodes"]}
    assert all(depths[step["symbol"]["id"]] == step["depth"] for step in answer["steps"])


def test_a_path_has_two_ends(server: Running) -> None:
    answer = server.get("graph/path", target="evening", to="sweep", index="inn")
    assert [step["symbol"]["name"] for step in answer["steps"]] == ["clean", "sweep"]
    assert answer["target"]["name"] == "sweep"
    server.get("graph/path", 422, target="evening")
    server.get("graph/path", 404, target="evening", to="nobody", index="inn")


def test_related_symbols(server: Running, bakery: Index) -> None:
    hit = server.get("search", q="kind:function lang:python -test", index="bakery", k=1)["hits"][0]
    answer = server.get("related", target=hit["id"], k=3)
    here = document(bakery.related(f"{hit['path']}:{hit['start_line']}", 3))
    assert [each["id"] for each in answer["neighbours"]] == [each["id"] for each in here["neighbours"]]
    assert len(answer["neighbours"]) == 3 and answer["index"] == "bakery"
    assert answer["symbol"]["id"] == hit["id"]


def test_related_needs_an_encoder(server: Running) -> None:
    assert "encoder" in server.get("related", 400, target="sweep", index="inn")["remedy"]


NAMES = {
    "shop/cart.py": "LIMIT = 20\n\n\nclass Cart:\n    currency = 'EUR'\n\n    def is_full(self):\n"
    "        return self.size > LIMIT\n"
}


def test_names_have_pages_uses_and_suggestions(tmp_path: Path) -> None:
    index = index_tree(tmp_path / "shop", NAMES, refresh="never")
    with running([index]) as run:
        page = run.get("symbol", target="Cart.currency")
        assert page["is_name"] and page["symbol"]["signature"] == "currency = 'EUR'"
        assert page["owner"]["qualified_name"] == "Cart" and "class Cart" in page["code"]
        assert page["source"] == "    currency = 'EUR'" and page["code_lines"][0] == 3
        assert page["symbol"]["id"] in [entry["id"] for entry in page["outline"]]
        assert page["callees"] == [] and run.get("symbol", target=page["symbol"]["id"]) == page
        limit = run.get("symbol", target="LIMIT")
        lines = [each["line"] for each in (*limit["callers"], *limit["mentions"])]
        assert limit["owner"] is None and lines == [8]
        assert run.get("graph/callers", target="shop/cart.py:1")["relation"] == "uses"
        (first, *_) = run.get("suggest", q="LIM")["suggestions"]
        assert (first["text"], first["detail"]) == ("LIMIT", "constant in shop/cart.py:1")


def test_symbols_are_suggested_before_names(tmp_path: Path) -> None:
    text = "load_limit_of_all = 3\n\n\ndef load_limit():\n    return 1\n\n\nload = 2\n"
    with running([index_tree(tmp_path / "s", {"a.py": text}, refresh="never")]) as run:
        suggested = [each["text"] for each in run.get("suggest", q="load")["suggestions"]]
        assert suggested == ["load_limit", "load", "load_limit_of_all"]
