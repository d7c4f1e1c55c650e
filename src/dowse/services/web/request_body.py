"""Request bodies: read as a whole before the application runs, within limits on size and time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import Message, Receive

from dowse.services.web.problem import problem


async def read_body(
    receive: Receive, headers: Mapping[str, str], max_bytes: int, seconds: float
) -> bytes | Response | None:
    """Return the body, the error response to one that is too long or too slow, or None if there is none."""
    length = headers.get("content-length", "")
    if not length and "transfer-encoding" not in headers:
        return None
    too_long = problem(413, "body-too-long", f"a request has at most {max_bytes:,} bytes", "send less")
    if length.isascii() and length.isdigit() and int(length) > max_bytes:
        return too_long
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                body += message.get("body", b"")
                if len(body) > max_bytes:
                    return too_long
                if not message.get("more_body"):
                    return bytes(body)
    except TimeoutError:
        return problem(408, "too-slow", "the request did not arrive in time", "send it again")


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the application the body that was read, then whatever follows."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return pending.pop() if pending else await receive()

    return next_message
