"""The roles of docs/CLUSTER.md suffice for what they are for, and for nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from dowse.errors import ConfigError
from dowse.storage.elastic.backend import ElasticBackend
from dowse.storage.elastic.errors import AccessDenied
from dowse.storage.protocol import KeywordRequest, Term, VectorRequest
from storage.conformance import fill, some_files
from storage.secured_fixtures import Secured

ENCODER = "toy/1"


@pytest.fixture(scope="module")
def filled(secured: Secured) -> str:
    """An index that an administrator has created, with vectors."""
    name = "test-roles"
    administrator = secured.backend(name, key=secured.key("administrator", name))
    if administrator.exists():
        administrator.drop()
    fill(administrator, some_files())
    embed(administrator)
    assert administrator.health()["status"] == "green"
    return name


def embed(backend: ElasticBackend) -> None:
    with backend.reader() as reader:
        keys = [key for _, key in reader.missing_vectors(ENCODER)]
    with backend.vector_writer(ENCODER, 8) as writer:
        writer.put(keys, np.eye(8, dtype=np.float32)[: len(keys)])
        writer.finish(1, "auto", lambda: np.eye(8, dtype=np.float32))


def search_everything(backend: ElasticBackend) -> None:
    """Use all that searches use."""
    with backend.reader() as reader:
        terms = (Term("item"),)
        assert reader.search_bm25(KeywordRequest(terms, {"body": 1.0, "name": 2.0}), 10)
        assert reader.nearest(VectorRequest(ENCODER, np.eye(8, dtype=np.float32)[0]), 3)
        rows = [row.row for row in reader.lookup("*", 10)]
        assert reader.document_frequency("item") and reader.languages() and reader.symbols(reader.rows(rows))
        assert list(reader.edges(rows)) is not None and reader.files() and reader.counts()["files"] >= 3
        assert reader.meta() and reader.cluster_centroids(ENCODER) is not None
    assert backend.check() == [] and backend.size() > 0 and backend.writer_process() is None


@pytest.mark.parametrize("role", ["searcher", "indexer", "administrator"])
def test_every_role_searches_with_a_password(secured: Secured, filled: str, role: str) -> None:
    search_everything(secured.backend(filled, user=secured.user(role, filled)))


def test_a_searcher_writes_nothing_and_is_told_the_role(secured: Secured, filled: str) -> None:
    searcher = secured.backend(filled, key=secured.key("searcher", filled))
    before = secured.ask("GET", f"/dowse-{filled}-meta/_doc/state")
    search_everything(searcher)
    for write in (lambda: fill(searcher, some_files()[:1]), searcher.clear, searcher.drop):
        with pytest.raises(
            AccessDenied, match=r"may not .* role of a dowse (indexer|administrator)"
        ) as error:
            write()
        assert "\n" not in str(error.value)
    assert secured.ask("GET", f"/dowse-{filled}-meta/_doc/state") == before
    assert searcher.health()["advice"] == [
        "health is shown to users who have the privilege `monitor` on the cluster"
    ]


def test_an_indexer_writes_and_removes_sources_but_not_the_index(secured: Secured, filled: str) -> None:
    indexer = secured.backend(filled, source="other", key=secured.key("indexer", filled))
    fill(indexer, some_files())
    embed(indexer)
    search_everything(indexer)
    indexer.clear()
    with indexer.reader() as reader:
        assert reader.counts()["files"] == 3
    for administer in (
        lambda: fill(secured.backend("test-none", key=secured.key("indexer", "test-none")), some_files()),
        indexer.drop,
    ):
        with pytest.raises(AccessDenied, match="role of a dowse administrator") as error:
            administer()
        assert "\n" not in str(error.value)


def test_an_administrator_creates_rebuilds_and_removes(secured: Secured, index_name: str) -> None:
    administrator = secured.backend(index_name, key=secured.key("administrator", index_name))
    fill(administrator, some_files())
    secured.ask("DELETE", f"/dowse-{index_name}-edges-000001")
    again = secured.backend(index_name, key=secured.key("administrator", index_name))
    again.start_over()
    fill(again, some_files())
    assert again.check() == [] and again.health()["nodes"] == 1
    again.drop()
    assert not again.exists()


def test_wrong_and_missing_credentials_are_one_line(secured: Secured, filled: str) -> None:
    for wrong in (
        secured.backend(filled),
        secured.backend(filled, key="bm90OmFrZXk="),
        secured.backend(filled, key="not:a-key"),
        secured.backend(filled, user=("admin", "guess-5ecret")),
    ):
        with pytest.raises(ConfigError, match="rejected the credentials, or got none; check DOWSE") as error:
            wrong.has_generation()
        assert "\n" not in str(error.value) and "5ecret" not in str(error.value)
