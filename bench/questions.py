"""Questions of a new user of a repository, with answers that were written before anything was asked.

    python bench/questions.py bench/data/questions/dev.jsonl --checkouts DIR [--work DIR] [--out FILE]

A line has the repository, its commit, the kind of question, and the places that answer it. DIR has a checkout
of each repository by its name, at that commit. A hit is right if its lines overlap a place. `dev.jsonl` is
for choosing and may be looked at; `held.jsonl` has other repositories and languages, and is asked once, at
the end: whoever looks at its failures replaces it.

Reported: by kind, the number of right first hits, of right ones among five, and MRR; whether the confidence
of first hits is right on average (expected calibration error, ten bins); answers in which a hit has a higher
confidence than one above it; and "nothing relevant" above a right first hit, or missing where none of ten is
right.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple, get_args

from dowse import Index
from dowse.answer import Answer
from dowse.config import Mode
from dowse.types import Symbol

from common import work_folder, write_results

K, BINS = 10, 10


class Asked(NamedTuple):
    """A question that was asked."""

    kind: str
    right: list[bool]  # of the hits
    confidences: list[float | None]
    refused: bool  # "nothing relevant here"

    def found(self, k: int) -> bool:
        """Whether one of the first k hits is right."""
        return any(self.right[:k])

    @property
    def reciprocal_rank(self) -> float:
        """1 / the rank of the first right hit, 0 if none is."""
        return 1 / (1 + self.right.index(True)) if self.found(K) else 0.0


def ask(
    questions: Sequence[dict[str, Any]], root: Path, index_dir: Path, encoder: str, mode: Mode = "auto"
) -> list[Asked]:
    """Ask the questions about one repository."""
    options = {"encoder": encoder, "index_dir": str(index_dir), "isolation": "never", "feedback": False}
    with Index.open(root, **options) as index:
        index.update()
        asked = []
        for question in questions:
            answer = index.search(question["question"], k=K, mode=mode)
            right = is_right(answer, question)
            refused = any(note.code == "nothing-relevant" for note in answer.notes)
            asked.append(Asked(question["kind"], right, [hit.confidence for hit in answer], refused))
        return asked


def read_questions(file: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the questions of a file by the name of their repository."""
    by_repository: dict[str, list[dict[str, Any]]] = {}
    for line in file.read_text("utf-8").splitlines():
        question = json.loads(line)
        by_repository.setdefault(question["repo"].rpartition("/")[2], []).append(question)
    return by_repository


def is_right(answer: Answer, question: dict[str, Any]) -> list[bool]:
    """Return for each hit whether it is one of the places that answer."""
    return [any(_overlaps(hit.symbol, place) for place in question["answers"]) for hit in answer]


def _overlaps(symbol: Symbol, place: dict[str, Any]) -> bool:
    is_same_file = symbol.path == place["path"]
    return bool(is_same_file and symbol.start_line <= place["end"] and place["start"] <= symbol.end_line)


def summary(asked: Sequence[Asked]) -> dict[str, object]:
    """Return the figures of all questions."""
    kinds = {"all": list(asked)}
    for each in asked:
        kinds.setdefault(each.kind, []).append(each)
    known = [each for each in asked if each.confidences and each.confidences[0] is not None]
    right = [each for each in asked if each.found(1)]
    misses = [each for each in asked if not each.found(K)]
    return {
        "questions": {
            kind: {
                "asked": len(group),
                "first": sum(each.found(1) for each in group),
                "in five": sum(each.found(5) for each in group),
                "mrr": round(fmean(each.reciprocal_rank for each in group), 3),
            }
            for kind, group in kinds.items()
        },
        "first hits with a confidence": len(known),
        "calibration error": round(calibration_error([(e.confidences[0], e.right[0]) for e in known]), 3),
        "answers with a higher confidence below": sum(map(_is_unordered, asked)),
        "nothing relevant above a right first hit": f"{sum(e.refused for e in right)} of {len(right)}",
        "nothing relevant missing": f"{sum(not e.refused for e in misses)} of {len(misses)}",
    }


def calibration_error(first: Iterable[tuple[float | None, bool]]) -> float:
    """Return the mean difference of confidence and share of right first hits, by bins."""
    bins: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for confidence, right in first:
        bins[min(BINS - 1, int((confidence or 0.0) * BINS))].append((confidence or 0.0, right))
    total = sum(map(len, bins.values()))
    sums = (
        abs(sum(value for value, _ in pairs) - sum(right for _, right in pairs)) for pairs in bins.values()
    )
    return sum(sums) / max(1, total)


def _is_unordered(asked: Asked) -> bool:
    known = [each for each in asked.confidences if each is not None]
    return any(above < below for above, below in pairwise(known))


def main() -> None:
    """Ask all questions of a file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("questions", type=Path)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--work", type=Path, help="folder of the indexes (default: a temporary one)")
    parser.add_argument("--encoder", default="base")
    parser.add_argument("--mode", default="auto", choices=get_args(Mode))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    asked: list[Asked] = []
    with work_folder(options.work) as work:
        for name, questions in read_questions(options.questions).items():
            asked += ask(questions, options.checkouts / name, work / name, options.encoder, options.mode)
    results = summary(asked)
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


if __name__ == "__main__":
    main()
