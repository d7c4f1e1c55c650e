"""How much the figures of a budget hang on the rule that five lines of a target make it read.

    DATA=… REPOS=… CASES=… python bench/budget_rule.py --out bench/results/budget_rule.json

For `repos` and `git` of bench/manifests: the share of targets read after 2,000 tokens, if 1, 3, 5 … lines of
a target, or all of it, had to be shown; and what the first ten results of `auto` cost in tokens.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, quantiles

from dowse.eval.budget import BudgetMetrics, first_shown, targets_read
from dowse.eval.budget_pages import budget_metrics
from dowse.eval.clean_index import open_clean_index
from dowse.eval.configurations import parse_configuration
from dowse.eval.manifest import read_manifest
from dowse.eval.matching import to_search_result
from dowse.eval.run import embed, make_search, prepare_index, search_root
from dowse.eval.systems.ripgrep import READING_BASELINES, ripgrep_reading
from dowse.eval.types import Dataset, Search
from dowse.index import Index
from dowse.token_estimate import estimate_tokens

from common import write_results

BUDGET = 2_000
RULES = (1, 3, 5, 10, 20, 40)
ALL = 10**9
OWN = "auto"
FIRST = 10
Shares = dict[tuple[str, int], float]


def main() -> None:
    """Measure both manifests."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    folder = Path(__file__).parent / "manifests"
    found = {name: measured(folder / f"{name}.json") for name in ("repos", "git")}
    write_results(options.out, {"budget": BUDGET, **found})


def measured(manifest: Path) -> dict[str, object]:
    """Return the means over the sets of a manifest."""
    sets, costs = [], list[int]()
    for _, dataset, index in opened(manifest):
        usual, of_files = budget_metrics(index, dataset, (BUDGET,))
        rows = {OWN: (make_search(index, parse_configuration(OWN)), usual)}
        rows |= {name: (ripgrep_reading(index, name), of_files) for name in READING_BASELINES}
        sets.append(shares(dataset, rows))
        costs += tokens_of_results(dataset, *rows[OWN])
    rules = {
        "all" if rule == ALL else str(rule): {
            name: round(fmean(each[name, rule] for each in sets), 4) for name in (OWN, *READING_BASELINES)
        }
        for rule in (*RULES, ALL)
    }
    quarters = [round(value) for value in quantiles(costs, n=4)]
    return {"lines": rules, "tokens_of_a_result": dict(zip(("p25", "p50", "p75"), quarters, strict=True))}


def opened(manifest: Path) -> Iterator[tuple[str, Dataset, Index]]:
    """Give every set with the name of its entry and its index, up to date."""
    for entry in read_manifest(manifest):
        for dataset in entry.datasets():
            root = search_root(dataset, entry.watched_dir)
            with open_clean_index(root, [dataset], strip_docs=dataset.strip_docs) as index:
                prepare_index(index)
                embed(index)
                yield entry.name, dataset, index


def shares(dataset: Dataset, rows: Mapping[str, tuple[Search, BudgetMetrics]]) -> Shares:
    """Return what each row has read by each rule."""
    found: dict[tuple[str, int], list[float]] = {}
    for name, (search, reading) in rows.items():
        for case in dataset.scored_cases:
            costs = first_shown(
                reading.show([to_search_result(each) for each in search(case.query, 100)]), BUDGET
            )
            wanted = [reading.code[key] for key, grade in case.qrels(dataset.level).items() if grade > 0]
            for rule in (*RULES, ALL):
                found.setdefault((name, rule), []).append(targets_read(wanted, costs, BUDGET, rule))
    return {key: fmean(values) for key, values in found.items()}


def tokens_of_results(dataset: Dataset, search: Search, reading: BudgetMetrics) -> Sequence[int]:
    """Return what each of the first results costs, with its heading."""
    costs = []
    for case in dataset.scored_cases:
        for each in search(case.query, FIRST):
            lines = [text for _, text in reading.show([to_search_result(each)])]
            costs.append(estimate_tokens("\n".join([*lines, ""])))
    return costs


if __name__ == "__main__":
    main()
