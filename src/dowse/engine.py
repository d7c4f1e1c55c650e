"""The path of a query, top to bottom: parse, plan, retrieve, rank, explain."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dowse.backends.protocol import KeywordRequest, Reader
from dowse.config import Settings, index_command
from dowse.errors import DowseError
from dowse.lanes.keyword import KeywordResult, keyword_lane, query_terms
from dowse.lanes.places import Lines, Place
from dowse.query import (
    Constraint,
    LangFilter,
    Leaf,
    PathFilter,
    Phrase,
    Query,
    Regex,
    RepoFilter,
    WordConstraint,
    evaluate,
    leaves,
    matches_metadata,
    narrow,
    needs_match,
    parse_query,
    positive_leaves,
    with_exact_words,
)
from dowse.rank.profile import CORPUS, SYMBOL_FIELDS, TREE, Profile
from dowse.rank.signals import Ranked, Wanted, rank
from dowse.types import Answer, Contribution, Embedded, Hit, LineMatch, SymbolRow

if TYPE_CHECKING:
    from dowse.encode.encoder import Encoder

# Hits whose texts are in memory at the same time.
_HITS_AT_ONCE = 100
# For each pattern of a plan, the lines that match it, by symbol.
Found = dict[Phrase | Regex, Lines]


@dataclass(frozen=True, slots=True)
class Plan:
    """How a query will be answered; a value, so that it can be shown and tested."""

    mode: str  # "keyword", "embedding", "regex" or "symbol"
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
    encoder: Encoder | None = None,
) -> Answer:
    """Answer one query from one generation of an index.

    Args:
        reader: The generation.
        text: The query, in the language of docs/QUERY.md; in mode "regex" the whole of it is a pattern.
        settings: What was not said by the other arguments.
        k: How many hits; 0 for all candidates, and then an exact search lists them by place.
        mode: auto, keyword, embedding, regex or symbol.
        filters: More of the query language, e.g. from flags; all of it must hold too.
        explain: Break keyword scores into fields and terms.
        fuzziness: auto, 0, 1 or 2; None takes the setting.
        min_score: Leave out hits below this score.
        profile: What fields and signals are worth; None takes what was chosen for the index's shape.
        encoder: What makes vectors of queries; None where no vectors are in use.
    """
    plan = make_plan(text, mode, filters)
    profile = profile or (CORPUS if reader.is_corpus else TREE)
    found = _find_exact(reader, plan)
    notes: tuple[str, ...] = ()
    if plan.mode == "regex":
        ranked, total = _rank_exact(reader, plan, found, profile, k and max(settings.candidates, k))
    elif plan.mode == "embedding":
        ranked = _rank_meaning(reader, plan, found, settings, profile, k, encoder)
        total = len(ranked)
    else:
        result, ranked = _rank_words(reader, plan, found, settings, profile, k, fuzziness)
        total, shown = len(ranked), ranked[:k] if k else ranked
        if any(hit.row.row not in result.exact for hit in shown):
            notes = result.notes  # relaxing brought in something that is shown
        if explain:
            _break_down(reader, result.request, shown)
    if min_score:
        ranked = [hit for hit in ranked if hit.score >= min_score]
    chosen = ranked[:k] if k else ranked
    if not reader.is_complete:
        notes = (*notes, "the index is not complete yet; `dowse index` finishes it")
    embedded = _embedded(reader, encoder) if encoder else None
    # Exact matches and names are what they are; words found less than meaning would have.
    by_meaning = plan.mode == "embedding" or (mode == "auto" and plan.mode == "keyword")
    if by_meaning and embedded and embedded.symbols < embedded.total:
        notes = (*notes, _half_embedded(embedded, index_command(settings)))
    hits = tuple(_hits(reader, plan, chosen, found))
    return Answer(text, plan.mode, hits, total, reader.generation, notes, embedded)


def make_plan(text: str, mode: str = "auto", filters: str = "") -> Plan:
    """Decide how to answer."""
    query = narrow(Query((Regex(text),), source=text) if mode == "regex" else parse_query(text), filters)
    constraint = with_exact_words(query)
    parts = list(leaves(constraint))
    if mode == "embedding" and not query.text_for_ranking.strip():
        mode = "auto"  # filters and patterns alone mean nothing to be near to
    if mode == "auto":
        # Words need ranking; patterns alone need every line that matches, if one must.
        words = query.text_for_ranking or any(isinstance(leaf, WordConstraint) for leaf in parts)
        mode = "regex" if needs_match(constraint) and not words else "keyword"
    exact = tuple(leaf for leaf in parts if isinstance(leaf, Phrase | Regex))
    return Plan(mode, query, constraint, exact)


def _find_exact(reader: Reader, plan: Plan) -> Found:
    """Find the lines of every pattern in the plan, in files that its filters do not rule out."""
    if not plan.exact:
        return {}
    from dowse.lanes.exact import exact_lane  # loaded only when a pattern is asked for
    from dowse.query.leaves import pattern_of

    has_filters = len(list(leaves(plan.constraint))) > len(plan.exact)
    keep = (lambda file: _may_hold(plan.constraint, file)) if has_filters else None
    return {leaf: exact_lane(reader, pattern_of(leaf, plan.query.case), keep) for leaf in plan.exact}


def _rank_exact(
    reader: Reader, plan: Plan, found: Found, profile: Profile, limit: int
) -> tuple[list[Ranked], int]:
    """Order the symbols that meet the constraint by how many of their lines match, and by signals.

    With a limit, only that many symbols with most matching lines are looked at closely; without one, all
    are, and come in the order of their places.
    """
    counts: dict[Place, int] = {}
    for lines in found.values():
        for place, numbers in lines.items():
            counts[place] = counts.get(place, 0) + len(numbers)
    places = sorted(counts, key=lambda place: (-counts[place], place))
    total = len(places)
    if isinstance(plan.constraint, Phrase | Regex) and limit:
        places = places[:limit]  # nothing else can rule a symbol out
    rows = [row for row in _rows_at(reader, places) if _meets(plan, row, found)]
    if not isinstance(plan.constraint, Phrase | Regex):
        total, rows = len(rows), rows[:limit] if limit else rows
    scores = [math.log2(1 + counts[_place(row)]) for row in rows]
    ranked = rank(rows, scores, _wanted(plan), profile, _roles_asked(plan), "exact")
    if not limit:
        ranked.sort(key=lambda hit: (hit.row.repo, hit.row.path, hit.row.start_line, hit.row.row))
    return ranked, total


def _rows_at(reader: Reader, places: Sequence[Place]) -> list[SymbolRow]:
    """Return the symbols at some places, and files where lines lie in no symbol."""
    symbols = {row.row: row for row in reader.rows([row for _, row in places if row])}
    files = {row.file_id: row for row in reader.file_rows([file for file, row in places if not row])}
    return [symbols[row] if row else files[file] for file, row in places]


def _meets(plan: Plan, row: SymbolRow, found: Found) -> bool:
    """Whether a symbol meets the constraint, patterns included."""

    def decide(leaf: Leaf) -> bool | None:
        if isinstance(leaf, Phrase | Regex):
            return _place(row) in found[leaf]
        return _metadata(leaf, row)

    return evaluate(plan.constraint, decide) is True


def _hits(reader: Reader, plan: Plan, ranked: Sequence[Ranked], found: Found) -> Iterator[Hit]:
    """Give the hits with their text, some at a time: a large answer's texts would fill the memory."""
    for start in range(0, len(ranked), _HITS_AT_ONCE):
        batch = ranked[start : start + _HITS_AT_ONCE]
        symbols = reader.symbols([hit.row for hit in batch])
        matches = _matching_lines(reader, plan, batch, found)
        for number, (hit, symbol, lines) in enumerate(zip(batch, symbols, matches, strict=True), start + 1):
            yield Hit(number, hit.score, symbol, tuple(hit.parts), lines)


def _matching_lines(
    reader: Reader, plan: Plan, ranked: Sequence[Ranked], found: Found
) -> Iterator[tuple[LineMatch, ...]]:
    """Give for each hit the text of its matching lines, each once whatever patterns match it."""
    if not found:
        yield from (() for _ in ranked)
        return
    from dowse.query.leaves import pattern_of

    patterns = {leaf: pattern_of(leaf, plan.query.case) for leaf in found}
    seen: dict[tuple[int, Phrase | Regex], dict[int, LineMatch]] = {}
    for hit in ranked:
        lines: dict[int, LineMatch] = {}
        for leaf, places in found.items():
            numbers = places.get(_place(hit.row), ())
            key = (hit.row.file_id, leaf)
            if numbers and key not in seen:
                text = reader.text(hit.row.file_id)
                seen[key] = {match.line: match for match in patterns[leaf].find_lines(text)}
            for number in numbers:
                match, known = seen[key][number], lines.get(number)
                spans = {*known.spans, *match.spans} if known else match.spans
                lines[number] = LineMatch(number, match.text, tuple(sorted(spans)))
        yield tuple(lines[number] for number in sorted(lines))


def _rank_words(
    reader: Reader,
    plan: Plan,
    found: Found,
    settings: Settings,
    profile: Profile,
    k: int,
    fuzziness: str | None,
) -> tuple[KeywordResult, list[Ranked]]:
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
        exact_rows=_exact_rows(found),
        field_weights=SYMBOL_FIELDS if plan.mode == "symbol" else profile.fields,
        abbreviation=profile.abbreviation,
    )
    rows = reader.rows(result.rows)
    return result, rank(rows, result.scores, wanted, profile, _roles_asked(plan))


def _exact_rows(found: Found) -> dict[object, frozenset[int]]:
    """Return the symbols that each pattern was found in."""
    return {leaf: frozenset(row for _, row in places) for leaf, places in found.items()}


def _rank_meaning(
    reader: Reader,
    plan: Plan,
    found: Found,
    settings: Settings,
    profile: Profile,
    k: int,
    encoder: Encoder | None,
) -> list[Ranked]:
    """Find symbols by what they mean among those that meet the constraint, and order them by cosines.

    Tests, documentation and the like rank a little lower, unless the query asks for them.
    """
    if encoder is None:
        raise DowseError("there is no encoder to search by meaning with; set `encoder`, e.g. to base")
    from dowse.lanes.embedding import embedding_lane  # loads NumPy

    result = embedding_lane(
        reader,
        encoder,
        plan.query.text_for_ranking,
        limit=max(settings.candidates, k) if k else reader.symbol_count(),
        method=settings.vectors,
        constraint=plan.constraint,
        exact_rows=_exact_rows(found),
    )
    rows = reader.rows(result.rows)
    return rank(rows, result.scores, _wanted(plan), profile.for_cosines(), _roles_asked(plan), "embedding")


def _embedded(reader: Reader, encoder: Encoder) -> Embedded:
    return Embedded(encoder.id, reader.embedded(encoder.id), reader.symbol_count())


def _half_embedded(embedded: Embedded, command: str) -> str:
    share = 100 * embedded.symbols // max(1, embedded.total)
    return f"{share} % of the symbols are embedded; `{command}` finishes it"


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
    globs = [leaf.glob for leaf in positive_leaves(plan.constraint) if isinstance(leaf, PathFilter)]
    if not globs:
        return frozenset()
    from dowse.source.roles import role_of

    return frozenset(role for glob in globs if (role := role_of(f"{glob}/x") or role_of(glob)))


def _may_hold(constraint: Constraint | None, file: SymbolRow) -> bool:
    """Whether some symbol of a file can meet the constraint, as far as the file tells."""

    def decide(leaf: Leaf) -> bool | None:
        return _metadata(leaf, file) if isinstance(leaf, LangFilter | PathFilter | RepoFilter) else None

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
