"""The public sets and their metrics, for benchmarks that ask them one by one.

A folder of data has csn-python, cosqa, csn-challenge-python (BEIR layout) and repos (cases/*.jsonl and
repos.json); another has a checkout of each of its repositories, by name, at the commit that repos.json pins.
A hash of query ids splits every set into a half for choosing ("tune") and one for reporting ("report").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import dowse.eval.datasets.beir as beir
import dowse.eval.datasets.repos as suites
import dowse.eval.types as evaluation
from dowse import Index
from dowse.answer import Answer
from dowse.eval import metrics
from dowse.eval.datasets.build import half_of
from dowse.eval.matching import ranked_keys, to_search_result
from dowse.query.lexer import OPERATORS
from dowse.query.parser import plain_words


@dataclass(frozen=True)
class Case:
    """One query and what answers it."""

    id: str
    query: str
    relevant: dict[str, float]  # symbol id, or file, to grade


def half(case: Case) -> str:
    """Return which half of its set a case belongs to."""
    return half_of(case.id)


def beir_cases(folder: Path, queries: str = "queries") -> list[Case]:
    """Read the queries and judgements of a BEIR folder."""
    return [_wanted(case, "symbol") for case in beir.beir_cases(folder, queries)]


def repo_cases(folder: Path, name: str) -> list[Case]:
    """Read the questions about one repository."""
    return [_wanted(case, "file") for case in suites.repo_cases(folder, name)]


def _wanted(case: evaluation.Case, level: str) -> Case:
    """Return a case with what is relevant; what was judged and is not counts for nothing here."""
    relevant = {target: grade for target, grade in case.qrels(level).items() if grade > 0}
    return Case(case.id, case.query, relevant)


def plain(query: str) -> str:
    """Return a query with the characters of the query language taken out: these sets are prose."""
    return " ".join(word for word in plain_words(query) if word not in OPERATORS)


def reciprocal_rank(answer: Answer, case: Case) -> float:
    """Return 1/rank of the first relevant symbol."""
    return metrics.reciprocal_rank(_keys(answer, case, "symbol"), case.relevant)


def graded_ndcg(answer: Answer, case: Case) -> float:
    """Return nDCG@10 with gain 2^grade − 1."""
    return metrics.ndcg(_keys(answer, case, "symbol"), case.relevant, 10)


def file_ndcg(answer: Answer, case: Case) -> float:
    """Return binary NDCG@10 over files: each counts at the rank of its first result."""
    return metrics.ndcg(_keys(answer, case, "file"), case.relevant, 10)


def _keys(answer: Answer, case: Case, level: str) -> list[str]:
    return ranked_keys(map(to_search_result, answer.hits), case.relevant, level, "results")


@dataclass(frozen=True)
class Set:
    """An index, its cases and the metric that counts."""

    name: str
    index: Index
    cases: list[Case]
    metric: Callable[[Answer, Case], float]
    k: int


def open_sets(
    data: Path, repos: Path | None, work: Path, only: str = "", **settings: object
) -> Iterator[Set]:
    """Index everything that is asked for and give the sets one by one."""
    csn, cosqa, challenge = data / "csn-python", data / "cosqa", data / "csn-challenge-python"
    specs = (
        ("csn-python docstring", csn, "queries", True, reciprocal_rank, 100),
        ("csn-python summary", csn, "queries-summary", True, reciprocal_rank, 100),
        ("cosqa kept", cosqa, "queries", False, reciprocal_rank, 100),
        ("cosqa stripped", cosqa, "queries", True, reciprocal_rank, 100),
        ("csn-challenge-python", challenge, "queries", False, graded_ndcg, 10),
        ("csn-challenge-python stripped", challenge, "queries", True, graded_ndcg, 10),
    )
    for name, folder, queries, strip, metric, k in specs:
        if only and only not in name:
            continue
        place = str(work / f"{folder.name}-{strip}")
        index = Index.open(folder, index_dir=place, strip_docs=strip, **settings)
        index.update()
        yield Set(name, index, beir_cases(folder, queries), metric, k)
    if repos is None or (only and "repos" not in only):
        return
    for repo in suites.read_list(data / "repos"):
        root = repos / repo["name"] / repo.get("benchmark_root", "")
        index = Index.open(root, index_dir=str(work / f"repo-{repo['name']}"), **settings)
        index.update()
        yield Set(f"repos/{repo['name']}", index, repo_cases(data / "repos", repo["name"]), file_ndcg, 10)
