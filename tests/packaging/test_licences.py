"""What dowse depends on, and what its page has in it, is under permissive licences."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

from dowse.interfaces.http.app import create_app

ROOT = Path(__file__).parents[2]
PAGE = Path(create_app.__code__.co_filename).with_name("page")
PERMISSIVE = {
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "MIT",
    "MIT-0",
    "PSF-2.0",
    "Zlib",
}
# As older metadata spells them.
SPELLINGS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
}
EXCEPTIONS = {
    # The fonts of the page: free to bundle, not to sell alone.
    "@fontsource-variable/instrument-sans": {"OFL-1.1"},
    "@fontsource-variable/jetbrains-mono": {"OFL-1.1"},
}


def runtime_distributions() -> set[str]:
    """Return the names of all distributions that an installation has."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    waiting, seen = [Requirement(each) for each in project["dependencies"]], {}
    while waiting:
        requirement = waiting.pop()
        name, extras = requirement.name.lower().replace("_", "-"), {"", *requirement.extras}
        marker = requirement.marker
        if extras <= seen.get(name, set()) or (marker and not marker.evaluate({"extra": ""})):
            continue
        seen[name] = seen.get(name, set()) | extras
        for each in map(Requirement, distribution(name).requires or []):
            if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in extras):
                each.marker = None
                waiting.append(each)
    return set(seen)


def licences(name: str) -> set[str]:
    """Return the licences of a distribution: of its expression, or of what came before there were any."""
    about = distribution(name).metadata
    text = about.get("License-Expression") or about.get("License")
    if not text or "\n" in text:
        text = ", ".join(
            each.rpartition(" :: ")[2]
            for each in about.get_all("Classifier", [])
            if each.startswith("License")
        )
    parts = (part.strip("() ") for part in re.split(r" AND | OR |,", text))
    return {SPELLINGS.get(part, part) for part in parts}


def test_dependencies_are_permissive():
    names = runtime_distributions()
    assert {"numpy", "pydantic-core", "starlette", "cryptography"} <= names  # also those of dependencies
    found = {name: licences(name) - PERMISSIVE - EXCEPTIONS.get(name, set()) for name in names}
    assert {name: others for name, others in found.items() if others or not licences(name)} == {}


def test_the_page_names_every_package_in_it_with_its_licence():
    lock = json.loads((ROOT / "web/package-lock.json").read_text())["packages"]
    waiting, needed = list(lock[""]["dependencies"]), set()
    while waiting:
        if (name := waiting.pop()) not in needed:
            needed.add(name)
            waiting += lock[f"node_modules/{name}"].get("dependencies", {})
    listed = {}
    for part in (PAGE / "licences.txt").read_text().split("\n\n" + "=" * 78 + "\n\n"):
        head, _, text = part.partition("\n")
        name, version, licence = re.fullmatch(r"(\S+) (\S+) \((\S+)\)", head).groups()
        assert version == lock[f"node_modules/{name}"]["version"]
        assert licence in PERMISSIVE | EXCEPTIONS.get(name, set())
        assert len(text) > 500, f"{name} comes without the text of its licence"
        listed[name] = version
    assert set(listed) == needed
    # Its own header stands in the style sheet, as MIT asks for.
    (style,) = (PAGE / "assets").glob("index-*.css")
    assert style.read_text().startswith("/*! tailwindcss v")
