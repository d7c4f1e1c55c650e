"""The built single-page application: its files, and index.html for the addresses of its pages."""

from __future__ import annotations

import gzip
import hashlib
from functools import cached_property
from pathlib import Path

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from dowse.lazy_classes import dataclass

PAGE = Path(__file__).with_name("page")
# File names in here contain a hash of their content, so they can be cached forever.
_HASHED = "assets/"
_FOREVER = "public, max-age=31536000, immutable"
# First parts of the addresses of its pages: web/src/app.tsx shows "nothing here" at all others.
_PAGES = ("", "search", "symbol", "eval", "status")
# Media types of a build's files; those of the system's `mimetypes` differ between machines.
_MEDIA_TYPES = {
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
# Text shrinks to a third of its size; images and fonts are compressed already.
_COMPRESSIBLE = ("text/", "application/json", "image/svg+xml")
_MISSING = """<!doctype html><html lang="en"><meta charset="utf-8"><title>dowse</title>
<p>The page is not built. <a href="/api/v1/openapi.json">The API</a> answers; build the page with
<code>npm run build</code> in <code>web/</code>.</p></html>"""


@dataclass(frozen=True)
class _File:
    """One file of the page."""

    path: str
    data: bytes

    @cached_property
    def media_type(self) -> str:
        return _MEDIA_TYPES.get(Path(self.path).suffix, "application/octet-stream")

    @cached_property
    def etag(self) -> str:
        return f'"{hashlib.blake2b(self.data, digest_size=12).hexdigest()}"'

    @cached_property
    def compressed(self) -> bytes | None:
        if not self.media_type.startswith(_COMPRESSIBLE):
            return None
        smaller = gzip.compress(self.data, mtime=0)
        return smaller if len(smaller) < len(self.data) else None

    def response(self, request: Request, status: int = 200) -> Response:
        """Return the file, or 304 to a client that has it."""
        caching = _FOREVER if self.path.startswith(_HASHED) else "no-cache"
        headers = {"Cache-Control": caching, "ETag": self.etag, "Vary": "Accept-Encoding"}
        if status == 200 and request.headers.get("if-none-match") == self.etag:
            return Response(status_code=304, headers=headers)
        data = self.data
        if self.compressed is not None and "gzip" in request.headers.get("accept-encoding", ""):
            data, headers["Content-Encoding"] = self.compressed, "gzip"
        return Response(data, status, headers, self.media_type)


def add_page(app: FastAPI, folder: Path = PAGE) -> None:
    """Serve the page's files, and index.html for its pages; every other URL is 404."""
    # All files are read now, and nothing else is ever served: no URL can lead out of the folder.
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    files = {name: _File(name, path.read_bytes()) for name, path in paths.items()}

    @app.api_route("/{path:path}", methods=["GET", "HEAD"], include_in_schema=False)
    async def page(path: str, request: Request) -> Response:
        first = path.partition("/")[0]
        document = files.get("index.html")
        if file := files.get(path):
            return file.response(request)
        if first in _PAGES:
            return document.response(request) if document else HTMLResponse(_MISSING)
        # Somebody who followed a wrong link gets the page, which says so; programs get a problem.
        if document and first not in ("api", "assets") and "text/html" in request.headers.get("accept", ""):
            return document.response(request, 404)
        raise HTTPException(404, f"there is no /{path}")
