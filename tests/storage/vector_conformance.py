"""What every backend must do with vectors, written against the protocol alone."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dowse.query.ast import LangFilter, Not
from dowse.storage.protocol import Backend, Reader, VectorRequest
from dowse.types import FileRecord
from storage.conformance import MakeBackend, fill
from storage.suite import Suite, drawn

from helpers import file_record, symbol

ENCODER, DIMENSION = "toy-1", 8


def unit(rows: np.ndarray) -> np.ndarray:
    """Return rows at length one."""
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def random_vectors(count: int, seed: int = 0) -> np.ndarray:
    """Return unit vectors in all directions."""
    return unit(np.random.default_rng(seed).normal(size=(count, DIMENSION)))


def shop(count: int = 12) -> list[FileRecord]:
    """Files in two languages with a function each."""
    return [
        file_record(
            f"src/f{n}.{'py' if n % 2 else 'go'}",
            [symbol(f"f{n}", f"word{n}")],
            language="python" if n % 2 else "go",
        )
        for n in range(count)
    ]


def embed_all(backend: Backend, seed: int = 0) -> dict[str, np.ndarray]:
    """Give every symbol without a vector one; return them by name."""
    with backend.reader() as reader:
        missing = reader.missing_vectors(ENCODER)
        names = [row.name for row in reader.rows([row for row, _ in missing])]
    vectors = random_vectors(len(missing), seed)
    with backend.vector_writer(ENCODER, DIMENSION) as writer:
        writer.put([key for _, key in missing], vectors)
        writer.finish(3, "auto", lambda: random_vectors(50))
    return dict(zip(names, vectors, strict=True))


def nearest_names(reader: Reader, wanted: VectorRequest, limit: int) -> list[str]:
    """Return the names of the nearest symbols."""
    return [row.name for row in reader.rows([row for row, _ in reader.nearest(wanted, limit)])]


class VectorConformance(Suite):
    """The suite; `make_backend` gives an empty backend."""

    def test_nothing_is_embedded_at_first(self, make_backend: MakeBackend) -> None:
        backend = make_backend()
        fill(backend, shop())
        with backend.reader() as reader:
            assert reader.embedded_count(ENCODER) == 0
            assert len(reader.missing_vectors(ENCODER)) == 12
            assert reader.nearest(VectorRequest(ENCODER, random_vectors(1)[0]), 5) == []

    @drawn(15, seed=st.integers(0, 10_000), limit=st.integers(1, 20))
    def test_nearest_is_brute_force(self, make_backend: MakeBackend, seed: int, limit: int) -> None:
        backend = make_backend()
        fill(backend, shop())
        vectors = embed_all(backend, seed)
        query = random_vectors(1, seed + 1)[0]
        expected = sorted(vectors, key=lambda name: -float(vectors[name] @ query))[:limit]
        with backend.reader() as reader:
            assert reader.embedded_count(ENCODER) == 12
            found = reader.nearest(VectorRequest(ENCODER, query), limit)
            names = [row.name for row in reader.rows([row for row, _ in found])]
        cosines = [float(vectors[name] @ query) for name in names]
        # Stored small: neighbours whose cosines differ by less than that costs may change places.
        assert np.allclose(cosines, [float(vectors[name] @ query) for name in expected], atol=0.02)
        assert np.allclose([score for _, score in found], cosines, atol=0.02)

    def test_a_constraint_holds_before_the_best_are_taken(self, make_backend: MakeBackend) -> None:
        backend = make_backend()
        fill(backend, shop())
        vectors = embed_all(backend)
        with backend.reader() as reader:
            for constraint, odd in ((LangFilter("python"), 1), (Not(LangFilter("python")), 0)):
                wanted = VectorRequest(ENCODER, vectors["f0"], constraint=constraint)
                names = nearest_names(reader, wanted, 6)
                assert len(names) == 6
                assert all(int(name[1:]) % 2 == odd for name in names)

    def test_files_of_the_source_are_found_by_path(self, make_backend: MakeBackend) -> None:
        backend = make_backend()
        fill(backend, shop())
        with backend.reader() as reader:
            paths = [file.path for file in reader.source_files(["src/f1.py", "src/f2.go", "none.py"])]
            assert paths == ["src/f1.py", "src/f2.go"]

    def test_vectors_follow_their_content_through_generations(self, make_backend: MakeBackend) -> None:
        backend = make_backend()
        files = shop()
        fill(backend, files)
        vectors = embed_all(backend)
        changed = file_record("src/f0.go", [symbol("f0", "other words")], language="go")
        moved = file_record("lib/f1.py", files[1].symbols, language="python")
        with backend.writer() as writer:
            writer.put(changed)
            writer.delete("src/f1.py")
            writer.put(moved)
            writer.commit({"root": "/somewhere"})
        with backend.reader() as reader:
            assert reader.embedded_count(ENCODER) == 11
            (missing,) = reader.missing_vectors(ENCODER)
            assert reader.rows([missing[0]])[0].name == "f0"
            assert nearest_names(reader, VectorRequest(ENCODER, vectors["f1"]), 1) == ["f1"]
            assert "f0" not in nearest_names(reader, VectorRequest(ENCODER, vectors["f0"]), 12)

    def test_equal_symbols_share_a_vector_and_are_both_found(self, make_backend: MakeBackend) -> None:
        backend = make_backend()
        twin = symbol("twin", "same words")
        fill(backend, [file_record("a.py", [twin]), file_record("b.py", [twin])])
        with backend.reader() as reader:
            assert len(reader.missing_vectors(ENCODER)) == 1
            rows = [row.row for row in reader.rows_named(["twin"], 5)][::-1]
            without = reader.without_vector(ENCODER, rows)
            assert [row for row, _ in without] == rows and len({key for _, key in without}) == 1
            assert reader.without_vector(ENCODER, []) == []
        vectors = embed_all(backend)
        with backend.reader() as reader:
            assert reader.embedded_count(ENCODER) == 2 and reader.without_vector(ENCODER, rows) == []
            found = reader.nearest(VectorRequest(ENCODER, vectors["twin"]), 5)
            assert sorted(row.path for row in reader.rows([row for row, _ in found])) == ["a.py", "b.py"]

    def test_encoders_keep_apart(self, make_backend: MakeBackend) -> None:
        backend = make_backend()
        fill(backend, shop())
        embed_all(backend)
        with backend.reader() as reader:
            assert reader.embedded_count("other-1") == 0
            assert reader.nearest(VectorRequest("other-1", random_vectors(1)[0]), 3) == []

    def test_vectors_come_back_and_those_missing_are_zero(self, make_backend: MakeBackend) -> None:
        backend = make_backend()
        fill(backend, shop(3))
        vectors = embed_all(backend)
        fill(backend, [file_record("new.py", [symbol("new", "fresh")])])
        with backend.reader() as reader:
            rows = {row.name: row.row for row in reader.lookup("*", 10)}
            got = reader.vectors(ENCODER, [rows["f2"], rows["new"], rows["f0"]])
        assert np.allclose(got[0], vectors["f2"], atol=0.02)
        assert not got[1].any()
        assert np.allclose(got[2], vectors["f0"], atol=0.02)

    def test_each_symbol_belongs_to_the_nearest_centre(self, make_backend: MakeBackend) -> None:
        backend = make_backend()
        fill(backend, shop(40))
        vectors = embed_all(backend)
        with backend.reader() as reader:
            centroids = reader.cluster_centroids(ENCODER)
            assert len(centroids) == 3
            seen = []
            for number in range(3):
                members = reader.cluster_members(ENCODER, number)
                assert [score for _, score in members] == sorted((s for _, s in members), reverse=True)
                for row in reader.rows([row for row, _ in members]):
                    scores = centroids @ vectors[row.name]
                    assert scores[number] >= scores.max() - 0.02
                    seen.append(row.name)
            assert sorted(seen) == sorted(vectors)

    def test_documents_leave_documentation_out_of_the_code(self, make_backend: MakeBackend) -> None:
        backend = make_backend()
        text = 'def f():\n    """Says hello."""\n    return 1\n'
        start, end = text.index('"""'), text.rindex('"""') + 3
        record = symbol("f", qualified_name="Greeter.f", spans=((0, len(text)),), doc="Says hello.")
        record = record._replace(doc_spans=((start, end),))
        fill(backend, [file_record("pkg/greet.py", [record], text=text)])
        with backend.reader() as reader:
            (document,) = reader.documents([row for row, _ in reader.missing_vectors(ENCODER)])
        assert document.docs == "Says hello."
        assert "hello" not in document.code
        assert "return 1" in document.code
        assert (document.qualifier, document.name) == ("Greeter", "f")
        assert (document.path, document.language) == ("pkg/greet.py", "python")
