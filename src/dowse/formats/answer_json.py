"""The one JSON form of an answer, for the command line and every interface to come (docs/JSON.md)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dowse.types import Answer, Hit, Note
from dowse.version import __version__

if TYPE_CHECKING:
    from dowse.search.related import Related

# Raised when a field changes its meaning or goes away; new fields leave it as it is.
SCHEMA_VERSION = 1


def answer_to_json(answer: Answer) -> dict[str, Any]:
    """Return an answer as plain data."""
    return {
        "schema": SCHEMA_VERSION,
        "dowse": __version__,
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


def related_to_json(found: Related) -> dict[str, Any]:
    """Return what is like a symbol as plain data."""
    cluster = found.cluster
    return {
        "schema": SCHEMA_VERSION,
        "dowse": __version__,
        "symbol": {k: v for k, v in found.symbol._asdict().items() if k not in ("row", "file_id", "role")},
        "notes": notes_to_json(found.notes),
        "neighbours": [_hit(hit) for hit in found.neighbours],
        "cluster": cluster
        and {
            "number": cluster.number,
            "size": cluster.size,
            "words": list(cluster.words),
            "members": [_hit(hit) for hit in cluster.members],
        },
    }


def notes_to_json(notes: Iterable[Note]) -> list[dict[str, str]]:
    """Return notes as plain data: a code for programs, the text with its remedy for people."""
    return [{"code": note.code, "text": str(note)} for note in notes]


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
    }
