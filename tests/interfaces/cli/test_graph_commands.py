"""The graph's commands as a user runs them, on a small tree in two languages."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from dowse import Index
from dowse.interfaces.cli.main import main
from dowse.symbol_lookup import AmbiguousName

from helpers import run_dowse, write_tree

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "graph.schema.json").read_text())
Run = Callable[..., tuple[int, str, str]]

FILES = {
    "shop/cart.py": """class Cart:
    def __init__(self):
        self.items = []

    def add(self, item):
        self.items.append(check(item))

    def total(self):
        return sum(price(item) for item in self.items)


def check(item):
    return item


def price(item):
    return item.price


def unused():
    return None
""",
    "shop/gift.py": """from shop.cart import Cart


class GiftCart(Cart):
    def add(self, item):
        super().add(item)
""",
    "shop/main.py": """from shop.cart import Cart


def fill(cart: Cart):
    cart.add(1)
    cart.add(2)


def main():
    cart = Cart()
    fill(cart)
    return cart.total()


if __name__ == "__main__":
    main()
""",
    "shop/other.py": """def check(value):
    return value


def main():
    return check(1)
""",
    "tests/test_main.py": """from shop.main import fill, main


def test_main():
    assert main() == 3


def test_fill():
    fill([])
""",
    "java/Shape.java": """package acme;

interface Shape {
    double area();
}
""",
    "java/Circle.java": """package acme;

class Circle implements Shape {
    double radius;

    public double area() {
        return radius * radius;
    }
}
""",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tree(tmp_path_factory.mktemp("graph") / "code", FILES)


@pytest.fixture(scope="module")
def index(tree: Path) -> Index:
    index = Index.open(tree, index_dir=str(tree.parent / "i"), refresh="never")
    index.update()
    return index


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tree: Path, index: Index) -> Run:
    """Run a command in this process; returns exit code, output and what was said beside."""

    def command(*arguments: object) -> tuple[int, str, str]:
        code = main([*map(str, arguments), str(tree), "--index-dir", str(index.backend.folder)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return command


def test_callers_say_where_what_and_how_sure(run):
    code, out, err = run("callers", "fill")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "callers of function fill  shop/main.py:4",
        "",
        "shop/main.py:11  function main  calls, resolved",
        "tests/test_main.py:9  function test_fill  calls, resolved",
    ]


def test_a_method_may_be_called_through_its_base(run):
    code, out, err = run("callers", "GiftCart.add")
    assert code == 0
    assert "shop/main.py:5  function fill  calls, possible, through Cart.add: resolved" in out
    assert "calls of Cart.add may run GiftCart.add" in err


def test_impact_names_the_tests_to_run(run):
    code, out, _ = run("impact", "price")
    assert code == 0
    code_part, tests = out.split("tests to run")
    assert "method Cart.total  calls, resolved" in code_part and "2 steps away (1)" in code_part
    assert "function main  calls Cart.total, resolved" in code_part
    assert "tests/test_main.py:5  function test_main" in tests and "test_main" not in code_part


def test_path_is_a_chain(run):
    code, out, err = run("path", "test_main", "price")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "function test_main  tests/test_main.py:4",
        "  tests/test_main.py:5  function main  calls, resolved",
        "  shop/main.py:12  method Cart.total  calls, resolved",
        "  shop/cart.py:9  function price  calls, resolved",
    ]


def test_a_name_that_is_only_mentioned_is_listed(run):
    code, out, err = run("uses", "GiftCart.add")
    assert code == 0 and "mentions of the name that are not known to be uses" in out
    assert "no use of GiftCart.add is known" in err and "nothing" not in err
    assert "shop/cart.py:5  method Cart.add  def add(self, item):" in out
    assert (
        "shop/cart.py:5:mention: def add(self, item):" in run("uses", "GiftCart.add", "--format", "grep")[1]
    )


def test_nothing_found_is_exit_code_1(run):
    code, out, err = run("callers", "unused")
    assert (code, out) == (1, "")
    assert "nothing in the index calls unused" in err and "reflection" in err


def test_an_ambiguous_name_asks_back(run, index):
    code, out, err = run("callers", "check")
    assert (code, out) == (2, "")
    assert "shop/cart.py:12  function check" in err and "shop/other.py:1  function check" in err
    code, out, err = run("callers", "check", "--json")
    data = json.loads(out)
    jsonschema.validate(data, SCHEMA)
    assert code == 2 and [row["path"] for row in data["candidates"]] == ["shop/cart.py", "shop/other.py"]
    with pytest.raises(AmbiguousName):
        index.graph.callers("check")
    assert run("callers", "cart.check")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("callers", "nowhere"), "no symbol is called nowhere"),
        (("callers", "nofile.py:3"), "there is no file nofile.py"),
        (("callers", "shop/main.py:999"), "no symbol at line 999"),
        (("callers", "fill", "--depth", "0"), "`depth` is a number of hops"),
        (("callers", "fill", "-k", "-1"), "`k` is a number"),
        (("path", "fill", "nowhere"), "no symbol is called nowhere"),
        (("impact", ""), "no symbol is called"),
        (("impact", "shop/main.py"), "shop/main.py is a file: name a symbol in it, e.g. "),
        (("callers", "./shop/cart.py"), "or Cart.add"),
    ],
)
def test_bad_input_is_told(run, arguments, said):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "") and said in err and "Traceback" not in err


@pytest.mark.parametrize("command", ["callers", "callees", "uses", "implementers", "subclasses", "impact"])
@pytest.mark.parametrize("name", ["Cart", "GiftCart.add"])
def test_json_is_what_the_schema_says(run, command, name):
    code, out, _ = run(command, name, "--json", "--depth", 3)
    data = json.loads(out)
    jsonschema.validate(data, SCHEMA)
    assert code == (0 if data["steps"] or data["mentions"] else 1) and data["relation"] == command


def test_k_cuts_and_says_so(run):
    _, out, err = run("callers", "fill", "-k", 1)
    assert len(out.splitlines()) == 3 and "the nearest 1 of 2" in err


def test_the_first_question_indexes_and_later_ones_see_changes(tmp_path):
    root = write_tree(tmp_path / "code", FILES)
    first = run_dowse("callers", "fill", root)
    assert first.returncode == 0 and "indexing" in first.stderr
    (root / "shop" / "late.py").write_text("from shop.main import fill\n\n\ndef late():\n    fill(None)\n")
    later = run_dowse("callers", "fill", root)
    assert "shop/late.py:5  function late  calls, resolved" in later.stdout
    (root / "shop" / "late.py").unlink()
    assert run_dowse("callers", "fill", root).stdout == first.stdout


def test_a_question_loads_nothing_heavy(tree, index):
    script = (
        "import sys\nfrom dowse.interfaces.cli.main import main\n"
        f"code = main(['impact', 'price', {str(tree)!r}, '--index-dir', {str(index.backend.folder)!r}])\n"
        "heavy = {'numpy', 're2', 'tree_sitter', 'multiprocessing', 'asyncio'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else code)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
