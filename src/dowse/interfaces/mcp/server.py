"""The MCP server: tools in a protocol, over whatever connection `run` gives it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
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

from dowse.errors import DowseError
from dowse.interfaces.http.worker_threads import Workers
from dowse.interfaces.mcp.arguments import Arguments, checked
from dowse.interfaces.mcp.frame import encodable, framed
from dowse.interfaces.mcp.instructions import INSTRUCTIONS, in_words
from dowse.interfaces.mcp.options import McpOptions
from dowse.interfaces.mcp.readiness import Call, NotReady, Report, take_in_changes, wait_for_words
from dowse.interfaces.mcp.reply import Asked, Reply
from dowse.interfaces.mcp.repositories import Repositories, Repository, chosen
from dowse.interfaces.mcp.roots import Context, Roots
from dowse.interfaces.mcp.tools import TOOLS, KnownTool
from dowse.query import QueryError
from dowse.security.terminal import escape_message, escape_name, escape_surrogates
from dowse.version import __version__

# Clients whose model reads the structured form in place of the text, or both: it costs several times as much
# and says the same. By how their names begin; docs/MCP.md has the sources.
_READ_AS_JSON = ("claude-code", "codex", "cursor", "opencode", "copilot", "github-copilot")
_log = logging.getLogger("dowse.interfaces.mcp")


class McpServer:
    """One server: its repositories, the threads that answer, and the protocol around them."""

    def __init__(self, options: McpOptions) -> None:
        self._options = options
        self._roots = Roots(options.paths)
        self.repositories = Repositories(options.settings, watch=options.watch, warm=options.warm)
        self._workers = Workers(options.limits)
        self.protocol: Server[None] = Server(
            "dowse",
            version=__version__,
            title="dowse",
            description="Find code by what it does.",
            instructions=INSTRUCTIONS,
            lifespan=self._lifespan,
            on_list_tools=self._list,
            on_call_tool=self._call,
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
        """End everything that was started; may be called twice."""
        self._workers.close()
        self.repositories.close()

    async def _roots_changed(self, _: Context, __: NotificationParams) -> None:
        self._roots.forget()

    async def _list(self, context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        structured = self._is_structured(context)
        return ListToolsResult(
            tools=[tool.listed(name, structured=structured) for name, tool in TOOLS.items()]
        )

    async def _call(
        self, context: Context, call: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        """Answer one call; what goes wrong is told as something that the agent can act on."""
        tool = TOOLS.get(call.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"there is no tool {call.name!r}; there are {', '.join(TOOLS)}")
        state = Call()
        try:
            given = checked(tool.takes, call.arguments)
            roots = await self._roots.of(context, call)
            if isinstance(roots, InputRequiredResult):
                return roots
            repositories = await asyncio.to_thread(self.repositories.at, roots)
            reply = await self._answered(tool, given, repositories, state, _reporter(context))
        except (DowseError, QueryError) as error:
            return _problem(escape_message(error, in_words(error)))
        except OSError as error:
            place = framed([escape_name(str(error.filename))] if error.filename else [])
            return _problem("\n".join([escape_name(in_words(error)), *place]))
        except MCPError:
            raise
        except Exception as error:
            _log.exception("%s failed", escape_name(call.name))
            return _problem(
                f"an unexpected {type(error).__name__}; use other tools, and report it with dowse's log"
            )
        finally:
            state.stop.set()
        data = encodable(reply.data) if self._is_structured(context) else None
        return CallToolResult(
            content=[TextContent(text=escape_surrogates(reply.text))], structured_content=data
        )

    async def _answered(
        self,
        tool: KnownTool,
        given: Any,  # noqa: ANN401 - one of the models
        repositories: Sequence[Repository],
        call: Call,
        report: Report,
    ) -> Reply:
        """Wait until there is something to ask, then ask it in a thread."""
        picked = chosen(repositories, given.repo)
        notes: list[str] = []
        if tool.waits:
            picked, notes = await self._ready(picked, report)
        else:
            await asyncio.gather(*[asyncio.to_thread(each.begin) for each in picked])
        return await self._workers.run(partial(_work, tool, given, picked, call, notes))

    async def _ready(self, picked: list[Repository], report: Report) -> tuple[list[Repository], list[str]]:
        """Return the repositories that can be asked, and why others can't; raise if none can."""
        seconds = self._options.first_seconds
        share = _Share(report, len(picked))
        waits = [share.counted(at, wait_for_words, each, seconds) for at, each in enumerate(picked)]
        failed = await asyncio.gather(*waits, return_exceptions=True)
        unexpected = [each for each in failed if each is not None and not isinstance(each, DowseError)]
        if unexpected:
            raise unexpected[0]
        ready = [each for each, problem in zip(picked, failed, strict=True) if problem is None]
        problems = [problem for problem in failed if isinstance(problem, DowseError)]
        if not ready:
            raise problems[0] if problems else NotReady("there is nothing to search; name a repository")
        return ready, [getattr(problem, "said", None) or escape_message(problem) for problem in problems]

    def _is_structured(self, context: Context) -> bool:
        """Whether answers carry the structured form for this client."""
        if self._options.structured != "auto":
            return self._options.structured == "always"
        known = context.session.client_params
        name = known.client_info.name.lower() if known else ""
        return not name.startswith(_READ_AS_JSON)


def _work(tool: KnownTool, given: Arguments, picked: list[Repository], call: Call, notes: list[str]) -> Reply:
    """Take in what changed, and answer; in a thread."""
    if tool.waits:
        for repository in picked:
            notes = [*notes, *take_in_changes(repository, call, tool.by_meaning)]
    call.check()
    return tool.run(Asked(picked, call, tuple(notes)), given)


def _problem(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)], is_error=True)


def _reporter(context: Context) -> Report:
    """Return what tells the client how far a call is; the protocol wants numbers that only grow."""
    told = -1.0

    async def report(done: float, message: str) -> None:
        nonlocal told
        if done > told:
            told = done
            await context.session.report_progress(round(done, 1), 100.0, escape_name(message))

    return report


class _Share:
    """Joins the progress of several repositories into one."""

    def __init__(self, report: Report, count: int) -> None:
        self._report, self._done = report, [0.0] * count

    async def counted(
        self,
        at: int,
        wait: Callable[[Repository, float, Report], Awaitable[None]],
        repository: Repository,
        seconds: float,
    ) -> None:
        """Wait for one of them; what is ready counts as done, also if nothing was told of it."""

        async def share(part: float, message: str) -> None:
            self._done[at] = part
            await self._report(sum(self._done) / len(self._done), message)

        await wait(repository, seconds, share)
        self._done[at] = 100.0
