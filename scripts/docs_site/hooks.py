"""What MkDocs runs: pages that are made from the code, and links out of docs/ that lead to the repository."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from cli_reference import cli_reference
from http_reference import http_reference
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from python_reference import python_reference

ROOT = Path(__file__).parents[2]
# Documents of the repository that are pages too, and their names on the site.
_OUTSIDE = {"README.md": "index.md", "CONTRIBUTING.md": "CONTRIBUTING.md", "CHANGELOG.md": "CHANGELOG.md"}
_REFERENCES = {
    "reference/cli.md": cli_reference,
    "reference/http.md": http_reference,
    "reference/python.md": python_reference,
}
_LINK = re.compile(r"\[(?P<text>[^][]*)\]\((?![a-z]+:|#)(?P<target>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/."""
    for name, page in _OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text()))
    for page, make in _REFERENCES.items():
        files.append(File.generated(config, page, content=make()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite links: from repository paths to pages, or to the repository where there is no page."""
    here = page.file.src_uri
    if here in _REFERENCES:
        return markdown
    origin = {page: name for name, page in _OUTSIDE.items()}.get(here, f"docs/{here}")

    def lead(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), match["target"]))
        known = _OUTSIDE.get(target, target.removeprefix("docs/") if target.startswith("docs/") else "")
        if known and files.get_file_from_path(known):
            page_path = posixpath.relpath(known, posixpath.dirname(here) or ".")
            return f"[{match['text']}]({page_path}{match['anchor'] or ''})"
        place = ROOT / target
        if not place.exists() or target.startswith("docs/"):
            return match[0]  # MkDocs reports it
        if not (repository := config.extra["repository"]):
            return match["text"]  # it has no address yet
        kind = "tree" if place.is_dir() else "blob"
        return f"[{match['text']}]({repository}/{kind}/main/{target}{match['anchor'] or ''})"

    return _LINK.sub(lead, markdown)
