"""Take the pictures in docs/images: `python scripts/screenshots.py REPOSITORY` (a checkout of Flask).

Pages and a terminal, light and dark. Needs playwright, a Chromium and an index of the repository (`dowse
index`). Those of the editor are taken by `scripts/vscode e2e`.
"""

from __future__ import annotations

import argparse
import contextlib
import html
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
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
    ("landing-dark", "/", "[aria-label='How an answer is found'] li", "dark", 1280, 860),
    ("search", QUESTION, "[aria-label='Similar functions'] li", "light", 1280, 860),
    ("search-dark", f"{QUESTION}&mode=hybrid&at=2", "[aria-label='Similar functions'] li", "dark", 1280, 860),
    ("symbol", "/symbol/flask/AppContext.push", "[data-layer='1']", "light", 1280, 1250),
    ("eval", "/eval?run=repos", "[aria-label='In short'] li", "dark", 1280, 860),
)
# What is typed into the terminal.
COMMANDS = (
    "dowse search where are expired sessions cleaned up -k 2 --snippet-lines 4",
    "dowse callers Flask.full_dispatch_request -k 3",
)
# Colours of the terminal by SGR code: paths, lines, matches.
_COLOURS = {
    "light": {"fg": "#24292f", "bg": "#ffffff", "35": "#8250df", "32": "#1a7f37", "31": "#cf222e"},
    "dark": {"fg": "#e6edf3", "bg": "#0d1117", "35": "#d2a8ff", "32": "#7ee787", "31": "#ff7b72"},
}
_SGR = re.compile(r"\x1b\[([\d;]*)m")


def main() -> int:
    """Serve the repository and take a picture of every page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path)
    installed = shutil.which("chromium") or shutil.which("chromium-headless-shell")
    parser.add_argument("--chromium", default=installed)
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
            for theme in _COLOURS:
                page = browser.new_page(viewport={"width": 960, "height": 100}, device_scale_factor=2)
                page.set_content(terminal(options.repository, theme))
                name = "terminal" if theme == "light" else "terminal-dark"
                page.screenshot(path=IMAGES / f"{name}.png", full_page=True)
    return 0


def terminal(repository: Path, theme: str) -> str:
    """Return a page that shows what the commands print."""
    parts = []
    for command in COMMANDS:
        words = [sys.executable, "-m", "dowse.interfaces.cli.main", *command.split()[1:], "--color", "always"]
        output = subprocess.run(words, cwd=repository, capture_output=True, text=True, check=True).stdout
        parts.append(f"<b>$ {html.escape(command)}</b>\n{as_html(output.rstrip(), _COLOURS[theme])}\n")
    style = f"margin:0;padding:24px;font:14px/1.5 monospace;background:{_COLOURS[theme]['bg']}"
    style += f";color:{_COLOURS[theme]['fg']}"
    return f'<body style="margin:0"><pre style="{style}">' + "\n".join(parts) + "</pre>"


def as_html(text: str, colours: Mapping[str, str]) -> str:
    """Return HTML for text with SGR sequences, each of which ends what the last one began."""
    plain, *styled = _SGR.split(text)
    parts = [html.escape(plain)]
    for codes, run in zip(styled[::2], styled[1::2], strict=True):
        style = ";".join(
            [f"color:{colours[code]}" for code in codes.split(";") if code in colours]
            + ["font-weight:bold"] * ("1" in codes.split(";"))
            + ["opacity:.6"] * ("2" in codes.split(";"))
        )
        parts.append(f'<span style="{style}">{html.escape(run)}</span>')
    return "".join(parts)


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
