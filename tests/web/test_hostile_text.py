"""Code and names that want to look like something else, or to run: the page shows what is there."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from dowse import Index
from interfaces.http.running import running
from web.conftest import Visit

from helpers import write_tree

MARKUP = "<img src=x onerror=\"document.title='pwned'\">"
FILES = {
    "safe\u202etxt.py": "def sweep_too():\n    return 1\n",
    "a.py": f"def sweep(admin):\n    # \u202e\u2066 {MARKUP}\u2069 \u200b\U000e0041 end\n    return '\x9b'\n",
}


def test_hidden_and_reordering_characters_are_shown(visit: Visit, tmp_path: Path) -> None:
    index = Index.open(write_tree(tmp_path / "code", FILES), index_dir=str(tmp_path / "i"), refresh="never")
    index.update()
    with running([index]) as run:
        page = visit(run).open("/search?q=sweep")
        expect(page.get_by_text("safe\ufffdtxt.py").first).to_be_visible()
        expect(page.get_by_text("end").first).to_be_visible()
        text = page.locator("body").inner_text()
        assert MARKUP in text and page.title() != "pwned"
        assert not set("\u202e\u2066\u2069\u200b\U000e0041\x9b") & set(text)
