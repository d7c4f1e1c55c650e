"""Take the pictures in docs/images: `python scripts/screenshots.py REPOSITORY` (a checkout of Flask).

Needs playwright, a Chromium and an index of the repository (`dowse index`).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, Route, sync_playwright

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
QUESTION = "/search?q=where+are+expired+sessions+cleaned+up"
# Fonts are loaded, no request is pending, no animation runs.
STILL = """() => document.fonts.status === 'loaded'
    && !document.querySelector('.animate-pulse, [aria-busy=true]')
    && document.getAnimations().every(each => each.playState === 'finished')"""
# Name, address, what comes last on the page, theme, width, height.
SHOTS = (
    ("landing", "/", "[aria-label='How an answer is found'] li", "light", 1280, 860),
    ("search", QUESTION, "[aria-label='Similar functions'] li", "light", 1280, 860),
    ("search-dark", f"{QUESTION}&mode=hybrid&at=2", "[aria-label='Similar functions'] li", "dark", 1280, 860),
    ("search-phone", "/search?q=session+cookie+lang:python", "article .hljs-keyword", "dark", 390, 844),
    ("symbol", "/symbol/flask/AppContext.push", "[data-layer='1']", "light", 1280, 1250),
    ("eval", "/eval?run=repos", "[aria-label='In short'] li", "dark", 1280, 860),
    ("status", "/status", "tbody tr", "light", 1280, 860),
)


def main() -> int:
    """Serve the repository and take a picture of every page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    options = parser.parse_args()
    IMAGES.mkdir(parents=True, exist_ok=True)
    dowse = [sys.executable, "-m", "dowse.interfaces.cli.main"]
    command = [*dowse, "serve", str(options.repository), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as server:
        assert server.stdout  # noqa: S101 - a pipe, see above
        url = urlsplit(server.stdout.readline().split()[-1])
        with contextlib.ExitStack() as end, sync_playwright() as playwright:
            end.callback(server.terminate)
            browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
            for name, address, last, theme, width, height in SHOTS:
                page = open_page(browser, theme, width, height)
                page.goto(url.geturl())  # with the token, which becomes a cookie
                page.goto(f"{url.scheme}://{url.netloc}{address}")
                page.locator(last).first.wait_for()
                page.wait_for_function(STILL)
                page.screenshot(path=IMAGES / f"{name}.png")
    return 0


def open_page(browser: Browser, theme: str, width: int, height: int) -> Page:
    """Return a page of a visitor who consented to feedback, without the path of the repository."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
    )
    context.add_init_script("localStorage.setItem('dowse.consent', 'yes')")

    def hide_root(route: Route) -> None:
        response = route.fetch()
        text = re.sub(r'"root":"[^"]*/', '"root":"/home/you/', response.text())
        route.fulfill(response=response, body=text)

    context.route("**/api/v1/status", hide_root)
    return context.new_page()


if __name__ == "__main__":
    sys.exit(main())
