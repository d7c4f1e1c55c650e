"""Ask questions whose accepted answers were written down before, each of one repository.

    python bench/questions.py bench/data/typos.jsonl --checkouts DIR --out bench/results/typos.json

Each question names a repository (a folder of DIR), its commit and the accepted symbols. An answer is right if
its first hit is one of them. Where words were corrected, split or joined, a note must say so.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from common import write_results


def main() -> None:
    """Ask every question."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--fuzziness", default="auto")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    by_repository: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in options.questions.read_text().splitlines():
        question = json.loads(line)
        by_repository[question["repo"]].append(question)
    rows = [
        row
        for repository, questions in by_repository.items()
        for row in ask(options.checkouts / repository, questions, options.fuzziness)
    ]
    figures = summary(rows)
    print(json.dumps(figures, indent=1))
    if options.out:
        write_results(options.out, {**figures, "answers": rows})


def ask(checkout: Path, questions: list[dict[str, Any]], fuzziness: str) -> list[dict[str, Any]]:
    """Return for each question the rank of the first accepted symbol (0: none of ten) and the notes."""
    from dowse import Index

    rows = []
    with Index.open(checkout, processes=1) as index:
        index.update()
        index.embed()
        for question in questions:
            answer = index.search(question["query"], fuzziness=fuzziness, feedback=False)
            accepted = {(each["path"], each["symbol"]) for each in question["accept"]}
            names = [(hit.symbol.path, hit.symbol.name) for hit in answer.hits]
            rank = next((place for place, name in enumerate(names, 1) if name in accepted), 0)
            notes = [f"{note.code}: {note.text}" for note in answer.notes]
            first = ":".join(names[0]) if names else ""
            row = {"id": question["id"], "kind": question["kind"], "query": question["query"]}
            rows.append({**row, "rank": rank, "first": first, "notes": notes})
            print(f"{rank:3} {question['id']:16} {question['query']:40} {first:50} {notes}", flush=True)
    return rows


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the shares of right first hits, by kind, and of answers with a note."""
    totals, first = Counter(row["kind"] for row in rows), Counter[str]()
    first.update(row["kind"] for row in rows if row["rank"] == 1)
    relaxed = [any(note.startswith("relaxed") for note in row["notes"]) for row in rows]
    nothing = [any(note.startswith("nothing-relevant") for note in row["notes"]) for row in rows]
    return {
        "questions": len(rows),
        "first": first.total() / len(rows),
        "first_by_kind": {kind: first[kind] / total for kind, total in totals.items()},
        "in_five": sum(1 <= row["rank"] <= 5 for row in rows) / len(rows),
        "with_note": sum(relaxed) / len(rows),
        "nothing_relevant_above_right": sum(
            bad and row["rank"] == 1 for bad, row in zip(nothing, rows, strict=True)
        ),
    }


if __name__ == "__main__":
    main()
