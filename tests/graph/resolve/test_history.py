"""After any history the graph is that of a rebuild."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.resolve.world import World, world

_NAMES = ["alpha", "beta", "make_it", "Base", "Shop"]
_MODULES = ["one", "two", "pkg/inner", "pkg/__init__"]


def _python_piece() -> st.SearchStrategy[str]:
    names, modules = (
        st.sampled_from(_NAMES),
        st.sampled_from(["one", "two", "pkg", "pkg.inner", ".inner", "."]),
    )
    return st.one_of(
        st.builds(lambda m, n: f"from {m} import {n}\n", modules, names),
        st.builds(lambda m: f"from {m} import *\n", st.sampled_from(["one", "two", "pkg"])),
        st.builds(lambda m, n: f"from {m} import {n} as other\n", modules, names),
        st.builds(lambda m: f"import {m}\n", st.sampled_from(["one", "two", "pkg", "pkg.inner"])),
        st.builds(lambda n, c: f"def {n}(x):\n    {c}\n    return x.make_it()\n", names, _call()),
        st.builds(
            lambda n, b, m, c: (
                f"class {n}({b}):\n    field = Shop()\n\n    def {m}(self, x: Base):\n        {c}\n"
            ),
            st.sampled_from(["Base", "Shop"]),
            st.sampled_from(["", "Base", "other", "pkg.Base", "one.Shop"]),
            names,
            _call(),
        ),
        st.builds(lambda c: f"{c}\n", _call()),
        st.just("# a comment\n\n"),
    )


def _call() -> st.SearchStrategy[str]:
    names = st.sampled_from(_NAMES)
    return st.one_of(
        names.map(lambda n: f"{n}()"),
        names.map(lambda n: f"self.{n}()"),
        names.map(lambda n: f"self.field.{n}()"),
        names.map(lambda n: f"x.{n}()"),
        names.map(lambda n: f"Shop().{n}()"),
        names.map(lambda n: f"pkg.{n}()"),
        names.map(lambda n: f"other.{n}()"),
        names.map(lambda n: f"super().{n}()"),
        names.map(lambda n: f"v = {n}(); v.alpha()"),
    )


def _go_piece() -> st.SearchStrategy[str]:
    names = st.sampled_from(["Alpha", "Beta", "MakeIt"])
    types = st.sampled_from(["Shop", "Base"])
    calls = st.one_of(
        names.map(lambda n: f"{n}()"),
        names.map(lambda n: f"s.{n}()"),
        names.map(lambda n: f"v.{n}()"),
        names.map(lambda n: f"other.{n}()"),
    )
    return st.one_of(
        st.builds(lambda n, c: f"func {n}() *Shop {{\n\t{c}\n\treturn nil\n}}\n", names, calls),
        st.builds(
            lambda t, n, c: f"func (s *{t}) {n}() {{\n\tv := Alpha()\n\t{c}\n}}\n", types, names, calls
        ),
        types.map(lambda t: f"type {t} struct {{\n\tBase\n\tfield Shop\n}}\n"),
    )


_GO = ["a.go", "b.go", "other/c.go", "go.mod"]


def _go_file() -> st.SearchStrategy[str]:
    return st.lists(_go_piece(), max_size=4).map(
        lambda pieces: 'package p\n\nimport "acme.com/shop/other"\n\n' + "\n".join(pieces)
    )


def _change() -> st.SearchStrategy[tuple[str, str | None]]:
    """A path with its new text, or with None to delete it."""
    python = st.tuples(
        st.sampled_from(_MODULES).map(lambda m: f"{m}.py"),
        st.one_of(st.none(), st.lists(_python_piece(), max_size=5).map("".join)),
    )
    go = st.tuples(st.sampled_from(_GO[:3]), st.one_of(st.none(), _go_file()))
    module = st.tuples(
        st.just("go.mod"), st.sampled_from([None, "module acme.com/shop\n", "module else.com/x\n"])
    )
    return st.one_of(python, python, go, module)


def _apply(into: World, files: dict[str, str], changes: list[tuple[str, str | None]]) -> None:
    for path, text in changes:
        if text is None:
            files.pop(path, None)
            into.delete(path)
        else:
            files[path] = text
            into.put(path, text)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(_change(), min_size=1, max_size=4), min_size=1, max_size=5), st.randoms())
def test_after_any_history_the_graph_is_that_of_a_rebuild(history, random):
    with tempfile.TemporaryDirectory() as folder:
        files: dict[str, str] = {}
        Path(folder, "old").mkdir()
        with world(Path(folder, "old")) as old:
            for changes in history:
                _apply(old, files, changes)
                if random.random() < 0.8:  # a large update commits before it links
                    old.link()
            old.link()
            edges = old.by_key()
            assert edges == old.by_key(incoming=True)
        paths = list(files)
        random.shuffle(paths)
        Path(folder, "new").mkdir()
        with world(Path(folder, "new"), {path: files[path] for path in paths}) as new:
            assert edges == new.by_key()


def test_a_change_inside_a_function_links_no_other_file(tmp_path):
    files = {
        "one.py": "def alpha():\n    return len('')\n",
        "two.py": "from one import alpha\n\ndef beta():\n    alpha()\n",
    }
    with world(tmp_path, files) as graph:
        graph.put("one.py", "\n\ndef alpha():\n    x = len('')\n    return x\n")
        assert graph.link() == 1
        assert graph.calls() == {"two.py:beta -> one.py:alpha"}


@pytest.mark.parametrize("path", ["shop.py", "shop.rb"])
def test_a_name_that_appears_is_a_candidate_at_once(tmp_path, path):
    call = "def use(x):\n    x.make_it()\n" if path.endswith(".py") else "def use(x)\n  x.make_it\nend\n"
    method = (
        "class {0}:\n    def make_it(self):\n        pass\n"
        if path.endswith(".py")
        else "class {0}\n  def make_it\n  end\nend\n"
    )
    with world(tmp_path, {path: call}) as graph:
        assert graph.calls() == set()
        graph.put("a_" + path, method.format("One"))
        graph.link()
        assert graph.calls() == {f"{path}:use -> a_{path}:One.make_it (unique)"}
        graph.put("b_" + path, method.format("Two"))
        assert graph.link() == 0  # it refers to nothing, and what others refer to by name is never stale
        assert {edge.candidates for edge in graph.edges() if edge.kind == "calls"} == {2}
