"""The search pipeline, top to bottom: parse and plan, retrieve, fuse, rank, refine, explain."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from dowse import deadline
from dowse.answer import Answer
from dowse.config import Settings
from dowse.errors import DowseError, MissingExtra
from dowse.lazy_classes import replace
from dowse.query.ast import PathFilter, WithinFilter, positive_leaves
from dowse.search.context import Candidates, Ranking, SearchContext, Stages
from dowse.search.exact import (
    MAX_LINES,
    ExactMatches,
    ScanLimits,
    can_end_early,
    match_patterns,
    rank_exact,
    unsearched_notes,
)
from dowse.search.explain import above_min_score, make_answer
from dowse.search.lanes.bm25 import query_terms
from dowse.search.lanes.embedding_result import EmbeddingResult
from dowse.search.lanes.jobs import InlineLanes, LaneRunner
from dowse.search.options import SearchRequest
from dowse.search.planner import (
    Plan,
    exclusion_notes,
    lane_weights,
    make_plan,
    message_text,
    plain_name,
    plain_text_notes,
)
from dowse.search.ranking.fusion import (
    FusedCandidate,
    LaneRanking,
    QueryTerms,
    add_coverage,
    blend,
    collect,
    convex,
    intersection,
    keep_first_in,
    rrf,
)
from dowse.search.ranking.profile import CORPUS, NO_SIGNALS, TREE, Profile
from dowse.search.ranking.question_kinds import learned_order
from dowse.search.ranking.signals import (
    COPY_ROLES,
    QueryFeatures,
    RankedHit,
    location,
    name_terms,
    profile_for_cosines,
    profile_for_ranks,
    rank,
)
from dowse.search.ranking.type_names import is_constructor
from dowse.search.refine import apply_boosts, diversify, find_boosts, rerank_hits
from dowse.search.retrieval import (
    GraphSeeds,
    candidate_count,
    encodes_at_query_time,
    expand_query,
    find_seeds,
    is_final_order,
    retrieve,
    seed_described,
)
from dowse.search.spelling import correct_query
from dowse.storage.protocol import Reader
from dowse.symbol_lookup import has_symbol, symbols_named
from dowse.types import (
    NON_DEFINITION_KINDS,
    TYPE_KINDS,
    Contribution,
    EmbeddingCoverage,
    Note,
    SymbolRow,
    is_test,
)

if TYPE_CHECKING:
    from dowse.encoders.encoder import Encoder
    from dowse.feedback.store import FeedbackStore
    from dowse.query.long_text import LongText
    from dowse.search.error_messages import MessageSource
    from dowse.search.frames import LocatedHit
    from dowse.search.long_questions import Reading
    from dowse.storage.protocol import Floats
    from dowse.types import Boost

    KeepVectors = Callable[[Sequence[bytes], Floats], None]

# Symbols of the name that a query is, which are candidates even where no lane finds them.
_MAX_NAMED = 20
# Members of a type that are: more would leave no room for its uses.
_MAX_MEMBERS = 5


def search(
    reader: Reader,
    request: SearchRequest,
    settings: Settings,
    *,
    lanes: LaneRunner | None = None,
    encoder: Encoder | None = None,
    profile: Profile | None = None,
    feedback: FeedbackStore | None = None,
    keep_vectors: KeepVectors | None = None,
) -> Answer:
    """Answer one query from one generation of an index.

    Args:
        reader: The generation.
        request: The query and its options.
        settings: Limits and models that no option names.
        lanes: Runs the lanes; None runs them in this process, one after another.
        encoder: Encodes queries; None where no vectors are in use.
        profile: Weights of fields and signals; None takes those for the shape of the index.
        feedback: What was chosen before; None where it must not count.
        keep_vectors: Called with the keys and vectors of symbols that were encoded for this query.
    """
    stages = Stages()
    lanes = lanes or InlineLanes(lambda: encoder)
    embedded = None
    if encoder:
        embedded = EmbeddingCoverage(encoder.id, reader.embedded_count(encoder.id), reader.symbol_count())
        if embedded.symbols < embedded.total:
            embedded = embedded._replace(approximate=reader.has_approximate_vectors(encoder.id))
    planner = partial(
        make_plan,
        exists=cache(partial(_is_defined, reader)),
        is_symbol=cache(partial(_is_defined, reader, with_names=False)),
        has_vectors=bool(embedded and (embedded.symbols or embedded.approximate))
        or encodes_at_query_time(reader, embedded),
        has_graph=not reader.is_corpus,
        correct=partial(correct_query, reader, fuzziness=request.options.fuzziness),
        # Of a corpus, long queries are documentation of functions, not reports: measured on trees alone.
        read=None if reader.is_corpus else partial(_weigh_long_text, reader),
    )
    plan = planner(request)
    sources, message_notes = _find_message(reader, plan, request, settings)
    if sources and not (request.options.plain or plan.has_filters):  # a message has quotes, dashes …
        request = replace(request, options=replace(request.options, plain=True))
        plan = planner(request)
    if "embedding" in plan.lanes and encoder is None:
        raise DowseError("there is no encoder to search by meaning with; set `encoder`, e.g. to base")
    profile = profile or (CORPUS if reader.is_corpus else TREE)
    boosts, notes = _boosts(feedback, reader, plan, request)
    notes = [*plain_text_notes(plan.query), *message_notes, *notes]
    if plan.corrections:
        notes.append(Note("relaxed", f"not here as typed: {', '.join(plan.corrections)}"))
    stages.end("plan")
    matches: ExactMatches = {}
    until = math.inf
    if plan.exact:
        is_limited = plan.mode == "regex" and request.options.k and can_end_early(plan.constraint)
        until = deadline.optional_until(settings.exact_seconds)
        limits = ScanLimits(until, MAX_LINES if is_limited else None)
        matches = match_patterns(reader, plan, limits)
        notes += [limits.reached] if limits.reached else []
        notes += unsearched_notes(reader, plan)
        stages.end("exact")
    features = query_features(plan)
    context = SearchContext(
        reader,
        request,
        plan,
        settings,
        profile,
        matches,
        features,
        encoder,
        boosts,
        embedded,
        until if request.options.k else math.inf,
        stages=stages,
    )
    if plan.mode == "regex":
        return _search_exact(context, notes)
    candidates = retrieve(context, lanes, _seeds(context, lanes))
    context = _keep_vectors(context, candidates, keep_vectors)
    stages.end("lanes")
    ranking = rank_candidates(context, candidates)
    stages.end("ranking")
    if plan.kind == "structure":
        ranking = replace(ranking, hits=_naming_seed(context, ranking))
    if plan.structural and plan.structural.relation == "tests":  # of what only mentions the name, tests first
        hits = sorted(ranking.hits, key=lambda hit: not (ranking.is_from(hit, "graph") or is_test(hit.row)))
        ranking = replace(ranking, hits=hits)
    if plan.kind != "structure":  # the graph's answer is a fact, not a guess to be improved
        candidates, ranking = _refine(context, lanes, candidates, ranking, notes)
    hits, below = _collapse_copies(context, ranking.hits), list[Note]()
    if boosts:
        hits = apply_boosts(context, ranking, hits)
    if request.options.diversify and plan.kind != "structure" and _has_time("diversification", notes):
        # The minimum comes first, for diversification passes scores on to other hits.
        hits, below = above_min_score(context, candidates, ranking, hits)
        hits = diversify(context, hits)
    retrieved = {row for outcome in candidates.outcomes if outcome.result for row in outcome.result.rows}
    total = max(len(hits), len(retrieved))
    hits, also_below = above_min_score(context, candidates, ranking, hits)
    notes = [*notes, *candidates.notes, *below, *also_below]
    if plan.trace or sources:
        from dowse.search.error_messages import in_order
        from dowse.search.frames import find_frames, frame_note, located_first

        located = in_order(sources, hits)
        if plan.trace:
            frames = [each for each in find_frames(reader, plan.trace) if context.allows(each.row.row)]
            notes.append(frame_note(plan.trace, frames))
            known = {each.row.row for each in frames}
            located = [*frames, *(each for each in located if each.row.row not in known)]
        located = [each for each in located if context.allows(each.row.row)]
        hits, ranking = located_first(hits, located), replace(ranking, located=located)
    elif plan.unknown or (len(features.names) == 1 and plan.kind != "structure" and not reader.is_corpus):
        hits, ranking = _definitions_first(context, ranking, hits, notes)
    stages.end("refinement")
    return make_answer(context, candidates, ranking, hits, max(total, len(hits)), notes)


def _find_message(
    reader: Reader, plan: Plan, request: SearchRequest, settings: Settings
) -> tuple[Sequence[MessageSource], list[Note]]:
    """Return the code that writes what was pasted, if it was a message, and how it was read."""
    text = message_text(plan, request, is_corpus=reader.is_corpus)
    if not text:
        return (), []
    from dowse.search.error_messages import find_message

    sources = find_message(reader, text, settings.exact_seconds, is_error=bool(plan.error_message))
    return sources, exclusion_notes(plan, is_message=bool(sources))


def _definitions_first(
    context: SearchContext, ranking: Ranking, hits: list[RankedHit], notes: list[Note]
) -> tuple[list[RankedHit], Ranking]:
    """Put the definition of the name that a query is first; where nothing defines it, where it occurs."""
    from dowse.search.definitions import find_definitions, find_occurrences
    from dowse.search.frames import located_first

    located: list[LocatedHit] = []
    position, found = 0, list[Note]()
    if len(context.features.names) == 1:
        located, position, found = find_definitions(context, hits)
    if context.plan.unknown and not located and not position:
        located, note = find_occurrences(context, context.plan.unknown)
        found = [note]
    notes += found
    return located_first(hits, located, position), replace(ranking, located=located)


def _keep_vectors(
    context: SearchContext, candidates: Candidates, keep_vectors: KeepVectors | None
) -> SearchContext:
    """Pass on the vectors that were encoded for this query; return the context with their number."""
    results = (outcome.result for outcome in candidates.outcomes)
    result = next((each for each in results if isinstance(each, EmbeddingResult)), None)
    if result is None or result.query_time is None or context.embedded is None:
        return context
    added = result.query_time
    if added.keys and keep_vectors and not added.is_approximate:
        keep_vectors(added.keys, added.vectors)
    embedded = context.embedded._replace(
        encoded=added.encoded,
        candidates_missing=added.missing,
        approximate=context.embedded.approximate or added.is_approximate,
    )
    return replace(context, embedded=embedded)


def _is_defined(reader: Reader, name: str, *, with_names: bool = True) -> bool:
    deadline.check()  # a query may have hundreds of names
    return has_symbol(reader, name, with_names=with_names)


def _has_time(step: str, notes: list[Note]) -> bool:
    """Whether there is time for a step that the answer can do without; if not, note it."""
    deadline.check()
    if deadline.is_late():
        notes.append(Note("truncated", f"there was no time for {step}"))
        return False
    return True


def _weigh_long_text(reader: Reader, long_text: LongText) -> Reading:
    from dowse.search.long_questions import weigh_long_text  # late: nearly all queries are short

    return weigh_long_text(reader, long_text)


def rank_candidates(context: SearchContext, candidates: Candidates) -> Ranking:
    """Fuse the rankings of the lanes and add the signals."""
    reader, terms = context.reader, QueryTerms(context.reader, candidates.text, candidates.term_weights)
    rankings = [
        _filtered(context, LaneRanking(outcome.lane, result.rows, result.scores, result.details))
        for outcome in candidates.outcomes
        if (result := outcome.result) is not None
    ]
    if len(rankings) == 1:
        return _rank_single_lane(context, rankings[0], terms)
    fusion, fused = _fuse(context, rankings, terms)
    context.stages.end("fusion")
    profile = _signal_profile(context, fusion)
    rows = reader.rows([each.row for each in fused])
    named = _named_rows(context, profile, rows)
    contributions = [*(each.contributions for each in fused), *([] for _ in named)]
    features = replace(context.features, weights=terms.weights) if profile.path else context.features
    hits = rank([*rows, *named], contributions, features, profile)
    kinds = context.plan.question if fusion == "blend" and context.profile.kinds else {}
    model, weight = learned_order(kinds, context.plan.text, len(context.features.terms))
    if weight:
        from dowse.search.ranking.learned_ranking import add_learned_ranking

        hits = add_learned_ranking(hits, context.features, kinds, model, weight)
    return Ranking(hits, terms, fusion, {each.row: each.lanes for each in fused})


def query_features(plan: Plan) -> QueryFeatures:
    """Return what the ranking signals need to know of a query."""
    words = plan.query.words
    # A name inside prose is one word among others; alone it asks for a definition.
    only_names = len(words) == 1 or all(word.identifier for word in words)
    if plan.term_weights:
        return QueryFeatures(frozenset(plan.term_weights), filtered_roles=_filtered_roles(plan))
    text = plan.text if "guide" in plan.question else " ".join(word.text for word in words)
    return QueryFeatures(
        frozenset(term.text for term in query_terms(text)),
        frozenset(plain_name(word.text) for word in words) if only_names else frozenset(),
        _filtered_roles(plan),
        frozenset(word.text.lower() for word in words),
    )


def _filtered_roles(plan: Plan) -> frozenset[str]:
    """Return the roles that path filters select: a search in tests/ must not rank tests lower."""
    filters = list(positive_leaves(plan.constraint))
    globs = [leaf.glob for leaf in filters if isinstance(leaf, PathFilter)]
    globs += [leaf.path for leaf in filters if isinstance(leaf, WithinFilter)]
    if not globs:
        return frozenset()
    from dowse.source.roles import file_role

    return frozenset(role for glob in globs if (role := file_role(f"{glob}/x") or file_role(glob)))


def _search_exact(context: SearchContext, notes: Sequence[Note]) -> Answer:
    """Answer a query of patterns alone: every line that matches."""
    limit = context.request.options.k and candidate_count(context)
    hits, total = rank_exact(
        context.reader, context.plan, context.matches, context.profile, context.features, limit
    )
    candidates = Candidates(context.plan.text, ())
    ranking = Ranking(hits, QueryTerms(context.reader, candidates.text))
    if context.boosts:
        hits = apply_boosts(context, ranking, hits)
    hits, below = above_min_score(context, candidates, ranking, hits)
    context.stages.end("ranking")
    return make_answer(context, candidates, ranking, hits, total, [*notes, *below])


def _refine(
    context: SearchContext, lanes: LaneRunner, candidates: Candidates, ranking: Ranking, notes: list[Note]
) -> tuple[Candidates, Ranking]:
    """Expand the query and rerank, as the options say and the time allows."""
    options = context.request.options
    if options.expand and _has_time("query expansion", notes):
        candidates = expand_query(context, lanes, candidates, ranking.hits)
        ranking = rank_candidates(context, candidates)
    if options.rerank and _has_time("reranking", notes):
        try:
            ranking = replace(ranking, hits=rerank_hits(context, ranking.hits))
        except MissingExtra as error:  # a project's settings may ask for what its user has not installed
            notes.append(Note("other", f"not reranked: {error}"))
    return candidates, ranking


def _collapse_copies(context: SearchContext, hits: list[RankedHit]) -> list[RankedHit]:
    """Replace built and vendored copies by their sources, unless they are asked for."""
    is_factual = context.plan.kind == "structure" or context.reader.is_corpus
    if is_factual or context.features.roles() & COPY_ROLES:
        return hits
    if not any(hit.row.role in COPY_ROLES for hit in hits):
        return hits
    from dowse.search.ranking.copies import collapse_copies

    return collapse_copies(context.reader, hits, context.allows, context.request.options.k)


def _naming_seed(context: SearchContext, ranking: Ranking) -> list[RankedHit]:
    """Return the hits of a structural query: from the graph, and what has the name as a whole word."""
    structural = context.plan.structural
    parts = re.findall(r"\w+", structural.seed if structural else "")
    if not parts:
        return ranking.hits
    # A constructor is called by the name of its class.
    names = parts[-2:] if parts[-1] in ("__init__", "constructor", "initialize") else parts[-1:]
    word = re.compile(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)", re.IGNORECASE)
    others = [hit.row.row for hit in ranking.hits if hit.row.row > 0 and not ranking.is_from(hit, "graph")]
    naming = {row for row, text, doc in context.reader.symbol_texts(others) if word.search(f"{text}\n{doc}")}
    return [
        hit
        for hit in ranking.hits
        if ranking.is_from(hit, "graph") or hit.row.row in naming or word.search(hit.row.qualified_name)
    ]


def _seeds(context: SearchContext, lanes: LaneRunner) -> GraphSeeds:
    """Return where the graph lane starts: at symbols that the query names, or at the one it describes."""
    if "graph" not in context.plan.lanes:
        return GraphSeeds()
    seeds, structural = find_seeds(context.reader, context.plan), context.plan.structural
    if seeds.rows:
        return seeds
    if structural and structural.described:
        described = seed_described(_best_definition(context, lanes, structural.described))
        seeds = replace(seeds, rows=described.rows, notes=(*seeds.notes, *described.notes))
    if not seeds.rows and context.plan.kind == "forced":
        text = "no symbol of this index is named, so the graph has nowhere to start"
        seeds = replace(seeds, notes=(*seeds.notes, Note("graph", text)))
    return seeds


def _best_definition(context: SearchContext, lanes: LaneRunner, words: str) -> SymbolRow | None:
    """Return the definition that some words describe best, by keywords; filters do not apply to it."""
    options = replace(
        context.request.options,
        mode="keyword",
        lanes=(),
        filters="-kind:module -kind:text",
        lang=(),
        path=(),
        within="",
        rows=(),
        exclude=(),
        kind=(),
    )
    request = SearchRequest(words, options)
    plan = make_plan(request)
    inner = replace(
        context,
        request=request,
        plan=plan,
        matches={},
        features=query_features(plan),
        encoder=None,
        boosts={},
    )
    ranking = rank_candidates(inner, retrieve(inner, lanes, GraphSeeds()))
    return next((hit.row for hit in ranking.hits if hit.row.kind not in NON_DEFINITION_KINDS), None)


def _filtered(context: SearchContext, ranking: LaneRanking) -> LaneRanking:
    """Apply the filters to the graph lane, which knows none; the other lanes apply them themselves."""
    if ranking.lane != "graph" or context.plan.constraint is None:
        return ranking
    kept = [each for each in zip(*ranking[1:], strict=True) if context.allows(each[0])]
    rows, scores, details = zip(*kept, strict=True) if kept else ((), (), ())
    return LaneRanking(ranking.lane, rows, scores, details)


def _rank_single_lane(context: SearchContext, ranking: LaneRanking, terms: QueryTerms) -> Ranking:
    """Rank the candidates of one lane; its scores stay as they are."""
    profile = context.question_profile
    if ranking.lane == "embedding":
        profile = profile_for_cosines(context.profile)
    if ranking.lane in ("graph", "tfidf"):
        profile = NO_SIGNALS
    rows = context.reader.rows(ranking.rows)
    pairs = sorted(zip(rows, ranking.scores, strict=True), key=lambda pair: location(pair[0]))
    named = _named_rows(context, profile, rows)
    contributions = [*([Contribution(ranking.lane, score)] for _, score in pairs), *([] for _ in named)]
    hits = rank([*(row for row, _ in pairs), *named], contributions, context.features, profile)
    return Ranking(hits, terms, "", {each.row: each.lanes for each in collect([ranking])})


def _named_rows(context: SearchContext, profile: Profile, known: Sequence[SymbolRow]) -> list[SymbolRow]:
    """Return the symbols that a query is the name of, and members of a type, as far as no lane found them.

    By words, a class is one among hundreds of symbols that use it, and not always among the candidates.
    """
    names = context.features.names
    if len(names) != 1 or not profile.definition or context.plan.kind == "structure":
        return []
    found = {row.row for row in known}
    named = [row for row in symbols_named(context.reader, next(iter(names)), _MAX_NAMED) if row.row > 0]
    types = [row for row in named if row.kind in TYPE_KINDS][:1]
    scopes = {row.qualified_name: row.name for row in types}
    members = [
        row
        for row in context.reader.rows_of_files([row.file_id for row in types])
        if row.qualified_name.rpartition(".")[0] in scopes
    ]
    members.sort(key=lambda row: not is_constructor(row, *scopes.values()))
    rows = [*named, *members[:_MAX_MEMBERS]]
    return [row for row in rows if row.row not in found and context.allows(row.row)]


def _fuse(
    context: SearchContext, rankings: Sequence[LaneRanking], terms: QueryTerms
) -> tuple[str, list[FusedCandidate]]:
    """Return the fusion that was used, and the fused candidates, best first."""
    plan, fusion = context.plan, context.plan.fusion
    if plan.kind == "structure":
        weights = lane_weights(plan, "weighted")
        return "weighted", rrf(keep_first_in(rankings, "graph"), weights)
    if fusion == "blend" and not any(each.lane == "embedding" for each in rankings):
        fusion = "convex"  # the embedding lane is not in the plan, or did not answer in time
    weights = lane_weights(plan, fusion)
    if fusion == "blend":
        return fusion, _blend(context, rankings, terms)
    if fusion == "convex":
        return fusion, convex(rankings, weights)
    if fusion == "intersection":
        return fusion, intersection(rankings)
    fused = rrf(rankings, weights if fusion in ("weighted", "adaptive") else None)
    coverage = context.profile.rank_coverage
    if coverage:
        fused = add_coverage(fused, terms.coverage([each.row for each in fused]), coverage)
    return fusion, fused


def _blend(
    context: SearchContext, rankings: Sequence[LaneRanking], terms: QueryTerms
) -> list[FusedCandidate]:
    from dowse.encoders.model_files import is_shipped

    encoder = context.encoder
    weights = context.question_profile.blend
    rows = list(dict.fromkeys(row for ranking in rankings for row in ranking.rows))
    name_coverage: dict[int, float] = {}
    if weights.name:
        for row in context.reader.rows(rows):
            shared = name_terms(row.name) & terms.weights.keys()
            if shared:
                name_coverage[row.row] = sum(terms.weights[term] for term in shared)
    return blend(
        rankings,
        weights,
        len(terms.weights),
        terms.coverage(rows),
        name_coverage,
        without_vector=context.rows_without_vector(rows),
        is_shipped_encoder=encoder is None or is_shipped(encoder.name),
        limit=context.request.options.k or None if is_final_order(context) else None,
    )


def _signal_profile(context: SearchContext, fusion: str) -> Profile:
    """Return the weights of the signals after a fusion; a structural query is answered by the graph lane."""
    if context.plan.kind == "structure" or fusion == "intersection":
        return NO_SIGNALS
    if fusion in ("rrf", "weighted", "adaptive"):
        return profile_for_ranks(context.profile)
    if fusion != "blend":
        return context.profile
    profile = context.question_profile
    return profile.blended or profile


def _boosts(
    feedback: FeedbackStore | None, reader: Reader, plan: Plan, request: SearchRequest
) -> tuple[Mapping[str, Boost], list[Note]]:
    """Return the boosts of feedback, or a note why it does not count; without it an answer is still one."""
    lists_all_lines = plan.mode == "regex" and not request.options.k  # sorted by location
    if feedback is None or lists_all_lines:
        return {}, []
    try:
        return find_boosts(feedback, reader, plan, request.text), []
    except DowseError as error:
        return {}, [Note("feedback", f"left out: {error}")]
