r"""What must never be trained on, because it is evaluated on.

A list names repositories (`owner/name`) and holds hashes, of functions without their documentation and of
first paragraphs of documentation: the first 16 hexadecimal digits of SHA-1 over `re.sub(r"\W+", "", text)` in
lower case. A pair is excluded if any of the three matches.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dowse.errors import DowseError
from dowse.eval.mine.doc_pairs import first_paragraph

_NOT_WORD = re.compile(r"\W+")
_NAME_JOINTS = re.compile(r"[-_.]+")

# Folders in archives are named after the release.
_RELEASE = re.compile(r"-v?\d+(?:-\w+)*$")

# What registries put around a project's name: Debian's python3-x, golang-github-owner-x-dev, libx-dev, …
_PACKAGING = re.compile(
    r"^(?:python3?|py|node|ruby|php|golang(?:-github|-gopkg)?|librust|rust|lib)-?(?=\w{2})"
    r"|(?:-(?:dev|python|py|js|rb|php|go|rs|java|src|sources))+$"
)

# Under which names it is counted what a list keeps out.
PACKAGE_EXCLUDED = "package excluded"
CODE_EXCLUDED = "code excluded"
DOC_EXCLUDED = "documentation excluded"

# Decorators and attributes stand before a function in some corpora and are cut off in others.
_LEADING_LINES = re.compile(r"\s*(?:@|#\[|\[|///?|#)")


def text_hash(text: str) -> str:
    """The hash of a text that white space, punctuation, comment marks and case don't change."""
    return hashlib.sha1(_NOT_WORD.sub("", text).lower().encode(), usedforsecurity=False).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Exclusion:
    """The list, ready to be asked."""

    names: frozenset[str] = frozenset()
    code: frozenset[str] = frozenset()
    docs: frozenset[str] = frozenset()

    def reason(self, doc: str, code: str, package: str = "") -> str:
        """Why a pair must not be trained on, or ""."""
        if package and self.has_name([package]):
            return PACKAGE_EXCLUDED
        if self.has_code(code):
            return CODE_EXCLUDED
        return DOC_EXCLUDED if self.has_doc(doc) else ""

    def has_name(self, names: Iterable[str]) -> bool:
        """Whether a package is one of the listed repositories, by any of its names."""
        return any(not self.names.isdisjoint(_spellings(name)) for name in names)

    def has_folder(self, path: str) -> bool:
        """Whether a file lies in a folder named like a listed repository: a copy of it, most likely."""
        return not self.names.isdisjoint(_normal_name(part) for part in path.split("/")[:-1])

    def has_code(self, code: str) -> bool:
        """Whether a function, whole and without its documentation, is listed."""
        return not self.code.isdisjoint(text_hash(part) for part in _bodies(code))

    def has_doc(self, doc: str) -> bool:
        """Whether the first paragraph of a documentation is listed, as it stands or cut at another place."""
        return not self.docs.isdisjoint(text_hash(part) for part in _openings(doc))


def read_exclusion(path: Path) -> Exclusion:
    """Read a list from a JSON file, gzipped or not, with the keys `repos`, `code_sha1` and `doc_sha1`."""
    try:
        data = path.read_bytes()
        listed = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        return make_exclusion(listed["repos"], listed["code_sha1"], listed["doc_sha1"])
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError) as error:
        raise DowseError(
            f"{path} is not an exclusion list ({error!r}): "
            "give a JSON file with the lists repos, code_sha1 and doc_sha1"
        ) from error


def make_exclusion(repos: Iterable[str], code: Iterable[str], docs: Iterable[str]) -> Exclusion:
    """Build the list from repositories (`owner/name`) and hashes."""
    names = frozenset(_normal_name(repo.rpartition("/")[2]) for repo in repos)
    return Exclusion(names - {""}, frozenset(code), frozenset(docs))


def merge(exclusions: Iterable[Exclusion]) -> Exclusion:
    """Everything that any of several lists holds."""
    merged = Exclusion()
    for other in exclusions:
        merged = Exclusion(merged.names | other.names, merged.code | other.code, merged.docs | other.docs)
    return merged


def _normal_name(name: str) -> str:
    """A name as package indexes compare them."""
    return _NAME_JOINTS.sub("-", name).lower().strip("-")


def _spellings(name: str) -> Iterator[str]:
    """A package's name, without scope or group, and without what a distribution puts around it."""
    name = name.rpartition("/")[2].rpartition(":")[2]
    normal = _normal_name(name)
    yield normal
    bare = _RELEASE.sub("", normal)
    yield bare
    while (shorter := _PACKAGING.sub("", bare, count=1)) != bare:
        bare = shorter
        yield bare
    if normal.startswith("golang-"):
        # golang-github-owner-name-dev: which part is the owner can't be told, so every tail counts.
        parts = bare.split("-")
        yield from ("-".join(parts[start:]) for start in range(1, len(parts)))


def _bodies(code: str) -> Iterator[str]:
    """A function as it stands, and without the decorators, attributes and comments before it."""
    yield code
    lines = code.splitlines()
    for number, line in enumerate(lines):
        if line.strip() and not _LEADING_LINES.match(line):
            if number:
                yield "\n".join(lines[number:])
            return


def _openings(doc: str) -> Iterator[str]:
    """The first paragraph, its first line and the whole: corpora cut documentation in different places."""
    paragraph = first_paragraph(doc)
    yield paragraph
    yield paragraph.split("\n", 1)[0]
    yield doc
