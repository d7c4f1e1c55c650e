"""Candidates without a vector are encoded for the query that finds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dowse import Answer, Index
from dowse.encoders.registry import load_approximation, load_encoder
from dowse.formats.style import Style
from dowse.formats.text import render_answer
from dowse.indexing.approximate import embed_approximately

from helpers import job_files, json_lines, write_tree

FILES = job_files(
    *("start", "stop", "retry", "cancel", "pause", "resume", "delay", "count", "list", "log", "copy", "send")
)
QUERY = "try a failed job of the queue again"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree, and an empty cache of vectors."""
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    return write_tree(tmp_path / "code", FILES)


def make_index(root: Path, name: str = "index", encoder: str = "small", **settings: object) -> Index:
    index = Index.open(root, index_dir=str(root.with_name(name)), encoder=encoder, threads=1, **settings)
    index.update(embed=False)
    return index


def embedded(index: Index) -> int:
    with index.backend.reader() as reader:
        return reader.embedded_count(load_encoder("small").id)


def scores(answer: Answer) -> dict[str, float]:
    return {hit.symbol.name: hit.score for hit in answer.hits}


@pytest.mark.parametrize("isolation", ["never", "always"])
def test_the_answer_is_that_of_an_embedded_index(root, isolation):
    with make_index(root, isolation=isolation, lane_seconds=120.0) as index:
        first = index.search(QUERY, embed=False)
        assert first.plan.lanes == ("keyword", "embedding") and first.plan.fusion == "blend"
        assert (first.embedded.symbols, first.embedded.encoded, first.embedded.candidates_missing) == (
            0,
            12,
            0,
        )
        assert [note.code for note in first.notes] == ["partly-embedded"]
        assert embedded(index) == 12
        second = index.search(QUERY, embed=False)
    assert second.embedded.encoded == 0 and second.notes == ()
    assert list(scores(first)) == list(scores(second))
    assert scores(first) == pytest.approx(scores(second), abs=1e-5)
    assert first.hits[0].confidence == pytest.approx(second.hits[0].confidence, abs=1e-5)


def test_vectors_are_kept_for_other_indexes_while_another_process_embeds(root):
    index, encoder = make_index(root, isolation="never"), load_encoder("small")
    with index.backend.vector_writer(encoder.id, encoder.dimension):
        first = index.search(QUERY, embed=False)
    assert first.embedded.encoded == 12 and embedded(index) == 0
    other = make_index(root, "other", isolation="never")
    answer = other.search(QUERY)
    assert (answer.embedded.encoded, answer.embedded.candidates_missing) == (0, 0)
    assert scores(answer) == pytest.approx(scores(first), abs=1e-5) and embedded(other) == 12


def test_the_best_come_first_until_the_time_is_up(root, monkeypatch):
    monkeypatch.setattr("dowse.search.lanes.query_time_encoding.ENCODING_SECONDS", 1e-6)
    index = make_index(root, isolation="never")
    answer = index.search("retry a job", k=12, embed=False)
    assert (answer.embedded.encoded, answer.embedded.candidates_missing) == (8, 4)
    by_meaning = {hit.symbol.name for hit in answer.hits if any(x.lane == "embedding" for x in hit.lanes)}
    assert "retry" in by_meaning and len(by_meaning) == 8
    for hit in answer.hits:
        part = next(part for part in hit.explanation if part.source == "embedding")
        is_encoded = hit.symbol.name in by_meaning
        assert (part.detail != "no vector yet") == is_encoded
        assert is_encoded or hit.confidence is None


@pytest.mark.parametrize("isolation", ["never", "always"])
def test_an_encoder_with_a_table_needs_no_time_and_keeps_nothing(root, isolation, monkeypatch):
    monkeypatch.setattr("dowse.search.lanes.query_time_encoding.ENCODING_SECONDS", 1e-6)
    index = make_index(root, encoder="base", isolation=isolation, lane_seconds=120.0)
    for _ in range(2):
        answer = index.search(QUERY, embed=False)
        assert answer.hits[0].symbol.name == "retry"
        assert answer.embedded[1:] == (0, 12, 12, 0, True) and index.vectors.missing() == 12
    text = render_answer(answer, Style(), explain=True)
    assert "12 candidates encoded for this query; approximate vectors" in text
    index.vectors.embed()
    assert index.search(QUERY, embed=False).embedded[1:] == (12, 12, 0, 0, False)


def test_candidates_with_an_approximate_vector_are_not_encoded(root):
    index = make_index(root, encoder="base", isolation="never")
    table = load_approximation(index.encoder)
    embed_approximately(index.backend, index.encoder, table)
    first = index.search(QUERY, embed=False)
    assert (first.embedded.encoded, first.embedded.approximate) == (0, True)
    (root / "again.py").write_text('def again(job):\n    """Try a job of the queue again."""\n')
    index.update(embed=False)
    assert index.search(QUERY, embed=False).embedded.encoded == 1


def test_a_corpus_is_encoded_by_the_encoder_itself(root):
    functions = [{"id": name, "code": code, "language": "python"} for name, code in FILES.items()]
    corpus = json_lines(root / "corpus.jsonl", functions)
    index = make_index(corpus, encoder="base", isolation="never")
    answer = index.search(QUERY, embed=False)
    assert (answer.embedded.encoded, answer.embedded.approximate) == (12, False)
    assert index.vectors.missing() == 0
