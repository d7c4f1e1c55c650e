"""`dowse train commits`: mine pairs of commit message and changed function from repositories."""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path

from dowse.errors import ConfigError
from dowse.security.terminal import escape_controls
from dowse_training.arguments import add_exclude, exclusion_of
from dowse_training.outcomes.repository import Effort, MinedRepository, mine_repository
from dowse_training.pairs.output import TRAIN, split_of

DESCRIPTION = """Mine pairs of what people wrote about a change, and the code as it was before.

Each SOURCE is a clone or a bare mirror; give its name as OWNER/NAME=FOLDER, else the folder's name counts.
The folder --out receives LANGUAGE.jsonl.gz and LANGUAGE.valid.jsonl.gz, which grow with every repository,
and repositories.ndjson; repositories that are listed there already are not mined again.

Kinds of pairs: commit (subject and body), news (what the commit added to the change log), class and file
(their documentation, of HEAD).

  dowse train commits --out outcomes --exclude exclude.json.gz pallets/jinja=mirrors/jinja ~/src/rake
"""

# Not .jsonl, which the next step would read as pairs.
_MANIFEST = "repositories.ndjson"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("sources", nargs="+", metavar="SOURCE", help="[OWNER/NAME=]FOLDER")
    add("--out", type=Path, required=True, help="folder for the pairs")
    add_exclude(parser)
    add("--commits", type=int, default=3_000, help="newest commits that are read (default: %(default)s)")
    add("--seconds", type=float, default=20.0, help="CPU time for a repository (default: %(default)s)")
    add("--valid", type=float, default=0.03, help="share of repositories kept for validation")
    add("--workers", type=int, default=2, help="processes that mine (default: %(default)s)")


def run(args: argparse.Namespace) -> int:
    """Mine, and say what came of it."""
    args.out.mkdir(parents=True, exist_ok=True)
    done = _done(args.out / _MANIFEST)
    sources = {name: folder for name, folder in map(_source, args.sources) if name not in done}
    mine = partial(mine_repository, exclusion=exclusion_of(args), effort=Effort(args.commits, args.seconds))
    totals: Counter[str] = Counter()
    for number, mined in enumerate(_mined(mine, sources, args.workers), 1):
        counts = _write(args.out, mined, args.valid)
        totals.update(counts)
        said = mined.problem or ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.items()))
        _say(f"{number:,} of {len(sources):,} {mined.name}: {said or 'nothing'} ({mined.seconds:.0f} s)")
    _say(", ".join(f"{count:,} {kind}" for kind, count in sorted(totals.items())) or "nothing new")
    return 0


def _mined(
    mine: partial[MinedRepository], sources: dict[str, Path], workers: int
) -> Iterator[MinedRepository]:
    """Give what every repository gave, as soon as it is there."""
    if workers < 2:
        yield from (mine(name, folder) for name, folder in sources.items())
        return
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        tasks = [pool.submit(mine, name, folder) for name, folder in sources.items()]
        yield from (task.result() for task in as_completed(tasks))


def _write(folder: Path, mined: MinedRepository, valid_share: float) -> Counter[str]:
    """Append a repository's pairs; every one is a member of the gzip files, so they are whole at any time."""
    split = split_of(mined.name, valid_share)
    lines: dict[str, list[str]] = {}
    for outcome in mined.outcomes:
        row = {key: value for key, value in outcome._asdict().items() if key != "language"}
        lines.setdefault(outcome.language, []).append(json.dumps(row, ensure_ascii=False) + "\n")
    for language, texts in lines.items():
        name = f"{language}.jsonl.gz" if split == TRAIN else f"{language}.{split}.jsonl.gz"
        with gzip.open(folder / name, "at", encoding="utf-8") as file:
            file.writelines(texts)
    counts = Counter(outcome.kind for outcome in mined.outcomes)
    languages = {language: len(texts) for language, texts in sorted(lines.items())}
    facts = {
        "repository": mined.name,
        "split": split,
        "kinds": counts,
        "languages": languages,
        "seconds": round(mined.seconds, 1),
        "problem": mined.problem,
    }
    with (folder / _MANIFEST).open("a", encoding="utf-8") as manifest:
        manifest.write(json.dumps(facts) + "\n")
    return counts


def _done(manifest: Path) -> set[str]:
    """Return the repositories that were mined before."""
    lines: Iterable[str] = manifest.read_text("utf-8").splitlines() if manifest.exists() else ()
    return {json.loads(line)["repository"] for line in lines}


def _source(text: str) -> tuple[str, Path]:
    """Return a repository's name and folder."""
    name, equals, place = text.partition("=")
    folder = Path(place if equals else text)
    if not folder.is_dir():
        raise ConfigError(f"there is no folder {folder}; name clones or bare mirrors")
    return (name, folder) if equals else (folder.resolve().name, folder)


def _say(text: str) -> None:
    """Tell the user."""
    sys.stderr.write(escape_controls(text, keep="\t\n") + "\n")
