"""Do code quality and control flow help to rank? Each feature is tried as a signal on top of a search.

    DATA=… REPOS=… CASES=… python bench/code_signals.py --out bench/results/code_signals.json

The sets are those of `manifests/` (docs/EVALUATION.md) that are about Python: functions of corpora, and trees
asked by commit subjects, by documentation and by "where is …" (few questions a repository, so all of those
are one set). The first 100 hits of every question are put into another order by

    score + weight · feature · spread

where a feature is standardised over the candidates of the tune halves, and the spread is the deviation of the
question's own scores. The weight is the one that is best on the tune halves, as the mean of all sets of its
kind (corpora, trees); the report halves judge it, by the paired test of `dowse.eval.stats`. "own weights"
chooses one for every single set in the same way: what a signal could do if it were chosen for the very
questions that are asked. "joint" puts all features into one model, fitted on the tune halves: a line through
pairs of right and wrong candidates (logistic regression), and boosted trees, which see combinations.

A signal may become a default ("passes") if it wins on the mean of the report halves, by .001 or more and
really, also when it is counted how many were tried, and loses on no set.
"""

from __future__ import annotations

import argparse
import math
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from code_features import FLOW_WORDS, features, flow_asked
from dowse.eval.clean_index import open_clean_index
from dowse.eval.datasets.build import half_of
from dowse.eval.manifest import read_manifest
from dowse.eval.matching import Target, closest_paths, parse_target
from dowse.eval.metrics import MRR_CUT
from dowse.eval.stats import SIGNIFICANT, compare_macro
from dowse.eval.types import Dataset

from common import work_folder, write_results

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.ensemble import HistGradientBoostingClassifier

    from dowse.types import Symbol

    Numbers = NDArray[np.float64]

Told: TypeAlias = dict[str, Any]

KINDS = {"corpora": ("sets",), "trees": ("git", "docs", "repos")}
# The repositories of the manifests that are written in Python, whose trees `code_features` reads.
PYTHON = frozenset(("flask", "requests", "click", "pydantic"))
BASES = ("auto", "keyword")
CANDIDATES = 100
STEPS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)
WEIGHTS = (0.0, *STEPS, *(-step for step in STEPS))
# A candidate that sticks out by more counts as so many standard deviations.
FARTHEST = 3.0
FLOW = "asked for and done: "
ANY_FLOW = "asked for and done: any of these"
# Wrong candidates that a right one is compared with when a model is fitted: the best ones matter.
RIVALS = 30
PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0)
# The score is multiplied by this while a line is fitted: what holds features back must not hold it back.
FREE = 100.0
# A gain below this is not worth a setting, however sure it is.
LEAST = 0.001
FOLDS = 4
TREES = 60


@dataclass
class Question:
    """What one question found, best first, with all that is needed to put it into another order."""

    half: str
    scores: Numbers
    targets: NDArray[np.int64]  # which answer each candidate is, −1 for none
    grades: Numbers  # of the answers, found or not
    values: Numbers  # (candidates, features)


@dataclass
class Pool:
    """The questions of one set."""

    name: str
    kind: str
    metric: str
    questions: list[Question]

    def value(self, question: Question, scores: Numbers) -> float:
        """Return the set's metric for the order of some scores; of equal ones the earlier stays before."""
        order = np.argsort(-scores, kind="stable")
        return _score(question, order, self.metric)

    def part(self, half: str) -> list[Question]:
        """Return the questions of one half."""
        return [question for question in self.questions if question.half == half]


def _score(question: Question, order: NDArray[np.int64], metric: str) -> float:
    targets = question.targets[order]
    places = np.flatnonzero(targets >= 0)
    if not places.size:
        return 0.0
    if metric.startswith("mrr"):
        return float(1 / (places[0] + 1)) if places[0] < MRR_CUT else 0.0
    cut = int(metric.partition("@")[2])
    _, first = np.unique(targets[places], return_index=True)  # a target counts where it is first met
    met = places[first]
    met = met[met < cut]
    gains = 2.0 ** question.grades[targets[met]] - 1
    ideal = np.sort(2.0**question.grades - 1)[::-1][:cut]
    return float((gains / np.log2(met + 2)).sum() / (ideal / np.log2(np.arange(ideal.size) + 2)).sum())


def gather(work: Path, base: str) -> tuple[list[str], list[Pool]]:
    """Ask every question of every set; return the names of the features, and what was found."""
    names: list[str] = []
    pools = []
    for kind, manifests in KINDS.items():
        for manifest in manifests:
            for entry in read_manifest(Path(__file__).parent / "manifests" / f"{manifest}.json"):
                for dataset in entry.datasets():
                    if kind == "trees" and dataset.name.rpartition("/")[2] not in PYTHON:
                        continue
                    label = dataset.name if kind == "corpora" else f"{manifest} {_last(dataset.name)}"
                    root = dataset.root or entry.watched_dir
                    if root is None:
                        raise SystemExit(f"{label}: the manifest does not say what to search")
                    questions = list(ask(root, dataset, work, base, names))
                    pools.append(Pool(label, kind, dataset.metric, questions))
                    print(base, label, len(questions), file=sys.stderr, flush=True)
    return names, _joined(pools)


def _joined(pools: Sequence[Pool]) -> list[Pool]:
    """Return the pools with those of `repos` as one: twenty questions each are too few to choose by."""
    few = [pool for pool in pools if pool.name.startswith("repos ")]
    together = [question for pool in few for question in pool.questions]
    others = [pool for pool in pools if pool not in few]
    return [*others, Pool("repos", "trees", few[0].metric, together)] if few else others


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def ask(root: Path, dataset: Dataset, work: Path, base: str, names: list[str]) -> Iterator[Question]:
    """Ask the questions of a set; the first candidate of all says what the features are called."""
    place = f"{_last(dataset.name) if root.name in PYTHON else root.name}-{dataset.strip_docs}"
    settings = {"encoder": "base"}
    index = open_clean_index(
        root, [dataset], settings=settings, index_dir=str(work / place), strip_docs=dataset.strip_docs
    )
    with index:
        index.update()
        index.embed()
        known: dict[str, tuple[dict[str, float], dict[str, float]]] = {}
        for case in dataset.scored_cases:
            hits = index.search(case.query, k=CANDIDATES, mode=base, plain=True).hits
            for symbol in (hit.symbol for hit in hits if hit.symbol.id not in known):
                known[symbol.id] = features(symbol)
            asked = flow_asked(case.query)
            rows = [_row(*known[hit.symbol.id], asked) for hit in hits]
            if rows and not names:
                names.extend(rows[0])
            values = [[row.get(name, math.nan) for name in names] for row in rows]
            judged = {key: grade for key, grade in case.qrels(dataset.level).items() if grade > 0}
            yield Question(
                half_of(case.id),
                np.array([hit.score for hit in hits], dtype=np.float64),
                targets_of([hit.symbol for hit in hits], list(judged), dataset.level),
                np.array(list(judged.values()), dtype=np.float64),
                np.array(values, dtype=np.float64).reshape(len(rows), len(names)),
            )


def _row(own: Mapping[str, float], flow: Mapping[str, float], asked: frozenset[str]) -> dict[str, float]:
    """Return all features of a candidate; those of control flow are silent unless they are asked for."""
    matched = {FLOW + kind: flow[kind] if kind in asked else math.nan for kind in FLOW_WORDS}
    said = [value for value in matched.values() if not math.isnan(value)]
    return {**own, **matched, ANY_FLOW: sum(said) / len(said) if said else math.nan}


def targets_of(symbols: Sequence[Symbol], wanted: Sequence[str], level: str) -> NDArray[np.int64]:
    """Return which answer each symbol is, −1 for none."""
    found = np.full(len(symbols), -1, dtype=np.int64)
    paths = {symbol.path for symbol in symbols}
    for number, target in enumerate(wanted):
        read = parse_target(target, level)
        meant = closest_paths(read.path, paths) if read.path else set()
        for place, symbol in enumerate(symbols):
            if symbol.id == target or (symbol.path in meant and _same(symbol, read, level)):
                found[place] = number
    return found


def _same(symbol: Symbol, target: Target, level: str) -> bool:
    """Whether a symbol of the right file is what is meant."""
    if level == "symbol":
        return symbol.qualified_name == target.name
    return not target.start or (symbol.start_line <= target.end and symbol.end_line >= target.start)


def standardise(pools: Sequence[Pool]) -> None:
    """Bring every feature to mean 0 and deviation 1 over the candidates of the tune halves; silence is 0."""
    every = np.concatenate([question.values for pool in pools for question in pool.part("tune")])
    said = ~np.isnan(every)
    counts = np.maximum(said.sum(axis=0), 1)
    means = np.where(said, every, 0).sum(axis=0) / counts
    deviations = np.sqrt((np.where(said, every - means, 0) ** 2).sum(axis=0) / counts)
    scale = np.where(deviations > 0, deviations, 1)
    for pool in pools:
        for question in pool.questions:
            shifted = np.nan_to_num((question.values - means) / scale)
            question.values = np.clip(shifted, -FARTHEST, FARTHEST)


Order = Callable[[Question], "Numbers"]  # the scores that a question's candidates are ranked by


def values_of(pool: Pool, half: str, order: Order) -> Numbers:
    """Return the metric of every question of a half."""
    return np.array([pool.value(question, order(question)) for question in pool.part(half)])


def as_found(question: Question) -> Numbers:
    """Rank as the search did."""
    return question.scores


def with_signal(column: int, weight: float) -> Order:
    """Rank by score and one feature."""

    def order(question: Question) -> Numbers:
        if not question.scores.size:
            return question.scores
        return question.scores + weight * question.values[:, column] * question.scores.std()

    return order


def try_feature(pools: Sequence[Pool], column: int) -> tuple[Order, dict[str, Order], Told]:
    """Choose a weight for all sets and one for each on the tune halves."""
    tuned = {
        weight: [float(values_of(pool, "tune", with_signal(column, weight)).mean()) for pool in pools]
        for weight in WEIGHTS
    }
    # Of equal weights the smallest: WEIGHTS begins with 0 and goes up.
    shared = max(WEIGHTS, key=lambda weight: round(sum(tuned[weight]), 9))
    own = {
        pool.name: max(WEIGHTS, key=lambda weight: round(tuned[weight][number], 9))
        for number, pool in enumerate(pools)
    }
    gain = (sum(tuned[shared]) - sum(tuned[0.0])) / len(pools)
    orders = {name: with_signal(column, weight) for name, weight in own.items()}
    return with_signal(column, shared), orders, {"weight": shared, "tune gain": round(gain, 4), "own": own}


def judge(pools: Sequence[Pool], orders: Mapping[str, Order]) -> Told:
    """Compare new orders with that of the search, on the report halves."""
    before = [values_of(pool, "report", as_found) for pool in pools]
    after = [values_of(pool, "report", orders[pool.name]) for pool in pools]
    sets = {}
    for pool, old, new in zip(pools, before, after, strict=True):
        told = compare_macro([new.tolist()], [old.tolist()])
        sets[pool.name] = {"gain": round(told.mean, 4), "p": round(told.p, 4), "real": told.real}
    mean = compare_macro([each.tolist() for each in after], [each.tolist() for each in before])
    losers = [name for name, told in sets.items() if told["gain"] < 0]
    return {
        "gain": round(mean.mean, 4),
        "interval": [round(mean.low, 4), round(mean.high, 4)],
        "p": round(mean.p, 4),
        "real": mean.real,
        "loses on": losers,
        "really loses on": [name for name in losers if sets[name]["real"]],
        "passes": mean.real and mean.mean >= LEAST and not losers,
        "sets": sets,
    }


def measure(names: Sequence[str], pools: Sequence[Pool]) -> Told:
    """Try every feature alone, and all together, on the sets of one kind."""
    standardise(pools)
    rows: dict[str, Told] = {}
    for column, name in enumerate(names):
        shared, own, told = try_feature(pools, column)
        moved = sum(bool(question.values[:, column].any()) for pool in pools for question in pool.questions)
        rows[name] = {
            "questions": moved,
            **told,
            "report": judge(pools, dict.fromkeys(own, shared)),
            "own weights": _shortly(judge(pools, own)),
        }
        print(name, told["weight"], rows[name]["report"]["gain"], file=sys.stderr, flush=True)
    _correct(rows)
    told = {
        pool.name: {
            "questions": len(pool.questions),
            "metric": pool.metric,
            **{half: round(float(values_of(pool, half, as_found).mean()), 4) for half in ("tune", "report")},
        }
        for pool in pools
    }
    return {"sets": told, "features": rows, "joint": joint(names, pools)}


def _shortly(told: Told) -> Told:
    """Leave out the single sets."""
    return {key: value for key, value in told.items() if key != "sets"}


def _correct(rows: Mapping[str, Told]) -> None:
    """Add p after Holm 1979: of forty features that do nothing, two look real at .05. It decides."""
    reports = sorted((row["report"] for row in rows.values()), key=lambda told: told["p"])
    highest = 0.0
    for place, told in enumerate(reports):
        highest = max(highest, min(1.0, told["p"] * (len(reports) - place)))
        told["p, corrected"] = round(highest, 4)
        told["passes"] = told["passes"] and highest < SIGNIFICANT


def joint(names: Sequence[str], pools: Sequence[Pool]) -> Told:
    """Fit models of all features at once on the tune halves."""
    line, penalty = chosen_line(pools)
    own = {pool.name: linear(chosen_line([pool])[0]) for pool in pools}
    share = {name: round(float(value / line[0]), 3) for name, value in zip(names, line[1:], strict=True)}
    mixed, weight = boosted(pools)
    return {
        "line": {
            "penalty": penalty,
            # what one deviation of a feature weighs, where one deviation of the score weighs 1
            "weights": dict(sorted(share.items(), key=lambda item: -abs(item[1]))),
            "report": judge(pools, dict.fromkeys(own, linear(line))),
            "own weights": judge(pools, own),
        },
        "boosted trees": {"weight": weight, "report": judge(pools, dict.fromkeys(own, mixed))},
    }


def chosen_line(pools: Sequence[Pool]) -> tuple[Numbers, float]:
    """Fit a line on the tune halves with the penalty that is best on folds of them that were not fitted."""
    penalty = max(PENALTIES, key=lambda value: round(_held_out(pools, value), 9))
    return fit_line(pools, penalty, lambda question: question.half == "tune"), penalty


def columns(question: Question) -> Numbers:
    """Return what a model sees of candidates: how far above the others each score is, and the features."""
    scores = question.scores
    return np.column_stack([(scores - scores.mean()) / (scores.std() or 1.0), question.values])


def linear(line: Numbers) -> Order:
    """Rank by a weighted sum."""
    return lambda question: columns(question) @ line if question.scores.size else question.scores


def fit_line(pools: Sequence[Pool], penalty: float, wanted: Callable[[Question], bool]) -> Numbers:
    """Fit weights so that right candidates come before wrong ones: logistic regression over differences."""
    from sklearn.linear_model import LogisticRegression

    differences, weights = [], []
    for pool in pools:
        found = [_pairs(question) for question in pool.questions if wanted(question)]
        found = [each for each in found if len(each)]
        for each in found:
            differences.append(each)
            weights.append(np.full(len(each), 1 / len(each) / len(found)))
    rows, counts = np.concatenate(differences), np.concatenate(weights)
    rows[:, 0] *= FREE
    counts *= len(differences) / counts.sum()
    # Each pair in both directions: the line must go through 0, and there are two classes to tell apart.
    model = LogisticRegression(C=penalty, fit_intercept=False, solver="newton-cholesky")
    both = np.concatenate([np.ones(len(rows)), np.zeros(len(rows))])
    model.fit(np.concatenate([rows, -rows]), both, sample_weight=np.concatenate([counts, counts]))
    line: Numbers = model.coef_[0]
    line[0] *= FREE
    return line


def _pairs(question: Question) -> Numbers:
    """Return right minus wrong, for the first wrong candidates."""
    if not question.scores.size:
        return np.empty((0, 0))
    seen, right = columns(question), question.targets >= 0
    wrong = seen[~right][:RIVALS]
    return (seen[right][:, None, :] - wrong[None, :, :]).reshape(-1, seen.shape[1])


def _held_out(pools: Sequence[Pool], penalty: float) -> float:
    """Return how good a penalty is on folds of the tune halves that were not fitted."""
    total = 0.0
    for fold in range(FOLDS):
        kept, tested = _fold(pools, fold)
        line = fit_line(pools, penalty, lambda question, kept=kept: id(question) in kept)
        for pool in pools:
            values = [pool.value(q, linear(line)(q)) for q in pool.questions if id(q) in tested]
            total += float(np.mean(values))
    return total


def _fold(pools: Sequence[Pool], fold: int) -> tuple[frozenset[int], frozenset[int]]:
    """Return the questions of the tune halves outside of a fold, and those inside."""
    parts = [pool.part("tune") for pool in pools]
    inside = frozenset(id(q) for part in parts for n, q in enumerate(part) if n % FOLDS == fold)
    return frozenset(id(q) for part in parts for q in part) - inside, inside


def boosted(pools: Sequence[Pool]) -> tuple[Order, float]:
    """Fit boosted trees, and choose on folds that were not fitted how much they may add to the scores."""
    outside: dict[int, Numbers] = {}
    for fold in range(FOLDS):
        kept, tested = _fold(pools, fold)
        model = _fit_trees(pools, kept)
        for pool in pools:
            for question in pool.questions:
                if id(question) in tested:
                    outside[id(question)] = _told(model, question)
    tuned = {}
    for weight in (0.0, *STEPS):
        means = []
        for pool in pools:
            order = _mixed(lambda question: outside[id(question)], weight)
            means.append(float(values_of(pool, "tune", order).mean()))
        tuned[weight] = sum(means)
    weight = max(tuned, key=lambda each: round(tuned[each], 9))
    whole = _fit_trees(pools, frozenset(id(q) for pool in pools for q in pool.part("tune")))
    return _mixed(lambda question: _told(whole, question), weight), weight


def _fit_trees(pools: Sequence[Pool], kept: frozenset[int]) -> HistGradientBoostingClassifier:
    from sklearn.ensemble import HistGradientBoostingClassifier

    rows, labels, weights = [], [], []
    for pool in pools:
        chosen = [q for q in pool.questions if id(q) in kept and q.scores.size and (q.targets >= 0).any()]
        for question in chosen:
            right = question.targets >= 0
            rows.append(columns(question))
            labels.append(right)
            share = np.where(right, 0.5 / right.sum(), 0.5 / max(1, (~right).sum()))
            weights.append(share / len(chosen))
    model = HistGradientBoostingClassifier(
        max_iter=TREES, max_leaf_nodes=15, learning_rate=0.1, min_samples_leaf=50, random_state=0
    )
    model.fit(np.concatenate(rows), np.concatenate(labels), sample_weight=np.concatenate(weights) * 1000)
    return model


def _told(model: HistGradientBoostingClassifier, question: Question) -> Numbers:
    """Return the logit of every candidate."""
    if not question.scores.size:
        return question.scores
    found: Numbers = model.decision_function(columns(question))
    return found


def _mixed(told: Order, weight: float) -> Order:
    """Rank by scores, with something added in units of their spread."""

    def order(question: Question) -> Numbers:
        if not question.scores.size:
            return question.scores
        return question.scores + weight * told(question) * question.scores.std()

    return order


def main() -> None:
    """Ask, try, judge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, help="where indexes stay")
    parser.add_argument("--found", type=Path, help="keep what was found here, and take it from here")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    results: Told = {}
    for base in BASES:
        names, pools = _found(options, base)
        results[base] = {
            kind: measure(names, [pool for pool in pools if pool.kind == kind]) for kind in KINDS
        }
    if options.out:
        write_results(options.out, {"candidates": CANDIDATES, "weights": sorted(WEIGHTS), **results})


def _found(options: argparse.Namespace, base: str) -> tuple[list[str], list[Pool]]:
    """Return what was found earlier, or ask."""
    kept = options.found / f"{base}.pickle" if options.found else None
    if kept and kept.exists():
        known: tuple[list[str], list[Pool]] = pickle.loads(kept.read_bytes())
        return known[0], _joined(known[1])
    with work_folder(options.work) as work:
        found = gather(work, base)
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(pickle.dumps(found))
    return found


if __name__ == "__main__":
    main()
