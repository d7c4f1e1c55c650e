"""An import is one commit, however large: until it is complete, readers see what was there before."""

from __future__ import annotations

from pathlib import Path

import pytest

from dowse import Index
from dowse.config import Settings
from dowse.storage.local.backend import LocalBackend
from dowse.storage.protocol import Backend
from dowse.transfer import export_snapshot
from dowse.transfer.import_snapshot import import_snapshot
from dowse.transfer.validate import open_snapshot
from storage.conformance import fill, some_files
from storage.elastic_fixtures import MakeElastic

from helpers import write_tree

NEW = {f"{n}.py": f"def f{n}(): pass\n" for n in range(12)}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("new")
    index = Index.open(write_tree(folder / "tree", NEW), index_dir=str(folder / "index"), encoder="none")
    index.update()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(export_snapshot, "_FRAME_BYTES", 1)  # something is to be seen between two frames
        export_snapshot.export(index.backend, folder / "new.snapshot")
    return folder / "new.snapshot"


def paths(backend: Backend) -> list[str]:
    with backend.reader() as reader:
        return sorted(file.path for file in reader.files())


@pytest.mark.parametrize("kind", ["folder", "cluster"])
def test_readers_see_the_old_content_until_the_end(
    kind: str, snapshot: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    backend: Backend = LocalBackend(tmp_path / "index")
    if kind == "cluster":
        make_elastic: MakeElastic = request.getfixturevalue("make_elastic")
        backend = make_elastic()
    fill(backend, some_files())
    before, seen = paths(backend), []
    with open_snapshot(snapshot) as (opened, header):
        import_snapshot(
            *(opened, header, backend, Settings()), on_progress=lambda _: seen.append(paths(backend))
        )
    assert len(seen) == len(NEW)
    assert all(each == before for each in seen)
    assert paths(backend) == sorted(NEW)
    assert backend.check() == []
