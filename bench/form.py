"""What an encoder should read of a symbol: each part added or taken away, on every set.

    python bench/form.py --data DIR --repos DIR --encoder small [--out bench/results/form.json]

The sets are those of `quality.py`. A variant is the encoder itself with another `form` in its encoder.json:
all else is the product as it is.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
from pathlib import Path

from dowse.encoders.registry import shipped_folder

from common import work_folder, write_results
from quality import open_sets, plain

VARIANTS: dict[str, dict[str, float]] = {
    "as shipped": {},
    "without folder and file": {"place": 0},
    "without folder, file and class": {"place": 0, "qualifier": 0},
    "without the name's vector": {"name_weight": 0.0},
    "without documentation": {"docs_weight": 0.0},
    "documentation .7": {"docs_weight": 0.7},
}


def make_variant(source: Path, target: Path, form: dict[str, float]) -> None:
    """Write an encoder's folder with another form."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, copy_function=os.link)
    about = json.loads((source / "encoder.json").read_text())
    about["form"].update(form)
    (target / "encoder.json").unlink()
    (target / "encoder.json").write_text(json.dumps(about))


def measure(data: Path, repos: Path | None, work: Path, encoder: Path) -> dict[str, float]:
    """Return the metric of every set, repositories as one."""
    found: dict[str, float] = {}
    of_repos: list[float] = []
    for each in open_sets(data, repos, work, encoder=str(encoder)):
        each.index.embed()
        answers = [
            (each.index.search(plain(case.query), k=each.k, mode="embedding"), case) for case in each.cases
        ]
        value = statistics.mean(each.metric(answer, case) for answer, case in answers)
        if each.name.startswith("repos/"):
            of_repos.append(value)
        else:
            found[each.name] = round(value, 4)
    if of_repos:
        found["repos (mean)"] = round(statistics.mean(of_repos), 4)
    return found


def main() -> None:
    """Measure every variant."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--repos", type=Path)
    parser.add_argument("--encoder", default="small")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    table = {}
    with work_folder(options.work) as work:
        for number, (name, form) in enumerate(VARIANTS.items()):
            folder = work / "variants" / f"{options.encoder}-{number}"
            make_variant(shipped_folder() / options.encoder, folder, form)
            table[name] = measure(options.data, options.repos, work, folder)
            print(name, table[name], file=sys.stderr, flush=True)
    if options.out:
        write_results(options.out, {"encoder": options.encoder, "variants": table})


if __name__ == "__main__":
    main()
