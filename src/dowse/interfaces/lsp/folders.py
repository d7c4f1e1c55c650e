"""The workspace folders of a client, each with the index of its tree."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote, urlsplit

from pygls.uris import to_fs_path

from dowse.errors import DowseError
from dowse.index import Index
from dowse.interfaces.lsp.options import LspOptions
from dowse.security.terminal import escape_name, escape_surrogates
from dowse.services.engine import Engine
from dowse.services.events import EventBroker
from dowse.services.folder_check import check_not_home
from dowse.services.indexes import ServedIndex, unique_name

# Requests that may wait for one folder at the same time.
_MAX_LISTENERS = 1_000
_REMEDY = "open a repository in the editor"


class NotReady(DowseError):
    """The index of a folder is still being built, or can't be."""


def path_of_uri(uri: str) -> Path | None:
    """Return the path that a URI names on this machine, with `.` and `..` resolved; None if it names none."""
    try:
        is_local = urlsplit(uri).scheme == "file" and urlsplit(uri).netloc in ("", "localhost")
        path = to_fs_path(uri) if is_local else None
    except ValueError:
        return None
    if not path or "\0" in path or not Path(path).is_absolute():
        return None
    return Path(os.path.normpath(path))


def normal_uri(uri: str) -> str:
    """Return a URI as `Folder.uri` spells it: clients escape different characters."""
    path = path_of_uri(uri)
    return path.as_uri() if path else uri


class Folder:
    """One workspace folder: its path as the client spells it, its index, and what keeps that up to date."""

    def __init__(self, path: Path, served: ServedIndex, engine: Engine) -> None:
        self.path, self.served, self._engine = path, served, engine
        self._uri = path.as_uri()
        self.broker = EventBroker(_MAX_LISTENERS)
        self.is_searchable = False  # whether words can be searched
        self.is_first_build = False
        self.is_watched = False  # whether the client reports changed files

    @property
    def index(self) -> Index:
        """The index."""
        return self.served.index

    def start(self) -> None:
        """Build the index if there is none, else update it; in the background."""
        self.is_searchable = self.index.exists
        self.is_first_build = not self.is_searchable
        self._engine.add(self.served, self.broker)

    def refresh(self) -> None:
        """Update the index in the background: files have changed."""
        if not self.index.is_shared and self.index.settings.refresh != "never":
            self._engine.refresh(self.served)

    def refresh_if_due(self) -> None:
        """Look for changed files now and then, unless the client reports them."""
        if not self.is_watched:
            self._engine.refresh_if_due(self.served)

    async def wait_until_searchable(self, seconds: float) -> None:
        """Wait for the first build; raises `NotReady` if it fails or takes longer."""
        if self.is_searchable:
            return
        deadline = time.monotonic() + seconds
        with self.broker.subscribe() as events:  # the first is the latest of the past
            while (remaining := deadline - time.monotonic()) > 0:
                try:
                    event = await asyncio.wait_for(anext(events), remaining)
                except (TimeoutError, StopAsyncIteration):
                    break
                if event is not None and event.phase in ("embed", "done"):
                    self.is_searchable = True
                    return
                if event is not None and event.phase == "failed":
                    raise NotReady(f"{self.served.name} can't be indexed: {escape_name(event.detail)}")
        raise NotReady(f"{self.served.name} is being indexed; try again in a moment")

    def uri(self, path: str) -> str:
        """Return the URI of a file by its path in the index."""
        return f"{self._uri}/{quote(path)}"

    def relative_path(self, path: Path) -> str | None:
        """Return a path as the index has it; None if it is outside."""
        for root in (self.path, self.index.root):
            if path.is_relative_to(root):
                return escape_surrogates(path.relative_to(root).as_posix())
        return None

    def close(self) -> None:
        """Stop everything that was started for it."""
        self._engine.remove(self.served)
        self.broker.close()
        self.index.close()


class Folders:
    """The folders of one client. Changed by one thread at a time."""

    def __init__(self, options: LspOptions) -> None:
        self._options, self._engine = options, Engine()
        self._by_path: dict[Path, Folder] = {}

    def __iter__(self) -> Iterator[Folder]:
        return iter(tuple(self._by_path.values()))

    def open(self, uris: Sequence[str]) -> tuple[list[Folder], list[str]]:
        """Open and start folders that are not open yet; return them, and why others can't be opened."""
        opened, problems = [], []
        for uri in uris:
            try:
                path = self._checked(uri)
                if path not in self._by_path:
                    folder = self._open(path)
                    folder.start()
                    self._by_path[path] = folder
                    opened.append(folder)
            except (DowseError, OSError) as error:
                problems.append(str(error))
        return opened, problems

    def remove(self, uri: str) -> None:
        """Close a folder."""
        path = path_of_uri(uri)
        folder = self._by_path.pop(path, None) if path else None
        if folder is not None:
            folder.close()

    def close(self) -> None:
        """Close all folders."""
        self._engine.close()
        while self._by_path:
            self._by_path.popitem()[1].close()

    def _checked(self, uri: str) -> Path:
        path = path_of_uri(uri)
        if path is None or not path.is_dir():
            raise DowseError(f"{uri} is no folder of this machine; {_REMEDY}")
        real = path.resolve()
        check_not_home(real, "the client opens", _REMEDY)
        allowed = [each.resolve() for each in self._options.paths]
        if allowed and not any(real.is_relative_to(each) for each in allowed):
            names = ", ".join(map(str, allowed))
            raise DowseError(f"{path} is outside of what this server may read ({names}); name it there")
        return path

    def _open(self, path: Path) -> Folder:
        taken = {folder.served.name for folder in self._by_path.values()}
        name = unique_name(escape_surrogates(path.name) or "root", taken)
        return Folder(
            path, ServedIndex.create(name, Index.open(path, **self._options.settings)), self._engine
        )
