"""The path of a query, top to bottom: parse, plan, retrieve, rank, explain."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dowse.backends.protocol import KeywordRequest, Reader
from dowse.config import Settings
from dowse.lanes.keyword import keyword_lane, query_terms
from dowse.query import (
    Constraint,
    Leaf,
    PathFilter,
    Phrase,
    Query,
    Regex,
    WordConstraint,
    evaluate,
    leaves,
    matches_metadata,
    parse_query,
    pattern_of,
)
from dowse.rank.profile import CORPUS, SYMBOL_FIELDS, TREE, Profile
from dowse.rank.signals import Ranked, Wanted, rank
from dowse.source.roles import role_of
from dowse.types import Answer, Contribution, Hit, LineMatch, SymbolRow

# A symbol's file and row; lines outside every symbol belong to row 0 of their file.
Place = tuple[int, int]
Found = dict[Place, tuple[LineMatch, ...]]


@dataclass(frozen=True, slots=True)
class Plan:
    """How a query will be answered; a value, so that it can be shown and tested."""

    mode: str  # "keyword", "regex" or "symbol"
    query: Query
    constraint: Constraint | None
    exact: tuple[Phrase | Regex, ...]  # patterns to find in the text before anything is ranked


def search(
    reader: Reader,
    text: str,
    settings: Settings,
    *,
    k: int,
    mode: str = "auto",
    filters: str = "",
    explain: bool = False,
    fuzziness: str | None = None,
    min_score: float = 0.0,
    profile: Profile | None = None,
) -> Answer:
    """Answer one query from one generation of an index.

    Args:
        reader: The generation.
        text: The query, in the language of docs/QUERY.md; in mode "regex" the whole of it is a pattern.
        settings: What was not said by the other arguments.
        k: How many hits; 0 for all candidates, and then an exact search lists them by place.
        mode: auto, keyword, regex or symbol.
        filters: More of the query language, e.g. from flags; all of it must hold too.
        explain: Break keyword scores into fields and terms.
        fuzziness: auto, 0, 1 or 2; None takes the setting.
        min_score: Leave out hits below this score.
        profile: What fields and signals are worth; None takes what was chosen for the index's shape.
    """
    plan = make_plan(text, mode, filters)
    profile = profile or (CORPUS if reader.is_corpus else TREE)
    found, rows = _find_exact(reader, plan)
    if plan.mode == "regex":
        ranked = _rank_exact(plan, found, rows, profile)
        notes: tuple[str, ...] = ()
    else:
        request, ranked, notes = _rank_words(reader, plan, found, settings, profile, k, fuzziness)
        if explain:
            _break_down(reader, request, ranked[:k] if k else ranked)
    if min_score:
        ranked = [hit for hit in ranked if hit.score >= min_score]
    if not k and plan.mode == "regex":
        ranked.sort(key=lambda hit: (hit.row.repo, hit.row.path, hit.row.start_line))
    matches = _by_place(found.values())
    chosen = ranked[:k] if k else ranked
    hits = [
        Hit(number, hit.score, reader.symbol(hit.row), tuple(hit.parts), matches.get(_place(hit.row), ()))
        for number, hit in enumerate(chosen, 1)
    ]
    return Answer(text, plan.mode, tuple(hits), len(ranked), reader.generation, notes)


def make_plan(text: str, mode: str = "auto", filters: str = "") -> Plan:
    """Decide how to answer."""
    more = parse_query(filters).clauses if filters else ()
    parsed = Query((Regex(text),)) if mode == "regex" else parse_query(text)
    query = Query((*parsed.clauses, *more), parsed.case, text)
    parts = list(leaves(query.constraint))
    if mode == "auto":
        # Words need ranking; patterns alone need every line that matches.
        words = query.text_for_ranking or any(isinstance(leaf, WordConstraint) for leaf in parts)
        patterns = any(isinstance(leaf, Phrase | Regex) for leaf in parts)
        mode = "regex" if patterns and not words else "keyword"
    exact = tuple(leaf for leaf in parts if isinstance(leaf, Phrase | Regex))
    return Plan(mode, query, query.constraint, exact)


def _find_exact(reader: Reader, plan: Plan) -> tuple[dict[Phrase | Regex, Found], dict[Place, SymbolRow]]:
    """Find the lines of every pattern in the plan, in files that its filters do not rule out."""
    if not plan.exact:
        return {}, {}
    from dowse.lanes.exact import exact_lane  # RE2 is loaded only when a pattern is asked for

    has_filters = len(list(leaves(plan.constraint))) > len(plan.exact)
    found: dict[Phrase | Regex, Found] = {}
    rows: dict[Place, SymbolRow] = {}
    for leaf in plan.exact:
        pattern = pattern_of(leaf, plan.query.case)
        keep = (lambda file: _may_hold(plan.constraint, file)) if has_filters else None
        hits = exact_lane(reader, pattern, keep)
        found[leaf] = {_place(hit.row): hit.matches for hit in hits}
        rows.update((_place(hit.row), hit.row) for hit in hits)
    return found, rows


def _rank_exact(
    plan: Plan, found: dict[Phrase | Regex, Found], rows: dict[Place, SymbolRow], profile: Profile
) -> list[Ranked]:
    """Order the symbols that meet the constraint by how many of their lines match, and by signals."""

    def decide(leaf: Leaf, row: SymbolRow) -> bool | None:
        if isinstance(leaf, Phrase | Regex):
            return _place(row) in found[leaf]
        return _metadata(leaf, row)

    kept = [row for row in rows.values() if evaluate(plan.constraint, lambda leaf, r=row: decide(leaf, r))]  # type: ignore[misc]
    matches = _by_place(found.values())
    scores = [math.log2(1 + len(matches[_place(row)])) for row in kept]
    return rank(kept, scores, _wanted(plan), profile, _roles_asked(plan))


def _rank_words(
    reader: Reader,
    plan: Plan,
    found: dict[Phrase | Regex, Found],
    settings: Settings,
    profile: Profile,
    k: int,
    fuzziness: str | None,
) -> tuple[KeywordRequest, list[Ranked], tuple[str, ...]]:
    """Find symbols by words among those that meet the constraint, and order them."""
    wanted = _wanted(plan)
    settled = profile.only_words and not wanted.names  # then the best k are the best k
    result = keyword_lane(
        reader,
        plan.query.text_for_ranking,
        limit=k if settled and k else max(settings.candidates, k),
        relax_below=settings.relax_below,
        fuzziness=fuzziness or settings.fuzziness,
        constraint=plan.constraint,
        exact_rows={leaf: frozenset(row for _, row in places) for leaf, places in found.items()},
        field_weights=SYMBOL_FIELDS if plan.mode == "symbol" else profile.fields,
        abbreviation=profile.abbreviation,
    )
    rows = reader.rows(result.rows)
    ranked = rank(rows, result.scores, wanted, profile, _roles_asked(plan))
    return result.request, ranked, result.notes


def _break_down(reader: Reader, request: KeywordRequest, ranked: Sequence[Ranked]) -> None:
    """Replace each keyword score by what every field and term adds to it."""
    parts = reader.explain(request, [hit.row.row for hit in ranked])
    for hit in ranked:
        score = hit.parts[0].value
        detail = sorted(parts.get(hit.row.row, {}).items(), key=lambda item: -item[1])
        fields = [Contribution(f"keyword.{field}", value, term) for (field, term), value in detail]
        rest = score - sum(part.value for part in fields)
        if abs(rest) > 1e-3 * abs(score):
            fields.append(Contribution("keyword", rest, "filters"))
        hit.parts[:1] = fields


def _wanted(plan: Plan) -> Wanted:
    """Return what the ranking signals need to know of the query."""
    words = plan.query.words
    text = " ".join(word.text for word in words)
    # A name inside prose is one word among others; alone it asks for a definition.
    only_names = len(words) == 1 or all(word.identifier for word in words)
    names = frozenset(_name(word.text) for word in words) if only_names else frozenset()
    return Wanted(frozenset(term.text for term in query_terms(text)), names)


def _name(word: str) -> str:
    return word.strip("`()").replace("::", ".").replace("#", ".")


def _roles_asked(plan: Plan) -> frozenset[str]:
    """Return the roles that path filters ask for: who looks in tests/ wants no tests held back."""
    globs = [leaf.glob for leaf in leaves(plan.constraint) if isinstance(leaf, PathFilter)]
    return frozenset(role for glob in globs if (role := role_of(f"{glob}/x") or role_of(glob)))


def _may_hold(constraint: Constraint | None, file: SymbolRow) -> bool:
    """Whether some symbol of a file can meet the constraint, as far as the file tells."""

    def decide(leaf: Leaf) -> bool | None:
        return (
            _metadata(leaf, file)
            if type(leaf).__name__ in ("LangFilter", "PathFilter", "RepoFilter")
            else None
        )

    return evaluate(constraint, decide) is not False


def _metadata(leaf: Leaf, row: SymbolRow) -> bool | None:
    return matches_metadata(
        leaf,
        lang=row.language,
        path=row.path,
        repo=row.repo,
        kind=row.kind,
        name=row.name,
        qualified_name=row.qualified_name,
    )


def _place(row: SymbolRow) -> Place:
    return (row.file_id, row.row)


def _by_place(found: Iterable[Found]) -> Found:
    """Join the lines of several patterns, each line once."""
    joined: dict[Place, dict[int, LineMatch]] = {}
    for places in found:
        for place, matches in places.items():
            lines = joined.setdefault(place, {})
            for match in matches:
                known = lines.get(match.line)
                spans = tuple(sorted({*known.spans, *match.spans})) if known else match.spans
                lines[match.line] = LineMatch(match.line, match.text, spans)
    return {place: tuple(lines[n] for n in sorted(lines)) for place, lines in joined.items()}
