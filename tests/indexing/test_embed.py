"""Embedding an index with the shipped encoder: once for each content, resumable, shared between indexes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import ANY

import numpy as np
import pytest

from dowse import Index
from dowse.encoders.registry import load_encoder
from dowse.errors import DowseError
from dowse.indexing.embed import EmbedReport

from helpers import write_tree

FILES = {
    "net/retry.py": "def retry(call, times):\n    for _ in range(times):\n        try:\n"
    "            return call()\n        except OSError:\n            wait()\n",
    "net/client.py": 'class Client:\n    """Talks to the server."""\n\n'
    "    def close(self):\n        self.sock.close()\n",
    "text/words.py": "def split_words(text):\n    return text.lower().split()\n",
}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of vectors for each test."""
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def make_index(root: Path, place: Path, **settings: object) -> Index:
    index = Index.open(root, index_dir=str(place), encoder="small", threads=1, **settings)
    index.update(embed=False)
    return index


def test_every_symbol_gets_the_vector_of_its_document(tmp_path: Path) -> None:
    index = make_index(write_tree(tmp_path / "code", FILES), tmp_path / "i")
    report = index.vectors.embed()
    assert report.encoded == index.status()["symbols"]
    assert (report.reused, report.missing) == (0, 0)
    encoder = load_encoder("small")
    with index.backend.reader() as reader:
        rows = [row.row for row in reader.lookup("*", 100)]
        stored = reader.vectors(encoder.id, rows)
        assert np.allclose(stored, encoder.encode_documents(reader.documents(rows)), atol=0.02)


def test_unchanged_code_is_never_encoded_again(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "code", FILES)
    index = make_index(root, tmp_path / "i")
    index.vectors.embed()
    assert index.vectors.embed().encoded == 0
    (root / "text/words.py").write_text("def split_words(text):\n    return text.split()\n")
    (root / "net/retry.py").rename(root / "net/again.py")
    index.update(embed=False)
    report = index.vectors.embed()
    # The changed function, and those whose file has another name: encoders read that too.
    assert (report.encoded, report.reused) == (2, 0)
    assert index.vectors.missing() == 0


def test_another_index_takes_vectors_from_the_cache(tmp_path: Path) -> None:
    make_index(write_tree(tmp_path / "main", FILES), tmp_path / "i").vectors.embed()
    other = make_index(write_tree(tmp_path / "worktree", FILES), tmp_path / "j")
    report = other.vectors.embed()
    assert report.encoded == 0
    assert report.reused == other.status()["symbols"]
    assert other.search("try again after an error", k=1, mode="embedding").hits[0].symbol.name == "retry"


def test_a_run_cut_short_goes_on_where_it_was(tmp_path: Path) -> None:
    index = make_index(write_tree(tmp_path / "code", FILES), tmp_path / "i")
    first = index.vectors.embed(seconds=0.0, chunk=2)
    total = index.status()["symbols"]
    assert first.encoded == 2
    assert first.missing == total - 2 == index.vectors.missing()
    answer = index.search("split text into words", mode="embedding", embed=False)
    assert answer.embedded is not None
    assert (answer.embedded.symbols, answer.embedded.total) == (2, total)
    assert any("embedded" in str(note) for note in answer.notes)
    now = answer.embedded.encoded  # the candidates by words that had no vector
    assert now > 0 and len(answer.hits) == 2 + now
    second = index.vectors.embed()
    assert second.encoded == total - 2 - now
    assert not any("embedded" in str(note) for note in index.search("split", mode="embedding").notes)


def test_a_killed_run_leaves_what_it_had_committed(tmp_path: Path) -> None:
    root = write_tree(
        tmp_path / "code", {f"m{n}.py": f"def f{n}(x):\n    return x + {n}\n" for n in range(40)}
    )
    make_index(root, tmp_path / "i")
    script = (
        "import sys\nfrom dowse import Index\n"
        "index = Index.open(sys.argv[1], index_dir=sys.argv[2], encoder='small', threads=1)\n"
        "index.vectors.embed(chunk=4, on_progress=lambda p: print(p.done, flush=True))\n"
    )
    command = [sys.executable, "-c", script, str(root), str(tmp_path / "i")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    index = Index.open(root, index_dir=str(tmp_path / "i"), encoder="small", threads=1)
    with index.backend.reader() as reader:
        left = len(reader.missing_vectors(load_encoder("small").id))
    assert left <= 32
    # A vector that was cached when the kill came is taken from there.
    report = index.vectors.embed()
    assert report.encoded + report.reused == left
    assert index.vectors.missing() == 0


def test_vectors_that_nothing_uses_are_forgotten(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "code", {f"m{n}.py": f"def f{n}(x):\n    return x\n" for n in range(10)})
    index = make_index(root, tmp_path / "i")
    index.vectors.embed()
    for n in range(1, 10):
        (root / f"m{n}.py").unlink()
    (root / "m0.py").write_text("def g(y):\n    return y\n")
    index.update()
    rows = next((tmp_path / "i" / "vectors").glob("*/*.rows"))
    assert rows.stat().st_size == 384 * index.status()["symbols"]
    assert index.search("g", k=3, mode="embedding").hits


def test_the_docs_view_reads_documentation_alone(tmp_path: Path) -> None:
    index = make_index(write_tree(tmp_path / "code", FILES), tmp_path / "i", view="docs")
    index.vectors.embed()
    assert index.search("talk to a server", k=1, mode="embedding").hits[0].symbol.name == "Client"
    plain = Index.open(tmp_path / "code", index_dir=str(tmp_path / "i"), encoder="small")
    assert plain.vectors.missing() > 0  # another view is another encoder


def test_what_a_kill_left_undone_is_made_good(tmp_path: Path) -> None:
    files = {f"m{n}.py": f"def f{n}(x):\n    return x + {n}\n" for n in range(12)}
    index = make_index(write_tree(tmp_path / "code", files), tmp_path / "i")
    index.vectors.embed()
    total = index.status()["symbols"]
    folder = next((tmp_path / "i" / "vectors").iterdir())
    (folder / "clusters.npy").unlink()
    # Killed after the last vectors were committed: nothing is noted of them, and no groups are fitted.
    (folder / "embedded.json").write_text(json.dumps({"generation": 1, "symbols": 3, "matrix": {}}))
    assert index.vectors.missing() == 0
    assert index.vectors.embed() == EmbedReport(load_encoder("small").id, seconds=ANY)
    assert len(index.related("f3", k=2).cluster.members) == 2
    assert json.loads((folder / "embedded.json").read_bytes())["symbols"] == total


@pytest.mark.parametrize("text", ["", "[]", '{"dimension": "many"}', '{"format": 99}'])
def test_vectors_that_can_not_be_read(tmp_path: Path, text: str) -> None:
    """Damaged ones are dropped; those of a newer version are left alone, and words are searched."""
    index = make_index(write_tree(tmp_path / "code", FILES), tmp_path / "i")
    index.vectors.embed()
    state = next((tmp_path / "i" / "vectors").iterdir()) / "state.json"
    state.write_text(text)
    assert index.search("retry", k=1, mode="keyword").hits[0].symbol.name == "retry"
    if "format" in text:
        with pytest.raises(DowseError, match="--rebuild"):
            index.search("retry", mode="embedding")
    else:
        notes = index.search("retry", mode="embedding").notes
        assert any("vectors were damaged" in str(note) for note in notes)


def test_files_of_the_question_and_those_changed_last_come_first(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        identity = ("-c", "user.name=x", "-c", "user.email=x@example.com")
        subprocess.run(["git", *identity, *words], cwd=root, check=True, capture_output=True)

    root = write_tree(tmp_path / "code", {**FILES, "tests/test_words.py": "def test_words():\n    pass\n"})
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "all")
    for path in ("text/words.py", "tests/test_words.py"):
        (root / path).write_text((root / path).read_text() + "\n\ndef added():\n    return 1\n")
    git("commit", "-qam", "more")
    index = make_index(root, tmp_path / "i")
    embedded: list[str] = []

    def note_new(_: object) -> None:
        with index.backend.reader() as reader:
            missing = {row for row, _ in reader.missing_vectors(index.encoder.id)}
            done = {row.path for row in reader.lookup("*", 100) if row.row not in missing}
        embedded.extend(sorted(done - {*embedded}))

    index.vectors.embed(chunk=1, on_progress=note_new, asked=["net/client.py"])
    assert embedded == ["net/client.py", "text/words.py", "net/retry.py", "tests/test_words.py"]
