"""`GET /api/symbol`: a symbol with its source, its file's outline and its neighbours."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query

from dowse.graph.answer import GraphAnswer
from dowse.graph.ask import ask_about
from dowse.graph_json import symbol_to_json
from dowse.serve.models.symbol import SymbolAnswer
from dowse.serve.places import Place, Places
from dowse.serve.routes.parameters import IndexName, Target
from dowse.serve.state import State
from dowse.serve.targets import Found, found, rows_of
from dowse.types import SymbolRow

router = APIRouter()
_OUTLINED = ("id", "kind", "name", "qualified_name", "start_line", "end_line", "signature")


@router.get("/symbol", operation_id="symbol", response_model=SymbolAnswer, summary="One symbol")
async def symbol(
    state: State,
    target: Target,
    index: IndexName = None,
    neighbours: Annotated[int, Query(ge=0, le=200, description="Callers and callees to give, of each.")] = 50,
) -> dict[str, Any]:
    """Give a symbol with its source as indexed, its file's outline, and who calls it or is called."""
    return await state.workers.run(lambda: described(state.places, index, target, neighbours))


def described(places: Places, index: str | None, target: str, neighbours: int) -> dict[str, Any]:
    """Return a symbol and what stands around it as plain data."""
    with found(places, index, target) as at:
        place, reader, row = at
        whole = reader.symbols([row])[0]
        lines = reader.text(row.file_id).decode("utf-8", "replace").removesuffix("\n").split("\n")
        outline = reader.rows_of_files([row.file_id])
        file = _file(place, reader.is_corpus, row)
        return {
            "index": place.name,
            "generation": reader.generation,
            "symbol": symbol_to_json(row),
            "doc": whole.doc,
            "code": whole.code,
            "code_lines": list(whole.line_numbers),
            "source": "\n".join(lines[row.start_line - 1 : row.end_line]),
            "lines": len(lines),
            "file": file,
            "editor": f"vscode://file/{quote(file.lstrip('/'))}:{row.start_line}" if file else "",
            "outline": [_outlined(each) for each in outline],
            **_neighbours(at, neighbours),
        }


def _file(place: Place, is_corpus: bool, row: SymbolRow) -> str:
    """Return where a file lies, for a link; nothing is ever read from there."""
    return "" if is_corpus or not place.index.root.is_dir() else (place.index.root / row.path).as_posix()


def _outlined(row: SymbolRow) -> dict[str, Any]:
    return {name: value for name, value in symbol_to_json(row).items() if name in _OUTLINED}


def _neighbours(at: Found, most: int) -> dict[str, Any]:
    """Return who calls a symbol and what it calls; a corpus has no graph, and a whole file no place in it."""
    given: dict[str, Any] = {"notes": []}
    known = bool(at.row.row) and not at.reader.is_corpus and most > 0
    seeds = rows_of(at.place, at.reader, at.row.key) if known else ()
    for relation in ("callers", "callees"):
        answer = ask_about(at.reader, relation, seeds, 1, most) if known else None
        given[relation] = _steps(answer) if answer else []
        given[f"{relation}_total"] = answer.total if answer else 0
        given["notes"] += [] if answer is None else answer.notes
    given["notes"] = list(dict.fromkeys(given["notes"]))
    return given


def _steps(answer: GraphAnswer) -> list[dict[str, Any]]:
    return [
        {
            "symbol": symbol_to_json(step.symbol),
            "path": step.path,
            "line": step.line,
            "kind": step.edge.kind,
            "confidence": step.confidence,
            "certainty": step.certainty,
            "test": step.is_test,
        }
        for step in answer.steps
    ]
