"""`dowse train pairs`: mine pairs of documentation and code from package sources and repositories."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dowse.errors import ConfigError, DowseError
from dowse.parsing.languages import LANGUAGES
from dowse.security.terminal import escape_controls
from dowse_training.arguments import add_exclude, exclusion_of
from dowse_training.pairs.duplicates import Duplicates
from dowse_training.pairs.exclusion import Exclusion
from dowse_training.pairs.known import code_of_pairs, exclude_corpus
from dowse_training.pairs.mine import Effort, mine_pairs
from dowse_training.pairs.output import Output, Statistics
from dowse_training.pairs.package import Wanted
from dowse_training.pairs.sources import crates, debian_source, maven, npm, pypi
from dowse_training.pairs.sources.debian import Debian
from dowse_training.pairs.sources.local import Local
from dowse_training.pairs.sources.protocol import FetchError, Source

DEFAULT_LANGUAGES = "python,javascript,typescript,go,ruby,php,rust,java,c,cpp"

DESCRIPTION = """Mine pairs of documentation and code.

Sources are folders, or packages as pypi:NAME, npm:NAME, crates:NAME, maven:GROUP:ARTIFACT,
debian:NAME (a binary package, by apt-get) or debian-src:NAME (a source package).
The folder --out receives LANGUAGE.jsonl.xz, LANGUAGE.valid.jsonl.xz, manifest.json and statistics.json.
"""

# Seconds between two lines of progress.
_PROGRESS_SECONDS = 10.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("sources", nargs="*", metavar="SOURCE", help="a folder, or REGISTRY:NAME")
    add(
        "--from",
        dest="lists",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="more sources, one a line",
    )
    add(
        "--pypi-top",
        type=Path,
        metavar="FILE",
        help="names on PyPI: one a line, or JSON with rows of `project`",
    )
    add("--pypi-sample", type=int, default=0, metavar="N", help="N random projects of the whole index")
    add("--out", type=Path, required=True, help="folder for the pairs")
    add_exclude(parser)
    add(
        "--exclude-corpus",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="corpus that is evaluated on",
    )
    add(
        "--known",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="pairs that are not to be repeated",
    )
    add("--languages", default=DEFAULT_LANGUAGES, help=f"separated by commas (default: {DEFAULT_LANGUAGES})")
    add(
        "--cap",
        type=int,
        default=250,
        help="pairs of one package and language at most (default: %(default)s)",
    )
    add(
        "--valid",
        type=float,
        default=0.02,
        help="share of packages kept for validation (default: %(default)s)",
    )
    add("--max-mb", type=float, default=8.0, help="larger downloads are left out (default: %(default)s)")
    add(
        "--min-releases",
        type=int,
        default=1,
        help="of PyPI projects; 2 leaves out most that were only tried out",
    )
    add("--workers", type=int, default=os.cpu_count() or 1, help="processes that parse")
    add("--downloads", type=int, default=8, help="threads that fetch (default: %(default)s)")
    add("--seed", type=int, default=0, help="of --pypi-sample")
    add("--index-url", default=pypi.INDEX_URL, help="index of Python packages (default: %(default)s)")
    add("--npm-url", default=npm.REGISTRY_URL, help="npm registry (default: %(default)s)")
    add("--crates-url", default=crates.INDEX_URL, help="index of crates (default: %(default)s)")
    add("--crates-download-url", default=crates.DOWNLOAD_URL, help="where crates are (default: %(default)s)")
    add("--maven-url", default=maven.REPOSITORY_URL, help="Maven repository (default: %(default)s)")
    add("--debian-url", default=debian_source.MIRROR_URL, help="Debian archive (default: %(default)s)")
    add("--debian-suite", default=debian_source.SUITE, help="of --debian-url (default: %(default)s)")


def run(args: argparse.Namespace) -> int:
    """Mine, and say what came of it."""
    wanted = Wanted(_languages(args.languages), args.cap, _exclusion(args))
    names = list(_names(args))
    if not names:
        raise ConfigError("nothing to mine: name folders or packages, or give --pypi-top or --pypi-sample")
    duplicates = Duplicates()
    for path in args.known:
        duplicates.add_known(code_of_pairs(path))
    effort = Effort(max(1, args.downloads), min(args.workers, len(names)))
    with Output(args.out, args.valid) as output:
        try:
            with _terminating_interrupts():
                mine_pairs(names, wanted, duplicates, output, effort, _Progress(len(names)).show)
        except KeyboardInterrupt:
            _say(f"interrupted; {args.out} holds what was mined so far")
            return 130
    _say(_summary(output.statistics))
    return 0 if output.statistics.kept else 1


@contextmanager
def _terminating_interrupts() -> Iterator[None]:
    """Let a request to end do what Ctrl-C does: hours of mining should not be lost to a batch system."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread hears signals
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def sources(args: argparse.Namespace) -> dict[str, Source]:
    """Every source by the name it is asked for."""
    limit = int(args.max_mb * (1 << 20))
    found: tuple[Source, ...] = (
        pypi.PyPI(args.index_url, limit, args.min_releases),
        npm.Npm(args.npm_url, limit),
        crates.Crates(args.crates_url, args.crates_download_url, limit),
        maven.Maven(args.maven_url, limit),
        Debian(),
        debian_source.DebianSource(args.debian_url, args.debian_suite, limit),
        Local(),
    )
    return {source.registry: source for source in found}


def _names(args: argparse.Namespace) -> Iterator[tuple[Source, str]]:
    """Everything that was asked for, each once."""
    table = sources(args)
    asked = [*args.sources, *(line for path in args.lists for line in _lines(path))]
    if args.pypi_top:
        asked += [f"pypi:{name}" for name in _top_names(args.pypi_top)]
    if args.pypi_sample:
        asked += [f"pypi:{name}" for name in _sample(args)]
    for text in dict.fromkeys(asked):
        registry, colon, name = text.partition(":")
        yield (table[registry], name) if colon and registry in table else (table["local"], text)


def _sample(args: argparse.Namespace) -> list[str]:
    """Random names of the whole index."""
    try:
        return pypi.PyPI(args.index_url).sample(args.pypi_sample, args.seed)
    except FetchError as error:
        raise DowseError(
            f"{args.index_url} does not list its projects ({error}): give --pypi-top FILE"
        ) from error


def _top_names(path: Path) -> Iterable[str]:
    """Names from a file: JSON as the lists of most downloaded projects have it, or lines."""
    text = _read(path)
    if not text.lstrip().startswith(("{", "[")):
        return _lines(path)
    try:
        rows = json.loads(text)
        rows = rows["rows"] if isinstance(rows, dict) else rows
        return [row["project"] if isinstance(row, dict) else str(row) for row in rows]
    except (ValueError, KeyError, TypeError) as error:
        raise DowseError(f"{path} is no list of projects: give one name a line") from error


def _lines(path: Path) -> list[str]:
    """The lines of a file without comments."""
    stripped = (line.partition("#")[0].strip() for line in _read(path).splitlines())
    return [line for line in stripped if line]


def _read(path: Path) -> str:
    """A file's text."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DowseError(f"{path} can't be read: {error}") from error


def _languages(text: str) -> frozenset[str]:
    """The languages that were asked for."""
    names = frozenset(name.strip() for name in text.split(",") if name.strip())
    if unknown := names - LANGUAGES.keys():
        raise ConfigError(
            f"no parser for {', '.join(sorted(unknown))}; known: {', '.join(sorted(LANGUAGES))}"
        )
    return names


def _exclusion(args: argparse.Namespace) -> Exclusion:
    """Everything that must not be trained on."""
    exclusion = exclusion_of(args)
    for corpus in args.exclude_corpus:
        exclusion = exclude_corpus(exclusion, corpus)
    return exclusion


class _Progress:
    """A line now and then, on stderr."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._said = time.monotonic()

    def show(self, statistics: Statistics) -> None:
        """Say how far it is, if it is time."""
        if time.monotonic() - self._said >= _PROGRESS_SECONDS:
            self._said = time.monotonic()
            kept = sum(statistics.kept.values())
            _say(f"{statistics.packages:,} of {self._total:,} packages, {kept:,} pairs")


def _summary(statistics: Statistics) -> str:
    """What was kept and dropped, in a few lines."""
    told = statistics.as_json()
    lines = [f"{statistics.packages:,} packages, {sum(statistics.failed.values()):,} not fetched"]
    for reason, count in statistics.failed.most_common(5):
        examples = ", ".join(statistics.failed_examples.get(reason, ())[:3])
        lines.append(f"  {count:,} {reason}: {examples}")
    for language, splits in told["kept"].items():
        dropped = sum(told["dropped"].get(language, {}).values())
        lines.append(f"{language:<12} {sum(splits.values()):>9,} pairs, {dropped:,} dropped")
    return "\n".join(lines)


def _say(text: str) -> None:
    """Tell the user."""
    sys.stderr.write(escape_controls(text, keep="\t\n") + "\n")
