"""A query that is a name: its definition comes first, and what is there is never denied."""

from __future__ import annotations

import pytest

from dowse import Index
from dowse.answer import Answer

from helpers import write_tree

FILES = {
    "bakery/oven.py": (
        "MAX_HEAT = 250\n"
        "timeout = 30\n\n\n"
        "class Oven:\n"
        "    shelves: int = 3\n\n"
        "    def __init__(self):\n"
        "        self.door_is_open = False\n\n"
        "    def heat(self, degrees):\n"
        "        if degrees > MAX_HEAT:\n"
        "            raise ValueError('too hot')\n"
        "        return UNKNOWN_CONSTANT\n"
    ),
    "bakery/timer.py": "from oven import timeout\n\n\ndef rest(minutes):\n    return timeout * minutes\n",
    "include/dough.h": (
        "#define DOUGH_DEFAULT_GRAMS 500\n\nstruct dough {\n  int grams_of_flour;\n};\n\n"
        "int knead(struct dough *d);\n"
    ),
    "src/dough.c": '#include "dough.h"\n\nint knead(struct dough *d) { return d->grams_of_flour; }\n',
    # As a document spells it, with another case than the code.
    "NEWS.md": "# News\n\n- `PizzaoVen` bakes faster\n",
    "bakery/pizza.py": "class PizzaOven:\n    pass\n",
    "settings.json": '{"timeout": 1, "proofing_minutes": 90}\n',
}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    root = write_tree(folder / "code", FILES)
    with Index.open(root, index_dir=str(folder / "index"), encoder="none") as opened:
        opened.update()
        yield opened


def places(answer: Answer) -> list[str]:
    return [f"{hit.symbol.path}:{hit.symbol.start_line}" for hit in answer]


def notes(answer: Answer) -> str:
    return "; ".join(str(note) for note in answer.notes)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("MAX_HEAT", "bakery/oven.py:1"),
        ("timeout", "bakery/oven.py:2"),
        ("shelves", "bakery/oven.py:6"),
        ("Oven.shelves", "bakery/oven.py:6"),
        ("door_is_open", "bakery/oven.py:9"),
        ("DOUGH_DEFAULT_GRAMS", "include/dough.h:1"),
        ("grams_of_flour", "include/dough.h:4"),
        ("where is MAX_HEAT defined", "bakery/oven.py:1"),
    ],
)
def test_the_definition_comes_first(index, name, place):
    answer = index.search(name)
    assert places(answer)[0] == place
    assert "called" not in notes(answer)


def test_a_symbol_comes_before_names_that_are_called_like_it(index):
    first, second, *_ = index.search("knead")
    assert (first.symbol.kind, first.symbol.path) == ("function", "src/dough.c")
    assert (second.symbol.kind, second.symbol.path) == ("prototype", "include/dough.h")


def test_a_name_is_shown_with_the_lines_around_it(index):
    symbol = index.search("shelves").hits[0].symbol
    assert symbol.signature == "shelves: int = 3"
    assert (symbol.kind, symbol.qualified_name, symbol.end_line) == ("field", "Oven.shelves", 6)
    assert dict(symbol.numbered_lines) == {
        4: "",
        5: "class Oven:",
        6: "    shelves: int = 3",
        7: "",
        8: ANY_INIT,
    }


ANY_INIT = "    def __init__(self):"


@pytest.mark.parametrize(
    "typed", ["MAX_HAET", "maxHeat", "max_heat", "DOUGH_DEFAULT_GRAM", "doughDefaultGrams"]
)
def test_typing_errors_and_other_forms_are_understood(index, typed):
    answer = index.search(typed)
    assert places(answer)[0] in ("bakery/oven.py:1", "include/dough.h:1")
    assert "not here as typed" in notes(answer)


def test_a_name_in_another_case_is_defined_whatever_a_document_calls_it(index):
    answer = index.search("PizzaoVen")
    assert places(answer)[0] == "bakery/pizza.py:1"
    assert "not defined" not in notes(answer)


def test_a_part_finds_the_names_that_contain_it(index):
    answer = index.search("DEFAULT_GRAMS")
    assert places(answer)[0] == "include/dough.h:1"
    assert "longer names" in notes(answer)


def test_what_occurs_without_a_definition_is_shown_where_it_occurs(index):
    answer = index.search("UNKNOWN_CONSTANT")
    assert "UNKNOWN_CONSTANT is not defined here; it occurs in 1 file" in notes(answer)
    assert (answer.hits[0].symbol.name, answer.hits[0].matches[0].line) == ("heat", 14)


def test_only_what_does_not_occur_is_denied(index):
    assert "no symbol here is called SOUR_DOUGH_XYZ" in notes(index.search("SOUR_DOUGH_XYZ"))


@pytest.mark.parametrize("query", ["MAX_HEAT lang:c", "MAX_HEAT -path:bakery", "MAX_HEAT kind:function"])
def test_filters_apply_to_names(index, query):
    assert "bakery/oven.py:1" not in places(index.search(query))


def test_a_path_and_a_name_select_one_definition(index):
    assert places(index.search("src/dough.c:knead"))[0] == "src/dough.c:3"


def test_prose_finds_symbols_alone(index):
    answer = index.search("what happens when it is too hot")
    assert answer.hits
    assert {hit.symbol.kind for hit in answer} <= {"function", "method", "class", "module", "struct", "text"}


def test_names_follow_the_files(tmp_path):
    root = write_tree(tmp_path / "code", {"a.py": "FIRST_NAME = 1\n", "b.py": "OTHER_NAME = 1\n"})
    with Index.open(root, index_dir=str(tmp_path / "index"), encoder="none") as index:
        index.update()
        write_tree(root, {"a.py": "\n\nFIRST_NAME = 2\nSECOND_NAME = 3\n"})
        (root / "b.py").unlink()
        index.update()
        assert places(index.search("FIRST_NAME"))[0] == "a.py:3"
        assert places(index.search("SECOND_NAME"))[0] == "a.py:4"
        assert "no symbol here is called" in notes(index.search("OTHER_NAME"))


SHOP = {
    "README.md": "# Shop\n\n```js\nexport const priceLimit = 1;\n```\n",
    "lib/price.js": "export const priceLimit = 9;\nexport function total() { return priceLimit; }\n",
    "index.d.ts": "export const priceLimit: number;\nexport function total(): number;\n",
    "test/price.test.js": "const priceLimit = 3;\nfunction stub() {}\n",
    "lib/cart.rb": (
        "class Cart\n  attr_accessor :owner\n  def empty?\n    true\n  end\n  def empty\n  end\n"
        "  def <=>(other)\n  end\n  def clear!\n  end\nend\n"
    ),
    "lib/list.lua": "local List = {}\nfunction List:map2(f) end\nreturn List\n",
    "lib/Fold.hs": "module Fold where\n\nfold' :: Int -> Int\nfold' x = x\n\nfold :: Int\nfold = 1\n",
    "bin/log.bash": "log.info() {\n  echo info\n}\n\nlog::warn() {\n  echo warn\n}\n",
    "src/money.cc": "struct Money {\n  Money operator++();\n  int operator()(int x) { return x; }\n};\n"
    "Money Money::operator++() { return *this; }\n",
    "dist/shop.js": "function minify$1() { return 1; }\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    root = write_tree(folder / "code", SHOP)
    with Index.open(root, index_dir=str(folder / "index"), encoder="none") as opened:
        opened.update()
        yield opened


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("priceLimit", "lib/price.js:1"),
        ("total", "lib/price.js:2"),
        ("empty?", "lib/cart.rb:3"),
        ("empty", "lib/cart.rb:6"),
        ("clear!", "lib/cart.rb:10"),
        ("<=>", "lib/cart.rb:8"),
        ("owner=", "lib/cart.rb:2"),
        ("List:map2", "lib/list.lua:2"),
        ("fold'", "lib/Fold.hs:3"),
        ("log.info", "bin/log.bash:1"),
        ("log::warn", "bin/log.bash:5"),
        ("operator ++", "src/money.cc:5"),
        ("operator()", "src/money.cc:3"),
        ("minify$1", "dist/shop.js:1"),
    ],
)
def test_a_name_of_any_spelling_is_found_in_code_first(shop, name, place):
    answer = shop.search(name)
    assert places(answer)[0] == place
    assert "called" not in notes(answer) and "not here" not in notes(answer)
    assert place in [f"{row.path}:{row.start_line}" for row in shop.symbols(name)]


def test_documentation_defines_last(shop):
    found = places(shop.search("priceLimit"))
    assert found[:4] == ["lib/price.js:1", "index.d.ts:1", "test/price.test.js:1", "README.md:4"]
