"""Beyond Elasticsearch's own limits: 10,000 hits of a search, and the clauses of a query."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from dowse.graph.link import link
from dowse.query.ast import Or, RowsFilter, Word, WordConstraint
from dowse.query.regex.matcher import compile_pattern
from dowse.query.regex.trigrams import required_trigrams
from dowse.storage.elastic.backend import ElasticBackend
from dowse.storage.elastic.reader import ElasticReader
from storage.conformance import parsed_record, request

# More than one search returns.
BEARERS = 10_050
# More words than a query may have clauses, in five fields each.
WORDS = [f"unheard{number}" for number in range(3_000)]


@pytest.fixture(scope="module")
def crowded(make_elastic: Callable[[], ElasticBackend]) -> ElasticBackend:
    """An index in which one name has very many bearers, and another has one."""
    backend = make_elastic()
    with backend.writer() as writer:
        writer.put(parsed_record("a.py", "def early(box):\n    box.find_rare()\n"))
        writer.put(parsed_record("many.py", "class Many:\n" + "    def save_box(self): pass\n" * BEARERS))
        writer.put(parsed_record("rare.py", "class Rare:\n    def find_rare(self): pass\n"))
        writer.put(parsed_record("z.py", "def late(box):\n    box.save_box()\n"))
        link(writer.graph())
        writer.commit({})
    return backend


@pytest.fixture
def reader(crowded: ElasticBackend) -> Iterator[ElasticReader]:
    with crowded.reader() as opened:
        yield opened


@pytest.mark.large
def test_all_bearers_of_a_name_are_found(reader: ElasticReader) -> None:
    assert len(reader.rows_named(["save_box"], 20_000)) == BEARERS
    assert len(reader.lookup("save_*", 20_000)) == BEARERS
    assert len(reader.search_bm25(request("save_box"), 20_000)) == BEARERS + 1  # and its caller
    rows = [row.row for row in reader.rows_named(["save_box"], 20_000)]
    assert reader.search_bm25(request("save_box", constraint=RowsFilter(frozenset(rows))), 20_000)


def test_more_words_than_a_query_may_have_clauses(reader: ElasticReader) -> None:
    wanted = request("find_rare", *WORDS)
    (first, score), *_ = reader.search_bm25(wanted, 10)
    assert reader.rows([first])[0].name in ("find_rare", "early")
    parts = reader.explain_bm25(wanted, [first])[first]
    assert sum(parts.values()) == pytest.approx(score, rel=1e-4)
    covered = reader.coverage({"find_rare": 0.5, **dict.fromkeys(WORDS, 0.1)}, [first])
    assert covered[first] == pytest.approx(0.5, rel=1e-4)
    assert reader.document_frequency("find_rare") and not any(map(reader.document_frequency, WORDS[:50]))


@pytest.mark.large
def test_constraints_of_many_alternatives(reader: ElasticReader) -> None:
    words = Or(tuple(WordConstraint(Word(word)) for word in ("find_rare", *WORDS)))
    assert len(reader.search_bm25(request(constraint=words), 10)) == 2
    rows = RowsFilter(frozenset(range(1, 70_000)))
    assert reader.search_bm25(request(constraint=rows), 10) == []
    different = required_trigrams(compile_pattern(".*".join(WORDS[:300])))
    assert reader.trigram_candidates(different) == []
    similar = required_trigrams(compile_pattern(".*".join(["find_rare"] * 300)))
    assert {"a.py", "rare.py"} <= {row.path for row in reader.file_rows(reader.trigram_candidates(similar))}
