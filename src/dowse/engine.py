"""The path of a query, top to bottom: parse and plan, retrieve, fuse, rank, explain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from dowse.backends.protocol import KeywordRequest, Reader
from dowse.config import Settings, index_command
from dowse.errors import DowseError
from dowse.exact_search import Found, exact_rows, find_exact, matching_lines, rank_exact
from dowse.lanes.inline import InlineLanes
from dowse.lanes.jobs import LaneJob, LaneResult, LaneRunner, Outcome
from dowse.lanes.keyword import STOP_WORDS, KeywordResult, query_terms, without_language
from dowse.naming import bearers, is_loose
from dowse.query import PathFilter, positive_leaves
from dowse.rank.blend import blend, rarity
from dowse.rank.confidence import NOTHING_RELEVANT, confidence, is_nothing
from dowse.rank.expand import expansion
from dowse.rank.fuse import Fused, Ranking, convex, gather, intersection, rrf
from dowse.rank.plan import Ask, Plan, lane_weights, make_plan, plain_name
from dowse.rank.profile import CORPUS, LANES_ALONE, SYMBOL_FIELDS, TREE, Profile
from dowse.rank.signals import Ranked, Wanted, by_place, name_terms, rank
from dowse.types import Answer, Contribution, Embedded, Hit, LaneReport, PlanReport, SymbolRow

if TYPE_CHECKING:
    from dowse.encode.encoder import Encoder

# Hits whose texts are in memory at the same time.
_HITS_AT_ONCE = 100
# Symbols of one name that the graph lane starts from; a name that more bear says too little.
_SEEDS = 10
# Kinds of symbols that define nothing.
_NO_DEFINITIONS = frozenset(["module", "section", "text"])
# The best answers whose callees `graph_expand` adds, and what one is worth of its caller's score.
_CALLERS, _CALLEE_SHARE = 5, 0.5


class Moved(Exception):
    """The index got a new generation while lanes were asked; the query must be asked again."""


def search(
    reader: Reader,
    ask: Ask,
    settings: Settings,
    *,
    lanes: LaneRunner | None = None,
    encoder: Encoder | None = None,
    profile: Profile | None = None,
) -> Answer:
    """Answer one query from one generation of an index.

    Args:
        reader: The generation.
        ask: What was asked, and how it shall be answered.
        settings: What the question leaves open.
        lanes: What runs the lanes; None runs them here, one after another.
        encoder: What makes vectors of queries; None where no vectors are in use.
        profile: What fields and signals are worth; None takes what was chosen for the index's shape.
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
    found = find_exact(reader, plan)
    query = _Asked(reader, ask, plan, settings, profile, found)
    if plan.mode == "regex":
        limit = ask.k and max(query.candidates, ask.k)
        ranked, total = rank_exact(reader, plan, found, profile, query.wanted, query.roles, limit)
        return query.answer(ranked, total, embedded)
    query.retrieve(lanes, encoder)
    ranked = query.rank()
    if plan.kind != "structure":  # the graph's answer is not a guess to be improved
        if ask.expand:
            ranked = query.ask_again(lanes, ranked)
        if ask.graph_expand:
            ranked = query.add_callees(ranked)
        if ask.rerank:
            ranked = query.look_again(ranked)
    return query.answer(ranked, max(len(ranked), query.found_rows()), embedded)


class _Asked:
    """One query on its way: what the steps of `search` learn and the later ones need."""

    def __init__(
        self, reader: Reader, ask: Ask, plan: Plan, settings: Settings, profile: Profile, found: Found
    ) -> None:
        self.reader, self.ask, self.plan, self.settings = reader, ask, plan, settings
        self.profile, self.found = profile, found
        self.wanted, self.roles = _wanted(plan), _roles_asked(plan)
        self.candidates = settings.candidates or profile.candidates
        self.outcomes: list[Outcome] = []
        self.notes: list[str] = []
        self.seeds: list[int] = []
        self.text, self.fusion = plan.text, plan.fusion
        self.expanded: tuple[str, ...] = ()
        self.fused: dict[int, Fused] = {}
        self._covered: dict[int, float] = {}
        self._encoder_id = ""
        self._own_scale = True

    # Retrieve

    def retrieve(self, lanes: LaneRunner, encoder: Encoder | None) -> None:
        """Run the lanes of the plan; one that fails or is late is left out and named."""
        plan = self.plan
        jobs = [self._job(lane) for lane in plan.lanes if lane != "graph"]
        if "graph" in plan.lanes:
            self.seeds = self._find_seeds(lanes)
            if self.seeds:
                jobs.append(self._graph_job())
            elif plan.kind == "forced":
                self.notes.append("no symbol of this index is named, so the graph has nowhere to start")
        self._run(lanes, jobs)
        self._own_scale = encoder is None or _is_own(encoder)
        self._encoder_id = encoder.id if encoder else ""

    def _run(self, lanes: LaneRunner, jobs: Sequence[LaneJob]) -> None:
        known = {outcome.lane for outcome in self.outcomes if not outcome.problem}
        outcomes = lanes.run(
            self.reader, [job for job in jobs if job.lane not in known], self.settings.lane_seconds
        )
        if any(outcome.moved for outcome in outcomes):
            raise Moved
        self.outcomes += outcomes
        failed = [outcome for outcome in self.outcomes if outcome.problem]
        for outcome in failed:
            # A mistake in the question is one for every lane; with nobody left there is no answer.
            if outcome.error is not None or len(failed) == len(self.outcomes):
                raise outcome.error or DowseError(outcome.problem)

    def _job(self, lane: str) -> LaneJob:
        """Return what a lane is asked."""
        plan, settings, ask, profile = self.plan, self.settings, self.ask, self.profile
        arguments: dict[str, object] = {
            "text": self.text if lane == "embedding" else without_language(self.reader, self.text),
            "limit": self._limit(lane),
            "constraint": plan.constraint,
            "exact_rows": exact_rows(self.found),
        }
        if lane == "embedding":
            return LaneJob(lane, {**arguments, "method": settings.vectors})
        return LaneJob(
            lane,
            {
                **arguments,
                "relax_below": settings.relax_below,
                "fuzziness": ask.fuzziness or settings.fuzziness,
                "field_weights": SYMBOL_FIELDS if plan.mode == "symbol" else profile.fields,
                "abbreviation": profile.abbreviation,
            },
        )

    def _limit(self, lane: str) -> int:
        """Return how many candidates a lane shall give."""
        k, most = self.ask.k, max(self.candidates, self.ask.k)
        alone = len(self.plan.lanes) == 1
        if lane == "embedding":
            return most if k or not alone else self.reader.symbol_count()
        return k if k and alone and self._is_settled() else most

    def ask_again(self, lanes: LaneRunner, ranked: Sequence[Ranked]) -> list[Ranked]:
        """Ask the lanes for words again, with words of the best answers added."""
        settings, reader = self.settings, self.reader
        total = reader.symbol_count()
        best = reader.symbols([hit.row for hit in ranked[: settings.expand_documents]])
        self.expanded = expansion(
            [symbol.code for symbol in best],
            self.wanted.terms | STOP_WORDS,
            lambda term: rarity(reader.document_frequency(term, "body"), total),
            settings.expand_terms,
        )
        if not self.expanded:
            return list(ranked)
        self.text = " ".join((self.plan.text, *self.expanded))
        self._covered.clear()
        self.__dict__.pop("_rare", None)
        self.outcomes = [outcome for outcome in self.outcomes if outcome.lane == "graph"]
        self._run(lanes, [self._job(lane) for lane in self.plan.lanes if lane != "graph"])
        self.outcomes.sort(key=lambda outcome: self.plan.lanes.index(outcome.lane))
        return self.rank()

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

    def _meets(self, row: int) -> bool:
        return self.plan.constraint is None or row in self._allowed

    def _find_seeds(self, lanes: LaneRunner) -> list[int]:
        """Return the symbols that the graph lane starts from: those named, or the best for a description."""
        plan = self.plan
        rows = [row for name in plan.seeds for row in bearers(self.reader, name, _SEEDS + 1)]
        if plan.kind == "structure":
            self._say_who_is_meant(rows)
        rows = rows[:_SEEDS]
        if rows or not (plan.structural and plan.structural.described):
            return [row.row for row in rows]
        best = self._described(lanes, plan.structural.described)
        if best:
            self.notes.append(f"taken for {best.qualified_name} ({best.path}:{best.start_line})")
        return [best.row] if best else []

    def _say_who_is_meant(self, rows: Sequence[SymbolRow]) -> None:
        name = self.plan.seeds[0] if self.plan.seeds else ""
        if len(rows) > _SEEDS:
            self.notes.append(f"more than {_SEEDS} symbols are called {name}; the first {_SEEDS} count")
        elif len({row.qualified_name for row in rows}) > 1 and len(self.plan.seeds) == 1:
            self.notes.append(f"{len(rows)} symbols are called {name}; all of them count")
        elif rows and is_loose(name, rows[0]):
            self.notes.append(f"{name} is not here; taken for {rows[0].qualified_name} ({rows[0].path})")

    def _described(self, lanes: LaneRunner, words: str) -> SymbolRow | None:
        """Return the definition that some words describe best; filters are for what is asked about it."""
        ask = replace(self.ask, text=words, mode="keyword", filters="-kind:module -kind:text", min_score=0.0)
        asked = _Asked(self.reader, ask, make_plan(ask), self.settings, self.profile, {})
        asked.retrieve(lanes, None)
        return next((hit.row for hit in asked.rank() if hit.row.kind not in _NO_DEFINITIONS), None)

    def _graph_job(self) -> LaneJob:
        structural, settings = self.plan.structural, self.settings
        arguments: dict[str, object] = {"seeds": self.seeds, "limit": self.candidates}
        if structural and structural.target:
            ends = [row.row for row in bearers(self.reader, structural.target, _SEEDS)]
            starts = [row.row for row in bearers(self.reader, structural.seed, _SEEDS)]
            arguments.update(seeds=starts, ends=ends, relation="path")
        elif structural:
            arguments.update(relation=structural.relation, depth=settings.graph_depth)
        return LaneJob("graph", arguments)

    def found_rows(self) -> int:
        """Return how many candidates the lanes found together."""
        return len({row for outcome in self.outcomes if outcome.result for row in outcome.result.rows})

    # Fuse and rank

    def rank(self) -> list[Ranked]:
        """Make one ranking of the lanes' and let the signals speak."""
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
        if ranking.lane == "graph":
            profile = LANES_ALONE
        self.fused = {each.row: each for each in gather([ranking])}
        rows = self.reader.rows(ranking.rows)
        pairs = sorted(zip(rows, ranking.scores, strict=True), key=lambda pair: by_place(pair[0]))
        parts = [[Contribution(ranking.lane, score)] for _, score in pairs]
        return rank([row for row, _ in pairs], parts, self.wanted, profile, self.roles)

    def _fuse(self, rankings: Sequence[Ranking]) -> list[Fused]:
        if self.fusion == "blend" and not any(each.lane == "embedding" for each in rankings):
            self.fusion = "convex"  # meaning did not answer in time
        weights = lane_weights(self.plan, self.fusion)
        if self.plan.kind == "structure":
            rankings = _without_known(rankings)
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
                shared = name_terms(row.name) & self._rare.keys()
                if shared:
                    named[row.row] = sum(self._rare[term] for term in shared)
        looks_on = self.ask.graph_expand or self.ask.rerank or self.ask.expand or self.ask.min_score
        return blend(
            *(rankings, self.profile.blend, len(self._rare), self._cover(ids), named),
            own_scale=self._own_scale,
            most=self.ask.k or None if self._is_settled() and not looks_on else None,
        )

    @cached_property
    def _rare(self) -> dict[str, float]:
        """Return each term of the question with its share of all that they say together."""
        terms = [term.text for term in query_terms(without_language(self.reader, self.text))]
        total = self.reader.symbol_count()
        rare = {term: rarity(self.reader.document_frequency(term, "body"), total) for term in terms}
        known = sum(rare.values()) or 1.0
        return {term: value / known for term, value in rare.items()}

    def _cover(self, rows: Sequence[int]) -> dict[int, float]:
        """Return what share of the question the text of each symbol has."""
        missing = [row for row in rows if row not in self._covered]
        found = self.reader.coverage(self._rare, missing)
        self._covered.update((row, found.get(row, 0.0)) for row in missing)
        return {row: self._covered[row] for row in rows}

    def _is_settled(self) -> bool:
        """Whether nothing but lanes counts: then the best k are the best k."""
        return self.profile.only_words and not self.wanted.names

    def look_again(self, ranked: list[Ranked]) -> list[Ranked]:
        """Let a cross-encoder read the first candidates together with the question."""
        from dowse.encode.cross import load_cross
        from dowse.rank.rerank import reranked

        settings = self.settings
        first = [hit.row.row for hit in ranked[: settings.rerank_candidates] if hit.row.row]
        cross = load_cross(self.ask.rerank, settings.device, settings.threads)
        scores = cross.score(self.plan.text, self.reader.documents(first))
        return reranked(ranked, scores, settings.rerank_weight)

    # Answer

    def answer(self, ranked: list[Ranked], total: int, embedded: Embedded | None) -> Answer:
        """Give the hits with their texts and all that there is to say."""
        ask, plan = self.ask, self.plan
        sure = self._confidences(ranked if ask.min_score else ranked[: ask.k or None])
        if ask.min_score:
            ranked = [hit for hit in ranked if self._is_enough(hit, sure.get(hit.row.row))]
        chosen = ranked[: ask.k] if ask.k else ranked
        if is_nothing([sure[hit.row.row] for hit in chosen if hit.row.row in sure]):
            self.notes.append(NOTHING_RELEVANT)
        self._say_what_was_relaxed(chosen)
        self._say_what_the_graph_knows(chosen)
        if ask.explain:
            self._break_down(chosen)
        self._say_what_is_missing(embedded)
        hits = tuple(self._hits(chosen, sure))
        reports = tuple(
            LaneReport(
                each.lane, len(each.result.rows) if each.result else 0, each.milliseconds, each.problem
            )
            for each in self.outcomes
        )
        report = PlanReport(
            *(plan.kind, plan.reason, plan.lanes, self.fusion, plan.seeds),
            plan.structural.relation if plan.structural else "",
            self.expanded,
        )
        notes = tuple(dict.fromkeys(self.notes))
        return Answer(
            ask.text, plan.mode, hits, total, self.reader.generation, notes, embedded, report, reports
        )

    def _is_enough(self, hit: Ranked, sure: float | None) -> bool:
        """Whether a hit is above the least score; what the graph says of structure is a fact."""
        if self.plan.kind == "structure":
            return self._found_by(hit, "graph")
        return (hit.score if sure is None else sure) >= self.ask.min_score

    def _confidences(self, ranked: Sequence[Ranked]) -> dict[int, float]:
        """Return how likely each hit is relevant, where meaning had a say and its encoder is known."""
        nearest = next((each.result for each in self.outcomes if each.lane == "embedding"), None)
        if nearest is None or not ranked or self.expanded:  # added words cover more than was asked
            return {}
        cosines = dict(zip(nearest.rows, nearest.scores, strict=True))
        last = min(nearest.scores, default=0.0)
        rows = [hit.row.row for hit in ranked]
        covered = self._cover(rows)
        sure = {
            row: confidence(self._encoder_id, cosines.get(row, last), covered[row], len(self._rare))
            for row in rows
        }
        return {row: value for row, value in sure.items() if value is not None}

    def _hits(self, ranked: Sequence[Ranked], sure: Mapping[int, float]) -> Iterator[Hit]:
        """Give the hits with their text, some at a time: a large answer's texts would fill the memory."""
        for start in range(0, len(ranked), _HITS_AT_ONCE):
            batch = ranked[start : start + _HITS_AT_ONCE]
            symbols = self.reader.symbols([hit.row for hit in batch])
            matches = matching_lines(self.reader, self.plan, batch, self.found)
            for number, (hit, symbol, lines) in enumerate(
                zip(batch, symbols, matches, strict=True), start + 1
            ):
                fused = self.fused.get(hit.row.row) if hit.row.row else None
                scores = tuple(fused.lanes) if fused else ()
                likely = sure.get(hit.row.row)
                yield Hit(number, hit.score, symbol, tuple(hit.parts), lines, scores, likely)

    def _say_what_was_relaxed(self, shown: Sequence[Ranked]) -> None:
        result = self._keyword_result()
        if result and any(
            hit.row.row not in result.exact and self._found_by(hit, "keyword") for hit in shown
        ):
            self.notes += result.notes  # relaxing brought in something that is shown

    def _say_what_the_graph_knows(self, shown: Sequence[Ranked]) -> None:
        asked = self.plan.structural
        if self.plan.kind != "structure" or asked is None:
            return
        known = sum(self._found_by(hit, "graph") for hit in shown)
        what = asked.relation if asked.relation != "path" else f"path to {asked.target}"
        if not known:
            self.notes.append(f"the graph knows no {what} of {asked.seed or 'it'}; these only mention it")
        elif known < len(shown):
            self.notes.append(f"{known} by the graph; what follows only mentions it")

    def _found_by(self, hit: Ranked, lane: str) -> bool:
        fused = self.fused.get(hit.row.row)
        return fused is not None and any(each.lane == lane for each in fused.lanes)

    def _say_what_is_missing(self, embedded: Embedded | None) -> None:
        self.notes += [f"left out: {outcome.problem}" for outcome in self.outcomes if outcome.problem]
        if not self.reader.is_complete:
            self.notes.append("the index is not complete yet; `dowse index` finishes it")
        # Exact matches and names are what they are; words find less than meaning would.
        by_meaning = self.plan.kind in ("prose", "mixed") or "embedding" in self.plan.lanes
        if by_meaning and embedded and embedded.symbols < embedded.total:
            self.notes.append(_half_embedded(embedded, index_command(self.settings)))

    def _keyword_result(self) -> KeywordResult | None:
        results = (outcome.result for outcome in self.outcomes if outcome.lane == "keyword")
        return next((result for result in results if isinstance(result, KeywordResult)), None)

    def _break_down(self, ranked: Sequence[Ranked]) -> None:
        """Replace each keyword score by what every field and term adds to it."""
        result = self._keyword_result()
        if result is None:
            return
        parts = self.reader.explain(result.request, [hit.row.row for hit in ranked])
        for hit in ranked:
            at = next((n for n, part in enumerate(hit.parts) if part.source == "keyword"), None)
            if at is not None:
                hit.parts[at : at + 1] = _fields(hit.parts[at], parts.get(hit.row.row, {}))


def _without_known(rankings: Sequence[Ranking]) -> list[Ranking]:
    """Leave to the graph what it found, so that its order stays: the steps of a path, the nearest first."""
    known = {row for each in rankings if each.lane == "graph" for row in each.rows}
    kept = []
    for each in rankings:
        pairs = [pair for pair in zip(each.rows, each.scores, strict=True) if pair[0] not in known]
        rows, scores = zip(*pairs, strict=True) if pairs else ((), ())
        kept.append(each if each.lane == "graph" else Ranking(each.lane, rows, scores))
    return kept


def _fields(whole: Contribution, parts: Mapping[tuple[str, str], float]) -> list[Contribution]:
    """Share what the keyword lane added among fields and terms, as they share its own score."""
    total = sum(parts.values())
    if not total:
        return [whole]
    scale = whole.value / total if whole.detail else 1.0  # alone, a lane's score is itself
    detail = sorted(parts.items(), key=lambda item: -item[1])
    fields = [Contribution(f"keyword.{field}", scale * value, term) for (field, term), value in detail]
    rest = whole.value - sum(part.value for part in fields)
    if abs(rest) > 1e-3 * abs(whole.value):
        fields.append(Contribution("keyword", rest, "filters"))
    return fields


def _wanted(plan: Plan) -> Wanted:
    """Return what the ranking signals need to know of the query."""
    words = plan.query.words
    text = " ".join(word.text for word in words)
    # A name inside prose is one word among others; alone it asks for a definition.
    only_names = len(words) == 1 or all(word.identifier for word in words)
    names = frozenset(plain_name(word.text) for word in words) if only_names else frozenset()
    return Wanted(frozenset(term.text for term in query_terms(text)), names)


def _roles_asked(plan: Plan) -> frozenset[str]:
    """Return the roles that path filters ask for: who looks in tests/ wants no tests held back."""
    globs = [leaf.glob for leaf in positive_leaves(plan.constraint) if isinstance(leaf, PathFilter)]
    if not globs:
        return frozenset()
    from dowse.source.roles import role_of

    return frozenset(role for glob in globs if (role := role_of(f"{glob}/x") or role_of(glob)))


def _embedded(reader: Reader, encoder: Encoder) -> Embedded:
    return Embedded(encoder.id, reader.embedded(encoder.id), reader.symbol_count())


def _half_embedded(embedded: Embedded, command: str) -> str:
    share = 100 * embedded.symbols // max(1, embedded.total)
    return f"{share} % of the symbols are embedded; `{command}` finishes it"


def _is_own(encoder: Encoder) -> bool:
    from dowse.encode.models import is_shipped

    return is_shipped(encoder.name)
