"""`GET /api/symbol`: a symbol with its source, its file's outline and its neighbours."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query

from dowse.formats.graph_json import symbol_to_json
from dowse.graph.answer import GraphAnswer
from dowse.graph.queries import ask_about
from dowse.interfaces.http.models.symbol import SymbolAnswer
from dowse.interfaces.http.routes.parameters import IndexName, Target
from dowse.interfaces.http.state import State
from dowse.security.safe_files import resolve_inside
from dowse.security.secret_masking import mask_span, masked_note
from dowse.services.indexes import Place, Places
from dowse.services.targets import Found, found, rows_of
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
        shows = place.index.settings.show_secrets
        whole = reader.symbols([row], show_secrets=shows)[0]
        source, count, masked = _source(reader.text(row.file_id), row, shows)
        outline = reader.rows_of_files([row.file_id])
        file = _file(place, reader.is_corpus, row)
        return {
            "index": place.name,
            "generation": reader.generation,
            "symbol": symbol_to_json(row, show_secrets=shows),
            "doc": whole.doc,
            "code": whole.code,
            "code_lines": list(whole.line_numbers),
            "source": source,
            "lines": count,
            "file": file,
            "editor": f"vscode://file/{quote(file.lstrip('/'))}:{row.start_line}" if file else "",
            "outline": [_outlined(each, shows) for each in outline],
            **_neighbours(at, neighbours, max(masked, whole.masked)),
        }


def _source(text: bytes, row: SymbolRow, show_secrets: bool) -> tuple[str, int, int]:
    """Return the lines of a symbol as text, how many lines its file has, and how many secrets are masked."""
    text = text.removesuffix(b"\n")
    start = _line_start(text, row.start_line)
    end = max(start, _line_start(text, row.end_line + 1) - (row.end_line <= text.count(b"\n")))
    part, masked = (text[start:end], 0) if show_secrets else mask_span(text, start, end)
    return part.decode("utf-8", "replace"), text.count(b"\n") + 1, masked


def _line_start(text: bytes, number: int) -> int:
    """Return where a line begins; the end of the text where there are fewer."""
    at = 0
    for _ in range(number - 1):
        at = text.find(b"\n", at) + 1
        if not at:
            return len(text)
    return at


def _file(place: Place, is_corpus: bool, row: SymbolRow) -> str:
    """Return where a file lies, for a link; nothing is ever read from there."""
    if is_corpus or not place.index.root.is_dir():
        return ""
    try:
        return resolve_inside(place.index.root, row.path).as_posix()
    except OSError:
        return ""


def _outlined(row: SymbolRow, show_secrets: bool) -> dict[str, Any]:
    shown = symbol_to_json(row, show_secrets=show_secrets)
    return {name: value for name, value in shown.items() if name in _OUTLINED}


def _neighbours(at: Found, most: int, masked: int) -> dict[str, Any]:
    """Return who calls a symbol and what it calls; a corpus has no graph, and a whole file no place in it."""
    given: dict[str, Any] = {"notes": [masked_note(masked)] if masked else []}
    shows = at.place.index.settings.show_secrets
    known = bool(at.row.row) and not at.reader.is_corpus and most > 0
    seeds = rows_of(at.place, at.reader, at.row.key) if known else ()
    for relation in ("callers", "callees"):
        answer = ask_about(at.reader, relation, seeds, 1, most, show_secrets=shows) if known else None
        given[relation] = _steps(answer) if answer else []
        given[f"{relation}_total"] = answer.total if answer else 0
        given["notes"] += [] if answer is None else answer.notes
    given["notes"] = list(dict.fromkeys(given["notes"]))
    return given


def _steps(answer: GraphAnswer) -> list[dict[str, Any]]:
    return [
        {
            "symbol": symbol_to_json(step.symbol, show_secrets=True),  # the answer was masked
            "path": step.path,
            "line": step.line,
            "kind": step.edge.kind,
            "confidence": step.confidence,
            "certainty": step.certainty,
            "test": step.is_test,
        }
        for step in answer.steps
    ]
