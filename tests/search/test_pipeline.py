"""The path of a query: plans, modes, filters, relaxation, and answers that add up."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

import dowse
from dowse import DowseError, Index
from dowse.errors import QueryError
from dowse.search.planner import make_plan
from search.requests import request

from helpers import write_tree


def names(index: Index, query: str, **options: object) -> list[str]:
    return [hit.symbol.name for hit in index.search(query, **options).hits]


def paths(index: Index, query: str, **options: object) -> set[str]:
    return {hit.symbol.path for hit in index.search(query, **{"k": 0, **options}).hits}


# The public face


def test_what_is_exported():
    assert sorted(dowse.__all__) == [
        "Answer",
        "AsyncIndex",
        "Contribution",
        "DowseError",
        "Encoder",
        "Hit",
        "Index",
        "LineMatch",
        "Settings",
        "Symbol",
        "__version__",
        "load_encoder",
    ]
    assert all(hasattr(dowse, name) for name in dowse.__all__)


# Plans


@pytest.mark.parametrize(
    ("query", "mode"),
    [
        ("parse cookie header", "keyword"),
        ("getUserName", "keyword"),
        ("MAX_RETRY lang:py", "keyword"),
        ("lang:go", "keyword"),
        ("/retry_\\w+/", "regex"),
        ('"exact phrase"', "regex"),
        ('"exact phrase" lang:py', "regex"),
        ('"one" OR "two"', "regex"),
        ('"one" -"two"', "regex"),
        ('words "and phrase"', "keyword"),
        ("words /and regex/", "keyword"),
        ('"phrase" -word', "keyword"),
        ('-"alpha" lang:py', "keyword"),  # holds where nothing matches
        ('"alpha" OR lang:go', "keyword"),
        ('"alpha" ("beta" OR lang:go)', "regex"),
    ],
)
def test_auto_picks_by_the_query(query, mode):
    assert make_plan(query, has_vectors=False, has_graph=False).mode == mode


def test_in_regex_mode_the_whole_query_is_a_pattern(sample_index):
    assert make_plan(request("lang:py (a|b)", mode="regex")).mode == "regex"
    answer = sample_index.search(r"def \w+_order\(", mode="regex", k=0)
    assert {hit.symbol.name for hit in answer.hits} == {"parse_order", "test_parse_order", "serialize_order"}


@pytest.mark.parametrize("options", [{"fuzziness": "3"}, {"mode": "telepathy"}, {"k": -1}])
def test_wrong_options_are_told(sample_index, options):
    with pytest.raises(DowseError, match=next(iter(options))):
        sample_index.search("bread", **options)


@pytest.mark.parametrize("query", ["lang:klingon", "kind:spoon", "lang:py -lang:py"])
def test_mistakes_in_queries_are_told(sample_index, query):
    with pytest.raises(QueryError):
        sample_index.search(query)


# Finding


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("parse cookie header", "parseCookieHeader"),
        ("parse_order", "parse_order"),
        ("getUserName", "getUserName"),
        ("get user name", "getUserName"),
        ("HTTPServerError", "HTTPServerError"),
        ("shortest route between stops", "shortest_route"),
        ("value added tax", "addValueAddedTax"),
        ("retry with backoff", "retry_with_backoff"),
        ("degrees celsius", "Preheat"),
        ("Order.total_price", "total_price"),
        ("résumé", "résumé"),
    ],
)
def test_the_first_answer(sample_index, query, first):
    assert names(sample_index, query)[0] == first


def test_tests_and_vendored_code_come_later(sample_index):
    found = [hit.symbol.path for hit in sample_index.search("parse_order", k=20).hits]
    assert found[0] == "src/bakery/orders.py"
    assert found.index("src/bakery/orders.py") < found.index("vendor/yeast/yeast.py")
    assert sample_index.search("test parse order").hits[0].symbol.path == "tests/test_orders.py"
    assert sample_index.search("parse_order path:vendor").hits[0].symbol.path == "vendor/yeast/yeast.py"


def test_symbol_mode_looks_at_names_alone(sample_index):
    found = sample_index.search("dough", mode="symbol", fuzziness="0").hits
    assert {hit.symbol.qualified_name for hit in found} == {
        "Dough",
        "Dough.__init__",
        "Dough.knead",
        "Dough.rise",
    }


@pytest.mark.parametrize("mode", ["auto", "keyword", "symbol", "regex"])
def test_nonsense_finds_nothing(sample_index, mode):
    answer = sample_index.search("zzzzqqqq", mode=mode)
    assert answer.hits == () and answer.total_candidates == 0


# Filters


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("order lang:python lang:typescript", {".py", ".ts"}),
        ("order -lang:python", {".ts", ".java", ".md", ".go", ".js", ".rs"}),
        ("order lang:py path:src/**", {".py"}),
        ("order path:web", {".ts", ".js"}),
        ("lang:rust", {".rs"}),
        ("lang:rust OR lang:go", {".rs", ".go"}),
        ("repo:bakery lang:go", {".go"}),
        ("repo:nobody lang:go", set()),
        ("order (lang:ts OR lang:java)", {".ts", ".java"}),
        ("NOT lang:python NOT lang:markdown order", {".ts", ".java", ".go", ".js", ".rs"}),
    ],
)
def test_filters(sample_index, query, expected):
    found = {Path(path).suffix for path in paths(sample_index, query, fuzziness="0")}
    assert found <= expected and bool(found) == bool(expected)


def test_kind_and_symbol_filters(sample_index):
    assert {h.symbol.kind for h in sample_index.search("kind:class", k=0).hits} == {"class"}
    found = {h.symbol.qualified_name for h in sample_index.search("sym:Dough.*", k=0).hits}
    assert found == {"Dough.__init__", "Dough.knead", "Dough.rise"}
    assert names(sample_index, "sym:getUserName") == ["getUserName"]
    assert "Dough" not in names(sample_index, "dough -kind:class", k=0)


def test_filters_from_flags_must_hold_too(sample_index):
    both = paths(sample_index, "order", filters="lang:python -path:tests")
    assert both and all(path.endswith(".py") and not path.startswith("tests/") for path in both)
    for query, more in (("order lang:go", "lang:python"), ("order", "-order"), ("/a/ case:no", "case:yes")):
        with pytest.raises(QueryError):
            sample_index.search(query, filters=more)
    assert paths(sample_index, "oven lang:go lang:python", filters="lang:go") == {"service/oven/oven.go"}
    assert not paths(sample_index, "order path:web", filters="path:java")
    assert paths(sample_index, "httpservererror", mode="regex")
    assert not paths(sample_index, "httpservererror", mode="regex", filters="case:yes")
    for query in ("/order/", '"order"'):
        assert {Path(p).suffix for p in paths(sample_index, query, filters="lang:ts")} == {".ts"}


def test_negated_words_and_phrases(sample_index):
    every = set(names(sample_index, "order", k=0, fuzziness="0"))
    without = set(names(sample_index, "order -cancel", k=0, fuzziness="0"))
    assert "cancel" in every and without and without < every and "cancel" not in without
    exact = sample_index.search('/oven/ -"cold"', k=0).hits
    assert exact and all("cold" not in hit.symbol.code for hit in exact if hit.symbol.kind != "file")


# Exact search


def test_phrases_are_exact(sample_index):
    hits = sample_index.search('"the shortest route"', k=0).hits
    assert [hit.symbol.path for hit in hits] == ["README.md", "rust/src/route.rs"]
    for hit in hits:
        (match,) = hit.matches
        assert match.text[slice(*match.spans[0])] == "the shortest route"
    assert sample_index.search('"shortest the route"').hits == ()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("/httpservererror/", True),  # smart case: no capital, no difference
        ("/HTTPServererror/", False),
        ("/httpservererror/ case:yes", False),
        ("/HTTPServerError/ case:yes", True),
        ("/HTTPServererror/ case:no", True),
        ('"httpservererror"', True),
        ('"httpservererror" case:yes', False),
    ],
)
def test_case(sample_index, query, found):
    assert bool(sample_index.search(query).hits) is found


def test_case_of_words(tmp_path):
    write_tree(tmp_path / "tree", {"a.py": "def FOO(): ...\n", "b.py": "def foo(): ...\n"})
    index = Index.open(tmp_path / "tree", index_dir=str(tmp_path / "index"))
    index.update()
    assert set(names(index, "FOO")) == {"FOO", "foo"}
    assert names(index, "FOO case:yes") == names(index, "FOO", filters="case:yes") == ["FOO"]
    assert names(index, "(foo OR bar) case:yes") == ["foo"]
    assert names(index, "Foo case:yes") == []


@pytest.fixture(scope="module")
def jungle(tmp_path_factory):
    """A generated tree with text that is hard to search: no last newline, Unicode, empty files."""
    chance = random.Random(7)
    pieces = [
        "foo",
        "Foo",
        "bar(",
        ")",
        " ",
        "\t",
        "é",
        "ß",
        "日本",
        "x=1",
        ".",
        "foo_bar",
        "0",
        "\r",
        "-->",
        "ſ",
        "K",
    ]
    files = {}
    for number in range(40):
        lines = [
            "".join(chance.choices(pieces, k=chance.randint(0, 12))) for _ in range(chance.randint(0, 25))
        ]
        ending = chance.choice(["\n", ""])
        folder = chance.choice(["", "a/", "a/b/"])
        suffix = chance.choice([".py", ".js", ".go", ".md", ".txt"])
        files[f"{folder}f{number}{suffix}"] = "\n".join(lines) + ending
    root = write_tree(tmp_path_factory.mktemp("jungle") / "tree", files)
    with Index.open(root, index_dir=str(root.parent / "index")) as index:
        index.update()
        yield root, index


PATTERNS = [
    "foo",
    "FOO",
    "Foo",
    "foo_bar",
    r"fo+\b",
    r"\bbar\(",
    "^foo",
    "foo$",
    "é|ß",
    r"x=\d",
    r"[^\s]{12}",
    "日本.*foo",
    r"foo.bar",
    r"(?i)FOO_BAR",
    "-->",
    "^$",
    r"\t",
    "s",
    "k",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_same_lines_as_ripgrep(jungle, pattern):
    if shutil.which("rg") is None:
        if os.environ.get("DOWSE_REQUIRE_TOOLS") == "1":
            pytest.fail("ripgrep is not installed")
        pytest.skip("ripgrep is not installed")
    root, index = jungle
    found = {
        (hit.symbol.path, match.line)
        for hit in index.search(pattern, mode="regex", k=0).hits
        for match in hit.matches
    }
    assert found == ripgrep(root, pattern)


def ripgrep(root: Path, pattern: str) -> set[tuple[str, int]]:
    """Return path and line of every match."""
    command = ["rg", "--json", "-S", "--no-config", "-e", pattern, "."]
    done = subprocess.run(command, cwd=root, capture_output=True, check=False)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return {
        (event["data"]["path"]["text"].removeprefix("./"), event["data"]["line_number"])
        for event in events
        if event["type"] == "match"
    }


# Relaxation


def test_a_typo_is_forgiven_and_told(sample_index):
    answer = sample_index.search("shortets_rout")
    typo = sample_index.search("preheet")
    assert typo.hits[0].symbol.name == "Preheat"
    assert any(note.code == "relaxed" and "preheet → Preheat" in note.text for note in typo.notes)
    assert answer.query == "shortets_rout"


def test_joined_words_are_split_and_told(sample_index):
    answer = sample_index.search("ovencold", fuzziness="0")
    assert any("split" in str(note) and "oven" in str(note) for note in answer.notes)
    assert answer.hits[0].symbol.path == "service/oven/oven.go"


def test_no_fuzziness_no_forgiveness(sample_index):
    answer = sample_index.search("preheet", fuzziness="0")
    assert answer.hits == () and not any("edit" in str(note) for note in answer.notes)


def test_two_edits_on_request(sample_index):
    assert sample_index.search("temqerzture", fuzziness="1").hits == ()
    assert sample_index.search("temqerzture", fuzziness="auto").hits == ()
    assert "Preheat" in names(sample_index, "temqerzture", fuzziness="2")


# Answers that add up

EVERY = [
    "bread",
    "parse order from text",
    "getUserName",
    "preheet",
    "ovencold",
    "lang:go",
    "order lang:python -path:tests",
    'dough "for _"',
    "/order/",
    '"return"',
    "Order.cancel",
    "kind:class",
]


@pytest.mark.parametrize("query", EVERY)
@pytest.mark.parametrize("explain", [False, True])
def test_scores_order_and_contributions(sample_index, query, explain):
    answer = sample_index.search(query, k=30, explain=explain)
    assert answer.hits
    assert [hit.rank for hit in answer.hits] == list(range(1, len(answer.hits) + 1))
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True) and scores[-1] > 0
    assert len({(hit.symbol.id, hit.symbol.path) for hit in answer.hits}) == len(answer.hits)
    for hit in answer.hits:
        assert sum(part.value for part in hit.explanation) == pytest.approx(hit.score, rel=2e-3)
        assert all(part.source.split(".")[0] in ("keyword", "signal", "exact") for part in hit.explanation)


def test_an_answer_is_its_hits(sample_index):
    answer = sample_index.search("order")
    assert tuple(answer) == answer.hits and len(answer) == len(answer.hits) > 0
    assert not sample_index.search("/no such line/")


def test_min_score(sample_index):
    scores = [hit.score for hit in sample_index.search("order", k=50).hits]
    assert [h.score for h in sample_index.search("order", k=50, min_score=scores[3]).hits] == scores[:4]


def test_every_symbol_is_found_by_its_own_name(sample_index):
    """Nothing is invisible: a name leads to its symbol, in the first ten."""
    for row in sample_index.symbols("*", 1000):
        if row.kind in ("function", "method", "class") and not row.name.startswith("_"):
            hits = sample_index.search(row.qualified_name, k=10).hits
            assert row.key in {hit.symbol.id for hit in hits}, row.qualified_name


def test_code_of_a_hit_is_the_code_of_the_file(sample, sample_index):
    for hit in sample_index.search("bread", k=0).hits:
        text = (sample / hit.symbol.path).read_bytes().decode("utf-8", "replace")
        lines = text.split("\n")[hit.symbol.start_line - 1 : hit.symbol.end_line]
        assert hit.symbol.code.split("\n")[0].strip() in "\n".join(lines)


def test_a_missing_place_is_told():
    with pytest.raises(DowseError, match="does not exist"):
        Index.open("/no/such/place")
