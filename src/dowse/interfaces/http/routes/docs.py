"""`/api/docs`: the documentation of the API."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, HTMLResponse

from dowse.interfaces.http.docs_page import docs_page
from dowse.services.web.problem import TITLES

router = APIRouter()
_STYLE = Path(__file__).parents[1] / "docs.css"


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> HTMLResponse:
    """Return the documentation as HTML."""
    return HTMLResponse(docs_page(request.app.openapi(), TITLES))


@router.get("/docs.css", include_in_schema=False)
async def docs_style() -> FileResponse:
    """Return its stylesheet."""
    return FileResponse(_STYLE, media_type="text/css")
