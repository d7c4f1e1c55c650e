"""Error responses as `application/problem+json` (RFC 9457), each with a remedy."""

from __future__ import annotations

from http import HTTPStatus

from starlette.responses import JSONResponse

from dowse.security.terminal import escape_surrogates_in_json
from dowse.services.web.request_id import current_request

MEDIA_TYPE = "application/problem+json"
# Seconds after which a client should retry while the server is busy.
RETRY_SECONDS = 2
_RETRY_KINDS = ("busy", "index-missing", "lanes-failed", "too-slow")
TITLES = {
    "ambiguous-name": "Several symbols have this name",
    "unknown-symbol": "No such symbol",
    "not-found": "Not found",
    "feedback-off": "Feedback is off",
    "wrong-host": "Not the name of this server",
    "wrong-origin": "Not from this server's page",
    "no-token": "The token is missing",
    "index-missing": "No index yet",
    "index-busy": "The index is being written",
    "index-damaged": "The index can't be read",
    "index-version": "The index was written by another version",
    "too-slow": "It took too long",
    "lanes-failed": "No lane answered",
    "busy": "The server is overloaded",
    "bad-setting": "A setting is invalid",
    "bad-report": "A report is invalid",
    "bad-query": "The query is invalid",
    "bad-request": "The request is invalid",
    "bad-parameters": "The request has invalid parameters",
    "method-not-allowed": "Method not allowed",
    "address-too-long": "The URL is too long",
    "body-too-long": "The request is too long",
    "internal": "Internal error",
}


def problem(
    status: int, kind: str, detail: str, remedy: str, headers: dict[str, str] | None = None, **more: object
) -> JSONResponse:
    """Return the response for one problem; `more` are further members, those that are None left out."""
    title = TITLES.get(kind) or HTTPStatus(status).phrase
    body = {
        "type": f"urn:dowse:problem:{kind}",
        "title": title,
        "status": status,
        "detail": detail,
        "remedy": remedy,
    }
    if (request := current_request()) is not None:
        more["request_id"] = request.id
    members = {name: value for name, value in more.items() if value is not None}
    retry = {"Retry-After": str(RETRY_SECONDS)} if kind in _RETRY_KINDS else {}
    # A problem may quote the request, which need not be valid UTF-8.
    content = escape_surrogates_in_json(body | members)
    return JSONResponse(content, status, {**retry, **(headers or {})}, MEDIA_TYPE)
