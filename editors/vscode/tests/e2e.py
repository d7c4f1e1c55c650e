"""Try the packaged extension in VS Code's server with Chromium; `scripts/vscode e2e` installs both.

usage: e2e.py SERVER_MAIN VSIX [FOLDER QUESTION SCREENSHOTS]

With a folder and a question, it takes screenshots of that instead.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Locator, Page, expect, sync_playwright

PATIENCE_MS = 20_000
TREE = {
    "shop/cart.py": "from shop.prices import lookup\n\n\n"
    'def checkout(cart):\n    """Pay for a cart."""\n    return lookup(cart) + lookup("fee")\n',
    "shop/prices.py": 'def lookup(item):\n    """Find out what an item costs."""\n    return 1.0\n',
    "web/page.ts": "/** The price of an item, as text. */\nexport function label(): string { return '' }\n",
}


def main() -> None:
    """Run the checks, or take screenshots."""
    server, vsix, *wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary)
        folder = Path(wanted[0]) if wanted else write_tree(base / "tree", base / "ran")
        with editor(base, Path(server), Path(vsix)) as address, browser() as page:
            page.goto(f"{address}/?folder={folder}")
            page.get_by_role("button", name="Yes, I trust the authors").click()
            if wanted:
                take_screenshots(page, wanted[1], Path(wanted[2]))
                return
            check_search(page)
            check_why(page)
            check_filter(page)
            check_symbol_commands(page)
        assert not (base / "ran").exists(), "a command of the workspace's settings was run"


def write_tree(root: Path, marker: Path) -> Path:
    """Write a repository that also tries to name the command that is run."""
    evil = root / "evil.sh"
    settings = {"dowse.path": str(evil), "dowse.maxResults": 20}
    files = {
        **TREE,
        "evil.sh": f"#!/bin/sh\ntouch '{marker}'\n",
        ".vscode/settings.json": json.dumps(settings),
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    evil.chmod(0o755)
    return root


@contextlib.contextmanager
def editor(base: Path, server: Path, vsix: Path) -> Iterator[str]:
    """Start an editor that has the extension and nothing else; give its address."""
    machine = base / "server" / "data" / "Machine" / "settings.json"
    machine.parent.mkdir(parents=True)
    dowse = shutil.which("dowse")
    assert dowse, "dowse is not installed"
    settings = {"dowse.path": dowse, "workbench.startupEditor": "none", "window.autoDetectColorScheme": True}
    machine.write_text(json.dumps(settings))
    places = {f"XDG_{name}_HOME": str(base / name.lower()) for name in ("CACHE", "CONFIG", "DATA", "STATE")}
    environment = {**os.environ, **places, "HOME": str(base), "DOWSE_ENCODER": "small"}
    command = ["node", str(server), "--accept-server-license-terms", "--telemetry-level", "off"]
    command += ["--server-data-dir", str(base / "server"), "--extensions-dir", str(base / "extensions")]
    with (base / "log").open("w") as log:
        subprocess.run(
            [*command, "--install-extension", str(vsix)], env=environment, stdout=log, stderr=log, check=True
        )
        port = free_port()
        listen = ["--without-connection-token", "--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(
            [*command, *listen], env=environment, stdout=subprocess.PIPE, stderr=log, text=True
        )
        assert process.stdout is not None
        try:
            next(line for line in process.stdout if "listening on" in line)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()
            process.stdout.close()


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def browser() -> Iterator[Page]:
    """Give an empty page in Chromium."""
    expect.set_options(timeout=PATIENCE_MS)
    names = ("chromium", "chromium-headless-shell", "google-chrome")
    chromium = next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        page = started.new_page(viewport={"width": 1100, "height": 680})
        page.set_default_timeout(PATIENCE_MS)
        try:
            yield page
        except Exception:
            page.screenshot(path="dist/e2e-failure.png")
            raise
        finally:
            started.close()


def run_command(page: Page, name: str) -> None:
    """Run a command of the palette."""
    page.keyboard.press("F1")
    ask(page, f">{name}")
    page.get_by_role("option", name=name).first.click()


def ask(page: Page, text: str) -> None:
    """Type into the picker that is open."""
    page.locator(".quick-input-widget input[type=text]").fill(text)


def search_box(page: Page) -> Locator:
    """Return where a question is typed."""
    return page.get_by_placeholder("A name, words, a question")


def search(page: Page, question: str) -> None:
    """Open the picker and type a question."""
    run_command(page, "Dowse: Search")
    search_box(page).fill(question)


def accept(page: Page) -> None:
    """Open the result that is highlighted; the editor has the focus then."""
    page.keyboard.press("Enter")
    expect(page.locator(".editor-instance .monaco-editor.focused")).to_be_visible()


def check_search(page: Page) -> None:
    """Nothing runs before it is needed; results are previewed, opened and kept in the view."""
    expect(page.get_by_role("tab", name="Explorer")).to_be_visible()
    expect(page.get_by_role("button", name="dowse:")).to_have_count(0)
    page.get_by_role("tab", name="Dowse").first.click()
    expect(page.get_by_role("button", name=re.compile(r"dowse: \d+ symbols"))).to_be_visible()
    search(page, "what does an item cost")
    expect(page.get_by_role("option").first).to_contain_text("lookup")
    expect(page.get_by_role("tab", name="prices.py, preview")).to_be_visible()
    accept(page)
    expect(page.get_by_role("button", name="Ln 1, Col 5")).to_be_visible()
    expect(page.get_by_role("treeitem", name="function, lookup, line 1")).to_be_visible()


def check_why(page: Page) -> None:
    """A result opens to what its score is made of."""
    page.get_by_role("treeitem", name="function, lookup").locator(".monaco-tl-twistie").click()
    expect(page.get_by_role("treeitem", name=re.compile(r"Meaning \+"))).to_be_visible()
    expect(page.get_by_role("treeitem", name=re.compile(r"Keywords \+"))).to_be_visible()


def check_filter(page: Page) -> None:
    """A filter by language leaves the files of that language."""
    run_command(page, "Dowse: Filter")
    page.get_by_role("option", name="Language").click()
    page.get_by_role("checkbox", name="typescript").first.click()
    page.keyboard.press("Enter")
    search_box(page).fill("price of an item")
    expect(page.get_by_text("lang:typescript").first).to_be_visible()
    expect(page.get_by_role("option").first).to_contain_text("label")
    accept(page)
    expect(page.get_by_role("treeitem", name="function, lookup")).to_have_count(0)


def check_symbol_commands(page: Page) -> None:
    """The symbol at the cursor has callers, with certainty, and similar symbols."""
    run_command(page, "Dowse: Filter")
    page.get_by_role("option", name="Clear all filters").click()
    search_box(page).fill("lookup")
    expect(page.get_by_role("option").first).to_contain_text("lookup")
    accept(page)
    expect(page.get_by_role("button", name="Ln 1, Col 5")).to_be_visible()
    run_command(page, "Dowse: What Calls This")
    expect(page.get_by_text("1 result: calls of lookup")).to_be_visible()
    expect(page.get_by_role("treeitem", name="checkout, line 6, resolved")).to_be_visible()
    run_command(page, "Dowse: Find Similar")
    expect(page.get_by_text("similar to lookup")).to_be_visible()


def take_screenshots(page: Page, question: str, folder: Path) -> None:
    """Show a search while it is typed, then a result with its reasons, the latter light and dark."""
    page.get_by_role("tab", name="Dowse").first.click()
    expect(page.get_by_role("button", name=re.compile(r"symbols.*100 % embedded"))).to_be_visible(
        timeout=300_000
    )
    search(page, question)
    expect(page.get_by_role("option").nth(3)).to_be_visible()
    expect(page.get_by_role("tab", name=re.compile("preview"))).to_be_visible()
    page.mouse.move(700, 500)
    page.screenshot(path=folder / "vscode-search.png")
    accept(page)
    page.get_by_role("treeitem", level=2).first.locator(".monaco-tl-twistie").click()
    expect(page.get_by_role("treeitem", level=3).first).to_be_visible()
    page.mouse.move(700, 500)
    page.screenshot(path=folder / "vscode-results.png")
    light = page.locator("body").evaluate(
        "() => getComputedStyle(document.querySelector('.monaco-workbench')).color"
    )
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".monaco-workbench")).not_to_have_css("color", light)
    page.screenshot(path=folder / "vscode-results-dark.png")


if __name__ == "__main__":
    main()
