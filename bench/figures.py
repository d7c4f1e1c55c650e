"""Measure everything that is published, and keep README and docs equal to it.

    scripts/figures [--only GROUP_OR_MEASURE,…] [--data NAME=PATH …] [--work DIR] [--again] [--quick]
    scripts/figures --check [--fresh]
    scripts/figures --tables
    scripts/figures --take MEASURE RESULT.json […]
    scripts/figures --confirm BASE RANKINGS.json COMPARE.json

The measures are in bench/measures.py, each with its command and the files that it depends on. A measure whose
files have changed since it was made is stale, and measured again; the others are left alone, so a run that
was interrupted goes on where it ended. Each writes bench/figures/MEASURE.json, and the tables are written
from these (bench/tables.md). `--quick` tries the commands in their smallest size and publishes nothing.
`--take` publishes a result that the command of the measure made elsewhere, where its data are. `--confirm`
keeps figures of the commit BASE after a change that bench/rankings.py shows to leave every ranking equal, and
bench/compare.py not to be slower; what counts faults is measured again.
`--check` lists what is stale or missing, and fails if a table differs from its figures.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from extract import read_result
from measures import ENGINE, GROUPS, MEASURES, Measure
from tables import figures_of, outdated_tables, write_tables

from common import git

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / "bench" / "figures"
REPORTS = FIGURES / "reports"
# Groups whose figures are times and sizes: equal times speak for them, equal rankings for those of quality.
_TIMED = ("speed", "sizes", "scale")
_MAX_SLOWER = 1.03  # a smaller difference is noise


def main() -> int:
    """Measure, compare or write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", default=",".join(GROUPS), help=f"of {', '.join(GROUPS)}, or measures by name"
    )
    parser.add_argument("--data", action="append", default=[], metavar="NAME=PATH", help="a folder of data")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "figures", help="indexes and results")
    parser.add_argument("--again", action="store_true", help="also what is not stale")
    parser.add_argument("--quick", action="store_true", help="try the commands; publishes nothing")
    parser.add_argument("--check", action="store_true")
    parser.add_argument(
        "--fresh", action="store_true", help="with --check: fail if anything is stale or missing"
    )
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--take", nargs="+", metavar=("MEASURE", "RESULT"))
    parser.add_argument("--confirm", nargs=3, metavar=("BASE", "RANKINGS", "COMPARE"))
    options = parser.parse_args()
    if options.confirm:
        return confirm(*options.confirm)
    if options.check:
        return check(fresh=options.fresh)
    if options.take:
        name, *results = options.take
        publish(next(each for each in MEASURES if each.name == name), [Path(path) for path in results])
    elif not options.tables:
        return measure_all(options)
    write_pages()
    return 0


def write_pages() -> None:
    """Write all tables, and the page of languages, which has a column of figures."""
    print("\n".join(f"wrote {path}" for path in write_tables(ROOT)))
    subprocess.run([sys.executable, ROOT / "scripts/docs_site/languages_reference.py"], check=True)


def check(*, fresh: bool) -> int:
    """List what is stale or missing; fail if a table differs from its figures, with `fresh` for these too."""
    known = figures_of(FIGURES)
    states = {measure.name: state(measure, known.get(measure.name)) for measure in MEASURES}
    for kind in ("missing", "stale"):
        if names := [name for name, told in states.items() if told == kind]:
            print(f"{kind}: {', '.join(names)}")
    unknown = sorted(known.keys() - states.keys())
    different = outdated_tables(ROOT)
    commits, machines = (len({figure[key] for figure in known.values()}) for key in ("commit", "machine"))
    fresh_count = sum(told == "fresh" for told in states.values())
    hours = sum(_seconds(measure, known) for measure in MEASURES) / 3600
    print(
        f"{fresh_count} of {len(states)} measures are fresh; {commits} commits, {machines} machines; "
        f"all take {hours:.1f} h"
    )
    for name in unknown:
        print(f"no measure has the name of bench/figures/{name}.json")
    for path in different:
        print(f"{path}: tables differ from bench/figures; run scripts/figures --tables")
    return int(bool(different or unknown or (fresh and set(states.values()) - {"fresh"})))


def state(measure: Measure, figure: Mapping[str, Any] | None) -> str:
    """Return whether a measure is missing, stale or fresh."""
    if figure is None:
        return "missing"
    return "fresh" if figure["depends"] == depends(measure, "HEAD") else "stale"


def confirm(base: str, rankings: str, times: str) -> int:
    """Keep the figures of a commit since which rankings are equal and nothing is slower, else return 1."""
    ranked, timed = read_result(Path(rankings)), read_result(Path(times))
    different = ranked["results"]["different"]
    ratios = {name: row["median_of_ratios"] for name, row in timed["results"].items()}
    if different or max(ratios.values()) > _MAX_SLOWER:
        print(f"{len(different)} rankings differ; times are {ratios} of those before", file=sys.stderr)
        return 1
    head, known = git(ROOT, "rev-parse", "--short", "HEAD").strip(), figures_of(FIGURES)
    for measure in MEASURES:
        figure, now = known.get(measure.name, {}), depends(measure, "HEAD")
        if figure.get("depends") != depends(measure, base) or figure["depends"] == now:
            continue
        if any(depends(measure, each["about"]["commit"]) != now for each in (ranked, timed)):
            print(f"not {measure.name}: what it depends on has changed since the comparison")
            continue
        changed = {*_chosen(measure, base)} ^ {*_chosen(measure, "HEAD")}
        is_engine = all(line.partition("\t")[2].startswith(ENGINE) for line in changed)
        if measure.group in _TIMED or (measure.group == "quality" and is_engine):
            _write(measure, {**figure, "depends": now, "confirmed": head})
            print(f"confirmed {measure.name}")
    return 0


def depends(measure: Measure, commit: str) -> str:
    """Return the hash of what a measure depends on, "" if the commit is not known or was changed."""
    parts = [_chosen(measure, each) for each in commit.split(", ")]
    text = "\n".join(line for lines in parts for line in lines)
    return hashlib.sha256(text.encode()).hexdigest()[:16] if all(parts) else ""


def _chosen(measure: Measure, commit: str) -> list[str]:
    """Return the lines of `git ls-tree` for what a measure depends on."""
    return [line for line in _files(commit) if line.partition("\t")[2].startswith(measure.depends)]


@cache
def _files(commit: str) -> tuple[str, ...]:
    """Return the lines of `git ls-tree` of a commit: mode, kind, hash, path."""
    try:
        return tuple(git(ROOT, "ls-tree", "-r", commit).splitlines())
    except subprocess.CalledProcessError:
        return ()  # "…-dirty", or a commit that this copy does not have


def publish(measure: Measure, results: Sequence[Path], run: Mapping[str, Any] | None = None) -> None:
    """Write the figures of a measure, and its report for the page; `run` knows more than the results."""
    read = [read_result(path) for path in results]
    abouts = [each["about"] for each in read]
    if run:  # they call the commit changed as soon as the first figures are written
        for each in abouts:
            each["commit"] = run["commit"]

    def told(key: str) -> str:
        values = [each[key] for each in abouts]
        lists = [value if isinstance(value, list) else [value] for value in values]
        return ", ".join(dict.fromkeys(str(value) for each in lists for value in each))

    found = measure.extract(read)
    figure = {
        "measure": measure.name,
        "unit": measure.unit,
        **{key: value for key, value in found._asdict().items() if value not in ({}, None)},
        **{key: told(key) for key in ("command", "commit", "machine", "date")},
        "depends": depends(measure, told("commit")),
        **(run or {}),
    }
    _write(measure, figure)
    if measure.report:
        REPORTS.mkdir(exist_ok=True)
        packed = gzip.compress(json.dumps(read[0]).encode(), mtime=0)
        (REPORTS / f"{measure.name}.json.gz").write_bytes(packed)


def _write(measure: Measure, figure: Mapping[str, Any]) -> None:
    FIGURES.mkdir(exist_ok=True)
    (FIGURES / f"{measure.name}.json").write_text(json.dumps(figure, indent=1, ensure_ascii=False) + "\n")


def measure_all(options: argparse.Namespace) -> int:
    """Measure what is stale or missing; return how many have failed."""
    if not options.quick and (changed := _changed()):
        print(f"commit your changes first, a figure names its commit: {', '.join(changed)}", file=sys.stderr)
        return 2
    os.environ.update(pair.partition("=")[::2] for pair in options.data)
    chosen = options.only.split(",")
    known = figures_of(FIGURES)
    waiting = [each for each in MEASURES if {each.name, each.group} & set(chosen)]
    if options.quick:
        waiting = [each for each in waiting if each.quick]
    elif not options.again:
        waiting = [each for each in waiting if state(each, known.get(each.name)) != "fresh"]
    failed, pace = [], 1.0
    for position, measure in enumerate(waiting):
        rest = sum(_seconds(each, known) for each in waiting[position:]) * pace / 60
        left = "" if options.quick else f"; about {rest:.0f} min left"
        print(f"{position + 1}/{len(waiting)} {measure.name}{left}", flush=True)
        started = time.monotonic()
        if problem := _run(measure, options):
            print(f"  left out: {problem}", flush=True)
            failed.append(measure.name)
            continue
        took = time.monotonic() - started
        pace = (pace + took / _seconds(measure, known)) / 2
        print(f"  {took / 60:.1f} min", flush=True)
    if not options.quick:
        write_pages()
    print(f"{len(waiting) - len(failed)} measured" + (f", not: {', '.join(failed)}" if failed else ""))
    return int(bool(failed))


def _changed() -> list[str]:
    """Return the files that differ from the commit, without those that are written here."""
    lines = git(ROOT, "status", "--porcelain", "--untracked-files=no").splitlines()
    paths = [line[3:] for line in lines]
    return [path for path in paths if not path.startswith("bench/figures/") and not path.endswith(".md")]


def _seconds(measure: Measure, known: Mapping[str, Mapping[str, Any]]) -> float:
    return float(known.get(measure.name, {}).get("seconds", 60 * measure.minutes))


def _run(measure: Measure, options: argparse.Namespace) -> str:
    """Run the steps of a measure and publish what they found; return what went wrong."""
    work = options.work.resolve() / ("quick" if options.quick else "") / measure.name
    work.mkdir(parents=True, exist_ok=True)
    ending = ".json.gz" if measure.report else ".json"
    out = work / f"{measure.name}{ending}"
    out.unlink(missing_ok=True)  # `dowse eval` adds rows to a report that is there
    here = {"out": str(out), "work": str(work), "python": sys.executable}
    here["dowse"] = str(Path(sys.executable).with_name("dowse"))
    here["version"] = (ROOT / "src/dowse/version.py").read_text().split('"')[-2]
    started, commit = time.monotonic(), git(ROOT, "rev-parse", "--short", "HEAD").strip()
    with (work / "log").open("w") as log:
        for step in measure.steps:
            last = step is measure.steps[-1]
            text = f"{step} {measure.quick}" if options.quick and last else step
            try:
                words = [os.path.expandvars(word).format_map(here) for word in shlex.split(text)]
            except KeyError as error:
                return f"unknown {error}"
            if missing := [word for word in words if "$" in word]:
                return f"needs {', '.join(missing)} (--data NAME=PATH)"
            if subprocess.run(words, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, check=False).returncode:
                log.flush()
                return f"{words[1]} failed, see {work / 'log'}"
    results = [Path(path.format_map(here)) for path in measure.results]
    if options.quick:
        measure.extract([read_result(path) for path in results])
    else:
        run = {"commit": commit, "seconds": max(1, round(time.monotonic() - started))}
        publish(measure, results, run)
    return ""


if __name__ == "__main__":
    sys.exit(main())
