"""The index that an evaluation searches: the user's is left alone, files with answers are left out."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from dowse.errors import EvalError
from dowse.eval.datasets.beir import CORPUS, query_files
from dowse.eval.datasets.codesearchnet import ANNOTATIONS, QUERIES
from dowse.eval.datasets.lines import first_rows, read_head
from dowse.eval.files import REPORT, SHEET, cache_path
from dowse.eval.types import Dataset
from dowse.index import Index
from dowse.source.corpus import ENDINGS, is_corpus
from dowse.source.ignore import IgnoreRules
from dowse.source.walk import WalkedFile, walk
from dowse.storage.open import beside

# So many of the leaked files are named in a message.
_NAMED = 3
_MARKS = "|".join((REPORT, SHEET)).encode()
# Keys that make an object with a query one with answers: cases, other suites' cases, details, sheets.
_ANSWERS = re.compile(r"relevant|grade|judge|found\Z")
_KEY = re.compile(rb'"(?:' + _MARKS + rb')"\s*:')
_COMMENT = re.compile(rb"(?:<!--|#|//)\s*(?:" + _MARKS + rb")\b")
_QRELS = re.compile(rb"(?:\xef\xbb\xbf)?query[-_]id\t", re.IGNORECASE)
# A report's "about" may come before its mark; a comment is at the top.
_HEAD_BYTES, _TOP_BYTES = 65_536, 1_024
# Larger than any file of cases: data that is never indexed as source.
_MAX_BYTES = 1_000_000_000


def open_clean_index(
    root: Path,
    hidden: Iterable[Dataset | Path],
    *,
    settings: Mapping[str, object] | None = None,
    index_dir: str = "",
    strip_docs: bool = False,
) -> Index:
    """Open an index that leaves out all files with answers; nothing is written before it is updated.

    It lies in the cache, apart from the user's, unless `index_dir` names a folder. `hidden` are the datasets
    that are run, or other files with answers; settings that are None count as absent.
    """
    chosen = {name: value for name, value in (settings or {}).items() if value is not None}
    usual = Index.open(root, **chosen).settings
    strip = usual.strip_docs or strip_docs
    whole = root.resolve()
    # Which files hold answers is no part of the name: those that come and go are removed from the same index.
    own = cache_path("indexes", whole, whole.name, (strip, *usual.exclude))
    fixed: dict[str, object] = {
        "exclude": (*usual.exclude, *answer_files(root, hidden, exclude=usual.exclude)),
        "strip_docs": strip,
        # Lanes in turn, without time limits: results must not depend on how busy the machine is.
        "isolation": "never",
        "feedback": False,  # what users chose may well be the answers
        "index_dir": index_dir or str(own),
    }
    if usual.backend:
        fixed["backend"] = beside(usual.backend, own.name.lower())
    return Index.open(root, **{**chosen, **fixed})


def check_leakage(index: Index) -> None:
    """Raise EvalError if an existing index holds answers, or documentation that it must not (leakage)."""
    built, rules = index.as_built(), IgnoreRules(index.settings.exclude)
    inside = [file.path for file in index.files() if rules.ignores(file.path)]
    if inside:
        more = f" and {len(inside) - _NAMED} more" if len(inside) > _NAMED else ""
        raise EvalError(
            f"the index in {index.backend.address} holds what must not be found: "
            f"{', '.join(inside[:_NAMED])}{more}; take it out with --index, or name another place"
        )
    if built.settings.strip_docs != index.settings.strip_docs:
        was = "without" if built.settings.strip_docs else "with"
        raise EvalError(
            f"the index in {index.backend.address} was made {was} documentation, which does not fit these "
            "questions; make it again with --index, or name another place"
        )


def answer_files(
    root: Path, datasets: Iterable[Dataset | Path] = (), exclude: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return .gitignore patterns, relative to `root`, for every file under it that holds answers.

    These are the files of the datasets and, by content: cases, BEIR's queries and qrels, those of
    CodeSearchNet's challenge, reports and details of evaluations, judging sheets. The patterns must be the
    last of `exclude`, where nothing includes a file again: what the others exclude need not be read, and what
    they include again must be. A corpus has none: only functions are indexed.
    """
    if not root.is_dir() or is_corpus(root):
        return ()
    top = root.resolve()
    files = (each.files if isinstance(each, Dataset) else (each,) for each in datasets)
    own = {path.resolve() for paths in files for path in paths}
    leaked = {path.relative_to(top).as_posix() for path in own if path.is_relative_to(top)}
    leaked |= {path for path in _candidates(top, exclude) if _holds_answers(top / path)}
    return tuple(sorted(map(escape_pattern, leaked)))


def _candidates(top: Path, exclude: Iterable[str]) -> Iterator[str]:
    """Give the files with a known extension that an index may read, and compressed ones."""
    for entry in walk(top, exclude=exclude, max_file_bytes=_MAX_BYTES):
        if entry.path.endswith(_ENDINGS) and (
            isinstance(entry, WalkedFile) or _is_compressed(top / entry.path)
        ):
            yield entry.path


def _is_compressed(path: Path) -> bool:
    return path.name.endswith(".gz") and stat.S_ISREG(path.lstat().st_mode)


def _holds_answers(path: Path) -> bool:
    return any(path.name.endswith(endings) and test(path) for endings, test in _TESTS)


def _is_cases(path: Path) -> bool:
    """Whether lines are cases."""
    return any("query" in row and any(map(_ANSWERS.match, row)) for row in first_rows(path))


def _is_queries(path: Path) -> bool:
    """Whether this is a file of BEIR's queries: beside a corpus, or beside qrels."""
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


# The tests of files with these extensions.
_TESTS: tuple[tuple[tuple[str, ...], Callable[[Path], bool]], ...] = (
    (ENDINGS, _is_cases),
    (ENDINGS, _is_queries),
    ((*ENDINGS, ".json", ".json.gz"), _is_marked),
    ((".tsv", ".tsv.gz"), _is_qrels),
    ((".csv", ".csv.gz"), _is_challenge),
    ((".md", ".html", ".htm", ".txt", ".tsv", ".csv", ".toml", ".yaml", ".yml"), _has_comment),
)
_ENDINGS = tuple({ending for endings, _ in _TESTS for ending in endings})


def escape_pattern(path: str) -> str:
    """Return the pattern of one path; characters that no pattern can hold match any."""
    escaped = re.sub(r"([*?\[\\ ])", r"\\\1", path)
    # An index stores its patterns as lines of text.
    return "/" + re.sub("[\n\r\ud800-\udfff]", "?", escaped)
