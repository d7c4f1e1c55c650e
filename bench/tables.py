"""Tables of README and docs: written between markers, from figures and the templates in bench/tables.md.

A page has `<!-- figures: NAME -->` … `<!-- /figures -->`; the section `## NAME` of bench/tables.md is what
stands between them. There `{measure: value}` is a value of bench/figures/MEASURE.json, `{measure: value as
form}` the same in another form: `interval`, `percent`, `MB`, `GB`, or a format of Python such as `.1f`. A
measure that was not made yet is a dash; a value that its figures don't have is an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Figures = Mapping[str, Mapping[str, Any]]
TEMPLATES = "bench/tables.md"
# Pages that may have tables.
_PAGES = ("README.md", "docs/*.md", "bench/README.md", "models/README.md")
_BLOCK = re.compile(
    r"(<!-- figures: (?P<name>[\w-]+) -->)(?P<space>\n\n|)(?P<text>.*?)(?P=space)(<!-- /figures -->)",
    re.DOTALL,
)
_PLACE = re.compile(r"\{(?P<measure>[\w-]+): (?P<value>[^{}]+?)(?: as (?P<form>[^{}]+))?\}")
_FORMS: dict[str, Callable[[float], str]] = {
    "percent": lambda value: f"{100 * value:.0f} %",
    "MB": lambda value: plain(value / 1e6),
    "GB": lambda value: plain(value / 1e9),
}


def figures_of(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the figures of every measure that was made."""
    return {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))}


def write_tables(root: Path) -> list[str]:
    """Write the tables that differ; return the pages that were changed."""
    changed = []
    for path, text in _filled(root).items():
        if (root / path).read_text("utf-8") != text:
            (root / path).write_text(text, "utf-8")
            changed.append(path)
    return changed


def outdated_tables(root: Path) -> list[str]:
    """Return the pages whose tables differ from the figures."""
    return [path for path, text in _filled(root).items() if (root / path).read_text("utf-8") != text]


def outside_tables(text: str) -> str:
    """Return a page without what is written from figures."""
    return _BLOCK.sub("", text)


def fill(template: str, figures: Figures) -> str:
    """Put figures into the places of a template."""

    def show(match: re.Match[str]) -> str:
        name, value, form = match["measure"], match["value"], match["form"] or ""
        if name not in figures:
            return "–"
        figure = figures[name]
        if form == "interval":
            low, high = figure["intervals"][value]
            return f"{plain(low)}–{plain(high)}"
        try:
            number = figure["values"][value]
        except KeyError:
            raise KeyError(f"bench/figures/{name}.json has no value {value!r}") from None
        if not form or isinstance(number, str):
            return plain(number)
        return _FORMS[form](number) if form in _FORMS else format(number, form)

    return _PLACE.sub(show, template)


def plain(value: float | str) -> str:
    """Write a share as `.894`, a count as `1,589`, and other numbers with three digits."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if value in (0.0, 1.0) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3g}"


def _filled(root: Path) -> dict[str, str]:
    """Return the text that each page with tables must have."""
    templates = _templates((root / TEMPLATES).read_text("utf-8"))
    figures = figures_of(root / "bench" / "figures")

    def replace(match: re.Match[str]) -> str:
        space = match["space"]
        return f"{match[1]}{space}{fill(templates[match['name']], figures)}{space}{match[5]}"

    pages = sorted(path for pattern in _PAGES for path in root.glob(pattern))
    texts = {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in pages}
    return {path: _BLOCK.sub(replace, text) for path, text in texts.items() if _BLOCK.search(text)}


def _templates(text: str) -> dict[str, str]:
    """Return the sections of the file of templates by name."""
    parts = re.split(r"^## ([\w-]+)\n", text, flags=re.MULTILINE)[1:]
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}
