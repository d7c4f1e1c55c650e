"""docs/ARCHITECTURE.md and docs/GLOSSARY.md name the modules that there are."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "dowse"
ARCHITECTURE = (ROOT / "docs" / "ARCHITECTURE.md").read_text()
GLOSSARY = (ROOT / "docs" / "GLOSSARY.md").read_text()


def test_the_table_of_parts_lists_every_package_and_module():
    table = ARCHITECTURE.split("## The parts")[1]
    listed = set(
        re.findall(r"`([a-z_]+(?:/|\.py))`", "\n".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE)))
    )
    there = {f"{path.name}/" for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    there |= {path.name for path in PACKAGE.glob("*.py") if path.name != "__init__.py"}
    assert listed == there


@pytest.mark.parametrize("document", ["ARCHITECTURE.md", "GLOSSARY.md"])
def test_every_file_that_is_named_exists(document):
    text = (ROOT / "docs" / document).read_text()
    named = re.findall(r"`([a-z_]+(?:/[a-z_0-9]+)*(?:/|\.py))`", text)
    assert len(named) > 20
    missing = [name for name in named if not (ROOT / name).exists() and not any(PACKAGE.rglob(name))]
    assert missing == []


def test_terms_of_the_glossary_are_in_the_file_it_names():
    rows = re.findall(r"^\| (.+?) \| .+? \| (`.+?`) \|$", GLOSSARY, re.MULTILINE)
    assert len(rows) > 20
    for terms, files in rows:
        places = [PACKAGE / name for name in re.findall(r"`(.+?)`", files)]
        paths = [path for place in places for path in (place.rglob("*.py") if place.is_dir() else [place])]
        text = "\n".join(path.read_text() for path in paths).lower().replace("_", " ").replace("\n    ", " ")
        for term in terms.split(", "):
            assert term.lower() in text or term.lower().replace("-", " ") in text, f"{term} is not in {files}"


def test_there_are_no_import_cycles():
    graph = grimp.build_graph("dowse", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imports).prepare()  # raises CycleError
