"""The states in which a power cut may leave a folder.

What was synced is there. Of the rest, anything may be: a file system may write it in any order, names apart
from content (Pillai et al., "All File Systems Are Not Created Equal", OSDI 2014).
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from power_cuts.disk import Entries, Extend, Image, Operation, Recording, Sync, Write, durable, image_after

# A disk writes at least this much at once.
_SECTOR = 512

# Returns what is left of operations that were not synced.
Loss = Callable[[Sequence[Operation]], list[list[Operation]]]


class Cut(NamedTuple):
    """A state after a power cut."""

    place: int  # operations before the cut
    loss: str  # what happened to those that were not synced
    image: Image


def cuts(recording: Recording, draws: int, seed: int = 0) -> Iterator[Cut]:
    """Yield the different states before and after every sync, and at the end; some losses are drawn."""
    seen = set()
    for end in boundaries(recording.operations):
        sure = durable(recording.operations, end)
        numbers = [number for number in range(end) if number not in sure]
        pending = [recording.operations[number] for number in numbers]
        chance = random.Random(f"{seed} {end}")
        losses: dict[str, Loss] = {
            "nothing": lambda pending: [[each] for each in pending],
            "everything": lambda pending: [[] for _ in pending],
            "content": lambda pending: [[each] if isinstance(each, Entries) else [] for each in pending],
            "content, but not sizes": lambda pending: [_zeros(each) for each in pending],
            "names": lambda pending: [[] if isinstance(each, Entries) else [each] for each in pending],
        }
        for draw in range(draws):
            losses[f"draw {draw}"] = functools.partial(_draw, chance=chance)
        for name, loss in losses.items():
            left = dict(zip(numbers, loss(pending), strict=True))
            survived = [
                each
                for number, operation in enumerate(recording.operations[:end])
                for each in left.get(number, [operation])
            ]
            image = image_after(recording.root, survived)
            key = hash(frozenset(image.items()))
            if key not in seen:
                seen.add(key)
                yield Cut(end, name, image)


def boundaries(operations: Sequence[Operation]) -> list[int]:
    """Return the places before and after each sync, and the end."""
    syncs = [number for number, operation in enumerate(operations) if isinstance(operation, Sync)]
    return sorted({*syncs, *(number + 1 for number in syncs), len(operations)})


def _draw(pending: Sequence[Operation], chance: random.Random) -> list[list[Operation]]:
    """Draw what is left: each operation or not, or, as in a journal, names up to some moment."""
    share = chance.choice([0.1, 0.5, 0.9])
    last_entry = chance.randrange(len(pending) + 1) if chance.random() < 0.5 else None
    left: list[list[Operation]] = []
    for number, operation in enumerate(pending):
        kept = chance.random() < share
        if isinstance(operation, Entries) and last_entry is not None:
            kept = number < last_entry
        if kept:
            left.append([operation])
        elif isinstance(operation, Write):
            left.append(chance.choice([[], _zeros(operation), _torn(operation, chance)]))
        else:
            left.append([])
    return left


def _zeros(operation: Operation) -> list[Operation]:
    """Return what is left of a write that extended its file, but whose content was lost."""
    if isinstance(operation, Write):
        return [Extend(operation.node, operation.offset + len(operation.data))]
    return [operation]


def _torn(operation: Write, chance: random.Random) -> list[Operation]:
    """Return some sectors of a write."""
    start, end = operation.offset, operation.offset + len(operation.data)
    edges = [start, *range((start // _SECTOR + 1) * _SECTOR, end, _SECTOR), end]
    return [
        Write(operation.node, first, operation.data[first - start : last - start])
        for first, last in itertools.pairwise(edges)
        if chance.random() < 0.5
    ]
