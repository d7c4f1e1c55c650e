"""Reports for tests: real rows of real evaluations, over tools whose answers are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dowse.eval.evaluate import evaluate
from dowse.eval.reports.aggregate import aggregate_by_mode
from dowse.eval.reports.model import Report, SetFacts, SetReport
from dowse.eval.types import Case, Dataset, Search

ABOUT = {
    "commit": "0123abcd",
    "encoder": "small",
    "settings": {"strip_docs": False, "fusion": "auto"},
    "machine": "x86_64, 2 cores",
    "command": "dowse eval --dataset cases.jsonl --compare",
    "date": "2025-01-31",
}
TIMES = {"p50_ms": 3.25, "p95_ms": 12.5, "p99_ms": 140.0}
HOSTILE = '</title><script>alert(1)</script> <img src=x onerror="x()"> | `a` *b* \x1b[31m\u202e& \'"'


def tool(ranks: Sequence[int]) -> Search:
    """Return a search that finds the answer of question i at ranks[i], 0 for never."""
    turn = iter(ranks)

    def search(query: str, k: int) -> list[str]:
        rank, right = next(turn), query.split()[0]
        found = [f"wrong/{n}.py" for n in range(k)]
        if rank:
            found.insert(rank - 1, right)
        return found[:k]

    return search


def dataset(
    name: str, count: int, *, grade: float = 1.0, half: str = "report", query: str = "is asked"
) -> Dataset:
    """Return questions about files; question i begins with its answer."""
    cases = tuple(
        Case(f"src/{i}.py {query}", files={f"src/{i}.py": grade, "src/none.py": grade}, id=f"{name}-{i:02}")
        for i in range(count)
    )
    return Dataset(name, cases, metric="ndcg@10", half=half)


def set_report(data: Dataset, rows: dict[str, Sequence[int]], against: str = "") -> SetReport:
    """Return the report of tools that find answers at given ranks."""
    results = (evaluate(tool(ranks), data, name=name) for name, ranks in rows.items())
    # Times differ between runs, and a report must not.
    results = tuple(replace(row, latency=TIMES) for row in results)
    return SetReport(SetFacts.of(data, {"files": 1234, "encoder": "small"}), results, against)


def report(*sets: SetReport) -> Report:
    """Return a report with means where there are several sets."""
    rows = [row for each in sets for row in each.results]
    return Report(ABOUT, sets, tuple(aggregate_by_mode(rows).values()) if len(sets) > 1 else ())


def small_report() -> Report:
    """Return two sets and three ways: good is clearly better than plain, odd is about as good."""
    rows = {
        "plain": [3, 0, 2, 9, 0, 4, 5, 7, 0, 2, 6, 3],
        "good": [1, 2, 1, 1, 3, 1, 1, 2, 0, 1, 1, 1],
        "odd": [3, 0, 2, 9, 0, 4, 5, 7, 0, 2, 6, 2],
    }
    one = set_report(dataset("one", 12), rows, "plain")
    two = set_report(dataset("two", 12, grade=2.0), rows, "plain")
    return report(one, two)


def hostile_report() -> Report:
    """Return a report in which every text that others write tries to break out of its place."""
    data = dataset(HOSTILE, 3, query=HOSTILE)
    each = set_report(data, {"plain": [2, 0, 3], HOSTILE: [1, 2, 0], "third": [0, 0, 0]}, "plain")
    return Report({**ABOUT, "command": HOSTILE, HOSTILE: HOSTILE}, (each, each), report(each, each).means)
