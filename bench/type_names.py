"""Whether the bare name of a type finds the type, for every type of some checkouts.

    python bench/type_names.py CHECKOUT … [--encoder base] [--work DIR] [--out bench/results/type_names.json]

Every class, interface, struct, enum, trait and type alias outside tests, examples, generated and vendored
code is asked for by its name alone; names with a leading underscore are left out. It counts as found if the
first hit is a type of that name.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from dowse import Index
from dowse.graph.model import role_order
from dowse.types import TYPE_KINDS, SymbolRow

from common import work_folder, write_results

SHOWN = 20


def main() -> None:
    """Ask for every type of every checkout."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkouts", type=Path, nargs="+")
    parser.add_argument("--encoder", default="none")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    table: dict[str, object] = {}
    right = total = 0
    with work_folder(options.work) as work:
        for checkout in options.checkouts:
            place = str(work / f"types-{checkout.name}")
            settings = {"index_dir": place, "encoder": options.encoder, "isolation": "never"}
            with Index.open(checkout, **settings) as index:
                index.update()
                if options.encoder != "none":
                    index.embed()
                found, asked, languages, failures = measure(index)
            right, total = right + found, total + asked
            share = round(found / max(1, asked), 4)
            table[checkout.name] = {
                "types": asked,
                "first": found,
                "share": share,
                "languages": dict(languages.most_common()),
                "failures": failures,
            }
            print(checkout.name, asked, share, *failures[:SHOWN], sep="\n  ", file=sys.stderr, flush=True)
    results = {"encoder": options.encoder, "types": total, "first": right, "share": round(right / total, 4)}
    print(results, file=sys.stderr)
    if options.out:
        write_results(options.out, {**results, "checkouts": table})


def measure(index: Index) -> tuple[int, int, Counter[str], list[str]]:
    """Return how many names find their type, how many there are, their languages, and what went wrong."""
    by_name: dict[str, SymbolRow] = {}
    for row in index.symbols("*", 10**9):
        if is_own_type(row) and not row.name.startswith("_"):
            by_name.setdefault(row.name, row)
    failures = []
    for name, row in sorted(by_name.items()):
        hits = index.search(name, 1, plain=True, feedback=False).hits
        first = hits[0].symbol if hits else None
        if first is None or first.name != name or first.kind not in TYPE_KINDS:
            shown = f"{first.path}:{first.start_line} {first.kind} {first.qualified_name}" if first else "-"
            failures.append(f"{name} ({row.kind}, {row.path}:{row.start_line}): {shown}")
    return (
        len(by_name) - len(failures),
        len(by_name),
        Counter(row.language for row in by_name.values()),
        failures,
    )


def is_own_type(row: SymbolRow) -> bool:
    """Whether a symbol is a type of the project's own code."""
    return row.kind in TYPE_KINDS and row.kind != "impl" and bool(row.name) and not role_order(row)


if __name__ == "__main__":
    main()
