"""Several lanes, one answer: on a small real index, with lanes here and in processes of their own."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse import Answer, DowseError, Hit, Index
from dowse.config import CLUSTERINGS, FUSIONS
from dowse.errors import QueryError
from dowse.search.lanes.jobs import LANES, InlineLanes, Lane, LaneJob, LaneRunner, Outcome
from dowse.search.options import PLANNED_LANES, SearchRequest
from dowse.search.pipeline import search
from dowse.search.ranking.profile import TREE
from search.requests import request

from helpers import json_lines, write_tree

# Only for what must answer: a loaded machine may take its time.
LONG = 60.0
FILES = {
    "shop/cart.py": '''"""The cart of a customer."""

from shop.prices import add_tax, round_price


class Cart:
    """What a customer wants to buy."""

    def __init__(self):
        self.items = []

    def add_item(self, item, count=1):
        """Put an article into the cart."""
        self.items.append((item, count))

    def total(self):
        """Return what everything costs together, with tax."""
        return round_price(add_tax(sum(item.price * count for item, count in self.items)))


def empty_cart(cart):
    """Throw everything out again."""
    cart.items.clear()
''',
    "shop/prices.py": '''"""Money."""

RATE = 0.19


def add_tax(amount):
    """Add the value added tax to a net amount."""
    return amount * (1 + RATE)


def round_price(amount):
    """Round to whole cents, halves up."""
    return int(amount * 100 + 0.5) / 100


def format_price(amount):
    """Write an amount as people read it, with a currency sign."""
    return f"{round_price(amount):.2f} €"
''',
    "shop/checkout.py": '''"""Paying."""

from shop.cart import Cart
from shop.prices import format_price, round_price


def checkout(cart, card):
    """Charge a card for what is in the cart and return a receipt."""
    amount = round_price(cart.total())
    charge_card(card, amount)
    return print_receipt(amount)


def charge_card(card, amount):
    """Take money from a credit card; a declined card is tried once more."""
    if not card.withdraw(amount):
        card.withdraw(amount)


def print_receipt(amount):
    """Return the text of a receipt."""
    return f"paid {format_price(amount)}"


def refund(card, amount):
    """Give money back to the customer."""
    card.deposit(round_price(amount))
''',
    "shop/shapes.py": '''"""Shapes to ship."""


class Shape:
    """Something that has an area."""

    def area(self):
        raise NotImplementedError


class Circle(Shape):
    """Round."""

    def __init__(self, radius):
        self.radius = radius

    def area(self):
        return 3.14159 * self.radius**2


class Square(Shape):
    """Four equal sides."""

    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side**2
''',
    "net/retry.py": '''"""Talking to unreliable servers."""

import time


def retry_with_backoff(action, attempts=5):
    """Call something until it works, waiting twice as long after each failure."""
    delay = 0.1
    for _ in range(attempts):
        try:
            return action()
        except OSError:
            time.sleep(delay)
            delay *= 2
    raise TimeoutError


def open_connection(host, port):
    """Open a socket to a server."""
    return retry_with_backoff(lambda: connect_once(host, port))


def connect_once(host, port):
    """Try to connect a single time."""
    raise OSError(f"{host}:{port}")


def parse_cookie_header(header):
    """Split a Cookie header into names and values."""
    return dict(pair.split("=", 1) for pair in header.split("; "))
''',
    "net/files.py": '''"""Files on disk."""

import json


def read_settings(path):
    """Load the configuration of the program from a JSON file."""
    with open(path) as file:
        return json.load(file)


def write_settings(path, settings):
    """Save the configuration."""
    with open(path, "w") as file:
        json.dump(settings, file)


def remove_old_files(folder, days):
    """Delete what was not touched for some days."""
    for file in folder.iterdir():
        if file.age > days:
            file.unlink()
''',
    "web/session.ts": """/** Keeps users logged in. */
export class SessionStore {
  /** Ends sessions that nobody used for a while. */
  expireSessions(now: number): void {
    this.sessions = this.sessions.filter((each) => each.until > now);
  }

  /** Starts a session for a user who typed the right password. */
  logIn(name: string, password: string): string {
    return this.open(checkPassword(name, password));
  }
}

/** Compares a password with the stored hash. */
export function checkPassword(name: string, password: string): string {
  return hashText(name + password);
}

export function hashText(text: string): string {
  let hash = 0;
  for (const letter of text) hash = hash * 31 + letter.charCodeAt(0);
  return String(hash);
}
""",
    "tools/route.go": """package tools

// ShortestRoute finds the quickest way between two stops.
func ShortestRoute(stops map[string][]string, from, to string) []string {
	return walkBack(visitAll(stops, from), to)
}

// visitAll walks breadth first.
func visitAll(stops map[string][]string, from string) map[string]string {
	return map[string]string{}
}

func walkBack(before map[string]string, to string) []string {
	return nil
}
""",
    "tests/test_cart.py": '''from shop.cart import Cart


def test_total_adds_tax():
    """The total of a cart holds the tax."""
    cart = Cart()
    assert cart.total() == 0
''',
}


PROSE = "wait longer after each failure"
MIXED = "where does add_tax change the amount"
NAME = "round_price"
STRUCTURE = "what calls round_price"
DESCRIBED = "what calls the function that rounds to cents"
QUERIES = [
    PROSE,
    MIXED,
    NAME,
    STRUCTURE,
    DESCRIBED,
    "pay with a card lang:python",
    'card "withdraw"',
    "lang:go",
]


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """The index of a small shop, embedded; lanes run here, one after another."""
    place = tmp_path_factory.mktemp("shop")
    root = write_tree(place / "shop", FILES)
    index = Index.open(
        root, index_dir=str(place / "index"), encoder="small", threads=1, isolation="never", refresh="never"
    )
    index.update()
    assert index.status()["symbols"] < 60
    return index


def reopened(index: Index, **changed: object) -> Index:
    """Return the same index with other settings."""
    return Index(index.root, replace(index.settings, **changed), type(index.backend)(index.backend.folder))


class FewCandidates(Index):
    """An index whose lanes return five candidates each."""

    def _answer(self, request: SearchRequest) -> Answer:
        with self.backend.reader() as reader:
            profile = replace(TREE, candidates=5)
            return search(reader, request, self.settings, encoder=self.encoder, profile=profile)


@pytest.fixture(scope="session")
def few(shop: Index) -> Index:
    """The same index with lanes that give few candidates."""
    return FewCandidates(shop.root, shop.settings, type(shop.backend)(shop.backend.folder))


@pytest.fixture(scope="module")
def apart(shop: Index) -> Iterator[Index]:
    """The same index with its lanes in processes of their own."""
    with reopened(shop, isolation="always", lane_seconds=LONG) as index:
        yield index


def names(answer: Answer) -> list[str]:
    return [hit.symbol.qualified_name for hit in answer.hits]


def assert_adds_up(answer: Answer) -> None:
    """Ranks count from one, scores fall, and what each is made of sums to it."""
    assert [hit.rank for hit in answer.hits] == list(range(1, len(answer.hits) + 1))
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)
    assert len({(hit.symbol.id, hit.symbol.path) for hit in answer.hits}) == len(answer.hits)
    assert answer.total_candidates >= len(answer.hits)
    for hit in answer.hits:
        values = [part.value for part in hit.explanation]
        size = sum(map(abs, values))
        assert sum(values) == pytest.approx(hit.score, abs=2e-3 * size), hit.explanation
        for lane in hit.lanes:
            assert lane.rank >= 1 and 0 <= lane.normalised <= 1


# Here, and in processes of their own


@pytest.mark.parametrize("mode", ["auto", "hybrid", "embedding", "keyword", "tfidf", "graph", "symbol"])
@pytest.mark.parametrize("query", [PROSE, MIXED, NAME, STRUCTURE, DESCRIBED])
def test_processes_answer_as_this_one_does(shop, apart, query, mode):
    one, other = (index.search(query, k=20, mode=mode, explain=True) for index in (shop, apart))
    assert names(one) == names(other)
    assert [hit.score for hit in other] == pytest.approx([hit.score for hit in one])
    assert (one.plan, one.notes, one.embedded) == (other.plan, other.notes, other.embedded)
    assert [(lane.lane, lane.found, lane.problem) for lane in one.lanes] == [
        (lane.lane, lane.found, lane.problem) for lane in other.lanes
    ]
    assert_adds_up(other)


@pytest.mark.parametrize("where", ["shop", "apart"])
def test_fifty_threads_get_equal_answers(where, request):
    index = request.getfixturevalue(where)
    expected = {query: index.search(query, k=8) for query in QUERIES}
    start = threading.Barrier(50)

    def ask(number: int) -> tuple[str, Answer]:
        query = QUERIES[number % len(QUERIES)]
        start.wait()
        return query, index.search(query, k=8)

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(ask, range(50)))
    for query, answer in answers:
        assert names(answer) == names(expected[query]) and answer.notes == expected[query].notes
        assert [hit.score for hit in answer] == pytest.approx([hit.score for hit in expected[query]])


# What auto does


def test_prose_is_answered_by_words_and_meaning(shop):
    answer = shop.search(PROSE, k=20)
    assert (answer.mode, answer.plan.kind, answer.plan.lanes) == ("hybrid", "prose", ("keyword", "embedding"))
    assert [lane.lane for lane in answer.lanes] == ["keyword", "embedding"]
    assert all(lane.found and not lane.problem for lane in answer.lanes)
    assert names(answer)[0] == "retry_with_backoff"
    assert {lane.lane for lane in answer.hits[0].lanes} == {"keyword", "embedding"}
    assert {"embedding", "keyword"} <= {part.source for part in answer.hits[0].explanation}


def test_a_name_in_prose_asks_all_lanes(shop):
    answer = shop.search(MIXED, k=30)
    assert (answer.plan.kind, answer.plan.seeds) == ("mixed", ("add_tax",))
    assert [lane.lane for lane in answer.lanes] == ["keyword", "embedding", "graph"]
    assert names(answer)[0] == "add_tax"
    caller = next(hit for hit in answer.hits if hit.symbol.qualified_name == "Cart.total")
    assert "calls add_tax" in next(lane.detail for lane in caller.lanes if lane.lane == "graph")


@pytest.mark.parametrize(
    "name",
    """add_item add_tax round_price format_price charge_card print_receipt retry_with_backoff Cart.total
    open_connection connect_once parse_cookie_header read_settings write_settings remove_old_files logIn
    expireSessions checkPassword hashText ShortestRoute visitAll walkBack `refund` `Shape`
    SessionStore""".split(),
)
def test_a_name_gives_its_definition_first(shop, name):
    answer = shop.search(name)
    assert answer.plan.kind == "name"
    plain = name.strip("`")
    assert plain in (answer.hits[0].symbol.name, answer.hits[0].symbol.qualified_name)
    assert answer.hits[0].symbol.kind != "module"


@pytest.mark.parametrize(
    ("query", "relation", "first"),
    [
        ("what calls round_price", "callers", {"Cart.total", "checkout", "refund", "format_price"}),
        ("who calls connect_once?", "callers", {"open_connection"}),
        ("subclasses of Shape", "subclasses", {"Circle", "Square"}),
        ("which classes extend Shape", "subclasses", {"Circle", "Square"}),
        ("what does checkout call", "callees", {"round_price", "charge_card", "print_receipt"}),
        ("what breaks if I change add_tax", "impact", {"Cart.total"}),
        ("what calls checkPassword lang:ts", "callers", {"SessionStore.logIn"}),
        ("callers of visitAll", "callers", {"ShortestRoute"}),
    ],
)
def test_a_question_of_structure_is_answered_by_the_graph_first(shop, query, relation, first):
    answer = shop.search(query, k=20)
    assert (answer.plan.kind, answer.plan.relation) == ("structure", relation)
    assert first <= set(names(answer)[: len(first) + 1])
    assert names(answer)[0] in first
    by_graph = ["graph" in {lane.lane for lane in hit.lanes} for hit in answer.hits]
    assert by_graph == sorted(by_graph, reverse=True)  # what only shares words comes behind
    assert_adds_up(answer)


def test_a_symbol_that_is_only_described(shop):
    described = shop.search(DESCRIBED)
    assert described.plan.kind == "structure" and described.plan.seeds == ()
    assert [note for note in described.notes if "round_price (shop/prices.py:" in str(note)]
    called = {"Cart.total", "checkout", "refund", "format_price"}
    assert set(names(described)[:4]) == set(names(shop.search(STRUCTURE))[:4]) == called


@pytest.mark.parametrize("where", ["path:shop/checkout.py", "path:tests/**", "-lang:python"])
def test_filters_are_for_the_answers_not_for_what_is_described(shop, where):
    answer = shop.search(f"{DESCRIBED} {where}")
    assert [note for note in answer.notes if str(note).startswith("taken for round_price ")]


def graph_ranks(answer: Answer) -> list[int]:
    return [lane.rank for hit in answer for lane in hit.lanes if lane.lane == "graph"]


def test_a_graph_that_answers_alone_keeps_its_order(shop):
    """Asked for by the mode, or left alone by the keyword lane."""
    for answer in (
        shop.search(STRUCTURE, mode="graph"),
        shop.search(STRUCTURE, lanes="graph"),
        ask(shop, with_faults(shop, keyword="raise_error"), STRUCTURE),
    ):
        assert len(answer.hits) > 4 and graph_ranks(answer) == sorted(graph_ranks(answer))


# Scores

OPTIONS = [
    {},
    {"explain": True},
    {"expand": True, "explain": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "+".join(options) or "plain")
@pytest.mark.parametrize("fusion", FUSIONS)
def test_contributions_add_up_in_every_fusion(few, fusion, options):
    for query in QUERIES:
        answer = few.search(query, k=30, fusion=fusion, **options)
        assert answer.hits, query
        assert_adds_up(answer)
        if fusion != "auto" and len(answer.plan.lanes) > 1:
            blends = "embedding" in answer.plan.lanes  # there is nothing to blend with otherwise
            used = fusion if fusion != "blend" or blends else "convex"
            assert answer.plan.fusion == (used if answer.plan.kind != "structure" else "weighted")


@pytest.mark.parametrize("lanes", ["keyword,graph", "embedding,graph", "keyword,embedding,graph"])
def test_lanes_that_were_asked_for(shop, lanes):
    answer = shop.search(MIXED, k=30, lanes=lanes)
    assert answer.plan.kind == "forced" and ",".join(answer.plan.lanes) == lanes
    assert {lane.lane for hit in answer for lane in hit.lanes} == set(lanes.split(","))
    assert_adds_up(answer)


@pytest.mark.parametrize("mode", ["auto", "hybrid", "embedding", "keyword"])
def test_fewer_answers_are_the_best_ones(shop, mode):
    for query in (PROSE, MIXED, NAME, STRUCTURE):
        every = names(shop.search(query, k=40, mode=mode))
        for k in (1, 3, 7):
            assert names(shop.search(query, k=k, mode=mode)) == every[:k]


@pytest.mark.parametrize("fusion", [name for name in FUSIONS if name != "intersection"])
def test_explaining_changes_nothing_else(shop, fusion):
    plain, explained = (shop.search(MIXED, fusion=fusion, explain=on) for on in (False, True))
    assert [(hit.symbol, hit.score) for hit in plain] == [(hit.symbol, hit.score) for hit in explained]
    assert any(part.source.startswith("keyword.") for part in explained.hits[0].explanation)


# Less, and more


def test_min_score_leaves_of_a_question_of_structure_what_the_graph_knows(shop):
    every = shop.search(STRUCTURE, k=40).hits
    known = [hit for hit in every if any(lane.lane == "graph" for lane in hit.lanes)]
    assert 0 < len(known) < len(every)
    answer = shop.search(STRUCTURE, k=40, min_score=0.5)
    assert [hit.symbol for hit in answer] == [hit.symbol for hit in known]


class Listening:
    """Runs lanes here, and keeps what they were asked."""

    def __init__(self, index: Index) -> None:
        self._lanes = InlineLanes(lambda: index.encoder)
        self.asked: list[LaneJob] = []

    def run(self, reader: object, jobs: Sequence[LaneJob], seconds: float) -> list[Outcome]:
        self.asked += jobs
        return self._lanes.run(reader, jobs, seconds)


def ask(index: Index, lanes: LaneRunner | None, text: str, **more: object) -> Answer:
    with index.backend.reader() as reader:
        return search(reader, request(text, **more), index.settings, lanes=lanes, encoder=index.encoder)


def test_an_expanded_query_goes_to_both_lanes_and_is_shown(shop):
    listening = Listening(shop)
    answer = ask(shop, listening, PROSE, expand=True, explain=True)
    added = answer.plan.expanded
    assert 0 < len(added) <= 5
    assert not set(added) & set(PROSE.split())
    first, again = listening.asked[:2], listening.asked[2:]
    assert [job.lane for job in first] == [job.lane for job in again] == ["keyword", "embedding"]
    assert {job.arguments["text"] for job in first} == {PROSE}
    assert {job.arguments["text"] for job in again} == {" ".join((PROSE, *added))}
    assert any(part.detail in added for hit in answer for part in hit.explanation)
    assert [lane.lane for lane in answer.lanes] == ["keyword", "embedding"]


# A corpus of functions


@pytest.fixture(scope="module")
def corpus(shop: Index, tmp_path_factory: pytest.TempPathFactory) -> Index:
    """The functions of the shop, each an entry of its own."""
    place = tmp_path_factory.mktemp("corpus")
    rows = [row for row in shop.symbols("*", 100) if row.kind in ("function", "method")]
    entries = [
        {"_id": row.key, "text": shop.contents.symbol(row).code, "language": row.language} for row in rows
    ]
    index = Index.open(
        json_lines(place / "corpus.jsonl", entries), index_dir=str(place / "i"), encoder="small", threads=1
    )
    index.update()
    return index


@pytest.mark.parametrize("query", [PROSE, MIXED, STRUCTURE, NAME, DESCRIBED])
@pytest.mark.parametrize("fusion", FUSIONS)
def test_a_corpus_has_no_graph_and_no_signals(corpus, query, fusion):
    answer = corpus.search(query, k=50, fusion=fusion, explain=True)
    assert "graph" not in answer.plan.lanes and answer.plan.kind != "structure"
    assert_adds_up(answer)
    sources = {part.source.partition(".")[0] for hit in answer for part in hit.explanation}
    assert sources <= {"keyword", "embedding", "coverage", "name", "signal"}
    signals = {part.source for hit in answer for part in hit.explanation} & {"signal.definition"}
    assert bool(signals) is (query == NAME)
    for k in (1, 4):
        assert names(corpus.search(query, k=k, fusion=fusion)) == names(answer)[:k]


# Filters

LANGS = {"python": ".py", "typescript": ".ts", "go": ".go"}
KINDS = ("function", "method", "class", "module")
PATHS = ("shop/**", "net/**", "web/**", "*.py", "tests/**")


@st.composite
def filters(draw: st.DrawFn) -> tuple[str, Callable[[Hit], bool]]:
    """A filter as it is written, and what it means."""
    kind = draw(st.sampled_from(["lang", "path", "kind"]))
    value = draw(st.sampled_from({"lang": sorted(LANGS), "path": PATHS, "kind": KINDS}[kind]))
    negated = draw(st.booleans())

    def holds(hit: Hit) -> bool:
        symbol = hit.symbol
        if kind == "lang":
            return symbol.path.endswith(LANGS[value])
        return fnmatch(symbol.path, value) if kind == "path" else symbol.kind == value

    return f"{'-' if negated else ''}{kind}:{value}", lambda hit: holds(hit) is not negated


def name_of(wanted: tuple[str, object]) -> str:
    return wanted[0].lstrip("-").partition(":")[0]


@pytest.mark.parametrize(
    ("query", "options"),
    [
        (PROSE, {}),
        ("card", {}),
        (PROSE, {"expand": True}),
        (PROSE, {"mode": "embedding"}),
        (MIXED, {"mode": "hybrid"}),
        (MIXED, {"mode": "keyword"}),
        (NAME, {"mode": "symbol"}),
        (MIXED, {"lanes": "keyword,embedding", "fusion": "intersection"}),
        ('"return"', {}),
        (NAME, {}),
        (MIXED, {}),
        (STRUCTURE, {}),
        (STRUCTURE, {"mode": "graph"}),
    ],
)
@settings(max_examples=25)
@given(wanted=st.lists(filters(), min_size=1, max_size=2, unique_by=name_of))
def test_filters_hold_for_every_hit(shop, query, options, wanted):
    written = " ".join(text for text, _ in wanted)
    for answer in (
        shop.search(f"{query} {written}", **{"k": 50, **options}),
        shop.search(query, filters=written, **{"k": 50, **options}),
    ):
        assert all(holds(hit) for hit in answer for _, holds in wanted)


# Lanes that fail


def with_faults(index: Index, **faults: str) -> InlineLanes:
    """Return what runs lanes here, some of them replaced by lanes that go wrong."""
    bad = {name: Lane(f"search.lanes.faults:{fault}") for name, fault in faults.items()}
    return InlineLanes(lambda: index.encoder, {**LANES, **bad})


@pytest.mark.parametrize("options", [{}, {"expand": True}], ids=str)
@pytest.mark.parametrize("bad", ["keyword", "embedding", "graph"])
def test_a_lane_that_fails_is_left_out_and_named(shop, bad, options):
    answer = ask(shop, with_faults(shop, **{bad: "raise_error"}), MIXED, **options)
    assert f"left out: {bad}: RuntimeError: boom" in map(str, answer.notes)
    problems = {lane.lane: lane.problem for lane in answer.lanes}
    assert problems == {**dict.fromkeys(PLANNED_LANES, ""), bad: f"{bad}: RuntimeError: boom"}
    assert answer.hits and {lane.lane for hit in answer for lane in hit.lanes} == set(PLANNED_LANES) - {bad}
    assert_adds_up(answer)


def test_with_nobody_left_there_is_no_answer(shop):
    lanes = with_faults(shop, keyword="raise_error", embedding="raise_error", graph="raise_error")
    for query in (PROSE, MIXED, NAME, STRUCTURE, DESCRIBED):
        with pytest.raises(DowseError, match="boom"):
            ask(shop, lanes, query)


def test_a_mistake_is_everybodys(shop):
    for lane in PLANNED_LANES:
        with pytest.raises(DowseError, match="name another"):
            ask(shop, with_faults(shop, **{lane: "mistake"}), MIXED)
        with pytest.raises(QueryError, match="unbalanced"):
            ask(shop, with_faults(shop, **{lane: "wrong_query"}), MIXED)


# An index that moves on


class Busy:
    """Lanes of an index that somebody updates while they are asked."""

    def __init__(self, index: Index, times: int) -> None:
        self._index, self._lanes, self._times = index, index.internals.lanes, times
        self.updates = 0

    def run(self, reader: object, jobs: Sequence[LaneJob], seconds: float) -> list[Outcome]:
        if self.updates < self._times:
            self.updates += 1
            write_tree(self._index.root, {f"more{self.updates}.py": f"def bake_more{self.updates}(): ...\n"})
            self._index.update()
        return self._lanes.run(reader, jobs, seconds)

    def close(self) -> None:
        self._lanes.close()


@pytest.fixture
def bakery(tmp_path: Path) -> Iterator[Index]:
    root = write_tree(tmp_path / "bakery", {"a.py": "def bake_bread(): ...\n"})
    with Index.open(root, index_dir=str(tmp_path / "index"), isolation="always", lane_seconds=LONG) as index:
        index.update()
        yield index


@pytest.mark.parametrize("times", [1, 5])
def test_a_search_goes_on_in_the_next_generation(bakery, times):
    """However often: in the end the lanes run on the reader's own generation."""
    before = bakery.search("bake").generation
    busy = bakery._lanes = Busy(bakery, times)
    answer = bakery.search("bake")
    assert busy.updates == min(times, 3)  # then it is no longer asked
    assert answer.generation == before + busy.updates
    expected = {"bake_bread", *(f"bake_more{n}" for n in range(1, busy.updates + 1))}
    assert expected == {hit.symbol.name for hit in answer if hit.symbol.kind == "function"}


# What is missing


def test_half_embedded_is_told(tmp_path):
    root = write_tree(tmp_path / "code", {"a.py": FILES["net/retry.py"]})
    index = Index.open(root, index_dir=str(tmp_path / "i"), encoder="small", threads=1)
    index.update(embed=False)
    none = index.search(PROSE, embed=False)
    assert none.plan.lanes == ("keyword", "embedding") and none.embedded.symbols == 0
    assert any(str(note).startswith("0 % of the symbols are embedded; `dowse index") for note in none.notes)
    index.vectors.embed()
    assert not any("embedded" in str(note) for note in index.search(PROSE).notes)
    write_tree(root, {"b.py": FILES["net/files.py"], "c.py": FILES["shop/prices.py"]})
    index.update(embed=False)
    half = index.search(PROSE, embed=False)
    assert half.plan.lanes == ("keyword", "embedding") and names(half)[0] == "retry_with_backoff"
    assert 0 < half.embedded.symbols < half.embedded.total
    (note,) = [note for note in half.notes if "embedded" in str(note)]
    assert str(note).endswith("`dowse index --encoder small` finishes it")
    assert not any("embedded" in str(note) for note in index.search("/retry/").notes)


def test_without_an_encoder_words_answer(shop):
    with reopened(shop, encoder="none") as index:
        for query in QUERIES:
            answer = index.search(query)
            assert answer.hits and "embedding" not in answer.plan.lanes and answer.embedded is None
            assert not any("embed" in str(note) for note in answer.notes)
            assert_adds_up(answer)
        for options in ({"mode": "embedding"}, {"mode": "hybrid"}, {"lanes": "embedding"}):
            with pytest.raises(DowseError, match="encoder"):
                index.search(PROSE, **options)


# Variety

WORDS = "round a price and add tax"


def test_diversified_answers_are_the_same_ones_in_another_order(shop: Index):
    usual, varied = (shop.search(WORDS, k=0, diversify=how) for how in ("", "mmr"))
    assert {hit.symbol.id for hit in varied} == {hit.symbol.id for hit in usual}
    assert [hit.symbol.id for hit in varied] != [hit.symbol.id for hit in usual]
    assert varied.hits[0].symbol == usual.hits[0].symbol
    assert [hit.score for hit in varied] == sorted((hit.score for hit in varied), reverse=True)
    assert_adds_up(varied)


@pytest.mark.parametrize("clustering", CLUSTERINGS)
@pytest.mark.parametrize("how", ["cluster", "sample"])
def test_clusters_change_the_order_alone_and_are_named(shop: Index, how: str, clustering: str):
    usual = shop.search(WORDS, k=0)
    varied = shop.search(WORDS, k=0, diversify=how, clustering=clustering)
    assert {hit.symbol.id for hit in varied} == {hit.symbol.id for hit in usual}
    assert [hit.score for hit in varied] == pytest.approx([hit.score for hit in usual])
    assert_adds_up(varied)
    said = [part.detail for hit in varied for part in hit.explanation if part.source == "diversity"]
    assert len(said) == len(varied.hits)
    assert all(
        re.match(r"cluster \d+ of \d+, \S.*: \d+ hits?, mean .*, was rank \d+$", each) for each in said
    )


def test_shares_are_of_a_page_and_deeper_pages_go_on_from_there(shop: Index, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("dowse.search.refine._CLUSTERS", 3)
    (page, deeper, unshared) = (
        [hit.symbol.id for hit in shop.search(WORDS, k=k, diversify="sample", page_size=each)]
        for k, each in ((4, 0), (8, 4), (8, 0))
    )
    assert deeper[:4] == page and len(set(deeper)) == 8
    assert deeper != unshared, "which shares out eight places"


@pytest.mark.parametrize("how", ["mmr", "cluster", "sample"])
@pytest.mark.parametrize("query", [STRUCTURE, "/def .*price/", "lang:cobol"])
def test_facts_and_single_answers_keep_their_order(shop: Index, query: str, how: str):
    usual, varied = (shop.search(query, diversify=each) for each in ("", how))
    assert varied == replace(usual, lanes=varied.lanes), "but for the time that lanes took"


@pytest.mark.parametrize("how", ["mmr", "cluster", "sample"])
def test_the_least_score_is_one_of_the_hit_itself(shop: Index, how: str):
    usual = shop.search(WORDS, k=0, mode="keyword")
    least = usual.hits[len(usual.hits) // 2].score
    strong = {hit.symbol.id for hit in usual if hit.score >= least}
    varied = shop.search(WORDS, k=0, mode="keyword", min_score=least, diversify=how)
    assert {hit.symbol.id for hit in varied} == strong
    assert min(hit.score for hit in varied) >= least
    none = shop.search(WORDS, mode="keyword", min_score=1e6, diversify=how)
    assert none.hits == () and len(none.notes) == 1


def test_without_vectors_it_is_told_that_nothing_is_known_to_be_alike(tmp_path: Path):
    root = write_tree(tmp_path / "shop", FILES)
    with Index.open(root, index_dir=str(tmp_path / "index"), encoder="small", isolation="never") as index:
        index.update(embed=False)
        for options in ({"diversify": "mmr"}, {"diversify": "sample", "clustering": "meaning"}):
            (note,) = index.search(WORDS, mode="keyword", **options).notes
            assert str(note).startswith("0 % of the symbols are embedded")
        assert index.search(WORDS, mode="keyword", diversify="sample").notes == ()
        assert index.search("/price/", diversify="mmr").notes == ()


def test_plain_text_is_words_and_nothing_else(shop: Index):
    with pytest.raises(QueryError):
        shop.search('the "price lang:nonsense')
    for name in ("go", "nonsense"):
        plain = shop.search(f'the "price lang:{name}', plain=True)
        words = shop.search(f"the price lang {name}")
        assert [hit.symbol.id for hit in plain] == [hit.symbol.id for hit in words]
