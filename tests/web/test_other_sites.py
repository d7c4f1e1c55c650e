"""What pages of other sites can do with a server that the browser has a cookie for: open the page."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest
from playwright.sync_api import expect

from dowse import Index
from dowse.services.web.options import ServeOptions
from interfaces.http.running import Running, running
from web.conftest import Visit


@pytest.fixture(scope="module")
def guarded(inn: Index) -> Iterator[Running]:
    """A server with a token."""
    with running([inn], ServeOptions(token="pst")) as run:
        yield run


@pytest.fixture(scope="module")
def other_port() -> Iterator[int]:
    """Another server of this machine, which answers with the HTML that its address holds."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(unquote(self.path[1:]).encode())

        def log_message(self, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_the_token_of_the_address_becomes_a_cookie(visit: Visit, guarded: Running) -> None:
    visitor = visit(guarded)
    page = visitor.open("/search?q=sweep")
    expect(page.get_by_role("alert").first).to_contain_text("the address that dowse serve printed")
    page.goto("/search?q=sweep&token=pst")
    expect(page.get_by_role("article").first).to_contain_text("sweep")
    assert "token" not in page.url and page.evaluate("document.cookie") == ""
    [cookie] = page.context.cookies()
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict" and "pst" not in cookie["value"]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])  # another site; the same site at another port
def test_other_sites_reach_the_page_and_never_the_api(
    visit: Visit, guarded: Running, other_port: int, host: str
) -> None:
    visitor = visit(guarded)
    page = visitor.open("/?token=pst")
    for target, status in (("/api/v1/search?q=sweep", 403), ("/search?q=sweep", 200)):
        address = f"{guarded.url}{target}"
        page.goto(f"http://{host}:{other_port}/<a href='{address}'>a link</a>".replace("?", "%3F"))
        with page.expect_response(address) as answer:
            page.get_by_role("link").click()
        assert answer.value.status == status
        with page.expect_response(address) as framed:
            page.goto(f"http://{host}:{other_port}/<iframe src='{address}'></iframe>".replace("?", "%3F"))
        assert framed.value.status == 403
    page.goto(f"http://{host}:{other_port}/<a href='{address}'>a link</a>".replace("?", "%3F"))
    page.get_by_role("link").click()
    expect(page.get_by_role("article").first).to_contain_text("sweep")  # found with the cookie
    visitor.said.clear()  # the browser told of the frames that were refused
