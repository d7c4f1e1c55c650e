"""How hits of several sources are merged where some have a query adapter: commits of many repositories.

    python bench/adapter_merge.py --repos ~/src/flask ~/src/click … --out bench/results/adapter_merge.json

Each repository learns from its older requests for a change; its newest ones are asked of all repositories
together. MRR@100 of the embedding lane, by cosines that are exact: without adapters, with those of all
repositories, and with those of every second one. "cosine" merges by cosine, "level" as dowse does.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dowse import Index
from dowse.history.mined import mined_commits
from dowse.indexing.learn import Pairs, commit_pairs, fit_adapter
from dowse.search.lanes.adapted_sources import merge
from dowse.search.ranking.question_kinds import asks_for_change, question_kinds
from dowse.vectors.adapter import AdapterFacts, shift
from dowse.version import __version__

_DEPTH = 100
_MAX_ASKED = 100


class Repository(NamedTuple):
    """A repository with its adapter, and the commits that are asked."""

    name: str
    first: int  # the number of its first symbol among those of all repositories
    vectors: np.ndarray
    facts: AdapterFacts
    matrix: np.ndarray | None
    queries: np.ndarray
    relevant: list[frozenset[int]]


Merge = Callable[..., list[tuple[int, float, str]]]


def main() -> None:
    """Measure and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repos", nargs="+", type=Path, required=True)
    parser.add_argument("--index-dir", type=Path, default=Path("/tmp/dowse-adapter-merge"))
    parser.add_argument("--encoder", default="base")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    repositories: list[Repository] = []
    for root in options.repos:
        first = sum(len(each.vectors) for each in repositories)
        repositories.append(learn(root, options.index_dir, options.encoder, first))
    names = [each.name for each in repositories if each.matrix is not None]
    every_second = [each.name for each in repositories[::2] if each.matrix is not None]
    scores = {
        "without": measure(repositories, [], merge),
        "all, cosine": measure(repositories, names, merge_by_cosine),
        "all, level": measure(repositories, names, merge),
        "every second, cosine": measure(repositories, every_second, merge_by_cosine),
        "every second, level": measure(repositories, every_second, merge),
    }
    report = {
        **{"version": __version__, "encoder": options.encoder, "every_second": every_second},
        "repositories": {
            each.name: {"symbols": len(each.vectors), "asked": len(each.relevant), "adapter": each.facts.text}
            for each in repositories
        },
        "mrr@100": scores,
    }
    text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    print(text)


def learn(root: Path, folder: Path, encoder_name: str, first: int) -> Repository:
    """Index a repository and fit its adapter to all but its newest requests for a change."""
    place = folder / f"{root.name}-{encoder_name}"
    with Index.open(root, index_dir=str(place), encoder=encoder_name, isolation="never") as index:
        index.update()
        index.embed()
        encoder = index.encoder
        assert encoder is not None
        mined = mined_commits(root, folder / f"{root.name}.json")
        commits = [each for each in mined if asks_for_change(question_kinds(each.query))]
        with index.backend.reader() as reader:
            pairs = commit_pairs(reader, encoder, commits)
            count = min(_MAX_ASKED, len(pairs.relevant) // 4)
            older = Pairs(pairs.queries[count:], pairs.targets[count:], pairs.relevant[count:])
            facts, matrix = fit_adapter(reader, encoder.id, AdapterFacts(""), older)
            rows = [row.row for row in reader.rows_of_files([file.file_id for file in reader.files()])]
            vectors = reader.vectors(encoder.id, rows)
    number = {row: first + at for at, row in enumerate(rows)}
    relevant = [frozenset(number[row] for row in each) for each in pairs.relevant[:count]]
    print(root.name, len(rows), facts.text, flush=True)
    return Repository(root.name, first, vectors, facts, matrix, pairs.queries[:count], relevant)


def merge_by_cosine(
    plain: list[tuple[int, float]], sources: dict[int, str], adapted: dict[str, list[tuple[int, float]]]
) -> list[tuple[int, float, str]]:
    """Merge all hits by their cosines."""
    merged = [(row, score, "") for row, score in plain if sources[row] not in adapted]
    merged += [(row, score, source) for source, hits in adapted.items() for row, score in hits]
    return sorted(merged, key=lambda each: (-each[1], each[0]))


def measure(repositories: Sequence[Repository], adapted: Sequence[str], by: Merge) -> dict[str, float]:
    """Return the mean reciprocal rank for the questions of each repository, and the mean of all."""
    vectors = np.concatenate([each.vectors for each in repositories])
    names = np.repeat([each.name for each in repositories], [len(each.vectors) for each in repositories])
    scores = {}
    for each in repositories:
        total = 0.0
        for query, relevant in zip(each.queries, each.relevant, strict=True):
            plain = nearest(vectors, query)
            sources = {row: str(names[row]) for row, _ in plain}
            found = {
                other.name: nearest(
                    other.vectors, shift(query, other.matrix, other.facts.strength), other.first
                )
                for other in repositories
                if other.name in adapted and other.matrix is not None and other.name in sources.values()
            }
            ranked = (row for row, _, _ in by(plain, sources, found)[:_DEPTH])
            total += next((1 / rank for rank, row in enumerate(ranked, 1) if row in relevant), 0.0)
        scores[each.name] = round(total / max(1, len(each.relevant)), 4)
    return {**scores, "mean": round(float(np.mean(list(scores.values()))), 4)}


def nearest(vectors: np.ndarray, query: np.ndarray, first: int = 0) -> list[tuple[int, float]]:
    """Return number and cosine of the nearest vectors."""
    cosines = vectors @ query
    best = np.argsort(-cosines, kind="stable")[:_DEPTH]
    return [(first + int(row), float(cosines[row])) for row in best]


if __name__ == "__main__":
    main()
