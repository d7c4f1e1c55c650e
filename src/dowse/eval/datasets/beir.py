"""BEIR folders: a corpus, files of queries, and judgements in qrels/.

corpus.jsonl[.gz] (`_id`, `title`, `text`), queries*.jsonl[.gz] (`_id`, `text`), qrels/SPLIT.tsv (`query-id`,
`corpus-id`, `score`; every split if there is no test).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dowse.errors import EvalError
from dowse.eval.datasets.build import make_dataset
from dowse.eval.datasets.jsonl import MAX_GRADE
from dowse.eval.datasets.lines import plain_text, read_lines, read_rows
from dowse.eval.types import Case, Dataset

CORPUS = ("corpus.jsonl", "corpus.jsonl.gz")
_QUERIES = "queries"


def is_beir(folder: Path) -> bool:
    """Whether a folder has BEIR's files; their content is checked when they are read."""
    return any((folder / name).is_file() for name in CORPUS) and bool(query_files(folder))


def read_beir(folder: Path, queries: str = "", name: str = "") -> list[Dataset]:
    """Return a dataset for every file of queries, or for the one that `queries` names.

    Its name is that of the folder, or `name`, and what follows "queries" in the file's name: `name/summary`.
    That is left out where both the name and the file are given.
    """
    named, name = bool(name and queries), name or folder.name
    files = query_files(folder)
    chosen = list(files) if not queries else [_stem(queries, files, folder)]
    datasets = []
    for stem in chosen:
        suffix = stem.removeprefix(_QUERIES).lstrip("-_.")
        cases = beir_cases(folder, stem)
        sources = (files[stem], *_qrels_files(folder))
        full = f"{name}/{suffix}" if suffix and not named else name
        datasets.append(make_dataset(full, cases, sources, root=folder))
    return datasets


def beir_cases(folder: Path, queries: str = _QUERIES) -> list[Case]:
    """Read the queries that were judged, with all judgements, those of grade 0 too."""
    qrels = _read_qrels(folder)
    cases = []
    files = query_files(folder)
    for where, row in read_rows(files[_stem(queries, files, folder)]):
        name, text = plain_text(row.get("_id")), plain_text(row.get("text"))
        if not name or not text.strip():
            raise EvalError(f'{where}: a query needs an "_id" and a "text"')
        if name in qrels:
            cases.append(Case(text, symbols=qrels[name], id=name, source="beir"))
    if not cases:
        raise EvalError(f"{folder}: no query of {queries} was judged; the ids in qrels/ must be theirs")
    return cases


def query_files(folder: Path) -> dict[str, Path]:
    """Return the files of queries in a folder by name without ending, the plain ones first."""
    paths = [*sorted(folder.glob(f"{_QUERIES}*.jsonl.gz")), *sorted(folder.glob(f"{_QUERIES}*.jsonl"))]
    by_stem = {path.name.removesuffix(".gz").removesuffix(".jsonl"): path for path in paths}
    return dict(sorted(by_stem.items()))


def _qrels_files(folder: Path) -> tuple[Path, ...]:
    """Return all judgements of a folder, of whatever split."""
    paths = (*(folder / "qrels").glob("*"), *folder.glob("qrels*"))
    return tuple(sorted(path for path in paths if path.name.endswith((".tsv", ".tsv.gz"))))


def _stem(queries: str, files: dict[str, Path], folder: Path) -> str:
    name = Path(queries).name.removesuffix(".gz").removesuffix(".jsonl")
    for stem in (name, f"{_QUERIES}-{name}"):
        if stem in files:
            return stem
    there = ", ".join(files) or "none; they are called queries.jsonl or queries.jsonl.gz"
    raise EvalError(f"{folder} has no queries called {queries!r}; there are: {there}")


def _read_qrels(folder: Path) -> dict[str, dict[str, float]]:
    """Return query → document → grade of the test split, or of all if there is none."""
    files = _qrels_files(folder)
    if not files:
        raise EvalError(f"{folder} has no judgements; put them into qrels/test.tsv")
    qrels: dict[str, dict[str, float]] = {}
    for path in [path for path in files if path.name.startswith("test.")] or files:
        for query, document, grade in _judgements(path):
            qrels.setdefault(query, {})[document] = grade
    return qrels


def _judgements(path: Path) -> Iterator[tuple[str, str, float]]:
    for row, (number, line) in enumerate(read_lines(path)):
        fields = line.decode("utf-8", "replace").split("\t")
        if row == 0 and fields[0].strip().lower() in ("query-id", "query_id", "qid"):
            continue
        if len(fields) != 3:
            raise EvalError(f"{path}:{number}: not query-id, corpus-id and score, separated by tabs")
        yield fields[0].strip(), fields[1].strip(), _score(fields[2], f"{path}:{number}")


def _score(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= MAX_GRADE:
        raise EvalError(f"{where}: a score is a number from 0 to {MAX_GRADE}, not {text.strip()!r}")
    return value
