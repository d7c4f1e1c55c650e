"""Rank: the lanes' answers become one, and signals speak."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from dowse.errors import DowseError
from dowse.research.hyperbolic.chains import symbol_chain
from dowse.search.exact import exact_rows
from dowse.search.lanes.bm25 import query_terms, without_language
from dowse.search.lanes.jobs import LaneResult
from dowse.search.planner import lane_weights
from dowse.search.ranking.blend import blend
from dowse.search.ranking.fusion import Fused, Ranking, convex, gather, intersection, left_to, rrf
from dowse.search.ranking.profile import LANES_ALONE, Profile
from dowse.search.ranking.signals import Ranked, by_place, name_terms, rank
from dowse.search.retrieval import Retrieving
from dowse.storage.protocol import KeywordRequest
from dowse.types import Contribution, LaneScore, SymbolRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dowse.encoders.cross_encoder import CrossEncoder
    from dowse.encoders.encoder import Encoder

# The best answers whose callees `graph_expand` adds, and what one is worth of its caller's score.
_CALLERS, _CALLEE_SHARE = 5, 0.5


class RankingStep(Retrieving):
    """One query on its way, as far as the order of its candidates."""

    fusion = ""  # how the lanes were joined in the end; "" where one answered alone
    fused: Mapping[int, Fused] = MappingProxyType({})  # candidates by row

    def rank(self) -> list[Ranked]:
        """Make one ranking of the lanes' and let the signals speak; anew after they were asked again."""
        self.fusion = self.plan.fusion
        for outdated in ("rare", "_covered"):
            self.__dict__.pop(outdated, None)
        rankings = [
            self._ranking(outcome.lane, outcome.result)
            for outcome in self.outcomes
            if outcome.result is not None
        ]
        if len(rankings) == 1:
            return self._rank_alone(rankings[0])
        fused = self._fuse(rankings)
        self.fused = {each.row: each for each in fused}
        rows = self.reader.rows([each.row for each in fused])
        return rank(rows, [each.parts for each in fused], self.wanted, self._signals(), self.roles)

    def _signals(self) -> Profile:
        """Return what counts beside the lanes.

        A question of structure is answered by the graph. Sums of 1/rank lie so close together that shares of
        the best one would turn them around.
        """
        if self.plan.kind == "structure" or self.fusion in ("rrf", "weighted", "adaptive", "intersection"):
            return LANES_ALONE
        return self.profile.for_blend() if self.fusion == "blend" else self.profile

    def _ranking(self, lane: str, result: LaneResult) -> Ranking:
        """Return what a lane found; the graph knows no filters, so they hold here."""
        ranking = Ranking(lane, result.rows, result.scores, result.details)
        if lane != "graph" or self.plan.constraint is None:
            return ranking
        kept = [each for each in zip(*ranking[1:], strict=True) if each[0] in self._allowed]
        rows, scores, details = zip(*kept, strict=True) if kept else ((), (), ())
        return Ranking(lane, rows, scores, details)

    @cached_property
    def _allowed(self) -> frozenset[int]:
        """Return every symbol that meets the constraint."""
        among = KeywordRequest((), {}, self.plan.constraint, exact_rows(self.found))
        return frozenset(row for row, _ in self.reader.keyword(among, max(1, self.reader.symbol_count())))

    def _rank_alone(self, ranking: Ranking) -> list[Ranked]:
        """Rank what one lane found; its scores stay as they are."""
        self.fusion = ""
        profile = self.profile.for_cosines() if ranking.lane == "embedding" else self.profile
        if ranking.lane in ("graph", "tfidf"):
            profile = LANES_ALONE
        self.fused = {each.row: each for each in gather([ranking])}
        rows = self.reader.rows(ranking.rows)
        pairs = sorted(zip(rows, ranking.scores, strict=True), key=lambda pair: by_place(pair[0]))
        parts = [[Contribution(ranking.lane, score)] for _, score in pairs]
        return rank([row for row, _ in pairs], parts, self.wanted, profile, self.roles)

    def _fuse(self, rankings: Sequence[Ranking]) -> list[Fused]:
        if self.plan.kind == "structure":
            self.fusion = "weighted"
            return rrf(left_to(rankings, "graph"), lane_weights(self.plan, self.fusion))
        if self.fusion == "blend" and not any(each.lane == "embedding" for each in rankings):
            self.fusion = "convex"  # meaning is not in the plan, or did not answer in time
        weights = lane_weights(self.plan, self.fusion)
        if self.fusion == "blend":
            return self._blend(rankings)
        if self.fusion == "convex":
            return convex(rankings, weights)
        if self.fusion == "intersection":
            return intersection(rankings)
        return rrf(rankings, weights if self.fusion in ("weighted", "adaptive") else None)

    def _blend(self, rankings: Sequence[Ranking]) -> list[Fused]:
        ids = list(dict.fromkeys(row for ranking in rankings for row in ranking.rows))
        named: dict[int, float] = {}
        if self.profile.blend.name:
            for row in self.reader.rows(ids):
                shared = name_terms(row.name) & self.rare.keys()
                if shared:
                    named[row.row] = sum(self.rare[term] for term in shared)
        return blend(
            *(rankings, self.profile.blend, len(self.rare), self.cover(ids), named),
            own_scale=_is_own(self.encoder),
            most=self.ask.k or None if self.is_settled() else None,
        )

    @cached_property
    def rare(self) -> dict[str, float]:
        """Return each term of the question with its share of all that they say together."""
        terms = [term.text for term in query_terms(without_language(self.reader, self.text))]
        self.reader.expect_terms(terms, "body")
        rare = {term: self.rarity(term) for term in terms}
        known = sum(rare.values()) or 1.0
        return {term: value / known for term, value in rare.items()}

    @cached_property
    def _covered(self) -> dict[int, float]:
        """Return what `cover` has found so far."""
        return {}

    def cover(self, rows: Sequence[int]) -> dict[int, float]:
        """Return what share of the question the text of each symbol has."""
        missing = [row for row in rows if row not in self._covered]
        found = self.reader.coverage(self.rare, missing)
        self._covered.update((row, found.get(row, 0.0)) for row in missing)
        return {row: self._covered[row] for row in rows}

    def add_callees(self, ranked: list[Ranked]) -> list[Ranked]:
        """Add what the best answers call, each at a share of its caller's score."""
        known = {hit.row.row for hit in ranked}
        added: dict[int, tuple[float, str]] = {}
        for hit in ranked[:_CALLERS]:
            for edge in self.reader.edges([hit.row.row], ("calls",)):
                if edge.confidence != "ambiguous" and edge.target not in known and self._meets(edge.target):
                    said = f"called by {hit.row.qualified_name} in line {edge.line}"
                    added.setdefault(edge.target, (_CALLEE_SHARE * hit.score, said))
        rows = self.reader.rows(list(added))
        more = [
            Ranked(row, value, [Contribution("graph.callee", value, said)])
            for row, (value, said) in zip(rows, added.values(), strict=True)
        ]
        return sorted([*ranked, *more], key=lambda hit: -hit.score)

    def look_again(self, ranked: list[Ranked]) -> list[Ranked]:
        """Let a cross-encoder read the first candidates together with the question."""
        from dowse.search.ranking.rerank import reranked

        settings = self.settings
        first = [hit.row.row for hit in ranked[: settings.rerank_candidates]]
        cross = _cross(self.ask.rerank, settings.device, settings.threads)
        scores = cross.score(self.plan.text, self.reader.documents(first))
        return reranked(ranked, scores, settings.rerank_weight, cross.score_scale)

    def spread(self, ranked: list[Ranked]) -> list[Ranked]:
        """Let answers that are alike not stand side by side."""
        first = [hit.row for hit in ranked[: self.settings.diversify_candidates]]
        if len(first) < 2:
            return ranked
        if self.ask.diversify == "mmr":
            from dowse.search.ranking.mmr import diversified

            return diversified(ranked, self._vectors(first))
        from dowse.search.ranking.diversify_clusters import cluster_names, clustered

        labels: list[int] = self._clusters(first).tolist()
        names = cluster_names([symbol_chain(row) for row in first], labels)
        return clustered(ranked, labels, names, self.ask.diversify, self.ask.page or self.ask.k or len(first))

    def spreads_by_meaning(self) -> bool:
        """Whether vectors tell which answers are alike."""
        if self.plan.kind == "structure" or self.plan.mode == "regex":
            return False  # their order stays
        return self.ask.diversify == "mmr" or bool(self.ask.diversify and self.ask.clustering == "meaning")

    def _clusters(self, rows: Sequence[SymbolRow]) -> NDArray[np.int64]:
        """Return the number of the cluster of each symbol."""
        from dowse.search.ranking import clustering

        count, method = self.settings.diversify_clusters, self.ask.clustering
        if method == "meaning":
            return clustering.euclidean(self._vectors(rows), count)
        if method == "spectral":
            from dowse.research.hyperbolic.hops import hop_matrix

            return clustering.spectral(hop_matrix([symbol_chain(row) for row in rows]), count)
        points = self.reader.places([row.row for row in rows])
        return (clustering.euclidean if method == "euclidean" else clustering.hyperbolic)(points, count)

    def _vectors(self, rows: Sequence[SymbolRow]) -> NDArray[np.float32]:
        if self.encoder is None:
            raise DowseError(
                "to tell what is alike in meaning takes vectors; set `encoder`, e.g. to base, or go by place "
                "with `--diversify cluster` and any `--clustering` but meaning"
            )
        return self.reader.vectors(self.encoder.id, [row.row for row in rows])

    def found_by(self, hit: Ranked, lane: str) -> bool:
        """Whether a lane found a candidate."""
        return any(each.lane == lane for each in self.lanes_of(hit))

    def lanes_of(self, hit: Ranked) -> Sequence[LaneScore]:
        """Return where each lane put a candidate."""
        fused = self.fused.get(hit.row.row)
        return fused.lanes if fused else ()

    def _meets(self, row: int) -> bool:
        return self.plan.constraint is None or row in self._allowed


@lru_cache(maxsize=1)
def _cross(folder: str, device: str, threads: int) -> CrossEncoder:
    """Return a cross-encoder; the last one used stays loaded."""
    from dowse.encoders.cross_encoder import load_cross_encoder

    return load_cross_encoder(folder, device, threads)


def _is_own(encoder: Encoder | None) -> bool:
    from dowse.encoders.registry import is_shipped

    return encoder is None or is_shipped(encoder.name)
