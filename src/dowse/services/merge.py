"""Merge the answers of several indexes into one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dowse.errors import DowseError
from dowse.formats.json_format import SCHEMA_VERSION, answer_to_json, notes_to_json
from dowse.search.lanes.jobs import MENTION_SCORE
from dowse.types import Answer, Note, NoteCode
from dowse.version import __version__

# A hit's sort key is the best value among it and the hits that follow it in its own index, so many in all:
# each index must give as many more hits as the page shows, less one.
LOOKAHEAD = 10
# Notes that say that an index has no good answer.
_MISSES = frozenset[NoteCode](["nothing-relevant", "unknown-name", "below-min-score"])
# Notes about the state of an index, and of hits that are shown, whatever it answers.
_STATES = frozenset[NoteCode](
    ["partly-embedded", "incomplete-index", "refreshing", "lane-failed", "feedback", "other"]
)
# The fields of each index's own answer, without the hits.
_INDEX_FIELDS = ("mode", "generation", "candidates", "notes", "embedded", "plan", "lanes")


@dataclass(frozen=True, slots=True)
class IndexResult:
    """The answer of one index, or the error that it raised."""

    index: str
    answer: Answer | None
    error: DowseError | None = None

    @property
    def problem(self) -> str:
        """The message of the error, if any."""
        return str(self.error) if self.error else ""

    def has_note(self, code: NoteCode) -> bool:
        """Whether the answer has a note with a code."""
        return self.answer is not None and any(note.code == code for note in self.answer.notes)

    @property
    def has_good_hits(self) -> bool:
        """Whether it answers the query: with more than the nearest hits, or mentions of a symbol."""
        if self.answer is None or any(map(self.has_note, _MISSES)):
            return False
        plan, hits = self.answer.plan, self.answer.hits
        if plan is None or plan.kind != "structure":
            return bool(hits)
        return any(lane.lane == "graph" and lane.score > MENTION_SCORE for hit in hits for lane in hit.lanes)


def merge_answers(
    query: str, results: Sequence[IndexResult], offset: int, k: int, milliseconds: float
) -> dict[str, Any]:
    """Return one page of the hits of one or several indexes, as plain data."""
    answers = {each.index: answer_to_json(each.answer) for each in results if each.answer is not None}
    plans = [answer["plan"] for answer in answers.values() if answer["plan"]]
    hits = merge_hits(
        [[{**hit, "index": name} for hit in answer["hits"]] for name, answer in answers.items()],
        same_scores=len({(*plan["lanes"], plan["fusion"]) for plan in plans}) < 2,
    )
    ranked = [{**hit, "rank": rank} for rank, hit in enumerate(hits, 1)]
    return {
        "schema": SCHEMA_VERSION,
        "dowse": __version__,
        "query": query,
        "mode": next((answer["mode"] for answer in answers.values()), "keyword"),
        "generation": max((answer["generation"] for answer in answers.values()), default=1),
        "candidates": sum(answer["candidates"] for answer in answers.values()),
        "notes": notes_to_json(merge_notes(results)),
        "embedded": _sum_embedded([answer["embedded"] for answer in answers.values()]),
        "plan": plans[0] if plans else None,
        "lanes": _merge_lanes([lane for answer in answers.values() for lane in answer["lanes"]]),
        "hits": ranked[offset : offset + k],
        "offset": offset,
        "more": len(hits) > offset + k,
        "took_ms": round(milliseconds, 3),
        "indexes": [_index_answer(each, answers.get(each.index)) for each in results],
    }


def merge_hits(answers: Sequence[list[dict[str, Any]]], *, same_scores: bool) -> list[dict[str, Any]]:
    """Merge lists of hits; the order within each index stays.

    Hits are compared by confidence where every hit has one, else by score if all indexes were searched the
    same way (`same_scores`), else by rank. A hit's sort key is the best value among the next few hits of its
    own index: that index has reasons to rank it first. Not among all of them: then a page would depend on
    how many hits were requested.
    """
    everything = [hit for hits in answers for hit in hits]
    if len(answers) < 2:
        return everything
    field = "score" if same_scores else ""
    if all(hit["confidence"] is not None for hit in everything):
        field = "confidence"
    keys: list[tuple[float, int, int]] = []
    for number, hits in enumerate(answers):
        values = [hit[field] if field else -rank for rank, hit in enumerate(hits)]
        lowest = float("inf")
        for rank in range(len(values)):
            lowest = min(lowest, max(values[rank : rank + LOOKAHEAD]))
            keys.append((-lowest, rank, number))
    return [answers[number][rank] for _, rank, number in sorted(keys)]


def merge_notes(results: Sequence[IndexResult]) -> list[Note]:
    """Return the notes of all answers; of several indexes, each note names those that it is about.

    Where one index has good hits, what another could not find is not said: its hits are not the answer.
    """
    if len(results) == 1:
        return list(results[0].answer.notes) if results[0].answer else []
    is_answered = any(each.has_good_hits for each in results)
    names: dict[Note, list[str]] = {}
    for each in results:
        for note in each.answer.notes if each.answer else ():
            if not is_answered or each.has_good_hits or note.code in _STATES:
                names.setdefault(note, []).append(each.index)
    notes = [replace(note, text=f"{', '.join(of)}: {note.text}") for note, of in names.items()]
    failed = [each for each in results if each.problem]
    return notes + [Note("index-failed", f"{each.index} is left out: {each.problem}") for each in failed]


def _sum_embedded(counts: Sequence[dict[str, Any] | None]) -> dict[str, Any] | None:
    known = [each for each in counts if each]
    if not known:
        return None
    names = ("symbols", "total", "encoded", "candidates_missing")
    return {
        "encoder": known[0]["encoder"],
        **{name: sum(each[name] for each in known) for name in names},
        "approximate": any(each["approximate"] for each in known),
    }


def _merge_lanes(reports: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one report for each lane; indexes are searched in parallel, so the slowest counts."""
    merged: dict[str, dict[str, Any]] = {}
    for report in reports:
        known = merged.setdefault(report["lane"], {**report, "found": 0, "problem": ""})
        known["found"] += report["found"]
        known["milliseconds"] = max(known["milliseconds"], report["milliseconds"])
        known["problem"] = "; ".join(filter(None, [known["problem"], report["problem"]]))
    return list(merged.values())


def _index_answer(result: IndexResult, answer: dict[str, Any] | None) -> dict[str, Any]:
    empty = {"mode": "", "generation": 0, "candidates": 0, "notes": [], "embedded": None, "plan": None}
    fields = answer or {**empty, "lanes": []}
    return {
        "index": result.index,
        **{name: fields[name] for name in _INDEX_FIELDS},
        "problem": result.problem,
    }
