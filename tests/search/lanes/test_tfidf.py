"""TF-IDF as a search: the lane alone, beside meaning, in processes, with filters, kept and not kept."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dowse import Answer, Index
from dowse.search.lanes.tfidf import terms_and_bigrams

from helpers import write_tree

# Only for what must answer: a loaded machine may take its time.
LONG = 60.0
FILES = {
    "shop/cart.py": """
def add_item(cart, item):
    cart.append(item)


def empty(cart):
    cart.clear()
""",
    "shop/tax.py": """
def add_tax(amount):
    return amount * 1.19


def round_tax(tax):
    return round(tax)
""",
    "tests/test_cart.py": """
def test_cart(cart):
    cart.add(cart.item)
    assert cart and cart.item in cart
""",
    "web/cart.go": "package web\n\nfunc Cart(item int) int { return item }\n",
    **{f"more/m{n}.py": f"def thing_{n}(cart):\n    return cart.item_{n}\n" for n in range(12)},
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """A small index with vectors and without counts."""
    place = tmp_path_factory.mktemp("shop")
    root = write_tree(place / "shop", FILES)
    index = Index.open(root, index_dir=str(place / "index"), encoder="small", threads=1, refresh="never")
    index.update()
    return index


@pytest.fixture
def own(shop: Index, tmp_path: Path) -> Iterator[Index]:
    """A copy of it, with lanes in processes of their own."""
    folder = without_counts(shop, tmp_path / "index")
    settings = replace(shop.settings, isolation="always", lane_seconds=LONG)
    with Index(shop.root, settings, type(shop.backend)(folder)) as index:
        yield index


def without_counts(index: Index, target: Path) -> Path:
    return Path(shutil.copytree(index.backend.folder, target, ignore=shutil.ignore_patterns("derived")))


def places(answer: Answer) -> list[tuple[str, str, float]]:
    return [(hit.symbol.path, hit.symbol.name, hit.score) for hit in answer]


def test_the_terms_of_a_query_are_distinct_and_so_are_its_pairs():
    assert terms_and_bigrams("cart item cart item") == ("cart", "item", "cart item", "item cart")
    assert terms_and_bigrams("add the item to the cart") == ("add", "item", "cart", "add item", "item cart")
    assert terms_and_bigrams("getUser") == ("getuser", "get", "user", "getuser get", "get user")
    assert terms_and_bigrams("for if") == ("for", "if", "for if")  # better than nothing
    assert terms_and_bigrams("") == terms_and_bigrams("!? …") == ()
    assert len(terms_and_bigrams(" ".join(f"w{n}" for n in range(9_000)))) < 2_000


def test_scores_are_the_formula_and_nothing_else_decides(shop):
    """No name, no role, no folder: a test that says the words most often comes first."""
    answer = shop.search("cart item", mode="tfidf", k=50, explain=True)
    assert (answer.mode, answer.plan.lanes, answer.plan.fusion) == ("tfidf", ("tfidf",), "")
    best = answer.hits[0]
    assert best.symbol.path == "tests/test_cart.py"
    with shop.backend.reader() as reader:
        n = reader.symbol_count()
    having = [hit for hit in answer if "cart" in hit.symbol.code.lower()]
    idf = math.log((1 + n) / (1 + len(having))) + 1
    parts = {part.detail.partition(":")[0]: part for part in best.explanation}
    assert parts["cart"].value == pytest.approx(7 * idf) and parts["cart"].source == "tfidf.term"
    assert parts["cart item"].source == "tfidf.pair"
    for hit in answer:
        assert sum(part.value for part in hit.explanation) == pytest.approx(hit.score)
    scores = [hit.score for hit in answer]
    assert scores == sorted(scores, reverse=True)


def test_processes_answer_as_this_one_does_from_the_first_question_on(shop, own):
    assert not (own.backend.folder / "derived" / "tfidf").exists()
    answer = own.search("cart item", mode="tfidf", k=50)
    assert answer.notes == () and answer.lanes[0].problem == ""
    assert places(answer) == places(shop.search("cart item", mode="tfidf", k=50))
    assert (own.backend.folder / "derived" / "tfidf" / "state.json").exists()


def test_processes_follow_an_update(own, tmp_path):
    root = shutil.copytree(own.root, tmp_path / "tree")
    with Index(root, own.settings, own.backend) as index:
        index.search("cart item", mode="tfidf")
        (root / "shop" / "cart.py").write_text("def nothing():\n    return 'zebra crossing'\n")
        index.update()
        assert [hit.symbol.name for hit in index.search("zebra", mode="tfidf")] == ["nothing"]
        paths = {hit.symbol.path for hit in index.search("cart item", mode="tfidf", k=50)}
        assert "shop/cart.py" not in paths and "web/cart.go" in paths


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("cart item lang:go", {"web/cart.go"}),
        ("cart item -path:more -path:tests -lang:go", {"shop/cart.py"}),
        ('cart "cart.clear"', {"shop/cart.py"}),
        ("cart kind:function path:tests", {"tests/test_cart.py"}),
        ("cart lang:rust", set()),
    ],
)
def test_filters_hold(shop, own, query, paths):
    for index in (shop, own):
        assert {hit.symbol.path for hit in index.search(query, mode="tfidf", k=5)} == paths


@pytest.mark.parametrize("fusion", ["blend", "rrf", "convex"])
@pytest.mark.parametrize("lanes", ["tfidf,embedding", "keyword,tfidf", "keyword,tfidf,embedding,graph"])
def test_it_can_be_joined_with_others(shop, lanes, fusion):
    answer = shop.search("add an item to the cart", lanes=lanes, fusion=fusion, explain=True)
    assert len(answer.hits) == 10 and not any(lane.problem for lane in answer.lanes)
    for hit in answer:
        assert sum(part.value for part in hit.explanation) == pytest.approx(hit.score, rel=2e-3)


def test_a_folder_that_cannot_be_written_to_is_no_hindrance(own):
    """Then terms are counted in memory, here: a lane's process would be late each time."""
    (own.backend.folder / "derived").write_text("in the way")
    answer = own.search("cart item", mode="tfidf", k=50)
    assert len(answer.hits) > 10
    (note,) = answer.notes
    assert note.text.startswith("counts of terms can't be kept (")
    assert own.search("cart item", mode="tfidf", k=50).hits == answer.hits
