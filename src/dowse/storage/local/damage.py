"""The full check of an index folder: every byte of every file, whatever is known to be intact."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.errors import DowseError
from dowse.security.checked_files import unseal
from dowse.storage.local.layout import DERIVED, VECTORS
from dowse.storage.local.vectors import CLUSTERS, EMBEDDED, fitted_clusters
from dowse.storage.protocol import Damage

if TYPE_CHECKING:
    from dowse.storage.local.catalog import Catalog
    from dowse.storage.local.integrity import Doubts, Integrity

# Files of one piece, each with its checksum at the end; they are made again when they are missing.
_SEALED_VECTORS = (EMBEDDED, CLUSTERS, "*.order", "*.approx")
_SEALED_DERIVED = ("tree.i64", "commits.json", "tfidf/state.json")


def catalog_damage(integrity: Integrity, catalog: Catalog, doubts: Doubts) -> list[Damage] | None:
    """Return what is wrong with the catalog and the text indexes; None if a newer snapshot has to confirm."""
    state = integrity.check_catalog(catalog, doubts, whole=True)
    if state is None:
        return None
    reasons = {"catalog": state.problem, "graph": state.graph, "checksums": state.note}
    found = [Damage(part, reason) for part, reason in reasons.items() if reason]
    if state.problem:
        return found
    problems = integrity.text_problems(catalog.generation(), integrity.text_sums(catalog), whole=True)
    return found + [Damage("text", problem) for problem in problems]


def vector_damage(folder: Path) -> Iterator[Damage]:
    """Yield what is wrong with the vectors of each encoder."""
    from dowse.vectors.matrix import Matrix, any_dimension

    for place in sorted(each for each in (folder / VECTORS).glob("*") if each.is_dir()):
        try:
            matrix = Matrix.open(place, any_dimension(place))
            problem = matrix.verify(whole=True) or matrix.problem()
            if fitted_clusters(matrix) and not (place / CLUSTERS).exists():
                yield Damage("derived", f"{place.name}/{CLUSTERS} is missing", f"{place.name}/{CLUSTERS}")
        except DowseError as error:
            problem = str(error).partition("; run ")[0]
        if problem:
            yield Damage("vectors", problem, place.name)
        yield from _sealed_damage(place, _SEALED_VECTORS, place.name)


def derived_damage(folder: Path) -> Iterator[Damage]:
    """Yield what is wrong with what is derived from an index."""
    from dowse.vectors.adapter import unpack

    derived = folder / DERIVED
    yield from _sealed_damage(derived, _SEALED_DERIVED)
    for path in sorted(derived.glob("adapter-*")):
        if unpack(path.read_bytes()) is None:
            yield Damage("derived", f"{DERIVED}/{path.name} is not what was written", path.name)


def _sealed_damage(folder: Path, patterns: tuple[str, ...], encoder: str = "") -> Iterator[Damage]:
    for path in sorted(each for pattern in patterns for each in folder.glob(pattern)):
        try:
            unseal(path.read_bytes())
        except (OSError, ValueError) as error:
            name = str(path.relative_to(folder))
            yield Damage(
                "derived", f"{folder.name}/{name}: {error}", f"{encoder}/{name}" if encoder else name
            )
