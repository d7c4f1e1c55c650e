"""A text never costs more than was allowed, and says what it leaves out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.interfaces.mcp.arguments import (
    SEARCH_MODEL,
    CallsArguments,
    ContextArguments,
    RelatedArguments,
    SymbolArguments,
)
from dowse.interfaces.mcp.budget import allocate_lines, truncate
from dowse.interfaces.mcp.context_tool import context
from dowse.interfaces.mcp.hits import Snippet
from dowse.interfaces.mcp.reply import Reply, ToolContext
from dowse.interfaces.mcp.repositories import Repositories, Repository
from dowse.interfaces.mcp.search_tools import related, search
from dowse.interfaces.mcp.symbol_tools import calls, symbol
from dowse.services.calls import Call
from dowse.token_estimate import estimate_tokens

BUDGETS = st.integers(300, 3_000)
DETAILS = st.sampled_from(["names", "snippets", "full"])
QUERIES = ["bake bread", "/def/", "what calls bake", "a" * 3_000, "kind:class", "größe ☃ 面包", "zzzz qqqq"]


def within(reply: Reply, max_tokens: int) -> None:
    assert estimate_tokens(reply.text) <= max_tokens, reply.text


@settings(max_examples=60)
@given(st.sampled_from(QUERIES), BUDGETS, DETAILS, st.integers(1, 40))
def test_searches_keep_to_the_token_budget(
    served: Repository, query: str, max_tokens: int, detail: str, k: int
) -> None:
    arguments = SEARCH_MODEL(query=query, max_tokens=max_tokens, detail=detail, k=k)
    within(search(ToolContext([served], Call()), arguments), max_tokens)


@settings(max_examples=40)
@given(st.data(), BUDGETS, DETAILS)
def test_symbols_and_graph_answers_keep_to_the_token_budget(
    served: Repository, data: st.DataObject, max_tokens: int, detail: str
) -> None:
    rows = [row for row in served.index.symbols() if row.row]
    row = data.draw(st.sampled_from(rows))
    target, asked = f"{row.path}:{row.start_line}", ToolContext([served], Call())
    budget = {"symbol": target, "max_tokens": max_tokens}
    within(symbol(asked, SymbolArguments(**budget, detail=detail)), max_tokens)
    within(related(asked, RelatedArguments(**budget, detail=detail, k=30)), max_tokens)
    for relation in ("callers", "callees", "impact"):
        within(calls(asked, CallsArguments(**budget, relation=relation)), max_tokens)


@pytest.mark.parametrize("max_tokens", [300, 2_000])
def test_context_keeps_to_the_token_budget(served: Repository, max_tokens: int) -> None:
    reply = context(ToolContext([served], Call()), ContextArguments(text="bake bread", max_tokens=max_tokens))
    within(reply, max_tokens)
    assert "rank 1" in reply.text


def test_more_budget_shows_no_fewer_hits(served: Repository) -> None:
    asked = ToolContext([served], Call())
    texts = [
        search(asked, SEARCH_MODEL(query="bread", max_tokens=tokens, detail="names", k=50)).text
        for tokens in (300, 600, 1_200, 6_000)
    ]
    shown = [len(re.findall(r"^\d+\. ", text, re.MULTILINE)) for text in texts]
    assert shown == sorted(shown) and shown[0] < shown[-1]


def test_omitted_hits_are_noted(served: Repository) -> None:
    asked = ToolContext([served], Call())
    reply = search(asked, SEARCH_MODEL(query="bread", max_tokens=300, k=50))
    assert re.search(r"\n\(more: offset=\d\)$", reply.text)
    row = next(row for row in served.index.symbols() if row.row and row.kind == "function")
    target = f"{row.path}:{row.start_line}"
    reply = related(asked, RelatedArguments(symbol=target, k=30, max_tokens=300))
    assert "more hits did not fit: raise max_tokens" in reply.text


def test_the_best_hits_are_paid_first() -> None:
    def cost(_: int, count: int) -> int:
        return 2 + count

    assert allocate_lines([0, 0, 0], [10, 10, 10], 30, cost) == [10, 10, 4]
    assert allocate_lines([2, 2, 2], [10, 10, 10], 30, cost) == [10, 10, 4]
    assert allocate_lines([0, 0, 0], [10, 10, 10], 30, cost, [2, 0, 1]) == [10, 4, 10]
    assert allocate_lines([5], [5], 6, cost) == [4]


def test_beginnings_of_later_hits_leave_half_of_a_small_budget_to_the_best() -> None:
    def cost(_: int, count: int) -> int:
        return 20 + 10 * count

    # Of 400, half is for beginnings of 70 each, cut at the third hit; the first gets the other half.
    assert allocate_lines([5] * 9, [30, *[5] * 8], 160 + 400, cost) == [25, 5, 4]
    assert allocate_lines([5] * 9, [5] * 9, 160 + 400, cost) == [5, 5, 5, 5, 5, 3]


def test_bytes_for_the_note_are_kept_only_if_something_is_omitted() -> None:
    def cost(_: int, count: int) -> int:
        return 50 + count

    assert allocate_lines([5, 5], [5, 5], 110, cost) == [5, 5]
    assert allocate_lines([5, 5], [5, 5], 109, cost) == [5, 4]
    assert allocate_lines([5, 5, 5], [5, 5, 5], 110, cost) == []


def test_snippets_are_cut_around_the_telling_lines() -> None:
    lines = [(number, f"line {number}") for number in range(1, 30)]
    lines[20] = (21, "the expired session is removed")
    snippet = Snippet(lines, frozenset(["expir", "session", "remov"]))
    assert snippet.select(3)[0] == lines[0] and lines[20] in snippet.select(3)
    assert snippet.select(0) == [] and snippet.select(1) == lines[:1] and snippet.select(100) == lines
    assert Snippet(lines).select(4) == lines[:4]


@pytest.mark.parametrize("text", ["x" * 900, "☃" * 300, "a☃" * 200])
def test_the_last_resort_cuts_between_characters(text: str) -> None:
    cut = truncate(text, 100)
    assert estimate_tokens(cut) <= 100 and cut.endswith("…") and text.startswith(cut[:-1])


def test_estimates_are_a_third_of_the_bytes() -> None:
    assert [estimate_tokens(text) for text in ("", "a", "abc", "abcd", "面包", "\ud800")] == [
        0,
        1,
        1,
        2,
        2,
        1,
    ]


def test_a_long_documentation_keeps_to_the_budget(tmp_path: Path) -> None:
    said = "\n".join(f"    Line {number} of what it does." for number in range(200))
    (tmp_path / "a.py").write_text(f'def told():\n    """Do it.\n\n{said}\n    """\n')
    repository = Repositories({"refresh": "never", "encoder": "none"}).open([tmp_path])[0]
    repository.index.update()
    reply = symbol(
        ToolContext([repository], Call()), SymbolArguments(symbol="told", detail="names", max_tokens=300)
    )
    within(reply, 300)
    assert "Do it." in reply.text
