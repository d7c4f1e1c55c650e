"""The JSON form of what the graph says (docs/JSON.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dowse.formats.answer_json import SCHEMA_VERSION, notes_to_json
from dowse.graph.model import GraphAnswer, GraphStep
from dowse.security.secret_masking import mask_row
from dowse.types import Edge, SymbolRow
from dowse.version import __version__

# What is ours alone: numbers of rows mean nothing outside one generation.
_INTERNAL = ("row", "key", "file_id")


def graph_to_json(answer: GraphAnswer) -> dict[str, Any]:
    """Return an answer as plain data."""
    return {
        "schema": SCHEMA_VERSION,
        "dowse": __version__,
        "relation": answer.relation,
        "generation": answer.generation,
        "depth": answer.depth,
        # Secrets were masked when the answer was made.
        "seeds": [symbol_to_json(seed, show_secrets=True) for seed in answer.seeds],
        "target": symbol_to_json(answer.target, show_secrets=True) if answer.target else None,
        "total": answer.total,
        "notes": notes_to_json(answer.notes),
        "steps": [_step(number, step) for number, step in enumerate(answer.steps, 1)],
    }


def candidates_to_json(name: str, candidates: Sequence[SymbolRow]) -> dict[str, Any]:
    """Return what a name could mean as plain data: the answer is a question."""
    return {
        "schema": SCHEMA_VERSION,
        "dowse": __version__,
        "error": "ambiguous",
        "name": name,
        "candidates": [symbol_to_json(row) for row in candidates],
    }


def symbol_to_json(row: SymbolRow, *, show_secrets: bool = False) -> dict[str, Any]:
    """Return a symbol without its text as plain data, likely secrets masked unless they are asked for."""
    row = row if show_secrets else mask_row(row)
    return {
        "id": row.key,
        **{name: value for name, value in row._asdict().items() if name not in _INTERNAL},
    }


def _step(number: int, step: GraphStep) -> dict[str, Any]:
    return {
        "number": number,
        "depth": step.depth,
        "parent": step.parent + 1,
        "symbol": symbol_to_json(step.symbol, show_secrets=True),
        "path": step.path,
        "line": step.line,
        "kind": step.edge.kind,
        "other": step.other,
        "confidence": step.confidence,
        "certainty": step.certainty,
        "through": step.through,
        "test": step.is_test,
        "references": [_reference(edge) for edge in step.references],
    }


def _reference(edge: Edge) -> dict[str, Any]:
    return {
        "kind": edge.kind,
        "line": edge.line,
        "column": edge.column,
        "confidence": edge.confidence,
        "candidates": edge.candidates,
    }
