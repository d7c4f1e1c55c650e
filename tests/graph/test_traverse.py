"""Breadth-first search against brute force: what is reached, its distance, and a stable order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from dowse.graph import traverse
from dowse.graph.reachability import reach, shortest_path
from dowse.graph.traverse import breadth_first_search
from dowse.search.lanes.graph import graph_lane, neighbour_lane, relation_lane
from dowse.types import Edge
from graph.memory_graph import MemoryGraph, edge, symbol

KINDS = ("calls", "uses", "extends")
NODES = 12


@st.composite
def graphs(draw: st.DrawFn) -> list[Edge]:
    ends = st.integers(1, NODES)
    confidence = st.sampled_from([("resolved", 1), ("unique", 1), ("ambiguous", 3)])
    one = st.tuples(ends, ends, st.sampled_from(KINDS), confidence, st.integers(1, 5))
    drawn = draw(st.lists(one, max_size=40))
    return [edge(a, b, kind, *sure, line=line) for a, b, kind, sure, line in drawn]


def graph_of(edges: Iterable[Edge]) -> MemoryGraph:
    return MemoryGraph([symbol(row) for row in range(1, NODES + 1)], edges)


def distances(
    edges: Sequence[Edge], seeds: Sequence[int], kinds: Sequence[str], incoming: bool, depth: int
) -> dict[int, int]:
    """Return how far each node is, by trying every edge again until nothing changes."""
    away = dict.fromkeys(seeds, 0)
    pairs = [(e.target, e.source) if incoming else (e.source, e.target) for e in edges if e.kind in kinds]
    changed = True
    while changed:
        changed = False
        for near, far in pairs:
            if near in away and away[near] < depth and away[near] + 1 < away.get(far, depth + 1):
                away[far] = away[near] + 1
                changed = True
    return {row: hops for row, hops in away.items() if hops}


questions = st.tuples(
    st.lists(st.integers(1, NODES), min_size=1, max_size=3, unique=True),
    st.lists(st.sampled_from(KINDS), min_size=1, unique=True),
    st.booleans(),
    st.integers(1, 6),
)


@given(graphs(), questions)
def test_a_search_reaches_what_brute_force_reaches(edges, question):
    seeds, kinds, incoming, depth = question
    graph = graph_of(edges)
    traversal = breadth_first_search(graph, graph.rows(seeds), kinds, incoming, depth)
    expected = distances(edges, seeds, kinds, incoming, depth)
    assert {step.symbol.row: step.depth for step in traversal.reached} == expected
    assert not traversal.is_truncated and not traversal.unfollowed
    hops = [step.depth for step in traversal.reached]
    assert hops == sorted(hops)


@given(graphs(), questions)
def test_every_step_has_the_one_before_it_as_parent(edges, question):
    seeds, kinds, incoming, depth = question
    graph = graph_of(edges)
    traversal = breadth_first_search(graph, graph.rows(seeds), kinds, incoming, depth)
    away = dict.fromkeys(seeds, 0)
    for step in traversal.reached:
        assert away[step.parent] == step.depth - 1
        for found in step.edges:
            near, far = (found.target, found.source) if incoming else (found.source, found.target)
            assert (near, far) == (step.parent, step.symbol.row) and found.kind in kinds
        away[step.symbol.row] = step.depth
    everything = {*seeds, *away}
    between = {
        e._replace(file_id=0)
        for e in edges
        if e.kind in kinds and e.source in everything and e.target in everything
        and away[e.target if incoming else e.source] < depth
    }  # fmt: skip
    assert {found._replace(file_id=0) for found in traversal.edges} == between


@given(graphs(), questions, st.randoms(use_true_random=False))
def test_the_order_of_edges_changes_nothing(edges, question, random):
    seeds, kinds, incoming, depth = question
    shuffled = random.sample(edges, len(edges))
    one, other = graph_of(edges), graph_of(shuffled)
    assert (
        breadth_first_search(one, one.rows(seeds), kinds, incoming, depth).reached
        == breadth_first_search(other, other.rows(seeds), kinds, incoming, depth).reached
    )
    lanes = [graph_lane(graph, seeds, kinds, incoming, depth, 100) for graph in (one, other)]
    assert lanes[0] == lanes[1]
    assert neighbour_lane(one, seeds, 100) == neighbour_lane(other, seeds, 100)


@given(graphs(), questions, st.integers(1, 8))
def test_the_lane_gives_the_nearest_first(edges, question, limit):
    seeds, kinds, incoming, depth = question
    found = graph_lane(graph_of(edges), seeds, kinds, incoming, depth, limit)
    expected = distances(edges, seeds, kinds, incoming, depth)
    assert len(found.rows) == len(found.scores) == len(found.details) == min(limit, len(expected))
    hops = [expected[row] for row in found.rows]
    assert hops == sorted(hops)
    assert list(found.scores) == sorted(found.scores, reverse=True)
    assert all(0 < score <= 1 for score in found.scores)


@given(graphs(), st.lists(st.integers(1, NODES), min_size=1, max_size=2, unique=True), st.integers(1, 20))
def test_neighbours_are_users_first_then_what_is_used(edges, seeds, limit):
    found = neighbour_lane(graph_of(edges), seeds, limit)
    into = set(distances(edges, seeds, KINDS, True, 1))
    out = set(distances(edges, seeds, KINDS, False, 1)) - into
    assert len(found.rows) == min(limit, len(into) + len(out))
    assert set(found.rows[: len(into)]) <= into and set(found.rows[len(into) :]) <= out
    assert list(found.scores) == sorted(found.scores, reverse=True)


def test_sure_references_come_before_guesses_and_many_before_few():
    graph = graph_of(
        [
            edge(2, 1, confidence="ambiguous", candidates=2),
            edge(3, 1, confidence="unique"),
            edge(4, 1),
            edge(5, 1, line=1),
            edge(5, 1, line=2),
        ]
    )
    assert graph_lane(graph, [1], ("calls",), True, 1, 10).rows == (5, 4, 3, 2)
    traversal = breadth_first_search(graph, graph.rows([1]), ("calls",), True, 1)
    assert [step.symbol.row for step in traversal.reached] == [4, 5, 3, 2]


ROLES = {"": 0, "example": 1, "vendored": 1, "test": 2}


@given(graphs(), st.lists(st.sampled_from(sorted(ROLES)), min_size=NODES, max_size=NODES))
def test_code_comes_before_tests_however_certain(edges, roles):
    symbols = [symbol(row, role=role) for row, role in enumerate(roles, 1)]
    graph = MemoryGraph(symbols, [each for each in edges if each.kind == "calls"])
    traversal, _ = reach(graph, "callers", graph.rows([1]), 3)
    order = {step.symbol.row: (step.depth, ROLES[step.symbol.role]) for step in traversal.reached}
    assert list(order.values()) == sorted(order.values())
    # A search for "what calls f1" lists them in the same order of roles.
    lane = relation_lane(graph, "callers", [1], 3, 100)
    assert sorted(lane.rows) == sorted(order)
    assert [order[row] for row in lane.rows] == sorted(order.values())
    assert list(lane.scores) == sorted(lane.scores, reverse=True)


def test_a_lane_says_why():
    graph = graph_of(
        [edge(2, 1, line=7), edge(2, 1, line=9), edge(3, 1, confidence="ambiguous", candidates=4)]
    )
    found = graph_lane(graph, [1], ("calls",), True, 1, 10)
    assert found.details == (
        "calls f1 in line 7, resolved, 2 references",
        "calls f1 in line 1, one of 4 possible",
    )
    assert graph_lane(graph, [2], ("calls",), False, 1, 10).details == (
        "f2 calls f1 in line 7, resolved, 2 references",
    )


def test_a_search_ends_at_its_limit(monkeypatch):
    graph = graph_of([edge(row, 1) for row in range(2, 8)])
    traversal = breadth_first_search(graph, graph.rows([1]), ("calls",), True, 1, limit=3)
    assert len(traversal.reached) == 3 and traversal.is_truncated
    monkeypatch.setattr(traverse, "EDGES_PER_HOP", 4)
    assert breadth_first_search(graph, graph.rows([1]), ("calls",), True, 1).is_truncated


@given(graphs(), st.integers(1, NODES), st.integers(1, NODES), st.integers(1, 6))
def test_a_path_is_as_short_as_brute_force_finds(edges, start, end, depth):
    graph = graph_of(edges)
    kinds = ("calls", "uses")
    path = shortest_path(graph, graph.rows([start]), graph.rows([end]), depth)
    sure = distances([e for e in edges if e.confidence != "ambiguous"], [start], kinds, False, depth)
    every = distances(edges, [start], kinds, False, depth)
    assert path.is_certain == (end in sure) and len(path.steps) == sure.get(end, every.get(end, 0))
    at = start
    for step in path.steps:
        assert step.parent == at
        at = step.symbol.row
    assert at == end or not path.steps


def test_the_lane_of_a_relation_knows_types_and_dispatch():
    symbols = [
        symbol(1, "Base", kind="class"),
        symbol(2, "Base.run", kind="method"),
        symbol(3, "Child", kind="class"),
        symbol(4, "Child.run", kind="method"),
        symbol(5, "drive"),
        symbol(6, "go"),
        symbol(7, "guess"),
    ]
    edges = [
        edge(3, 1, "extends"),
        edge(5, 2, line=50),
        edge(6, 4, line=60),
        edge(7, 4, confidence="ambiguous", candidates=9),
    ]
    graph = MemoryGraph(symbols, edges)
    found = relation_lane(graph, "callers", [4], 2, 10)
    assert found.rows == (6, 5, 7)
    assert found.details[1] == "calls Base.run in line 50, resolved, may mean Child.run"
    assert relation_lane(graph, "impact", [1], 1, 10).rows == (3, 5)
    assert relation_lane(graph, "implementers", [2], 1, 10).rows == (4,)
