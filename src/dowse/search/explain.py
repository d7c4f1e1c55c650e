"""The answer: hits with their texts, contributions, confidences and line matches, and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat

from dowse import deadline
from dowse.answer import Answer
from dowse.config import index_command
from dowse.errors import TooSlow
from dowse.search.confidence import NOTHING_RELEVANT, hit_confidences, is_nothing
from dowse.search.context import Candidates, Ranking, SearchContext
from dowse.search.exact import matching_lines
from dowse.search.lanes.bm25 import KeywordResult
from dowse.search.lanes.jobs import MENTION_SCORE
from dowse.search.lanes.tfidf import TfidfResult
from dowse.search.ranking.signals import RankedHit
from dowse.search.refine import diversifies_by_vectors
from dowse.types import (
    INCOMPLETE_INDEX,
    UNLINKED_GRAPH,
    Contribution,
    Hit,
    LaneReport,
    LineMatch,
    Note,
    PlanReport,
    Symbol,
)
from dowse.vectors.embedding_progress import read_progress

# Hits whose texts are in memory at the same time.
_BATCH = 100
# The graph lane scores one hop above this; see lanes/graph.py.
_DIRECT_SCORE = 0.5


def make_answer(
    context: SearchContext,
    candidates: Candidates,
    ranking: Ranking,
    hits: list[RankedHit],
    total: int,
    notes: Sequence[Note],
) -> Answer:
    """Return the answer: the best k hits with their texts, and everything there is to note."""
    plan, options = context.plan, context.request.options
    shown = hits[: options.k] if options.k else hits
    confidences = hit_confidences(context, candidates, ranking, hits, len(shown))
    context.stages.end("confidence")
    all_notes = [*notes]
    if not ranking.located and is_nothing(confidences.answerable):
        all_notes.append(NOTHING_RELEVANT)
    all_notes += _relaxation_notes(candidates, ranking, shown)
    all_notes += _graph_notes(context, ranking, shown)
    all_notes += _incomplete_notes(context, candidates)
    if plan.mode == "regex" and len(shown) < total and not any(note.code == "truncated" for note in notes):
        text = f"these are the first {len(shown):,} of {total:,} symbols that match"
        all_notes.append(Note("truncated", text, "-k 0 gives all"))
    if options.explain:
        _break_down_scores(context, candidates, shown)
    final: list[Hit] = []
    try:
        final.extend(_hits(context, ranking, shown, confidences.by_row))
    except TooSlow:
        if not final:
            raise
        text = f"there was time for the texts of {len(final):,} of {len(shown):,} hits"
        all_notes.append(Note("truncated", text))
    context.stages.end("texts")
    return Answer(
        query=context.request.text,
        mode=plan.mode,
        hits=tuple(final),
        total_candidates=total,
        generation=context.reader.generation,
        notes=tuple(dict.fromkeys(all_notes)),
        embedded=context.embedded,
        words=tuple(word.text for word in plan.query.words),
        plan=PlanReport(
            plan.kind,
            _reason(context),
            plan.lanes,
            ranking.fusion,
            tuple(plan.seeds),
            plan.structural.relation if plan.structural else "",
            candidates.expansion,
        ),
        lanes=tuple(
            LaneReport(
                each.lane, len(each.result.rows) if each.result else 0, each.milliseconds, each.problem
            )
            for each in candidates.outcomes
        ),
        stages=context.stages.times(),
    )


def _reason(context: SearchContext) -> str:
    """Return why the plan is as it is, and the probability of each way in which the question is worded."""
    plan = context.plan
    if not context.profile.kinds or not plan.question or plan.kind == "report":
        return plan.reason
    kinds = sorted(plan.question.items(), key=lambda pair: -pair[1])
    return f"{plan.reason}; worded like " + ", ".join(f"{kind} {share:.0%}" for kind, share in kinds)


def above_min_score(
    context: SearchContext, candidates: Candidates, ranking: Ranking, hits: list[RankedHit]
) -> tuple[list[RankedHit], list[Note]]:
    """Return the hits above the minimum score, and a note where none is."""
    minimum = context.request.options.min_score
    if not minimum or not hits:
        return hits, []
    confidences = hit_confidences(context, candidates, ranking, hits, len(hits)).by_row
    if context.plan.kind == "structure":  # what the graph lane finds is a fact
        kept = [hit for hit in hits if ranking.is_from(hit, "graph")]
    else:
        kept = [hit for hit in hits if confidences.get(hit.row.row, hit.score) >= minimum]
    if kept:
        return kept, []
    text = f"{len(hits):,} candidates, none of them above the minimum score"
    return kept, [Note("below-min-score", text)]


def _hits(
    context: SearchContext,
    ranking: Ranking,
    ranked: Sequence[RankedHit],
    confidences: Mapping[int, float],
) -> Iterator[Hit]:
    """Yield the hits with their texts, in batches: the texts of a large answer would fill the memory."""
    reader = context.reader
    for start in range(0, len(ranked), _BATCH):
        deadline.check()
        batch = ranked[start : start + _BATCH]
        symbols = reader.symbols([hit.row for hit in batch])
        matches: Iterable[tuple[LineMatch, ...]] = repeat((), len(batch))
        if context.matches:
            matches = matching_lines(
                *(reader, context.plan, batch, context.matches),
                is_limited=bool(context.request.options.k),
                until=context.exact_until,
            )
        for rank, (hit, symbol, lines) in enumerate(zip(batch, symbols, matches, strict=True), start + 1):
            lanes, contributions = tuple(ranking.lanes_of(hit)), tuple(hit.contributions)
            lines = lines or _frame_lines(ranking, hit, symbol)
            confidence = confidences.get(hit.row.row)
            yield Hit(rank, hit.score, symbol, contributions, lines, lanes, confidence, hit.also_in)


def _frame_lines(ranking: Ranking, hit: RankedHit, symbol: Symbol) -> tuple[LineMatch, ...]:
    """Return the line that a hit is there for: of a stack frame, a message, an occurrence."""
    if hit.row.row < 0:  # the text of a name is its line, with those around it
        return ()
    line = next((each.line for each in ranking.located if each.row.row == hit.row.row), 0)
    texts = (text for number, text in symbol.numbered_lines if number == line)
    return tuple(LineMatch(line, text, ((0, len(text)),)) for text in texts)


def _relaxation_notes(candidates: Candidates, ranking: Ranking, shown: Sequence[RankedHit]) -> list[Note]:
    """Return how the keyword lane relaxed the query, if a hit that is shown is there because of it."""
    results = (outcome.result for outcome in candidates.outcomes if outcome.lane == "keyword")
    result = next((each for each in results if isinstance(each, KeywordResult)), None)
    if result is None or not result.notes:
        return []
    is_relaxed = any(hit.row.row not in result.exact and ranking.is_from(hit, "keyword") for hit in shown)
    return [Note("relaxed", text) for text in result.notes] if is_relaxed else []


def _graph_notes(context: SearchContext, ranking: Ranking, shown: Sequence[RankedHit]) -> list[Note]:
    """Return how many hits of a structural query are direct, and what only mentions the symbol."""
    structural = context.plan.structural
    if context.plan.kind != "structure" or structural is None:
        return []
    lanes = [lane for hit in shown for lane in ranking.lanes_of(hit) if lane.lane == "graph"]
    from_graph = [lane for lane in lanes if lane.score > MENTION_SCORE]
    direct = sum(lane.score > _DIRECT_SCORE for lane in from_graph)
    mentions = len(from_graph) < len(shown)
    if from_graph:
        if not mentions and direct == len(from_graph):
            return []
        suffix = "; the others only have its name" if mentions else ""
        text = f"of those shown, {direct} directly, {len(from_graph) - direct} through others{suffix}"
    else:
        relation = structural.relation
        what = f"path to {structural.target}" if relation == "path" else relation
        filtered = " that the filters leave" if context.plan.constraint is not None else ""
        suffix = "; these only have its name" if shown else ""
        text = f"the graph knows no {what} of {structural.seed or 'it'}{filtered}{suffix}"
    return [Note("graph", text)]


def _incomplete_notes(context: SearchContext, candidates: Candidates) -> list[Note]:
    """Return which lanes failed, and whether the index or its vectors are incomplete."""
    notes = [
        Note("lane-failed", f"left out: {outcome.problem}")
        for outcome in candidates.outcomes
        if outcome.problem
    ]
    if not context.reader.is_complete:
        notes.append(INCOMPLETE_INDEX)
    elif not context.reader.is_linked and "graph" in context.plan.lanes:
        notes.append(UNLINKED_GRAPH)
    # Exact matches and names need no vectors; keywords alone find less of a query in prose.
    needs_vectors = (
        context.plan.kind in ("prose", "mixed", "trace")
        or "embedding" in context.plan.lanes
        or (context.request.options.diversify and diversifies_by_vectors(context))
    )
    embedded = context.embedded
    if needs_vectors and embedded and embedded.symbols < embedded.total:
        share = 100 * embedded.symbols // max(1, embedded.total)
        text = f"{share} % of the symbols are embedded"
        if progress := read_progress(context.reader.cache_folder):
            notes.append(Note("partly-embedded", f"{text}, {progress.time_left}"))
        else:
            remedy = f"`{index_command(context.settings)}` finishes it"
            notes.append(Note("partly-embedded", text, remedy))
    return notes


def _break_down_scores(context: SearchContext, candidates: Candidates, hits: Sequence[RankedHit]) -> None:
    """Replace the contribution of a text lane by those of every field and term."""
    rows = [hit.row.row for hit in hits]
    for outcome in candidates.outcomes:
        if isinstance(outcome.result, KeywordResult):
            _replace_contribution(hits, "keyword", context.reader.explain_bm25(outcome.result.request, rows))
        elif isinstance(outcome.result, TfidfResult):
            from dowse.research.tfidf.index import explain_tfidf

            counts = explain_tfidf(context.reader, outcome.result.terms, rows)
            products = {
                row: {
                    ("pair" if " " in term else "term", f"{term}: {frequency} × {idf:.2f}"): frequency * idf
                    for term, (frequency, idf) in terms.items()
                }
                for row, terms in counts.items()
            }
            _replace_contribution(hits, "tfidf", products)


def _replace_contribution(
    hits: Sequence[RankedHit], lane: str, parts: Mapping[int, Mapping[tuple[str, str], float]]
) -> None:
    for hit in hits:
        index = next((n for n, part in enumerate(hit.contributions) if part.source == lane), None)
        if index is not None:
            split = _split_contribution(hit.contributions[index], parts.get(hit.row.row, {}))
            hit.contributions[index : index + 1] = split


def _split_contribution(whole: Contribution, parts: Mapping[tuple[str, str], float]) -> list[Contribution]:
    """Split the contribution of a text lane among fields and terms, in proportion to its own score."""
    total = sum(parts.values())
    if not total:
        return [whole]
    # Without fusion the lane's score is the contribution.
    scale = whole.value / total if whole.detail else 1.0
    by_value = sorted(parts.items(), key=lambda item: -item[1])
    split = [
        Contribution(f"{whole.source}.{field}", scale * value, term) for (field, term), value in by_value
    ]
    remainder = whole.value - sum(part.value for part in split)
    if abs(remainder) > 1e-3 * abs(whole.value):
        split.append(Contribution(whole.source, remainder, "filters"))
    return split
