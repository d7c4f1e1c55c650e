"""How right the graph is: precision and recall on call sites whose targets were checked by hand.

    python bench/graph_sites.py --repos DIR [--half report] [--show] [--out bench/results/graph_sites.json]

The sites are in tests/graph/sites: `*-dev.jsonl` were looked at while the rules were written,
`*-report.jsonl` were not. Every repository is indexed from the folder that the paths of its sites start in.

Precision: of the sites where the graph says "resolved" or "unique", how many name the right symbol (a claim
about something from outside the index is wrong). Recall: of the sites whose target is in the index and
decidable from the text alone, how many are said rightly. Ambiguous edges count as nothing said.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

from dowse.config import Settings
from dowse.indexing.update import update
from dowse.storage.local.backend import LocalBackend
from dowse.storage.protocol import Reader
from dowse.types import SymbolRow

from common import work_folder, write_results

_SITES = Path(__file__).parent.parent / "tests/graph/sites"
_SAYS = ("resolved", "unique")


def main() -> None:
    """Index, ask for the edges of every site, compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--half", default="dev", choices=["dev", "report"])
    parser.add_argument("--language", default="", help="only this one")
    parser.add_argument("--show", action="store_true", help="print every site that is not right")
    parser.add_argument("--work", type=Path, help="index here (default: a temporary folder)")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    sites: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for file in sorted(_SITES.glob(f"*-{options.half}.jsonl")):
        for line in file.read_text().splitlines():
            site = json.loads(line)
            if not options.language or site["language"] == options.language:
                sites[site["repo"]].append(site)
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    with work_folder(options.work) as work:
        for repo, its in sites.items():
            backend = LocalBackend(work / repo)
            update(backend, root_of(options.repos / repo, its), Settings())
            with backend.reader() as reader:
                for site in its:
                    judge(reader, site, counts, options.show)
    results = {
        language: figures(counts[language])
        for language in [*sorted(set(counts) - {"all"}), *(["all"] if counts else [])]
    }
    for language, row in results.items():
        print(f"{language:12}", "  ".join(f"{name} {value}" for name, value in row.items()))
    if options.out:
        write_results(options.out, {"half": options.half, "languages": results})


def root_of(repo: Path, sites: list[dict[str, Any]]) -> Path:
    """Return the folder that all the paths of these sites start in, the outermost if there are several."""
    for folder, inner, _ in os.walk(repo):
        inner[:] = sorted(name for name in inner if name != ".git")
        if all(Path(folder, site["path"]).exists() for site in sites):
            return Path(folder)
    raise SystemExit(f"no folder under {repo} has all the files of its sites")


def judge(reader: Reader, site: dict[str, Any], counts: dict[str, dict[str, int]], show: bool) -> None:
    """Compare what the graph says of one site with what is right."""
    claims, maybe = said_of(reader, site)
    variants = not claims and maybe and 1 < len(site["truth"]) >= len(maybe)
    if variants and all(is_right(each, site["truth"], maybe) for each in maybe):
        claims = maybe  # only the build decides between them: to name exactly those is right
    right = bool(claims) and all(is_right(claim, site["truth"], claims) for claim in claims)
    found = right and any(is_meant(claim, truth) for claim in claims for truth in site["truth"])
    for name in (site["language"], "all"):
        count = counts[name]
        count["sites"] += 1
        count["said"] += bool(claims)
        count["said right"] += found
        if site["decidable"] and site["truth"]:
            count["decidable"] += 1
            count["found"] += found
    wrong = bool(claims) and not found
    missed = bool(site["decidable"] and site["truth"] and not found)
    if show and (wrong or missed):
        print("WRONG " if wrong else "missed", f"{site['repo']}/{site['path']}:{site['line']}", site["name"])
        print(
            "     truth ", [(t["path"], t["line"], t["qualified_name"]) for t in site["truth"]], site["why"]
        )
        print("     said  ", [(c.path, c.start_line, c.qualified_name) for c in claims])
        print("     maybe ", [(c.path, c.start_line, c.qualified_name) for c in maybe[:4]])


def said_of(reader: Reader, site: dict[str, Any]) -> tuple[list[SymbolRow], list[SymbolRow]]:
    """Return the symbols that the graph says a site calls, and those that it thinks possible."""
    file = next((f for f in reader.files() if f.path == site["path"]), None)
    if file is None:
        return [], []
    rows = [row.row for row in reader.rows_of_files([file.file_id])]
    edges = [e for e in reader.edges(rows, ("calls", "uses")) if e.line == site["line"]]
    at = [e for e in edges if abs(e.column - site["column"]) <= len(site["name"])]
    targets = {row.row: row for row in reader.rows([e.target for e in at])}
    named = [e for e in at if targets[e.target].name == site["name"] or e.column == site["column"]]
    ends = {}  # of over-long symbols, which are stored in parts
    for row in reader.rows_of_files(sorted({row.file_id for row in targets.values()})):
        key = (row.file_id, row.qualified_name, row.signature)
        ends[key] = max(ends.get(key, 0), row.end_line)
    for at_row, row in targets.items():
        end = ends[row.file_id, row.qualified_name, row.signature]
        targets[at_row] = row._replace(end_line=end)
    claims = [targets[e.target] for e in named if e.confidence in _SAYS]
    return claims, [targets[e.target] for e in named if e.confidence not in _SAYS]


def is_meant(claim: SymbolRow, truth: dict[str, Any]) -> bool:
    """Whether a symbol is the one that is right."""
    name = truth["qualified_name"].rpartition(".")[2]
    around = claim.start_line <= truth["line"] <= claim.end_line
    return bool(claim.path == truth["path"] and claim.name == name and around)


def is_right(claim: SymbolRow, truths: list[dict[str, Any]], claims: list[SymbolRow]) -> bool:
    """Whether a claim is right; the class of a right constructor is too, and the other way round."""
    if any(is_meant(claim, truth) for truth in truths):
        return True
    others = [c for c in claims if any(is_meant(c, truth) for truth in truths)]
    return any(
        claim.qualified_name == other.qualified_name.rpartition(".")[0]
        or other.qualified_name == claim.qualified_name.rpartition(".")[0]
        for other in others
    )


def figures(count: dict[str, int]) -> dict[str, float | int]:
    """Return the figures of one language."""
    precision = count["said right"] / count["said"] if count["said"] else 1.0
    recall = count["found"] / count["decidable"] if count["decidable"] else 1.0
    return {
        "sites": count["sites"],
        "said": count["said"],
        "right": count["said right"],
        "precision": round(precision, 3),
        "decidable": count["decidable"],
        "found": count["found"],
        "recall": round(recall, 3),
    }


if __name__ == "__main__":
    main()
