"""All that an index holds, free of internal numbers, so that two can be compared."""

from __future__ import annotations

from typing import Any

from dowse import Index
from dowse.research.tree_coordinates import tree_coordinates

from helpers import image


def whole(index: Index) -> dict[str, Any]:
    """Return every file, symbol, text, reference, edge, vector's name, vector and place in the tree."""
    with index.backend.reader() as reader:
        files = reader.files()
        path_of = {file.file_id: file.path for file in files}
        rows = reader.rows_of_files(list(path_of))
        numbers = [row.row for row in rows]
        key_of = {row.row: row.key for row in rows}
        stamps = reader.fingerprints()
        edges = reader.edges(numbers, limit=10_000_000)
        result = {
            **image(index),
            "contents": sorted((path, stamp.content_hash) for path, stamp in stamps.items()),
            "counts": sorted((file.path, file.symbols, file.problem) for file in files),
            "texts": sorted((path_of[number], text) for number, text in reader.texts(list(path_of))),
            "references": sorted((path, reader.references(number)) for number, path in path_of.items()),
            "edges": sorted(
                (e.kind, key_of[e.source], key_of[e.target], path_of[e.file_id], *e[4:]) for e in edges
            ),
            "places": sorted(
                (key, *map(float, place.round(9)))
                for key, place in zip(key_of.values(), tree_coordinates(reader, numbers, 10), strict=True)
            ),
        }
        # Nobody has vectors of an encoder that does not exist: then all names are missing.
        result["names of vectors"] = sorted(key for _, key in reader.missing_vectors("nobody"))
        encoder = index.encoder
        if encoder is not None:
            result["without vector"] = reader.missing_vectors(encoder.id)
            result["vectors"] = sorted(
                (key, vector.tobytes())
                for key, vector in zip(key_of.values(), reader.vectors(encoder.id, numbers), strict=True)
            )
    assert index.backend.check() == []
    return result


def rebuilt(index: Index, folder: str) -> dict[str, Any]:
    """Return all that a fresh index of the same files holds."""
    settings = index.settings
    with Index.open(index.root, index_dir=folder, encoder=settings.encoder, isolation="never") as fresh:
        fresh.update(rebuild=True)
        return whole(fresh)
