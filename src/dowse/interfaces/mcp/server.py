"""The MCP server: the tools, over whatever transport `run` gives it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    NotificationParams,
    PaginatedRequestParams,
    TextContent,
)

from dowse.errors import DowseError, QueryError
from dowse.interfaces.mcp.arguments import Arguments, parse_arguments
from dowse.interfaces.mcp.frame import frame
from dowse.interfaces.mcp.options import McpOptions
from dowse.interfaces.mcp.readiness import (
    NotIndexed,
    NotReady,
    Report,
    index_changes,
    wait_until_searchable,
)
from dowse.interfaces.mcp.reply import Reply, ToolContext
from dowse.interfaces.mcp.repositories import Repositories, Repository, select
from dowse.interfaces.mcp.roots import Context, Roots
from dowse.interfaces.mcp.tools import DEFAULT_TOOLS, INSTRUCTIONS, TOOLS, ToolSpec, error_text
from dowse.json_form import document
from dowse.security.terminal import escape_message, escape_name, escape_surrogates, escape_surrogates_in_json
from dowse.services.calls import Call
from dowse.services.thread_pool import BoundedThreadPool
from dowse.types import Note
from dowse.version import __version__

_log = logging.getLogger("dowse.interfaces.mcp")


class McpServer:
    """One server: its repositories, its thread pool, and the protocol."""

    def __init__(self, options: McpOptions) -> None:
        self._options = options
        self._roots = Roots(options.paths)
        self.repositories = Repositories(options.settings, watch=options.watch)
        self.threads = BoundedThreadPool(options.limits)
        self.protocol: Server[None] = Server(
            "dowse",
            version=__version__,
            title="dowse",
            description="Find code by what it does.",
            instructions=INSTRUCTIONS,
            lifespan=self._lifespan,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )
        self.protocol.add_notification_handler(
            "notifications/roots/list_changed", NotificationParams, self._roots_changed
        )

    @asynccontextmanager
    async def _lifespan(self, _: Server[None]) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await asyncio.to_thread(self.close)

    def close(self) -> None:
        """Stop everything; may be called twice."""
        self.threads.close()
        self.repositories.close()

    async def _roots_changed(self, _: Context, __: NotificationParams) -> None:
        self._roots.forget()

    async def _list_tools(self, _: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        """List the tools; all of them are answered, listed or not."""
        every, structured = self._options.all_tools, self._options.structured
        names = TOOLS if every else DEFAULT_TOOLS
        return ListToolsResult(
            tools=[TOOLS[name].listing(name, structured=structured, rare=every) for name in names]
        )

    async def _call_tool(
        self, context: Context, call: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        """Answer one call; errors become text that the agent can act on."""
        tool = TOOLS.get(call.name)
        if tool is None:
            names = ", ".join(TOOLS)
            raise MCPError(INVALID_PARAMS, f"there is no tool {call.name!r}; there are {names}")
        state = Call()
        try:
            arguments = parse_arguments(tool.arguments, call.arguments)
            roots = await self._roots.resolve(context, call)
            if isinstance(roots, InputRequiredResult):
                return roots
            repositories = await asyncio.to_thread(self.repositories.open, roots)
            reply = await self._run(tool, arguments, repositories, state, context)
        except (DowseError, QueryError) as error:
            return _error_result(escape_message(error, error_text(error)))
        except OSError as error:
            file = frame([escape_name(str(error.filename))] if error.filename else [])
            return _error_result("\n".join([escape_name(error_text(error)), *file]))
        except MCPError:
            raise
        except Exception as error:
            _log.exception("%s failed", escape_name(call.name))
            return _error_result(
                f"an unexpected {type(error).__name__}; use other tools, and report it with dowse's log"
            )
        finally:
            state.stop.set()
        data = escape_surrogates_in_json(document(reply.data)) if self._options.structured else None
        return CallToolResult(
            content=[TextContent(text=escape_surrogates(reply.text))], structured_content=data
        )

    async def _run(
        self,
        tool: ToolSpec,
        arguments: Any,  # noqa: ANN401 - one of the models
        repositories: Sequence[Repository],
        call: Call,
        context: Context,
    ) -> Reply:
        """Wait until there is an index, then run the tool in a thread."""
        selected = select(repositories, arguments.repo)
        notes: list[Note] = []
        if tool.needs_index:
            selected, notes = await self._wait(selected, _reporter(context))
        else:
            await asyncio.gather(*[asyncio.to_thread(each.start) for each in selected])
        return await self.threads.run(partial(_run_tool, tool, arguments, selected, call, notes))

    async def _wait(self, selected: list[Repository], report: Report) -> tuple[list[Repository], list[Note]]:
        """Return the repositories that can be searched, and notes about the others; raise if none can."""
        parts = [0.0] * len(selected)  # the progress of each; the client gets the mean

        async def wait(position: int, repository: Repository) -> None:
            async def report_part(done: float, message: str) -> None:
                parts[position] = done
                await report(sum(parts) / len(parts), message)

            await wait_until_searchable(repository, self._options.first_seconds, report_part)
            parts[position] = 100.0  # also if nothing was reported

        waits = [wait(position, repository) for position, repository in enumerate(selected)]
        outcomes = await asyncio.gather(*waits, return_exceptions=True)
        ready: list[Repository] = []
        errors: list[DowseError] = []
        for repository, error in zip(selected, outcomes, strict=True):
            if error is None:
                ready.append(repository)
            elif isinstance(error, DowseError):
                errors.append(error)
            else:
                raise error
        if not ready:
            raise errors[0] if errors else NotReady("there is nothing to search; name a repository")
        texts = [each.summary if isinstance(each, NotIndexed) else escape_message(each) for each in errors]
        return ready, [Note("index-failed", text) for text in texts]


def _run_tool(
    tool: ToolSpec,
    arguments: Arguments,
    repositories: list[Repository],
    call: Call,
    notes: list[Note],
) -> Reply:
    """Index changed files, and run the tool; in a thread."""
    if tool.needs_index:
        for repository in repositories:
            notes = [*notes, *index_changes(repository, call, tool.by_meaning)]
    call.check()
    return tool.run(ToolContext(repositories, call, tuple(notes)), arguments)


def _error_result(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)], is_error=True)


def _reporter(context: Context) -> Report:
    """Return the function that reports progress to the client; the protocol wants increasing numbers."""
    last = -1.0

    async def report(done: float, message: str) -> None:
        nonlocal last
        if done > last:
            last = done
            await context.session.report_progress(round(done, 1), 100.0, escape_name(message))

    return report
