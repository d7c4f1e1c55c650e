"""What commands have in common: their environment, the index that the flags name, its updates."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.config import load_settings, read_project_file
from dowse.errors import DowseError, IndexUnavailable
from dowse.interfaces.cli.flags import SETTING_FLAGS
from dowse.interfaces.cli.left_work import leave_unfinished, leave_warm
from dowse.interfaces.cli.places import find_place
from dowse.interfaces.cli.printing import print_message
from dowse.lazy_classes import dataclass

if TYPE_CHECKING:
    from dowse.index import Index  # late elsewhere: the weights of an encoder are read meanwhile
    from dowse.indexing.update import Report


# Unreadable files that are listed; `dowse status --files` lists all.
_LISTED_FAILURES = 5
# A watcher that indexes what was just saved is done in a moment.
_WRITER_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Environment:
    """The environment that a command runs in: that of this process, or, in a daemon, that of its client."""

    variables: Mapping[str, str]  # environment variables that decide how answers look
    open_index: Callable[..., Index]  # as `Index.open`
    folder: str = ""  # the current folder; "" for that of this process
    is_daemon: bool = False
    finish: Callable[[Index], None] = leave_unfinished  # has the rest of an index embedded in the background


def _open_in_process(path: str, **settings: Any) -> Index:  # noqa: ANN401 - as `Index.open`
    from dowse.index import Index

    return Index.open(path, **settings).internals.keep_lanes_in_process()


_OF_THIS_PROCESS = Environment(os.environ, _open_in_process)
environment = ContextVar("environment", default=_OF_THIS_PROCESS)


def flag_settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that the flags of a command name; None for those that they do not."""
    without_resident = {"resident_minutes": 0.0} if getattr(options, "no_daemon", False) else {}
    return {**{name: getattr(options, name, None) for name in SETTING_FLAGS.values()}, **without_resident}


def parse_host_port(text: str, flag: str) -> tuple[str, int]:
    """Return host and port of `8743`, `localhost:8743` or `[::1]:8743`, the value of a flag."""
    host, _, port = text.rpartition(":")
    if not port.isdigit() or int(port) > 65_535:
        raise DowseError(f"{flag} takes PORT or HOST:PORT, e.g. 8743 or 127.0.0.1:8743, not {text}")
    return host or "127.0.0.1", int(port)


def open_index(
    options: argparse.Namespace, *, exact: bool = False, revision: str = "", **more: object
) -> Index:
    """Open the index that the flags of a command name; `options.place` says where in it.

    Args:
        options: The flags.
        exact: Whether their path has to be the root of the index, as where one is made or removed.
        revision: Another branch, tag or commit of the repository.
        **more: Further settings.
    """
    here, flags = environment.get(), flag_settings(options)
    options.path = _local_path(options)
    path = Path(here.folder, Path(options.path).expanduser()).resolve()
    everywhere = getattr(options, "everywhere", False)
    user = load_settings(None, **flags)
    options.place = find_place(path, options.path, user, exact=exact, everywhere=everywhere)
    if revision:
        _enter_revision(options, revision)
        from dowse.index import REVISION_SETTINGS

        more |= REVISION_SETTINGS
    index = here.open_index(str(options.place.root), **{**flags, **more})
    index.internals.on_rebuild(print_message)
    if note := read_project_file(index.root).note:
        print_message(note)
    return index


def _local_path(options: argparse.Namespace) -> str:
    if ":" not in options.path:  # most are no addresses: nothing is loaded for them
        return str(options.path)
    from dowse.interfaces.cli.addresses import local_path

    return local_path(options.path, fresh=getattr(options, "fresh", False))


def _enter_revision(options: argparse.Namespace, revision: str) -> None:
    """Move the place of a command to the folder of a revision."""
    if load_settings(None, backend=options.backend).backend:
        raise DowseError("rev: needs an index on this machine, not one on a cluster; leave out --backend")
    from dowse.source.git import head_commit
    from dowse.source.revisions import export_revision

    root = export_revision(options.place.root, revision)
    options.place = options.place._replace(root=root)
    options.path = str(root / options.place.below)
    print_message(f"searching {revision}, commit {head_commit(root)[:12]}")


def located(symbol: str) -> str:
    """Return `file:line` with an absolute path if there is such a file here, wherever the index begins."""
    path, colon, line = symbol.partition(":")
    here = Path(environment.get().folder, path)
    return f"{here.resolve()}{colon}{line}" if line[:1].isdigit() and here.is_file() else symbol


def root_here(options: argparse.Namespace) -> str:
    """Return the root of the index that the current folder belongs to."""
    settings = load_settings(None, **flag_settings(options))
    return str(find_place(Path.cwd().resolve(), ".", settings).root)


def open_current_index(options: argparse.Namespace, **more: Any) -> Index:  # noqa: ANN401 - as `open_index`
    """Open the index that the flags of a command name, built or updated."""
    index = open_index(options, **more)
    ensure_current(index)
    return index


def ensure_current(index: Index, *, needs_graph: bool = True, question: str = "") -> None:
    """Build the index on first use; afterwards update it, if that is quick.

    Only `dowse index` changes a shared index: a search from any folder must not add that folder.

    Args:
        index: The index.
        needs_graph: Whether to wait for the call graph; else it may be left to the background.
        question: What a part of a large tree can answer; without it all files are waited for.
    """
    if index.is_shared:
        return
    defer_graph = not needs_graph and continues_later(index)
    if not index.exists:
        print_message(f"indexing {index.root} (first use)")
        update_index(index, defer_graph=defer_graph, question=question)
        return
    if not index.contents.is_complete:  # it was left to the background, or interrupted
        if not (question and continues_later(index)):
            print_message(f"indexing the rest of {index.root}")
            update_index(index.internals.as_built(), defer_graph=defer_graph)
        return
    _update_if_quick(index, defer_graph)
    if not defer_graph and not index.graph.is_linked:
        print_message("building the call graph")
        try:
            index.graph.link()
        except (IndexUnavailable, OSError) as error:  # the answer says that the graph is missing
            print_message(f"the call graph can't be kept ({error})")


def _update_if_quick(index: Index, defer_graph: bool) -> None:
    from dowse.index import REFRESH_CHANGES, REFRESH_FILES

    index = index.internals.as_built()
    refresh = index.settings.refresh
    if refresh == "never" or (refresh == "auto" and index.contents.file_count() > REFRESH_FILES):
        return
    changes = index.contents.changes().count
    if refresh == "auto" and changes > REFRESH_CHANGES:
        exact = index.contents.changes(exact=True).count
        if exact > REFRESH_CHANGES:
            print_message(f"{exact:,} files changed since the last update; run `dowse index`")
            return
    if changes:
        try:
            update_index(index, wait=_WRITER_SECONDS, defer_graph=defer_graph)
        except (IndexUnavailable, OSError) as error:
            print_message(f"searching the index without the latest changes ({error})")


def update_index(
    index: Index,
    *,
    quiet: bool = False,
    rebuild: bool = False,
    wait: float | None = None,
    defer_graph: bool = False,
    question: str = "",
) -> Report:
    """Update an index with a progress bar, and list the files that could not be read."""
    from dowse.progress import ProgressBar

    with ProgressBar(quiet=quiet) as bar:
        report = index.update(
            embed=False,
            rebuild=rebuild,
            wait=wait,
            on_progress=bar.show,
            on_wait=print_message if wait is None else lambda _: None,
            defer_graph=defer_graph,
            question=question,
        )
    for path, reason in report.failed[:_LISTED_FAILURES]:
        print_message(f"{path}: {reason}")
    if len(report.failed) > _LISTED_FAILURES:
        more = len(report.failed) - _LISTED_FAILURES
        print_message(f"and {more} more; `dowse status --files` lists them")
    return report


def embed_briefly(index: Index, query: str = "") -> None:
    """Embed new symbols for a few seconds at most; what is left is embedded in the background."""
    rate = index.vectors.embed_briefly(query, print_message)
    if rate is not None:
        embed_in_background(index, rate)


def embed_in_background(index: Index, rate: float = 0.0) -> None:
    """Have the resident process link and embed what is not yet, or learn from commits if nothing is missing.

    Args:
        index: The index.
        rate: Symbols per second, if that was measured just before.
    """
    if not continues_later(index) or index.is_shared:
        return
    missing = index.vectors.missing()
    if not missing and index.graph.is_linked and not index.vectors.has_new_history():
        return
    if missing:
        from dowse.vectors.embedding_progress import EmbeddingProgress, announce_embedding

        with index.backend.reader() as reader:
            announce_embedding(reader.cache_folder, EmbeddingProgress(0, missing, rate))
    environment.get().finish(index)


def continues_later(index: Index) -> bool:
    """Whether the resident process goes on with what a command leaves."""
    from dowse.workers.detached import can_detach

    return environment.get().is_daemon or (bool(index.settings.resident_minutes) and can_detach())


def stay_warm(index: Index) -> None:
    """Have a process stay that answers the next commands."""
    if not environment.get().is_daemon:
        leave_warm(index)
