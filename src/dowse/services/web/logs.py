"""The log of a server: one line a record, as text or JSON, bounded in length."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, TextIO
from urllib.parse import parse_qsl

from starlette.types import Scope

from dowse.security.terminal import escape_controls, escape_name
from dowse.services.web.request_id import RequestFacts, current_request

LogFormat = Literal["text", "json"]
# Characters of a message, a path or a query. Tracebacks keep their end, which says what happened.
_MAX_TEXT, _MAX_TRACEBACK = 1_000, 8_000
_requests = logging.getLogger("dowse.request")


def configure_logs(form: LogFormat = "text", *, requests: bool = False, stream: TextIO | None = None) -> None:
    """Let every logger of this process write lines in a format; `requests` has each request logged."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_JsonFormatter() if form == "json" else _TextFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    _requests.setLevel(logging.INFO if requests else logging.WARNING)


def log_request(scope: Scope, seconds: float, *, with_query: bool) -> None:
    """Log a request that was answered; its query only if that is wanted, and never a token."""
    facts = current_request()
    if facts is None or not _requests.isEnabledFor(logging.INFO):
        return
    fields = {
        "client": scope["client"][0] if scope.get("client") else "",
        "method": scope["method"],
        "path": _shown(scope["path"]),
        **({"query": _query(scope)} if with_query else {}),
        "status": scope["status"],
        "ms": round(1000 * seconds, 1),
        **({"generation": facts.generations} if facts.generations else {}),
    }
    _requests.info("request", extra={"fields": fields})


class _JsonFormatter(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as JSON, in ASCII."""
        return json.dumps(_record_fields(record), separators=(",", ":"))


class _TextFormatter(logging.Formatter):
    """Time, level, logger and message, then `name=value` pairs; a traceback on lines of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as text."""
        fields = _record_fields(record)
        head = " ".join(str(fields.pop(name)) for name in ("time", "level", "logger", "message"))
        traceback = fields.pop("traceback", "")
        pairs = "".join(f" {name}={escape_name(str(value))}" for name, value in fields.items())
        return head + pairs + (f"\n{traceback}" if traceback else "")


def _record_fields(record: logging.LogRecord) -> dict[str, Any]:
    """Return what a record says, in the order of a line."""
    more: Mapping[str, Any] = getattr(record, "fields", {})
    facts: RequestFacts | None = current_request()
    fields = {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": _shown(record.getMessage()),
        **({"request_id": facts.id} if facts else {}),
        **more,
    }
    if record.exc_info:
        text = logging.Formatter().formatException(record.exc_info)
        fields["traceback"] = escape_controls(text[-_MAX_TRACEBACK:], keep="\t\n")
    return fields


def _query(scope: Scope) -> str:
    pairs = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
    return _shown("&".join(f"{name}={value}" for name, value in pairs if name != "token"))


def _shown(text: str) -> str:
    """Return untrusted text for a line of a log: short and escaped."""
    return escape_name(text[:_MAX_TEXT])
