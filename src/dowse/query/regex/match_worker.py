"""A process that matches patterns which may take long: it can be ended, native code or not."""

from __future__ import annotations

import contextlib
from functools import lru_cache

import re2  # noqa: F401 - loaded before the first request

from dowse.errors import QueryError
from dowse.lazy_classes import NamedTuple
from dowse.query.regex import nfa, translate  # noqa: F401 - the same
from dowse.query.regex.ast import Node
from dowse.query.regex.engines import Engines
from dowse.query.regex.re2_engine import MAX_MEMORY_APART
from dowse.types import Span
from dowse.workers.child import READY, Channel, limit_memory, lower_priority, time_limit
from dowse.workers.sandbox import confine

# Texts and patterns are as large as `max_file_bytes` and the command line allow.
MAX_BYTES = 1 << 32
# Of a text and its copies, and of programs while they are compiled.
_MEMORY_BYTES = 1_000_000_000
# Other requests come first.
_NICENESS = 10


class MatchRequest(NamedTuple):
    """A pattern to be found in a text, which follows the request."""

    node: Node
    size: int
    one_a_line: bool
    seconds: float  # wall time: this process may have lost its parent


def main() -> None:
    """Answer requests with spans, or with the error of a pattern, until the parent is gone."""
    channel = Channel(MAX_BYTES)
    limit_memory(_MEMORY_BYTES)
    lower_priority(_NICENESS)
    with contextlib.suppress(EOFError):
        channel.receive()
        confine(())
        channel.send(READY)
        while True:
            request: MatchRequest = channel.receive()
            with time_limit(request.seconds):
                reply = _spans(request, bytes(channel.receive_bytes(request.size)))
            channel.send(reply)


def _spans(request: MatchRequest, data: bytes) -> list[Span] | QueryError:
    try:
        return list(_engines(request.node).spans(data, one_a_line=request.one_a_line))
    except QueryError as error:
        return error


@lru_cache(maxsize=1)
def _engines(node: Node) -> Engines:
    """Keep the programs of one search, which has many texts."""
    return Engines(node, MAX_MEMORY_APART)
