"""The planner, by a table of real questions: which lanes, which fusion, which seeds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.config import FUSIONS
from dowse.errors import DowseError, QueryError
from dowse.query.structural import parse_structural
from dowse.search.options import LANE_ORDER, SearchRequest, parse_lanes
from dowse.search.planner import PLANNED_LANES, Plan, lane_weights, make_plan
from search.requests import request

# What symbols are called here; whatever else is asked for bears no name.
NAMES = frozenset(
    """getUserName parse_cookie Session Session.close Handler BaseHandler parse render main MAX_SIZE
    com.acme.shop.Cart.add shop.Cart.add Cart.add retry_with_backoff HTTPServerError to_json numpy.array
    checkout""".split()
)
# What each kind of question is answered by.
ANSWERED = {
    "name": (("keyword", "graph"), "convex"),
    "structure": (("keyword", "graph"), "weighted"),
    "prose": (("keyword", "embedding"), "blend"),
    "mixed": (PLANNED_LANES, "blend"),
    "pattern": ((), ""),
    "filter": (("keyword",), ""),
}


def plan(query: str | SearchRequest, **known: bool) -> Plan:
    return make_plan(query, NAMES.__contains__, **known)


def table(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the questions of a table, each with the seeds behind its arrow."""
    rows = [line.partition("=>") for line in text.strip().splitlines()]
    return [(query.strip(), tuple(seeds.split())) for query, _, seeds in rows]


QUESTIONS = {
    # Nothing but names: bare, in backticks, dotted, called, in other languages' ways of writing.
    "name": """
        getUserName => getUserName
        `getUserName` => getUserName
        `parse` => parse
        Session.close => Session.close
        Session.close() => Session.close
        parse_cookie => parse_cookie
        parse() => parse
        MAX_SIZE => MAX_SIZE
        HTTPServerError => HTTPServerError
        com.acme.shop.Cart.add => com.acme.shop.Cart.add
        shop::Cart::add => shop.Cart.add
        `Cart#add` => Cart.add
        getUserName parse_cookie => getUserName parse_cookie
        `parse` `render` => parse render
        parse_cookie lang:python => parse_cookie
        getUserName path:src/** -path:tests => getUserName
    """,
    # The graph answers, words stand beside it.
    "structure": """
        what calls parse_cookie => parse_cookie
        who calls `parse`? => parse
        what does main call => main
        who implements Handler => Handler
        subclasses of BaseHandler => BaseHandler
        what uses MAX_SIZE => MAX_SIZE
        what breaks if I change parse_cookie => parse_cookie
        which tests cover parse_cookie => parse_cookie
        what calls parse_cookie lang:python => parse_cookie
        call path from main to parse_cookie => main
        what calls the function that parses cookies =>
        what breaks if I change the backoff helper? =>
    """,
    # Meaning first, words beside it; also where a question only looks like one about structure.
    "prose": """
        how are expired sessions removed
        where do users log in
        retry a request with exponential backoff
        function that calls an api with retry
        what uses less memory
        what calls the police
        what calls nobody
        where is the config file
        python read file line by line
        how to sort a dictionary by value in python
        convert list to string
        Return the number of rows.
        Splits a header into names and values, ignoring case.
        parse cookie header lang:python
        session expiry -path:tests/**
        parse
        checkout
        close the connection "keep alive"
        the lines that match /retry_\\w+/
        what calls unknown words here
    """,
    # Prose with a name that symbols bear: all lanes.
    "mixed": """
        where does parse_cookie split the header => parse_cookie
        how does `Session` expire => Session
        fix the timeout in retry_with_backoff => retry_with_backoff
        raise HTTPServerError when the upstream is gone => HTTPServerError
        Return to_json of every object in the list. => to_json
        Convert a list to a numpy.array of floats. => numpy.array
        why is getUserName slow lang:python => getUserName
        is MAX_SIZE large enough for uploads => MAX_SIZE
        Session.close() hangs on windows => Session.close
        difference between parse_cookie and getUserName => parse_cookie getUserName
    """,
    "pattern": """
        /retry_\\w+\\(/
        "connection reset by peer"
        "keep alive" lang:go
        /TODO|FIXME/i path:src/**
        "one" OR "two"
    """,
    "filter": """
        lang:go
        kind:class path:src/**
        -lang:python kind:method
        sym:Session.*
    """,
}
ROWS = [(kind, query, seeds) for kind, text in QUESTIONS.items() for query, seeds in table(text)]


@pytest.mark.parametrize(("kind", "query", "seeds"), ROWS, ids=[query for _, query, _ in ROWS])
def test_a_question_gets_its_plan(kind, query, seeds):
    made = plan(query)
    assert made.kind == kind, made.reason
    assert (made.lanes, made.fusion) == ANSWERED[kind]
    assert made.seeds == seeds
    assert made.reason and "\n" not in made.reason


@pytest.mark.parametrize("query", ["no_such_name", "np.linalg.norm", "$scope.apply", "get_no_such lang:go"])
def test_a_name_that_nothing_bears_is_looked_for_by_meaning_too(query):
    made = plan(query)
    assert (made.kind, made.lanes, made.fusion, made.seeds) == ("mixed", PLANNED_LANES[:2], "blend", ())
    assert made.unknown == query.split()[0]
    assert plan(query, has_vectors=False).lanes == ("keyword",)


def test_the_keyword_lane_is_asked_about_the_symbol_not_with_the_question():
    assert plan("what calls parse_cookie in this repo").text == "parse_cookie"
    assert plan("call path from main to parse_cookie").text == "main parse_cookie"
    assert plan("what calls the function that parses cookies").text == "the function that parses cookies"
    assert plan("who calls for help").text == "who calls for help"


def test_filters_stay_in_force_in_every_plan():
    for query in ("what calls parse_cookie", "parse_cookie", "how are sessions removed", "/x/", ""):
        asked = f"{query} lang:go path:src/**"
        assert plan(asked).constraint == plan(request("lang:go path:src/**")).constraint or query == "/x/"
        assert "lang" not in plan(asked).text and "path" not in plan(asked).text
    assert plan(request("parse_cookie", filters="lang:go")).constraint is not None


# What is there


@pytest.mark.parametrize(("kind", "query", "seeds"), ROWS, ids=[query for _, query, _ in ROWS])
def test_without_vectors_no_plan_needs_them(kind, query, seeds):
    made = plan(query, has_vectors=False)
    lanes, _ = ANSWERED[kind]
    assert made.kind == kind and made.seeds == seeds
    assert made.lanes == tuple(lane for lane in lanes if lane != "embedding")
    assert bool(made.fusion) is (len(made.lanes) > 1) and made.fusion != "blend"


@pytest.mark.parametrize(("kind", "query", "seeds"), ROWS, ids=[query for _, query, _ in ROWS])
def test_in_a_corpus_no_plan_needs_a_graph(kind, query, seeds):
    made = plan(query, has_graph=False)
    assert "graph" not in made.lanes and made.structural is None and made.kind != "structure"
    # A question about structure becomes one about meaning.
    assert ("embedding" in made.lanes) is (kind in ("structure", "prose", "mixed"))
    both = plan(query, has_graph=False, has_vectors=False)
    assert both.lanes == (("keyword",) if kind != "pattern" else ()) and both.fusion == ""


# What was asked for instead


@pytest.mark.parametrize(
    ("mode", "lanes"),
    [
        ("keyword", ("keyword",)),
        ("tfidf", ("tfidf",)),
        ("symbol", ("keyword",)),
        ("embedding", ("embedding",)),
        ("hybrid", ("keyword", "embedding")),
        ("graph", ("graph",)),
    ],
)
@pytest.mark.parametrize("query", ["getUserName", "how are sessions removed", "what calls parse_cookie"])
def test_a_mode_overrides_the_plan(query, mode, lanes):
    made = plan(request(query, mode=mode))
    assert (made.mode, made.lanes, made.kind) == (mode, lanes, "forced")
    assert bool(made.seeds) is (mode == "graph" and query != "how are sessions removed")


def test_a_forced_graph_knows_the_relation():
    made = plan(request("what calls parse_cookie", mode="graph"))
    assert (made.structural.relation, made.seeds) == ("callers", ("parse_cookie",))
    assert plan(request("call path from main to render", mode="graph")).seeds == ("main", "render")
    assert plan(request("parse", mode="graph")).seeds == ("parse",)


@pytest.mark.parametrize("query", ["getUserName", "how are sessions removed", "what calls parse_cookie"])
@pytest.mark.parametrize(
    "lanes",
    [
        ("keyword",),
        ("embedding",),
        ("graph",),
        ("keyword", "embedding"),
        ("keyword", "graph"),
        ("embedding", "graph"),
        ("tfidf",),
        ("tfidf", "embedding"),
        LANE_ORDER,
    ],
)
def test_lanes_override_the_plan(query, lanes):
    made = plan(request(query, lanes=lanes))
    assert (made.lanes, made.kind) == (lanes, "forced")
    assert bool(made.fusion) is (len(lanes) > 1)
    assert plan(request(query, lanes=lanes, mode="keyword")).lanes == lanes


@pytest.mark.parametrize("fusion", [each for each in FUSIONS if each != "auto"])
@pytest.mark.parametrize(("kind", "query", "seeds"), ROWS[::7], ids=[query for _, query, _ in ROWS[::7]])
def test_a_fusion_overrides_the_plan_where_there_is_something_to_fuse(kind, query, seeds, fusion):
    made = plan(request(query, fusion=fusion))
    lanes, _ = ANSWERED[kind]
    assert made.lanes == lanes and made.fusion == (_fusion(made.kind, fusion) if len(lanes) > 1 else "")


@pytest.mark.parametrize("text", ["telepathy", "keyword,telepathy", "keyword,", ",", "Keyword", []])
def test_unknown_lanes_are_an_error(text):
    with pytest.raises((DowseError, ValueError), match="keyword, tfidf, embedding, graph"):
        parse_lanes(text)


# Weights


def _fusion(kind: str, wanted: str) -> str:
    """What is used: only one way keeps the graph's answer to a question of structure whole."""
    return "weighted" if kind == "structure" else wanted


def test_prose_leans_to_meaning_and_names_do_not():
    prose, mixed = (
        lane_weights(plan(query), "adaptive")
        for query in ("how are sessions removed", "how does `parse` work")
    )
    assert prose["embedding"] > prose["keyword"] and mixed["embedding"] == mixed["keyword"]
    assert lane_weights(plan("how does `parse` work"), "weighted") == prose
    structure, name = (
        lane_weights(plan(query), "weighted") for query in ("what calls parse_cookie", "parse_cookie")
    )
    assert structure["graph"] > structure["keyword"] and name["graph"] < name["keyword"]


# Properties

PLAIN = st.from_regex(r"[a-z]{2,9}", fullmatch=True) | st.sampled_from(
    "what who calls uses the a function that of parse from to where is used breaks if changes return".split()
)
CODE = st.one_of(
    st.from_regex(r"[a-z]{1,6}_[a-z]{1,6}", fullmatch=True),
    st.from_regex(r"[a-z]{2,6}[A-Z][a-z]{2,6}", fullmatch=True),
    st.from_regex(r"[a-z]{2,6}\.[a-z]{2,6}", fullmatch=True),
    st.from_regex(r"`[a-z]{2,8}`", fullmatch=True),
    st.from_regex(r"[a-z]{2,8}\(\)", fullmatch=True),
)


@given(st.lists(PLAIN, min_size=2, max_size=12), CODE, st.data(), st.booleans(), st.booleans())
def test_prose_with_a_name_in_it_keeps_its_meaning(words, code, data, known, has_graph):
    """Only a whole question about structure does without; half of all docstrings have such a word."""
    words.insert(data.draw(st.integers(0, len(words))), code)
    text = " ".join(words) + data.draw(st.sampled_from(["", ".", "?"]))
    made = make_plan(text, lambda _: known, has_graph=has_graph)
    if made.kind == "structure":
        assert has_graph and parse_structural(text, lambda _: known) is not None
    else:
        assert made.kind == "mixed" and "embedding" in made.lanes and made.fusion == "blend"
        assert ("graph" in made.lanes) is (has_graph and known)


@given(st.text(max_size=80), st.booleans(), st.booleans(), st.booleans())
def test_every_text_has_one_plan_or_says_why_not(text, known, has_vectors, has_graph):
    def make() -> Plan:
        return make_plan(text, lambda _: known, has_vectors=has_vectors, has_graph=has_graph)

    try:
        made = make()
    except QueryError as error:
        assert str(error)
        return
    assert made == make()
    assert made.lanes == tuple(lane for lane in LANE_ORDER if lane in made.lanes)
    assert made.lanes or made.kind == "pattern"
    assert has_vectors or "embedding" not in made.lanes
    assert has_graph or "graph" not in made.lanes
    assert bool(made.fusion) is (len(made.lanes) > 1)
