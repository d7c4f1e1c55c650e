"""Other tools see what dowse sees, and answer as their users would have them answer."""

import os
import shutil

import pytest

from dowse import Index
from dowse.errors import EvalError
from dowse.eval.evaluate import evaluate
from dowse.eval.systems.baselines import fts5
from dowse.eval.systems.mirror import mirror
from dowse.eval.systems.ripgrep import content_words, ripgrep
from dowse.eval.types import Case, Dataset, SearchResult

from helpers import json_lines, write_tree

HAS_RG = shutil.which("rg") is not None or os.environ.get("DOWSE_REQUIRE_TOOLS") == "1"
needs_rg = pytest.mark.skipif(not HAS_RG, reason="ripgrep (rg) is not installed")

FILES = {
    "oven.py": (
        '"""Everything hot."""\n\n\nclass Oven:\n    """Bakes sourdough at night."""\n\n'
        "    def preheat(self, temperature):\n        self.temperature = temperature\n"
        "        return temperature\n\n    def cool(self):\n        self.temperature = 20\n"
    ),
    "bread/dough.py": (
        "def knead(dough, minutes):\n    return dough * minutes\n\n\ndef rest(dough):\n    return dough\n"
    ),
    "bread/price.py": (
        "PRICES = {}\n\n\ndef price_of(loaf):\n    # Temperature does not matter here.\n"
        "    return PRICES[loaf]\n"
    ),
    "answers.jsonl": '{"query": "preheat temperature", "relevant_files": ["oven.py"]}\n',
    ".gitignore": "out/\n",
    "out/build.py": "temperature = 'ignored'\n",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return write_tree(tmp_path_factory.mktemp("tree") / "bakery", FILES)


def index_of(root, folder, **settings):
    index = Index.open(root, index_dir=str(folder), refresh="never", **settings)
    index.update()
    return index


@pytest.fixture(scope="module")
def index(tree, tmp_path_factory):
    with index_of(tree, tmp_path_factory.mktemp("index") / "i", exclude=("/answers.jsonl",)) as made:
        yield made


@pytest.fixture(scope="module")
def stripped(tree, tmp_path_factory):
    folder = tmp_path_factory.mktemp("stripped") / "i"
    with index_of(tree, folder, exclude=("/answers.jsonl",), strip_docs=True) as made:
        yield made


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    rows = [
        {"_id": "d1", "title": "preheat", "text": "def preheat(oven):\n    return oven.temperature\n"},
        {"_id": "d2", "title": "knead", "text": "def knead(dough):\n    return dough\n"},
    ]
    json_lines(folder / "data" / "corpus.jsonl", rows)
    with index_of(folder / "data", folder / "i") as made:
        yield made


def paths(results):
    return [found.path for found in results]


class TestMirror:
    def test_all_files_of_the_index_as_they_are(self, index, tree):
        copy = mirror(index)
        assert set(copy.files) == {"oven.py", "bread/dough.py", "bread/price.py", ".gitignore"}
        for name in copy.files:
            assert (copy.folder / name).read_text() == FILES[name]

    def test_documentation_is_left_out_where_the_index_does(self, stripped):
        copy = mirror(stripped)
        lines = (copy.folder / "oven.py").read_text().split("\n")
        whole = FILES["oven.py"].split("\n")
        assert "sourdough" not in " ".join(lines) and "Everything hot" not in " ".join(lines)
        kept = {number: line for number, line in enumerate(lines) if line.strip()}
        assert kept == {n: whole[n] for n in kept}  # every line in its place
        assert {"class Oven:", "        self.temperature = 20"} <= set(kept.values())

    def test_it_goes_when_nobody_needs_it(self, index):
        copy = mirror(index)
        folder = copy.folder
        assert folder.exists()
        del copy
        assert not folder.exists()


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("How does the oven preheat?", ["oven", "preheat"]),
        ("HTTP_status and x of the http_status", ["http_status"]),
        ("what is it", ["what", "is", "it"]),  # then they are all there is
        ("größe µ-Wert", ["größe", "wert"]),
        ("?!", []),
    ],
)
def test_content_words(query, words):
    assert content_words(query) == words


@needs_rg
class TestRipgrep:
    def test_more_words_first_then_more_matches(self, tmp_path):
        files = {
            "a.py": "x = 'oven oven oven'\n",
            "b.py": "x = 'OVEN dough'\n",
            "c.py": "x = 'Oven'\n",
            "d.py": "y\n",
        }
        system = ripgrep(index_of(write_tree(tmp_path / "t", files), tmp_path / "i"))
        assert paths(system("the oven and the dough", 10)) == ["b.py", "a.py", "c.py"]
        assert paths(system("oven dough", 2)) == ["b.py", "a.py"]

    def test_words_inside_one_another_count_each(self, tmp_path):
        files = {"a.py": "requests = 1\n", "b.py": "request = 1\nrequest = request\n"}
        system = ripgrep(index_of(write_tree(tmp_path / "t", files), tmp_path / "i"))
        assert paths(system("request requests", 10)) == ["a.py", "b.py"]

    def test_the_passage_that_has_most(self, tmp_path):
        lines = ["oven"] + ["-"] * 30 + ["oven", "-", "dough"] + ["-"] * 30 + ["dough dough dough"]
        system = ripgrep(index_of(write_tree(tmp_path / "t", {"a.txt": "\n".join(lines)}), tmp_path / "i"))
        assert system("oven dough", 10) == [SearchResult("a.txt", "", 32, 34, repo="t")]

    def test_it_sees_what_dowse_sees(self, index):
        assert set(paths(ripgrep(index)("temperature", 10))) == {"oven.py", "bread/price.py"}

    def test_documentation_that_is_held_back(self, index, stripped):
        assert paths(ripgrep(index)("sourdough", 10)) == ["oven.py"]
        assert ripgrep(stripped)("sourdough", 10) == []
        assert paths(ripgrep(stripped)("preheat", 10)) == ["oven.py"]

    def test_symbols_are_those_around_the_matches(self, index):
        found = ripgrep(index, level="symbol")("temperature", 10)
        assert [each.symbol for each in found] == ["Oven.preheat", "price_of", "Oven.cool"]
        known = {hit.symbol.id for hit in index.search("temperature", k=20, mode="keyword").hits}
        assert {each.id for each in found} <= known

    def test_entries_of_a_corpus_by_their_ids(self, corpus):
        cases = [Case("oven temperature", symbols={"d1": 1.0}, id="1")]
        row = evaluate(ripgrep(corpus), Dataset("c", tuple(cases), "symbol"))
        assert row.metrics["mrr@100"] == 1.0

    @pytest.mark.parametrize("query", ["", "?", "--files", "-e x", "a(b[c", "\\", '"; rm', "\x00", "é" * 500])
    def test_any_query_is_only_words(self, index, query):
        assert isinstance(ripgrep(index)(query, 10), list)

    def test_configuration_of_the_user_does_not_matter(self, index, tmp_path, monkeypatch):
        (tmp_path / "rc").write_text("--case-sensitive\n--max-count=1\n")
        monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rc"))
        assert paths(ripgrep(index)("OVEN", 10)) == ["oven.py"]

    def test_levels(self, index):
        with pytest.raises(EvalError, match="one of file, symbol"):
            ripgrep(index, level="line")


def test_without_ripgrep(index, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EvalError, match=r"not installed; install it"):
        ripgrep(index)


class TestFts5:
    def test_symbols_of_dowse(self, index):
        system = fts5(index)
        found = system("preheating temperatures", 10)
        assert found[0].symbol == "Oven.preheat"
        hits = {hit.symbol.id: hit.symbol for hit in index.search("temperature", k=50, mode="keyword").hits}
        for each in found:
            symbol = hits[each.id]
            lines = (symbol.start_line, symbol.end_line)
            assert each == SearchResult(symbol.path, symbol.qualified_name, *lines, symbol.id, symbol.repo)

    def test_rare_words_weigh_more(self, index):
        assert fts5(index)("knead dough", 10)[0].symbol == "knead"

    def test_as_many_as_wanted(self, index):
        assert len(fts5(index)("temperature", 2)) == 2

    def test_documentation_that_is_held_back(self, index, stripped):
        assert [each.path for each in fts5(index)("sourdough", 10)] == ["oven.py"]
        assert fts5(stripped)("sourdough", 10) == []

    def test_entries_of_a_corpus_by_their_ids(self, corpus):
        assert [each.id for each in fts5(corpus)("kneads", 10)] == ["d2"]

    @pytest.mark.parametrize(
        "query", ["", "?", 'AND "OR" NOT', "NEAR(a b)", "name:x", "pre*", "^oven", "a - b", "\x00", "'"]
    )
    def test_its_query_language_is_only_words(self, index, query):
        assert isinstance(fts5(index)(query, 10), list)

    def test_a_query_as_long_as_a_document(self, index):
        words = " ".join(f"word{i}" for i in range(5000))
        assert fts5(index)(f"knead {words}", 10)[0].symbol == "knead"

    def test_the_same_every_time(self, index, tree, tmp_path):
        again = fts5(index_of(tree, tmp_path / "i", exclude=("/answers.jsonl",)))
        for query in ("temperature", "dough return", "oven"):
            assert fts5(index)(query, 20) == again(query, 20)


@pytest.mark.parametrize("make", [fts5, pytest.param(ripgrep, marks=needs_rg)])
def test_they_are_scored_like_dowse(index, make):
    cases = (
        Case("preheat", {"oven.py": 1.0}, id="1"),
        Case("kneading dough", {"bread/dough.py": 1.0}, id="2"),
    )
    row = evaluate(make(index), Dataset("bakery", cases), name="other")
    assert row.metrics["mrr@100"] == 1.0
    assert row.latency["p50_ms"] > 0
