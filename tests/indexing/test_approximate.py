"""Approximate vectors: found by meaning at once, replaced by the symbols' own, never counted as such."""

from __future__ import annotations

from pathlib import Path

import pytest

from dowse import Index
from dowse.encoders.registry import load_approximation, load_encoder
from dowse.indexing import approximate
from dowse.vectors.files import approximation_of

from helpers import job_files, write_tree

FILES = job_files("start", "stop", "retry", "cancel", "pause", "count", "copy", "send")
QUERY = "try a failed job of the queue again"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree, and an empty cache of vectors."""
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    return write_tree(tmp_path / "code", FILES)


@pytest.fixture
def index(root):
    with Index.open(root, index_dir=str(root.with_name("index")), encoder="base", threads=1) as index:
        index.update(embed=False)
        yield index


def embed_approximately(index: Index, table=None) -> int:
    assert index.encoder is not None
    table = table or load_approximation(index.encoder)
    return approximate.embed_approximately(index.backend, index.encoder, table)


def folder(index: Index) -> Path:
    return Path(index.backend.address) / "vectors" / approximation_of(load_encoder("base").id)


def test_symbols_are_found_by_meaning_and_count_as_not_embedded(index):
    encoded = embed_approximately(index)
    answer = index.search(QUERY, mode="embedding", embed=False)
    assert answer.hits[0].symbol.name == "retry"
    assert (answer.embedded.symbols, answer.embedded.total, answer.embedded.approximate) == (0, encoded, True)
    assert index.vectors.missing() == encoded and embed_approximately(index) == 0


def test_own_vectors_replace_them(index):
    embed_approximately(index)
    rough = {hit.symbol.id: hit.score for hit in index.search(QUERY, mode="embedding", embed=False).hits}
    index.vectors.embed()
    assert not folder(index).exists()
    answer = index.search(QUERY, mode="embedding", embed=False)
    assert not answer.embedded.approximate and answer.embedded.symbols == answer.embedded.total
    assert {hit.symbol.id: hit.score for hit in answer.hits} != rough


def test_both_kinds_are_searched_together(index):
    index.vectors.embed()
    whole = index.search(QUERY, mode="embedding", k=50, embed=False)
    write_tree(index.root, {"again.py": 'def again(job):\n    """Retry."""\n    job.run()\n'})
    index.update(embed=False)
    assert embed_approximately(index) == index.vectors.missing() > 0  # none but the new ones
    answer = index.search(QUERY, mode="embedding", k=50, embed=False)
    assert "again" in [hit.symbol.name for hit in answer.hits]
    before, after = ({hit.symbol.id: hit.lanes[0].score for hit in each.hits} for each in (whole, answer))
    assert {symbol: after[symbol] for symbol in before} == before


def test_an_update_meanwhile_is_encoded_too(index):
    class Table:
        """Changes the index while the first chunk is encoded."""

        def __init__(self):
            self.table, self.calls = load_approximation(index.encoder), 0

        def encode_documents(self, documents):
            self.calls += 1
            if self.calls == 1:
                write_tree(index.root, {"late.py": "def late(job):\n    job.late()\n"})
                index.update(embed=False)
            return self.table.encode_documents(documents)

    embed_approximately(index, Table())
    assert "late" in [
        hit.symbol.name for hit in index.search("late", mode="embedding", k=50, embed=False).hits
    ]


def test_embedding_begins_with_them_where_it_takes_long(index, monkeypatch):
    seen = []
    monkeypatch.setattr(approximate, "MIN_SYMBOLS", 1)
    index.vectors.embed(chunk=4, on_progress=lambda _: seen.append(folder(index).exists()))
    assert seen and all(seen) and not folder(index).exists()
    monkeypatch.setattr(approximate, "MIN_SYMBOLS", 10**6)
    write_tree(index.root, {"more.py": "def more():\n    pass\n"})
    index.update(embed=False)
    seen.clear()
    index.vectors.embed(on_progress=lambda _: seen.append(folder(index).exists()))
    assert seen == [False]
