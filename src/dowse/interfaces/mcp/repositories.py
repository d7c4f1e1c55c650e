"""The repositories that a server answers from, each opened when first asked about."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.errors import DowseError
from dowse.index import Index
from dowse.security.terminal import escape_surrogates
from dowse.services.events import Hub
from dowse.services.indexes import Place, Places
from dowse.services.past_queries import Questions
from dowse.services.refresher import Keeper
from dowse.services.symbol_names import NameBook

if TYPE_CHECKING:
    from dowse.interfaces.daemon.server import WarmServer
    from dowse.watch import Watcher

# Calls that may wait for one repository at the same time.
_LISTENERS = 1_000
_PLACE = re.compile(r"(?P<path>.+?)(?P<line>:\d+(?::\d+)?)(?:-\d+)?\Z")


class Outside(DowseError):
    """A path that is in none of the repositories."""


class Repository:
    """One index, what brings it up to date, and what was heard of that."""

    def __init__(self, place: Place, watch: bool, when_done: Callable[[Repository], None]) -> None:
        self.place = place
        self.hub = _Announcing(self._settled)
        self.fresh = threading.Lock()  # whoever looks for changes holds it
        self.looked = 0.0  # when that was last begun
        self.is_first = False  # whether it is being indexed for the first time
        self.looked_in_background = 0.0
        self.watcher: Watcher | None = None
        self._watch, self._when_done = watch, when_done
        self._keeper: Keeper | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """What it is called here."""
        return self.place.name

    @property
    def index(self) -> Index:
        """What is searched."""
        return self.place.index

    def begin(self) -> bool:
        """Start what keeps it true, on first use, or index what is not indexed; whether that was begun."""
        with self._lock:
            if self._keeper is None:
                self.is_first = not self.index.exists
                self._keeper = Keeper(Gathered([self.place]), self.hub)
                self._keeper.start()
                self.looked_in_background = time.monotonic()
                return True
        if self.index.exists or not self.refresh():
            return False
        self.is_first = True  # it failed before, or was cleared
        return True

    def refresh(self) -> bool:
        """Bring it up to date in the background; False if that is in line already."""
        if self._keeper is None or self.index.is_shared:
            return False
        self.looked_in_background = time.monotonic()
        return self._keeper.refresh(self.place)

    def close(self) -> None:
        """End everything that was started for it."""
        with self._lock:
            if self._keeper is not None:  # first: what it finishes may start a watcher
                self._keeper.close()
            if self.watcher is not None:
                self.watcher.stop()
            self.hub.close()
            self.index.close()

    def _settled(self) -> None:
        """Begin to watch once the index is as its files are: the first indexing takes all cores."""
        if self._watch and not self.index.is_shared and self.watcher is None:
            from dowse.watch import Watcher

            try:
                self.watcher = Watcher(self.index)
                self.watcher.start()
            except DowseError:  # a corpus: nobody edits it
                self._watch = False
        self._when_done(self)


class _Announcing(Hub):
    """A hub that also tells its owner when a piece of work is done."""

    def __init__(self, when_done: Callable[[], None]) -> None:
        super().__init__(_LISTENERS)
        self._when_done = when_done

    def tell(self, index: str, phase: str, done: int = 0, total: int = 0, detail: str = "") -> None:
        """Tell everybody."""
        super().tell(index, phase, done, total, detail)
        if phase == "done":
            self._when_done()


class Gathered(Places):
    """Some of the places of a server, for what is asked of them together."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._places = {place.name: place for place in places}


class Repositories:
    """All repositories of a server, each opened once and under a name that stays."""

    def __init__(self, settings: Mapping[str, object], *, watch: bool = False, warm: bool = False) -> None:
        self._settings = dict(settings)
        self._watch = watch
        self._known: dict[Path, Repository] = {}
        self._lock = threading.Lock()
        self._warm = _warm_server() if warm else None
        self._answered: set[Path] = set()  # roots that commands are answered for

    def at(self, roots: Sequence[Path]) -> list[Repository]:
        """Return the repositories of some folders."""
        return list(dict.fromkeys(self._at(root.expanduser().resolve()) for root in roots))

    def close(self) -> None:
        """End everything that was started."""
        if self._warm is not None:
            self._warm.stop()
        with self._lock:
            known, self._known = list(self._known.values()), {}
        for repository in known:
            repository.close()

    def _at(self, root: Path) -> Repository:
        with self._lock:
            known = self._known.get(root)
            if known is None:
                index = Index.open(root, **self._settings)
                place = Place(self._free_name(root), index, NameBook(index.backend), Questions(index))
                known = self._known[root] = Repository(place, self._watch, self._answer_commands)
            return known

    def _answer_commands(self, repository: Repository) -> None:
        """Answer `dowse search` and the like from here, once there is an index: this process is up anyway."""
        root = repository.index.root
        with self._lock:
            if self._warm is None or root in self._answered:
                return
            self._answered.add(root)
        self._warm.add(repository.index, repository.watcher)

    def _free_name(self, root: Path) -> str:
        taken = {repository.name for repository in self._known.values()}
        wanted = escape_surrogates(root.name) or "root"
        name, number = wanted, 2
        while name in taken:
            name, number = f"{wanted}-{number}", number + 1
        return name


def _warm_server() -> WarmServer:
    from dowse.interfaces.daemon.server import WarmServer

    server = WarmServer()
    server.start()
    return server


def chosen(repositories: Sequence[Repository], wanted: str) -> list[Repository]:
    """Return the repository that a call names, by name or folder; all if it names none."""
    if not wanted:
        return list(repositories)
    named = [each for each in repositories if each.name == wanted]
    if named:
        return named
    if os.sep in wanted or wanted.startswith((".", "~")):
        return [home_of(repositories, wanted)[0]]
    raise DowseError(f"there is no repository {wanted!r} here; `repo` is one of {_names(repositories)}")


def home_of(repositories: Sequence[Repository], path: str) -> tuple[Repository, Path]:
    """Return the repository that a path lies in, the innermost, and the path with all links followed."""
    real = _real(path)
    homes = [each for each in repositories if real is not None and real.is_relative_to(each.index.root)]
    if real is None or not homes:
        raise Outside(f"{path} is outside of what may be read here; there are {_names(repositories)}")
    return max(homes, key=lambda each: len(each.index.root.parts)), real


def _real(path: str) -> Path | None:
    """Return where a path leads; None for what can't be a path: a null byte, the home of nobody."""
    try:
        return Path(os.path.realpath(Path(path).expanduser()))
    except (ValueError, RuntimeError, OSError):
        return None


def located(repositories: Sequence[Repository], target: str) -> tuple[list[Repository], str]:
    """Return where to look for what a call names, and the name as an index knows it.

    A place may be given by its whole path, with its last line (`app.py:3-9`), or not quite plainly
    (`./src/../app.py:3`); one that leads out of its repository is refused.
    """
    place = _PLACE.match(target.strip())
    if place is None:
        return list(repositories), target
    path, line = place["path"], place["line"]
    if Path(path).is_absolute():
        home, real = home_of(repositories, path)
        return [home], f"{real.relative_to(home.index.root).as_posix()}{line}"
    plain = os.path.normpath(path)
    if plain == ".." or plain.startswith(f"..{os.sep}"):
        raise Outside(f"{path} leads out of the repository; name places below its root, as answers do")
    return list(repositories), f"{plain.replace(os.sep, '/')}{line}"


def _names(repositories: Sequence[Repository]) -> str:
    return ", ".join(f"{each.name} ({each.index.root})" for each in repositories)
