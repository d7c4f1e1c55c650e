"""Query adapters on a cluster: learnt for each source, stored with it, used for its symbols alone."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dowse import Index
from dowse.ingest.repository import DONE, UNCHANGED, IngestOptions, index_repository
from dowse.storage.elastic.backend import ElasticBackend
from dowse.storage.elastic.names import META, adapter_id
from dowse.types import Answer
from dowse.vectors.adapter import AdapterFacts, pack, read_facts, unpack
from eval.git_repo import GitRepo
from indexing.told_by_history import QUESTION, THINGS, commits, make, source
from storage.elastic_fixtures import MakeElastic

from helpers import run_dowse, write_tree

# The best hit of the query as it is: its words are those of the question.
OTHER = "def fix_workshop(tulips):\n    return [workshop for workshop in tulips if workshop.falcon]\n"


class Place:
    """Two repositories in one index: one with a history, and one without."""

    def __init__(self, folder: Path, address: str) -> None:
        self.repo = make(folder / "forge", "Fix the {topic} workshop for {thing}", THINGS)
        self.other = write_tree(folder / "shed", {"workshop.py": OTHER})
        self.address = address
        self._opened: dict[bool, Index] = {}

    def ingest(self, root: Path, **settings: object) -> str:
        """Index a repository as `dowse index` does."""
        flags = {"backend": self.address, "encoder": "small", "threads": 1, **settings}
        return index_repository(str(root), IngestOptions(flags)).status

    def open(self, adapter: bool = True) -> Index:
        """Open the index as a new process would: with empty caches, but its encoder is loaded once."""
        fixed = {"backend": self.address, "encoder": "small", "threads": 1, "isolation": "never"}
        if adapter not in self._opened:
            self._opened[adapter] = Index.open(self.repo.root, **fixed, adapter=adapter)
        return self._opened[adapter]

    def search(self, query: str = QUESTION, adapter: bool = True) -> Answer:
        with self.open(adapter) as index:
            return index.search(query, mode="embedding")

    def facts(self) -> AdapterFacts | None:
        with self.open() as index:
            return read_facts(index.backend.adapter_store(index.encoder.id))

    def change(self, edit: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Change the document with the adapter."""
        with self.open() as index:
            backend = index.backend
            assert isinstance(backend, ElasticBackend)
            alias, id_ = backend.client.alias(META), adapter_id(index.encoder.id, "forge")
            document = backend.client.get(alias, id_)["_source"]
            changed = {**document, "data": edit(document["data"])}
            backend.client.call(lambda es: es.index(index=alias, id=id_, document=changed, refresh=True))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, make_elastic: MakeElastic) -> Place:
    made = Place(tmp_path_factory.mktemp("adapters"), make_elastic().address)
    assert made.ingest(made.other) == DONE
    with made.open() as index, index.backend.reader() as reader:
        assert reader.source_adapters(index.encoder.id) is None  # so nothing is requested for them
    assert made.ingest(made.repo.root) == DONE
    return made


def adapted(answer: Answer) -> dict[str, bool]:
    """Whether each hit was found by an adapted query, by name."""
    return {hit.symbol.name: hit.lanes[0].detail.startswith("adapted by 60 commits: ") for hit in answer}


def test_each_source_is_searched_with_its_own_query(place):
    answer, plain = place.search(), place.search(adapter=False)
    found = adapted(answer)
    assert found.pop("fix_workshop") is False and len(found) == 6 and all(found.values())
    names = [hit.symbol.name for hit in answer if hit.symbol.repo == "forge"]
    assert names[0] == "parse_calendar_day" and not any(adapted(plain).values())
    confidences = [{hit.symbol.name: hit.confidence for hit in each} for each in (answer, plain)]
    assert confidences[0] == pytest.approx(confidences[1], abs=0.01)
    assert not any(adapted(place.search("where is the falcon workshop")).values())
    assert adapted(place.search(f"{QUESTION} repo:shed")) == {"fix_workshop": False}
    assert all(adapted(place.search(f"{QUESTION} repo:forge")).values())


def test_explain_and_status_show_it_by_source(place):
    common = (place.repo.root, "--backend", place.address, "--encoder", "small")
    shown = run_dowse("search", QUESTION, *common, "--explain", "--mode", "embedding").stdout
    assert "adapted by 60 commits: " in shown
    shown = run_dowse("status", *common).stdout
    assert "adapter    forge: 60 commits, MRR 0." in shown and "adapter    shed" not in shown
    with place.open(adapter=False) as index:
        assert index.status()["adapter"] is None and not index.status()["adapters"]


def repacked(edit: Callable[[AdapterFacts, bytes], tuple[AdapterFacts, bytes]]) -> Callable[..., Any]:
    """Change facts and matrix, with a hash that is right."""

    def change(data: dict[str, Any]) -> dict[str, Any]:
        known = unpack(b64decode(data["facts"]) + b64decode(data["matrix"]))
        assert known is not None
        return {**data, "facts": b64encode(pack(*edit(*known))).decode(), "matrix": ""}

    return change


DAMAGES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "no object of ours": lambda data: {"facts": [1], "matrix": {"a": 1}},
    "of another encoder": lambda data: {**data, "encoder": "other"},
    "of another source": lambda data: {**data, "source": "shed"},
    "flipped": lambda data: {**data, "matrix": "AAAA" + data["matrix"][4:]},
    "cut": lambda data: {**data, "matrix": data["matrix"][: len(data["matrix"]) // 2]},
    "of another dimension": repacked(lambda facts, matrix: (facts, matrix[:64])),
    "not finite": repacked(lambda facts, matrix: (facts, np.full(len(matrix) // 4, np.nan, "<f4").tobytes())),
    "too large": repacked(lambda facts, matrix: (facts, b"\0" * 5_000_000)),
    "too strong": repacked(lambda facts, matrix: (replace(facts, strength=50.0), matrix)),
    "facts beyond limits": repacked(lambda facts, matrix: (replace(facts, reason="x" * 10_000), matrix)),
}


def test_damaged_and_foreign_adapters_are_refused_with_a_note_and_learnt_again(place):
    saved: list[dict[str, Any]] = []
    place.change(lambda data: saved.append(data) or data)
    for name, damage in DAMAGES.items():
        place.change(lambda _, damage=damage: damage(saved[0]))
        answer = place.search()
        assert not any(adapted(answer).values()), name
        notes = [str(note) for note in answer.notes if "query adapter of forge is damaged" in note.text]
        assert len(notes) == 1 and notes[0].endswith("`dowse index` learns it again"), name
        assert place.facts() is None, name
    assert place.ingest(place.repo.root) == UNCHANGED
    assert place.facts().commits == 60 and adapted(place.search())["parse_calendar_day"]


def test_a_grown_history_is_learnt_and_a_removed_source_takes_its_adapter_along(place):
    before = place.facts()
    assert place.ingest(place.repo.root, adapter=False) == UNCHANGED
    place.repo.commit("Fix the falcon workshop for pianos", source("falcon", 100))
    assert place.ingest(place.repo.root) == DONE
    few = place.facts()
    assert few.newest == before.newest and few.head != before.head
    place.repo.commit_many(commits("Add the {topic} workshop for {thing}", ["flutes"]))
    GitRepo(place.repo.root).git("reset", "--quiet", "--hard")
    place.ingest(place.repo.root, adapter=False)
    assert place.facts() == few
    place.ingest(place.repo.root)
    assert place.facts().commits == 67 and place.facts().newest != before.newest
    with place.open() as index:
        index.backend.clear()
        assert index.status()["adapters"] == {}
    assert place.facts() is None and adapted(place.search()) == {"fix_workshop": False}
