"""What is published of a result file: named values and intervals."""

from __future__ import annotations

import gzip
import json
import re
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Values(NamedTuple):
    """The values of a measure by name, some with a 95 % interval, and on how many cases they rest."""

    values: dict[str, float | int | str]
    intervals: dict[str, list[float]]
    n: int | None = None


Extract = Callable[[Sequence[Mapping[str, Any]]], Values]
_METRICS = ("mrr@100", "ndcg@10", "hit@10", "judged@10", "condensed_ndcg@10")
# "0.50%" and "0 of 36", as some results have them.
_LEADING_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?=%| of )")


def read_result(path: Path) -> dict[str, Any]:
    """Read a result file or a report of `dowse eval`, packed if its name ends with .gz."""
    data = path.read_bytes()
    result: dict[str, Any] = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    return result


def leaves(*prefixes: str, n: str = "") -> Extract:
    """Take the numbers below some places of the results, or all; `n` is the place of a count."""

    def extract(results: Sequence[Mapping[str, Any]]) -> Values:
        found = {name: value for result in results for name, value in _numbers(result["results"])}
        if prefixes:
            found = {name: value for name, value in found.items() if name.startswith(prefixes)}
        count = next((value for name, value in _numbers(results[0]["results"]) if name == n), None)
        return Values(found, {}, int(count) if count is not None else None)

    return extract


def report(*modes: str, sets: str = "") -> Extract:
    """Take the rows of a report of `dowse eval`: of every set whose name so begins, and the means of all."""

    def extract(results: Sequence[Mapping[str, Any]]) -> Values:
        values: dict[str, float | int | str] = {}
        intervals: dict[str, list[float]] = {}
        chosen = [each for each in results[0]["sets"] if each["dataset"]["name"].startswith(sets)]
        for result in reversed(results):  # the first has the last word
            rows = [(each["dataset"]["name"], row) for each in result["sets"] for row in each["rows"]]
            rows += [("mean", row) for row in result["means"]]
            for name, row in rows:
                mode = row["mode"].removeprefix("mean:")
                if mode not in modes or not name.startswith((sets, "mean")):
                    continue
                for metric in _METRICS:
                    if metric in row["metrics"]:
                        values[f"{name}/{mode}/{metric}"] = row["metrics"][metric]
                    if name == "mean" and metric in row["intervals"]:
                        intervals[f"{name}/{mode}/{metric}"] = row["intervals"][metric]
                values[f"{name}/{mode}/p50_ms"] = row["latency"].get("p50_ms", 0.0)
        if sets:  # the means of the report are those of other sets, too
            values |= _means(values, [each["dataset"]["name"] for each in chosen], modes)
            intervals = {}
        return Values(values, intervals, sum(each["dataset"]["cases"] for each in chosen))

    return extract


def _means(values: Mapping[str, Any], sets: Sequence[str], modes: Sequence[str]) -> dict[str, float]:
    found = {}
    for mode in modes:
        for metric in _METRICS:
            each = [values[f"{name}/{mode}/{metric}"] for name in sets if f"{name}/{mode}/{metric}" in values]
            if each:
                found[f"mean/{mode}/{metric}"] = round(statistics.fmean(each), 6)
    return found


def graph(results: Sequence[Mapping[str, Any]]) -> Values:
    """Take of the call graph the range of each measure by language, and its share of all edges."""
    values: dict[str, float | int | str] = {}
    every: dict[str, list[dict[str, Any]]] = {}
    for language, halves in results[0]["results"].items():
        rows = [row["edges"] for half in halves.values() for row in half.values()]
        values[f"{language}/repositories"] = len(rows)
        for kind in ("precision", "recall_resolved", "recall_possible"):
            shares = [row[kind] for row in rows if row.get(kind)]
            values[f"{language}/{kind}/low"] = min(each["share"] for each in shares)
            values[f"{language}/{kind}/high"] = max(each["share"] for each in shares)
            every.setdefault(kind, []).extend(shares)
    for kind, shares in every.items():
        good, of = (sum(each[name] for each in shares) for name in ("good", "of"))
        values[f"all/{kind}"] = round(good / of, 4)
    repositories = len(every["precision"])
    values |= {"languages": len(results[0]["results"]), "repositories": repositories}
    return Values(values, {}, repositories)


def long_questions(results: Sequence[Mapping[str, Any]]) -> Values:
    """Take the reported half of the questions of 60 words or more."""
    found = results[0]["results"]["report"]
    found = found.get("after", found)
    return Values(
        {name: value for name, value in found.items() if name != "by_repository"}, {}, found["questions"]
    )


def install(results: Sequence[Mapping[str, Any]]) -> Values:
    """Take the size of the wheel and of an installation, the largest of all Pythons."""
    found = results[0]["results"]
    pips = [each["pip"] for each in found["python"].values()]
    largest = max(pips, key=lambda each: each["bytes"])
    parts = {f"largest_bytes/{name}": size for name, size in largest["largest_bytes"].items()}
    peers = [
        row["bytes"]
        for each in found["python"].values()
        for name, row in each.items()
        if name.startswith("semble")
    ]
    whole = {"wheel_bytes": found["wheel_bytes"], "bytes": largest["bytes"], "packages": largest["packages"]}
    return Values({**whole, **parts, **({"semble_bytes": max(peers)} if peers else {})}, {}, len(pips))


def exact_search(results: Sequence[Mapping[str, Any]]) -> Values:
    """Take how much faster than ripgrep a warm search is: the median, and how often."""
    found = results[0]["results"]
    ratios = [row["rg_over_dowse"]["dowse warm, top 10"] for row in found["patterns"].values()]
    values = {
        "median_ratio": round(statistics.median(ratios), 2),
        "faster": sum(ratio > 1 for ratio in ratios),
        "patterns": len(ratios),
        "slowest_ratio": min(ratios),
        "differing_lines": found["differing_lines"],
        "files": found["files"],
        "source_bytes": found["source_bytes"],
    }
    return Values(values, {}, len(ratios))


def _numbers(value: object, place: str = "") -> Iterator[tuple[str, float | int]]:
    """Give every number with its place; rows of a list go by what they are of, or by their position."""
    if isinstance(value, bool):
        yield place, int(value)
    elif isinstance(value, int | float):
        yield place, value
    elif isinstance(value, str):
        if leading := _LEADING_NUMBER.match(value):
            yield place, float(leading[0]) if "." in leading[0] else int(leading[0])
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield from _numbers(each, f"{place}/{name}" if place else str(name))
    elif isinstance(value, list):
        yield f"{place}/count", len(value)
        for position, each in enumerate(value):
            name = each.get("functions", position) if isinstance(each, Mapping) else position
            yield from _numbers(each, f"{place}/{name}")
