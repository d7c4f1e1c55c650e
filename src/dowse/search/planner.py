"""The query planner: which lanes answer, where the graph lane starts, and how the rankings are fused."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING

from dowse.lazy_classes import dataclass, field, replace
from dowse.query.ast import (
    Constraint,
    Filter,
    Not,
    Phrase,
    Query,
    Regex,
    RowsFilter,
    WithinFilter,
    Word,
    WordConstraint,
    leaves,
    needs_match,
    with_exact_words,
)
from dowse.query.guide_questions import SETTING_WORDS, asked_activity, asks_for_setting, guide_words
from dowse.query.parser import narrow, parse_query, plain_query
from dowse.query.structural import StructuralQuery, parse_structural
from dowse.search.options import LANE_ORDER, MODE_LANES, PLANNED_LANES, SearchOptions, SearchRequest
from dowse.search.ranking.question_kinds import question_kinds, user_question
from dowse.search.spelling import Correction
from dowse.symbol_lookup import normalize_name
from dowse.types import Note

if TYPE_CHECKING:
    from dowse.query.long_text import LongText
    from dowse.query.stack_trace import StackTrace
    from dowse.search.long_questions import Reading

# Returns the question about structure that a text asks, if it asks one.
ParseStructure = Callable[[str], StructuralQuery | None]

# What the lexer reads as a word or a name.
_PLAIN_NAME = re.compile(r"[\w.:#$]*\w(?:\(\))?")
# What every stack trace has: a position. Cheaper than trying all formats on every query.
_POSITION = re.compile(r"[:(]\d|\bline \d|^@@ -\d|\+0x", re.MULTILINE)
# What error messages and log lines have: the name of an exception with a colon behind it, or a level.
_LOOKS_LIKE_ERROR = re.compile(
    r"\w(?:Error|Exception|Warning|Failure)\b(?:\[\w+\])?:|\b(?:error|fatal|panic|warning)\b[^:]{0,20}:"
    r"|\bpanicked at |\b(?:ERROR|WARN|WARNING|FATAL|CRITICAL|INFO|DEBUG)\b.*[\]:]"
)
# Characters that the words of a long text have at least (`query/long_text.py`).
_MIN_LONG_TEXT = 100
# In weighted, adaptive and convex fusion. The embedding lane finds what keywords miss more often than the
# other way round.
_LANE_WEIGHTS = {"keyword": 1.0, "embedding": 3.0, "graph": 0.2}
# For a structural query the graph lane counts so much that its last candidate comes before the first one of
# another lane.
_STRUCTURE_WEIGHTS = {"keyword": 1.0, "embedding": 1.0, "graph": 20.0}
# Remarks that one note lists.
_MAX_REMARKS = 3


@dataclass(frozen=True, slots=True)
class Plan:
    """How a query is answered; a value, so that it can be shown and tested."""

    mode: str  # "regex", "symbol", or what the lanes are called together: "keyword", "hybrid", …
    # of the query: "trace", "report", "structure", "name", "mixed", "prose", "pattern", "filter" or "forced"
    kind: str
    reason: str
    lanes: tuple[str, ...]
    fusion: str
    query: Query
    constraint: Constraint | None
    exact: tuple[Phrase | Regex, ...] = ()  # patterns to match in the text before ranking
    structural: StructuralQuery | None = None
    trace: StackTrace | None = None  # of a pasted stack trace, compiler output or diff
    error_message: str = ""  # of a pasted error, log line or stack trace
    has_filters: bool = False  # in the text; options may have more
    seeds: tuple[str, ...] = ()  # names of the symbols that the graph lane starts from
    unknown: str = ""  # a name in the query that no symbol has
    corrections: tuple[str, ...] = ()  # of misspelt words: "sring → string"
    text: str = ""  # the words to rank by; of a structural query only the names or words it is about
    term_weights: Mapping[str, float] = field(default_factory=dict)  # of a long text; else all count the same
    encoder_text: str = ""  # what the encoder reads of a long text; else `text`
    question: Mapping[str, float] = field(default_factory=dict)  # the probability of each kind of question


def make_plan(
    request: SearchRequest | str,
    exists: Callable[[str], bool] = lambda _: True,
    *,
    is_symbol: Callable[[str], bool] | None = None,
    has_vectors: bool = True,
    has_graph: bool = True,
    correct: Callable[[Query], Correction] = Correction,
    read: Callable[[LongText], Reading] | None = None,
) -> Plan:
    """Parse a query and decide how to answer it.

    Args:
        request: The query and its options.
        exists: Whether anything defined here has a name.
        is_symbol: Whether a symbol has it; None takes `exists`.
        has_vectors: Whether an encoder is in use and something is embedded.
        has_graph: Whether there are references between symbols; a corpus of functions has none.
        correct: Corrects the spelling of words.
        read: Weighs the terms of a long text; None takes all texts as questions.
    """
    request = SearchRequest(request) if isinstance(request, str) else request
    options = request.options
    parse_structure = cache(partial(parse_structural, exists=exists))
    trace = _parse_trace(request)
    long_text = _read_long_text(request) if read else None
    message = trace.message if trace else _error_message(request, long_text)
    if long_text:
        correction = Correction(replace(plain_query(long_text.text()), source=request.text), ())
    elif trace:
        correction = Correction(_trace_query(request, trace), ())
    elif message:  # its quotes are no phrases to require
        correction = Correction(plain_query(request.text), ())
    else:
        correction = _correct(_as_name(_parse(request), exists), parse_structure, exists, correct)
    has_filters = _has_filters(parse_query(request.text) if trace else correction.query)
    query = narrow(correction.query, filter_query(options))
    if options.within:
        query = replace(query, clauses=(*query.clauses, WithinFilter(options.within)))
    if options.rows:
        query = replace(query, clauses=(*query.clauses, RowsFilter(frozenset(options.rows))))
    constraint = with_exact_words(query)
    parts = list(leaves(constraint))
    exact = tuple(leaf for leaf in parts if isinstance(leaf, Phrase | Regex))
    has_required_words = any(isinstance(leaf, WordConstraint) for leaf in parts)
    plan = Plan("", "forced", "asked for", (), "", query, constraint, exact, text=query.text_for_ranking)
    plan = replace(
        plan, trace=trace, error_message=message, corrections=correction.changes, has_filters=has_filters
    )
    if long_text and read:
        reading = read(long_text)
        plan = replace(plan, term_weights=reading.term_weights, encoder_text=reading.encoder_text)
    if options.mode == "regex" or (
        options.mode in ("auto", "hybrid", "embedding", "graph")
        and needs_match(constraint)
        and not (plan.text or has_required_words)
    ):
        # A pattern alone lists every line that matches; words are ranked.
        return replace(plan, mode="regex", kind="pattern", reason="a pattern: every line that matches")
    if not plan.text.strip():
        return replace(plan, mode="keyword", kind="filter", reason="filters alone", lanes=("keyword",))
    if options.lanes or options.mode != "auto":
        plan = _plan_forced(plan, request, parse_structure, exists)
    elif long_text:
        reason = f"a long text: {long_text.summary}"
        lanes = PLANNED_LANES if has_graph and reading.names else PLANNED_LANES[:2]
        plan = replace(plan, mode="hybrid", kind="report", reason=reason, lanes=lanes, seeds=reading.names)
    elif trace:
        reason = f"{trace.source}: the symbols at its positions first, then what its message is about"
        plan = replace(plan, mode="hybrid", kind="trace", reason=reason, lanes=PLANNED_LANES[:2])
    else:
        plan = _plan_by_kind(plan, parse_structure, exists, is_symbol or exists, has_graph)
    if options.mode == "auto" and not options.lanes and not has_vectors:
        plan = _without_lane(plan, "embedding")
    plan = replace(plan, fusion=_choose_fusion(plan, options.fusion), question=_question_kinds(plan))
    return _ask_guides(plan) if has_graph else plan  # a corpus of functions has none


def message_text(plan: Plan, request: SearchRequest, *, is_corpus: bool) -> str:
    """Return what of a request may be the message of a program, "" if it is none."""
    if plan.error_message or plan.mode == "regex" or plan.kind in ("name", "filter", "report"):
        return plan.error_message
    if is_corpus or request.options.mode != "auto" or request.options.lanes or request.text.count(" ") < 2:
        return ""
    return plan.text if plan.has_filters else request.text  # filters are written by hand


def _has_filters(query: Query) -> bool:
    return any(isinstance(leaf, Filter) for leaf in leaves(query.constraint))


def exclusion_notes(plan: Plan, *, is_message: bool) -> list[Note]:
    """Say how a dash at the start of several words was read."""
    word = plan.query.source.split(" ", 1)[0]
    if not any(isinstance(clause, Not) for clause in plan.query.clauses[:1]):
        return []
    text = "read as a message" if is_message else f"hits must not match {word[1:]}"
    return [
        Note(
            "plain-text",
            f"{word} is at the start: {text}",
            "" if is_message else "--plain takes it as a word",
        )
    ]


def check_query(request: SearchRequest) -> None:
    """Raise what a plan would raise of a query that was written by hand; no index is needed.

    Raises:
        QueryError: with the position and the remedy, if a filter or pattern is invalid.
    """
    from dowse.query.regex.matcher import compile_leaf

    if "\n" in request.text.strip():  # a pasted text is no query
        return
    query = narrow(_parse(request), filter_query(request.options))
    for leaf in leaves(with_exact_words(query)):
        if isinstance(leaf, Phrase | Regex):
            compile_leaf(leaf, query.case)


def _ask_guides(plan: Plan) -> Plan:
    """Add the words of guides to a question of how to work on a project, and of settings to one for these."""
    if plan.kind != "prose":
        return plan
    activity = asked_activity(plan.text)
    if not activity:
        if not asks_for_setting(plan.text) or user_question(plan.text) <= 0.5:
            return plan
        reason = f"{plan.reason}; asks for a setting: with {SETTING_WORDS!r}"
        return replace(plan, reason=reason, text=f"{plan.text} {SETTING_WORDS}")
    return replace(
        plan,
        reason=f"asks for instructions ({activity}): guides, build files and CI first",
        text=f"{plan.text} {guide_words(activity)}",
        question={"guide": 1.0},
    )


def _question_kinds(plan: Plan) -> Mapping[str, float]:
    """Return how a question is worded; nothing for names, structure and stack traces."""
    if plan.kind == "report":
        return {"change": 1.0}
    has_words = any(not word.identifier for word in plan.query.words)
    return question_kinds(plan.text) if has_words and plan.kind in ("prose", "mixed", "forced") else {}


def _parse(request: SearchRequest) -> Query:
    if request.options.mode == "regex":
        return Query((Regex(request.text),), source=request.text)
    return plain_query(request.text) if request.options.plain else parse_query(request.text)


def _parse_trace(request: SearchRequest) -> StackTrace | None:
    if request.options.mode in ("regex", "symbol", "graph") or not _POSITION.search(request.text):
        return None
    from dowse.query.stack_trace import parse_stack_trace

    return parse_stack_trace(request.text)


def _read_long_text(request: SearchRequest) -> LongText | None:
    """Return the fields of a long text, unless it is a query that was written by hand."""
    options, text = request.options, request.text
    if options.mode in ("regex", "symbol", "graph") or len(text) < _MIN_LONG_TEXT:
        return None
    from dowse.query.long_text import read_long_text

    long_text = read_long_text(text)
    if long_text and not options.plain and "\n" not in text.strip():
        parts = leaves(with_exact_words(parse_query(text)))
        if any(isinstance(part, Filter) for part in parts):
            return None
    return long_text


def _error_message(request: SearchRequest, long_text: LongText | None = None) -> str:
    if not long_text and not _may_be_error(request):
        return ""
    from dowse.query.stack_trace import error_message

    return error_message(long_text.text("error") if long_text else request.text)


def _may_be_error(request: SearchRequest) -> bool:
    if request.options.mode in ("regex", "symbol", "graph") or not _LOOKS_LIKE_ERROR.search(request.text):
        return False
    if request.options.plain:
        return True
    parts = leaves(with_exact_words(parse_query(request.text)))
    return not any(isinstance(part, Filter) for part in parts)  # those are written by hand


def _trace_query(request: SearchRequest, trace: StackTrace) -> Query:
    """Return the words of a trace's message; without any, the names of its functions and files."""
    names = " ".join(f"{frame.function} {frame.path}" for frame in trace.frames[:3])
    for text in (trace.message, names):
        if re.search(r"[^\W\d_]", text):
            return replace(plain_query(text), source=request.text)
    return plain_query(request.text)


def _correct(
    query: Query,
    parse_structure: ParseStructure,
    exists: Callable[[str], bool],
    correct: Callable[[Query], Correction],
) -> Correction:
    """Correct the words of a query; of a structural one only its names."""
    structural = parse_structure(query.source)
    if structural is None:
        return correct(query)
    changes: list[str] = []
    for name in (structural.seed, structural.target):
        if name and not exists(name):
            correction = correct(Query((Word(name, identifier=True),), source=name))
            query = replace(query, source=query.source.replace(name, correction.query.source))
            changes += correction.changes
    return Correction(query, tuple(changes))


def _as_name(query: Query, exists: Callable[[str], bool]) -> Query:
    """Return a query that is a name as a whole, though no word of a text looks so: `valid?`, `x=`, `<=>`."""
    text = normalize_name(query.source)
    is_plain = _PLAIN_NAME.fullmatch(text) and not text.endswith("operator()")
    if is_plain or any(map(str.isspace, text)):
        return query
    if not all(isinstance(clause, Word) for clause in query.clauses) or not exists(text):
        return query
    return replace(query, clauses=(Word(text, identifier=True),), remarks=())


def _plan_forced(
    plan: Plan, request: SearchRequest, parse_structure: ParseStructure, exists: Callable[[str], bool]
) -> Plan:
    """Take the lanes that the options name."""
    options = request.options
    lanes = tuple(lane for lane in LANE_ORDER if lane in options.lanes) or MODE_LANES[options.mode]
    mode: str = options.mode
    if options.lanes:
        mode = lanes[0] if len(lanes) == 1 else "hybrid"
    plan = replace(plan, mode=mode, lanes=lanes)
    if "graph" not in lanes:
        return plan
    structural = parse_structure(plan.query.source)
    if structural and structural.relation == "definition":  # no edges lead there: what is around the name
        return replace(plan, seeds=(structural.seed,))
    return replace(plan, structural=structural, seeds=_seeds(plan.query, structural, exists))


def _plan_by_kind(
    plan: Plan,
    parse_structure: ParseStructure,
    exists: Callable[[str], bool],
    is_symbol: Callable[[str], bool],
    has_graph: bool,
) -> Plan:
    """Choose lanes by the kind of query."""
    query = plan.query
    structural = parse_structure(query.source)
    if structural and structural.relation == "definition":
        return _plan_definition(plan, structural.seed, exists, is_symbol, has_graph)
    structural = structural if has_graph else None
    names = (structural.seed, structural.target) if structural else ()
    missing = next((name for name in names if name and not exists(name)), "")
    if structural and not missing:
        reason = f"asks for {structural.relation} of {structural.seed or structural.described}"
        return replace(
            plan,
            mode="graph",
            kind="structure",
            reason=reason,
            lanes=("keyword", "graph"),
            structural=structural,
            seeds=(structural.seed,) if structural.seed else (),
            text=_structural_text(structural),
        )
    if missing:
        plan = replace(plan, unknown=missing)
    return _plan_by_words(plan, exists, is_symbol, has_graph)


def _plan_definition(
    plan: Plan,
    name: str,
    exists: Callable[[str], bool],
    is_symbol: Callable[[str], bool],
    has_graph: bool,
) -> Plan:
    """Answer "where is X defined" and "what does X return" as the name alone."""
    if not exists(name):
        return _plan_by_words(replace(plan, unknown=name), exists, is_symbol, has_graph)
    others = (clause for clause in plan.query.clauses if not isinstance(clause, Word))
    query = replace(plan.query, clauses=(Word(name, identifier=True), *others))
    plan = _plan_by_words(replace(plan, query=query, text=name), exists, is_symbol, has_graph)
    return replace(plan, reason=f"asks for the definition of {name}: it comes first")


def _structural_text(structural: StructuralQuery) -> str:
    names = " ".join(filter(None, (structural.seed, structural.target))) or structural.described
    return f"{names} test" if structural.relation == "tests" else names


def _plan_by_words(
    plan: Plan, exists: Callable[[str], bool], is_symbol: Callable[[str], bool], has_graph: bool
) -> Plan:
    """Choose lanes by names and words."""
    query = plan.query
    names = [word.text for word in query.words if word.identifier]
    if names and len(names) == len(query.words):
        seeds = _seeds(query, None, exists)
        if seeds:
            reason = "a name and nothing else: its definition first, then what stands around it"
            lanes = ("keyword", "graph") if has_graph else ("keyword",)
            return replace(plan, mode="keyword", kind="name", reason=reason, lanes=lanes, seeds=seeds)
        # Part of a name, or a misspelt one: the embedding lane can still find it.
        plan = replace(plan, unknown=plain_name(names[0]))
    seeds = _seeds(query, None, is_symbol) if names and has_graph else ()
    if seeds:
        reason = "words with a name among them: all lanes"
        return replace(plan, mode="hybrid", kind="mixed", reason=reason, lanes=PLANNED_LANES, seeds=seeds)
    kind = "mixed" if names else "prose"
    return replace(plan, mode="hybrid", kind=kind, reason="words: meaning first", lanes=PLANNED_LANES[:2])


def _seeds(
    query: Query, structural: StructuralQuery | None, exists: Callable[[str], bool]
) -> tuple[str, ...]:
    """Return the names in a query that symbols have."""
    if structural:
        return tuple(filter(None, (structural.seed, structural.target)))
    words = query.words
    named = [word.text for word in words if word.identifier or len(words) == 1]
    plain = {plain_name(name): written_name(name) for name in named}
    return tuple(name for name, written in plain.items() if exists(name) or exists(written))


def written_name(word: str) -> str:
    """Return a name without the punctuation that people write around it."""
    return word if word.endswith("operator()") else word.strip("`()")


def plain_name(word: str) -> str:
    """Return such a name with its parts joined as in the index."""
    return written_name(word).replace("::", ".").replace("#", ".")


def _without_lane(plan: Plan, lane: str) -> Plan:
    lanes = tuple(each for each in plan.lanes if each != lane)
    mode = "keyword" if plan.mode == "hybrid" and lanes == ("keyword",) else plan.mode
    return replace(plan, lanes=lanes, mode=mode)


def _choose_fusion(plan: Plan, fusion: str) -> str:
    """Return how the lanes are fused; "" where there is one lane."""
    if len(plan.lanes) < 2:
        return ""
    if plan.kind == "structure":
        return "weighted"  # only this keeps the order of the graph lane
    if fusion != "auto":
        return fusion
    return "blend" if "embedding" in plan.lanes else "convex"


def lane_weights(plan: Plan, fusion: str) -> dict[str, float]:
    """Return the weight of each lane in a weighted fusion.

    "adaptive" lowers the weight of the embedding lane to that of keywords where the query has identifiers,
    which keywords find.
    """
    if plan.kind == "structure":
        return _STRUCTURE_WEIGHTS
    if fusion == "adaptive" and any(word.identifier for word in plan.query.words):
        return {**_LANE_WEIGHTS, "embedding": _LANE_WEIGHTS["keyword"]}
    return _LANE_WEIGHTS


def plain_text_notes(query: Query) -> list[Note]:
    """Say what of a query is no query language."""
    shown = "; ".join(query.remarks[:_MAX_REMARKS])
    more = f"; and {len(query.remarks) - _MAX_REMARKS} more" if len(query.remarks) > _MAX_REMARKS else ""
    return [Note("plain-text", f"taken as plain text: {shown}{more}")] if shown else []


def filter_query(options: SearchOptions) -> str:
    """Return all filters of the options in the query language; each value is quoted."""
    lists = (
        ("lang", options.lang),
        ("path", options.path),
        ("kind", options.kind),
        ("-path", options.exclude),
    )
    parts = [f"{name}:{_quote(value)}" for name, values in lists for value in values]
    return " ".join([options.filters, *parts] if options.filters.strip() else parts)


def _quote(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
