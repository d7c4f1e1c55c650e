"""Damage at random places of every file of an index: is any answer silently another one?

    python bench/damage.py [--places 2400] [--processes 2] [--out bench/results/damage.json]

Each place is one case: a flipped bit, a run of 30 flipped bytes, zeros, a cut, two swapped blocks, or a
deleted file. The answers to eleven questions are compared with those of the intact index:

    same         every answer is the same: the bytes are never read, or made again from others
    named        an error or a note names the damage; what is answered beside it may differ
    silent       an answer differs, and nothing is said
    traceback    an exception that is no error of dowse
    unrepaired   after `dowse repair`, an answer is neither that of the intact index nor that of a new one

Half of the cases are of an index with a log of SQLite that is not part of the catalog yet, as a killed writer
leaves it. In half of the cases the files are listed as intact, as a search finds them after an update. Every
20th case is repaired.
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import write_results

if TYPE_CHECKING:
    from dowse import Index

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("bit", "run", "zeros", "cut", "swap", "delete")
IMAGES = ("index", "logged")
# Files that coordinate processes and hold nothing of an answer.
_PASSING = ("writer.lock", "catalog.sqlite-shm", "CACHEDIR.TAG")
_REPAIR_EVERY = 20
_WRITE_EVERY = 100
_BAD = ("silent", "traceback", "unrepaired")
# What a message has that names damage.
_NAMES_DAMAGE = ("damaged", "could not be checked", "dowse repair", "has format", "no index in")

Question = Callable[["Index"], tuple[Any, Sequence[str]]]


@dataclass(frozen=True)
class Case:
    """One place."""

    number: int
    image: str
    file: str
    kind: str

    @property
    def is_listed(self) -> bool:
        """Whether its files are listed as intact."""
        return self.number % 4 < 2


@dataclass(frozen=True)
class Outcome:
    """What became of the answers."""

    kind: str
    text: str = ""
    seconds: float = 0.0


def main() -> None:
    """Build the index, damage copies of it, and write what became of the answers."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--places", type=int, default=2_400)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results" / "damage.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dowse-bench-") as name:
        base = Path(name)
        os.environ["DOWSE_CACHE_DIR"] = str(base / "cache")
        build(base)
        cases = choose(base, options.places, random.Random(options.seed))
        with ProcessPoolExecutor(options.processes, initializer=start, initargs=(base,)) as pool:
            results: list[tuple[Case, Outcome]] = []
            for case, outcome in zip(cases, pool.map(run_case, cases, chunksize=5), strict=True):
                results.append((case, outcome))
                if outcome.kind in _BAD:
                    print(case, outcome.kind, outcome.text, file=sys.stderr, flush=True)
                if len(results) % _WRITE_EVERY == 0 or len(results) == len(cases):
                    write_results(options.out, summarise(results))


def summarise(results: list[tuple[Case, Outcome]]) -> dict[str, object]:
    """Count the outcomes, by kind of damage and by file."""

    def table(key: Callable[[Case], str]) -> dict[str, dict[str, int]]:
        counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        for case, outcome in results:
            counts[key(case)][outcome.kind] += 1
        return {name: dict(sorted(count.items())) for name, count in sorted(counts.items())}

    total = collections.Counter(outcome.kind for _, outcome in results)
    return {
        "places": len(results),
        "total": {kind: total[kind] for kind in ("same", "named", *_BAD)},
        "repaired": sum(case.number % _REPAIR_EVERY == 0 for case, _ in results),
        "by_kind": table(lambda case: case.kind),
        "by_file": table(lambda case: _file_kind(case.file)),
        "by_image": table(lambda case: f"{case.image}{', listed' * case.is_listed}"),
        "slowest_seconds": round(max(outcome.seconds for _, outcome in results), 2),
    }


def _file_kind(file: str) -> str:
    path = Path(file)
    top = path.parts[0] if len(path.parts) > 1 else ""
    return f"{top}/*{path.suffix}" if top and path.stem.replace("-", "").isalnum() else f"{top}/{path.name}"


def build(base: Path) -> None:
    """Index a tree in two generations with all that an index can hold; with and without a log."""
    from dowse import Index

    tree, folder = base / "tree", base / IMAGES[0]
    shutil.copytree(ROOT / "src" / "dowse" / "storage", tree, ignore=shutil.ignore_patterns("__pycache__"))
    for file in tree.rglob("*"):
        os.utime(file, (1, 1))  # else an update compares their content
    with Index.open(tree, index_dir=str(folder), encoder="small") as index:
        index.update()
        with closing(sqlite3.connect(folder / "catalog.sqlite", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM files").fetchall()
            # A second segment, with deletions; a reader keeps the log of the commit.
            changed = tree / "cache.py"
            changed.write_text(changed.read_text() + "\n\ndef added_for_the_bench():\n    return 1\n")
            os.utime(changed, (2, 2))
            index.update()
            index.embed()
            index.search("open the file", mode="tfidf")
            shutil.copytree(folder, base / IMAGES[1])
        (tree / "skipped.bin").write_bytes(bytes(10))
        index.update()
    (base / IMAGES[1] / "catalog.sqlite-shm").unlink()
    assert (base / IMAGES[1] / "catalog.sqlite-wal").stat().st_size


def choose(base: Path, count: int, source: random.Random) -> list[Case]:
    """Return cases: each kind of damage to each file once, then at random, of large files more often."""
    sizes = {
        (image, str(path.relative_to(base / image))): path.stat().st_size
        for image in IMAGES
        for path in sorted((base / image).rglob("*"))
        if path.is_file() and path.name not in _PASSING and path.stat().st_size
    }
    chosen = [(*place, kind) for place in sizes for kind in KINDS]
    weights = [size**0.5 for size in sizes.values()]
    rest = source.choices(list(sizes), weights, k=max(0, count - len(chosen)))
    chosen += [(*place, source.choice(KINDS[:-1])) for place in rest]
    source.shuffle(chosen)
    return [Case(number, *each) for number, each in enumerate(chosen)]


def damage(path: Path, kind: str, source: random.Random) -> bool:
    """Damage a file in place; whether it is another one now."""
    if kind == "delete":
        path.unlink()
        return True
    before = path.read_bytes()
    data = bytearray(before)
    at = source.randrange(len(data))
    if kind == "bit":
        data[at] ^= 1 << source.randrange(8)
    elif kind == "run":
        data[at : at + 30] = bytes(byte ^ source.randrange(1, 256) for byte in data[at : at + 30])
    elif kind == "zeros":
        end = min(len(data), at + source.choice((16, 512, 4096)))
        data[at:end] = bytes(end - at)
    elif kind == "cut":
        del data[at:]
    else:
        size = min(source.choice((64, 512, 4096)), max(1, len(data) // 2))
        one, other = sorted(source.randrange(len(data) // size or 1) * size for _ in range(2))
        data[one : one + size], data[other : other + size] = (
            data[other : other + size],
            data[one : one + size],
        )
    with open(path, "r+b") as file:  # in place, as a disk would
        file.write(data)
        file.truncate()
    return bytes(data) != before


# What a worker process works with.
_base: Path
_place: Path
_expected: dict[str, list[Any]] = {}
_known: dict[Any, Any] = {}


def start(base: Path) -> None:
    """Prepare a worker process: a place for its copies, and the right answers."""
    global _base, _place
    os.environ["DOWSE_CACHE_DIR"] = str(base / "cache")
    _base, _place = base, base / f"work-{os.getpid()}"
    for image in IMAGES:
        shutil.rmtree(_place, ignore_errors=True)
        shutil.copytree(base / image, _place)
        _expected[image], said = ask()
        again, _ = ask()
        if _expected[image] != again or any(map(names_damage, said)) or not all(_expected[image]):
            raise SystemExit(f"the intact index answers differently, or nothing: {said}")
    with open_index() as index:
        index.update(rebuild=True)
        index.embed()
    _expected["new"], _ = ask()


def run_case(case: Case) -> Outcome:
    """Damage one place, ask, and mend it from time to time."""
    source = random.Random(f"{case}")
    shutil.rmtree(_place, ignore_errors=True)
    shutil.copytree(_base / case.image, _place)
    if case.is_listed:
        list_files()
    if not damage(_place / case.file, case.kind, source):
        return Outcome("same")
    started = time.perf_counter()
    try:
        outcome = classify(case)
        if case.number % _REPAIR_EVERY == 0 and outcome.kind in ("same", "named"):
            outcome = mend(case, outcome)
    except Exception:
        outcome = Outcome("traceback", traceback.format_exc()[-1500:])
    return Outcome(outcome.kind, outcome.text, time.perf_counter() - started)


def classify(case: Case) -> Outcome:
    """Compare the answers with those of the intact index."""
    answers, said = ask()
    if answers == _expected[case.image]:
        return Outcome("same")
    named = [text for text in said if names_damage(text)]
    if named:
        return Outcome("named", named[0])
    pairs = zip(answers, _expected[case.image], strict=True)
    return Outcome("silent", f"{[n for n, (now, then) in enumerate(pairs) if now != then]} {said}")


def mend(case: Case, outcome: Outcome) -> Outcome:
    """Repair the index: the answers have to be the same again, and nothing damaged."""
    from dowse.services.repair import repair

    with open_index() as index:
        if not index.exists:  # of another format, as far as it says: an update is the remedy
            index.update()
        _, done = repair(index)
        left = index.backend.damage()
    answers, said = ask()
    right = zip(_expected[case.image], _expected["new"], strict=True)
    pairs = list(zip(answers, right, strict=True))[:_REFITTED]
    wrong = [n for n, (now, either) in enumerate(pairs) if now not in either]
    if left or wrong:
        return Outcome("unrepaired", f"{done} {left} {wrong} {said}")
    return outcome


def names_damage(text: str) -> bool:
    """Whether a message says that something is damaged."""
    return any(words in text for words in _NAMES_DAMAGE)


def list_files() -> None:
    """Have the files of the copy listed as intact."""
    with open_index() as index, index.backend.reader() as reader:
        reader.vectors(index.encoder.id, [1])
        QUESTIONS[_COUNTED](index)


def ask() -> tuple[list[Any], list[str]]:
    """Return the answers to all questions, and every note and error; raises what is no error of dowse."""
    from dowse.errors import DowseError

    answers: list[Any] = []
    said: list[str] = []
    with open_index() as index:
        for question in QUESTIONS:
            try:
                answer, notes = question(index)
            except DowseError as error:
                answer, notes = None, [str(error)]
            answers.append(answer)
            said += notes
    return answers, said


def open_index() -> Index:
    """Open the copy in this process, with an encoder that remembers what it has encoded."""
    from dowse import Index

    index = Index.open(_base / "tree", index_dir=str(_place), encoder="small", isolation="never")
    if "encoder" not in _known:
        encoder = index.encoder
        encode = encoder.encode_queries
        encoder.encode_queries = lambda texts: _remember(tuple(texts), encode)
        _known["encoder"] = encoder
    index._encoder = _known["encoder"]
    return index


def _remember(texts: tuple[str, ...], encode: Callable[[list[str]], object]) -> object:
    if texts not in _known:
        _known[texts] = encode(list(texts))
    return _known[texts]


def search(text: str, **options: str) -> Question:
    """Return a question for the hits of a search, with their texts and scores."""

    def run(index: Index) -> tuple[Any, Sequence[str]]:
        answer = index.search(text, k=10, **options)
        hits = [
            (hit.symbol.path, hit.symbol.start_line, hit.symbol.name, hit.symbol.code, round(hit.score, 5))
            for hit in answer.hits
        ]
        return hits, [str(note) for note in answer.notes]

    return run


def graph(relation: str, name: str) -> Question:
    """Return a question for the call graph."""

    def run(index: Index) -> tuple[Any, Sequence[str]]:
        answer = getattr(index, relation)(name)
        found = sorted((step.symbol.path, step.symbol.qualified_name, step.depth) for step in answer.steps)
        return found, [str(note) for note in answer.notes]

    return run


QUESTIONS: list[Question] = [
    search("write lock", mode="keyword"),
    search("where are the vectors of symbols kept", mode="embedding"),
    search("how does a reader see one generation"),
    search("open the file", mode="tfidf"),
    search("/sqlite3\\.\\w+Error/"),
    search('"catalog" kind:function'),
    graph("callers", "damage_error"),
    graph("impact", "unpack"),
    lambda index: ([(row.path, row.start_line, row.qualified_name) for row in index.symbols("*read*")], ()),
    lambda index: (
        [(hit.symbol.path, hit.symbol.qualified_name) for hit in index.related("LocalBackend", 5).neighbours],
        (),
    ),
    lambda index: (repr(index.related("LocalBackend", 5).cluster), ()),
]
# Clusters are fitted again after a repair, and begin with another row.
_REFITTED = len(QUESTIONS) - 1
_COUNTED = 3  # the one that reads the counts of terms


if __name__ == "__main__":
    main()
