"""Does a cross-encoder put the first candidates into a better order, and what does it cost?

    python bench/rerank.py --data DIR --repos DIR --model rerank [--out bench/results/rerank.json]
    python bench/rerank.py --data DIR --repos DIR --candidates FILE
    python bench/rerank.py --data DIR --repos DIR --scores NAME=FILE [--unit 0.0467]

The sets are those of `quality.py`. Candidates are the first of the search as users get it; what comes after
them stays where it is. `--model` is a cross-encoder that dowse can load. A model under trial, in whatever
form, is measured in two steps: `--candidates` writes what it has to score ({set: [{query, documents}]}, JSON
in gzip), `--scores` reads what it gave ({set: [[score, …], …]}, in the same order). The weight is the one
that is best on the tune halves, as the mean of all sets.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dowse.encoders.cross_encoder import CrossEncoder, load_cross_encoder
from dowse.encoders.document import Document
from dowse.search.ranking.rerank import mix_scores
from dowse.types import Answer

from common import milliseconds, work_folder, write_results
from quality import Case, Set, half, open_sets, plain

WEIGHTS = tuple(step / 20 for step in range(21))
# Queries of each set that the cost is measured with.
COST_QUERIES = 40

Scores = dict[str, list[list[float]]]


@dataclass(frozen=True)
class Question:
    """A query, the answer of the first stage, and the documents that a second stage reads."""

    case: Case
    answer: Answer
    documents: list[Document]


@dataclass(frozen=True)
class Measured:
    """A set with its questions asked."""

    of: Set
    questions: list[Question]

    def value(self, question: Question, scores: Sequence[float]) -> float:
        """Return the metric when the candidates are put in the order of some scores."""
        first = question.answer.hits[: len(scores)]
        order = sorted(range(len(first)), key=lambda place: -scores[place])
        hits = [*(first[place] for place in order), *question.answer.hits[len(first) :]]
        ranked = tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits, 1))
        return self.of.metric(replace(question.answer, hits=ranked), question.case)


def ask(options: argparse.Namespace, work: Path) -> Iterator[Measured]:
    """Ask every question of every set."""
    count = options.count
    for each in open_sets(options.data, options.repos, work, encoder=options.encoder):
        each.index.embed()
        rows = {row.key: row.row for row in each.index.symbols("*", limit=10**7)}
        questions = []
        for case in each.cases:
            answer = each.index.search(plain(case.query), k=max(each.k, count), mode=options.mode)
            wanted = [rows[hit.symbol.id] for hit in answer.hits[:count]]
            with each.index.backend.reader() as reader:
                questions.append(Question(case, answer, reader.documents(wanted)))
        yield Measured(each, questions)


def score_all(model: CrossEncoder, sets: Sequence[Measured]) -> Scores:
    """Let a model score all candidates."""
    return {
        each.of.name: [model.score(plain(q.case.query), q.documents) for q in each.questions] for each in sets
    }


@dataclass(frozen=True)
class Trial:
    """What a model gave, how its scores are mixed, and how many of the candidates count."""

    scores: Scores
    unit: float | None
    count: int

    def measure(self, sets: Sequence[Measured], weight: float) -> dict[str, dict[str, float]]:
        """Return the metric of every set, and of its halves; repositories count as one set."""
        table: dict[str, list[dict[str, float]]] = {}
        for each in sets:
            values: dict[str, list[float]] = {"tune": [], "report": []}
            for question, scores in zip(each.questions, self.scores[each.of.name], strict=True):
                second = scores[: self.count]
                first = [hit.score for hit in question.answer.hits[: len(second)]]
                mixed = mix_scores(first, second, weight, self.unit)
                values[half(question.case)].append(each.value(question, mixed))
            name = "repos (mean)" if each.of.name.startswith("repos/") else each.of.name
            row = {"all": statistics.mean(values["tune"] + values["report"])}
            row |= {part: statistics.mean(found) for part, found in values.items() if found}
            table.setdefault(name, []).append(row)
        parts = ("all", "tune", "report")
        return {
            name: {p: round(statistics.mean(row[p] for row in rows if p in row), 4) for p in parts}
            for name, rows in table.items()
        }


def judge(sets: Sequence[Measured], trial: Trial) -> dict[str, object]:
    """Choose the weight on the tune halves and compare, on the sets that have scores."""
    sets = [each for each in sets if each.of.name in trial.scores]
    tables = {weight: trial.measure(sets, weight) for weight in WEIGHTS}
    chosen = max(WEIGHTS, key=lambda weight: _mean(tables[weight], "tune"))
    parts = ("all", "tune", "report")
    return {
        "candidates": trial.count,
        "unit": trial.unit,
        "weight": chosen,
        "mean gain": {p: round(_mean(tables[chosen], p) - _mean(tables[0.0], p), 4) for p in parts},
        "sets that lose": {
            part: [name for name, row in tables[chosen].items() if row[part] < tables[0.0][name][part]]
            for part in parts
        },
        "mean by weight": {
            str(weight): {part: round(_mean(table, part), 4) for part in parts}
            for weight, table in tables.items()
        },
        "first stage": tables[0.0],
        "alone": tables[1.0],
        "blended": tables[chosen],
    }


def cost(model: CrossEncoder, sets: Sequence[Measured], count: int) -> dict[str, dict[str, float]]:
    """Time a model over the first candidates."""
    found = {}
    for each in sets:
        times, busy = [], []
        for question in each.questions[:COST_QUERIES]:
            started, worked = time.perf_counter(), time.process_time()
            model.score(plain(question.case.query), question.documents[:count])
            times.append(time.perf_counter() - started)
            busy.append(time.process_time() - worked)
        # Processor time of all threads: says more than the wall clock where others are at work too.
        found[each.of.name] = {**milliseconds(times), "cpu_p50_ms": milliseconds(busy)["p50_ms"]}
    return found


def write_candidates(path: Path, sets: Sequence[Measured]) -> None:
    """Write what a model under trial has to score."""
    told = {
        each.of.name: [
            {"query": plain(q.case.query), "documents": [d._asdict() for d in q.documents]}
            for q in each.questions
        ]
        for each in sets
    }
    with gzip.open(path, "wt", compresslevel=3) as stream:
        json.dump(told, stream)


def read_scores(path: Path) -> Scores:
    """Read what a model under trial gave."""
    with gzip.open(path, "rt") as stream:
        found: Scores = json.load(stream)
    return found


def _mean(table: Mapping[str, Mapping[str, float]], part: str) -> float:
    return statistics.mean(row[part] for row in table.values())


def main() -> None:
    """Measure every model."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--repos", type=Path)
    parser.add_argument("--encoder", default="base")
    parser.add_argument("--mode", default="auto", help="of the first stage")
    parser.add_argument("--count", type=int, default=30, help="how many candidates are scored")
    parser.add_argument("--fewer", type=int, default=15, help="how many are also put in order, and timed")
    parser.add_argument("--model", action="append", default=[], help="name or folder of a cross-encoder")
    parser.add_argument("--scores", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--unit", type=float, help="what a point of those scores is worth, if known")
    parser.add_argument("--candidates", type=Path, help="write the candidates here and stop")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with work_folder(options.work) as work:
        sets = list(ask(options, work))
        if options.candidates:
            write_candidates(options.candidates, sets)
            return
        models: dict[str, object] = {}
        for name, file in (given.split("=", 1) for given in options.scores):
            models[name] = judge(sets, Trial(read_scores(Path(file)), options.unit, options.count))
        for given in options.model:
            model = load_cross_encoder(given, "cpu", options.threads)
            models |= measure_model(model, sets, options)
    for name, told in models.items():
        print(name, json.dumps(told, indent=1), file=sys.stderr)
    if options.out:
        about = {"encoder": options.encoder, "mode": options.mode, "threads": options.threads}
        write_results(options.out, {**about, "models": models})


def measure_model(
    model: CrossEncoder, sets: Sequence[Measured], options: argparse.Namespace
) -> dict[str, object]:
    """Judge and time a model, with all candidates and with fewer of them."""
    scores = score_all(model, sets)
    timed = [each for each in sets if not each.of.name.startswith("repos/")]
    return {
        f"{model.name}, {count} candidates": {
            **judge(sets, Trial(scores, model.score_scale, count)),
            "cost": cost(model, timed, count),
        }
        for count in (options.count, options.fewer)
    }


if __name__ == "__main__":
    main()
