"""Checksums of the text indexes of a generation, kept in the catalog: both become visible in one commit."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from dowse.security.checked_files import VerifiedFiles, file_checksum, stamps
from dowse.storage.local.layout import TEXT

Sums = Mapping[str, tuple[int, int]]  # size and checksum, by name within the generation

# The key of the checksums in the catalog's table `meta`.
TEXT_SUMS = "text_sums"
# tantivy replaces these; all its other files have a name of their own and never change.
_REPLACED = ("meta.json", ".managed.json")
# An index may come from anybody: no name leads out of the folder.
_NAME = re.compile(r"(symbols|files)/[\w.-]+")


def measure_text(folder: Path, before: Sums) -> Sums:
    """Return the checksums of a generation; of files that the last one had too, those are taken."""
    names = sorted(
        f"{entry.parent.name}/{entry.name}" for entry in folder.glob("*/*") if entry.suffix != ".lock"
    )
    return {
        name: before[name]
        if name in before and not name.endswith(_REPLACED)
        else file_checksum(folder / name)
        for name in names
    }


def encode_sums(sums: Sums) -> str:
    """Return checksums as they are stored."""
    return json.dumps(sums)


def decode_sums(text: str) -> Sums | None:
    """Return stored checksums; None if they can't be read."""
    try:
        sums = {name: (int(size), int(checksum)) for name, (size, checksum) in json.loads(text).items()}
    except (ValueError, TypeError, AttributeError):
        return None
    return sums if all(_NAME.fullmatch(name) for name in sums) else None


def text_problems(folder: Path, sums: Sums, verified: VerifiedFiles | None) -> list[str]:
    """Return what is wrong with the files of a generation; those known to be intact are not read."""
    paths = {f"{TEXT}/{folder.name}/{name}": name for name in sums}
    found = stamps(folder.parents[1], paths)
    if verified is not None and verified.has(TEXT, found):
        return []
    problems = []
    for path, name in paths.items():
        status = found[path]
        if status is None:
            problems.append(f"{path} is missing")
        elif status[1] != sums[name][0]:
            problems.append(f"{path} has {status[1]:,} bytes instead of {sums[name][0]:,}")
        elif (checksum := _checksum(folder / name)) != tuple(sums[name]):
            problems.append(f"{path} is {'not what was written' if checksum else 'missing'}")
    if verified is not None and not problems:
        verified.add({TEXT: found})
    return problems


def _checksum(path: Path) -> tuple[int, int] | None:
    """Return size and checksum of a file; None if a writer has just removed it with its generation."""
    try:
        return file_checksum(path)
    except FileNotFoundError:
        return None
