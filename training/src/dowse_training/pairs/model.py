"""What travels through the mining of pairs: plain, frozen data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from dowse.eval.mine.doc_pairs import Candidate

# What a written pair holds at most: more than an encoder reads, less than the longest functions are.
MAX_DOC_CHARACTERS = 800
MAX_CODE_CHARACTERS = 1_600

# A larger file is data or generated, and its functions are not what people search.
MAX_FILE_BYTES = 400_000


@dataclass(frozen=True, slots=True)
class Package:
    """One package whose source has been laid out in a folder."""

    registry: str  # "pypi", "debian", "npm", "crates", "maven", "local"
    name: str
    version: str
    licence: str  # as the registry states it; "" when it does not
    folder: Path


class Pair(NamedTuple):
    """One line of the output."""

    pkg: str
    name: str
    doc: str
    code: str
    path: str  # within the package


def pair_of(package: str, candidate: Candidate) -> Pair:
    """The pair that is written for a candidate, cut to size."""
    return Pair(
        package,
        candidate.qualified_name,
        candidate.doc[:MAX_DOC_CHARACTERS].rstrip(),
        candidate.code[:MAX_CODE_CHARACTERS].rstrip(),
        candidate.path,
    )


@dataclass(frozen=True, slots=True)
class MinedPackage:
    """What one package gave: candidates that passed, and how many were dropped for what reason."""

    registry: str
    name: str
    version: str
    licence: str
    candidates: Sequence[Candidate]
    dropped: Mapping[tuple[str, str], int]  # (language, reason) → count
