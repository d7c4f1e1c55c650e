"""Reading from registries over HTTPS, with a bound on everything."""

from __future__ import annotations

import http.client
import json
import ssl
import urllib.error
import urllib.request
from functools import cache
from typing import Any

from dowse.version import __version__
from dowse_training.pairs.sources.protocol import FetchError

# Long enough for a slow mirror, short enough that a dead one does not hold a thread for long.
TIMEOUT_SECONDS = 30.0

# Pages of package indexes: the largest, of a project with thousands of files, have a few megabytes.
MAX_PAGE_BYTES = 16 << 20

_ATTEMPTS = 2


def read_url(url: str, max_bytes: int = MAX_PAGE_BYTES) -> bytes:
    """The content at an address, or a `FetchError` if there is none or too much of it."""
    if not url.startswith(("https://", "http://")):
        raise FetchError("address is not http")
    headers = {"User-Agent": f"dowse/{__version__} (training data)"}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310
    for attempt in range(_ATTEMPTS):
        try:
            with _opener().open(request, timeout=TIMEOUT_SECONDS) as response:
                if int(response.headers.get("Content-Length") or 0) > max_bytes:
                    raise FetchError("too large")
                data: bytes = response.read(max_bytes + 1)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code < 500 or attempt == _ATTEMPTS - 1:
                raise FetchError("not found" if error.code == 404 else f"HTTP {error.code}") from error
        except (OSError, http.client.HTTPException) as error:
            if attempt == _ATTEMPTS - 1:
                raise FetchError("connection failed") from error
        else:
            if len(data) > max_bytes:
                raise FetchError("too large")
            return data
    raise AssertionError("the last attempt returns or raises")


def read_json(url: str) -> dict[str, Any]:
    """The JSON object at an address."""
    try:
        answer = json.loads(read_url(url))
    except ValueError as error:
        raise FetchError("answer is not JSON") from error
    if not isinstance(answer, dict):
        raise FetchError("answer is not JSON")
    return answer


@cache
def _opener() -> urllib.request.OpenerDirector:
    """Opens addresses with certificates that are read once: reading them costs more than most requests."""
    return urllib.request.build_opener(urllib.request.HTTPSHandler(context=ssl.create_default_context()))
