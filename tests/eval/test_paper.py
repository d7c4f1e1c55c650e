"""Elasticsearch as the graph-clustering paper has it, on a real cluster."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import pytest

from dowse import Index
from dowse.errors import EvalError
from dowse.eval.systems import named_system
from dowse.eval.systems.paper import paper, steps

from helpers import write_tree

FILES = {
    "oven.py": "def preheatOven(temperature):\n    return temperature\n\n\ndef cool_down():\n    return 20\n",
    "bread.py": "def knead(dough, minutes):\n    return dough * minutes\n\n\n"
    "def rest(dough):\n    return dough\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory):
    root = write_tree(tmp_path_factory.mktemp("tree") / "bakery", FILES)
    folder = str(tmp_path_factory.mktemp("index") / "i")
    with Index.open(root, index_dir=folder, refresh="never", encoder="none") as made:
        made.update()
        yield made


def test_a_query_is_split_then_fewer_words_are_required() -> None:
    assert steps("preheatOven now") == [
        ("preheatOven now", "100%"),
        ("preheat oven now", "100%"),
        ("preheat oven now", "75%"),
        ("preheat oven now", "50%"),
        ("preheat oven now", "1"),
    ]
    assert steps("knead") == [("knead", "100%"), ("knead", "75%"), ("knead", "50%"), ("knead", "1")]
    assert steps("?!") == []


def test_it_finds_by_words_with_edits_and_after_relaxing(
    index: Index, cluster_address: Callable[[str], str]
) -> None:
    search = paper(index, cluster_address("paper-test"))
    assert [found.symbol for found in search("knead", 5)] == ["knead"]
    assert [found.symbol for found in search("kneed", 5)] == ["knead"]  # a letter is wrong
    assert search("dough minutes", 1)[0].symbol == "knead"
    assert search("dough unheardof", 5) and search("zzzzzz", 5) == [] and search("", 5) == []
    assert len(search("dough", 1)) == 1


def test_its_index_goes_with_it(index: Index, cluster_address: Callable[[str], str]) -> None:
    from dowse.storage.elastic.address import parse_address
    from dowse.storage.elastic.client import Client

    client = Client(parse_address(cluster_address("paper-gone")))
    search = paper(index, cluster_address("paper-gone"))
    there = lambda: list(client.call(lambda es: es.indices.get(index="dowse-paper-gone-paper-*")))  # noqa: E731
    assert len(there()) == 1
    del search
    gc.collect()
    assert there() == []
    client.close()


def test_it_needs_an_address(index: Index, cluster_address: Callable[[str], str], tmp_path: Path) -> None:
    with pytest.raises(EvalError, match="paper=elastic"):
        named_system("paper")
    name, make = named_system(f"paper={cluster_address('paper-named')}")
    assert name == "paper" and make(index, "symbol")("knead", 1)[0].symbol == "knead"
