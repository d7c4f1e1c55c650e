"""One package in, its pairs out: what runs in each worker process."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass

from dowse.eval.mine.doc_pairs import Candidate
from dowse_training.pairs.exclusion import DOC_EXCLUDED, PACKAGE_EXCLUDED, Exclusion
from dowse_training.pairs.extract import read_candidates, source_files
from dowse_training.pairs.filters import drop_reason
from dowse_training.pairs.model import MinedPackage, Package
from dowse_training.pairs.names import known_names

# How many times the cap is collected before duplicates are taken out.
_SURPLUS = 1.5

# Source that is read for every pair of the cap. Ordinary packages give a pair for every 2 to 5 KB; one that
# is still below its cap after this much has next to no documentation.
_BYTES_PER_PAIR = 16_384

FOLDER_EXCLUDED = "file: folder excluded"
CAP_REACHED = "file: enough of this package"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is mined of a package."""

    languages: frozenset[str]
    cap: int  # pairs of one package in one language, at most
    exclusion: Exclusion


def mine_package(package: Package, wanted: Wanted) -> MinedPackage:
    """Read a package's source and keep what passes the filters and is not excluded."""
    dropped: Counter[tuple[str, str]] = Counter()
    kept: list[Candidate] = []
    if wanted.exclusion.has_name(known_names(package)):
        dropped["", PACKAGE_EXCLUDED] += 1
    else:
        kept = _mine_files(package, wanted, dropped)
    return MinedPackage(
        package.registry, package.name, package.version, package.licence, tuple(kept), dict(dropped)
    )


def _mine_files(package: Package, wanted: Wanted, dropped: Counter[tuple[str, str]]) -> list[Candidate]:
    """Go through the files until there is enough."""
    kept: list[Candidate] = []
    found: Counter[str] = Counter()
    left = wanted.cap * _BYTES_PER_PAIR
    for path, language in source_files(package.folder, wanted.languages):
        if wanted.exclusion.has_folder(path):
            dropped[language, FOLDER_EXCLUDED] += 1
        elif left < 0 or found[language] >= _SURPLUS * wanted.cap:
            dropped[language, CAP_REACHED] += 1
        else:
            left -= os.lstat(package.folder / path).st_size
            read = read_candidates(package.folder, path, language, wanted.languages, dropped)
            passed = [candidate for candidate in read if _passes(candidate, wanted, dropped)]
            found.update(candidate.language for candidate in passed)
            kept += passed
    return kept


def _passes(candidate: Candidate, wanted: Wanted, dropped: Counter[tuple[str, str]]) -> bool:
    """Whether a candidate is worth a pair; if not, it is counted."""
    reason = drop_reason(candidate) or wanted.exclusion.reason(candidate.doc, candidate.code)
    if not reason and wanted.exclusion.has_doc(candidate.written_doc):
        reason = DOC_EXCLUDED
    if reason:
        dropped[candidate.language, reason] += 1
    return not reason
