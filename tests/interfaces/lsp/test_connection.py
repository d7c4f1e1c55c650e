"""The connection: cancelled requests, and messages that make no sense."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dowse.config import index_folder, load_settings
from dowse.interfaces.cli.main import main
from dowse.interfaces.lsp.options import LspOptions
from dowse.interfaces.lsp.server import LspServer
from dowse.interfaces.lsp.session import Session
from dowse.services.web.options import Limits
from dowse.write_lock import write_lock
from lsp_clients import ALL, COMMAND, PATIENCE, LspError, stdio

from helpers import processes_with, write_tree

CANCELLED, NOT_INITIALIZED, INVALID_PARAMS, FAILED = -32800, -32002, -32602, -32803
HOVER = "textDocument/hover"


def test_a_request_that_waits_for_an_index_is_cancelled_at_once_and_others_go_on(
    tmp_path: Path, bank: Path
) -> None:
    root = write_tree(tmp_path / "waiting", {"a.py": "def f():\n    pass\n"})

    async def session() -> None:
        async with stdio() as client:
            await client.initialize([root, bank])
            waiting = client.send("dowse/search", {"query": "f", "folder": root.as_uri()})
            assert (await client.request("workspace/symbol", {"query": "Deposit"}))[0]["name"] == "Deposit"
            client.notify("$/cancelRequest", {"id": waiting})
            with pytest.raises(LspError) as error:
                await client.result(waiting)
            assert error.value.code == CANCELLED
            client.notify("$/cancelRequest", {"id": "never sent"})
            assert await client.request("dowse/status")

    # Nothing can be indexed while another process writes.
    with write_lock(index_folder(root, load_settings(root)), 1.0, lambda _: None):
        asyncio.run(session())


def test_cancelling_reaches_the_work_and_frees_its_thread() -> None:
    threads, ended = 2, threading.Semaphore(0)

    def hang(session: Session, _: object) -> None:
        assert session.call.stop.wait(PATIENCE)
        ended.release()
        session.call.check()

    async def session() -> None:
        sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        server = LspServer(LspOptions(limits=Limits(threads=threads)))
        server.protocol.set_writer(_Writer(sent), include_headers=False)
        _receive(server, 1, "initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        assert (await sent.get())["id"] == 1
        server.protocol.fm.features["dowse/status"] = partial(server._answer, hang, waits=False)
        for number in range(2, 2 + 3 * threads):  # more than there are threads: some have not begun
            _receive(server, number, "dowse/status", None)
        await asyncio.sleep(0)
        for number in range(2, 2 + 3 * threads):
            server.protocol.receive(
                json.dumps({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}}).encode()
            )
        answers = [await asyncio.wait_for(sent.get(), PATIENCE) for _ in range(3 * threads)]
        assert {answer["error"]["code"] for answer in answers} == {CANCELLED}
        _receive(server, 99, "workspace/symbol", {"query": "x"})
        assert (await asyncio.wait_for(sent.get(), PATIENCE))["id"] == 99
        await asyncio.to_thread(server.close)

    asyncio.run(session())
    assert all(ended.acquire(timeout=PATIENCE) for _ in range(threads))


class _Writer:
    def __init__(self, sent: asyncio.Queue[dict[str, Any]]) -> None:
        self._sent = sent

    def write(self, data: bytes) -> None:
        self._sent.put_nowait(json.loads(data))

    def close(self) -> None:
        pass


def _receive(server: LspServer, number: int, method: str, params: object) -> None:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    server.protocol.receive(json.dumps(message).encode())


def test_whatever_is_sent_gets_an_answer(shop: Path, tmp_path: Path) -> None:
    secret = write_tree(tmp_path, {"outside.py": "def secret_function():\n    pass\n"}) / "outside.py"

    async def session() -> None:
        async with stdio() as client:
            with pytest.raises(LspError) as error:
                await client.request("workspace/symbol", {"query": "cart"})
            assert error.value.code == NOT_INITIALIZED
            await client.initialize([shop], {**ALL, "unknown": 1})
            for body, code in (
                (b"{", -32700),
                (b"[" * 100_000, -32700),
                (b"[]", -32600),
                (b'{"jsonrpc": "1.0", "id": 1, "method": "x"}', -32600),
                (b'{"jsonrpc": "2.0", "id": [1], "method": "x"}', -32600),
                (b'{"jsonrpc": "2.0", "id": 1.5, "method": "x"}', -32600),
                (b'{"jsonrpc": "2.0", "id": 1, "method": ["x"]}', -32600),
            ):
                client.write_bytes(body)
                assert (await client.wait_for_response())["error"]["code"] == code, body
            uri = (shop / "shop/cart.py").as_uri()
            for method, params, code in (
                ("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, -32600),
                (HOVER, None, INVALID_PARAMS),
                (HOVER, {"textDocument": {"uri": uri}}, INVALID_PARAMS),
                (
                    HOVER,
                    {"textDocument": {"uri": uri}, "position": {"line": "x", "character": 1}},
                    INVALID_PARAMS,
                ),
                (HOVER, _place(uri, -5, 1), INVALID_PARAMS),
                ("callHierarchy/incomingCalls", {"item": {"name": 3}}, INVALID_PARAMS),
                ("dowse/search", {"query": "x", "k": 10**9}, INVALID_PARAMS),
                ("dowse/search", {"query": "x", "mode": "unknown"}, INVALID_PARAMS),
                ("dowse/search", [1], INVALID_PARAMS),
                ("dowse/search", {"query": "x", "folder": tmp_path.as_uri()}, FAILED),
                ("dowse/related", {}, FAILED),
                ("dowse/unknown", {}, -32601),
            ):
                with pytest.raises(LspError) as error:
                    await client.request(method, params)
                assert error.value.code == code, (method, params, str(error.value))
            for place in (
                _place(uri, 10**6, 10**6),
                _place("file:///%00", 0, 0),
                _place("untitled:Untitled-1", 0, 0),
                _place("https://example.org/shop/cart.py", 0, 0),
                _place(f"{shop.as_uri()}/../outside.py", 0, 5),
                _place(secret.as_uri(), 0, 5),
                _place("", 0, 0),
            ):
                for method in (HOVER, "textDocument/prepareCallHierarchy", "textDocument/definition"):
                    assert not await client.request(method, place), (method, place)
            item = {**_item(uri), "data": {"id": "0123"}}
            for data in ({"id": "0123"}, {"id": 7}, [], "x", None):
                assert (
                    await client.request("callHierarchy/incomingCalls", {"item": {**item, "data": data}})
                    == []
                )
                assert await client.request("typeHierarchy/subtypes", {"item": {**item, "data": data}}) == []
            client.notify("textDocument/didChange", {"textDocument": {"uri": secret.as_uri(), "version": 1}})
            client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": "nonsense", "type": 1}]})
            assert (await client.request("workspace/symbol", {"query": "checkout"}))[0]["name"] == "checkout"

    asyncio.run(session())


def _place(uri: str, line: int | str, character: int) -> dict[str, Any]:
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}


def _item(uri: str) -> dict[str, Any]:
    spot = {"line": 0, "character": 0}
    extent = {"start": spot, "end": spot}
    return {"name": "x", "kind": 12, "uri": uri, "range": extent, "selectionRange": extent}


def test_what_is_no_repository_is_not_opened(tmp_path: Path, bank: Path) -> None:
    async def session() -> None:
        async with stdio(str(bank), HOME=str(tmp_path / "home" / "ada")) as client:
            await client.initialize([tmp_path / "home", tmp_path / "missing", bank.parent, bank])
            await client.wait_for("window/showMessage")
            status = await client.request("dowse/status")
            assert [each["name"] for each in status["indexes"]] == ["bank"]
            shown = [
                each["params"]["message"]
                for each in client.received
                if each["method"].endswith("showMessage")
            ]
            assert len(shown) == 3 and "not one repository" in shown[0] and "outside" in shown[2]

    (tmp_path / "home" / "ada").mkdir(parents=True)
    asyncio.run(session())


def test_a_folder_that_can_not_be_indexed_is_named(bank: Path, tmp_path: Path) -> None:
    async def session() -> None:
        async with stdio(DOWSE_CACHE_DIR=str(tmp_path)) as client:
            await client.initialize([bank])
            with pytest.raises(LspError, match="bank can't be indexed"):
                await client.request("dowse/search", {"query": "x"})
            assert "can't index bank" in (await client.wait_for("window/showMessage"))["message"]

    (tmp_path / "indexes").write_text("a file where a folder should be")
    asyncio.run(session())


def test_options_of_a_wrong_type_are_named(bank: Path) -> None:
    async def session() -> None:
        async with stdio() as client:
            with pytest.raises(LspError, match="maxResults"):
                await client.initialize([bank], {"maxResults": "many"})

    with pytest.raises(LspError, match="not initialized"):  # neither is a goodbye accepted
        asyncio.run(session())


@pytest.mark.parametrize(
    "data",
    [
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
        b"Content-Length: 99999999999\r\n\r\n",
        b"Content-Length: x\r\n\r\n{}",
    ],
)
def test_what_is_no_message_ends_the_connection(data: bytes) -> None:
    done = subprocess.run(COMMAND, input=data, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0 and done.stdout == b"" and b"Traceback" not in done.stderr


def test_what_the_command_can_not_do_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lsp", "nowhere"]) == 2
    assert "is no folder" in capsys.readouterr().err


def test_nothing_is_left_behind(shop: Path, tmp_path: Path) -> None:
    mark = f"DOWSE_CACHE_DIR={tmp_path / 'marked'}"

    async def session() -> None:
        environment = {"DOWSE_CACHE_DIR": str(tmp_path / "marked"), "DOWSE_ISOLATION": "always"}
        async with stdio(**environment) as client:
            await client.initialize([shop])
            await client.request("workspace/symbol", {"query": "pay for a cart"})
            assert len(processes_with(mark)) > 1  # the server, and the process of a lane

    asyncio.run(session())
    deadline = time.monotonic() + PATIENCE
    while processes_with(mark):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_other_commands_load_nothing_of_it() -> None:
    program = "import sys, dowse.interfaces.cli.main as main; main.build_parser(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "dowse" in loaded and not loaded & {"pygls", "lsprotocol", "cattrs", "attrs", "pydantic"}
