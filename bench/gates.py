"""What the default gains over every other way of searching, decided by the gate on saved reports.

    python bench/gates.py bench/results/eval-*.json.gz --out bench/results/gates.json

Reports are those of `dowse eval --manifest bench/manifests/NAME.json --report FILE`. A verdict is strict: at
least as good on the average and on every set. "within noise" forgives sets that are lower by chance.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dowse.eval.gate import Verdict, gate
from dowse.eval.reports.model import SetReport
from dowse.eval.reports.saved import read_report

from common import write_results

CANDIDATE = "auto"


def summary(strict: Verdict, lenient: Verdict) -> dict[str, object]:
    """Return the outcome of both gates, and which sets are lower."""
    mean = strict.mean
    return {
        "strict": strict.passed,
        "within_noise": lenient.passed,
        "candidate": round(mean.candidate, 4),
        "baseline": round(mean.baseline, 4),
        "difference": [round(value, 4) for value in mean.difference[:3]],
        "p": round(mean.difference.p, 4),
        "real": mean.difference.real,
        "lower": {
            row.name: [round(row.difference.mean, 4), "real" if row.difference.real else "noise"]
            for row in strict.rows
            if row.lower
        },
    }


def has_headline(each: SetReport, mode: str) -> bool:
    """Whether a row has what is compared: rows that were only run within budgets have not."""
    row = each.row(mode)
    return row is not None and each.metric in row.metrics


def main() -> None:
    """Decide for every report and every row in it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("reports", nargs="+")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found: dict[str, dict[str, object]] = {}
    for place in options.reports:
        report = read_report(place)
        name = Path(place).name.removesuffix(".gz").removesuffix(".json")
        everywhere = [
            mode
            for mode in report.modes
            if mode != CANDIDATE and all(has_headline(each, mode) for each in report.sets)
        ]
        for mode in everywhere:
            verdicts = [gate(report, CANDIDATE, mode, within_noise=lenient) for lenient in (False, True)]
            found.setdefault(name, {})[mode] = summary(*verdicts)
            print(name, mode, found[name][mode], file=sys.stderr, flush=True)
    if options.out:
        write_results(options.out, {"candidate": CANDIDATE, "reports": found})


if __name__ == "__main__":
    main()
