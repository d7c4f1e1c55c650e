"""How well "nothing relevant here" is told from an answer, written to a result file.

    python bench/abstention.py --data DIR --repos DIR [--work DIR] [--out bench/results/abstention.json]
    python bench/abstention.py --fit DIR --data DIR --repos DIR

The sets are those of quality.py. The first form asks every index its own questions and those of
bench/data/off_topic.txt and nonsense.txt that are for reporting, and counts refusals. The second prints
the weights for search/explain.py: DIR is a corpus in BEIR layout that no set knows (functions
without documentation, of packages that no encoder was trained on); of the repositories only `FIT_TREES` are
read, with the questions in bench/data/tree_questions.txt and none of the set's own.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np

from dowse import Index
from dowse.answer import Answer
from dowse.search.explain import ABSTAIN, confidence
from dowse.search.lanes.bm25 import query_terms
from dowse.search.planner import make_plan
from dowse.search.ranking.profile import CORPUS, TREE
from dowse.types import Hit

from common import write_results
from quality import Case, Set, beir_cases, file_ndcg, half, open_sets, plain

LISTS = Path(__file__).parent / "data"
# The trees that the weights have seen; the others are new to them.
FIT_TREES = ("axum", "click", "express", "gin", "gson", "monolog", "rack", "requests")
# How many questions of the corpus are asked when fitting: short ones, and whole docstrings.
FIT_SUMMARIES, FIT_DOCSTRINGS = 1200, 800
# Of all that is asked, so much is taken to have an answer: the weights are probabilities under it.
ANSWERABLE = 0.5
# So many of the first hits that are not the one wanted are good all the same.
WRONG_BUT_GOOD = 0.5
# So many of the real questions may be refused where the weights are fitted.
REFUSED = 0.02
# A tree is asked one in so many of the questions without an answer; there are sixteen trees.
TREE_SHARES = 4
# The hits that are looked at before an answer is refused: what one sees of an answer.
SHOWN = 10


@dataclass(frozen=True)
class Seen:
    """What the confidence of a hit is made of."""

    cosine: float
    covered: float


@dataclass(frozen=True)
class Asked:
    """A question, and what an index had to say."""

    kind: str  # "real", "removed" (its package was left out), or the section of a list
    terms: int
    seen: tuple[Seen, ...]  # of the first hits; none where meaning had no say
    found: bool  # whether there was a hit at all
    right: bool  # whether the first hit is one that was wanted
    first: float  # confidence of the first hit
    best: float  # and the most of those shown

    @property
    def refused(self) -> bool:
        """Whether the answer is "nothing relevant here"."""
        return not self.found or (bool(self.seen) and self.best < ABSTAIN)


def ask(index: Index, case: Case, kind: str = "real", filters: str = "", *, by_file: bool = False) -> Asked:
    """Ask one question in the default mode; what is wanted are symbols, or files."""
    text = plain(case.query)
    answer = index.search(text, k=SHOWN, filters=filters)
    terms = len(query_terms(make_plan(text).text))
    seen = tuple(_seen(index, answer)) if answer.plan and "embedding" in answer.plan.lanes else ()
    encoder = index.encoder
    assert encoder is not None
    values = [confidence(encoder.id, each.cosine, each.covered, terms) or 0.0 for each in seen]
    right = bool(answer.hits) and _is_right(answer, case, by_file)
    return Asked(kind, terms, seen, bool(answer.hits), right, (values or [0.0])[0], max(values, default=0.0))


def _is_right(answer: Answer, case: Case, by_file: bool) -> bool:
    """Whether the first hit is wanted. Entries of a corpus may have no path, and then any file would do."""
    if not by_file:
        return answer.hits[0].symbol.id in case.relevant
    first = Answer(answer.query, answer.mode, answer.hits[:1], 1, answer.generation)
    return file_ndcg(first, case) > 0


def _seen(index: Index, answer: Answer) -> Iterator[Seen]:
    """Give what the explanations of hits say; a hit that meaning did not find has the least cosine."""
    with index.backend.reader() as reader:
        worth = (CORPUS if reader.is_corpus else TREE).blend.coverage
    cosines = [_cosine(hit) for hit in answer.hits]
    least = min((cosine for cosine in cosines if cosine is not None), default=0.0)
    for hit, cosine in zip(answer.hits, cosines, strict=True):
        covered = sum(part.value for part in hit.explanation if part.source == "coverage") / worth
        yield Seen(least if cosine is None else cosine, covered)


def _cosine(hit: Hit) -> float | None:
    return next((lane.score for lane in hit.lanes if lane.lane == "embedding"), None)


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
    cases = [(section, Case(text, text, {})) for section, text in lines]
    chosen = [(section, case) for section, case in cases if half(case) == which]
    return [ask(index, case, section) for section, case in chosen[first::step]]


# Fitting


def fit(asked: Sequence[Asked]) -> dict[str, object]:
    """Return the weights that fit some questions, and what they do to these."""
    asked = [each for each in asked if each.seen]
    kinds = np.array([each.kind for each in asked])
    real = kinds == "real"
    right = np.array([each.right for each in asked], float)
    # The first hit that is not the one wanted is often as good (a variant, a copy): half of them count.
    labels = np.where(real, np.maximum(right, WRONG_BUT_GOOD), 0.0)
    weights = np.where(real, ANSWERABLE / real.mean(), (1 - ANSWERABLE) / (1 - real.mean()))
    fitted = _logistic(_features(asked), labels, weights)
    best = np.array([_probability(_features([each], at=None), fitted).max() for each in asked])
    refuse = float(np.quantile(best[real], REFUSED))
    refused = {str(kind): round(float(np.mean(best[kinds == kind] < refuse)), 3) for kind in np.unique(kinds)}
    return {
        "weights": [round(float(weight), 2) for weight in fitted],
        "abstain": round(refuse, 3),
        "refused": refused,
        "questions": len(asked),
    }


def _features(asked: Sequence[Asked], at: int | None = 0) -> np.ndarray:
    """Return a row for one hit of each question, or for all of them."""
    rows = [
        (1.0, seen.cosine, seen.covered, math.log1p(each.terms))
        for each in asked
        for seen in (each.seen if at is None else each.seen[at : at + 1])
    ]
    return np.array(rows)


def _logistic(features: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
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


def _probability(features: np.ndarray, beta: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-features @ beta))


def ask_corpus(corpus: Path, work: Path, encoder: str) -> Iterator[Asked]:
    """Ask each question twice: as it is, and with the package of its answer left out."""
    index = Index.open(corpus, index_dir=str(work / "fit-corpus"), encoder=encoder)
    index.update()
    with gzip.open(corpus / "corpus.jsonl.gz", "rt") as lines:
        package = {entry["_id"]: entry["metadata"]["repo"] for entry in map(json.loads, lines)}
    short, whole = beir_cases(corpus, "queries-summary"), beir_cases(corpus)
    for case in short[:FIT_SUMMARIES] + whole[FIT_SUMMARIES : FIT_SUMMARIES + FIT_DOCSTRINGS]:
        yield ask(index, case)
        (answer,) = case.relevant
        yield ask(index, case, "removed", f"-repo:{package[answer]}")
    yield from ask_without_answer(index, "tune")


def ask_trees(data: Path, repos: Path, work: Path, encoder: str) -> Iterator[Asked]:
    """Ask trees the questions that were written for this; their first hits count as right."""
    roots = {each["name"]: each for each in json.loads((data / "repos/repos.json").read_text())}
    lines = [line.split("\t") for _, line in listed("tree_questions.txt")]
    for number, name in enumerate(FIT_TREES):
        root = repos / name / roots[name].get("benchmark_root", "")
        index = Index.open(root, index_dir=str(work / f"repo-{name}"), encoder=encoder)
        index.update()
        for text in (text for repo, text in lines if repo == name):
            yield replace(ask(index, Case(text, text, {})), right=True)
        # Each tree gets its share, lest easy questions outnumber the others.
        yield from ask_without_answer(index, "tune", number, len(FIT_TREES))


# Reporting


def report(sets: Iterable[Set]) -> dict[str, object]:
    """Ask every set its own questions and those without an answer."""
    real: dict[str, list[Asked]] = {}
    none: dict[str, list[Asked]] = {}
    known: dict[Path, list[Asked]] = {}  # two sets may share an index
    for number, each in enumerate(sets):
        name, place = _group(each.name), each.index.backend.folder
        if place not in known:
            share = (number % TREE_SHARES, TREE_SHARES) if "repos" in name else (0, 1)
            known[place] = ask_without_answer(each.index, "report", *share)
        by_file = each.metric is file_ndcg
        real.setdefault(name, []).extend(ask(each.index, case, by_file=by_file) for case in each.cases)
        none.setdefault(name, []).extend(known[place])
        print(each.name, _refusals(real[name], none[name]), file=sys.stderr, flush=True)
    asked, unanswered = list(chain(*real.values())), list(chain(*known.values()))
    return {
        "abstain below": ABSTAIN,
        "sets": {name: _refusals(real[name], none[name]) for name in real},
        "all": _refusals(asked, unanswered),
        "reliability of the first hit": {name: reliability(found) for name, found in real.items()},
    }


def _group(name: str) -> str:
    """Return the row of the table that a set belongs to."""
    if not name.startswith("repos/"):
        return name
    return "repos, seen in fitting" if name.removeprefix("repos/") in FIT_TREES else "repos, new"


def _refusals(real: Sequence[Asked], none: Sequence[Asked]) -> dict[str, float]:
    """Return how many questions of each kind were refused, and how many refusals were deserved."""
    topics = ("life", "software")
    nonsense = [each for each in none if each.kind not in topics]
    off_topic = [each for each in none if each.kind in topics]
    refused = sum(each.refused for each in none)
    wrongly = sum(each.refused for each in real)
    return {
        "real questions": len(real),
        "refused": _share(real),
        "refused though the first hit is right": _share([each for each in real if each.right]),
        "nonsense": len(nonsense),
        "nonsense refused": _share(nonsense),
        "off topic": len(off_topic),
        "off topic refused": _share(off_topic),
        "off topic, life, refused": _share([each for each in off_topic if each.kind == "life"]),
        "off topic, software, refused": _share([each for each in off_topic if each.kind == "software"]),
        "precision of refusing": round(refused / max(1, refused + wrongly), 4),
        # The same if there were as many questions of one kind as of the other.
        "precision, balanced": _balanced_precision(real, none),
    }


def _balanced_precision(real: Sequence[Asked], none: Sequence[Asked]) -> float:
    deserved, wrong = _share(none), _share(real)
    return round(deserved / (deserved + wrong), 4) if deserved + wrong else 0.0


def _share(asked: Sequence[Asked]) -> float:
    return round(sum(each.refused for each in asked) / max(1, len(asked)), 4)


def reliability(asked: Sequence[Asked], bins: int = 5) -> list[dict[str, float]]:
    """Compare what confidence promises with how often the first hit is the one wanted."""
    table = []
    for number in range(bins):
        low, high = number / bins, (number + 1) / bins
        inside = [each for each in asked if each.seen and low <= each.first < high + (high == 1)]
        if inside:
            promised = sum(each.first for each in inside) / len(inside)
            kept = sum(each.right for each in inside) / len(inside)
            row = {"from": low, "to": high, "questions": len(inside)}
            table.append({**row, "promised": round(promised, 3), "right": round(kept, 3)})
    return table


def main() -> None:
    """Fit, or measure and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--work", type=Path, default=Path(".work/abstention"))
    parser.add_argument("--encoder", nargs="+", default=["base", "small"])
    parser.add_argument("--only", default="")
    parser.add_argument("--fit", type=Path, metavar="DIR", help="a corpus to fit weights on")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    data, repos, work = options.data, options.repos, options.work
    results: dict[str, object] = {}
    for encoder in options.encoder:
        if options.fit:
            asked = [*ask_corpus(options.fit, work, encoder), *ask_trees(data, repos, work, encoder)]
            results[encoder] = fit(asked)
        else:
            results[encoder] = report(open_sets(data, repos, work, options.only, encoder=encoder))
    if options.out:
        write_results(options.out, results)
    else:
        print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
