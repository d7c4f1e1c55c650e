"""Measuring how well searches answer: any tool, any questions, the same figures (docs/EVALUATION.md).

>>> from dowse.eval import build_from_git, evaluate               # doctest: +SKIP
>>> cases = build_from_git(".", max_cases=100)                   # doctest: +SKIP
>>> row = evaluate(lambda query, k: my_tool(query, k), cases)    # doctest: +SKIP
>>> print(row.label, row.mrr, row.recall, row.intervals["mrr@100"])  # doctest: +SKIP
"""

from __future__ import annotations

from dowse.eval.datasets import load_datasets
from dowse.eval.datasets.jsonl import read_cases, write_cases
from dowse.eval.evaluate import evaluate
from dowse.eval.gate import gate
from dowse.eval.mine import build_from_docs, build_from_git
from dowse.eval.reports.aggregate import aggregate_by_mode, mean_results
from dowse.eval.types import Case, Dataset, Result, SearchResult

__all__ = [
    "Case",
    "Dataset",
    "Result",
    "SearchResult",
    "aggregate_by_mode",
    "build_from_docs",
    "build_from_git",
    "evaluate",
    "gate",
    "load_datasets",
    "mean_results",
    "read_cases",
    "write_cases",
]
