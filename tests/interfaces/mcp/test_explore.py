"""`explore`: every kind of question, within the budget, and no line twice in a conversation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.interfaces.mcp.arguments import ExploreArguments, LeanStatusArguments
from dowse.interfaces.mcp.explore_tool import explore
from dowse.interfaces.mcp.readiness import Call
from dowse.interfaces.mcp.reply import ToolContext
from dowse.interfaces.mcp.repositories import Repositories, Repository
from dowse.interfaces.mcp.shown_lines import Conversations, ShownLines
from dowse.interfaces.mcp.status_tool import status
from dowse.interfaces.mcp.tools import LEAN_TOOLS
from dowse.token_estimate import estimate_tokens
from mcp_clients import as_json, http, run, stdio

from helpers import write_tree

ASKS = [
    "bake bread",
    "/def/",
    "what calls bake",
    "bread",
    "src/x.py:1",
    "a" * 3_000,
    "größe ☃",
    "path:(",
    "~",
]


def conversation(repository: Repository) -> ToolContext:
    return ToolContext([repository], Call(), (), ShownLines())


def ask(context: ToolContext, text: str, **more: object) -> str:
    return explore(context, ExploreArguments(ask=text, **more)).text


def lines_of(text: str) -> list[tuple[str, str]]:
    """Return the lines of code of an answer, each with its file."""
    path, out = "", []
    for line in text.split("\n"):
        if heading := re.match(r"(?:\d+\. )?(\S+):\d+-\d+ ", line):
            path = heading[1]
        elif re.match(r"\d+  ", line):
            out.append((path, line))
    return out


@settings(max_examples=40)
@given(st.sampled_from(ASKS), st.integers(300, 3_000))
def test_answers_keep_to_the_budget(served: Repository, text: str, max_tokens: int) -> None:
    context = conversation(served)
    try:
        answer = ask(context, text, max_tokens=max_tokens)
    except Exception as error:  # a location that does not exist
        assert "src/x.py" in text and "src/x.py" in str(error)
    else:
        assert estimate_tokens(answer) <= max_tokens


def test_no_line_is_shown_twice_unless_asked(served: Repository) -> None:
    context = conversation(served)
    seen: list[tuple[str, str]] = []
    for text in ("bake bread", "bake bread", "oven bread dough", "bake", "bake bread"):
        seen += lines_of(ask(context, text, max_tokens=600))
    assert len(seen) > 20 and len(seen) == len(set(seen))
    again = lines_of(ask(context, "bake bread", max_tokens=600, again=True))
    assert again and set(again) <= set(seen)


def test_an_edited_line_is_shown_again(shop: Path) -> None:
    repositories = Repositories({"refresh": "never", "encoder": "none"})
    repository = repositories.open([shop])[0]
    repository.index.update()
    context = conversation(repository)
    assert "return cart.total(prices)" in ask(context, "checkout")
    assert "return cart.total(prices)" not in ask(context, "checkout")
    cart = shop / "shop" / "cart.py"
    cart.write_text(cart.read_text().replace("return cart.total(prices)", "return cart.total(prices) + 1"))
    repository.index.update()
    text = ask(context, "checkout")
    assert "return cart.total(prices) + 1" in text and "def checkout" not in text
    repositories.close()


def test_a_name_a_location_and_an_error_are_understood(shop: Path) -> None:
    repositories = Repositories({"refresh": "never", "encoder": "none"})
    repository = repositories.open([shop])[0]
    repository.index.update()
    by_name = ask(conversation(repository), "Cart.total")
    assert "Sum up what everything costs" in by_name and "called by (1)" in by_name
    assert ask(conversation(repository), "checkout()").count("def checkout") == 1
    by_location = ask(conversation(repository), "shop/cart.py:80", max_tokens=400)
    assert "80  " in by_location and "chapter_40 " not in by_location
    error = 'Traceback (most recent call last):\n  File "shop/cart.py", line 19, in checkout\nKeyError: 1\n'
    assert "def checkout" in ask(conversation(repository), error)
    assert "def checkout" in ask(conversation(repository), "pay for: a cart (")
    repositories.close()


def test_calls_between_the_hits_are_named_by_rank(tmp_path: Path) -> None:
    bodies = {
        "first.py": "from second import bake_middle\n\ndef bake_first():\n    return bake_middle()\n",
        "second.py": "from third import knead\n\ndef bake_middle():\n    return knead()\n",
        "third.py": "from fourth import bake_last\n\ndef knead():\n    return bake_last()\n",
        "fourth.py": "def bake_last():\n    return 1\n",
    }
    repositories = Repositories({"refresh": "never", "encoder": "none"})
    repository = repositories.open([write_tree(tmp_path / "bakery", bodies)])[0]
    repository.index.update()
    text = ask(conversation(repository), "bake first middle last -path:third.py")
    ranks = {name: rank for rank, name in re.findall(r"^(\d+)\. .* function (\w+)", text, re.MULTILINE)}
    (calls,) = [line for line in text.split("\n") if line.startswith("calls: ")]
    assert f"{ranks['bake_first']} → {ranks['bake_middle']}" in calls
    assert f"{ranks['bake_middle']} → knead (third.py:3) → {ranks['bake_last']}" in calls
    repositories.close()


def test_memory_is_bounded() -> None:
    shown = ShownLines(limit=10)
    shown.add(("r", "a.py"), [(number, "x") for number in range(25)])
    assert shown.unseen(("r", "a.py"), [(14, "x"), (15, "x"), (24, "y"), (24, "x")]) == [(14, "x"), (24, "y")]
    assert shown.unseen(("r", "b.py"), [(20, "x")]) == [(20, "x")]
    conversations = Conversations(limit=2)
    first = conversations.get("1")
    assert conversations.get("2") is not first and conversations.get("1") is first
    conversations.get("3")
    assert conversations.get("1") is first and conversations.get("2").unseen(("r",), [(1, "")])


def test_the_list_of_tools_is_small() -> None:
    tools = [
        tool.listing(name, structured=False).model_dump(mode="json", by_alias=True, exclude_none=True)
        for name, tool in LEAN_TOOLS.items()
    ]
    assert [tool["name"] for tool in tools] == ["explore", "status"]
    assert len(as_json({"tools": tools})) <= 1_600


def test_status_has_a_budget(served: Repository) -> None:
    reply = status(conversation(served), LeanStatusArguments(max_tokens=300))
    assert "symbols" in reply.text and estimate_tokens(reply.text) <= 300


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_lean_session(transport: str, shop: Path) -> None:
    async def session() -> None:
        arguments = (shop, "--lean", "--encoder", "none")
        server = stdio(*arguments, cwd=shop) if transport == "stdio" else http(*arguments, mode="legacy")
        async with server as dowse:
            assert [tool.name for tool in (await dowse.client.list_tools()).tools] == ["explore", "status"]
            assert "explore" in (dowse.client.instructions or "")
            first = await dowse.text("explore", ask="pay for a cart")
            second = await dowse.text("explore", ask="pay for a cart")
            assert "def checkout" in first and "def checkout" not in second and "shown before" in second
            assert "def checkout" in await dowse.text("explore", ask="pay for a cart", again=True)
            assert (await dowse.call("explore", ask="checkout")).structured_content is None

    run(session())
