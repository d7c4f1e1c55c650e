"""Datasets of all supported formats."""

from __future__ import annotations

from pathlib import Path

from dowse.errors import EvalError
from dowse.eval.datasets.beir import is_beir, read_beir
from dowse.eval.datasets.build import at_level, make_dataset, take_half
from dowse.eval.datasets.codesearchnet import read_functions
from dowse.eval.datasets.jsonl import FILES, SYMBOLS, read_cases, write_cases
from dowse.eval.datasets.lines import first_rows, plain_name
from dowse.eval.datasets.repos import is_suite, read_suite
from dowse.eval.types import DOCS, HALVES, Dataset, check_choice
from dowse.lazy_classes import replace
from dowse.source.corpus import is_corpus

__all__ = ["load_datasets", "read_cases", "write_cases"]

_KNOWN = (
    'they are cases (one a line: {"query": …, "relevant_files": […]}), a BEIR folder (corpus.jsonl, '
    "queries.jsonl, qrels/test.tsv), functions of CodeSearchNet with documentation, or a suite of "
    "repositories (repos.json, cases/NAME.jsonl)"
)


def load_datasets(
    source: str | Path,
    *,
    level: str = "",
    queries: str = "",
    half: str = "all",
    checkouts: Path | None = None,
    strip_docs: bool | None = None,
    name: str = "",
    root: Path | None = None,
) -> list[Dataset]:
    """Read datasets; the format of `source` is detected.

    Args:
        source: A file of cases, a BEIR folder, a file or folder of CodeSearchNet's functions, or a suite of
            repositories.
        level: "file" or "symbol"; "" takes what was judged, files first.
        queries: Of a source with several sets, the one to take: a file of queries, or a repository.
        half: The split: "tune" (dev), "report" (test) or "all".
        checkouts: Where the repositories of a suite lie.
        strip_docs: Whether documentation must be left out of the index (leakage); None does so for cases that
            were made from documentation.
        name: What the set is called; "" takes the name of the source.
        root: What to search, where the source does not say so.

    Raises:
        EvalError: If this is none of them, or something in it is wrong; the message names file and line.
    """
    check_choice("half", half, HALVES)
    datasets = _read(source, queries, checkouts, name)
    datasets = [_with_overrides(each, level, strip_docs, root) for each in datasets]
    return [take_half(each, half) for each in datasets]


def _read(source: str | Path, queries: str, checkouts: Path | None, name: str) -> list[Dataset]:
    """Detect the format of a source, and read it."""
    path = Path(source).expanduser().resolve()
    if not path.exists():
        raise EvalError(f"{source} does not exist; name a file of cases or the folder of a set")
    if is_suite(path):
        return read_suite(path, checkouts, queries, name)
    if is_beir(path):
        return read_beir(path, queries, name)
    if queries:
        raise EvalError(f"{path} is one set, without {queries!r} in it; leave that choice out")
    if _holds_cases(path):
        return [_read_case_file(path, name)]
    if is_corpus(path):
        return [read_functions(path, name)]
    raise EvalError(f"{path} holds no questions that we know; {_KNOWN}")


def _holds_cases(path: Path) -> bool:
    """Whether a file has the keys of cases, valid or not."""
    return path.is_file() and any(
        "query" in row or FILES in row or SYMBOLS in row for row in first_rows(path)
    )


def _read_case_file(path: Path, name: str) -> Dataset:
    cases = read_cases(path)
    strip_docs = any(case.source == DOCS for case in cases)
    return make_dataset(name or plain_name(path), cases, (path,), strip_docs=strip_docs)


def _with_overrides(dataset: Dataset, level: str, strip_docs: bool | None, root: Path | None) -> Dataset:
    """Return a dataset with the caller's settings."""
    strip = dataset.strip_docs if strip_docs is None else strip_docs
    return replace(at_level(dataset, level), strip_docs=strip, root=dataset.root or root)
