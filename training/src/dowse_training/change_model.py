"""Fits the model of requests for a change: `dowse/search/ranking/change_model.py`.

    python -m dowse_training.change_model rows --cases DIR --checkouts DIR --out DIR [--workers N]
    python -m dowse_training.change_model fit DIR --out change_model.json [--seed N]

`rows` takes one file of mined commits a repository, NAME.jsonl with `query` and `symbols` ("path::name"),
newest first, and its checkout NAME. The older two thirds are learnt by the query adapter, the newest are
asked. It writes what the model sees of the first candidates. `fit` trains on one half of the repositories,
prints MRR on the other, and writes the model of all.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from dowse.config import Settings
from dowse.history.commits import MinedCommit
from dowse.index import Index
from dowse.indexing.learn import commit_pairs, fit_adapter
from dowse.search.options import SearchRequest, make_options
from dowse.search.pipeline import query_features
from dowse.search.planner import make_plan
from dowse.search.ranking.change_model import DEPTH, FEATURES, features
from dowse.search.ranking.question_kinds import question_kinds
from dowse.search.ranking.signals import QueryFeatures, RankedHit
from dowse.types import Hit, SymbolRow
from dowse.vectors.adapter import AdapterFacts, AdapterFile, write_adapter

MAX_ASKED = 100
TREES, LEAVES = 80, 8
_SETTINGS: dict[str, Any] = {
    "learning_rate": 0.1,
    "max_iter": TREES,
    "max_leaf_nodes": LEAVES,
    "min_samples_leaf": 200,
    "l2_regularization": 5.0,
}


class Rows(NamedTuple):
    """Candidates of all questions."""

    values: NDArray[np.float32]  # their features
    is_relevant: NDArray[np.bool_]
    question: NDArray[np.intp]
    repository: NDArray[np.str_]


def collect(name: str, cases: Path, checkouts: Path, out: Path) -> str:
    """Write the rows of one repository."""
    lines = [json.loads(line) for line in (cases / f"{name}.jsonl").open()]
    commits = [MinedCommit("", each["query"], (), tuple(each["symbols"])) for each in lines]
    asked = commits[: min(MAX_ASKED, len(commits) // 3)]
    with Index.open(checkouts / name, encoder="base", threads=1) as index:
        index.update()
        index.embed()
        _learn(index, commits[len(asked) :])
        tables, labels, owners = [], [], []
        for number, commit in enumerate(asked):
            if question_kinds(commit.query)["change"] <= 0.5:
                continue
            hits = _without_model(index.search(commit.query, k=DEPTH).hits)
            if hits:
                tables.append(features(hits, _query_features(commit.query)))
                labels += [f"{hit.row.path}::{hit.row.qualified_name}" in commit.symbols for hit in hits]
                owners += [number] * len(hits)
    if not tables:
        return f"{name}: no question"
    np.savez_compressed(out / f"{name}.npz", values=np.concatenate(tables), labels=labels, question=owners)
    return f"{name}: {len(tables)} questions"


def _learn(index: Index, commits: list[MinedCommit]) -> None:
    with index.backend.reader() as reader:
        encoder, derived = index.encoder, reader.cache_folder
        if encoder is None or derived is None:
            return
        pairs = commit_pairs(reader, encoder, commits)
        facts, matrix = fit_adapter(reader, encoder.id, AdapterFacts(""), pairs)
    write_adapter(AdapterFile(derived, encoder.id), facts, matrix)


def _without_model(hits: tuple[Hit, ...]) -> list[RankedHit]:
    """Return the hits as they are ranked without the model."""
    ranked = []
    for hit in hits:
        parts = [each for each in hit.explanation if each.source != "model"]
        ranked.append(RankedHit(cast(SymbolRow, hit.symbol), sum(each.value for each in parts), parts))
    return sorted(ranked, key=lambda hit: -hit.score)


def _query_features(query: str) -> QueryFeatures:
    return query_features(make_plan(SearchRequest(query, make_options(Settings()))))


def read_rows(folder: Path) -> Rows:
    """Read what `collect` wrote."""
    values, labels, names = [], [], list[str]()
    questions: list[NDArray[np.intp]] = []
    for path in sorted(folder.glob("*.npz")):
        stored = np.load(path)
        values.append(stored["values"])
        labels.append(stored["labels"])
        questions.append(stored["question"] + 1_000 * len(questions))
        names += [path.stem] * len(stored["labels"])
    return Rows(np.concatenate(values), np.concatenate(labels), np.concatenate(questions), np.array(names))


def mean_reciprocal_rank(rows: Rows, scores: NDArray[np.floating[Any]]) -> float:
    """Return the mean over repositories."""
    by_repository: dict[str, list[float]] = {}
    for number in np.unique(rows.question):
        inside = np.flatnonzero(rows.question == number)
        found = np.flatnonzero(rows.is_relevant[inside][np.argsort(-scores[inside], kind="stable")])
        by_repository.setdefault(str(rows.repository[inside[0]]), []).append(
            1 / (1 + found[0]) if len(found) else 0
        )
    return float(np.mean([np.mean(each) for each in by_repository.values()]))


def select(rows: Rows, kept: NDArray[np.bool_]) -> Rows:
    """Return some of the rows."""
    return Rows(rows.values[kept], rows.is_relevant[kept], rows.question[kept], rows.repository[kept])


def train(rows: Rows, seed: int) -> Any:  # noqa: ANN401 - a classifier of scikit-learn
    """Fit the trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(**_SETTINGS, random_state=seed).fit(rows.values, rows.is_relevant)


def export(model: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the model as data: a leaf is [value], any other node [feature, threshold, left, right]."""
    trees, depth = [], 0
    for (predictor,) in model._predictors:
        depth = max(depth, int(predictor.nodes["depth"].max()))
        trees.append([_node(each) for each in predictor.nodes])
    return {"bias": round(float(model._baseline_prediction.item()), 4), "depth": depth, "trees": trees}


def _node(node: Any) -> list[Any]:  # noqa: ANN401
    if node["is_leaf"]:
        return [round(float(node["value"]), 4)]
    # A threshold is one of the values: the shortest number that is the same in 32 bits.
    threshold = float(str(np.float32(node["num_threshold"])))
    return [FEATURES[node["feature_idx"]], threshold, int(node["left"]), int(node["right"])]


def write_model(model: dict[str, Any], out: Path) -> None:
    """Write one tree a line."""
    trees = ",\n  ".join(json.dumps(tree) for tree in model["trees"])
    head = f'"bias": {model["bias"]}, "depth": {model["depth"]}'
    out.write_text(f'{{\n {head},\n "trees": [\n  {trees}\n ]\n}}\n', encoding="utf-8")


def _halves(rows: Rows) -> NDArray[np.bool_]:
    names = np.unique(rows.repository)
    first = {name: hashlib.blake2b(name.encode()).digest()[0] % 2 == 0 for name in names}
    return np.array([first[name] for name in rows.repository])


def _fit(options: argparse.Namespace) -> None:
    rows = read_rows(options.rows)
    half = _halves(rows)
    order = -rows.values[:, FEATURES.index("rank")]
    for kept in (half, ~half):
        model, others = train(select(rows, kept), options.seed), select(rows, ~kept)
        before = mean_reciprocal_rank(others, order[~kept])
        after = mean_reciprocal_rank(others, model.decision_function(others.values))
        print(f"{before:.4f} → {after:.4f} on the other half of the repositories")  # noqa: T201
    write_model(export(train(rows, options.seed)), options.out)


def _collect(options: argparse.Namespace) -> None:
    options.out.mkdir(parents=True, exist_ok=True)
    names = [path.stem for path in _cases(options) if (options.checkouts / path.stem).is_dir()]
    with ProcessPoolExecutor(options.workers) as pool:
        jobs = [pool.submit(collect, name, options.cases, options.checkouts, options.out) for name in names]
        for job in jobs:
            print(job.result(), flush=True)  # noqa: T201


def _cases(options: argparse.Namespace) -> Iterator[Path]:
    yield from sorted(options.cases.glob("*.jsonl"))


def main() -> None:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    commands = parser.add_subparsers(required=True)
    collecting = commands.add_parser("rows")
    collecting.add_argument("--cases", type=Path, required=True)
    collecting.add_argument("--checkouts", type=Path, required=True)
    collecting.add_argument("--out", type=Path, required=True)
    collecting.add_argument("--workers", type=int, default=2)
    collecting.set_defaults(run=_collect)
    fitting = commands.add_parser("fit")
    fitting.add_argument("rows", type=Path)
    fitting.add_argument("--out", type=Path, required=True)
    fitting.add_argument("--seed", type=int, default=0)
    fitting.set_defaults(run=_fit)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
