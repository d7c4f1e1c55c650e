"""Pasted stack traces find the symbols of their frames, whatever machine wrote the paths."""

from __future__ import annotations

import pytest

from dowse import Index

CART = '''"""Carts."""


class Cart:
    def add(self, item):
        return self.price(item) * 2

    def price(self, item):
        return int(item)


def checkout(cart):
    return cart.add("x")
'''


@pytest.fixture
def shop(tmp_path):
    root = tmp_path / "shop"
    for name, text in {
        "src/shop/cart.py": CART,
        "src/other/cart.py": "def unrelated():\n    return 1\n",
        "examples/a/src/main.rs": "fn main() {\n    run();\n}\n",
        "examples/b/src/main.rs": "fn main() {\n    run();\n}\n",
        "util.go": "package shop\n\nfunc helper() {\n\tpanic(1)\n}\n",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with Index.open(root, encoder="none") as index:
        index.update()
        yield index


def trace(prefix: str) -> str:
    return f'''Traceback (most recent call last):
  File "{prefix}/shop/cart.py", line 13, in checkout
    return cart.add("x")
  File "{prefix}/shop/cart.py", line 6, in add
    return self.price(item) * 2
  File "{prefix}/shop/cart.py", line 9, in price
    return int(item)
ValueError: invalid literal for int() with base 10: 'x'
'''


@pytest.mark.parametrize("prefix", ["src", "/app/src", "/usr/lib/python3/site-packages", "C:\\\\work\\\\src"])
def test_the_innermost_frame_comes_first(shop, prefix):
    answer = shop.search(trace(prefix))
    names = [hit.symbol.qualified_name for hit in answer.hits]
    assert names[:3] == ["Cart.price", "Cart.add", "checkout"]
    assert answer.plan.kind == "trace"
    assert [note.code for note in answer.notes] == ["trace"]
    assert [match.text.strip() for match in answer.hits[0].matches] == ["return int(item)"]


def test_a_frame_in_edited_code_is_found_by_its_function(shop):
    moved = trace("src").replace("line 9", "line 3")
    assert shop.search(moved).hits[0].symbol.qualified_name == "Cart.price"


def test_frames_of_other_code_are_no_hits(shop):
    """`src/main.rs` of the program that uses the library is not one of its examples."""
    text = "thread 'main' panicked at src/main.rs:2:5:\nprice of cart\n"
    answer = shop.search(text)
    assert not any(hit.symbol.path.endswith("main.rs") for hit in answer.hits[:1])
    assert "its position is not in this index" in str(answer.notes[0])


def test_filters_leave_out_frames(shop):
    assert shop.search(trace("src"), lang=["go"]).hits == ()


def test_text_with_quotes_and_colons_is_no_query_language(shop):
    node = '    at Cart.add (/app/node_modules/shop/src/shop/cart.py:6:5)\nnode:internal "unclosed ('
    assert shop.search(node).hits[0].symbol.qualified_name == "Cart.add"
