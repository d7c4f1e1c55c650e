"""Every method, asked by a client over stdio: what the graph and the search know, at the right positions."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from dowse import Index
from dowse.json_form import document
from lsp_clients import ALL, CAPABILITIES, PATIENCE, SHOP, Client, LspError, stdio

from helpers import write_tree

SAMPLES = Path(__file__).parents[2] / "parsing" / "samples"
CART = SHOP["shop/cart.py"].split("\n")


def at(root: Path, path: str, text: str, skip: int = 0, inside: int = 1) -> dict[str, Any]:
    """Return the parameters of a request at a text of a file, in UTF-16."""
    for number, line in enumerate((root / path).read_text().split("\n")):
        if text in line:
            if not skip:
                before = line[: line.index(text)]
                character = len(before.encode("utf-16-le")) // 2 + inside
                return {
                    "textDocument": {"uri": (root / path).as_uri()},
                    "position": {"line": number, "character": character},
                    "context": {"includeDeclaration": True},
                }
            skip -= 1
    raise AssertionError(text)


def ask(work: Callable[[Client], Awaitable[None]], *arguments: str, **environment: str) -> None:
    """Talk to a server."""

    async def session() -> None:
        async with stdio(*arguments, **environment) as client:
            await work(client)

    asyncio.run(session())


async def until(client: Client, method: str, params: object, holds: Callable[[Any], bool]) -> None:
    """Ask again until an answer is as expected."""
    async with asyncio.timeout(PATIENCE):
        while not holds(await client.request(method, params)):
            await asyncio.sleep(0.02)


def names(symbols: list[dict[str, Any]]) -> list[str]:
    return [symbol["name"] for symbol in symbols]


def test_the_methods_of_the_graph(shop: Path) -> None:
    async def work(client: Client) -> None:
        await client.initialize([shop], ALL)
        call = at(shop, "shop/cart.py", "lookup(größe)")
        (definition,) = await client.request("textDocument/definition", call)
        assert definition["uri"] == (shop / "shop/prices.py").as_uri()
        assert definition["range"]["start"] == {"line": 0, "character": 4}

        references = await client.request("textDocument/references", call)
        assert [(each["uri"].rpartition("/")[2], each["range"]["start"]["line"]) for each in references] == [
            ("prices.py", 0),
            ("cart.py", 2),
            ("cart.py", 18),
            ("cart.py", 23),
        ]
        # The emoji before it is two units of UTF-16, and the umlauts are one each.
        line = CART[18]
        assert references[2]["range"]["start"]["character"] == line.index("lookup") + 1

        (item,) = await client.request("textDocument/prepareCallHierarchy", call)
        assert (item["name"], item["uri"]) == ("lookup", definition["uri"])
        incoming = await client.request("callHierarchy/incomingCalls", {"item": item})
        assert [(each["from"]["name"], each["from"]["data"]["certainty"]) for each in incoming] == [
            ("total", "resolved"),
            ("checkout", "resolved"),
        ]
        assert "resolved · Cart.total · shop/cart.py" in incoming[0]["from"]["detail"]
        assert incoming[0]["fromRanges"] == [references[2]["range"]]
        outgoing = await client.request("callHierarchy/outgoingCalls", {"item": incoming[1]["from"]})
        assert {each["to"]["name"]: each["fromRanges"][0]["start"]["line"] for each in outgoing} == {
            "total": 23,
            "lookup": 23,
        }

        (cart,) = await client.request(
            "textDocument/prepareTypeHierarchy", at(shop, "shop/cart.py", "Cart(B")
        )
        (basket,) = await client.request("typeHierarchy/supertypes", {"item": cart})
        assert (basket["name"], basket["data"]["confidence"]) == ("Basket", "resolved")
        assert names(await client.request("typeHierarchy/subtypes", {"item": basket})) == ["Cart"]

    ask(work)


def test_a_method_is_named_where_it_is_defined_and_not_where_its_documentation_is(shop: Path) -> None:
    async def work(client: Client) -> None:
        await client.initialize([shop], ALL)
        outline = await client.request("textDocument/documentSymbol", at(shop, "shop/cart.py", "Cart"))
        assert names(outline) == ["Basket", "Cart", "checkout"]
        (total,) = outline[1]["children"]
        assert total["selectionRange"]["start"] == {"line": 16, "character": 8}
        # In the body, where no word is a name, the function around it is meant.
        blank = at(shop, "shop/cart.py", "Pay for", inside=0)
        blank["position"]["character"] = 0
        (item,) = await client.request("textDocument/prepareCallHierarchy", blank)
        assert item["name"] == "checkout"

    ask(work)


def test_hover_and_lenses(shop: Path) -> None:
    async def work(client: Client) -> None:
        await client.initialize([shop], {**ALL, "codeLensCommand": "editor.callers"})
        hover = await client.request("textDocument/hover", at(shop, "shop/cart.py", "lookup(größe)"))
        text = hover["contents"]["value"]
        assert "def lookup(item: str) -> float" in text and "2 callers" in text and "resolved" in text
        # Documentation is shown as text: a longer fence than any in it keeps the image from being loaded.
        assert "````text\nFind out" in text
        lenses = await client.request("textDocument/codeLens", at(shop, "shop/prices.py", "lookup"))
        lens = await client.request("codeLens/resolve", lenses[0])
        assert (lens["command"]["title"], lens["command"]["command"]) == ("2 callers", "editor.callers")

    ask(work)


def test_hover_in_plain_text(shop: Path) -> None:
    async def work(client: Client) -> None:
        plain = {"textDocument": {"hover": {"contentFormat": ["plaintext"]}}}
        await client.initialize([shop], ALL, plain)
        hover = await client.request("textDocument/hover", at(shop, "shop/cart.py", "lookup(größe)"))
        assert hover["contents"]["kind"] == "plaintext" and "```text" not in hover["contents"]["value"]

    ask(work)


def test_names_are_found_in_every_language(tmp_path: Path) -> None:
    samples = {path.name.removesuffix(".txt"): path.read_bytes() for path in SAMPLES.iterdir()}
    root = write_tree(tmp_path / "samples", samples)

    async def work(client: Client) -> None:
        await client.initialize([root], ALL)
        await client.wait_for("$/progress", kind="end")
        named: Counter[str] = Counter()
        unnamed = []
        for path in sorted(root.iterdir()):
            lines = path.read_text(errors="replace").split("\n")
            document = {"textDocument": {"uri": path.as_uri()}}
            for symbol in flatten(await client.request("textDocument/documentSymbol", document)):
                start, end = symbol["selectionRange"]["start"], symbol["selectionRange"]["end"]
                text = lines[start["line"]][start["character"] : end["character"]]
                if text != symbol["name"]:
                    unnamed.append((path.name, symbol["name"], lines[start["line"]]))
                    continue
                named[path.suffix] += 1
                if text.isidentifier():
                    (item, *_) = await client.request(
                        "textDocument/prepareCallHierarchy", {**document, "position": start}
                    )
                    assert item["selectionRange"]["start"] == start, (path, symbol)
        assert len(named) >= 19 and not unnamed

    ask(work)


def flatten(symbols: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for symbol in symbols for each in (symbol, *flatten(symbol["children"]))]


def test_workspace_symbols_and_search(shop: Path, bank: Path) -> None:
    async def work(client: Client) -> None:
        await client.initialize([shop, bank])
        (first, *_) = await client.request("workspace/symbol", {"query": "check"})
        assert (first["name"], first["containerName"], first["kind"]) == ("checkout", "shop/cart.py", 12)
        assert first["location"]["range"]["start"] == {"line": 21, "character": 4}
        (first, *_) = await client.request("workspace/symbol", {"query": "where is money added"})
        assert (first["name"], first["location"]["uri"]) == ("Deposit", (bank / "bank/account.go").as_uri())
        assert await client.request("workspace/symbol", {"query": " "}) == []
        await client.request("workspace/symbol", {"query": "/unclosed("})

        answer = await client.request("dowse/search", {"query": "lookup", "k": 3, "folder": shop.as_uri()})
        with Index.open(shop) as index:
            expected = document(index.search("lookup", k=4))["hits"][:3]
        assert [hit["id"] for hit in answer["hits"]] == [hit["id"] for hit in expected]
        assert answer["hits"][0]["uri"] == (shop / "shop/prices.py").as_uri()
        assert answer["hits"][0].keys() >= expected[0].keys()
        everywhere = await client.request("dowse/search", {"query": "cart account", "lang": ["go"]})
        assert {hit["index"] for hit in everywhere["hits"]} == {"bank"}
        status = await client.request("dowse/status")
        assert [(each["name"], each["files"]) for each in status["indexes"]] == [("my shop", 3), ("bank", 1)]

    ask(work)


def test_similar_symbols(shop: Path) -> None:
    with Index.open(shop, encoder="small") as index:
        index.vectors.embed()

    async def work(client: Client) -> None:
        await client.initialize([shop])
        uri = (shop / "shop/prices.py").as_uri()
        for named in ({"uri": uri, "line": 1}, {"target": "lookup"}):
            answer = await client.request("dowse/related", {**named, "k": 2})
            assert answer["symbol"]["name"] == "lookup" and len(answer["neighbours"]) == 2
            assert answer["neighbours"][0]["uri"].startswith(shop.as_uri())
        with pytest.raises(LspError, match="no indexed symbol at this line"):
            await client.request("dowse/related", {"uri": (shop / "absent.py").as_uri(), "line": 1})

    ask(work, "--encoder", "small")


def test_only_what_is_switched_on_is_offered(shop: Path) -> None:
    async def work(client: Client) -> None:
        offered = await client.initialize([shop])
        assert offered["callHierarchyProvider"] and offered["typeHierarchyProvider"]
        assert offered["workspaceSymbolProvider"]
        for name in ("hover", "definition", "references", "documentSymbol", "codeLens"):
            assert f"{name}Provider" not in offered
        with pytest.raises(LspError) as error:
            await client.request("textDocument/hover", at(shop, "shop/cart.py", "Cart"))
        assert error.value.code == -32601

    ask(work)


def test_columns_are_bytes_where_the_client_prefers_utf_8(shop: Path) -> None:
    async def work(client: Client) -> None:
        wants = {**CAPABILITIES, "general": {"positionEncodings": ["utf-8", "utf-16"]}}
        offered = await client.initialize([shop], ALL, wants)
        assert offered["positionEncoding"] == "utf-8"
        place = at(shop, "shop/cart.py", "lookup(größe)")
        column = len(CART[18][: CART[18].index("lookup")].encode())
        place["position"]["character"] = column + 2
        (item,) = await client.request("textDocument/prepareCallHierarchy", place)
        (call, _) = await client.request("callHierarchy/incomingCalls", {"item": item})
        assert call["fromRanges"][0]["start"] == {"line": 18, "character": column}

    ask(work)


def test_unsaved_edits_move_positions_both_ways(shop: Path) -> None:
    async def work(client: Client) -> None:
        await client.initialize([shop], ALL)
        place = at(shop, "shop/cart.py", "lookup(größe)")
        document = {**place["textDocument"], "version": 2}
        text = SHOP["shop/cart.py"]
        client.notify(
            "textDocument/didOpen",
            {"textDocument": {**document, "languageId": "python", "version": 1, "text": text}},
        )
        new_lines = {"range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 0}}}
        client.notify(
            "textDocument/didChange",
            {"textDocument": document, "contentChanges": [{**new_lines, "text": "# new\n# lines\n\f\n"}]},
        )
        place["position"]["line"] += 3
        (item,) = await client.request("textDocument/prepareCallHierarchy", place)
        assert item["name"] == "lookup"
        (total, _) = await client.request("callHierarchy/incomingCalls", {"item": item})
        assert total["fromRanges"][0]["start"]["line"] == 21
        client.notify("textDocument/didClose", {"textDocument": document})
        (total, _) = await client.request("callHierarchy/incomingCalls", {"item": item})
        assert total["fromRanges"][0]["start"]["line"] == 18

    ask(work)


def test_a_new_folder_is_indexed_with_progress_and_follows_changes(tmp_path: Path, bank: Path) -> None:
    root = write_tree(tmp_path / "new", {"a.py": "def first_thing():\n    pass\n"})

    async def work(client: Client) -> None:
        await client.initialize([bank])
        change = {"added": [{"uri": root.as_uri(), "name": "new"}], "removed": []}
        client.notify("workspace/didChangeWorkspaceFolders", {"event": change})
        registered = await client.wait_for("client/registerCapability")
        (watcher,) = registered["registrations"][0]["registerOptions"]["watchers"]
        assert ".py" in watcher["globPattern"] and ".go" in watcher["globPattern"]
        begin = await client.wait_for("$/progress", kind="begin")
        assert begin["value"]["title"] == "dowse: new"
        await client.wait_for("$/progress", kind="end")
        assert names(await client.request("workspace/symbol", {"query": "first_thing"}))[0] == "first_thing"

        uri = write_tree(root, {"b.py": "def second_thing():\n    pass\n"}).joinpath("b.py").as_uri()
        client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri, "type": 1}]})
        await until(
            client,
            "workspace/symbol",
            {"query": "second_t"},
            lambda found: names(found)[:1] == ["second_thing"],
        )
        write_tree(root, {"b.py": "def third_thing():\n    pass\n"})
        client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
        await until(
            client,
            "workspace/symbol",
            {"query": "third_t"},
            lambda found: names(found)[:1] == ["third_thing"],
        )

        change = {"added": [], "removed": [{"uri": root.as_uri(), "name": "new"}]}
        client.notify("workspace/didChangeWorkspaceFolders", {"event": change})
        await until(client, "dowse/status", {}, lambda status: len(status["indexes"]) == 1)
        assert "first_thing" not in names(await client.request("workspace/symbol", {"query": "first_thing"}))

    ask(work)
