"""The built page: its files, and its one document for every address of the page."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

PAGE = Path(__file__).with_name("page")
# File names in here carry a hash of their content, so they can be kept for good.
_HASHED = "assets/"
_FOREVER = "public, max-age=31536000, immutable"
# What a build consists of; what the system would say of a file differs between machines.
_KINDS = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".woff2": "font/woff2",
}
# Text becomes a third of its size; pictures and fonts are packed already.
_PACKED = ("text/", "application/json", "image/svg+xml")
_MISSING = """<!doctype html><html lang="en"><meta charset="utf-8"><title>dowse</title>
<p>The page is not built. <a href="/api/docs">The API</a> answers; build the page with
<code>npm run build</code> in <code>web/</code>.</p></html>"""


@dataclass(frozen=True)
class _File:
    """One file of the page, as it is sent."""

    address: str
    data: bytes

    @cached_property
    def kind(self) -> str:
        return _KINDS.get(Path(self.address).suffix, "application/octet-stream")

    @cached_property
    def tag(self) -> str:
        return f'"{hashlib.blake2b(self.data, digest_size=12).hexdigest()}"'

    @cached_property
    def packed(self) -> bytes | None:
        smaller = gzip.compress(self.data, mtime=0) if self.kind.startswith(_PACKED) else self.data
        return smaller if len(smaller) < len(self.data) else None

    def answer(self, request: Request) -> Response:
        """Return the file; nothing but a nod to who has it already."""
        kept = _FOREVER if self.address.startswith(_HASHED) else "no-cache"
        headers = {"Cache-Control": kept, "ETag": self.tag, "Vary": "Accept-Encoding"}
        if request.headers.get("if-none-match") == self.tag:
            return Response(status_code=304, headers=headers)
        if self.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
            return Response(
                self.packed, headers={**headers, "Content-Encoding": "gzip"}, media_type=self.kind
            )
        return Response(self.data, headers=headers, media_type=self.kind)


def add_page(app: FastAPI, folder: Path = PAGE) -> None:
    """Serve the page's files; every address that is no file and not the API's gets the document."""
    # What is there now is all that is ever served: no address can lead out of the folder.
    found = [(path.relative_to(folder).as_posix(), path) for path in folder.rglob("*") if path.is_file()]
    files = {address: _File(address, path.read_bytes()) for address, path in found}

    @app.api_route("/{address:path}", methods=["GET", "HEAD"], include_in_schema=False)
    async def page(address: str, request: Request) -> Response:
        file = files.get(address)
        if file is None:
            if address == "api" or address.startswith(("api/", _HASHED)):
                raise HTTPException(404, f"there is no /{address}")
            file = files.get("index.html")
        return file.answer(request) if file else HTMLResponse(_MISSING)
