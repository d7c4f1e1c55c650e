"""Everything that writes to an index or beside it, and what is there afterwards.

Each writer works in a `Place`: the tree is shared, all that dowse writes is in one folder.
`python index_writers.py NAME TREE FOLDER` runs one.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))

from dowse import Index
from dowse.errors import DowseError
from dowse.feedback.events import Event
from dowse.feedback.store import FeedbackStore
from dowse.vectors.adapter import AdapterFile, unpack
from dowse.watch.messages import Request
from dowse.watch.worker import Worker
from indexing.told_by_history import THINGS, make
from watch.whole import whole

from helpers import age, write_tree

ENCODER = "small"
FILES = 12
# Vectors between two commits: several in a tree as small as this one.
_CHUNK = 8
_FEEDBACK = 6
# What is built after the words: not yet there in a generation that has no call graph.
_LINKED = frozenset(["edges", "references"])
_SEARCHES = ("alpha text", '"the beta text"', "/return (alpha|beta)_/")


@dataclass(frozen=True, slots=True)
class Place:
    """A tree, and the folder for all that is written about it."""

    tree: Path
    folder: Path

    @property
    def archive(self) -> Path:
        """The file that is imported."""
        return self.tree.with_name("index.zip")

    @contextmanager
    def opened(self) -> Iterator[Index]:
        """Open the index; caches and feedback are in the folder too."""
        os.environ["DOWSE_CACHE_DIR"] = str(self.folder / "cache")
        os.environ["DOWSE_DATA_DIR"] = str(self.folder / "data")
        settings = {"encoder": ENCODER, "threads": 1, "processes": 1, "isolation": "never"}
        with Index.open(
            self.tree,
            index_dir=str(self.folder / "index"),
            refresh="never",
            adapter=True,
            **settings,
        ) as index:
            yield index

    def copy(self, folder: Path) -> Place:
        """Return a copy of all but the tree."""
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.folder, folder)
        return Place(self.tree, folder)


class State(NamedTuple):
    """What is at a place."""

    index: dict[str, Any] | None  # None without an index
    is_linked: bool
    vectors: dict[Any, bytes]
    events: list[Event]
    adapter: Any  # None for none


def prepare(base: Path) -> dict[str, Place]:
    """Make a tree and its places before any writer: "none", "old", "words" (no vectors) and "new"."""
    tree = make(base / "tree", "Fix the {topic} workshop for {thing}", THINGS).root
    write_tree(tree, {f"m{i}.py": _source("alpha", i) for i in range(FILES)})
    age(tree, by=7200)
    places = {name: Place(tree, base / name) for name in ("none", "old", "words", "new")}
    for place in places.values():
        place.folder.mkdir()
    with places["old"].opened() as index:
        _build(index)
    feedback(places["old"])
    write_tree(tree, {f"m{i}.py": _source("beta", i) for i in range(3, FILES + 2)})
    (tree / "m0.py").unlink()
    age(tree)
    with places["words"].opened() as index:
        index.update(embed=False)
        index.graph.link()
    with places["new"].copy(places["new"].folder.with_name("export")).opened() as index:
        from dowse.transfer.export_index import export

        _build(index)
        export(index.backend, places["new"].archive)
    places["old"].copy(places["new"].folder)
    with places["new"].opened() as index:
        _build(index)
    return places


def _source(word: str, i: int) -> str:
    return f"def {word}_{i}(x):\n    return {word}_{(i + 1) % FILES}('the {word} text of {i}')\n"


def _build(index: Index) -> None:
    index.update()
    index.internals.count_terms()


def first(place: Place) -> None:
    """Index a tree that has no index."""
    with place.opened() as index:
        index.update(embed=False)


def rebuild(place: Place) -> None:
    """Replace an index."""
    with place.opened() as index:
        index.update(rebuild=True, embed=False)


def embed(place: Place) -> None:
    """Encode all symbols."""
    with place.opened() as index:
        index.vectors.embed(chunk=_CHUNK)


class _NoReporter:
    """Nobody listens."""

    def event(self, kind: str, **fields: object) -> None:
        """Drop an event."""

    def progress(self, kind: str, **fields: object) -> Callable[[object], None]:
        """Return a function that reports nothing."""
        return lambda _: None


def background(place: Place) -> None:
    """Do what the worker of the resident process does."""
    os.environ["DOWSE_CACHE_DIR"] = str(place.folder / "cache")
    with place.opened() as index:
        settings = replace(index.settings, adapter=False)
        request = Request("", 1, "finish", index.root, index.backend.address, settings)
    worker = Worker(_NoReporter())  # type: ignore[arg-type]
    worker.receive(request)
    worker.run()


def import_(place: Place) -> None:
    """Import an archive over an older index."""
    from dowse.transfer.import_index import import_archive

    with place.opened() as index:
        import_archive(place.archive, index.backend, place.tree)


def watch(place: Place) -> None:
    """Do what the worker of a watcher does, until all is indexed and embedded; another writer learns."""
    from dowse.watch.messages import END, Request
    from dowse.watch.worker import Worker

    class Reporter:
        def event(self, kind: str, **_: object) -> None:
            if kind == "finished":
                worker.receive(END)

        def progress(self, _kind: str, **_: object) -> Callable[[object], None]:
            return lambda _: None

    worker = Worker(Reporter())  # type: ignore[arg-type]
    with place.opened() as index:
        settings = replace(index.settings, adapter=False)
        request = Request("index", 1, "update", index.root, index.backend.address, settings)
    worker.receive(request)
    worker.run()


def terms(place: Place) -> None:
    """Count the terms of an index."""
    with place.opened() as index:
        index.internals.count_terms()


def feedback(place: Place) -> None:
    """Record some events."""
    with place.opened() as index:
        store = FeedbackStore.open(index.root)
        for number in range(_FEEDBACK):
            store.record(
                Event(f"question {number}", f"m{number}.py::alpha", "up", "somebody", 1, 100.0 + number)
            )
        store.close()


def adapter(place: Place) -> None:
    """Learn from the history."""
    with place.opened() as index:
        index.vectors.learn()


def commits(place: Place) -> None:
    """Read and encode the commits for `dowse log`."""
    with place.opened() as index:
        index.log("falcon workshop")


# What runs, and the place where it starts.
WRITERS: dict[str, tuple[Callable[[Place], None], str]] = {
    "first index": (first, "none"),
    "index": (first, "old"),
    "rebuild": (rebuild, "new"),
    "embed": (embed, "words"),
    "background embedding": (background, "words"),
    "import": (import_, "old"),
    "watch": (watch, "old"),
    "term counts": (terms, "words"),
    "feedback": (feedback, "old"),
    "adapter": (adapter, "new"),
    "commit search": (commits, "new"),
}


def _command(*words: str) -> Callable[[Place], int]:
    """Return what runs a command of the command line."""

    def run(place: Place) -> int:
        from dowse.interfaces.cli.main import parse_arguments, run

        with place.opened() as index:
            settings = {"INDEX_DIR": index.backend.address, "ENCODER": ENCODER, "RESIDENT_MINUTES": "0"}
        os.environ |= {f"DOWSE_{name}": value for name, value in settings.items()}
        os.environ |= {"DOWSE_THREADS": "1", "DOWSE_PROCESSES": "1", "DOWSE_ISOLATION": "never"}
        os.chdir(place.tree)
        return run(parse_arguments(words))

    return run


# The same for commands, which find something each.
COMMANDS: dict[str, tuple[Callable[[Place], int], str]] = {
    "first search": (_command("search", "beta text"), "none"),
    "search after changes": (_command("search", "beta text"), "old"),
    "dowse index": (_command("index"), "old"),
    "dowse log": (_command("log", "falcon workshop"), "new"),
    "dowse feedback": (_command("feedback", "record", "beta text", "beta_5"), "new"),
}


def state(place: Place) -> State:
    """Return all that is at a place; raises if any of it is damaged, or does not answer."""
    with place.opened() as index:
        index.internals.on_rebuild(_refuse)  # what a writer leaves is never damaged
        events = [event._replace(time=0.0) for event in FeedbackStore.open(index.root).events()]
        if not index.exists:
            return State(None, False, {}, events, None)
        content = whole(index)
        without, vectors = content.pop("without vector"), dict(content.pop("vectors"))
        content.pop("places")
        with index.backend.reader() as reader:
            is_linked, derived = reader.is_linked, reader.cache_folder
            missing = {row for row, _ in without}
            rows = reader.rows_of_files([file.file_id for file in reader.files()])
        for row in rows:
            if row.row in missing:
                vectors.pop(row.key)
        data = AdapterFile(derived, _encoder_id(index)).read() if derived else b""
        assert not data or unpack(data), "the adapter is damaged"
        content["found"] = [_found(index, text) for text in _SEARCHES]
        index.search("alpha text", mode="tfidf")
        if vectors:  # by meaning, without loading an encoder
            index.related(next(row.qualified_name for row in rows if row.key in vectors))
        return State(content, is_linked, vectors, events, unpack(data) if data else None)


def _refuse(message: str) -> None:
    raise AssertionError(message)


def mended(place: Place, writer: str) -> State:
    """Return all that is at a place after an update, and after the next run of a writer."""
    with place.opened() as index:
        _build(index)
        index.graph.link()
    if writer in ("adapter", "commit search"):
        WRITERS[writer][0](place)
    return state(place)


def problem(found: State, before: State, after: State) -> str:
    """Return what is wrong with a state between two others, "" for nothing."""
    known = {**before.vectors, **after.vectors}
    wrong = [key for key, vector in found.vectors.items() if known.get(key) != vector]
    if wrong:
        return f"{len(wrong)} vectors differ"
    lost = [key for key in before.vectors if key in after.vectors and key not in found.vectors]
    if lost:
        return f"{len(lost)} vectors are lost"
    if not any(_is_same(found, each) for each in (before, after)):
        return f"neither before nor after: {_difference(found, before)}; {_difference(found, after)}"
    both = [event for event in after.events if event not in before.events][::-1]
    new = [event for event in found.events if event not in before.events][::-1]
    if new != both[: len(new)] or any(event not in found.events for event in before.events):
        return "events are missing"
    return "" if found.adapter in (before.adapter, after.adapter) else "another adapter"


def _is_same(one: State, other: State) -> bool:
    return not _difference(one, other)


def _difference(one: State, other: State) -> list[str]:
    """Return which parts of two states differ; a generation without a call graph has none to compare."""
    if one.index is None or other.index is None:
        return [] if one.index is other.index else ["existence"]
    left_out = set() if one.is_linked else _LINKED
    return [name for name, value in one.index.items() if name not in left_out and value != other.index[name]]


def _found(index: Index, text: str) -> list[str]:
    """Return the names that a search finds."""
    return sorted(hit.symbol.qualified_name for hit in index.search(text, k=0, fuzziness="0").hits)


def _encoder_id(index: Index) -> str:
    if index.encoder is None:
        raise DowseError("an encoder is needed")
    return index.encoder.id


if __name__ == "__main__":
    writer, _ = WRITERS[sys.argv[1]]
    writer(Place(Path(sys.argv[2]), Path(sys.argv[3])))
