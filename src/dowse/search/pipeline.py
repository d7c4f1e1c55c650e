"""The path of a query, top to bottom: parse and plan, retrieve, fuse, rank, explain."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dowse.config import Settings
from dowse.errors import DowseError
from dowse.kinds import BESIDES
from dowse.search.answering import Asked
from dowse.search.exact import find_exact, rank_exact
from dowse.search.graph_seeds import Seeds, find_seeds
from dowse.search.lanes.inline import InlineLanes
from dowse.search.lanes.jobs import LaneRunner
from dowse.search.planner import Ask, make_plan
from dowse.search.ranking.profile import CORPUS, TREE, Profile
from dowse.storage.protocol import Reader
from dowse.symbol_lookup import bearers
from dowse.types import Answer, EmbeddingCoverage, SymbolRow

if TYPE_CHECKING:
    from dowse.encoders.encoder import Encoder
    from dowse.feedback.store import FeedbackStore


def search(
    reader: Reader,
    ask: Ask,
    settings: Settings,
    *,
    lanes: LaneRunner | None = None,
    encoder: Encoder | None = None,
    profile: Profile | None = None,
    feedback: FeedbackStore | None = None,
) -> Answer:
    """Answer one query from one generation of an index.

    Args:
        reader: The generation.
        ask: What was asked, and how it shall be answered.
        settings: What the question leaves open.
        lanes: What runs the lanes; None runs them here, one after another.
        encoder: What makes vectors of queries; None where no vectors are in use.
        profile: What fields and signals are worth; None takes what was chosen for the index's shape.
        feedback: What was chosen before; None where nothing was, or it shall not count.
    """
    lanes = lanes or InlineLanes(lambda: encoder)
    embedded = _embedded(reader, encoder) if encoder else None
    plan = make_plan(
        ask,
        lambda name: bool(bearers(reader, name, 1)),
        has_vectors=bool(embedded and embedded.symbols),
        has_graph=not reader.is_corpus,
    )
    if "embedding" in plan.lanes and encoder is None:
        raise DowseError("there is no encoder to search by meaning with; set `encoder`, e.g. to base")
    profile = profile or (CORPUS if reader.is_corpus else TREE)
    found = find_exact(reader, plan, settings.exact_seconds)
    query = Asked(reader, ask, plan, settings, profile, found, encoder)
    if feedback is not None:
        query.recall(feedback)
    if plan.mode == "regex":
        limit = ask.k and max(query.candidates, ask.k)
        ranked, total = rank_exact(reader, plan, found, profile, query.wanted, query.roles, limit)
        return query.answer(query.prefer(ranked), total, embedded)
    seeds = find_seeds(
        reader, plan, lambda words: _described(reader, replace(ask, text=words), settings, profile, lanes)
    )
    query.retrieve(lanes, seeds)
    ranked = query.rank()
    if plan.kind != "structure":  # the graph's answer is not a guess to be improved
        if ask.expand:
            query.ask_again(lanes, reader.symbols([hit.row for hit in ranked[: settings.expand_documents]]))
            ranked = query.rank()
        if ask.graph_expand:
            ranked = query.add_callees(ranked)
        if ask.rerank:
            ranked = query.look_again(ranked)
    ranked = query.prefer(ranked)
    if ask.diversify and plan.kind != "structure":
        ranked = query.spread(query.enough(ranked))  # first: it hands the scores on to others
    return query.answer(ranked, max(len(ranked), query.found_rows()), embedded)


def _described(
    reader: Reader, ask: Ask, settings: Settings, profile: Profile, lanes: LaneRunner
) -> SymbolRow | None:
    """Return the definition that some words describe best; filters are for what is asked about it."""
    ask = replace(ask, mode="keyword", lanes=(), filters="-kind:module -kind:text")
    query = Asked(reader, ask, make_plan(ask), settings, profile, {})
    query.retrieve(lanes, Seeds())
    return next((hit.row for hit in query.rank() if hit.row.kind not in BESIDES), None)


def _embedded(reader: Reader, encoder: Encoder) -> EmbeddingCoverage:
    return EmbeddingCoverage(encoder.id, reader.embedded(encoder.id), reader.symbol_count())
