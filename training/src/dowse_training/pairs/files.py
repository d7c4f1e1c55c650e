"""Files of pairs: JSON lines with pkg, name, doc and code, perhaps path and lang; plain, .xz or .gz."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from dowse.errors import ConfigError, DowseError

_OPEN: dict[str, Callable[..., IO[str]]] = {".xz": lzma.open, ".gz": gzip.open}
_SUFFIXES = (".jsonl", ".jsonl.xz", ".jsonl.gz")

# What CodeSearchNet calls our fields.
_OTHER_NAMES = {"pkg": "repo", "name": "func_name", "doc": "docstring"}


class PairFile(NamedTuple):
    """A file of pairs; without a language its rows tell theirs."""

    path: Path
    language: str

    @property
    def valid(self) -> bool:
        """Whether its packages are kept from training."""
        return ".valid." in self.path.name


def find_files(places: Iterable[str]) -> list[PairFile]:
    """The files that are named (FILE or LANGUAGE=FILE), and those in the folders that are named."""
    found: list[PairFile] = []
    for place in places:
        language, _, name = place.rpartition("=")
        path = Path(name)
        if not path.exists():
            raise ConfigError(f"there is no {path}; name folders or files of pairs")
        inside = sorted(path.iterdir()) if path.is_dir() else [path]
        files = [file for file in inside if file.name.endswith(_SUFFIXES)]
        found += [PairFile(file, language or _language(file)) for file in files]
    if not found:
        raise ConfigError("no pairs there; make some with `dowse train pairs`")
    return found


def languages_of(files: Iterable[PairFile]) -> list[str]:
    """All languages of some files."""
    found = set()
    for file in files:
        found |= {file.language} if file.language else {row["lang"] for row in read_rows(file.path)}
    return sorted(found)


def rows_of(files: Iterable[PairFile], language: str) -> Iterator[dict[str, Any]]:
    """The pairs of one language."""
    for file in files:
        if file.language in ("", language):
            rows = read_rows(file.path)
            yield from (row for row in rows if file.language or row["lang"] == language)


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The pairs of one file."""
    for row in read_lines(path):
        try:
            yield row | {ours: row[theirs] for ours, theirs in _OTHER_NAMES.items() if ours not in row}
        except (KeyError, TypeError) as error:
            raise _no_pairs(path, error) from error


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON lines of a file."""
    try:
        with _OPEN.get(path.suffix, open)(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)
    except (OSError, ValueError, lzma.LZMAError, EOFError) as error:
        raise _no_pairs(path, error) from error


def _no_pairs(path: Path, error: Exception) -> DowseError:
    return DowseError(
        f"{path} is not a file of pairs ({error!r}): give JSON lines with pkg, name, doc and code"
    )


def says_something(doc: str) -> bool:
    """Whether documentation begins with more than the heading of a list of parameters."""
    return not doc.startswith("Parameters")


def split_name(name: str) -> tuple[str, str]:
    """Qualifier and last part of a qualified name."""
    qualifier, _, last = name.replace("::", ".").rpartition(".")
    return qualifier, last or name


def _language(path: Path) -> str:
    """What a file's name says, unless its rows say it."""
    return "" if "lang" in next(read_rows(path), {}) else path.name.partition(".")[0]
