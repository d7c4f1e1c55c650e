"""Write docs/LANGUAGES.md from the tables of languages and the names that ctags finds."""

from __future__ import annotations

import json
from pathlib import Path

from dowse.graph.keys import family_of
from dowse.graph.resolve.resolver import RULES
from dowse.parsing.languages import DATA_LANGUAGES, EMBEDDING_LANGUAGES, LANGUAGES, has_symbols
from dowse.parsing.limits import MAX_DATA_BYTES, MAX_KEYS
from dowse.parsing.line_patterns import PATTERNS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "LANGUAGES.md"
# The share of fewer names tells little.
_MIN_NAMES = 50
_MEASURED = ROOT / "bench" / "figures" / "names.json"
_HEAD = """\
# Languages

{count} languages have definitions. A *symbol* (function, method, type, section) is found by meaning, words
and name; a *name* (constant, field, key, column …) by its name. A file of any other language is searched by
its text.

- *grammar*: a [tree-sitter](https://tree-sitter.github.io) grammar and a query file in
  `src/dowse/parsing/queries`. All grammars are in one package,
  [semble-grammars](https://pypi.org/project/semble-grammars/); each is extracted when it is first needed, to
  `grammars` in the cache folder, which only the user can write to.
- *line patterns*: a row in `src/dowse/parsing/line_patterns.py`.
- *embedded*: by the languages inside: scripts and styles, code cells, fenced code.

Lock files, and files of JSON and YAML that have more than {bytes:,} bytes, {keys:,} keys or a line of 5,000
bytes, are data: their keys are no names. Keys of the items of a list count once.

*uses*: what refers to a definition. *rules*: references are resolved by imports, scopes and types
([GRAPH.md](GRAPH.md)); *by name*: by the name alone; *mentions*: lines that have the name.

The last column is the share of the names that Universal Ctags finds whose definition is the first answer,
without what it mistakes for one {source}. `scripts/docs_site/languages_reference.py` makes this page.

| language | symbols | names | uses | of ctags' names |
|---|---|---|---|---|
"""


def languages_page() -> str:
    """Return the page."""
    names = sorted({*LANGUAGES, *DATA_LANGUAGES, *EMBEDDING_LANGUAGES, *PATTERNS, "markdown", "yaml"})
    measured = _measured_shares()
    rows = "".join(
        f"| {name} | {_symbols(name)} | {_names(name)} | {_uses(name)} | {measured.get(name, '–')} |\n"
        for name in names
    )
    source = "([names.json](../bench/figures/names.json))" if measured else "(not measured yet)"
    return _HEAD.format(count=len(names), bytes=MAX_DATA_BYTES, keys=MAX_KEYS, source=source) + rows


def _symbols(name: str) -> str:
    if name in LANGUAGES:
        return "grammar"
    if name in EMBEDDING_LANGUAGES:
        return "embedded"
    return "sections" if name == "markdown" else ""


def _names(name: str) -> str:
    if name in LANGUAGES or name in DATA_LANGUAGES:
        return "grammar"
    if name in EMBEDDING_LANGUAGES or name == "markdown":
        return "embedded"
    return (
        "indentation" if name == "yaml" else "line patterns, embedded" if name == "html" else "line patterns"
    )


def _uses(name: str) -> str:
    if not has_symbols(name):
        return "mentions"
    return "rules" if family_of(name) in RULES else "by name"


def _measured_shares() -> dict[str, str]:
    """Return the measured share by language."""
    if not _MEASURED.exists():
        return {}
    values = json.loads(_MEASURED.read_text())["values"]
    place = "search/languages_without_mistakes/"
    rows = {name.removeprefix(place).split("/")[0] for name in values if name.startswith(place)}
    return {
        name: f"{values[f'{place}{name}/share']:.1%}"
        for name in rows
        if values[f"{place}{name}/names"] >= _MIN_NAMES
    }


if __name__ == "__main__":
    PAGE.write_text(languages_page())
