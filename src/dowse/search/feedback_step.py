"""Recall: what was chosen before for a question, and the order that this asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowse.errors import DowseError
from dowse.search.lanes.bm25 import without_language
from dowse.search.ranking.signals import Ranked
from dowse.search.ranking_step import RankingStep

if TYPE_CHECKING:
    from dowse.feedback.store import FeedbackStore

# These ask for facts: a caller of one function is no caller of another, however alike the questions are.
_FACTS = ("structure", "pattern", "filter")


class RecallingStep(RankingStep):
    """One query on its way, as far as what was chosen before."""

    def recall(self, store: FeedbackStore) -> None:
        """Look up what was chosen for this question and those like it; without it, an answer is still one."""
        from dowse.feedback.boosts import feedback_boosts

        if self.plan.mode == "regex" and not self.ask.k:
            return  # every line, in the order of places
        similar = self.plan.kind not in _FACTS
        try:
            self.boosts = feedback_boosts(store, self.ask.text, similar=similar, idf=self._worth)
        except DowseError as error:
            self.notes.append(f"left out: {error}")

    def prefer(self, ranked: list[Ranked]) -> list[Ranked]:
        """Let what was chosen come first; what only mentions a symbol stays behind what the graph found."""
        if not self.boosts:
            return ranked
        from dowse.search.ranking.feedback import with_feedback

        boosts = self.boosts
        if self.plan.kind == "structure":
            found = {hit.row.key for hit in ranked if self.found_by(hit, "graph")}
            boosts = {key: boost for key, boost in boosts.items() if key in found or not found}
        return with_feedback(ranked, boosts)

    def _worth(self, term: str) -> float:
        """Return what it says to share a term; the name of the language of all that is here says nothing."""
        alone = without_language(self.reader, f"{term} _") == "_"
        return 0.0 if alone else self.rarity(term)
