"""Optional steps after ranking: reranking, feedback, diversification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from dowse.errors import DowseError
from dowse.search.context import Ranking, SearchContext
from dowse.search.lanes.bm25 import without_language
from dowse.search.ranking.fusion import term_idf
from dowse.search.ranking.signals import RankedHit
from dowse.storage.protocol import Reader
from dowse.types import SymbolRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dowse.encoders.cross_encoder import CrossEncoder
    from dowse.feedback.store import FeedbackStore
    from dowse.search.planner import Plan
    from dowse.types import Boost

# Hits that the cross-encoder reads: twice as many cost twice the time and find nothing more. Its weight is
# between 0, the first ranking, and 1, the cross-encoder's.
_RERANKED, _RERANK_WEIGHT = 15, 0.3
# Hits that diversification reorders, and clusters of them.
_DIVERSIFIED, _CLUSTERS = 100, 10
# Of the ball that the file tree is embedded in; 2 is the Poincaré disk.
_TREE_DIMENSION = 10
# These queries ask for facts: a caller of one function is no caller of another, however similar the queries.
_FACTUAL_KINDS = ("structure", "pattern", "filter")


def rerank_hits(context: SearchContext, hits: list[RankedHit]) -> list[RankedHit]:
    """Rerank the first candidates with a cross-encoder, which reads them together with the query."""
    from dowse.search.ranking.rerank import rerank

    settings = context.settings
    first = [hit.row.row for hit in hits[:_RERANKED]]
    cross = _load_cross_encoder(settings.reranker, settings.device, settings.threads)
    scores = cross.score(context.plan.text, context.reader.documents(first))
    return rerank(hits, scores, _RERANK_WEIGHT, cross.score_scale)


def find_boosts(store: FeedbackStore, reader: Reader, plan: Plan, text: str) -> Mapping[str, Boost]:
    """Return what was chosen for this query and similar ones, by symbol id.

    Raises:
        DowseError: The file of choices can't be read.
    """
    from dowse.feedback.boosts import feedback_boosts

    similar = plan.kind not in _FACTUAL_KINDS
    return feedback_boosts(store, text, similar=similar, idf=partial(_feedback_idf, reader))


def apply_boosts(context: SearchContext, ranking: Ranking, hits: list[RankedHit]) -> list[RankedHit]:
    """Move chosen hits up; in structural queries those that the graph did not find stay behind."""
    from dowse.search.ranking.feedback import apply_feedback

    boosts = context.boosts
    if context.plan.kind == "structure":
        from_graph = {hit.row.key for hit in hits if ranking.is_from(hit, "graph")}
        boosts = {key: boost for key, boost in boosts.items() if key in from_graph or not from_graph}
    return apply_feedback(hits, boosts)


def diversify(context: SearchContext, hits: list[RankedHit]) -> list[RankedHit]:
    """Keep similar hits apart: by maximal marginal relevance, or by clusters."""
    options = context.request.options
    first = [hit.row for hit in hits[:_DIVERSIFIED]]
    if len(first) < 2:
        return hits
    from dowse.research.hyperbolic.chains import symbol_chain
    from dowse.search.ranking.diversify import cluster_names, diversify_clusters, diversify_mmr

    if options.diversify == "mmr":
        return diversify_mmr(hits, _vectors(context, first))
    labels: list[int] = _cluster_labels(context, first).tolist()
    names = cluster_names([symbol_chain(row) for row in first], labels)
    k = options.page_size or options.k or len(first)
    return diversify_clusters(hits, labels, names, options.diversify, k)


def diversifies_by_vectors(context: SearchContext) -> bool:
    """Whether vectors decide which hits are similar, where hits are diversified."""
    if context.plan.kind == "structure" or context.plan.mode == "regex":
        return False  # their order stays
    options = context.request.options
    return options.diversify == "mmr" or options.clustering == "meaning"


def _cluster_labels(context: SearchContext, rows: Sequence[SymbolRow]) -> NDArray[np.int64]:
    from dowse.search.ranking import clustering

    count, method = _CLUSTERS, context.request.options.clustering
    if method == "meaning":
        return clustering.euclidean(_vectors(context, rows), count)
    if method == "spectral":
        from dowse.research.hyperbolic.chains import hop_matrix, symbol_chain

        return clustering.spectral(hop_matrix([symbol_chain(row) for row in rows]), count)
    from dowse.research.tree_coordinates import tree_coordinates

    points = tree_coordinates(context.reader, [row.row for row in rows], _TREE_DIMENSION)
    return (clustering.euclidean if method == "euclidean" else clustering.hyperbolic)(points, count)


def _vectors(context: SearchContext, rows: Sequence[SymbolRow]) -> NDArray[np.float32]:
    if context.encoder is None:
        raise DowseError(
            "similarity by meaning needs vectors; set `encoder`, e.g. to base, or cluster by location with "
            "`--diversify cluster` and any `--clustering` but meaning"
        )
    return context.reader.vectors(context.encoder.id, [row.row for row in rows])


def _feedback_idf(reader: Reader, term: str) -> float:
    """Return the IDF of a term; the name of the language of the whole index counts nothing."""
    is_language_name = without_language(reader, f"{term} _") == "_"
    return 0.0 if is_language_name else term_idf(reader, term)


@lru_cache(maxsize=1)
def _load_cross_encoder(model: str, device: str, threads: int) -> CrossEncoder:
    """Load a cross-encoder; the last one used stays loaded."""
    from dowse.encoders.cross_encoder import load_cross_encoder

    return load_cross_encoder(model, device, threads)
