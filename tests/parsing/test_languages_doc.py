"""docs/LANGUAGES.md is what the tables of languages say."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_lists_every_language():
    made = runpy.run_path(str(ROOT / "scripts" / "docs_site" / "languages_reference.py"))
    assert (ROOT / "docs" / "LANGUAGES.md").read_text() == made["languages_page"](), (
        "run scripts/docs_site/languages_reference.py"
    )
