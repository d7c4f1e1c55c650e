"""Retrieve: ask the lanes of a plan, all at once, and keep what became of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dowse.config import Settings
from dowse.errors import DowseError
from dowse.parsing.tokenizer import STOP_WORDS
from dowse.query import PathFilter, positive_leaves
from dowse.search.exact import Found, exact_rows
from dowse.search.graph_seeds import Seeds
from dowse.search.lanes.bm25 import query_terms, without_language
from dowse.search.lanes.jobs import LaneJob, LaneRunner, Outcome
from dowse.search.planner import Ask, Plan, plain_name
from dowse.search.ranking.blend import rarity
from dowse.search.ranking.profile import SYMBOL_FIELDS, Profile
from dowse.search.ranking.query_expansion import expansion
from dowse.search.ranking.signals import Wanted
from dowse.storage.protocol import Reader
from dowse.types import Symbol

if TYPE_CHECKING:
    from dowse.encoders.encoder import Encoder
    from dowse.types import Boost


# The classic intersection of TF-IDF and meaning looks at so many of meaning's first.
_CLASSIC = 100


class Moved(Exception):
    """The index got a new generation while lanes were asked; the query must be asked again."""


class Retrieving:
    """One query on its way, as far as its candidates."""

    def __init__(
        self,
        reader: Reader,
        ask: Ask,
        plan: Plan,
        settings: Settings,
        profile: Profile,
        found: Found,
        encoder: Encoder | None = None,
    ) -> None:
        self.reader, self.ask, self.plan, self.settings = reader, ask, plan, settings
        self.profile, self.found, self.encoder = profile, found, encoder
        self.wanted, self.roles = wanted(plan), roles_asked(plan)
        self.candidates = settings.candidates or profile.candidates
        self.text = plan.text  # and what was added to it
        self.expanded: tuple[str, ...] = ()
        self.outcomes: list[Outcome] = []
        self.notes: list[str] = []
        self.boosts: Mapping[str, Boost] = {}  # what was chosen before, by the symbol's id

    def retrieve(self, lanes: LaneRunner, seeds: Seeds) -> None:
        """Run the lanes of the plan; one that fails or is late is left out and named."""
        self.notes += seeds.notes
        jobs = [self._job(lane) for lane in self.plan.lanes if lane != "graph"]
        if seeds.rows:
            jobs.append(self._graph_job(seeds))
        self.outcomes = self._run(lanes, jobs)
        failed = [outcome for outcome in self.outcomes if outcome.problem]
        for outcome in failed:
            # A mistake in the question is one for every lane; with nobody left there is no answer.
            if outcome.error is not None or len(failed) == len(self.outcomes):
                raise outcome.error or DowseError(outcome.problem)

    def ask_again(self, lanes: LaneRunner, best: Sequence[Symbol]) -> None:
        """Ask the lanes for words again, with words of the best answers added."""
        self.expanded = expansion(
            [symbol.code for symbol in best],
            self.wanted.terms | STOP_WORDS,
            self.rarity,
            self.settings.expand_terms,
            lambda stems: self.reader.expect_terms(stems, "body"),
        )
        if not self.expanded:
            return
        before, self.text = self.text, " ".join((self.plan.text, *self.expanded))
        jobs = [self._job(lane) for lane in self.plan.lanes if lane != "graph"]
        again = {outcome.lane: outcome for outcome in self._run(lanes, jobs)}
        problems = [outcome.problem for outcome in again.values() if outcome.problem]
        if problems:
            self.text, self.expanded = before, ()
            self.notes += [f"not expanded: {problem}" for problem in problems]
        else:
            self.outcomes = [again.get(outcome.lane, outcome) for outcome in self.outcomes]

    def found_rows(self) -> int:
        """Return how many candidates the lanes found together."""
        return len({row for outcome in self.outcomes if outcome.result for row in outcome.result.rows})

    def rarity(self, term: str) -> float:
        """Return what it says of a text to have a term."""
        return rarity(self.reader.document_frequency(term, "body"), self.reader.symbol_count())

    def _run(self, lanes: LaneRunner, jobs: Sequence[LaneJob]) -> list[Outcome]:
        outcomes = lanes.run(self.reader, jobs, self.settings.lane_seconds)
        if any(outcome.moved for outcome in outcomes):
            raise Moved
        return outcomes

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
        if lane == "tfidf":
            return LaneJob(lane, arguments)
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

    def _graph_job(self, seeds: Seeds) -> LaneJob:
        structural = self.plan.structural
        arguments: dict[str, object] = {"seeds": seeds.rows, "limit": max(self.candidates, self.ask.k)}
        if structural:
            arguments.update(relation=structural.relation, depth=self.settings.graph_depth, ends=seeds.ends)
        return LaneJob("graph", arguments)

    def _limit(self, lane: str) -> int:
        """Return how many candidates a lane shall give."""
        k, most = self.ask.k, max(self.candidates, self.ask.k)
        alone = len(self.plan.lanes) == 1
        if lane == "embedding" and "tfidf" in self.plan.lanes and self.plan.fusion == "intersection":
            return self.settings.candidates or _CLASSIC  # whatever the shape of the index
        if lane == "embedding":
            return most if k or not alone else self.reader.symbol_count()
        return k if k and alone and self.is_settled() else most

    def is_settled(self) -> bool:
        """Whether nothing but lanes counts, and nothing comes after: then the best k are the best k."""
        ask = self.ask
        looks_on = (
            ask.graph_expand or ask.rerank or ask.expand or ask.diversify or ask.min_score or self.boosts
        )
        return self.profile.only_words and not self.wanted.names and not looks_on


def wanted(plan: Plan) -> Wanted:
    """Return what the ranking signals need to know of the query."""
    words = plan.query.words
    text = " ".join(word.text for word in words)
    # A name inside prose is one word among others; alone it asks for a definition.
    only_names = len(words) == 1 or all(word.identifier for word in words)
    names = frozenset(plain_name(word.text) for word in words) if only_names else frozenset()
    return Wanted(frozenset(term.text for term in query_terms(text)), names)


def roles_asked(plan: Plan) -> frozenset[str]:
    """Return the roles that path filters ask for: who looks in tests/ wants no tests held back."""
    globs = [leaf.glob for leaf in positive_leaves(plan.constraint) if isinstance(leaf, PathFilter)]
    if not globs:
        return frozenset()
    from dowse.source.roles import file_role

    return frozenset(role for glob in globs if (role := file_role(f"{glob}/x") or file_role(glob)))
