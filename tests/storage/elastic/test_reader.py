"""The reader of a cluster: statistics over shards, snapshot isolation, limits, few round trips."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dowse.graph.link import link
from dowse.research.tfidf.index import search_tfidf
from dowse.storage.elastic.backend import ElasticBackend
from dowse.storage.elastic.client import Client
from dowse.storage.elastic.reader import ElasticReader
from dowse.storage.local.backend import LocalBackend
from dowse.storage.protocol import KeywordRequest, Term
from dowse.types import FileRecord
from storage.conformance import (
    EVEN,
    fill,
    parsed_record,
    request,
    rows_by_name,
)
from storage.elastic_fixtures import MakeElastic

from helpers import file_record, symbol

# Three shards, as on a larger cluster: statistics must be those of all of them.
SPREAD = "?shards=3&replicas=0"
WORDS = ("cart", "item", "total", "rate", "parse", "cookie")


@contextlib.contextmanager
def counted_requests() -> Iterator[list[str]]:
    """Note every request to the cluster."""
    asked: list[str] = []
    plain = Client.call

    def call(self: Client, *arguments: Any, **named: Any) -> Any:
        asked.append("request")
        return plain(self, *arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Client, "call", call)
        yield asked


def shop_files(count: int = 30) -> list[FileRecord]:
    """Files with terms in several fields, of different lengths."""
    return [
        file_record(
            f"src/p{n % 3}/f{n}.py",
            [
                symbol(
                    f"f{n}_{at}",
                    {"name": WORDS[n % 6], "body": " ".join(WORDS[: 1 + (n + at) % 6]), "path": "src"},
                    key=f"{n}.{at}",
                )
                for at in range(1 + n % 3)
            ],
        )
        for n in range(count)
    ]


@pytest.fixture(scope="module")
def spread(make_elastic: MakeElastic) -> ElasticBackend:
    backend = make_elastic(options=SPREAD)
    fill(backend, shop_files())
    return backend


def scores_by_key(reader: Any, wanted: KeywordRequest, limit: int = 100) -> dict[str, float]:
    found = reader.search_bm25(wanted, limit)
    keys = [row.key for row in reader.rows([row for row, _ in found])]
    return dict(zip(keys, (score for _, score in found), strict=True))


def test_scores_over_shards_equal_those_of_a_local_index(spread: ElasticBackend, tmp_path: Path) -> None:
    local = LocalBackend(tmp_path / "index")
    fill(local, shop_files())
    wanted = KeywordRequest((Term("cart"), Term("parse", 2.0), Term("cooki", 0.3, 1)), {**EVEN, "name": 2.0})
    with spread.reader() as reader, local.reader() as other:
        assert scores_by_key(reader, wanted) == pytest.approx(scores_by_key(other, wanted), rel=1e-4)


def test_a_search_takes_one_round_trip_and_its_rows_none(spread: ElasticBackend) -> None:
    with spread.reader() as reader:
        with counted_requests() as asked:
            found = reader.search_bm25(request("cart", "cookie"), 20)
            reader.rows([row for row, _ in found])
        assert len(asked) == 1
        with counted_requests() as asked:
            reader.prefetch_document_frequencies(WORDS)
            reader.prefetch_document_frequencies(("pars", "cook"), "name")
            for word in (*WORDS, "pars"):
                reader.document_frequency(word, "name")
                reader.document_frequency(word)
        assert len(asked) <= 2
        with counted_requests() as asked:
            reader.coverage(dict.fromkeys(WORDS, 0.1), [row for row, _ in found])
            reader.symbols(reader.rows([row for row, _ in found]))
        assert len(asked) == 2


def test_readers_of_one_generation_share_a_cache(spread: ElasticBackend) -> None:
    with spread.reader() as reader:
        rows = [row for row, _ in reader.search_bm25(request("cart"), 20)]
        reader.document_frequency("cart")
    with spread.reader() as reader, counted_requests() as asked:
        reader.rows(rows)
        reader.document_frequency("cart")
    assert asked == []


def test_an_open_reader_keeps_its_snapshot(make_elastic: MakeElastic) -> None:
    backend = make_elastic(options=SPREAD)
    put_linked(
        backend,
        {
            "shop.py": "def make():\n    pass\n",
            "till.py": "from shop import make\n\n\ndef use():\n    make()\n",
        },
    )
    with backend.reader() as held:
        rows = rows_by_name(held)
        before = everything(held, rows)
        # Another process would know nothing of what was asked before the change.
        with ElasticBackend(backend.address, backend.source).reader() as late:
            put_linked(
                backend,
                {"shop.py": "def make():\n    return other\n\n\ndef more():\n    make()\n"},
                gone=("till.py",),
            )
            assert everything(held, rows) == before
            assert everything(late, rows) == before
    with backend.reader() as fresh:
        assert set(rows_by_name(fresh)) == {"make", "more"}
        assert [edge.source for edge in fresh.edges([rows["make"]], (), incoming=True)] == [
            rows_by_name(fresh)["more"]
        ]


def everything(reader: ElasticReader, rows: dict[str, int]) -> list[Any]:
    files = [file.file_id for file in reader.files()]
    return [
        reader.counts(),
        reader.languages(),
        reader.fingerprints(),
        reader.rows_of_files(files),
        dict(reader.texts(files)),
        reader.edges(list(rows.values())),
        reader.edges(list(rows.values()), (), incoming=True),
        [reader.document_frequency(word) for word in ("make", "use", "other")],
        # Scores may move a little: what others add counts for how rare a term is.
        [row for row, _ in reader.search_bm25(request("make"), 10)],
        search_tfidf(reader, ("make", "make make"), 10),
        reader.lookup("*", 10),
        reader.coverage({"make": 1.0, "use": 0.5}, list(rows.values())),
    ]


def put_linked(backend: ElasticBackend, texts: dict[str, str], gone: tuple[str, ...] = ()) -> None:
    with backend.writer() as writer:
        for path in gone:
            writer.delete(path)
        for path, text in texts.items():
            writer.put(parsed_record(path, text))
        link(writer.graph())
        writer.commit({})


# Look-ups


def test_long_names_and_odd_characters_round_trip(make_elastic: MakeElastic) -> None:
    backend = make_elastic()
    odd = ["x" * 3000, 'qu"o\\te\n', "日本😀", "a b\tc"]
    symbols = [symbol(name, key=f"k{n}", qualified_name=f"M.{name}") for n, name in enumerate(odd)]
    fill(backend, [file_record("dir with space/ü.py", symbols)])
    with backend.reader() as reader:
        rows = {row.key: row for row in reader.rows_of_files([reader.files()[0].file_id])}
        assert [rows[f"k{n}"].name for n in range(len(odd))] == odd
        for number, name in enumerate(odd):
            assert [row.key for row in reader.lookup(name, 5)] == [f"k{number}"]


# Places


# The graph


def test_edges_beyond_a_page_and_a_limit(make_elastic: MakeElastic, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many callers of one function, read in small pages: the first ones by place, whatever the limit."""
    from dowse.storage.elastic import edges as module

    monkeypatch.setattr(module, "PAGE", 4)
    backend = make_elastic(options=SPREAD)
    callers = {
        f"c{n:02}.py": "from shop import make\n\n\ndef use():\n    make()\n    make()\n" for n in range(15)
    }
    put_linked(backend, {"shop.py": "def make():\n    pass\n", **callers})
    with backend.reader() as reader:
        (make,) = (row.row for row in reader.lookup("make", 1))
        every = reader.edges([make], ("calls",), incoming=True)
        paths = {file.file_id: file.path for file in reader.files()}
        assert [(paths[e.file_id], e.line) for e in every] == [
            (f"c{n:02}.py", at) for n in range(15) for at in (5, 6)
        ]
        for limit in (1, 5, 9, 29, 30, 100):
            assert reader.edges([make], ("calls",), incoming=True, limit=limit) == every[:limit]
        with counted_requests() as asked:
            reader.edges([make], ("calls",), incoming=True, limit=3)
        assert len(asked) <= 2
