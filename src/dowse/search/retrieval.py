"""Retrieval: find the seeds of the graph lane, run the lanes of a plan, and again with an expanded query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING

from dowse.errors import LanesFailed
from dowse.lazy_classes import dataclass, replace
from dowse.parsing.tokenizer import STOP_WORDS
from dowse.search.context import Candidates, SearchContext
from dowse.search.lanes.bm25 import without_language
from dowse.search.lanes.embedding_result import AdaptedResult
from dowse.search.lanes.jobs import LaneJob, LaneRunner, Outcome
from dowse.search.planner import Plan
from dowse.search.ranking.fusion import term_idf
from dowse.search.ranking.profile import SYMBOL_FIELDS
from dowse.search.ranking.signals import RankedHit, has_no_signals
from dowse.storage.protocol import Reader
from dowse.symbol_lookup import is_partial_match
from dowse.types import Boost, EmbeddingCoverage, Note, SymbolRow

if TYPE_CHECKING:
    from dowse.search.lanes.query_time_encoding import EncodingBudget

# The intersection of TF-IDF and embedding takes so many of the embedding's first, in any index.
_INTERSECTION_CANDIDATES = 100
# Symbols of one name that the graph lane starts from; a name of more symbols says too little.
_MAX_SEEDS = 10
# That a question about structure follows at least.
_HOPS = 2
# Query expansion takes so many terms of so many of the best hits.
_EXPANSION_TERMS, _EXPANSION_HITS = 5, 5


@dataclass(frozen=True, slots=True)
class GraphSeeds:
    """Rows to start from, and the rows that a path ends at."""

    rows: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    notes: tuple[Note, ...] = ()  # which symbols a name was taken for


class StaleGeneration(Exception):
    """The index got a new generation while lanes were running; the search must start again."""


def find_seeds(reader: Reader, plan: Plan) -> GraphSeeds:
    """Return the symbols that the names in a plan refer to."""
    from dowse.graph.queries import seeds_named  # late: most queries name none

    structural = plan.structural
    relation = structural.relation if structural else ""
    ends = seeds_named(reader, relation, structural.target) if structural and structural.target else []
    names = plan.seeds[:1] if ends else plan.seeds
    # Names take turns, so that a name of many symbols leaves room for the others.
    by_name = [seeds_named(reader, relation, name) for name in names]
    groups = [group for turn in zip_longest(*by_name) for group in turn if group is not None]
    notes = _ambiguity_notes(names, [group[0] for group in groups]) if plan.kind == "structure" else ()
    return GraphSeeds(_rows(groups), _rows(ends), notes)


def _rows(groups: Sequence[Sequence[SymbolRow]]) -> tuple[int, ...]:
    """Return the rows of the first symbols, with their overloads and parts."""
    return tuple(row.row for group in groups[:_MAX_SEEDS] for row in group)


def seed_described(symbol: SymbolRow | None) -> GraphSeeds:
    """Return the seed of a query that describes a symbol in words, if there is one."""
    if symbol is None:
        return GraphSeeds()
    text = f"taken for {symbol.qualified_name} ({symbol.path}:{symbol.start_line})"
    return GraphSeeds((symbol.row,), notes=(Note("graph", text),))


def retrieve(context: SearchContext, lanes: LaneRunner, seeds: GraphSeeds) -> Candidates:
    """Run the lanes of the plan; one that fails or is late is left out and named in a note."""
    text = context.plan.text
    jobs = _text_jobs(context, text)
    if seeds.rows:
        jobs.append(_graph_job(context, seeds))
    outcomes = _run(context, lanes, jobs)
    failed = [outcome for outcome in outcomes if outcome.problem]
    for outcome in failed:
        # A mistake in the query, or a damaged index, is one for every lane; without any there is no answer.
        if outcome.error is not None or len(failed) == len(outcomes):
            raise outcome.error or LanesFailed(outcome.problem)
    notes = (*seeds.notes, *_adapter_notes(outcomes))
    return Candidates(text, outcomes, notes=notes, term_weights=context.plan.term_weights)


def _adapter_notes(outcomes: Sequence[Outcome]) -> tuple[Note, ...]:
    """Return a note if the query adapter is damaged."""
    results = [outcome.result for outcome in outcomes]
    if not any(isinstance(each, AdaptedResult) and each.is_damaged for each in results):
        return ()
    text = "the query adapter of this repository is damaged and not used"
    return (Note("other", text, "`dowse index` learns it again"),)


def expand_query(
    context: SearchContext, lanes: LaneRunner, candidates: Candidates, ranked: Sequence[RankedHit]
) -> Candidates:
    """Run the text lanes again with terms of the best hits (pseudo-relevance feedback)."""
    reader = context.reader
    best = reader.symbols([hit.row for hit in ranked[:_EXPANSION_HITS]])
    from dowse.search.ranking.query_expansion import expansion_terms

    terms = expansion_terms(
        [symbol.code for symbol in best],
        context.features.terms | STOP_WORDS,
        partial(term_idf, reader),
        _EXPANSION_TERMS,
        partial(reader.prefetch_document_frequencies, field="body"),
    )
    if not terms:
        return candidates
    text = " ".join((context.plan.text, *terms))
    again = {outcome.lane: outcome for outcome in _run(context, lanes, _text_jobs(context, text))}
    problems = [outcome.problem for outcome in again.values() if outcome.problem]
    if problems:
        notes = tuple(Note("lane-failed", f"not expanded: {problem}") for problem in problems)
        return replace(candidates, notes=(*candidates.notes, *notes))
    outcomes = [again.get(outcome.lane, outcome) for outcome in candidates.outcomes]
    return Candidates(text, outcomes, terms, candidates.notes, candidates.term_weights)


def encodes_at_query_time(reader: Reader, embedded: EmbeddingCoverage | None) -> bool:
    """Whether candidates without a vector are encoded for a query; those of a cluster are not."""
    is_partial = embedded is not None and embedded.symbols < embedded.total
    return is_partial and reader.cache_folder is not None


def candidate_count(context: SearchContext) -> int:
    """Return how many candidates each lane returns."""
    return max(context.profile.candidates, context.request.options.k, _chosen_depth(context.boosts))


def _chosen_depth(boosts: Mapping[str, Boost]) -> int:
    """Return how many candidates it takes to find what was chosen for the same query."""
    if not boosts:
        return 0
    from dowse.feedback.events import MAX_COUNTED_RANK

    ranks = (boost.rank for boost in boosts.values() if boost.same > 0)
    return min(MAX_COUNTED_RANK, max(ranks, default=0))


def is_final_order(context: SearchContext) -> bool:
    """Whether the best k of the lanes are the best k of the answer: no signal and no later step counts."""
    options = context.request.options
    has_later_step = (
        options.rerank or options.expand or options.diversify or options.min_score or context.boosts
    )
    return has_no_signals(context.profile) and not context.features.names and not has_later_step


def _ambiguity_notes(names: Sequence[str], symbols: Sequence[SymbolRow]) -> tuple[Note, ...]:
    """Return a note where a name does not stand for exactly one symbol of that name."""
    if not symbols or len(names) != 1:
        return ()
    name, first = names[0], symbols[0]
    if len(symbols) > _MAX_SEEDS:
        text = f"more than {_MAX_SEEDS} symbols are called {name}; the first {_MAX_SEEDS} count"
    elif len({row.qualified_name for row in symbols}) > 1:
        text = f"{len(symbols)} symbols are called {name}; all of them count"
    elif is_partial_match(name, first):
        text = f"{name} is not here; taken for {first.qualified_name} ({first.path})"
    else:
        return ()
    return (Note("graph", text),)


def _run(context: SearchContext, lanes: LaneRunner, jobs: Sequence[LaneJob]) -> list[Outcome]:
    outcomes = lanes.run(context.reader, jobs, context.settings.lane_seconds)
    if any(outcome.is_stale for outcome in outcomes):
        raise StaleGeneration
    return outcomes


def _text_jobs(context: SearchContext, text: str) -> list[LaneJob]:
    return [_text_job(context, lane, text) for lane in context.plan.lanes if lane != "graph"]


def _text_job(context: SearchContext, lane: str, text: str) -> LaneJob:
    plan, settings, profile = context.plan, context.settings, context.profile
    arguments: dict[str, object] = {
        "text": plan.encoder_text or text if lane == "embedding" else without_language(context.reader, text),
        "limit": _lane_limit(context, lane),
        "constraint": plan.constraint,
        "exact_rows": context.exact_rows,
    }
    if lane == "embedding":
        adapt = settings.adapter and context.asks_for_change
        encode = _encoding_budget(context, text)
        return LaneJob(lane, {**arguments, "method": settings.vectors, "adapt": adapt, "encode": encode})
    if lane == "tfidf":
        return LaneJob(lane, arguments)
    return LaneJob(
        lane,
        {
            **arguments,
            "fuzziness": context.request.options.fuzziness,
            "field_weights": SYMBOL_FIELDS if plan.mode == "symbol" else profile.fields,
            "abbreviation": profile.abbreviation,
            "term_weights": plan.term_weights,
        },
    )


def _encoding_budget(context: SearchContext, text: str) -> EncodingBudget | None:
    """Return what may be encoded for this query; None where nothing is missing, or nothing may be."""
    settings = context.settings
    if not encodes_at_query_time(context.reader, context.embedded):
        return None
    from dowse.search.lanes.query_time_encoding import (  # late: most indexes are embedded
        ENCODING_SECONDS,
        MAX_CANDIDATES,
        MAX_ENCODED,
        EncodingBudget,
    )

    limit = min(MAX_CANDIDATES, max(candidate_count(context), MAX_ENCODED))
    arguments = {**_text_job(context, "keyword", text).arguments, "limit": limit}
    # A lane in a process of its own must have time left for the search itself.
    seconds = min(ENCODING_SECONDS, settings.lane_seconds / 2)
    return EncodingBudget(arguments, MAX_ENCODED, seconds, settings.view)


def _graph_job(context: SearchContext, seeds: GraphSeeds) -> LaneJob:
    structural = context.plan.structural
    arguments: dict[str, object] = {"seeds": seeds.rows, "limit": candidate_count(context)}
    if structural:
        arguments.update(relation=structural.relation, depth=_HOPS, ends=seeds.ends)
    return LaneJob("graph", arguments)


def _lane_limit(context: SearchContext, lane: str) -> int:
    """Return how many candidates are requested from a lane."""
    k, lanes = context.request.options.k, context.plan.lanes
    if lane == "embedding" and "tfidf" in lanes and context.plan.fusion == "intersection":
        return _INTERSECTION_CANDIDATES
    is_alone = len(lanes) == 1
    if lane == "embedding":
        return candidate_count(context) if k or not is_alone else context.reader.symbol_count()
    return k if k and is_alone and is_final_order(context) else candidate_count(context)
