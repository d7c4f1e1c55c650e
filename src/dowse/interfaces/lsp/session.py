"""What the work on one request reads: folders, open documents, options; a snapshot that threads may use."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence

from lsprotocol import types

from dowse.interfaces.lsp.documents import Document
from dowse.interfaces.lsp.encoding import Encoding
from dowse.interfaces.lsp.folders import Folder, path_of_uri
from dowse.interfaces.lsp.options import ClientOptions
from dowse.interfaces.lsp.source import Source
from dowse.lazy_classes import dataclass
from dowse.services.calls import Call
from dowse.types import StoredFile


@dataclass(frozen=True, slots=True)
class Session:
    """The state that one request is answered from."""

    folders: tuple[Folder, ...]
    documents: Mapping[str, Document]
    encoding: Encoding
    options: ClientOptions
    markup: types.MarkupKind  # that the client shows
    call: Call

    def find_folder(self, uri: str) -> tuple[Folder, str] | None:
        """Return the innermost folder that holds a document, and the document's path in its index."""
        path = path_of_uri(uri)
        found = [
            (folder, relative)
            for folder in self.folders
            if path is not None and (relative := folder.relative_path(path)) is not None
        ]
        return min(found, key=lambda each: len(each[1]), default=None)

    @contextlib.contextmanager
    def read(self, folder: Folder) -> Iterator[Source]:
        """Give the sources of a folder."""
        self.call.check()
        with folder.index.backend.reader() as reader:
            yield Source(folder, reader, self.documents, self.encoding)

    @contextlib.contextmanager
    def read_document(
        self, document: types.TextDocumentIdentifier
    ) -> Iterator[tuple[Source, StoredFile] | None]:
        """Give the sources that a document belongs to, and its file; None if it is not indexed."""
        found = self.find_folder(document.uri)
        if found is None or not found[0].is_searchable:
            yield None
            return
        folder, path = found
        with self.read(folder) as source:
            files = source.reader.source_files([path])
            yield (source, files[0]) if files else None

    def selected(self, uri: str | None) -> Sequence[Folder]:
        """Return the searchable folder that a URI names, or all without one."""
        found = self.find_folder(uri) if uri else None
        wanted = self.folders if not uri else (found[0],) if found else ()
        return [folder for folder in wanted if folder.is_searchable]
