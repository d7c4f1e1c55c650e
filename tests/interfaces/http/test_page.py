"""The page's files: the same document for every address, kept as long as they may be."""

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
    "address", ["/", "/search?q=x", "/symbol/inn/a.py:3", "/eval", "/index.html", "/secret.txt"]
)
def test_every_url_of_the_page_gets_index_html(client: TestClient, address: str) -> None:
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


@pytest.mark.parametrize("address", ["/assets/gone.js", "/api", "/api/nothing", "/api/search"])
def test_unknown_assets_and_api_paths_are_404(client: TestClient, address: str) -> None:
    assert client.get(address).status_code == 404


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
