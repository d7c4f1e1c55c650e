"""After any update the index is what a fresh one would be, and only what changed was read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dowse import Index
from dowse.indexing.records import Source, make_graph_part, make_record
from dowse.types import DeferredFile

from helpers import age, contents, image, write_tree

PATHS = ("a.py", "b.py", "pkg/c.py", "pkg/d.go", "notes.md", "pkg/data.js", "gen.txt")
TEXTS = (
    'def alpha(x):\n    """Walk the tree."""\n    return beta(x)\n\n\ndef beta(y):\n    return y + 1\n',
    "class Gamma:\n    def delta(self):\n        return 'walk'\n\n    def delta(self):\n        return ''\n",
    "package main\n\n// Delta walks.\nfunc Delta() int { return 1 }\n",
    "# Title\n\nWalk along the river.\n\n## Part\n\nAnd back.\n",
    "",
    "walk\n" * 300,
    "café = 'naïve'\n",
    "\x00\x01 binary walk",
    "var a=1;" * 600,
)
QUERIES = ("walk", "alpha", "delta", "/wal./", '"return"', "lang:python walk")
STEPS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(PATHS), st.sampled_from(range(len(TEXTS)))),
    st.tuples(st.just("rename"), st.sampled_from(PATHS), st.sampled_from(PATHS)),
    st.tuples(st.just("delete"), st.sampled_from(PATHS), st.none()),
    st.tuples(st.just("touch"), st.sampled_from(PATHS), st.none()),
    st.tuples(st.just("ignore"), st.sampled_from(PATHS), st.none()),
    st.tuples(st.just("age"), st.none(), st.none()),
)


def take(root: Path, step: tuple[str, str, object]) -> None:
    """Change the tree."""
    action, path, value = step
    place = root / (path or "")
    if action == "write":
        write_tree(root, {path: TEXTS[value]})
    elif action == "rename" and place.exists():
        (root / value).parent.mkdir(exist_ok=True)
        place.rename(root / value)
    elif action == "delete":
        place.unlink(missing_ok=True)
    elif action == "touch" and place.exists():
        place.touch()
    elif action == "ignore":
        (root / ".gitignore").write_text(f"{path}\n")
    elif action == "age":
        age(root)


def answers(index: Index) -> dict[str, set[str]]:
    return {
        query: {hit.symbol.id for hit in index.search(query, k=0, fuzziness="0").hits} for query in QUERIES
    }


@settings(max_examples=8)
@example(rounds=[[("write", "a.py", 7)], [("rename", "a.py", "b.py"), ("age", None, None)]])
@given(rounds=st.lists(st.lists(STEPS, min_size=1, max_size=4), min_size=1, max_size=3))
def test_an_updated_index_equals_a_fresh_one(tmp_path_factory, rounds):
    base = tmp_path_factory.mktemp("incremental")
    root = write_tree(base / "tree", {"a.py": TEXTS[0], "pkg/c.py": TEXTS[1], "notes.md": TEXTS[3]})
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    with Index.open(root, index_dir=str(base / "kept")) as kept:
        kept.update()
        for steps in rounds:
            for step in steps:
                take(root, step)
            kept.update()
            with Index.open(root, index_dir=str(base / "fresh")) as fresh:
                fresh.update(rebuild=True)
                assert image(kept) == image(fresh)
                assert answers(kept) == answers(fresh)
            assert kept.backend.check() == []
            assert not any(kept.status()["changes"].values())
    shutil.rmtree(base)


@pytest.fixture
def place(tmp_path):
    """A tree saved long ago, and its index."""
    root = write_tree(tmp_path / "tree", {"a.py": TEXTS[0], "pkg/c.py": TEXTS[1], "notes.md": TEXTS[3]})
    age(root)
    with Index.open(root, index_dir=str(tmp_path / "index")) as index:
        index.update()
        yield root, index


def test_an_edit_of_the_same_size_in_the_same_instant_is_seen(place):
    """Saved, indexed and saved again before the clock moves on: size and time are the same."""
    root, index = place
    (root / "fast.py").write_text("def first(): ...\n")
    stat = (root / "fast.py").stat()
    index.update()
    (root / "fast.py").write_text("def fourt(): ...\n")
    os.utime(root / "fast.py", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert index.update().changed == 1
    assert [row.name for row in index.symbols("f????")] == ["fourt"]


def test_a_touched_file_is_hashed_and_nothing_else_happens(place):
    root, index = place
    os.utime(root / "a.py", (1_500_000_000, 1_500_000_000))
    assert [job.key for job in index.contents.changes().jobs] == ["a.py"]
    assert index.contents.changes(exact=True).jobs == []
    report = index.update()
    assert (report.wrote, report.unchanged, report.generation) == (False, 3, 1)
    assert index.contents.changes().jobs == []
    written = contents(index.backend.folder)
    index.update()
    assert contents(index.backend.folder) == written


def test_left_out_files_are_opened_once(tmp_path):
    """A binary or minified file is no news the second time, neither to an update nor to `status`."""
    root = write_tree(tmp_path / "tree", {"a.py": TEXTS[0], "x.dat": TEXTS[7], "y.js": TEXTS[8]})
    age(root)
    with Index.open(root, index_dir=str(tmp_path / "index")) as index:
        assert index.update().skipped == 2
        assert index.contents.changes().count == 0
        assert not any(index.status()["changes"].values())
        written = contents(index.backend.folder)
        events = []
        assert index.update(on_progress=events.append).skipped == 2
        assert events == [] and contents(index.backend.folder) == written
        (root / "y.js").write_text("export function readable() { return 1 }\n")
        assert index.update().added == 1
        assert dict(index.contents.skipped()) == {"x.dat": "binary"}


def test_ids_stay_when_other_parts_change(place):
    root, index = place
    before = {row.qualified_name: row.key for row in index.symbols("*")}
    hashes = {row.qualified_name: index.contents.symbol(row).content_hash for row in index.symbols("*")}
    (root / "a.py").write_text(
        "import os\n\n\ndef omega():\n    return os\n\n\n" + TEXTS[0].replace("+ 1", "+ 2")
    )
    index.update()
    after = {row.qualified_name: row.key for row in index.symbols("*")}
    assert before.items() <= after.items()
    now = {row.qualified_name: index.contents.symbol(row).content_hash for row in index.symbols("*")}
    assert hashes["alpha"] == now["alpha"] and hashes["beta"] != now["beta"]


def test_settings_that_change_the_index_change_it(place, tmp_path):
    root, _ = place
    with Index.open(root, index_dir=str(tmp_path / "index"), exclude=("pkg",)) as narrower:
        assert narrower.update().deleted == 1
    with Index.open(root, index_dir=str(tmp_path / "index"), strip_docs=True) as bare:
        assert bare.update().changed == 2
        assert [hit.symbol.doc for hit in bare.search("alpha").hits] == [""]
        assert not bare.update().wrote


def test_an_update_without_an_encoder_does_not_load_numpy(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("def one():\n    return 1\n")
    (root / "src" / "b.py").write_text("def two():\n    return 2\n")
    program = (
        "import sys; from dowse import Index\n"
        f"index = Index.open({str(root)!r}, index_dir={str(tmp_path / 'index')!r}, encoder='none')\n"
        "print(index.update().wrote, 'numpy' in sys.modules)"
    )
    outputs = []
    for text in ("", "def one():\n    return 3\n"):
        if text:
            (root / "src" / "a.py").write_text(text)
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        outputs.append(run.stdout.split())
    assert outputs == [["True", "False"]] * 2


@pytest.fixture
def slow_tree(tmp_path, monkeypatch):
    """A tree that counts as one whose graph takes long."""
    monkeypatch.setattr("dowse.indexing.update._SMALL_BYTES", 0)
    files = {f"m{n}.py": f"from m{n + 1} import f{n + 1}\ndef f{n}(): return f{n + 1}()\n" for n in range(6)}
    return write_tree(tmp_path / "tree", files)


def callers(index: Index) -> list[str]:
    return [step.symbol.name for step in index.graph.callers("f3").steps]


def test_words_can_be_searched_before_the_graph_is_built(slow_tree, tmp_path):
    with Index.open(slow_tree, index_dir=str(tmp_path / "index"), processes=2) as index:
        index.update(defer_graph=True)
        assert not index.graph.is_linked
        assert [hit.symbol.name for hit in index.search("f3", mode="keyword").hits][:1] == ["f3"]
        assert "the call graph is not built yet" in [note.text for note in index.graph.callers("f3").notes]
        assert any(note.code == "graph" for note in index.search("what calls f3").notes)
        for _ in range(2):
            assert [hit.symbol.name for hit in index.search("/return f4/").hits] == ["f3"]
            assert not index.backend.check()
            index.graph.link()
        assert index.graph.is_linked
        assert callers(index) == ["f2"]


def test_a_graph_that_is_built_later_is_the_same(slow_tree, tmp_path):
    def edges(name: str, *, edit_between: bool) -> list[tuple[str, ...]]:
        (slow_tree / "m3.py").write_text("def f3(): pass\n")
        with Index.open(slow_tree, index_dir=str(tmp_path / name), processes=2) as index:
            if edit_between:
                index.update(defer_graph=True)
            (slow_tree / "m3.py").write_text("from m0 import f0\ndef f3(): return f0()\n")
            index.update()
            with index.backend.reader() as reader:
                symbols = {row.row: row.qualified_name for row in reader.rows(range(20))}
                return sorted(
                    (symbols[edge.source], symbols[edge.target], edge.kind, edge.confidence)
                    for edge in reader.edges(list(symbols))
                )

    later = edges("later", edit_between=True)
    assert ("f3", "f0", "calls", "resolved") in later
    assert later == edges("at once", edit_between=False)


def test_names_have_the_same_keys_in_a_graph_that_is_built_later():
    code = "serve({ colour: pickColour(), size: { width: 3 } });\nexport const LIMIT = 4;\n"
    source = Source("a.js", "", "a.js", "javascript", "", len(code), 0, "", "utf-8", code)
    record = make_record(source, strip_docs=False)
    file = DeferredFile(1, "", "a.js", "javascript", len(code), "")
    part = make_graph_part(file, code.encode(), [symbol.key for symbol in record.symbols], "")
    keys = {name.key: (name.scope_key, name.name_key) for name in record.names if name.name_key}
    assert {name.name for name in record.names if not name.scope_key and name.name_key}
    assert {key: each for key, *each in part.name_keys} == {key: [*each] for key, each in keys.items()}


def test_an_update_builds_the_graph_that_another_one_did_not_live_to_build(slow_tree, tmp_path, monkeypatch):
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with Index.open(slow_tree, index_dir=str(tmp_path / "index"), processes=2) as index:
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr("dowse.indexing.update.link", die)
            index.update()
        assert not index.graph.is_linked
        index.update(defer_graph=True)  # nothing changed: the graph stays for later
        assert not index.graph.is_linked
        index.update()
        assert index.graph.is_linked
        assert callers(index) == ["f2"]
