"""Mining as a whole: fetch packages, read them in worker processes, keep what is new, write it.

Results are taken in the order of the names, so that the same sources give the same pairs however many
processes work.
"""

from __future__ import annotations

import tempfile
import threading
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from dowse_training.pairs.duplicates import Duplicates
from dowse_training.pairs.model import MinedPackage, Pair, pair_of
from dowse_training.pairs.output import Output, Statistics
from dowse_training.pairs.package import Wanted
from dowse_training.pairs.readers import Readers
from dowse_training.pairs.sources.protocol import FetchError, Source

CAP_EXCEEDED = "more than the cap of a package"

# Packages under way for each thread: enough that a slow one does not hold up the others.
_AHEAD = 4


@dataclass(frozen=True, slots=True)
class Effort:
    """How much of the machine is used."""

    downloads: int = 8  # threads that fetch
    workers: int = 2  # processes that parse; with less than two everything stays in this one


def mine_pairs(
    names: Iterable[tuple[Source, str]],
    wanted: Wanted,
    duplicates: Duplicates,
    output: Output,
    effort: Effort,
    show: Callable[[Statistics], None] = lambda statistics: None,
) -> Statistics:
    """Mine packages, each given by its source and name, into an output.

    After a KeyboardInterrupt the output holds what was mined so far.
    """
    statistics = output.statistics
    with closing(_mined_in_order(names, wanted, effort)) as results:
        for name, mined in results:
            statistics.packages += 1
            if isinstance(mined, FetchError):
                statistics.add_failure(name, str(mined))
            else:
                statistics.dropped.update(mined.dropped)
                output.add(mined, new_pairs(mined, wanted, duplicates, statistics.dropped))
            show(statistics)
    return statistics


def new_pairs(
    mined: MinedPackage, wanted: Wanted, duplicates: Duplicates, dropped: Counter[tuple[str, str]]
) -> list[tuple[str, Pair]]:
    """The pairs of a package that are not excluded, not seen before and not too many."""
    pairs: list[tuple[str, Pair]] = []
    found: Counter[str] = Counter()
    for candidate in mined.candidates:
        language, pair = candidate.language, pair_of(mined.name, candidate)
        # Once more: cutting a pair to size may have made it one that is listed.
        reason = wanted.exclusion.reason(pair.doc, pair.code)
        if not reason and found[language] >= wanted.cap:
            reason = CAP_EXCEEDED
        reason = reason or duplicates.reason(pair.doc, pair.code)
        if reason:
            dropped[language, reason] += 1
        else:
            found[language] += 1
            pairs.append((language, pair))
    return pairs


def _mined_in_order(
    names: Iterable[tuple[Source, str]], wanted: Wanted, effort: Effort
) -> Generator[tuple[str, MinedPackage | FetchError], None, None]:
    """What every package gave, in order, while later ones are being fetched and read."""
    stopped = threading.Event()
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dowse-pairs-")))
        readers = stack.enter_context(Readers(wanted, effort.workers))
        fetchers = stack.enter_context(ThreadPoolExecutor(max(1, effort.downloads)))
        stack.callback(stopped.set)
        waiting: deque[tuple[str, Future[MinedPackage | FetchError]]] = deque()
        for source, name in names:
            task = fetchers.submit(_fetch_and_read, source, name, scratch, readers, stopped)
            waiting.append((f"{source.registry}:{name}", task))
            if len(waiting) >= _AHEAD * effort.downloads:
                yield _result(*waiting.popleft())
        while waiting:
            yield _result(*waiting.popleft())


def _result(name: str, task: Future[MinedPackage | FetchError]) -> tuple[str, MinedPackage | FetchError]:
    """A package's name and what it gave, when that is known."""
    return name, task.result()


def _fetch_and_read(
    source: Source, name: str, scratch: Path, readers: Readers, stopped: threading.Event
) -> MinedPackage | FetchError:
    """Fetch one package into a folder of its own, read it, and clear the folder away."""
    if stopped.is_set():
        return FetchError("interrupted")
    try:
        with tempfile.TemporaryDirectory(dir=scratch, ignore_cleanup_errors=True) as folder:
            return readers.read(source.fetch(name, Path(folder)))
    except FetchError as error:
        return error
    except Exception as error:
        # Among thousands of packages of strangers some hold what nobody thought of: count it and go on.
        return FetchError(f"unexpected {type(error).__name__}")
