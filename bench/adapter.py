"""What the query adapter gains: questions are the newest commits, only older ones are learnt.

    python bench/adapter.py ROOT [ROOT …] --out bench/results/adapter.json

Each ROOT is a repository or a folder in one, with its history. The rows are MRR@100 at symbol level without
the adapter, with it, and with one fitted to shuffled targets (the control), which is used
where the adapter is.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from dowse.eval.clean_index import open_clean_index
from dowse.eval.configurations import parse_configuration
from dowse.eval.evaluate import evaluate
from dowse.eval.mine import build_from_git
from dowse.eval.run import embed, make_search, prepare_index
from dowse.eval.types import Dataset
from dowse.history.mined import mined_commits
from dowse.index import Index
from dowse.indexing.learn import COMMITS, commit_pairs, older_than
from dowse.search.ranking.question_kinds import question_kinds
from dowse.source.git import toplevel
from dowse.vectors.adapter import AdapterFacts, AdapterFile, fit, write_adapter

from common import write_results

MODES = ("auto", "embedding")


def main() -> None:
    """Measure every repository."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("roots", nargs="+", type=Path)
    parser.add_argument("--questions", type=int, default=100, help="newest commits of each that are asked")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    table: dict[str, dict[str, object]] = {}
    for root in options.roots:
        name = Path(toplevel(root) or root).name
        table[name] = measure(root, options.questions)
        print(name, table[name], file=sys.stderr, flush=True)
    rows: list[dict[str, dict[str, float]]] = [row["mrr"] for row in table.values()]  # type: ignore[misc]
    means = {
        mode: {kind: round(float(np.mean([row[mode][kind] for row in rows])), 4) for kind in rows[0][mode]}
        for mode in MODES
    }
    print(means, file=sys.stderr)
    if options.out:
        write_results(options.out, {"questions": options.questions, "repositories": table, "mean": means})


def measure(root: Path, questions: int) -> dict[str, object]:
    """Return the scores of one repository, and what was learnt."""
    cases = build_from_git(root, max_cases=questions)
    dataset = Dataset(root.name, tuple(cases), level="symbol")
    with open_clean_index(root, [dataset], settings={"adapter": True}) as index:
        prepare_index(index)
        embed(index)
        asked = [case.id for case in cases]
        facts = index.learn(asked)
        plain = index.with_settings(replace(index.settings, adapter=False))
        scores = {mode: {"without": score(plain, dataset, mode)} for mode in MODES}
        for kind in ("with", "shuffled"):
            if kind == "shuffled" and facts and facts.strength:
                write_shuffled(index, facts, asked)
            for mode in MODES:
                scores[mode][kind] = score(index, dataset, mode)
    return {
        "questions": len(cases),
        "change_requests": sum(question_kinds(case.query)["change"] > 0.5 for case in cases),
        "mrr": scores,
        "adapter": asdict(facts) if facts else None,
    }


def score(index: Index, dataset: Dataset, mode: str) -> float:
    """Return the mean reciprocal rank of a configuration."""
    return round(evaluate(make_search(index, parse_configuration(mode)), dataset).metrics["mrr@100"], 4)


def write_shuffled(index: Index, facts: AdapterFacts, asked: Sequence[str]) -> None:
    """Replace the adapter of an index by one of the same strength that was fitted to shuffled targets."""
    encoder = index.encoder
    with index.backend.reader() as reader:
        derived = reader.cache_folder
        assert encoder is not None and derived is not None
        commits = older_than(mined_commits(index.root, derived / COMMITS), asked)
        pairs = commit_pairs(reader, encoder, commits)
    shuffled = pairs.targets[np.random.default_rng(1).permutation(len(pairs.targets))]
    write_adapter(AdapterFile(derived, encoder.id), facts, fit(pairs.queries, shuffled))


if __name__ == "__main__":
    main()
