"""Which files of a tree hold questions with their answers: an index for evaluation must be without them."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from dowse.eval.datasets.beir import CORPUS, query_files
from dowse.eval.datasets.challenge import ANNOTATIONS, QUERIES
from dowse.eval.datasets.lines import first_rows, read_head
from dowse.eval.files import REPORT, SHEET
from dowse.eval.types import Dataset
from dowse.source.corpus import ENDINGS, is_corpus
from dowse.source.walk import WalkedFile, walk

_MARKS = "|".join((REPORT, SHEET)).encode()
# Keys that make an object with a query one with answers: cases, other suites' cases, details, sheets.
_ANSWERS = re.compile(r"relevant|grade|judge|found\Z")
_KEY = re.compile(rb'"(?:' + _MARKS + rb')"\s*:')
_COMMENT = re.compile(rb"(?:<!--|#|//)\s*(?:" + _MARKS + rb")\b")
_QRELS = re.compile(rb"(?:\xef\xbb\xbf)?query[-_]id\t", re.IGNORECASE)
# A report's "about" may stand before its mark; a comment stands at the top.
_HEAD_BYTES, _TOP_BYTES = 65_536, 1_024
# Larger than any file of questions: data that is never indexed as source.
_MAX_BYTES = 1_000_000_000


def answer_files(
    root: Path, datasets: Iterable[Dataset | Path] = (), exclude: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return patterns as in .gitignore, seen from `root`, for every file under it that holds answers.

    Found are the files that the datasets came from, and by content: cases, BEIR's queries and judgements,
    those of CodeSearchNet's challenge, reports and details of evaluations, judging sheets. They are meant to
    stand last in `exclude`, where nothing brings a file back. A corpus has none: only functions are indexed.

    Args:
        root: What is indexed.
        datasets: What is asked, or files that hold answers in a form of their own.
        exclude: The other patterns of the index: what they leave out need not be looked at, and what they
            bring back must be.
    """
    if not root.is_dir() or is_corpus(root):
        return ()
    top = root.resolve()
    own = {path for dataset in datasets for path in _own_files(dataset)}
    found = {path.relative_to(top).as_posix() for path in own if path.is_relative_to(top)}
    found |= {path for path in _looked_at(top, exclude) if _holds_answers(top / path)}
    return tuple(sorted(map(_pattern, found)))


def _own_files(dataset: Dataset | Path) -> list[Path]:
    files = dataset.files if isinstance(dataset, Dataset) else (dataset,)
    return [path.resolve() for path in files]


def _looked_at(top: Path, exclude: Iterable[str]) -> Iterator[str]:
    """Give the files that an index may read, and the packed ones, whose endings make them worth a look."""
    for entry in walk(top, exclude=exclude, max_file_bytes=_MAX_BYTES):
        if entry.path.endswith(_ENDINGS) and (isinstance(entry, WalkedFile) or _is_packed(top / entry.path)):
            yield entry.path


def _is_packed(path: Path) -> bool:
    return path.name.endswith(".gz") and stat.S_ISREG(path.lstat().st_mode)


def _holds_answers(path: Path) -> bool:
    return any(path.name.endswith(endings) and test(path) for endings, test in _TESTS)


def _is_cases(path: Path) -> bool:
    """Whether lines are questions with answers."""
    return any("query" in row and any(map(_ANSWERS.match, row)) for row in first_rows(path))


def _is_queries(path: Path) -> bool:
    """Whether this is a file of BEIR's queries: beside a corpus, or beside judgements."""
    beside = (*CORPUS, "qrels")
    return path in query_files(path.parent).values() and any((path.parent / name).exists() for name in beside)


def _is_marked(path: Path) -> bool:
    return bool(_KEY.search(read_head(path, _HEAD_BYTES)))


def _has_comment(path: Path) -> bool:
    return bool(_COMMENT.search(read_head(path, _TOP_BYTES)))


def _is_qrels(path: Path) -> bool:
    return path.parent.name == "qrels" or bool(_QRELS.match(read_head(path, _TOP_BYTES)))


def _is_challenge(path: Path) -> bool:
    """Whether this is a table with a query and its relevance in every row, or the queries beside it."""
    names = {
        name.strip().strip(b'"').lower() for name in read_head(path, _TOP_BYTES).split(b"\n")[0].split(b",")
    }
    return {b"query", b"relevance"} <= names or (
        path.name == QUERIES and (path.parent / ANNOTATIONS).is_file()
    )


# What to look for in files with these endings.
_TESTS: tuple[tuple[tuple[str, ...], Callable[[Path], bool]], ...] = (
    (ENDINGS, _is_cases),
    (ENDINGS, _is_queries),
    ((*ENDINGS, ".json", ".json.gz"), _is_marked),
    ((".tsv", ".tsv.gz"), _is_qrels),
    ((".csv", ".csv.gz"), _is_challenge),
    ((".md", ".html", ".htm", ".txt", ".tsv", ".csv", ".toml", ".yaml", ".yml"), _has_comment),
)
_ENDINGS = tuple({ending for endings, _ in _TESTS for ending in endings})


def _pattern(path: str) -> str:
    """Return the pattern that means this path and no other, except for names nobody can write down."""
    escaped = re.sub(r"([*?\[\\ ])", r"\\\1", path)
    # An index keeps its patterns as lines of text; one of these characters may stand for any.
    return "/" + re.sub("[\n\r\ud800-\udfff]", "?", escaped)
