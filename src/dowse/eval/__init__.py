"""Measuring how well searches answer: any tool, any questions, the same figures (docs/EVALUATION.md).

>>> from dowse import Index                                      # doctest: +SKIP
>>> from dowse.eval import build_from_git, compare_modes         # doctest: +SKIP
>>> cases = build_from_git(".", max_cases=100)                   # doctest: +SKIP
>>> for row in compare_modes(Index.open("."), cases):            # doctest: +SKIP
...     print(row.mode, row.metrics["mrr@100"], row.intervals["mrr@100"])
"""

from __future__ import annotations

from dowse.eval.datasets import load_datasets
from dowse.eval.datasets.jsonl import read_cases, write_cases
from dowse.eval.evaluate import evaluate
from dowse.eval.gate import gate
from dowse.eval.mine import build_from_docs, build_from_git
from dowse.eval.reports.aggregate import aggregate_by_mode, mean_results
from dowse.eval.run import compare_modes
from dowse.eval.types import Case, Dataset, Result, SearchResult

__all__ = [
    "Case",
    "Dataset",
    "Result",
    "SearchResult",
    "aggregate_by_mode",
    "build_from_docs",
    "build_from_git",
    "compare_modes",
    "evaluate",
    "gate",
    "load_datasets",
    "mean_results",
    "read_cases",
    "write_cases",
]
