"""The built single-page application: its files, and index.html for every other URL."""

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
# File names in here contain a hash of their content, so they can be cached forever.
_HASHED = "assets/"
_FOREVER = "public, max-age=31536000, immutable"
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
<p>The page is not built. <a href="/api/openapi.json">The API</a> answers; build the page with
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

    def response(self, request: Request) -> Response:
        """Return the file, or 304 to a client that has it."""
        caching = _FOREVER if self.path.startswith(_HASHED) else "no-cache"
        headers = {"Cache-Control": caching, "ETag": self.etag, "Vary": "Accept-Encoding"}
        if request.headers.get("if-none-match") == self.etag:
            return Response(status_code=304, headers=headers)
        data = self.data
        if self.compressed is not None and "gzip" in request.headers.get("accept-encoding", ""):
            data, headers["Content-Encoding"] = self.compressed, "gzip"
        return Response(data, headers=headers, media_type=self.media_type)


def add_page(app: FastAPI, folder: Path = PAGE) -> None:
    """Serve the page's files; every URL that is no file and not the API's gets index.html."""
    # All files are read now, and nothing else is ever served: no URL can lead out of the folder.
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    files = {name: _File(name, path.read_bytes()) for name, path in paths.items()}

    @app.api_route("/{path:path}", methods=["GET", "HEAD"], include_in_schema=False)
    async def page(path: str, request: Request) -> Response:
        file = files.get(path)
        if file is None:
            if path == "api" or path.startswith(("api/", _HASHED)):
                raise HTTPException(404, f"there is no /{path}")
            file = files.get("index.html")
        return file.response(request) if file else HTMLResponse(_MISSING)
