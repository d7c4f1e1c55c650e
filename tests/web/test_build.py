"""The built page: made from these sources, small, with nothing from elsewhere, for this API."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path

from dowse.interfaces.http.app import create_app
from web.browser import WEB

PAGE = Path(create_app.__code__.co_filename).with_name("page")
# What the page is built from; web/scripts/stamp.ts names the same.
SOURCES = (
    "index.html",
    "openapi.json",
    "package-lock.json",
    "package.json",
    "public",
    "scripts",
    "src",
    "tsconfig.json",
    "vite.config.ts",
)
# Addresses that name things and are never asked for: namespaces, and where libraries explain themselves.
NAMES = (
    "http://www.w3.org/",
    "https://react.dev/errors/",
    "https://tailwindcss.com",
    "https://github.com/highlightjs/",
)


def test_the_page_was_built_from_these_sources() -> None:
    paths = [path for name in SOURCES for path in files(WEB / name)]
    whole = hashlib.sha256()
    for path in sorted(path.relative_to(WEB).as_posix() for path in paths):
        content = hashlib.sha256((WEB / path).read_bytes()).hexdigest()
        whole.update(f"{path} {content}\n".encode())
    built = json.loads((PAGE / "build.json").read_text())["sources"]
    assert built == whole.hexdigest(), "the page is older than its sources; run `npm run build` in web/"


def test_the_client_was_made_for_this_api() -> None:
    saved = json.loads((WEB / "openapi.json").read_text())
    now = create_app([]).openapi()
    for document in (saved, now):
        document["info"].pop("version")
    told = "the API changed; run `scripts/page client`, mend what it breaks, then `scripts/page build`"
    assert saved == json.loads(json.dumps(now)), told


def test_the_page_is_small() -> None:
    """All that any page needs, before the grammars of the highlighter: at most 300 KB, packed."""
    assert sum(transfer_sizes(PAGE).values()) <= 300_000, transfer_sizes(PAGE)


def test_nothing_comes_from_elsewhere() -> None:
    for path in [*files(PAGE / "assets"), PAGE / "index.html", PAGE / "theme.js"]:
        if path.suffix in (".js", ".css", ".html"):
            found = re.findall(r"https?://[\w./-]+", path.read_text())
            assert [url for url in found if not url.startswith(NAMES)] == [], path.name


def test_licences_of_what_is_in_the_page_come_with_it() -> None:
    text = (PAGE / "licences.txt").read_text()
    for name in json.loads((WEB / "package.json").read_text())["dependencies"]:
        assert f"{name} " in text


def transfer_sizes(page: Path) -> dict[str, int]:
    """Return what is sent of every file but the grammars, packed as the server packs it."""
    grammars = set(re.findall(r"^  (\w+): \(\) =>", (WEB / "src/code/grammars.ts").read_text(), re.MULTILINE))
    assert len(grammars) > 20
    chosen = [*files(page / "assets"), page / "index.html", page / "theme.js", page / "favicon.svg"]
    return {
        path.name: len(gzip.compress(path.read_bytes()))
        for path in chosen
        if path.name.partition("-")[0] not in grammars
    }


def files(place: Path) -> list[Path]:
    return [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]
