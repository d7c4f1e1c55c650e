"""The JSON form of answers, for the command line and every other interface (docs/JSON.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dowse.security.terminal import escape_json
from dowse.version import __version__

if TYPE_CHECKING:
    from dowse.graph.model import GraphAnswer, GraphStep
    from dowse.search.related import Related
    from dowse.types import Answer, Hit, Note, SymbolRow

# Raised when a field changes its meaning or is removed; new fields leave it unchanged.
SCHEMA_VERSION = 1
_HEADER = {"schema": SCHEMA_VERSION, "dowse": __version__}
# Fields of a symbol row that mean nothing outside one generation of the index.
_INTERNAL = ("row", "key", "file_id")


def json_document(data: object) -> str:
    """Return plain data as one indented JSON document."""
    return escape_json(json.dumps(data, ensure_ascii=False, indent=2)) + "\n"


def json_line(data: object) -> str:
    """Return plain data as one line of JSON Lines, whatever the reader takes as a line end."""
    return escape_json(json.dumps(data, ensure_ascii=False)) + "\n"


def answer_to_json(answer: Answer) -> dict[str, Any]:
    """Return the answer of a search as plain data."""
    return {
        **_HEADER,
        "query": answer.query,
        "mode": answer.mode,
        "generation": answer.generation,
        "candidates": answer.total_candidates,
        "notes": notes_to_json(answer.notes),
        "embedded": answer.embedded._asdict() if answer.embedded else None,
        "plan": answer.plan and asdict(answer.plan),
        "lanes": [{**lane._asdict(), "milliseconds": round(lane.milliseconds, 3)} for lane in answer.lanes],
        "hits": [_hit(hit) for hit in answer.hits],
    }


def related_to_json(related: Related) -> dict[str, Any]:
    """Return the neighbours of a symbol and its cluster as plain data."""
    cluster = related.cluster
    symbol = related.symbol._asdict()
    return {
        **_HEADER,
        "symbol": {name: symbol[name] for name in symbol if name not in ("row", "file_id", "role")},
        "neighbours": [_hit(hit) for hit in related.neighbours],
        "cluster": cluster
        and {
            "number": cluster.number,
            "size": cluster.size,
            "words": list(cluster.words),
            "members": [_hit(hit) for hit in cluster.members],
        },
    }


def graph_to_json(answer: GraphAnswer) -> dict[str, Any]:
    """Return an answer of the code graph as plain data."""
    return {
        **_HEADER,
        "relation": answer.relation,
        "generation": answer.generation,
        "depth": answer.depth,
        "seeds": [symbol_to_json(seed) for seed in answer.seeds],
        "target": symbol_to_json(answer.target) if answer.target else None,
        "total": answer.total,
        "total_tests": answer.total_tests,
        "total_by_depth": list(answer.total_by_depth),
        "notes": notes_to_json(answer.notes),
        "steps": [_step(number, step) for number, step in enumerate(answer.steps, 1)],
        "total_mentions": answer.total_mentions,
        "mentions": [
            {
                "path": mention.symbol.path,
                "line": mention.line,
                "text": mention.text,
                "symbol": symbol_to_json(mention.symbol),
            }
            for mention in answer.mentions
        ],
    }


def candidates_to_json(name: str, candidates: Sequence[SymbolRow]) -> dict[str, Any]:
    """Return the symbols that an ambiguous name could mean as plain data."""
    return {
        **_HEADER,
        "error": "ambiguous",
        "name": name,
        "candidates": [symbol_to_json(row) for row in candidates],
    }


def symbol_to_json(row: SymbolRow) -> dict[str, Any]:
    """Return a symbol without its text as plain data."""
    fields = row._asdict()
    return {"id": row.key, **{name: fields[name] for name in fields if name not in _INTERNAL}}


def _hit(hit: Hit) -> dict[str, Any]:
    symbol = hit.symbol
    return {
        "rank": hit.rank,
        "score": round(hit.score, 6),
        "id": symbol.id,
        "repo": symbol.repo,
        "path": symbol.path,
        "start_line": symbol.start_line,
        "end_line": symbol.end_line,
        "language": symbol.language,
        "kind": symbol.kind,
        "name": symbol.name,
        "qualified_name": symbol.qualified_name,
        "signature": symbol.signature,
        "doc": symbol.doc,
        "code": symbol.code,
        "confidence": None if hit.confidence is None else round(hit.confidence, 4),
        "lanes": [
            {**lane._asdict(), "score": round(lane.score, 6), "normalised": round(lane.normalised, 6)}
            for lane in hit.lanes
        ],
        "explanation": [
            {"source": part.source, "value": round(part.value, 6), "detail": part.detail}
            for part in hit.explanation
        ],
        "matches": [
            {"line": match.line, "text": match.text, "spans": [list(span) for span in match.spans]}
            for match in hit.matches
        ],
        "also_in": [{"path": path, "line": line} for path, line in hit.also_in],
    }


def _step(number: int, step: GraphStep) -> dict[str, Any]:
    return {
        "number": number,
        "depth": step.depth,
        "parent": step.parent + 1,
        "symbol": symbol_to_json(step.symbol),
        "path": step.path,
        "line": step.line,
        "kind": step.edge.kind,
        "other": step.other,
        "confidence": step.confidence,
        "certainty": step.certainty,
        "through": step.through,
        "test": step.is_test,
        "references": [
            {
                "kind": edge.kind,
                "line": edge.line,
                "column": edge.column,
                "confidence": edge.confidence,
                "candidates": edge.candidates,
                "reason": edge.reason,
            }
            for edge in step.references
        ],
    }


def notes_to_json(notes: Iterable[Note]) -> list[dict[str, str]]:
    """Return notes as plain data: a code for programs, the text for people, what helps at a prompt."""
    return [{"code": note.code, "text": note.text, "remedy": note.remedy} for note in notes]
