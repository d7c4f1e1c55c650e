"""A whole session by the official client: both transports, both eras of the protocol."""

from __future__ import annotations

import asyncio
import contextlib
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp.shared.exceptions import MCPError

from dowse.token_estimate import estimate_tokens
from mcp_clients import Session, as_json, http, run, stdio, text_of

DEFAULT_TOOLS = ["search", "symbol", "calls", "context"]
TOOLS = [*DEFAULT_TOOLS, "related", "log", "status"]
WAYS = [("stdio", "legacy"), ("http", "auto")]


def opened(way: tuple[str, str], root: Path, **more: Any) -> contextlib.AbstractAsyncContextManager[Session]:
    """Start a server on a repository in one of the ways, by words and meaning."""
    transport, mode = way
    arguments = (root, "--encoder", "small", "--structured", "--all-tools")
    if transport == "http":
        return http(*arguments, mode=mode, **more)
    return stdio(*arguments, cwd=root, mode=mode, **more)


@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_a_full_session(way: tuple[str, str], shop: Path) -> None:
    async def session() -> None:
        async with opened(way, shop) as dowse:
            assert dowse.client.protocol_version == ("2025-11-25" if way[1] == "legacy" else "2026-07-28")
            assert dowse.client.server_info and dowse.client.server_info.name == "dowse"
            assert "search" in (dowse.client.instructions or "")
            await _lists_tools(dowse)
            await _first_call_indexes(dowse)
            await _each_tool(dowse)
            await _bad_calls(dowse)
            await _twenty_at_once(dowse)

    run(session())


async def _lists_tools(dowse: Session) -> None:
    tools = (await dowse.client.list_tools()).tools
    assert [tool.name for tool in tools] == TOOLS
    for tool in tools:
        assert tool.description and tool.annotations and tool.annotations.read_only_hint
        for schema in (tool.input_schema, tool.output_schema):
            assert schema and schema["type"] == "object"
            jsonschema.Draft202012Validator.check_schema(schema)
        described = [each.get("description") for each in tool.input_schema["properties"].values()]
        assert all(described), tool.name
    assert set(tools[0].input_schema["properties"]) >= {"query", "k", "mode", "plain", "lang"}


async def _first_call_indexes(dowse: Session) -> None:
    result = await dowse.call("search", query="pay for what is in the cart")
    assert "shop/cart.py:16-18 function checkout" in text_of(result)
    values = [progress for progress, _, _ in dowse.progress]
    assert values and values == sorted(values) and len(set(values)) == len(values) and values[-1] == 100
    assert any("indexing" in (message or "") for _, _, message in dowse.progress)


async def _each_tool(dowse: Session) -> None:
    # Vectors are saved before the embedding ends: until then, and while a later scan checks that nothing was
    # missed, an answer is not called complete.
    query = {"query": "pay for what is in the cart", "lang": "python", "k": 3}
    await dowse.until(lambda text: "by meaning" not in text and "note:" not in text, "search", **query)
    found = await dowse.call("search", **query)
    assert found.structured_content["hits"][0]["path"] == "shop/cart.py"

    symbol = await dowse.call("symbol", symbol="Cart.total")
    assert "shop/cart.py:11-13 method Cart.total" in text_of(symbol)
    assert "13          return sum(" in text_of(symbol)
    assert "shop/cart.py:18 function checkout (resolved)" in text_of(symbol)
    assert symbol.structured_content["code"].strip().startswith("def total")

    for relation, expected in (
        ("callers", "callers of method Cart.total (shop/cart.py:11)"),
        ("callees", "callees of method Cart.total (shop/cart.py:11)"),
        ("impact", "tests/test_cart.py:5  function test_checkout"),
    ):
        walk = await dowse.call("calls", symbol="shop/cart.py:12", relation=relation)
        assert expected in text_of(walk), text_of(walk)
        assert walk.structured_content["seeds"][0]["qualified_name"] == "Cart.total"

    alike = await dowse.call("related", symbol="checkout", k=2)
    assert "like shop/cart.py:16 function checkout" in text_of(alike)
    assert len(alike.structured_content["neighbours"]) == 2


async def _bad_calls(dowse: Session) -> None:
    assert "query: is needed" in await dowse.error("search")
    said = await dowse.error("search", query="x", max_tokens=1, colour="red")
    assert "max_tokens" in said and "colour: there is no such argument" in said and "detail" in said
    assert "plain=true" in await dowse.error("search", query="lang:klingon x")
    assert "one of the nearest" in await dowse.error("symbol", symbol="chekout_cart")
    assert "`repo` is one of shop-repo (" in await dowse.error("search", query="x", repo="elsewhere")
    with pytest.raises(MCPError, match="there is no tool 'dig'"):
        await dowse.call("dig")


async def _twenty_at_once(dowse: Session) -> None:
    queries = ["cart", "pay for a cart", "/def \\w+/", "Cart.total"]
    alone = [await dowse.text("search", query=query) for query in queries]
    together = await asyncio.gather(*[dowse.text("search", query=queries[at % 4]) for at in range(20)])
    assert together == [alone[at % 4] for at in range(20)]


@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_a_cancelled_call_ends_and_the_next_is_answered(way: tuple[str, str], tmp_path: Path) -> None:
    body = "".join(f"def spin_{at}(wheel):\n    return wheel + {at}\n\n\n" for at in range(40))
    root = tmp_path / "wheels"
    root.mkdir()
    for number in range(40):
        (root / f"wheel_{number}.py").write_text(f"# {number}\n{body}")

    async def session() -> None:
        async with opened(way, root) as dowse:
            call = asyncio.create_task(dowse.call("search", query="spin the wheel"))
            await dowse.heard.wait()  # the call is waiting for the index now
            call.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await call
            assert call.cancelled()
            assert "wheels" in await dowse.text("status")
            # What was begun for all calls goes on, so that an impatient client gets an answer in the end.
            await dowse.until(
                lambda text: "function spin_" in text, "search", query="spin wheel", mode="keyword"
            )

    run(session())


@pytest.mark.large
def test_three_hundred_cancelled_calls_do_not_delay_the_next(tmp_path: Path) -> None:
    """Each of them would read every file, and find nothing."""
    root = tmp_path / "wheels"
    root.mkdir()
    for number in range(20):
        body = "    wheel = wheel.turn\n" * 5_000
        (root / f"wheel_{number}.py").write_text(f"def spin_{number}(wheel):\n{body}")

    async def session() -> None:
        async with stdio(root, cwd=root) as dowse:
            await dowse.until(lambda text: "spin_1" in text, "search", query="spin_1", mode="symbol")
            slow = {"query": "[a-z]+ *[0-9]{5}", "mode": "regex"}
            calls = [asyncio.create_task(dowse.call("search", **slow)) for _ in range(300)]
            await dowse.client.list_tools()  # they have arrived
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
            # All of them would take longer.
            following = dowse.text("search", query="spin_7", mode="symbol")
            assert "spin_7" in await asyncio.wait_for(following, 15)

    run(session())


def test_by_default_four_tools_are_listed_and_answers_are_text(shop: Path) -> None:
    async def session() -> None:
        async with stdio(shop, cwd=shop) as dowse:
            tools = (await dowse.client.list_tools()).tools
            assert [tool.name for tool in tools] == DEFAULT_TOOLS
            assert not any(tool.output_schema for tool in tools)
            # Every session of every agent pays for it; a tokenizer makes 690 of it.
            listed = as_json([tool.model_dump(by_alias=True, exclude_none=True) for tool in tools])
            assert len(listed) / 4 < 900 and estimate_tokens(listed) < 1_100
            # Clients that load tools late load the main one at once.
            assert [tool.meta for tool in tools] == [{"anthropic/alwaysLoad": True}, None, None, None]
            words = " ".join(re.findall(r"\w+", listed.lower()))
            assert not {"lane", "lanes", "tfidf", "bm25", "mmr", "euclidean"} & set(words.split())
            # Arguments that are not listed are answered all the same.
            assert "shop/cart.py" in text_of(await dowse.call("search", query="cart", k=1, mode="keyword"))
            assert "up to date" in await dowse.text("status")
            result = await dowse.call("search", query="checkout")
            assert result.structured_content is None and "shop/cart.py:16" in text_of(result)

    run(session())
