"""TF-IDF as a search: the lane alone, beside meaning, in processes, with filters, kept and not kept."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dowse import Answer, DowseError, Index
from dowse.errors import QueryError
from dowse.search.lanes.dense import embedding_lane
from dowse.search.lanes.tfidf import terms_and_bigrams
from dowse.search.planner import make_plan

from helpers import json_lines, run_dowse, write_tree

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
    index.embed()
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


def test_the_planner_never_picks_it(shop):
    for query in ("cart item", "add_item", "what calls add_item", "cart lang:go", "how to add an item"):
        assert "tfidf" not in make_plan(query).lanes
        assert "tfidf" not in shop.search(query).plan.lanes


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


@pytest.mark.parametrize("query", ["lang:go", "/cart/", "path:tests"])
def test_without_words_it_is_a_search_by_filters(shop, query):
    assert shop.search(query, mode="tfidf").hits


def test_nothing_in_common_finds_nothing(shop):
    assert shop.search("xylophone", mode="tfidf").hits == ()


def test_the_intersection_is_what_words_found_in_the_order_of_meaning_filled_up_to_ten(shop):
    meaning = [hit.symbol.id for hit in shop.search("round tax", mode="embedding", k=100)]
    words = {hit.symbol.id for hit in shop.search("round tax", mode="tfidf", k=100)}
    answer = shop.search("round tax", lanes="tfidf,embedding", fusion="intersection", k=20)
    assert (answer.plan.lanes, answer.plan.fusion) == (("tfidf", "embedding"), "intersection")
    agreed = [key for key in order_of(shop) if key in words]
    assert 0 < len(agreed) < 10 < len(meaning)
    found = [hit.symbol.id for hit in answer]
    assert len(found) == 10 and found[: len(agreed)] == agreed
    assert found[len(agreed) :] == [key for key in order_of(shop) if key not in words][: 10 - len(agreed)]
    said = [part.detail for hit in answer for part in hit.explanation]
    assert said == ["found by tfidf and embedding"] * len(agreed) + ["filled up from embedding"] * (
        10 - len(agreed)
    )


def order_of(index: Index) -> list[str]:
    """Return the symbols by their cosines alone: the search by meaning has signals of its own."""
    with index.backend.reader() as reader:
        rows = embedding_lane(reader, index.encoder, "round tax", limit=100).rows
        return [symbol.id for symbol in reader.symbols(reader.rows(rows))]


def test_ten_and_more_that_agree_are_not_filled_up(shop):
    answer = shop.search("cart", lanes="tfidf,embedding", fusion="intersection", k=50)
    with_cart = {hit.symbol.id for hit in shop.search("cart", mode="tfidf", k=100)}
    assert len(answer.hits) > 10 and {hit.symbol.id for hit in answer} == with_cart


@pytest.mark.parametrize("fusion", ["auto", "blend", "rrf", "weighted", "convex", "adaptive", "intersection"])
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


def test_a_copy_that_cannot_be_written_to_has_what_was_counted(own, tmp_path):
    expected = own.search("cart item", mode="tfidf", k=50)
    folder = Path(shutil.copytree(own.backend.folder, tmp_path / "copy"))
    (folder / "derived" / "tfidf" / "writer.lock").unlink()
    (folder / "derived" / "tfidf" / "writer.lock").mkdir()  # what nobody can lock
    with Index(own.root, own.settings, type(own.backend)(folder)) as index:
        answer = index.search("cart item", mode="tfidf", k=50)
    assert answer.notes == () and places(answer) == places(expected)


def test_counts_go_with_the_index(own):
    own.search("cart", mode="tfidf")
    assert (own.backend.folder / "derived" / "tfidf").is_dir()
    own.close()
    own.backend.clear()
    assert not own.backend.folder.exists()


def test_an_index_is_rebuilt_over_counts_that_are_left(own):
    """Removed half way, an index leaves its other folders; they are no obstacle."""
    own.search("cart", mode="tfidf")
    own.close()
    for entry in own.backend.folder.iterdir():
        if entry.name not in ("derived", "vectors"):
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    own.update()
    assert own.search("cart item", mode="tfidf").hits


def test_bad_input_is_told(shop):
    with pytest.raises(DowseError, match="keyword, tfidf, embedding, graph"):
        shop.search("x", lanes="tf-idf")
    with pytest.raises(DowseError, match="`mode` is one of"):
        shop.search("x", mode="tf-idf")
    for query in ("", " "):
        with pytest.raises(QueryError):
            shop.search(query, mode="tfidf")
    for query in ("\x00", "💥", "a" * 5_000, "\ud800", "… ?!", "_"):
        assert shop.search(query, mode="tfidf", plain=True).hits == ()


def test_a_corpus_with_documentation_beside_its_code(tmp_path):
    rows = [
        {"id": "1", "code": "def f(x):\n    return x", "doc": "Bake a loaf of bread.", "language": "python"},
        {"id": "2", "code": "def g(bread):\n    return bread", "doc": "", "language": "python"},
    ]
    json_lines(tmp_path / "c.jsonl", rows)
    with Index.open(tmp_path / "c.jsonl", index_dir=str(tmp_path / "i"), encoder="none") as index:
        index.update()
        assert len(index.search("bread", mode="tfidf").hits) == 2
        assert len(index.search("loaf", mode="tfidf").hits) == 1
    with Index.open(
        tmp_path / "c.jsonl", index_dir=str(tmp_path / "j"), encoder="none", strip_docs=True
    ) as index:
        index.update()
        assert not index.search("loaf", mode="tfidf").hits


def test_the_command(shop, tmp_path):
    folder = without_counts(shop, tmp_path / "index")
    done = run_dowse("search", "cart item", shop.root, "--index-dir", folder, "--mode", "tfidf", "--explain")
    assert (done.returncode, done.stderr) == (0, "")
    assert "tests/test_cart.py" in done.stdout and "tfidf.pair" in done.stdout
