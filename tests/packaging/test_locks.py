"""Locked dependencies: complete, with hashes, for every system; and what the audit of them says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
EXTRAS = {
    **{"plain": (), "docs": ("docs",), "dev": ("dev", "docs"), "release": ("release",)},
    "integrations": ("integrations",),
}
LISTS = (*EXTRAS, "uv")  # what installs them
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def locked(name: str) -> list[tuple[Requirement, list[str]]]:
    """Return the requirements of a list with their hashes."""
    text = (ROOT / f"requirements/{name}.txt").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]
    assert not [line for line in lines if "://" in line or line.startswith("-")]  # no package index is named
    found = []
    for line in lines:
        requirement, *hashes = re.split(r"\s+--hash=", line.strip())
        found.append((Requirement(requirement), hashes))
    return found


def test_there_is_a_list_for_every_set_up():
    assert {path.stem for path in (ROOT / "requirements").glob("*.txt")} == set(LISTS)


@pytest.mark.parametrize("name", LISTS)
def test_every_requirement_is_locked_with_hashes(name):
    entries = locked(name)
    versions: dict[str, list[tuple[Requirement, str]]] = {}
    for requirement, hashes in entries:
        (specifier,) = requirement.specifier
        assert specifier.operator == "==" and hashes, requirement
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each) for each in hashes), requirement
        key = canonicalize_name(requirement.name)
        versions.setdefault(key, []).append((requirement, specifier.version))
    direct = ["uv"] if name == "uv" else [*PROJECT["dependencies"], "hatchling", "editables"]
    direct += [each for extra in EXTRAS.get(name, ()) for each in PROJECT["optional-dependencies"][extra]]
    for each in map(Requirement, direct):
        if each.name == "dowse":
            continue
        found = versions[canonicalize_name(each.name)]  # pyproject.toml was changed? run scripts/lock
        assert all(Version(version) in each.specifier for _, version in found), each


def test_lists_agree_on_versions():
    """All of them may be installed into one environment."""
    seen: dict[tuple[str, str], str] = {}
    for name in LISTS:
        for requirement, _ in locked(name):
            key = canonicalize_name(requirement.name), str(requirement.marker or "")
            assert seen.setdefault(key, str(requirement.specifier)) == str(requirement.specifier), (name, key)


FOUND = {"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2"]}]}
CLEAN = {"name": "b", "version": "1", "vulns": []}
UNKNOWN = {"name": "c", "skip_reason": "not found"}
REFUSED = "Traceback\nrequests.exceptions.ConnectionError: HTTPSConnectionPool(host='pypi.org'): refused"


@pytest.mark.parametrize(
    ("dependencies", "errors", "code", "said"),
    [
        ([CLEAN, UNKNOWN], "", 0, "1 of 2 packages looked up, 0 vulnerabilities\n"),
        ([FOUND, CLEAN], "", 1, "a: PYSEC-1, fixed in 2\n2 of 2 packages looked up, 1 vulnerabilities\n"),
        ([UNKNOWN], "", 0, "audit skipped: no database of vulnerabilities can be reached (none of"),
        (None, REFUSED, 0, "audit skipped: no database of vulnerabilities can be reached (requests."),
        (None, "requirements/dev.txt is no list", 2, ""),
    ],
)
def test_audit(tmp_path, dependencies, errors, code, said):
    """As pip-audit answers with a database, with an incomplete one, and without."""
    output = json.dumps({"dependencies": dependencies}) if dependencies else ""
    program = f"#!{sys.executable}\nimport sys\nsys.stdout.write({output!r})\nsys.exit({errors!r} or None)\n"
    (tmp_path / "pip-audit").write_text(program)
    (tmp_path / "pip-audit").chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/audit"],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == code, done.stderr
    assert done.stdout.startswith(said) and (done.stdout.count("\n") == 1 or dependencies or code)
