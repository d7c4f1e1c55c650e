"""Fit the confidence of hits, and measure it: is it right on average, and is nonsense refused?

    python bench/confidence.py fit bench/data/questions/tune.jsonl --checkouts DIR --corpus DIR --work DIR
    python bench/confidence.py report --data DIR --repos DIR --work DIR [--out FILE]

`fit` prints the weights for search/confidence.py. Trees are the repositories of the questions, which no set
knows; the corpus is in BEIR layout: functions without documentation, of packages that no encoder was trained
on. A fifth of all that is fitted are questions without an answer: the halves for tuning of off_topic.txt and
nonsense.txt. The sets of `report` are those of quality.py; it asks each index its own questions, and the
halves for reporting of the lists.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dowse import Index
from dowse.answer import Answer
from dowse.search import confidence
from dowse.search.confidence import CONFIDENCE_WEIGHTS, Answerable, Evidence, best_of
from questions import calibration_error, is_right, read_questions

from common import write_results
from quality import Case, Set, beir_cases, file_ndcg, half, open_sets, plain

LISTS = Path(__file__).parent / "data"
# The hits of an answer that are fitted: what one sees of it.
SHOWN = 10
# Questions of the corpus: short ones, and whole docstrings.
CORPUS_QUESTIONS = 500
# Share of the questions without an answer among all that are fitted.
UNANSWERABLE = 0.2
# A tree is asked one in so many of the questions without an answer.
TREE_SHARES = 4


class Asked(NamedTuple):
    """A question, and what an index had to say."""

    kind: str  # "real", or the section of a list of questions without an answer
    evidence: list[Evidence]  # of the first hits
    right: list[bool]  # whether each is right
    confidences: list[float | None]
    refused: bool  # "nothing relevant here", or no hit


@contextmanager
def recorded() -> Iterator[list[Evidence]]:
    """Keep what is known of the hits of the last answer."""
    original, last = confidence.evidence_of, list[Evidence]()

    def record(*arguments: object) -> dict[int, Evidence]:
        found = original(*arguments)  # type: ignore[arg-type]
        last[:] = found.values()
        return found

    confidence.evidence_of = record  # type: ignore[assignment]
    try:
        yield last
    finally:
        confidence.evidence_of = original


def ask(
    index: Index, text: str, kind: str = "real", case: Case | None = None, *, by_file: bool = False
) -> Asked:
    """Ask one question of a set."""
    with recorded() as evidence:
        answer = index.search(plain(text), k=SHOWN)
    right = [bool(case) and _is_wanted(answer, place, case, by_file) for place in range(len(answer.hits))]
    return _asked(kind, answer, evidence, right)


def _asked(kind: str, answer: Answer, evidence: list[Evidence], right: list[bool]) -> Asked:
    is_refused = not answer.hits or any(note.code == "nothing-relevant" for note in answer.notes)
    known = evidence[: len(answer.hits)] if len(evidence) >= len(answer.hits) else []
    return Asked(kind, known, right, [hit.confidence for hit in answer.hits], is_refused)


def _is_wanted(answer: Answer, place: int, case: Case | None, by_file: bool) -> bool:
    assert case is not None
    if not by_file:
        return answer.hits[place].symbol.id in case.relevant
    one = Answer(answer.query, answer.mode, answer.hits[place : place + 1], 1, answer.generation)
    return file_ndcg(one, case) > 0


def listed(name: str) -> list[tuple[str, str]]:
    """Read a list of questions, each with the section that it stands in."""
    found, section = [], ""
    for line in (LISTS / name).read_text().splitlines():
        if line.startswith("#"):
            section = line.lstrip("# ")
        elif line:
            found.append((section, line))
    return found


def ask_without_answer(index: Index, which: str, first: int = 0, step: int = 1) -> list[Asked]:
    """Ask what nothing answers: the half of the lists for tuning or for reporting, or a share of it."""
    lines = [*listed("off_topic.txt"), *listed("nonsense.txt")]
    chosen = [(section, text) for section, text in lines if half(Case(text, text, {})) == which]
    return [ask(index, text, section) for section, text in chosen[first::step]]


# Fitting


def ask_trees(options: argparse.Namespace) -> list[Asked]:
    """Ask the repositories their questions, and each some that have no answer."""
    asked = []
    for number, (name, questions) in enumerate(read_questions(options.questions).items()):
        place = str(options.work / name)
        with Index.open(options.checkouts / name, index_dir=place, encoder=options.encoder) as index:
            index.update()
            for question in questions:
                with recorded() as evidence:
                    answer = index.search(question["question"], k=SHOWN)
                asked.append(_asked("real", answer, evidence, is_right(answer, question)))
            asked += ask_without_answer(index, "tune", number % 8, 8)
        print(name, file=sys.stderr, flush=True)
    return asked


def ask_corpus(options: argparse.Namespace) -> list[Asked]:
    """Ask for functions by the summary of their documentation, and by all of it."""
    index = Index.open(options.corpus, index_dir=str(options.work / "corpus"), encoder=options.encoder)
    index.update()
    cases = beir_cases(options.corpus, "queries-summary")[:CORPUS_QUESTIONS]
    cases += beir_cases(options.corpus)[CORPUS_QUESTIONS : 2 * CORPUS_QUESTIONS]
    return [*(ask(index, case.query, case=case) for case in cases), *ask_without_answer(index, "tune")]


def fit(options: argparse.Namespace) -> dict[str, object]:
    """Return the weights for trees and for corpora."""
    from dowse.encoders.registry import load_encoder

    encoder = load_encoder(options.encoder).id
    nothing = (Answerable(*(0.0,) * 3), Evidence(*(0.0,) * len(Evidence._fields)))
    CONFIDENCE_WEIGHTS.setdefault(encoder, (nothing, nothing))  # what is known is asked for
    return {encoder: {"trees": fitted(ask_trees(options)), "corpora": fitted(ask_corpus(options))}}


def fitted(asked: Sequence[Asked]) -> dict[str, object]:
    """Return the weights that fit some questions, and what they make of them."""
    known = [each for each in asked if each.evidence]
    real = np.array([each.kind == "real" for each in known])
    shares = np.where(real, (1 - UNANSWERABLE) / real.mean(), UNANSWERABLE / (1 - real.mean()))
    questions = np.array([best_of(each.evidence) for each in known])
    of_question = _logistic(questions, real.astype(float), shares)
    hits = np.array([each for asked in known if asked.kind == "real" for each in asked.evidence])
    right = np.array([right for each in known if each.kind == "real" for right in each.right], float)
    of_hit = _logistic(hits, right, np.ones(len(right)))
    answerable = _probability(questions, of_question)
    first = answerable * _probability(np.array([each.evidence[0] for each in known]), of_hit)
    is_right_first = np.array([each.right[0] for each in known])
    pairs = [(float(p), bool(r)) for p, r in zip(first[real], is_right_first[real], strict=True)]
    refused = answerable < confidence.ABSTAIN
    return {
        "answerable": [round(float(weight), 2) for weight in of_question],
        "evidence": [round(float(weight), 2) for weight in of_hit],
        "questions": len(known),
        "calibration error of the first hit": round(calibration_error(pairs), 3),
        "refused, no answer": round(float(np.mean(refused[~real])), 3),
        "refused, first hit right": round(float(np.mean(refused[real & is_right_first])), 3),
        "refused, first hit wrong": round(float(np.mean(refused[real & ~is_right_first])), 3),
    }


def _logistic(
    features: NDArray[np.float64], labels: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Fit a logistic regression by Newton's method, held slightly towards zero."""
    beta = np.zeros(features.shape[1])
    for _ in range(50):
        p = _probability(features, beta)
        gradient = features.T @ (weights * (labels - p)) - beta * 0.1
        curvature = (features * (weights * p * (1 - p))[:, None]).T @ features + 0.1 * np.eye(len(beta))
        step = np.linalg.solve(curvature, gradient)
        beta = beta + step
        if np.abs(step).max() < 1e-8:
            break
    return beta


def _probability(features: NDArray[np.float64], beta: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-features @ beta)))


# Reporting


def report(sets: Iterable[Set]) -> dict[str, object]:
    """Ask every set its own questions and those without an answer."""
    real: dict[str, list[Asked]] = {}
    none: dict[str, list[Asked]] = {}
    known: dict[Path, list[Asked]] = {}  # two sets may share an index
    for number, each in enumerate(sets):
        each.index.vectors.embed()
        name, place = each.name.partition("/")[0], each.index.backend.folder
        if place not in known:
            share = (number % TREE_SHARES, TREE_SHARES) if name == "repos" else (0, 1)
            known[place] = ask_without_answer(each.index, "report", *share)
        by_file = each.metric is file_ndcg
        real.setdefault(name, []).extend(
            ask(each.index, case.query, case=case, by_file=by_file) for case in each.cases
        )
        none.setdefault(name, []).extend(known[place])
        print(each.name, _figures(real[name], none[name]), file=sys.stderr, flush=True)
    return {
        "abstain below": confidence.ABSTAIN,
        "sets": {name: _figures(real[name], none[name]) for name in real},
        "all": _figures([*chain(*real.values())], [*chain(*known.values())]),
    }


def _figures(real: Sequence[Asked], none: Sequence[Asked]) -> dict[str, float]:
    """Return how right the confidence of first hits is, and how many questions of each kind are refused."""
    first = [
        (each.confidences[0], each.right[0])
        for each in real
        if each.confidences and each.confidences[0] is not None
    ]
    off_topic = [each for each in none if each.kind in ("life", "software")]
    return {
        "real questions": len(real),
        "calibration error of the first hit": round(calibration_error(first), 3),
        "refused": _share(real),
        "refused though the first hit is right": _share([e for e in real if e.right and e.right[0]]),
        "nonsense refused": _share([each for each in none if each not in off_topic]),
        "off topic refused": _share(off_topic),
    }


def _share(asked: Sequence[Asked]) -> float:
    return round(sum(each.refused for each in asked) / max(1, len(asked)), 4)


def main() -> None:
    """Fit, or measure and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    fitting, reporting = commands.add_parser("fit"), commands.add_parser("report")
    fitting.add_argument("questions", type=Path)
    fitting.add_argument("--checkouts", type=Path, required=True)
    fitting.add_argument("--corpus", type=Path, required=True)
    reporting.add_argument("--data", type=Path, required=True)
    reporting.add_argument("--repos", type=Path, required=True)
    reporting.add_argument("--only", default="")
    for command in (fitting, reporting):
        command.add_argument("--work", type=Path, default=Path(".work/confidence"))
        command.add_argument("--encoder", default="base")
        command.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.command == "fit":
        results = fit(options)
    else:
        settings = {"encoder": options.encoder}
        results = report(open_sets(options.data, options.repos, options.work, options.only, **settings))
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


if __name__ == "__main__":
    main()
