"""CodeSearchNet (Husain et al. 2019): its files of functions, and its challenge.

In the files of functions the documentation of each is a question, and the function its answer. The challenge
has 99 queries, and judgements of functions in six languages: queries.csv has one column, `query`;
annotationStore.csv has `Language,Query,GitHubUrl,Relevance,Notes`, where relevance is from 0 to 3 and several
annotators may have judged the same. Urls identify the functions.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from urllib.parse import unquote, urlsplit

from dowse.errors import EvalError
from dowse.eval.datasets.build import make_dataset
from dowse.eval.datasets.lines import plain_name
from dowse.eval.types import DOCS, Case, Dataset
from dowse.source.corpus import CorpusFunction, open_corpus

QUERIES, ANNOTATIONS = "queries.csv", "annotationStore.csv"
_LINES = re.compile(r"L?(\d+)(?:C\d+)?(?:[-:]L?(\d+)(?:C\d+)?)?\Z")


def read_functions(path: Path, name: str = "") -> Dataset:
    """Return a question for every documented function; those without documentation are only searched.

    The index must be without documentation, so the dataset asks for `strip_docs`.
    """
    cases: dict[str, Case] = {}  # of equal ids the last counts, as in the index
    for function in open_corpus(path):
        if not isinstance(function, CorpusFunction):
            continue
        cases.pop(function.id, None)
        if function.doc.strip():
            answer = {function.id: 1.0}
            cases[function.id] = Case(function.doc, symbols=answer, id=function.id, source=DOCS)
    if not cases:
        raise EvalError(f'{path}: no function has documentation (looked for "docstring" and its like)')
    return make_dataset(name or plain_name(path), list(cases.values()), (), root=path, strip_docs=True)


def is_challenge(folder: Path) -> bool:
    """Whether a folder holds the challenge's judgements."""
    return (folder / ANNOTATIONS).is_file()


def read_challenge(folder: Path, corpus: Path | None, name: str = "") -> Dataset:
    """Return the queries with the judged functions that a corpus has, grades averaged over annotators.

    The corpus is functions with their urls, e.g. CodeSearchNet's own files.
    """
    if corpus is None:
        raise EvalError(f"{folder} asks about the functions of CodeSearchNet; name the corpus to search")
    qrels = _judgements(folder / ANNOTATIONS)
    ids = _ids_by_url(corpus)
    cases = []
    for number, query in enumerate(_queries(folder / QUERIES), 1):
        grades = qrels.get(_key(query), {})
        symbols = {ids[url]: fmean(values) for url, values in grades.items() if url in ids}
        if symbols:
            cases.append(Case(query, symbols=symbols, id=f"q{number}", source="csn-challenge"))
    if not cases:
        raise EvalError(f"{corpus} has none of the functions that were judged in {folder}; take another")
    files = (folder / QUERIES, folder / ANNOTATIONS)
    return make_dataset(name or "csn-challenge", cases, files, root=corpus)


def plain_url(url: str) -> str:
    """Return the one spelling of a function's url: lines as `#L10-L20`, no www, no escapes."""
    parts = urlsplit(url.strip())
    host = parts.netloc.lower().removeprefix("www.")
    lines = _LINES.match(parts.fragment)
    fragment = f"#L{lines[1]}-L{lines[2] or lines[1]}" if lines else f"#{parts.fragment}"
    return f"{host}{unquote(parts.path).rstrip('/')}{fragment.rstrip('#')}"


def _ids_by_url(corpus: Path) -> dict[str, str]:
    functions = [each for each in open_corpus(corpus) if isinstance(each, CorpusFunction)]
    ids = {plain_url(function.url): function.id for function in functions if function.url}
    if not ids:
        raise EvalError(
            f"the functions of {corpus} have no urls, by which judgements find them; take a corpus with "
            f'"url" or "func_code_url", such as CodeSearchNet\'s own files'
        )
    return ids


def _queries(path: Path) -> list[str]:
    queries = [row["query"] for _, row in _rows(path, ("query",)) if row["query"].strip()]
    return list(dict.fromkeys(queries))


def _judgements(path: Path) -> dict[str, dict[str, list[float]]]:
    """Return query → url → the grade of each annotator."""
    qrels: dict[str, dict[str, list[float]]] = {}
    for number, row in _rows(path, ("query", "githuburl", "relevance")):
        if row["relevance"].strip() not in ("0", "1", "2", "3"):
            raise EvalError(f"{path}:{number}: relevance goes from 0 to 3, not {row['relevance']!r}")
        urls = qrels.setdefault(_key(row["query"]), {})
        urls.setdefault(plain_url(row["githuburl"]), []).append(float(row["relevance"]))
    return qrels


def _key(query: str) -> str:
    """Return how queries are compared, as the challenge's own script does."""
    return " ".join(query.lower().split())


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    """Give the rows of a table with the numbers of their lines; names of columns in small letters."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        reader = csv.reader(io.StringIO(text, newline=""))
        names = [name.strip().lower() for name in next(reader, [])]
        missing = [column for column in columns if column not in names]
        if missing:
            raise EvalError(f"{path}: no column {', '.join(missing)}; its first line must name {columns}")
        for values in reader:
            if values:
                values += [""] * (len(names) - len(values))
                yield reader.line_num, dict(zip(names, values, strict=False))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise EvalError(f"{path} can't be read ({error}); take it from CodeSearchNet's resources") from error
