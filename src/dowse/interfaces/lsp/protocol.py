"""The protocol of pygls, stricter: every request gets a response, also one that makes no sense."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.protocol import LanguageServerProtocol, lsp_method

if TYPE_CHECKING:
    from dowse.interfaces.lsp.server import LspServer

_PREFIX = "dowse/"


@attrs.define
class RawRequest:
    """A request of dowse's own: its parameters stay plain data."""

    id: int | str
    method: str
    params: Any = None
    jsonrpc: str = "2.0"


class DowseProtocol(LanguageServerProtocol):
    """Receives messages, and keeps the state of the connection."""

    _server: LspServer

    is_initialized = False
    is_ended = False
    exit_code = 0

    def receive(self, body: bytes) -> None:
        """Handle the body of one message."""
        try:
            data = json.loads(body)
        except (ValueError, RecursionError):
            self._refuse(None, types.ErrorCodes.ParseError, "a message is no JSON")
            return
        if not isinstance(data, dict) or data.get("jsonrpc") != "2.0":
            self._refuse(None, types.ErrorCodes.InvalidRequest, "a message is no JSON-RPC 2.0")
            return
        number, is_request = data.get("id"), "id" in data and "method" in data
        has_types = isinstance(data.get("method", ""), str) and isinstance(data.get("id", ""), int | str)
        if not has_types or isinstance(number, bool):
            if "method" in data:  # else it is a response, and needs none
                self._refuse(None, types.ErrorCodes.InvalidRequest, "`id` or `method` is no text")
            return
        problem = self._problem_with_state(data)
        if problem is not None:
            if is_request:
                self._refuse(number, *problem)
            return
        try:
            message = self.structure_message(data)
        except JsonRpcException:
            if is_request:
                self._refuse(number, types.ErrorCodes.InvalidParams, "the parameters have another form")
            return
        self.handle_message(message)

    def get_message_type(self, method: str) -> type[Any] | None:  # type: ignore[override] # not cached
        """Return the type of a message; requests of dowse's own are plain data."""
        known: type[Any] | None = super().get_message_type(method)
        return known or (RawRequest if isinstance(method, str) and method.startswith(_PREFIX) else None)

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: object) -> None:  # type: ignore[override] # no generator
        """End the connection; the code says whether the client has said goodbye before."""
        self.is_ended, self.exit_code = True, 0 if self._shutdown else 1

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Keep the text of a document."""
        self._server.documents.open(params.text_document.uri, params.text_document.text)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Apply edits."""
        self._server.documents.change(params.text_document.uri, params.content_changes)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget a document."""
        self._server.documents.close(params.text_document.uri)

    def _problem_with_state(self, data: Mapping[str, Any]) -> tuple[int, str] | None:
        """Return why a message can't be handled now."""
        method = data.get("method")
        if method == types.EXIT:
            return None
        if self._shutdown:
            return types.ErrorCodes.InvalidRequest, "the server shuts down"
        if method == types.INITIALIZE:
            known = self._workspace is not None
            return (types.ErrorCodes.InvalidRequest, "the server is initialized") if known else None
        if not self.is_initialized:
            return types.ErrorCodes.ServerNotInitialized, "the server is not initialized"
        return None

    def _refuse(self, number: int | str | None, code: int, message: str) -> None:
        self._send_data(types.ResponseErrorMessage(number, types.ResponseError(int(code), message)))


def invalid_params(message: str) -> JsonRpcException:
    """Return the error for parameters that a request can't have."""
    return JsonRpcInvalidParams(message)


def request_failed(message: str) -> JsonRpcException:
    """Return the error for a request that can't be answered."""
    return JsonRpcException(message, code=int(types.LSPErrorCodes.RequestFailed))
