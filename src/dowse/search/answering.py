"""Answer: the hits with their texts, their reasons, and all that there is to say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dowse.config import index_command
from dowse.search.exact import matching_lines
from dowse.search.feedback_step import RecallingStep
from dowse.search.lanes.bm25 import KeywordResult
from dowse.search.lanes.tfidf import TfidfResult
from dowse.search.ranking.confidence import NOTHING_RELEVANT, confidence, is_nothing
from dowse.search.ranking.signals import Ranked
from dowse.security.secret_masking import mask_text, masked_note
from dowse.types import Answer, Contribution, EmbeddingCoverage, Hit, LaneReport, LaneScore, PlanReport

# Hits whose texts are in memory at the same time.
_HITS_AT_ONCE = 100
# Tokens of providers are at least so long.
_LONG_WORD = 20
# What the graph lane gives for one hop is above this; see search/lanes/graph.py.
_NEAREST_HOP = 0.5


class Asked(RecallingStep):
    """One query on its way, to its answer."""

    masked = 0  # likely secrets that the answer does not show

    def answer(self, ranked: list[Ranked], total: int, embedded: EmbeddingCoverage | None) -> Answer:
        """Give the hits with their texts and all that there is to say."""
        ask, plan = self.ask, self.plan
        ranked = self.enough(ranked)
        chosen = ranked[: ask.k] if ask.k else ranked
        sure = self._confidences(chosen)
        if plan.unknown:
            self.notes.append(f"no symbol here is called {plan.unknown}")
        if is_nothing([sure[hit.row.row] for hit in chosen if hit.row.row in sure]):
            self.notes.append(NOTHING_RELEVANT)
        self._say_what_was_relaxed(chosen)
        self._say_what_the_graph_knows(chosen)
        if ask.explain:
            self._break_down(chosen)
        self._say_what_is_missing(embedded)
        hits = tuple(self._hits(chosen, sure))
        if self.masked:
            self.notes.append(masked_note(self.masked))
        reports = tuple(
            LaneReport(
                each.lane, len(each.result.rows) if each.result else 0, each.milliseconds, each.problem
            )
            for each in self.outcomes
        )
        report = PlanReport(
            *(plan.kind, plan.reason, plan.lanes, self.fusion, tuple(map(mask_text, plan.seeds))),
            plan.structural.relation if plan.structural else "",
            self.expanded,
        )
        notes = tuple(dict.fromkeys(self.notes))
        return Answer(
            ask.text, plan.mode, hits, total, self.reader.generation, notes, embedded, report, reports
        )

    def enough(self, ranked: list[Ranked]) -> list[Ranked]:
        """Return the hits above the least score that was asked for."""
        if not self.ask.min_score or not ranked:
            return ranked
        sure = self._confidences(ranked)
        kept = [hit for hit in ranked if self._is_enough(hit, sure.get(hit.row.row))]
        if not kept:
            self.notes.append(f"{len(ranked):,} candidates, none of them above the least score")
        return kept

    def _is_enough(self, hit: Ranked, sure: float | None) -> bool:
        """Whether a hit is above the least score; what the graph says of structure is a fact."""
        if self.plan.kind == "structure":
            return self.found_by(hit, "graph")
        return (hit.score if sure is None else sure) >= self.ask.min_score

    def _confidences(self, ranked: Sequence[Ranked]) -> dict[int, float]:
        """Return how likely each hit is relevant, where meaning had a say and its encoder is known."""
        nearest = next((each.result for each in self.outcomes if each.lane == "embedding"), None)
        # Words that were added cover more than was asked.
        if nearest is None or self.encoder is None or not ranked or self.expanded:
            return {}
        cosines = dict(zip(nearest.rows, nearest.scores, strict=True))
        last = min(nearest.scores, default=0.0)
        rows = [hit.row.row for hit in ranked]
        covered = self.cover(rows)
        sure = {
            row: confidence(self.encoder.id, cosines.get(row, last), covered[row], len(self.rare))
            for row in rows
        }
        return {row: value for row, value in sure.items() if value is not None}

    def _hits(self, ranked: Sequence[Ranked], sure: Mapping[int, float]) -> Iterator[Hit]:
        """Give the hits with their text, some at a time: a large answer's texts would fill the memory."""
        for start in range(0, len(ranked), _HITS_AT_ONCE):
            batch = ranked[start : start + _HITS_AT_ONCE]
            shows = self.settings.show_secrets
            symbols = self.reader.symbols([hit.row for hit in batch], show_secrets=shows)
            matches = matching_lines(self.reader, self.plan, batch, self.found, show_secrets=shows)
            for number, (hit, symbol, (lines, masked)) in enumerate(
                zip(batch, symbols, matches, strict=True), start + 1
            ):
                scores, parts = tuple(self.lanes_of(hit)), tuple(hit.parts)
                if not shows:  # what lanes say names symbols
                    scores = tuple(map(_masked_lane, scores))
                    parts = tuple(map(_masked_part, parts))
                self.masked += max(symbol.masked, masked)
                likely = sure.get(hit.row.row)
                yield Hit(number, hit.score, symbol, parts, lines, scores, likely)

    def _say_what_was_relaxed(self, shown: Sequence[Ranked]) -> None:
        result = self._keyword_result()
        if result and any(hit.row.row not in result.exact and self.found_by(hit, "keyword") for hit in shown):
            self.notes += result.notes  # relaxing brought in something that is shown

    def _say_what_the_graph_knows(self, shown: Sequence[Ranked]) -> None:
        asked = self.plan.structural
        if self.plan.kind != "structure" or asked is None:
            return
        ranks = [lane for hit in shown for lane in self.lanes_of(hit) if lane.lane == "graph"]
        direct = sum(lane.score > _NEAREST_HOP for lane in ranks)
        what = asked.relation if asked.relation != "path" else f"path to {asked.target}"
        rest = "; what follows only mentions it" if len(ranks) < len(shown) else ""
        if ranks and (rest or direct < len(ranks)):
            self.notes.append(f"{direct} directly, {len(ranks) - direct} through others{rest}")
        elif not ranks:
            kept = " that the filters leave" if self.plan.constraint is not None else ""
            rest = "; these only mention it" if shown else ""
            self.notes.append(f"the graph knows no {what} of {asked.seed or 'it'}{kept}{rest}")

    def _say_what_is_missing(self, embedded: EmbeddingCoverage | None) -> None:
        self.notes += [f"left out: {outcome.problem}" for outcome in self.outcomes if outcome.problem]
        if not self.reader.is_complete:
            self.notes.append("the index is not complete yet; `dowse index` finishes it")
        # Exact matches and names are what they are; words find less than meaning would.
        by_meaning = (
            self.plan.kind in ("prose", "mixed")
            or "embedding" in self.plan.lanes
            or self.spreads_by_meaning()
        )
        if by_meaning and embedded and embedded.symbols < embedded.total:
            self.notes.append(_half_embedded(embedded, index_command(self.settings)))

    def _keyword_result(self) -> KeywordResult | None:
        results = (outcome.result for outcome in self.outcomes if outcome.lane == "keyword")
        return next((result for result in results if isinstance(result, KeywordResult)), None)

    def _break_down(self, ranked: Sequence[Ranked]) -> None:
        """Replace the score that words gave by what every field and term adds to it."""
        rows = [hit.row.row for hit in ranked]
        for outcome in self.outcomes:
            if isinstance(outcome.result, KeywordResult):
                _replace(ranked, "keyword", self.reader.explain(outcome.result.request, rows))
            elif isinstance(outcome.result, TfidfResult):
                found = self.reader.explain_tfidf(outcome.result.request, rows)
                _replace(ranked, "tfidf", {row: _times(counts) for row, counts in found.items()})


def _masked_detail(detail: str) -> str:
    """Mask names that hold a token; words as short as others are none."""
    if len(detail) < _LONG_WORD or all(len(word) < _LONG_WORD for word in detail.split()):
        return detail
    return mask_text(detail)


def _masked_lane(lane: LaneScore) -> LaneScore:
    detail = _masked_detail(lane.detail)
    return lane if detail is lane.detail else lane._replace(detail=detail)


def _masked_part(part: Contribution) -> Contribution:
    detail = _masked_detail(part.detail)
    return part if detail is part.detail else replace(part, detail=detail)


def _times(counts: Mapping[str, tuple[int, float]]) -> dict[tuple[str, str], float]:
    """Return what each term adds: how often it is there times what it is worth."""
    return {
        ("pair" if " " in term else "term", f"{term}: {often} × {idf:.2f}"): often * idf
        for term, (often, idf) in counts.items()
    }


def _replace(
    ranked: Sequence[Ranked], lane: str, parts: Mapping[int, Mapping[tuple[str, str], float]]
) -> None:
    """Put the parts of a lane's score in its place, hit by hit."""
    for hit in ranked:
        at = next((n for n, part in enumerate(hit.parts) if part.source == lane), None)
        if at is not None:
            hit.parts[at : at + 1] = _fields(hit.parts[at], parts.get(hit.row.row, {}))


def _fields(whole: Contribution, parts: Mapping[tuple[str, str], float]) -> list[Contribution]:
    """Share what a lane of words added among fields and terms, as they share its own score."""
    total = sum(parts.values())
    if not total:
        return [whole]
    scale = whole.value / total if whole.detail else 1.0  # alone, a lane's score is itself
    detail = sorted(parts.items(), key=lambda item: -item[1])
    fields = [Contribution(f"{whole.source}.{field}", scale * value, term) for (field, term), value in detail]
    rest = whole.value - sum(part.value for part in fields)
    if abs(rest) > 1e-3 * abs(whole.value):
        fields.append(Contribution(whole.source, rest, "filters"))
    return fields


def _half_embedded(embedded: EmbeddingCoverage, command: str) -> str:
    share = 100 * embedded.symbols // max(1, embedded.total)
    return f"{share} % of the symbols are embedded; `{command}` finishes it"
