# ruff: noqa: E501 - sources of one line each
"""Qualified names: by scope, by the module that a symbol is imported from, and names of modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from dowse import Index
from dowse.search.ranking.qualified_names import is_module_named, is_named
from dowse.types import SymbolRow

from helpers import write_tree

# Each member mentions what it belongs to more often than the definition does; documentation stands above it.
TREE = {
    "lib/shop.rb": "require 'shop/cart'\n\nmodule Shop\n  VERSION = 1\nend\n",
    "lib/shop/cart.rb": "# A long\n# text about\n# what is bought\n"
    "module Shop\n  # The cart\n  # of a customer\n  module Cart\n    def self.empty\n      []\n    end\n  end\nend\n",
    "lib/shop/cart/item.rb": "module Shop\n  module Cart\n    # Cart items of the Cart\n    class Item\n"
    "      def cart_of_shop(shop, cart)\n        Shop::Cart.empty + Shop::Cart.empty\n      end\n    end\n  end\nend\n",
    "src/extract/mod.rs": "pub use self::state::State;\nmod state;\n",
    "src/extract/state.rs": "/// What is shared.\npub struct State {\n    n: i32,\n}\n",
    "src/router.rs": "use crate::extract::State;\n\nstruct Router {\n    state: State,\n}\n\n"
    "fn extract_state(state: State, extract: State) -> State {\n    state\n}\n",
}


def row(path: str, name: str) -> SymbolRow:
    return SymbolRow(1, "id", "", path, "", "", "class", name.rpartition(".")[2], name, 1, 2, "class", 1)


@pytest.mark.parametrize(
    ("path", "own", "name", "expected"),
    [
        ("lib/cart.rb", "Shop.Cart", "Shop.Cart", True),
        ("lib/cart.rb", "Shop.Cart", "Other.Cart", False),
        ("src/extract/state.rs", "State", "extract.State", True),
        ("src/extract/state.rs", "State", "axum.extract.State", True),
        ("src/router.rs", "State", "extract.State", False),
        ("src/extract/state.rs", "Inner.State", "extract.State", False),
        ("src/extract/state.rs", "State", "State", False),  # not qualified: names are compared elsewhere
    ],
)
def test_a_name_is_qualified_by_scope_or_by_path(path: str, own: str, name: str, expected: bool) -> None:
    assert is_named(row(path, own), name) is expected


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        ("json/__init__.py", "flask.json", True),
        ("src/flask/json/__init__.py", "flask.json", True),
        ("src/other/json.py", "flask.json", False),
        ("extract/mod.rs", "axum.extract", True),
        ("sessions.py", "flask.session", False),
        ("json.py", "json", False),
    ],
)
def test_a_module_has_the_name_of_its_path(path: str, name: str, expected: bool) -> None:
    assert is_module_named(path, name) is expected


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("Shop::Cart", "lib/shop/cart.rb"),
        ("Shop::Cart::Item", "lib/shop/cart/item.rb"),
        ("Item#cart_of_shop", "lib/shop/cart/item.rb"),
        ("extract::State", "src/extract/state.rs"),
    ],
)
@pytest.mark.parametrize("plain", [False, True])
def test_a_qualified_name_finds_the_definition(tmp_path: Path, query: str, path: str, plain: bool) -> None:
    with Index.open(write_tree(tmp_path / "tree", TREE), encoder="none") as index:
        index.update()
        first = index.search(query, 1, plain=plain).hits[0].symbol
    assert first.path == path
    assert first.name == query.replace("#", "::").rpartition("::")[2]
