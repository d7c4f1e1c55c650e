"""How people name symbols, and what dowse makes of it; and what is like a symbol."""

from __future__ import annotations

from pathlib import Path

import pytest

from dowse import Index
from dowse.errors import DowseError
from dowse.symbol_lookup import AmbiguousName, candidates, is_partial_match, resolve, resolve_all

from helpers import write_tree

FILES = {
    "shop/cart.py": "class Cart:\n    def add(self, item):\n        self.items.append(item)\n\n"
    "    def total(self):\n        return sum(i.price for i in self.items)\n",
    "shop/basket.py": "def add(basket, item):\n    basket.append(item)\n\ndef only_here():\n    return 1\n",
    "shop/helpers.py": "import os\n\nprint(os.sep)\n\n\ndef helpers():\n    return os\n",
    "shop/pay/__init__.py": "from .cash import round_up as round_up\n\ndef charge(card):\n    return card\n",
    "shop/pay/cash.py": "def round_up(sum):\n    return sum\n",
    "rounding.py": "def round_up(number):\n    return number\n",
    "other/charge.py": "def charge(phone):\n    return phone\n",
    "java/Sum.java": "class Sum {\n    int plus(int a) { return a; }\n    int plus(long a) { return 1;}\n}\n",
    "java/Tally.java": "class Tally {\n    Tally(int a) {}\n}\n",
    "rust/body.rs": "pub struct Body;\n",
    "rust/other.rs": "impl From<Body> for u8 {\n    fn from(b: Body) -> u8 { 1 }\n}\n\n"
    "impl Show for Body {\n    fn show(&self) {}\n}\n",
    "README.md": "# Basket\n\nA shop.\n\n# Sum\n\nAdds.\n",
    "lib/shop/cart.py": "def unrelated():\n    return 2\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    place = tmp_path_factory.mktemp("naming")
    index = Index.open(write_tree(place / "code", FILES), index_dir=str(place / "i"), encoder="small")
    index.update()
    return index


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("only_here", ("shop/basket.py", "only_here")),
        ("helpers", ("shop/helpers.py", "helpers")),
        ("only_here()", ("shop/basket.py", "only_here")),
        ("`only_here`", ("shop/basket.py", "only_here")),
        ("Cart.add", ("shop/cart.py", "Cart.add")),
        ("Cart#add", ("shop/cart.py", "Cart.add")),
        ("Cart::add", ("shop/cart.py", "Cart.add")),
        ("shop.cart.Cart.add", ("shop/cart.py", "Cart.add")),
        ("com.example.shop.cart.Cart.total", ("shop/cart.py", "Cart.total")),
        ("basket.add", ("shop/basket.py", "add")),
        ("shop/cart.py:2", ("shop/cart.py", "Cart.add")),
        ("shop/cart.py:6:3", ("shop/cart.py", "Cart.total")),
        ("basket.py:5", ("shop/basket.py", "only_here")),
        ("shop.pay.charge", ("shop/pay/__init__.py", "charge")),
        ("shop.pay.round_up", ("shop/pay/cash.py", "round_up")),  # not the import of the package
        ("Sum", ("java/Sum.java", "Sum")),  # not the heading
        ("Tally", ("java/Tally.java", "Tally")),  # not the constructor
        ("Tally.Tally", ("java/Tally.java", "Tally.Tally")),
        ("Body", ("rust/body.rs", "Body")),  # not the impl block
    ],
)
def test_a_name_finds_its_symbol(index: Index, text: str, expected: tuple[str, str]) -> None:
    with index.backend.reader() as reader:
        row = resolve(reader, text)
    assert (row.path, row.qualified_name) == expected


def test_a_name_of_several_symbols_lists_them(index: Index) -> None:
    with index.backend.reader() as reader, pytest.raises(AmbiguousName) as caught:
        resolve(reader, "add")
    assert {row.path for row in caught.value.candidates} == {"shop/cart.py", "shop/basket.py"}
    assert "shop/basket.py:1" in str(caught.value)


@pytest.mark.parametrize("text", ["nowhere", "missing.py:3", "shop/cart.py:999", "::", ""])
def test_a_name_of_nothing_is_an_error(index: Index, text: str) -> None:
    with index.backend.reader() as reader, pytest.raises(DowseError):
        resolve(reader, text)


def test_a_name_that_hundreds_bear_is_found_by_its_class(tmp_path: Path) -> None:
    many = "".join(f"class C{n:03d}:\n    def __init__(self):\n        self.n = {n}\n\n" for n in range(300))
    index = Index.open(
        write_tree(tmp_path / "c", {"many.py": many}), index_dir=str(tmp_path / "i"), encoder="none"
    )
    index.update()
    with index.backend.reader() as reader:
        assert resolve(reader, "C299.__init__").qualified_name == "C299.__init__"


def test_overloads_are_one_name(index: Index) -> None:
    with index.backend.reader() as reader:
        assert [row.start_line for row in resolve_all(reader, "Sum.plus")] == [2, 3]
        assert [row.start_line for row in resolve_all(reader, "Sum.java:3")] == [3]
        assert [row.qualified_name for row in resolve_all(reader, "Cart.add")] == ["Cart.add"]
        with pytest.raises(AmbiguousName):
            resolve_all(reader, "add")
        with pytest.raises(DowseError):
            resolve_all(reader, "nowhere")


@pytest.mark.parametrize(
    ("text", "partial"),
    [
        ("only_here", False),
        ("basket.only_here", False),
        ("os.path.only_here", True),
        ("lib.basket.only_here", False),
        ("basket.py:5", False),
    ],
)
def test_a_name_that_matches_only_at_its_end_is_partial(index: Index, text: str, partial: bool) -> None:
    with index.backend.reader() as reader:
        assert is_partial_match(text, resolve(reader, text)) is partial


def test_later_parts_of_a_long_symbol_belong_to_it(tmp_path: Path) -> None:
    long = "def long():\n" + "".join(f"    step_{n}()\n\n" for n in range(300))
    index = Index.open(
        write_tree(tmp_path / "c", {"long.py": long}), index_dir=str(tmp_path / "i"), encoder="none"
    )
    index.update()
    with index.backend.reader() as reader:
        assert len(candidates(reader, "long")) == 1
        parts = resolve_all(reader, "long")
        assert len(parts) > 1 and resolve_all(reader, "long.py:400") == parts


def test_related_gives_neighbours_without_the_symbol_itself(index: Index) -> None:
    found = index.related("Cart.add", k=3)
    names = [hit.symbol.qualified_name for hit in found.neighbours]
    assert "Cart.add" not in names
    assert names[0] == "add"  # the other function that adds an item
    scores = [hit.score for hit in found.neighbours]
    assert scores == sorted(scores, reverse=True)


def test_related_names_the_group_and_its_members(tmp_path: Path) -> None:
    files = {f"m{n}.py": f"def read_file_{n}(path):\n    return open(path).read()\n" for n in range(12)}
    index = Index.open(write_tree(tmp_path / "c", files), index_dir=str(tmp_path / "i"), encoder="small")
    index.update()
    cluster = index.related("read_file_3", k=4).cluster
    assert cluster is not None
    assert len(cluster.members) <= 4
    assert {"read", "file"} & set(cluster.words)
