"""The language server: which methods it answers, and how requests reach threads and are cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from typing import Any

from lsprotocol import types
from pydantic import BaseModel, ValidationError
from pygls.exceptions import JsonRpcException, JsonRpcInternalError
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter

from dowse.errors import DowseError, QueryError
from dowse.interfaces.lsp import hierarchy, navigation, search, symbol_requests
from dowse.interfaces.lsp.documents import Documents
from dowse.interfaces.lsp.encoding import Encoding
from dowse.interfaces.lsp.folders import Folder, Folders, NotReady, path_of_uri
from dowse.interfaces.lsp.options import ClientOptions, LspOptions
from dowse.interfaces.lsp.progress import report_progress
from dowse.interfaces.lsp.protocol import DowseProtocol, invalid_params, request_failed
from dowse.interfaces.lsp.session import Session
from dowse.parsing.languages import known_extensions
from dowse.security.terminal import escape_message, escape_name, escape_surrogates_in_json
from dowse.services.calls import Call
from dowse.services.events import ProgressEvent
from dowse.services.thread_pool import BoundedThreadPool
from dowse.version import __version__

Work = Callable[[Session, Any], Any]

# The methods that each option of a client switches on.
_METHODS: dict[str, dict[str, Work]] = {
    "workspace_symbol": {types.WORKSPACE_SYMBOL: search.workspace_symbols},
    "call_hierarchy": {
        types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY: hierarchy.prepare_calls,
        types.CALL_HIERARCHY_INCOMING_CALLS: hierarchy.incoming_calls,
        types.CALL_HIERARCHY_OUTGOING_CALLS: hierarchy.outgoing_calls,
    },
    "type_hierarchy": {
        types.TEXT_DOCUMENT_PREPARE_TYPE_HIERARCHY: hierarchy.prepare_types,
        types.TYPE_HIERARCHY_SUPERTYPES: hierarchy.supertypes,
        types.TYPE_HIERARCHY_SUBTYPES: hierarchy.subtypes,
    },
    "definition": {types.TEXT_DOCUMENT_DEFINITION: navigation.definition},
    "references": {types.TEXT_DOCUMENT_REFERENCES: navigation.references},
    "hover": {types.TEXT_DOCUMENT_HOVER: navigation.hover},
    "document_symbol": {types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: navigation.document_symbols},
    "code_lens": {
        types.TEXT_DOCUMENT_CODE_LENS: navigation.code_lenses,
        types.CODE_LENS_RESOLVE: navigation.resolve_lens,
    },
}
# Methods of dowse's own: the function that returns the model of their parameters, and the work.
_OWN_METHODS: dict[str, tuple[Callable[[], type[BaseModel]], Work]] = {
    "dowse/search": (search.search_params, search.search),
    "dowse/related": (lambda: symbol_requests.RelatedParams, symbol_requests.related),
    "dowse/status": (lambda: symbol_requests.StatusParams, symbol_requests.status),
}
# Saves in quick succession are one update (debounce).
_DEBOUNCE_SECONDS = 0.3
_log = logging.getLogger("dowse.interfaces.lsp")


class LspServer(LanguageServer):
    """One connection: its folders, open documents, thread pool, and the protocol."""

    protocol: DowseProtocol

    def __init__(self, options: LspOptions) -> None:
        self.documents = Documents()
        super().__init__(
            "dowse", __version__, protocol_cls=DowseProtocol, converter_factory=default_converter
        )
        self._options, self._client = options, ClientOptions()
        self._folders = Folders(options)
        self._threads = BoundedThreadPool(options.limits)
        self.ready = asyncio.Event()  # when the client takes requests of the server
        self._problems: list[str] = []  # of folders that could not be opened
        self._is_watched = False
        self._markup = types.MarkupKind.Markdown
        self._tasks: set[asyncio.Task[None]] = set()
        self._timers: dict[Folder, asyncio.TimerHandle] = {}
        self._add(types.INITIALIZE, self._initialize)
        self._add(types.INITIALIZED, self._initialized)
        self._add(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, self._change_folders)
        self._add(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, self._files_changed)
        self._add(types.TEXT_DOCUMENT_DID_SAVE, self._saved)
        for method, (model, work) in _OWN_METHODS.items():
            self._add(method, partial(self._answer_own, model, work))

    def close(self) -> None:
        """Stop everything."""
        self._threads.close()
        self._folders.close()

    def report_server_error(self, error: Exception, source: object) -> None:
        """Log what no response can say."""
        _log.debug("%s", error)

    def index_changed(self, folder: Folder, event: ProgressEvent) -> None:
        """Tell the client that answers may be new, or that there are none."""
        if event.phase == "failed":
            self._warn(f"dowse can't index {folder.served.name}: {event.detail}")
        workspace = self.client_capabilities.workspace
        lenses = workspace.code_lens if workspace else None
        if self._client.code_lens and lenses and lenses.refresh_support:
            self.workspace_code_lens_refresh(None)

    def _add(self, method: str, handler: Callable[..., object]) -> None:
        # Not by the decorator: it sets attributes, which methods of an object can't have.
        self.protocol.fm.features[method] = handler

    async def _initialize(self, params: types.InitializeParams) -> None:
        """Check the client, switch on what it wants, and open its folders."""
        given = params.initialization_options
        try:
            self._client = ClientOptions.model_validate(given if isinstance(given, dict) else {})
        except ValidationError as error:
            raise invalid_params(f"initializationOptions: {_explain(error)}") from None
        encoding = self.workspace.position_encoding or types.PositionEncodingKind.Utf16
        self.documents.encoding = Encoding.named(types.PositionEncodingKind(encoding).value)
        hover = params.capabilities.text_document and params.capabilities.text_document.hover
        formats = hover.content_format if hover else None
        if formats and types.MarkupKind.Markdown not in formats:
            self._markup = types.MarkupKind.PlainText
        for option, methods in _METHODS.items():
            if getattr(self._client, option):
                for method, work in methods.items():
                    self._add(method, partial(self._answer, work))
        if self._client.code_lens:
            self.protocol.fm.feature_options[types.TEXT_DOCUMENT_CODE_LENS] = types.CodeLensOptions(
                resolve_provider=True
            )
        uris = [folder.uri for folder in params.workspace_folders or ()]
        if not uris and self.workspace.root_uri:
            uris = [self.workspace.root_uri]
        self._problems = await self._open(uris or [path.as_uri() for path in self._options.paths])
        self.protocol.is_initialized = True

    async def _open(self, uris: list[str]) -> list[str]:
        opened, problems = await asyncio.to_thread(self._folders.open, uris)
        for folder in opened:
            folder.is_watched = self._is_watched
            task = asyncio.create_task(report_progress(self, folder))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return problems

    async def _initialized(self, _: types.InitializedParams) -> None:
        """Say what could not be opened, and have the client report changed files."""
        self.ready.set()
        for problem in self._problems:
            self._warn(problem)
        workspace = self.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace else None
        if watching is None or not watching.dynamic_registration:
            return
        pattern = f"**/*{{{','.join(known_extensions())}}}"
        options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(pattern)])
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        registration = types.Registration("dowse-files", method, options)
        with contextlib.suppress(JsonRpcException):  # the client would rather not
            await self.client_register_capability_async(types.RegistrationParams([registration]))
            self._is_watched = True
            for folder in self._folders:
                folder.is_watched = True

    async def _change_folders(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        for removed in params.event.removed:
            await asyncio.to_thread(self._folders.remove, removed.uri)
        for problem in await self._open([added.uri for added in params.event.added]):
            self._warn(problem)

    def _files_changed(self, params: types.DidChangeWatchedFilesParams) -> None:
        self._refresh(change.uri for change in params.changes)

    def _saved(self, params: types.DidSaveTextDocumentParams) -> None:
        self._refresh([params.text_document.uri])

    def _refresh(self, uris: Iterable[str]) -> None:
        """Update the folders of changed files, in a moment."""
        paths = [path for uri in uris if (path := path_of_uri(uri))]
        for folder in self._folders:
            if any(folder.relative_path(path) is not None for path in paths):
                if folder in self._timers:
                    self._timers[folder].cancel()
                loop = asyncio.get_running_loop()
                self._timers[folder] = loop.call_later(_DEBOUNCE_SECONDS, folder.refresh)

    def _warn(self, message: str) -> None:
        self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, escape_name(message)))

    async def _answer_own(self, model: Callable[[], type[BaseModel]], work: Work, params: object) -> object:
        """Answer a request of dowse's own."""
        try:
            checked = model().model_validate(params if params is not None else {})
        except ValidationError as error:
            raise invalid_params(_explain(error)) from None
        waits = work is not symbol_requests.status
        return escape_surrogates_in_json(await self._answer(work, checked, waits=waits))

    async def _answer(self, work: Work, params: object, *, waits: bool = True) -> object:
        """Run the work on a request in a thread; a cancelled one ends at its next check.

        The protocol answers a cancelled request at once: cancelling this coroutine does not wait for the
        thread, whose result is discarded.
        """
        call = Call()
        try:
            session = self._session(call)
            if waits:
                await self._wait(session, params)
            return await self._threads.run(partial(work, session, params))
        except (DowseError, QueryError) as error:
            raise request_failed(escape_message(error)) from None
        except OSError as error:
            raise request_failed(escape_message(error, error.strerror or str(error))) from None
        except (JsonRpcException, asyncio.CancelledError):
            raise
        except Exception as error:
            _log.exception("a request failed")
            raise JsonRpcInternalError(f"an unexpected {type(error).__name__}; see dowse's log") from None
        finally:
            call.stop.set()

    def _session(self, call: Call) -> Session:
        documents = self.documents
        folders, snapshot = tuple(self._folders), documents.snapshot()
        return Session(folders, snapshot, documents.encoding, self._client, self._markup, call)

    async def _wait(self, session: Session, params: object) -> None:
        """Wait until the folder of a request, or one of all, can be searched."""
        uri = _uri_of(params)
        found = session.find_folder(uri) if uri else None
        folders = (found[0],) if found else () if uri else session.folders
        if not folders or any(folder.is_searchable for folder in folders):
            return
        await _first([folder.wait_until_searchable(self._options.first_seconds) for folder in folders])


async def _first(waits: list[Coroutine[Any, Any, None]]) -> None:
    """Return when one of them has succeeded; raise if all fail."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        error: BaseException = NotReady("there is nothing to search; open a folder")
        for done in asyncio.as_completed(tasks):
            try:
                return await done
            except DowseError as problem:
                error = problem
        raise error
    finally:
        for task in tasks:
            task.cancel()


def _uri_of(params: object) -> str | None:
    """Return the document that a request is about, if it is about one."""
    for name in ("text_document", "item"):
        if hasattr(params, name):
            return str(getattr(params, name).uri)
    return getattr(params, "folder", None) or getattr(params, "uri", None)


def _explain(error: ValidationError) -> str:
    """Return what is wrong with parameters, on one line."""
    problems = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
    return escape_message(error, "; ".join(problems[:3]))
