"""Names, such as constants and fields, in the commands that take or list symbols."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dowse import Index
from dowse.interfaces.cli.main import main

from helpers import write_tree

Run = Callable[..., tuple[int, str, str]]

FILES = {
    "shop/settings.py": "MAX_ITEMS = 20\n\n\ndef load():\n    return MAX_ITEMS\n",
    "shop/cart.py": "from shop.settings import MAX_ITEMS\n\n\nclass Cart:\n    currency = 'EUR'\n\n"
    "    def __init__(self):\n        self.items = []\n\n"
    "    def is_full(self):\n        return len(self.items) >= MAX_ITEMS\n",
    "shop/order.py": "class Order:\n    def __init__(self):\n        self.items = []\n",
    "src/server.c": "#define SERVER_PORT 80\n\nint main(void) {\n    return SERVER_PORT;\n}\n",
    "src/client.c": "int main(void) {\n    return 1;\n}\n",
    "lib/block.rb": "class Block\n  def save!\n    1\n  end\n\n  def run\n    save!\n  end\nend\n",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("names")
    root = write_tree(place / "code", FILES)
    Index.open(root, index_dir=str(place / "i"), encoder="none").update()
    return root


@pytest.fixture
def run(tree: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> tuple[int, str, str]:
        at = 3 if arguments[0] == "path" else 2
        words = [*arguments[:at], str(tree), *arguments[at:]]
        code = main([*words, "--index-dir", str(tree.parent / "i")])
        return code, *capsys.readouterr()

    return run


def test_symbols_lists_names_with_their_kind(run: Run) -> None:
    assert run("symbols", "MAX_ITEMS")[1] == "shop/settings.py:1\tconstant\tMAX_ITEMS\n"
    listed = run("symbols", "items")[1].splitlines()
    assert listed[:2] == ["shop/cart.py:8\tfield\tCart.items", "shop/order.py:3\tfield\tOrder.items"]
    (row,) = json.loads(run("symbols", "Cart.currency", "--json")[1])
    assert (row["kind"], row["start_line"], row["qualified_name"]) == ("field", 5, "Cart.currency")


def test_symbols_says_that_there_are_more(run: Run) -> None:
    everything = run("symbols", "*", "-k", "0")
    some = run("symbols", "*", "-k", "2")
    assert everything[1].startswith(some[1]) and "the first 2; -k 0 lists all" in some[2]
    assert run("symbols", "*", "-k", str(everything[1].count("\n"))) == everything


def test_a_name_is_explained(run: Run) -> None:
    assert "settings.py:1" in run("search", "MAX_ITEMS", "--explain", "--encoder", "none")[1]


def test_symbols_of_some_kinds(run: Run) -> None:
    everything = [line.split("\t")[1] for line in run("symbols", "*", "--kind", "field")[1].splitlines()]
    assert everything == ["field"] * 3
    assert run("symbols", "*", "--kind", "macro", "--kind", "constant")[1].count("\n") == 2


@pytest.mark.parametrize("name", ["src/server.c:main", "server.c:main", "server.main", "src/server.c:3"])
def test_a_file_and_a_name_are_a_symbol_of_that_file(run: Run, name: str) -> None:
    _, out, _ = run("callees", name, "--json")
    assert [seed["path"] for seed in json.loads(out)["seeds"]] == ["src/server.c"]


def test_symbols_takes_a_file_and_a_name(run: Run) -> None:
    assert run("symbols", "src/server.c:main")[1] == "src/server.c:3\tfunction\tmain\n"


@pytest.mark.parametrize(
    ("location", "kind", "name"),
    [
        ("shop/settings.py:1", "constant", "MAX_ITEMS"),
        ("shop/cart.py:5", "field", "Cart.currency"),
        ("shop/cart.py:8", "method", "Cart.__init__"),  # a function sets fields in any line
        ("shop/cart.py:Cart.items", "field", "Cart.items"),
        ("shop/cart.py:items", "field", "Cart.items"),
    ],
)
def test_the_line_of_a_name_means_it(run: Run, location: str, kind: str, name: str) -> None:
    (seed,) = json.loads(run("uses", location, "--json")[1])["seeds"]
    assert (seed["kind"], seed["qualified_name"]) == (kind, name)


def test_callers_of_a_name_are_its_uses(run: Run) -> None:
    code, out, notes = run("callers", "SERVER_PORT")
    assert code == 0 and out.startswith("uses of macro SERVER_PORT  src/server.c:1\n")
    assert "src/server.c:4" in out and "src/server.c:1 " not in out  # its own line is no use
    assert "SERVER_PORT is a macro: not its callers, but its uses are listed" in notes


def test_what_only_symbols_have_is_said_of_a_name(run: Run) -> None:
    assert "Cart.currency is a field: only types have subclasses" in run("subclasses", "Cart.currency")[2]
    assert "Cart.currency is a field: it calls nothing" in run("callees", "Cart.currency")[2]


def test_an_ambiguous_name_lists_its_lines(run: Run) -> None:
    code, _, error = run("uses", "items")
    assert code == 2
    assert "shop/cart.py:8  field Cart.items" in error and "shop/order.py:3  field Order.items" in error


def test_a_misspelt_name_suggests_the_right_one(run: Run) -> None:
    assert "did you mean MAX_ITEMS?" in run("uses", "MAX_ITMES")[2]


def test_a_name_has_no_vector(tree: Path, tmp_path: Path) -> None:
    from dowse.errors import DowseError

    index = Index.open(tree, index_dir=str(tmp_path / "i"), encoder="small")
    index.update()
    with pytest.raises(DowseError, match=r"Cart.currency is a name \(field\), and only symbols have vectors"):
        index.related("Cart.currency")
    assert index.related("shop/cart.py:5").symbol.qualified_name == "Cart"  # the symbol around the line


@pytest.mark.parametrize("question", ["what calls save!", "what calls Block.save!", "who calls save!?"])
def test_a_name_may_end_in_a_mark(run: Run, question: str) -> None:
    answer = json.loads(run("search", question, "--json")[1])
    assert answer["plan"]["relation"] == "callers"
    assert answer["hits"][0]["qualified_name"] == "Block.run"


def test_a_mark_that_no_name_has_ends_the_question(run: Run) -> None:
    answer = json.loads(run("search", "what calls load!", "--json")[1])
    assert (answer["plan"]["relation"], answer["plan"]["seeds"]) == ("callers", ["load"])
