"""Fits the learned order of candidates: `dowse/search/ranking/learned_ranking.py`.

    python -m dowse_training.learned_ranking rows --cases DIR --checkouts DIR --out DIR [--workers N]
    python -m dowse_training.learned_ranking rows --questions FILE --checkouts DIR --out DIR [--workers N]
    python -m dowse_training.learned_ranking fit changes DIR --out learned_changes.json [--seed N]
    python -m dowse_training.learned_ranking fit questions DIR --out learned_questions.json [--seed N]

`rows` takes a file of mined commits for each repository, NAME.jsonl with `query` and `symbols`
("path::name"), newest first, and its checkout NAME. The newest are asked, the others are learnt by the query
adapter. Headings of the repository's guides are asked, too: their answers are the symbols that the section
names. Or it takes written questions with the lines that answer (bench/data/questions/tune.jsonl), of which
those about concepts, settings, instructions and changes are asked. It writes what the model sees of the first
candidates. `fit` trains on two thirds of the repositories, prints MRR on the others, in turn, and writes the
model of all. It needs LightGBM.
"""

from __future__ import annotations

import argparse
import functools
import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dowse.config import Settings
from dowse.eval.about import about
from dowse.history.commits import MinedCommit
from dowse.index import Index
from dowse.indexing.learn import commit_pairs, fit_adapter
from dowse.search.options import SearchRequest, make_options
from dowse.search.pipeline import query_features
from dowse.search.planner import make_plan
from dowse.search.ranking.learned_ranking import DEPTH, FEATURES, features
from dowse.search.ranking.question_kinds import question_kinds
from dowse.search.ranking.signals import QueryFeatures, RankedHit
from dowse.source.roles import file_role
from dowse.symbol_lookup import symbols_named
from dowse.types import Hit, Symbol, SymbolRow
from dowse.vectors.adapter import AdapterFacts, AdapterFile, write_adapter

# Commits and headings of a repository that are asked, at most.
MAX_ASKED = 75
FOLDS = 3
# What one unit of the model adds on the folds, as a share of the best score.
ADDED = 0.5
_SETTINGS: dict[str, dict[str, Any]] = {
    "changes": {
        "learning_rate": 0.08,
        "n_estimators": 150,
        "num_leaves": 15,
        "min_child_samples": 100,
        "reg_lambda": 5.0,
    },
    "questions": {
        "learning_rate": 0.06,
        "n_estimators": 100,
        "num_leaves": 8,
        "min_child_samples": 80,
        "reg_lambda": 10.0,
        "colsample_bytree": 0.6,
        "subsample": 0.8,
        "subsample_freq": 1,
    },
}
_QUESTIONS = ("concept", "config", "howto", "change")
# A heading of Markdown or reStructuredText, and a name in code quotes.
_HEADING = re.compile(r"(?m)^(#{2,4} .+|[^\n]+\n[-=~^]{4,})$")
_QUOTED = re.compile(r"`{1,2}~?\.?([A-Za-z_][\w.:#]{3,50}(?:\(\))?)`")
_MAX_SECTION, _MAX_GUIDE, _MAX_TARGETS = 3_000, 200_000, 4


# Whether a candidate answers; None if it does not count.
IsWanted = Callable[[Symbol], bool | None]


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
    asked = commits[: min(MAX_ASKED, 2 * len(commits) // 3)]
    with Index.open(checkouts / name, encoder="base", threads=1) as index:
        index.update()
        _learn(index, commits[len(asked) :])
        questions = [(each.query, _named(set(each.symbols))) for each in asked]
        questions += [
            (query, _named(names, code=True)) for query, names in _headings(index, checkouts / name)
        ]
        return _write_rows(index, questions, out / f"{name}.npz")


def collect_questions(name: str, questions: list[dict[str, Any]], checkouts: Path, out: Path) -> str:
    """Write the rows of one repository's written questions."""
    with Index.open(checkouts / name, encoder="base", threads=1) as index:
        index.update()
        asked = [(each["question"], _overlapping(each["answers"])) for each in questions]
        return _write_rows(index, asked, out / f"{name}.npz")


def _named(names: set[str], *, code: bool = False) -> IsWanted:
    """Return whether a candidate has one of some names; with `code`, None for those in guides."""

    def is_wanted(symbol: Symbol) -> bool | None:
        if code and file_role(symbol.path) == "docs":
            return None
        return f"{symbol.path}::{symbol.qualified_name}" in names

    return is_wanted


def _overlapping(places: list[dict[str, Any]]) -> IsWanted:
    """Return whether a candidate has a line of some places: a class does not have those of its methods."""

    def is_wanted(symbol: Symbol) -> bool | None:
        return any(
            symbol.path == place["path"]
            and any(place["start"] <= line <= place["end"] for line in symbol.line_numbers)
            for place in places
        )

    return is_wanted


def _write_rows(index: Index, questions: list[tuple[str, IsWanted]], out: Path) -> str:
    """Ask, and write the features of the first candidates of each question that one of them answers."""
    tables, labels, owners = [], [], []
    for number, (query, is_wanted) in enumerate(questions):
        hits = index.search(query, k=DEPTH).hits
        symbols = {hit.symbol.id: hit.symbol for hit in hits}
        found = [(hit, is_wanted(symbols[hit.row.key])) for hit in _without_model(hits)]
        kept = [(hit, wanted) for hit, wanted in found if wanted is not None]
        if any(wanted for _, wanted in kept):
            tables.append(features([hit for hit, _ in kept], _query_features(query), question_kinds(query)))
            labels += [wanted for _, wanted in kept]
            owners += [number] * len(kept)
    if not tables:
        return f"{out.stem}: no question"
    np.savez_compressed(out, values=np.concatenate(tables), labels=labels, question=owners)
    return f"{out.stem}: {len(tables)} questions"


def _headings(index: Index, root: Path) -> list[tuple[str, set[str]]]:
    """Return headings of guides with the symbols that their sections name."""
    found = []
    with index.backend.reader() as reader:
        for file in index.contents.files():
            if not file.path.lower().endswith((".md", ".rst")) or "change" in file.path.lower():
                continue
            text = (root / file.path).read_text("utf-8", "replace")[:_MAX_GUIDE]
            parts = _HEADING.split(text)
            for heading, section in zip(parts[1::2], parts[2::2], strict=True):
                body = section[:_MAX_SECTION]
                question = re.sub(r"`[^`]*`", "", heading.split("\n")[0]).strip("# *")
                names = dict.fromkeys(
                    each.removesuffix("()") for each in _QUOTED.findall(body[:_MAX_SECTION])
                )
                wanted = {
                    f"{row.path}::{row.qualified_name}"
                    for name in names
                    for row in symbols_named(reader, name, 3)
                    if row.row > 0 and not row.role
                }
                if len(question.split()) > 1 and 1 <= len(wanted) <= _MAX_TARGETS:
                    found.append((question, wanted))
    random.Random(0).shuffle(found)  # noqa: S311 - the same ones every time
    return found[:MAX_ASKED]


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
        ranked.append(RankedHit(_row(hit.symbol), sum(each.value for each in parts), parts))
    return sorted(ranked, key=lambda hit: -hit.score)


def _row(symbol: Symbol) -> SymbolRow:
    role = file_role(symbol.path)
    own = (symbol.id, symbol.repo, symbol.path, symbol.language, role, symbol.kind, symbol.name)
    return SymbolRow(
        0, *own, symbol.qualified_name, symbol.start_line, symbol.end_line, symbol.signature, file_id=0
    )


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


def train(rows: Rows, model: str, seed: int) -> Any:  # noqa: ANN401 - a ranker of LightGBM
    """Fit the trees (LambdaMART)."""
    from lightgbm import LGBMRanker

    sizes = np.unique(rows.question, return_counts=True)[1]
    return LGBMRanker(**_SETTINGS[model], verbose=-1, random_state=seed).fit(
        rows.values, rows.is_relevant, group=sizes
    )


def export(model: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the model as data: a leaf is [value], any other node [feature, threshold, left, right]."""
    trees: list[list[Any]] = []
    depth = 0
    for each in model.booster_.dump_model()["tree_info"]:
        nodes: list[Any] = []
        depth = max(depth, _add_node(each["tree_structure"], nodes))
        trees.append(nodes)
    return {"depth": depth, "trees": trees}


def _add_node(node: dict[str, Any], nodes: list[Any]) -> int:
    """Append a node and those below it; return how many levels are below."""
    at = len(nodes)
    if "leaf_value" in node:
        nodes.append([round(float(node["leaf_value"]), 4)])
        return 0
    nodes.append(None)
    left, below_left = len(nodes), _add_node(node["left_child"], nodes)
    right, below_right = len(nodes), _add_node(node["right_child"], nodes)
    nodes[at] = [FEATURES[node["split_feature"]], float(str(np.float32(node["threshold"]))), left, right]
    return 1 + max(below_left, below_right)


def write_model(model: dict[str, Any], out: Path) -> None:
    """Write one tree a line."""
    trees = ",\n  ".join(json.dumps(tree, separators=(",", ":")) for tree in model["trees"])
    head = f'"depth": {model["depth"]}'
    out.write_text(f'{{\n {head},\n "trees": [\n  {trees}\n ]\n}}\n', encoding="utf-8")


def _fit(options: argparse.Namespace) -> None:
    rows = read_rows(options.rows)
    order = -rows.values[:, FEATURES.index("rank")]
    names = {name: number % FOLDS for number, name in enumerate(np.unique(rows.repository))}
    folds = np.array([names[name] for name in rows.repository])
    found = []
    for fold in range(FOLDS):
        model, others = (
            train(select(rows, folds != fold), options.model, options.seed),
            select(rows, folds == fold),
        )
        values = model.predict(others.values)
        with_score = others.values[:, FEATURES.index("score")] + ADDED * values
        scores = {
            "as ranked": order[folds == fold],
            "with the model added": with_score,
            "model alone": values,
        }
        found.append(
            {name: round(mean_reciprocal_rank(others, each), 4) for name, each in scores.items()}
            | {"questions": len(np.unique(others.question))}
        )
    results = {"MRR on the repositories of each fold": found, "weight of the model": ADDED}
    print(json.dumps(results, indent=1))  # noqa: T201
    if options.report:
        report = {"about": about(["python", "-m", "dowse_training.learned_ranking", *sys.argv[1:]])}
        options.report.write_text(json.dumps(report | {"results": results}, indent=1) + "\n")
    write_model(export(train(rows, options.model, options.seed)), options.out)


def _collect(options: argparse.Namespace) -> None:
    options.out.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(options.workers) as pool:
        jobs = [pool.submit(job, options.checkouts, options.out) for job in _jobs(options)]
        for job in jobs:
            print(job.result(), flush=True)  # noqa: T201


def _jobs(options: argparse.Namespace) -> Iterator[Callable[[Path, Path], str]]:
    """Yield the repositories that have a checkout, with what asks them."""
    if options.cases:
        names = [path.stem for path in sorted(options.cases.glob("*.jsonl"))]
        names = [name for name in names if (options.checkouts / name).is_dir()]
        yield from (functools.partial(collect, name, options.cases) for name in names)
        return
    by_repository: dict[str, list[dict[str, Any]]] = {}
    for line in options.questions.read_text("utf-8").splitlines():
        question = json.loads(line)
        if question["kind"] in _QUESTIONS:
            by_repository.setdefault(question["repo"].rpartition("/")[2], []).append(question)
    yield from (functools.partial(collect_questions, *each) for each in by_repository.items())


def main() -> None:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    commands = parser.add_subparsers(required=True)
    collecting = commands.add_parser("rows")
    source = collecting.add_mutually_exclusive_group(required=True)
    source.add_argument("--cases", type=Path)
    source.add_argument("--questions", type=Path)
    collecting.add_argument("--checkouts", type=Path, required=True)
    collecting.add_argument("--out", type=Path, required=True)
    collecting.add_argument("--workers", type=int, default=2)
    collecting.set_defaults(run=_collect)
    fitting = commands.add_parser("fit")
    fitting.add_argument("model", choices=sorted(_SETTINGS))
    fitting.add_argument("rows", type=Path)
    fitting.add_argument("--out", type=Path, required=True)
    fitting.add_argument("--report", type=Path, help="result file")
    fitting.add_argument("--seed", type=int, default=0)
    fitting.set_defaults(run=_fit)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
