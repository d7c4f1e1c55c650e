"""Many repositories without a Ray cluster: the same steps in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from dowse import Index
from dowse.encoders.document import Document
from dowse.encoders.registry import load_encoder
from dowse.errors import ConfigError, DowseError
from dowse.ingest.encoding import DistributedEncoder, EncoderSpec, encode_batch
from dowse.ingest.ray_workers import check_workers
from dowse.ingest.repository import DONE, FAILED, UNCHANGED, IngestOptions, Outcome
from dowse.ingest.run import LocalWorker, Summary, collect_paths, ingest
from ingest.common import ENCODER, everything, indexed_plainly
from ingest.conftest import make_repository
from storage.elastic_fixtures import MakeElastic

from helpers import age, image, json_lines, run_dowse, write_tree

SPEC = EncoderSpec(ENCODER, "symbol", "cpu")


def _statuses(summary: Summary) -> dict[str, str]:
    return {Path(outcome.path).name: outcome.status for outcome in summary.outcomes}


def _run(paths: Sequence[object], options: IngestOptions, *, shared: bool = False) -> Summary:
    return ingest([str(path) for path in paths], LocalWorker(options), shared=shared)


def test_a_list_has_comments_blanks_and_repetitions(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    listed = tmp_path / "list"
    listed.write_text(f"# all\n\n  {tmp_path}/a  \n{tmp_path}/link\n{tmp_path}/b\n")
    assert collect_paths([str(tmp_path / "c")], listed) == [str(tmp_path / name) for name in "cab"]
    with pytest.raises(ConfigError, match="is a folder"):
        collect_paths([], tmp_path)


@pytest.mark.parametrize(
    "address", ["", "local:", "local:0", "local:two", "ray://", "ray://host", "host:10001"]
)
def test_addresses_of_workers(address: str) -> None:
    with pytest.raises(ConfigError, match="ray://HOST:PORT or local:N"):
        check_workers(address)


def test_distributed_vectors_are_those_of_the_encoder() -> None:
    texts = [f"def f{n}(x):\n    return x * {n} + {'a' * n}\n" for n in range(40)]
    documents = [Document("", f"f{n}", "", text, "python") for n, text in enumerate(texts)]
    sizes: list[int] = []

    def dispatch(spec: EncoderSpec, batches: Sequence[Sequence[Document]]) -> Callable[[], list[np.ndarray]]:
        sizes.extend(map(len, batches))
        return lambda: [encode_batch(spec, batch) for batch in batches]

    plain = load_encoder(*SPEC).encode_documents(documents)
    for encoder in (DistributedEncoder(SPEC), DistributedEncoder(SPEC, dispatch, batch=16)):
        assert (
            np.abs(encoder.encode_documents(documents) - plain).max() < 0.01
        )  # bytes, as every index keeps them
    assert sizes == [16, 16, 8]
    assert DistributedEncoder(SPEC, dispatch).encode_documents([]).shape == (0, plain.shape[1])


def test_local_indexes_equal_those_of_single_runs(depot: list[Path], tmp_path: Path) -> None:
    summary = _run(depot, IngestOptions({"encoder": ENCODER}))
    assert set(_statuses(summary).values()) == {DONE}
    for root in depot:
        alone = Index.open(root, index_dir=str(tmp_path / root.name), encoder=ENCODER)
        alone.update()
        together = Index.open(root, encoder=ENCODER)
        assert image(together) == image(alone)
        assert together.vectors.missing() == 0


def test_an_index_on_a_cluster_equals_that_of_single_runs(
    depot: list[Path], tmp_path: Path, make_elastic: MakeElastic, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = make_elastic().address
    plain = indexed_plainly(make_elastic().address, depot)
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))  # with no vector in it
    order = IngestOptions({"backend": address, "encoder": ENCODER})
    summary = _run(depot, order, shared=True)
    assert set(_statuses(summary).values()) == {DONE}
    assert sum(outcome.encoded for outcome in summary.outcomes) > 400
    found = everything(address, depot[0])
    # Groups are fitted at the end of a run of the command, which this is not.
    assert {**found, "clusters": None} == {**plain, "clusters": None}


def test_unchanged_repositories_are_skipped(tmp_path: Path) -> None:
    trees = [make_repository(tmp_path, name, 2) for name in ("one", "two")]
    corpus = json_lines(tmp_path / "c.jsonl", [{"id": "1", "code": "def f(): pass", "name": "f"}])
    paths, order = [*trees, corpus, tmp_path / "gone"], IngestOptions({})
    first = _statuses(_run(paths, order))
    assert first == {"one": DONE, "two": DONE, "c.jsonl": DONE, "gone": FAILED}
    second = _statuses(_run(paths, order))
    assert second == {"one": UNCHANGED, "two": UNCHANGED, "c.jsonl": UNCHANGED, "gone": FAILED}
    write_tree(trees[0], {"new.py": "def new():\n    return 1\n"})
    json_lines(corpus, [{"id": "2", "code": "def g(): return 2", "name": "g"}])
    Index.open(trees[1]).backend.clear()
    third = _statuses(_run(paths[:3], order))
    assert third == {"one": DONE, "two": DONE, "c.jsonl": DONE}


def test_a_failure_is_reported_and_does_not_stop_others(tmp_path: Path) -> None:
    tree = make_repository(tmp_path, "fine", 1)
    broken = write_tree(tmp_path / "broken", {".dowse.toml": "encoder = \n", "a.py": "a = 1\n"})
    summary = _run([broken, tree], IngestOptions({}))
    assert _statuses(summary) == {"broken": FAILED, "fine": DONE}
    assert "is not valid TOML" in summary.with_status(FAILED)[0].problem


def test_two_repositories_of_one_name_can_t_share_an_index(tmp_path: Path) -> None:
    for place in ("a", "b"):
        make_repository(tmp_path / place, "same", 1)
    paths = [tmp_path / "a" / "same", tmp_path / "b" / "same"]
    summary = _run(paths, IngestOptions({}), shared=True)
    assert [outcome.status for outcome in summary.outcomes] == [DONE, FAILED]
    assert f"as {paths[0]} is" in summary.outcomes[1].problem


def test_a_run_with_one_repeated_failure_stops(tmp_path: Path) -> None:
    class Failing(LocalWorker):
        """Workers that fail with one reason."""

        tried = 0

        def wait(self, seconds: float) -> list[Outcome]:
            Failing.tried += 1
            return [Outcome("x", FAILED, "no node answers")]

    with pytest.raises(DowseError, match=r"no node answers \(the last 20"):
        ingest([str(tmp_path / str(n)) for n in range(500)], Failing(IngestOptions({})), shared=False)
    assert Failing.tried == 20


def test_the_command_with_several_paths(tmp_path: Path) -> None:
    trees = [make_repository(tmp_path, name, 2) for name in ("one", "two")]
    age(tmp_path)
    done = run_dowse("index", trees[0], "--json", trees[1], tmp_path / "gone")
    assert done.returncode == 2
    assert done.stderr == f"dowse: {tmp_path}/gone: {tmp_path}/gone does not exist\n"
    said = json.loads(done.stdout)
    assert [Path(each["path"]).name for each in said["done"]] == ["one", "two"]
    assert run_dowse("search", "shelve", trees[1], "-l").stdout
    done = run_dowse("index", *trees)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 up to date" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--list", "/dev/null"), "nothing to index"),
        (("a", "b", "--index-dir", "i"), "the folder of one index"),
        (("a", "--workers", "ray://h:1"), "name it with --backend"),
        (("a", "--workers", "many"), "ray://HOST:PORT or local:N"),
    ],
)
def test_invalid_arguments_are_reported_in_one_line(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = run_dowse("index", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
