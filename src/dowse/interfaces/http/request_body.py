"""The body of a request: read as a whole before anything is done, within limits on size and time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import Message, Receive

from dowse.interfaces.http.problems import problem


async def read_body(
    receive: Receive, headers: Mapping[str, str], most: int, seconds: float
) -> bytes | Response | None:
    """Return the whole body, or what to say to one that is too long or too slow; None if there is none."""
    announced = headers.get("content-length", "")
    if not announced and "transfer-encoding" not in headers:
        return None
    too_long = problem(413, "body-too-long", f"a request has at most {most:,} bytes", "send less")
    if announced.isascii() and announced.isdigit() and int(announced) > most:
        return too_long
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                body += message.get("body", b"")
                if len(body) > most:
                    return too_long
                if not message.get("more_body"):
                    return bytes(body)
    except TimeoutError:
        return problem(408, "too-slow", "the request did not arrive in time", "send it again")


def replayed(body: bytes, receive: Receive) -> Receive:
    """Give the app the body that was read, then whatever comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message
