"""Merge the answers of several indexes into one page."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.answer import Answer
from dowse.errors import DowseError
from dowse.json_form import json_form
from dowse.lazy_classes import dataclass, replace
from dowse.search.lanes.jobs import MENTION_SCORE
from dowse.types import EmbeddingCoverage, Hit, LaneReport, Note, NoteCode, PlanReport

# A hit's sort key is the best value among it and the hits that follow it in its own index, so many in all:
# each index must give as many more hits as the page shows, less one.
LOOKAHEAD = 10
# Notes that say that an index has no good answer.
_MISSES = frozenset[NoteCode](["nothing-relevant", "unknown-name", "below-min-score"])
# Notes about the state of an index, and of hits that are shown, whatever it answers.
_STATES = frozenset[NoteCode](
    ["partly-embedded", "incomplete-index", "refreshing", "lane-failed", "feedback", "other"]
)
# Digits of the values that hits of several indexes are compared by: what is nearly equal is equal.
_SCORE_DIGITS, _CONFIDENCE_DIGITS = 6, 4


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


@json_form(inline=("hit",))
@dataclass(frozen=True, slots=True)
class PageHit:
    """A hit, and the index that holds it."""

    index: str
    hit: Hit


@json_form(inline=("answer",), hidden=("query", "hits"))
@dataclass(frozen=True, slots=True)
class IndexAnswer:
    """The answer of one index without its hits, or why it has none."""

    index: str
    answer: Answer
    problem: str = ""


@dataclass(frozen=True, slots=True)
class SearchPage:
    """A page of the hits of one or several indexes."""

    query: str
    mode: str
    generation: int  # of several indexes the highest
    candidates: int
    notes: tuple[Note, ...]
    embedded: EmbeddingCoverage | None
    plan: PlanReport | None
    lanes: tuple[LaneReport, ...]
    hits: tuple[PageHit, ...]
    offset: int  # hits before this page
    more: bool  # whether another page exists
    took_ms: float
    indexes: tuple[IndexAnswer, ...]


def merge_answers(
    query: str, results: Sequence[IndexResult], offset: int, k: int, milliseconds: float
) -> SearchPage:
    """Return one page of the hits of one or several indexes."""
    answers = {each.index: each.answer for each in results if each.answer is not None}
    plans = [answer.plan for answer in answers.values() if answer.plan]
    hits = merge_hits(
        [[PageHit(name, hit) for hit in answer.hits] for name, answer in answers.items()],
        same_scores=len({(*plan.lanes, plan.fusion) for plan in plans}) < 2,
    )
    page = enumerate(hits[offset : offset + k], offset + 1)
    empty = Answer(query, mode="", hits=(), total_candidates=0, generation=0)
    return SearchPage(
        query,
        mode=next((answer.mode for answer in answers.values()), "keyword"),
        generation=max((answer.generation for answer in answers.values()), default=1),
        candidates=sum(answer.total_candidates for answer in answers.values()),
        notes=tuple(merge_notes(results)),
        embedded=_sum_embedded([answer.embedded for answer in answers.values() if answer.embedded]),
        plan=plans[0] if plans else None,
        lanes=_merge_lanes([lane for answer in answers.values() for lane in answer.lanes]),
        hits=tuple(replace(each, hit=replace(each.hit, rank=rank)) for rank, each in page),
        offset=offset,
        more=len(hits) > offset + k,
        took_ms=milliseconds,
        indexes=tuple(IndexAnswer(each.index, each.answer or empty, each.problem) for each in results),
    )


def merge_hits(answers: Sequence[list[PageHit]], *, same_scores: bool) -> list[PageHit]:
    """Merge lists of hits; the order within each index stays.

    Hits are compared by confidence where every hit has one, else by score if all indexes were searched the
    same way (`same_scores`), else by rank. A hit's sort key is the best value among the next few hits of its
    own index: that index has reasons to rank it first. Not among all of them: then a page would depend on
    how many hits were requested.
    """
    everything = [each.hit for hits in answers for each in hits]
    if len(answers) < 2:
        return [each for hits in answers for each in hits]
    has_confidence = all(hit.confidence is not None for hit in everything)
    keys: list[tuple[float, int, int]] = []
    for number, hits in enumerate(answers):
        values = [_value(each.hit, rank, has_confidence, same_scores) for rank, each in enumerate(hits)]
        lowest = float("inf")
        for rank in range(len(values)):
            lowest = min(lowest, max(values[rank : rank + LOOKAHEAD]))
            keys.append((-lowest, rank, number))
    return [answers[number][rank] for _, rank, number in sorted(keys)]


def _value(hit: Hit, rank: int, has_confidence: bool, same_scores: bool) -> float:
    if has_confidence:
        return round(hit.confidence or 0.0, _CONFIDENCE_DIGITS)
    return round(hit.score, _SCORE_DIGITS) if same_scores else -rank


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


def _sum_embedded(counts: Sequence[EmbeddingCoverage]) -> EmbeddingCoverage | None:
    if not counts:
        return None
    return EmbeddingCoverage(
        counts[0].encoder,
        symbols=sum(each.symbols for each in counts),
        total=sum(each.total for each in counts),
        encoded=sum(each.encoded for each in counts),
        candidates_missing=sum(each.candidates_missing for each in counts),
        approximate=any(each.approximate for each in counts),
    )


def _merge_lanes(reports: Sequence[LaneReport]) -> tuple[LaneReport, ...]:
    """Return one report for each lane; indexes are searched in parallel, so the slowest counts."""
    merged: dict[str, LaneReport] = {}
    for report in reports:
        known = merged.setdefault(report.lane, LaneReport(report.lane, 0, 0.0))
        problem = "; ".join(filter(None, [known.problem, report.problem]))
        slowest = max(known.milliseconds, report.milliseconds)
        merged[report.lane] = LaneReport(report.lane, known.found + report.found, slowest, problem)
    return tuple(merged.values())
