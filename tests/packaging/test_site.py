"""The documentation site: strict links, references made from the code, nothing from other servers."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from dowse import Index
from dowse.interfaces.cli.main import COMMANDS
from dowse.interfaces.http.app import create_app

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def text(site: Path, page: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", (site / page / "index.html").read_text()))


def test_references_have_everything(site):
    commands = text(site, "reference/cli")
    assert [name for name in COMMANDS if f"usage: dowse {name}" not in commands] == []
    assert "dowse eval gate" in commands and "dowse feedback record" in commands
    requests = text(site, "reference/http")
    assert [path for path in create_app([]).openapi()["paths"] if path not in requests] == []
    api = text(site, "reference/python")
    public = [name for name in vars(Index) if not name.startswith("_")]
    assert [name for name in public if f"Index.{name}" not in api] == []


def test_every_document_is_a_page_that_can_be_searched(site):
    found = (site / "search/search_index.json").read_text()
    names = [path.stem for path in (ROOT / "docs").glob("*.md")]
    assert [name for name in names if f'"location":"{name}/"' not in found] == []


@pytest.mark.large
def test_every_picture_is_there(site):
    pages = list(site.rglob("*.html"))
    named = [
        (page, source)
        for page in pages
        for source in re.findall(r'<img [^>]*src="([^":]+)"', page.read_text())
    ]
    assert len(named) > 5
    assert [(page.parent.name, source) for page, source in named if not (page.parent / source).exists()] == []


def test_no_page_links_to_a_file_that_the_site_lacks(site):
    assert not any(re.search(r'href="[./]*/bench/', path.read_text()) for path in site.rglob("*.html"))


@pytest.mark.parametrize(
    ("address", "link"),
    [("", "log"), ("https://example.org", "[log](https://example.org/blob/main/CHANGELOG.md#new)")],
)
def test_links_out_of_the_documents_lead_to_the_repository(monkeypatch, address, link):
    monkeypatch.syspath_prepend(ROOT / "scripts/docs_site")
    import hooks

    monkeypatch.setattr(hooks, "_OUTSIDE", {})
    page = SimpleNamespace(file=SimpleNamespace(src_uri="GRAPH.md"))
    config = SimpleNamespace(extra={"repository": address})
    files = SimpleNamespace(get_file_from_path={"WEB.md": page}.get)
    made = hooks.on_page_markdown("A [log](../CHANGELOG.md#new), [WEB](WEB.md).", page, config, files)
    assert made == f"A {link}, [WEB](WEB.md)."


def test_nothing_comes_from_elsewhere(site):
    """No script, style, font or image of another server is loaded."""
    for path in site.rglob("*.html"):
        loaded = re.findall(r"<(?:script|link|img|iframe)\b[^>]*?=\"?(https?://[^\s\">]+)", path.read_text())
        assert loaded == [], path
    styles = "".join(path.read_text() for path in site.rglob("*.css"))
    assert re.findall(r"url\([\"']?https?://|@import", styles) == []


def test_pages_ask_no_server_about_the_repository(site):
    """Material asks GitHub for the stars of a repository that it shows."""
    assert not any('data-md-component="source"' in path.read_text() for path in site.rglob("*.html"))
