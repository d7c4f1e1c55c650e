"""The page's files: the same document for all its addresses, kept as long as they may be."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from dowse.interfaces.http.static_page import PAGE, add_page
from interfaces.http.running import Running

from helpers import write_tree

FILES = {
    "index.html": "<!doctype html><title>page</title>" + "<p>some text</p>" * 50,
    "assets/app-1234.js": "console.log(1);" * 100,
    "favicon.svg": "<svg/>",
}


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    app = FastAPI()
    add_page(app, write_tree(tmp_path / "page", FILES))
    (tmp_path / "secret.txt").write_text("secret")
    return TestClient(app)


@pytest.mark.parametrize(
    "address", ["/", "/search?q=x", "/symbol/inn/a.py:3", "/eval", "/status", "/index.html"]
)
def test_every_address_of_the_page_gets_index_html(client: TestClient, address: str) -> None:
    answer = client.get(address)
    assert answer.text == FILES["index.html"] and answer.headers["content-type"].startswith("text/html")
    assert answer.headers["cache-control"] == "no-cache"


def test_files_are_compressed_and_cached(client: TestClient) -> None:
    script = client.get("/assets/app-1234.js")
    assert script.text == FILES["assets/app-1234.js"] and "immutable" in script.headers["cache-control"]
    assert script.headers["content-encoding"] == "gzip" and "javascript" in script.headers["content-type"]
    assert int(script.headers["content-length"]) < len(script.text) / 3
    plain = client.get("/assets/app-1234.js", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers and plain.text == script.text
    known = client.get("/", headers={"If-None-Match": client.get("/").headers["etag"]})
    assert known.status_code == 304 and not known.content
    assert client.head("/").status_code == 200 and not client.head("/").content


@pytest.mark.parametrize(
    "address",
    [
        "/assets/gone.js",
        "/api",
        "/api/v1/nothing",
        "/api/v2/search",
        "/secret.txt",
        "/searching",
        "/x/search",
    ],
)
def test_every_other_address_is_404(client: TestClient, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 404 and "<title>" not in answer.text


def test_who_follows_a_wrong_link_gets_the_page_with_404(client: TestClient) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    answer = client.get("/nowhere", headers=browser)
    assert answer.status_code == 404 and answer.text == FILES["index.html"]
    again = client.get("/nowhere", headers=browser | {"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 404
    assert client.get("/api/nothing", headers=browser).text != FILES["index.html"]


def test_without_a_build_it_says_how_to_make_one(tmp_path: Path) -> None:
    app = FastAPI()
    add_page(app, tmp_path)
    assert "npm run build" in TestClient(app).get("/").text


def test_the_built_page_is_served(server: Running) -> None:
    """The committed build, with every file that its document names."""
    if not (PAGE / "index.html").exists():
        pytest.skip("the page is not built")
    page = server.client.get("/").text
    named = [part.split('"')[0] for part in page.replace('href="', 'src="').split('src="')[1:]]
    assert named
    for address in named:
        answer = httpx.get(server.url + address)
        assert answer.status_code == 200 and "text/html" not in answer.headers["content-type"]
