"""A real Chromium, and what a test may ask of a page in it."""

from __future__ import annotations

import functools
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

REPOSITORY = Path(__file__).parents[2]
WEB = REPOSITORY / "web"
# Debian's, the one without windows first (it is faster), other distributions', and what people call theirs.
_NAMES = (
    *("chromium-headless-shell", "chromium", "chromium-browser"),
    *("google-chrome", "google-chrome-stable"),
)
# Containers seldom have what its sandbox needs; nothing but our own page is opened.
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]


def chromium() -> str:
    """Return the browser; without one the test is skipped, or fails where tools are required."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    return found or missing("a Chromium; install Debian's with `apt-get install chromium`")


@functools.cache
def axe() -> str:
    """Return the script of axe-core, which checks accessibility."""
    path = WEB / "node_modules" / "axe-core" / "axe.min.js"
    return path.read_text() if path.is_file() else missing("axe-core; install it with `scripts/page install`")


def missing(what: str) -> str:
    """Skip, or fail where CI says that every tool must be there."""
    if os.environ.get("DOWSE_REQUIRE_TOOLS"):
        pytest.fail(f"this test needs {what}")
    pytest.skip(f"needs {what}")


def violations(page: Page, *rules: str) -> list[str]:
    """Return what axe finds amiss on a page, by all rules or some, each with the first elements concerned."""
    # Animations change contrasts while they run.
    page.evaluate("Promise.all(document.getAnimations().map(each => each.finished.catch(() => 0)))")
    page.evaluate(axe())  # not a <script>: the page's policy would forbid it
    found: list[dict[str, Any]] = page.evaluate(
        """rules => axe.run(document, {
            resultTypes: ['violations'],
            ...(rules.length && { runOnly: { type: 'rule', values: rules } }),
        }).then(result => result.violations)""",
        rules,
    )
    return [
        f"{each['id']}: {each['help']} at {node['target']}: {node['failureSummary']}"
        for each in found
        for node in each["nodes"][:2]
    ]


def is_wider_than_screen(page: Page) -> bool:
    """Whether the page has to be scrolled sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))
