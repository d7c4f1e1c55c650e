"""Answers of several indexes as one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dowse.errors import DowseError
from dowse.formats.json_format import SCHEMA_VERSION, answer_to_json
from dowse.types import Answer
from dowse.version import __version__

# A hit is judged by so many of its own index's, itself included: each index must give as many more as are
# shown, less one.
AHEAD = 10
# What is told of each index besides the hits.
_TOLD = ("mode", "generation", "candidates", "notes", "embedded", "plan", "lanes")


@dataclass(frozen=True, slots=True)
class Told:
    """What one index said: an answer, or why there is none."""

    index: str
    answer: Answer | None
    error: DowseError | None = None

    @property
    def problem(self) -> str:
        """Why there is none, in words."""
        return str(self.error) if self.error else ""


def page(query: str, told: Sequence[Told], offset: int, k: int, milliseconds: float) -> dict[str, Any]:
    """Return one page of what one or several indexes found, as plain data."""
    known = [(each.index, answer_to_json(each.answer)) for each in told if each.answer is not None]
    found = [[{**hit, "index": name} for hit in answer["hits"]] for name, answer in known]
    plans = [answer["plan"] for _, answer in known if answer["plan"]]
    hits = _merged(found, {(*plan["lanes"], plan["fusion"]) for plan in plans})
    shown = [{**hit, "rank": rank} for rank, hit in enumerate(hits, 1)][offset : offset + k]
    return {
        "schema": SCHEMA_VERSION,
        "dowse": __version__,
        "query": query,
        "mode": known[0][1]["mode"] if known else "keyword",
        "generation": max((answer["generation"] for _, answer in known), default=1),
        "candidates": sum(answer["candidates"] for _, answer in known),
        "notes": _notes(told, known),
        "embedded": _embedded([answer["embedded"] for _, answer in known]),
        "plan": plans[0] if plans else None,
        "lanes": _lanes([lane for _, answer in known for lane in answer["lanes"]]),
        "hits": shown,
        "offset": offset,
        "more": len(hits) > offset + k,
        "took_ms": round(milliseconds, 3),
        "indexes": [_one(each, dict(known)) for each in told],
    }


def _merged(answers: Sequence[list[dict[str, Any]]], ways: set[tuple[str, ...]]) -> list[dict[str, Any]]:
    """Put hits together so that the order within each index stays.

    One yardstick for all: confidence where every hit has one, else the score if all were searched the same
    way, else the rank. A hit counts as much as the best of the next few that its own index put behind it:
    that index knows why it comes first. Not of all: then a page would depend on how many were asked for.
    """
    everything = [hit for hits in answers for hit in hits]
    if len(answers) < 2:
        return everything
    by = "score" if len(ways) < 2 else ""
    if all(hit["confidence"] is not None for hit in everything):
        by = "confidence"
    worth: list[tuple[float, int, int]] = []
    for number, hits in enumerate(answers):
        values = [hit[by] if by else -at for at, hit in enumerate(hits)]
        least = float("inf")
        for at in range(len(values)):
            least = min(least, max(values[at : at + AHEAD]))
            worth.append((-least, at, number))
    return [answers[number][at] for _, at, number in sorted(worth)]


def _notes(told: Sequence[Told], known: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
    """Return what is to be said; of several indexes, each note says which it is about."""
    if len(told) == 1:
        return [note for _, answer in known for note in answer["notes"]]
    notes = [f"{name}: {note}" for name, answer in known for note in answer["notes"]]
    return notes + [f"{each.index} is left out: {each.problem}" for each in told if each.problem]


def _embedded(found: Sequence[dict[str, Any] | None]) -> dict[str, Any] | None:
    known = [each for each in found if each]
    if not known:
        return None
    return {
        "encoder": known[0]["encoder"],
        "symbols": sum(each["symbols"] for each in known),
        "total": sum(each["total"] for each in known),
    }


def _lanes(reports: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return how each lane fared over all indexes: they run side by side, so the slowest counts."""
    found: dict[str, dict[str, Any]] = {}
    for report in reports:
        known = found.get(report["lane"])
        if known is None:
            found[report["lane"]] = dict(report)
            continue
        known["found"] += report["found"]
        known["milliseconds"] = max(known["milliseconds"], report["milliseconds"])
        known["problem"] = "; ".join(filter(None, [known["problem"], report["problem"]]))
    return list(found.values())


def _one(told: Told, known: dict[str, dict[str, Any]]) -> dict[str, Any]:
    empty = {"mode": "", "generation": 0, "candidates": 0, "notes": [], "embedded": None, "plan": None}
    said = known.get(told.index, {**empty, "lanes": []})
    return {"index": told.index, **{name: said[name] for name in _TOLD}, "problem": told.problem}
