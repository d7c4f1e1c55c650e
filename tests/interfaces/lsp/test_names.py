"""Names, parameters, variables and paths of imports, asked by an editor."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from dowse import Index
from lsp_clients import ALL, Client, stdio

from helpers import age, write_tree

FILES = {
    "shop/settings.py": "MAX_ITEMS = 20\n",
    "shop/cart.py": '''from shop.settings import MAX_ITEMS


class Cart:
    currency = "EUR"

    def __init__(self, owner):
        self.items = []
        self.owner = owner

    def is_full(self, extra=0):
        """Whether the count is too high."""
        count = len(self.items) + extra
        for item in self.items:
            count += item.size
        return count >= MAX_ITEMS
''',
    "shop/main.py": """from shop.cart import Cart


def start():
    cart = Cart("ada")
    return cart.is_full()
""",
    "web/api.ts": """export interface Options {
  retries: number;
}
export const LIMIT = 3;
export enum Color { Red, Green }
""",
    "web/page.ts": """import { LIMIT, Options } from "./api";
import * as api from "./api";

export function load(options: Options, url: string) {
  const left = options.retries - LIMIT;
  return [url].map((each) => each + left + api.Color.Red);
}
""",
    "go/store.go": """package store

type Store struct {
	size int
	Path string
}

var maxSize, minSize = 10, 1

func (s *Store) Fill(count int) (total int) {
	if count > maxSize {
		left := count - minSize
		return left
	}
	s.size = count
	return s.size + len(s.Path)
}
""",
    "c/port.h": "#define PORT 80\nstruct host {\n  int port;\n  char *name;\n};\n"
    "int open_host(struct host *h);\n",
    "c/port.c": """#include "port.h"

int open_host(struct host *h) {
  int result = PORT;
  result += h->port;
  return result;
}
""",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_tree(tmp_path_factory.mktemp("lsp") / "names", FILES)
    age(root)
    with Index.open(root, encoder="none") as index:
        index.update()
    return root


def at(root: Path, path: str, line: int, text: str) -> dict[str, Any]:
    """Return the parameters of a request at the first occurrence of a text in a line, from 1."""
    character = (root / path).read_text().split("\n")[line - 1].index(text)
    return {
        "textDocument": {"uri": (root / path).as_uri()},
        "position": {"line": line - 1, "character": character},
        "context": {"includeDeclaration": True},
    }


def ask(root: Path, work: Callable[[Client], Awaitable[None]]) -> None:
    async def session() -> None:
        async with stdio(DOWSE_ENCODER="none") as client:
            await client.initialize([root], ALL)
            await work(client)

    asyncio.run(session())


USES = [
    ("shop/cart.py", 16, "MAX_ITEMS", "shop/settings.py", 1),  # a constant
    ("shop/cart.py", 13, "items", "shop/cart.py", 8),  # an attribute
    ("shop/cart.py", 13, "extra", "shop/cart.py", 11),  # a parameter
    ("shop/cart.py", 9, "owner", "shop/cart.py", 9),  # the attribute that is defined there
    ("shop/cart.py", 16, "count", "shop/cart.py", 13),  # a variable, which the documentation mentions before
    ("shop/cart.py", 15, "item.", "shop/cart.py", 14),  # the variable of a loop
    ("shop/cart.py", 1, "settings", "shop/settings.py", 1),  # the path of an import
    ("web/page.ts", 5, "retries", "web/api.ts", 2),  # a member of an interface
    ("web/page.ts", 5, "LIMIT", "web/api.ts", 4),
    ("web/page.ts", 5, "options", "web/page.ts", 4),
    ("web/page.ts", 6, "url", "web/page.ts", 4),
    ("web/page.ts", 6, "left", "web/page.ts", 5),
    ("web/page.ts", 6, "Red", "web/api.ts", 5),  # a member of an enum
    ("web/page.ts", 6, "api", "web/api.ts", 1),  # a module under another name
    ("web/page.ts", 1, "api", "web/api.ts", 1),
    ("go/store.go", 11, "maxSize", "go/store.go", 8),
    ("go/store.go", 12, "minSize", "go/store.go", 8),  # the second name of a group
    ("go/store.go", 13, "left", "go/store.go", 12),
    ("go/store.go", 16, "size", "go/store.go", 4),
    ("go/store.go", 16, "s.", "go/store.go", 10),  # the receiver
    ("c/port.c", 4, "PORT", "c/port.h", 1),
    ("c/port.c", 5, "port", "c/port.h", 3),
    ("c/port.c", 6, "result", "c/port.c", 4),
    ("c/port.c", 5, "h-", "c/port.c", 3),
    ("c/port.c", 1, "port.h", "c/port.h", 1),
    ("c/port.h", 6, "open_host", "c/port.c", 3),  # from a prototype to the function
]


def test_the_definition_at_a_use(root: Path) -> None:
    async def work(client: Client) -> None:
        for path, line, text, expected, expected_line in USES:
            found = await client.request("textDocument/definition", at(root, path, line, text))
            places = [(each["uri"], each["range"]["start"]["line"] + 1) for each in found]
            assert places[:1] == [((root / expected).as_uri(), expected_line)], (path, line, text)

    ask(root, work)


def test_a_certain_definition_is_the_only_one(root: Path) -> None:
    async def work(client: Client) -> None:
        # A call of a class is one of its constructor, too, but leads to the class alone.
        for line, text, expected in ((5, "Cart", 4), (6, "is_full", 11)):
            found = await client.request("textDocument/definition", at(root, "shop/main.py", line, text))
            assert [each["range"]["start"]["line"] + 1 for each in found] == [expected]

    ask(root, work)


def test_references_of_a_variable_stay_in_its_function(root: Path) -> None:
    async def work(client: Client) -> None:
        found = await client.request("textDocument/references", at(root, "shop/cart.py", 16, "count"))
        assert [each["range"]["start"]["line"] + 1 for each in found] == [13, 15, 16]

    ask(root, work)


def test_hover_shows_the_lines_around_a_name(root: Path) -> None:
    async def hover(client: Client, *place: Any) -> str:
        answer = await client.request("textDocument/hover", at(root, *place))
        return str(answer["contents"]["value"])

    async def work(client: Client) -> None:
        shown = await hover(client, "web/page.ts", 5, "retries")
        assert "export interface Options {\n  retries: number;" in shown
        assert "Options.retries\nweb/api.ts:2" in shown and "caller" not in shown
        shown = await hover(client, "go/store.go", 13, "left")
        assert "left := count - minSize" in shown and "local to Store.Fill\ngo/store.go:12" in shown

    ask(root, work)


def test_the_outline_has_names_below_their_owner(root: Path) -> None:
    async def outline(client: Client, path: str) -> list[tuple[Any, ...]]:
        document = {"textDocument": {"uri": (root / path).as_uri()}}
        return tree(await client.request("textDocument/documentSymbol", document))

    def tree(symbols: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
        return [(each["name"], each["kind"], *tree(each["children"])) for each in symbols]

    async def work(client: Client) -> None:
        assert await outline(client, "shop/settings.py") == [("MAX_ITEMS", 14)]
        methods = [("__init__", 6), ("items", 8), ("owner", 8), ("is_full", 6)]
        assert await outline(client, "shop/cart.py") == [("Cart", 5, ("currency", 8), *methods)]
        found = await outline(client, "web/api.ts")
        assert found[0][:2] == ("Options", 11) and found[0][2][0] == "retries"
        assert ("Color", 10, ("Red", 22), ("Green", 22)) in found
        assert ("PORT", 14) in await outline(client, "c/port.h")

    ask(root, work)


def test_workspace_symbols_have_names(root: Path) -> None:
    async def work(client: Client) -> None:
        (found, *_) = await client.request("workspace/symbol", {"query": "MAX_IT"})
        assert (found["name"], found["kind"]) == ("MAX_ITEMS", 14)
        assert found["location"]["uri"] == (root / "shop/settings.py").as_uri()

    ask(root, work)
