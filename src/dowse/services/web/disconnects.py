"""Ends the work on a request as soon as its client is gone."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send


async def run_while_connected(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> bool:
    """Run an application; cancel it, and return False, if the client disconnects before the response ends.

    Frameworks look for that only while they stream. Messages are read ahead, so bodies must be short.
    """
    task = asyncio.current_task()
    messages: asyncio.Queue[Message] = asyncio.Queue()
    is_gone = is_complete = False

    async def watch() -> None:
        nonlocal is_gone
        message: Message = {"type": ""}
        while message["type"] != "http.disconnect":
            message = await receive()
            messages.put_nowait(message)
        if not is_complete and task is not None:
            is_gone = True
            task.cancel()

    async def send_on(message: Message) -> None:
        nonlocal is_complete
        is_complete = message["type"] == "http.response.body" and not message.get("more_body")
        await send(message)

    watcher = asyncio.create_task(watch())
    try:
        await app(scope, messages.get, send_on)
    except asyncio.CancelledError:
        if not is_gone or task is None:
            raise
        task.uncancel()
        return False
    finally:
        watcher.cancel()
    return True
