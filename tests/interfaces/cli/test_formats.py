"""Answers for pipes, editors and programs: what each format promises, beside ripgrep and the standards."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from dowse import Index
from dowse.formats import FORMATS
from dowse.formats.json_format import json_line
from dowse.formats.style import Style
from dowse.formats.text import render_answer
from dowse.interfaces.cli.main import main
from dowse.json_form import document
from dowse.types import Place

from helpers import write_tree

DOCS = Path(__file__).parents[3] / "docs"
Run = Callable[..., tuple[int, str, str]]

FILES = {
    "shop/cart.py": """import functools


@functools.cache
def price(item):
    # price of one item
    return item.price


class Cart:
    def total(self, items):
        return sum(price(item) for item in items) + price(None)
""",
    "shop/näme 100%.py": """# preise: äöü price, price
def größe(item):
    return price(item)
""",
    "web/line.js": "boot(); function knit(wool) { return wool }; function purl(yarn) { return yarn }\n",
    "shop/#odd:1.py": "def odd():\n    return 'price'\n",
    "tests/test_cart.py": """from shop.cart import Cart


def test_total():
    assert Cart().total([]) == 0
""",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tree(tmp_path_factory.mktemp("formats") / "code", FILES)


@pytest.fixture(scope="module")
def index(tree: Path) -> Index:
    index = Index.open(tree, index_dir=str(tree.parent / "i"), refresh="never")
    index.update()
    return index


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tree: Path, index: Index, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command inside the tree; returns exit code, output and what was said beside."""
    monkeypatch.chdir(tree)

    def command(*arguments: object) -> tuple[int, str, str]:
        code = main([*map(str, arguments), "--index-dir", str(index.backend.folder), "--refresh", "never"])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return command


def rg(tree: Path, *arguments: str) -> list[str]:
    """Return what ripgrep prints; skipped where it is not installed."""
    if shutil.which("rg") is None and os.environ.get("DOWSE_REQUIRE_TOOLS") != "1":
        pytest.skip("ripgrep is not installed")
    done = subprocess.run(
        ["rg", "--no-config", "--no-heading", "--color", "never", *arguments],
        cwd=tree,
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted(done.stdout.splitlines())


# Line by line


@pytest.mark.parametrize("pattern", ["price", "i(te)m", r"ö|ü\b", "ß", "^"])
@pytest.mark.parametrize(("form", "flags"), [("path", ["-l"]), ("grep", ["-n"]), ("vimgrep", ["--vimgrep"])])
def test_a_pattern_gives_what_ripgrep_gives(run, tree, form, flags, pattern):
    code, out, err = run("search", f"/{pattern}/", "-k", 0, "--format", form)
    assert (code, err) == (0, "")
    assert sorted(out.splitlines()) == rg(tree, *flags, pattern)


def test_paths_can_be_opened_from_where_the_command_runs(run, tree, monkeypatch):
    for place, prefix in ((".", ""), (str(tree), f"{tree}/")):
        _, out, _ = run("search", "/def total/", place, "--format", "grep")
        assert out == f"{prefix}shop/cart.py:11:    def total(self, items):\n"
    monkeypatch.chdir(tree.parent)
    for form in ("path", "grep", "vimgrep"):
        _, out, _ = run("search", "/def total/", "code", "--format", form)
        assert out.startswith("code/shop/cart.py") and Path(out.split(":")[0].strip()).is_file()
    _, out, _ = run("callers", "Cart.total", "code", "--format", "path")
    assert out == "code/tests/test_cart.py\n"


def test_a_symbol_is_where_its_name_stands(run):
    """Not at its decorators; the column is that of the name, in bytes as editors count."""
    code, out, _ = run("search", "price", "-k", 1, "--mode", "symbol", "--format", "vimgrep")
    assert (code, out) == (0, "shop/cart.py:5:5:def price(item):\n")
    _, out, _ = run("search", "größe", "-k", 1, "--mode", "symbol", "--format", "vimgrep")
    assert out == "shop/näme 100%.py:2:5:def größe(item):\n"
    line = FILES["web/line.js"]
    _, out, _ = run("search", "purl", "-k", 1, "--mode", "symbol", "--format", "vimgrep")
    assert out == f"web/line.js:1:{line.index('purl') + 1}:{line}"


def test_columns_are_bytes(run):
    _, out, _ = run("search", "/price,/", "--format", "vimgrep")
    line = FILES["shop/näme 100%.py"].splitlines()[0].encode()
    assert int(out.split(":")[2]) == line.index(b"price,") + 1


def test_every_reference_of_the_graph_is_a_line(run):
    code, out, _ = run("callers", "price", "--format", "vimgrep")
    assert code == 0
    lines = out.splitlines()
    source = FILES["shop/cart.py"].splitlines()
    assert len([line for line in lines if line.startswith("shop/cart.py:12:")]) == 2  # two calls in one line
    for line in lines:
        path, number, column, text = line.split(":", 3)
        assert text.startswith(("method Cart.total: calls,", "function größe: calls,"))
        if path == "shop/cart.py":
            assert source[int(number) - 1][int(column) - 1 :].startswith("price(")
    _, out, _ = run("callers", "price", "--format", "grep")
    assert out.count("shop/cart.py:12:") == 1
    _, out, _ = run("impact", "price", "--format", "path")
    assert out.splitlines()[0] == "shop/cart.py" and "tests/test_cart.py" in out.splitlines()


@pytest.mark.parametrize("form", FORMATS)
def test_exit_codes_and_notes_are_those_of_text(run, form):
    code, out, err = run("search", "/zzzzqqqq/", "--format", form)
    assert code == 1
    assert bool(out) is (form == "json")
    assert ("nothing found" in err) is (form == "text")
    code, _, err = run("callers", "nobody", "--format", form)
    assert code == 2 and "nobody" in err
    code, out, err = run("callers", "odd", "--format", form)
    assert code == 1 and (form == "json") is ("can't be seen" in out) is ("can't be seen" not in err)


def test_json_is_the_document_of_the_flag(run):
    flag = json.loads(run("search", "price", "--json")[1])
    named = json.loads(run("search", "price", "--format", "json")[1])
    assert [hit["id"] for hit in flag["hits"]] == [hit["id"] for hit in named["hits"]]
    graph = run("callers", "price", "--format", "json")[1]
    assert graph == run("callers", "price", "--json")[1]
    jsonschema.validate(json.loads(graph), json.loads((DOCS / "graph.schema.json").read_text()))


@pytest.mark.parametrize(
    "both", [["--json", "--format", "grep"], ["-l", "--format", "grep"], ["-l", "--json"]]
)
def test_one_format_at_a_time(run, both, capsys):
    with pytest.raises(SystemExit) as told:
        run("search", "price", *both)
    assert told.value.code == 2 and "not allowed with" in capsys.readouterr().err


def test_a_corpus_has_no_files_to_open(tmp_path, capsys):
    corpus = tmp_path / "c.jsonl"
    corpus.write_text(
        json.dumps({"func_name": "bake", "code": "def bake():\n    return 1\n", "language": "python"}) + "\n"
    )
    assert main(["search", "bake", str(corpus), "--index-dir", str(tmp_path / "i"), "--format", "grep"]) == 0
    assert str(tmp_path) not in capsys.readouterr().out


def test_copies_of_a_hit_are_one_line_beneath_it(index: Index) -> None:
    answer = index.search("price", 1)
    places = tuple(Place(f"dist/{number}\x1b.js", number) for number in range(1, 7))
    copies = replace(answer, hits=(replace(answer.hits[0], also_in=places),))
    (line,) = set(render_answer(copies, Style(), explain=False).splitlines()) - set(
        render_answer(answer, Style(), explain=False).splitlines()
    )
    assert line.strip().startswith("also in dist/1") and line.endswith(":4 and 2 more") and "\x1b" not in line
    data = json.loads(json_line(document(copies)))
    jsonschema.validate(data, json.loads((DOCS / "answer.schema.json").read_text()))
    assert data["hits"][0]["also_in"][0] == {"path": "dist/1\x1b.js", "line": 1}
