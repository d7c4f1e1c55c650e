"""Aspects of targets for α-nDCG: the repository of each, or its folder if all are in one repository."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from dowse.eval.index_symbols import iter_symbols
from dowse.eval.matching import Target, closest_paths, parse_target
from dowse.eval.types import Dataset
from dowse.index import Index

# Repository and path.
_Location = tuple[str, str]


def target_aspects(index: Index, dataset: Dataset) -> dict[str, str]:
    """Return the aspect of every relevant target of a set; {} where the index holds none.

    A target that is not in the index is an aspect of its own.
    """
    targets = [parse_target(name, dataset.level) for name in dataset.relevant_targets]
    locations = _locate(index, targets)
    if not locations:
        return {}
    if len({repo for repo, _ in locations.values()}) > 1:
        aspects = {key: repo for key, (repo, _) in locations.items() if repo}
    else:
        aspects = {key: path.rpartition("/")[0] for key, (_, path) in locations.items()}
    # No repository or folder has this character in its name.
    return {target.key: aspects.get(target.key, f"\0{target.key}") for target in targets}


def _locate(index: Index, targets: Iterable[Target]) -> dict[str, _Location]:
    """Return the locations of targets by their keys, as far as the index knows them."""
    targets = list(targets)
    found = _locate_paths(index, [each for each in targets if each.path])
    found |= _locate_names(index, {each.key for each in targets if not each.path})
    return {key: location for key, location in found.items() if location[1]}


def _locate_paths(index: Index, targets: Iterable[Target]) -> dict[str, _Location]:
    paths = {each.path for each in targets}
    if not paths:
        return {}
    repos = {file.path: file.repo for file in index.files()}
    closest = {path: min(closest_paths(path, repos.keys()), default="") for path in paths}
    return {each.key: (repos[path], path) for each in targets if (path := closest[each.path])}


def _locate_names(index: Index, names: set[str]) -> Mapping[str, _Location]:
    """Return the locations of symbols by id, else by the end of their qualified names."""
    by_id: dict[str, _Location] = {}
    by_name: dict[str, _Location] = {}
    for row in iter_symbols(index) if names else ():
        location = (row.repo, row.path)
        if row.key in names:
            by_id[row.key] = location
        for name in names.intersection(_suffixes(row.qualified_name)):
            # Of several always the same one, in whatever order they were indexed.
            by_name[name] = min(by_name.get(name, location), location)
    return by_name | by_id


def _suffixes(name: str) -> Iterator[str]:
    """Give a qualified name and its last parts: c, b.c, a.b.c."""
    return accumulate(reversed(name.split(".")), lambda end, part: f"{part}.{end}")
