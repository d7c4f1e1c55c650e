"""Where the answers of a set lie: the repository of each, or its folder where all lie in one repository."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from dowse.eval.index_rows import iter_symbols
from dowse.eval.matching import Target, closest_paths, parse_target
from dowse.eval.types import Dataset
from dowse.index import Index

# Repository and path.
_Place = tuple[str, str]


def target_aspects(index: Index, dataset: Dataset) -> dict[str, str]:
    """Return the aspect of every relevant target of a set; {} where the index knows no place of any.

    What is not in the index, or has no place there, is an aspect of its own.
    """
    targets = [parse_target(name, dataset.level) for name in dataset.relevant]
    places = _places(index, targets)
    if not places:
        return {}
    if len({repo for repo, _ in places.values()}) > 1:
        aspects = {key: repo for key, (repo, _) in places.items() if repo}
    else:
        aspects = {key: path.rpartition("/")[0] for key, (_, path) in places.items()}
    # No repository or folder has this character in its name.
    return {target.key: aspects.get(target.key, f"\0{target.key}") for target in targets}


def _places(index: Index, targets: Iterable[Target]) -> dict[str, _Place]:
    """Return where targets lie, by their keys, as far as the index knows."""
    targets = list(targets)
    found = _places_of_paths(index, [each for each in targets if each.path])
    found |= _places_of_names(index, {each.key for each in targets if not each.path})
    return {key: place for key, place in found.items() if place[1]}


def _places_of_paths(index: Index, targets: Iterable[Target]) -> dict[str, _Place]:
    meant = {each.path: "" for each in targets}
    if not meant:
        return {}
    repos = {file.path: file.repo for file in index.files()}
    known = set(repos)
    meant = {path: min(closest_paths(path, known), default="") for path in meant}
    return {each.key: (repos[path], path) for each in targets if (path := meant[each.path])}


def _places_of_names(index: Index, names: set[str]) -> Mapping[str, _Place]:
    """Return the places of symbols by id or, where no id is meant, by the end of their qualified names."""
    by_id: dict[str, _Place] = {}
    by_name: dict[str, _Place] = {}
    for row in iter_symbols(index) if names else ():
        place = (row.repo, row.path)
        if row.key in names:
            by_id[row.key] = place
        for name in names.intersection(_ends(row.qualified_name)):
            # Of several always the same one, in whatever order they were indexed.
            by_name[name] = min(by_name.get(name, place), place)
    return by_name | by_id


def _ends(name: str) -> Iterator[str]:
    """Give a qualified name and its last parts: c, b.c, a.b.c."""
    return accumulate(reversed(name.split(".")), lambda end, part: f"{part}.{end}")
