"""The planner: which lanes answer a query, from which seeds, and how their answers become one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dowse.errors import DowseError
from dowse.query import (
    Constraint,
    Phrase,
    Query,
    Regex,
    WordConstraint,
    leaves,
    narrow,
    needs_match,
    parse_query,
    plain_query,
    with_exact_words,
)
from dowse.query.structural import StructuralQuery, parse_structural

# In this order they break ties, whichever was the first to answer.
LANE_ORDER = ("keyword", "tfidf", "embedding", "graph")
# Those that the planner picks from; the others are there to be asked for.
PICKED = ("keyword", "embedding", "graph")
_MODE_LANES = {
    "keyword": ("keyword",),
    "tfidf": ("tfidf",),
    "symbol": ("keyword",),
    "embedding": ("embedding",),
    "hybrid": ("keyword", "embedding"),
    "graph": ("graph",),
}


@dataclass(frozen=True, slots=True)
class Ask:
    """What was asked and how it shall be answered."""

    text: str
    k: int = 10  # 0 for all candidates, and then an exact search lists them by place
    mode: str = "auto"
    plain: bool = False  # whether the text is words alone, with no query language in it
    filters: str = ""  # more of the query language that must hold too
    lanes: tuple[str, ...] = ()  # instead of those that the planner picks
    fusion: str = "auto"
    explain: bool = False
    fuzziness: str | None = None
    min_score: float = 0.0
    expand: bool = False
    graph_expand: bool = False
    rerank: str = ""
    feedback: bool = True  # whether what was chosen before may come first
    diversify: str = ""
    page: int = 0  # hits that are looked at together: `sample` shares out so many places; 0 for k
    clustering: str = ""  # by which `diversify` puts candidates together; "" takes the setting


@dataclass(frozen=True, slots=True)
class Plan:
    """How a query will be answered; a value, so that it can be shown and tested."""

    mode: str  # "regex", "symbol", or how the lanes are called together: "keyword", "hybrid", …
    kind: str
    reason: str
    lanes: tuple[str, ...]
    fusion: str
    query: Query
    constraint: Constraint | None
    exact: tuple[Phrase | Regex, ...] = ()  # patterns to find in the text before anything is ranked
    structural: StructuralQuery | None = None
    seeds: tuple[str, ...] = ()  # names that the graph lane starts from
    unknown: str = ""  # a name that the question is about and that no symbol bears

    @property
    def text(self) -> str:
        """Return the words to rank by: of a question of structure what it asks about."""
        asked = self.structural
        if asked and self.kind == "structure":
            return " ".join(filter(None, (asked.seed, asked.target))) or asked.described
        return self.query.text_for_ranking


def make_plan(
    ask: Ask | str,
    exists: Callable[[str], bool] = lambda _: True,
    *,
    has_vectors: bool = True,
    has_graph: bool = True,
) -> Plan:
    """Decide how to answer.

    Args:
        ask: What was asked.
        exists: Whether a symbol bears a name.
        has_vectors: Whether an encoder is in use and something is embedded.
        has_graph: Whether there are references between symbols; in a corpus of functions there are none.
    """
    ask = Ask(ask) if isinstance(ask, str) else ask
    query = narrow(_parsed(ask), ask.filters)
    constraint = with_exact_words(query)
    parts = list(leaves(constraint))
    exact = tuple(leaf for leaf in parts if isinstance(leaf, Phrase | Regex))
    demanded = any(isinstance(leaf, WordConstraint) for leaf in parts)
    plan = Plan("", "forced", "asked for", (), "", query, constraint, exact)
    if ask.mode == "regex" or (
        ask.mode in ("auto", "hybrid", "embedding", "graph")
        and needs_match(constraint)
        and not (plan.text or demanded)
    ):
        # Patterns alone need every line that matches, if one must; words need ranking.
        return replace(plan, mode="regex", kind="pattern", reason="a pattern: every line that matches")
    if not plan.text.strip():
        return replace(plan, mode="keyword", kind="filter", reason="filters alone", lanes=("keyword",))
    if ask.lanes or ask.mode != "auto":
        plan = _forced(plan, ask, exists)
    else:
        plan = _chosen(plan, exists, has_graph)
        if not has_vectors:
            plan = _without(plan, "embedding")
    return replace(plan, fusion=_fusion(plan, ask.fusion))


def _parsed(ask: Ask) -> Query:
    if ask.mode == "regex":
        return Query((Regex(ask.text),), source=ask.text)
    return plain_query(ask.text) if ask.plain else parse_query(ask.text)


def _forced(plan: Plan, ask: Ask, exists: Callable[[str], bool]) -> Plan:
    """Take the lanes that were asked for."""
    lanes = tuple(lane for lane in LANE_ORDER if lane in ask.lanes) or _MODE_LANES[ask.mode]
    mode = ask.mode if not ask.lanes else lanes[0] if len(lanes) == 1 else "hybrid"
    plan = replace(plan, mode=mode, lanes=lanes)
    if "graph" not in lanes:
        return plan
    structural = parse_structural(plan.query.source, exists)
    return replace(plan, structural=structural, seeds=_seeds(plan.query, structural, exists))


def _chosen(plan: Plan, exists: Callable[[str], bool], has_graph: bool) -> Plan:
    """Pick lanes by what kind of question it is."""
    query = plan.query
    structural = parse_structural(query.source, exists) if has_graph else None
    if structural and (not structural.seed or exists(structural.seed)):
        reason = f"asks for {structural.relation} of {structural.seed or structural.described}"
        return replace(
            *(plan,),
            mode="graph",
            kind="structure",
            reason=reason,
            lanes=("keyword", "graph"),
            structural=structural,
            seeds=(structural.seed,) if structural.seed else (),
        )
    if structural and structural.seed:
        plan = replace(plan, unknown=structural.seed)
    names = [word.text for word in query.words if word.identifier]
    if names and len(names) == len(query.words):
        seeds = _seeds(query, None, exists)
        if seeds:
            reason = "a name and nothing else: its definition first, then what stands around it"
            lanes = ("keyword", "graph") if has_graph else ("keyword",)
            return replace(plan, mode="keyword", kind="name", reason=reason, lanes=lanes, seeds=seeds)
        # Half a name, or a misspelt one: meaning forgives that.
        plan = replace(plan, unknown=plain_name(names[0]))
    seeds = _seeds(query, None, exists) if names and has_graph else ()
    if seeds:
        reason = "words with a name among them: all lanes"
        return replace(plan, mode="hybrid", kind="mixed", reason=reason, lanes=PICKED, seeds=seeds)
    kind = "mixed" if names else "prose"
    return replace(plan, mode="hybrid", kind=kind, reason="words: meaning first", lanes=PICKED[:2])


def _seeds(
    query: Query, structural: StructuralQuery | None, exists: Callable[[str], bool]
) -> tuple[str, ...]:
    """Return the names in a query that symbols bear."""
    if structural:
        return tuple(filter(None, (structural.seed, structural.target)))
    words = query.words
    named = [word.text for word in words if word.identifier or len(words) == 1]
    return tuple(name for name in dict.fromkeys(map(plain_name, named)) if exists(name))


def plain_name(word: str) -> str:
    """Return a name without what is written around it."""
    return word.strip("`()").replace("::", ".").replace("#", ".")


def _without(plan: Plan, lane: str) -> Plan:
    """Take a lane out of a plan that was picked."""
    lanes = tuple(each for each in plan.lanes if each != lane)
    mode = "keyword" if plan.mode == "hybrid" and lanes == ("keyword",) else plan.mode
    return replace(plan, lanes=lanes, mode=mode)


def _fusion(plan: Plan, wanted: str) -> str:
    """Return how the lanes' answers become one; "" where there is one lane."""
    if len(plan.lanes) < 2:
        return ""
    if plan.kind == "structure":
        return "weighted"  # nothing else keeps the graph's answer whole
    if wanted != "auto":
        return wanted
    return "blend" if "embedding" in plan.lanes else "convex"


def lane_weights(plan: Plan, fusion: str) -> dict[str, float]:
    """Return what each lane counts in a fusion by weights.

    Meaning finds what words miss more often than the other way round; "adaptive" knows that names are found
    by words, also inside prose. What the graph says of a question of structure comes before all else: the
    last of its candidates before the first of another lane.
    """
    if plan.kind == "structure":
        return {"keyword": 1.0, "embedding": 1.0, "graph": 20.0}
    has_names = fusion == "adaptive" and any(word.identifier for word in plan.query.words)
    return {"keyword": 1.0, "embedding": 1.0 if has_names else 3.0, "graph": 0.2}


def named_lanes(text: str | Sequence[str]) -> tuple[str, ...]:
    """Return the lanes of `keyword,graph`, in the fixed order."""
    names = [each.strip() for each in (text.split(",") if isinstance(text, str) else text)]
    unknown = [name for name in names if name not in LANE_ORDER]
    if unknown or not names:
        raise DowseError(f"lanes are {', '.join(LANE_ORDER)}, not {', '.join(unknown) or 'none'}")
    return tuple(lane for lane in LANE_ORDER if lane in names)
