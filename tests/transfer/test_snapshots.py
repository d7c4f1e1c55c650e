"""Snapshots between local indexes and a cluster: an equal index is imported, and nothing is encoded."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from archive_targets import import_file, read_header
from dowse import Index
from dowse.errors import DowseError, IndexMissing, IndexVersionError
from dowse.indexing.update import update
from dowse.storage.protocol import Backend, Reader
from dowse.transfer import export_snapshot as exporting
from dowse.transfer.export_snapshot import export
from storage.elastic_fixtures import MakeElastic

from helpers import age, image, json_lines, run_dowse, write_tree

QUERIES = ("bake bread", "order loaves cancel", "class Order", "/def \\w+order/")
CORPUS = [
    # Documentation beside the code, in the code, in both, and in neither; no line feed at the end.
    {"id": "1", "code": "def rise(dough):\n    return dough", "name": "rise", "doc": "Let it stand."},
    {"id": "2", "code": 'def knead(dough):\n    """Work the dough."""\n    return dough', "name": "knead"},
    {"id": "3", "code": 'def fold(d):\n    """Fold it."""\n    return d', "name": "fold", "doc": "Fold it."},
    {"id": "4", "code": "def shape(dough): return dough", "name": "shape", "language": "Python"},
]


@pytest.fixture(scope="module")
def made(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Index:
    """An index with vectors, for reading only."""
    place = tmp_path_factory.mktemp("made") / "index"
    index = Index.open(sample, index_dir=str(place), encoder="small", refresh="never")
    index.update()
    index.embed()
    return index


@pytest.fixture(scope="module")
def snapshot(made: Index, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its snapshot."""
    path = tmp_path_factory.mktemp("snapshot") / "bakery.snap"
    export(made.backend, path)
    return path


def _edges(reader: Reader) -> set[tuple[object, ...]]:
    rows = {row.row: row.key for row in reader.rows_of_files([file.file_id for file in reader.files()])}
    return {
        (edge.kind, rows[edge.source], rows[edge.target], edge.line, edge.column, edge.confidence)
        for edge in reader.edges(list(rows))
    }


def _vectors(backend: Backend, encoder: str) -> dict[str, list[float]]:
    with backend.reader() as reader:
        rows = reader.rows_of_files([file.file_id for file in reader.files()])
        found = reader.vectors(encoder, [row.row for row in rows])
        return {row.key: vector.round(5).tolist() for row, vector in zip(rows, found, strict=True)}


def _assert_same(one: Index, other: Index) -> None:
    """Both say the same of files, symbols, references and vectors, and answer alike."""
    # Questions to a cluster are bytes, those to a folder are not.
    tolerance = 5e-3 if one.is_shared or other.is_shared else 1e-6
    assert image(one) == image(other)
    with one.backend.reader() as first, other.backend.reader() as second:
        assert _edges(first) == _edges(second)
        assert first.fingerprints() == second.fingerprints()
    assert one.encoder is not None
    assert _vectors(one.backend, one.encoder.id) == _vectors(other.backend, one.encoder.id)
    for query in QUERIES:
        hits = [[(hit.symbol.id, hit.score) for hit in index.search(query)] for index in (one, other)]
        assert [key for key, _ in hits[0]] == [key for key, _ in hits[1]], query
        assert [score for _, score in hits[0]] == pytest.approx(
            [score for _, score in hits[1]], rel=tolerance
        )


def _forbid_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever encodes from here on fails."""
    monkeypatch.setattr(
        "dowse.encoders.onnx_encoder.OnnxEncoder.encode_documents",
        lambda *_: pytest.fail("something was encoded"),
    )


def test_folder_to_folder(
    made: Index, snapshot: Path, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _forbid_encoding(monkeypatch)
    copy = Index.open(sample, index_dir=str(tmp_path / "copy"), encoder="small", refresh="never")
    report = import_file(snapshot, copy.backend, copy.settings, root=copy.root)
    _assert_same(made, copy)
    assert copy.backend.check() == []
    assert report.vectors == {made.encoder.id: copy.status()["symbols"]}  # type: ignore[union-attr]
    assert not copy.update().wrote
    assert copy.unembedded() == 0


def test_folder_to_cluster_to_folder(
    made: Index,
    snapshot: Path,
    sample: Path,
    tmp_path: Path,
    make_elastic: MakeElastic,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _forbid_encoding(monkeypatch)
    backend = make_elastic("acme/bakery")
    import_file(snapshot, backend, made.settings)
    there = Index.open(sample, backend=backend.address, encoder="small")
    assert there.backend.source == backend.source  # type: ignore[attr-defined]
    _assert_same(made, there)
    assert not there.update().wrote
    back = tmp_path / "back.snap"
    export(backend, back)
    home = Index.open(sample, index_dir=str(tmp_path / "home"), encoder="small", refresh="never")
    import_file(back, home.backend, home.settings, root=home.root)
    _assert_same(made, home)
    again = make_elastic("acme/bakery")
    import_file(back, again, made.settings)
    _assert_same(made, Index.open(sample, backend=again.address, encoder="small"))


def test_one_source_of_a_cluster_is_exported(made: Index, tmp_path: Path, make_elastic: MakeElastic) -> None:
    backend = make_elastic("acme/bakery")
    tree = write_tree(tmp_path / "other", {"a.py": "def alone():\n    return 1\n"})
    update(type(backend)(backend.address, "other"), tree, made.settings)
    update(backend, made.root, made.settings)
    export(type(backend)(backend.address, "other"), tmp_path / "other.snap")
    assert read_header(tmp_path / "other.snap").files == 1
    with pytest.raises(IndexMissing, match=r"holds no nobody.*such as acme/bakery, other"):
        export(type(backend)(backend.address, "nobody"), tmp_path / "none.snap")
    assert not (tmp_path / "none.snap").exists()


def test_terms_of_a_corpus_are_computed_again_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = json_lines(tmp_path / "c.jsonl", CORPUS)
    index = Index.open(corpus, index_dir=str(tmp_path / "i"))
    put: list[dict[str, set[str]]] = [{}, {}]
    for number, fill in enumerate((index.update, lambda: _reload(index, tmp_path))):
        with monkeypatch.context() as watching:
            _watch_terms(watching, put[number])
            fill()
    assert put[0] == put[1]
    assert len(put[0]) == len(CORPUS)


def _reload(index: Index, place: Path) -> None:
    export(index.backend, place / "c.snap")
    copy = Index.open(index.root, index_dir=str(place / "copy"))
    import_file(place / "c.snap", copy.backend, copy.settings, root=copy.root)


def _watch_terms(watching: pytest.MonkeyPatch, put: dict[str, set[str]]) -> None:
    from dowse.storage.local.backend import LocalWriter

    real: Callable[..., None] = LocalWriter.put

    def watched(self: LocalWriter, record: object) -> None:
        for symbol in record.symbols:  # type: ignore[attr-defined]
            fields = enumerate(symbol.terms)
            put[symbol.key] = {f"{field} {term}" for field, terms in fields for term in terms.split()}
        real(self, record)

    watching.setattr(LocalWriter, "put", watched)


def test_an_import_replaces_the_index(snapshot: Path, made: Index, tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "t", {"old.py": "def old(): return 1\n", "b.py": "def b(): return 2\n"})
    index = Index.open(tree, index_dir=str(tmp_path / "i"), encoder="small", refresh="never")
    index.update()
    import_file(snapshot, index.backend, index.settings, root=index.root)
    _assert_same(made, index)


def test_a_damaged_file_changes_nothing(snapshot: Path, sample_copy: Path, tmp_path: Path) -> None:
    age(sample_copy)
    index = Index.open(sample_copy, index_dir=str(tmp_path / "i"))
    index.update()
    before = image(index)
    cut = tmp_path / "cut.snap"
    cut.write_bytes(snapshot.read_bytes()[:-20])
    with pytest.raises(DowseError, match="cut short; copy it again"):
        import_file(cut, index.backend, index.settings)
    assert image(index) == before


def test_another_format_is_refused_with_the_remedy(
    made: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "FORMAT", 99)
    export(made.backend, tmp_path / "x.snap")
    with pytest.raises(IndexVersionError, match=r"has format 99.*this dowse reads 1.*export it again"):
        read_header(tmp_path / "x.snap")


def test_the_command(sample: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    run_dowse("index", "-q", sample, "--index-dir", first, DOWSE_ENCODER="small")
    done = run_dowse("export", sample, "--index-dir", first, tmp_path / "x.snap")
    assert (done.returncode, done.stderr) == (0, "")
    assert "vectors of small" in done.stdout
    done = run_dowse("import", tmp_path / "x.snap", "--index-dir", second, sample)
    assert (done.returncode, done.stderr) == (0, "")
    found = [run_dowse("search", "bake", sample, "--index-dir", place, "-l") for place in (first, second)]
    assert found[0].stdout
    assert found[0].stdout == found[1].stdout


def test_the_command_refuses_in_one_line(sample: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("bread, butter")
    for file, said in (("notes.txt", "is no snapshot of dowse"), ("missing.snap", "No such file")):
        done = run_dowse("import", tmp_path / file, sample, "--index-dir", tmp_path / "i")
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
    assert not os.path.exists(tmp_path / "i")
    done = run_dowse("export", sample, tmp_path / "x.snap", "--index-dir", tmp_path / "i")
    assert done.returncode == 2
    assert "no index in" in done.stderr
