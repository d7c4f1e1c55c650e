"""Ask whole commit messages, as long as bug reports: are the changed files and functions found?

    python bench/long_questions.py mine REPOSITORY… --out QUESTIONS.jsonl
    python bench/long_questions.py ask QUESTIONS.jsonl --checkouts DIR --work DIR --out FILE [--mode keyword]
    python bench/long_questions.py context QUESTIONS.jsonl --checkouts DIR --work DIR --out FILE
    python bench/long_questions.py compare BEFORE AFTER --out FILE

A question is the subject and body of a commit, or what the commit added to a changelog or as a news
fragment, of 60 words or more; trailers such as `Signed-off-by:` are left out. Relevant are the functions that
it changed and their files, as far as they exist today; tests do not count. Questions are asked as a person
would paste them. Half of the repositories were for choosing (CHOSEN), the other half is reported.

`context` compares the lines of `Index.context` with those of the hits of a search, read from the top until
the budget is spent: the share of the lines of the changed functions that is there.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from common import git, write_results

# Looked at while the reading of long texts was written; all others are for reporting.
CHOSEN = ("rack", "ripgrep", "gson", "gin", "hono")
# Those on which the weights of `Index.context` were chosen.
CONTEXT_CHOSEN = ("gin", "rack", "fluentd", "feign")
BUDGETS = (2_000, 8_000)
MIN_WORDS = 60
PER_REPOSITORY = 60
# A message that describes more files or functions describes none of them.
MAX_FILES, MAX_SYMBOLS = 10, 15
# Hits that are read: three files and ten functions are among them.
K = 40
TRAILER = re.compile(
    r"^(?:[A-Z][\w-]+-(?:by|on|url|id):|PR-URL:|(?:Fixes|Closes|Refs?|Resolves|Bug|Change-Id|cc|Reviewed|PiperOrigin"
    r"[\w-]*)\s*:?\s*(?:https?://\S+|#\d+|\S*#\d+)[.,)]?\s*$|---+$|\* (?:fix|wip|lint|typo)\b.{0,20}$)",
    re.IGNORECASE,
)
FRAGMENT = re.compile(r"(?:^|/)(?:changelog\.d|newsfragments|news|changes|\.changeset)/", re.IGNORECASE)
HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")


def main() -> None:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    mining = commands.add_parser("mine")
    mining.add_argument("repositories", type=Path, nargs="+")
    mining.add_argument("--out", type=Path, required=True)
    mining.set_defaults(run=mine)
    for name, run in (("ask", ask), ("context", context)):
        asking = commands.add_parser(name)
        asking.add_argument("questions", type=Path)
        asking.add_argument("--checkouts", type=Path, required=True)
        asking.add_argument("--work", type=Path, required=True, help="folder of the indexes")
        asking.add_argument("--mode", default="auto")
        asking.add_argument("--encoder", default="base")
        asking.add_argument("--only", default="", help="repositories, separated by commas")
        asking.add_argument("--out", type=Path, required=True)
        asking.set_defaults(run=run)
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path, help="BEFORE.json of `ask`")
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--out", type=Path)
    comparing.set_defaults(run=compare)
    options = parser.parse_args()
    options.run(options)


def mine(options: argparse.Namespace) -> None:
    """Write the questions of some repositories, the newest of each."""
    with options.out.open("w") as out:
        for repository in options.repositories:
            count = 0
            for question in questions_of(repository):
                out.write(json.dumps({"repo": repository.name, **question}) + "\n")
                out.flush()
                count += 1
                if count == PER_REPOSITORY:
                    break
            print(repository.name, count, file=sys.stderr, flush=True)


def questions_of(repository: Path) -> Iterator[dict[str, Any]]:
    """Give the questions of a repository, newest first."""
    from dowse.history.sources import Sources

    log = git(repository, "log", "--no-merges", "--format=%H%x00%an <%ae>%x00%B%x01")
    sources, seen = Sources(repository), set[str]()
    for entry in log.split("\x01"):
        commit, author, message = [*entry.strip("\n").split("\0"), "", ""][:3]
        text = readable(message)
        if "bot" in author.lower() or text.lower().startswith(("revert", "merge", "bump", "release")):
            continue
        if not commit or len(text.split()) < MIN_WORDS or text in seen:
            continue
        seen.add(text)
        files, symbols, added = changed(repository, commit, sources)
        if symbols and len(added.split()) >= MIN_WORDS:
            yield {"commit": commit[:12], "kind": "news", "query": added, "files": files, "symbols": symbols}
        if symbols:
            yield {
                "commit": commit[:12],
                "kind": "message",
                "query": text,
                "files": files,
                "symbols": symbols,
            }


def readable(message: str) -> str:
    """Return a message without trailers."""
    return "\n".join(line for line in message.splitlines() if not TRAILER.match(line.strip())).strip()


def changed(repository: Path, commit: str, sources: Any) -> tuple[list[str], list[str], str]:  # noqa: ANN401
    """Return the changed files and functions that exist today, and the text of news that was added."""
    from dowse.history.commits import changed_symbols
    from dowse.history.log import Hunk

    patch = git(repository, "show", "--format=", "--unified=0", "-M", commit)
    hunks: dict[str, list[Hunk]] = {}
    news: list[str] = []
    path = ""
    for line in patch.splitlines():
        if line.startswith("+++ "):
            path = line[6:] if line.startswith("+++ b/") else ""
        elif path and (match := HUNK.match(line)):
            hunks.setdefault(path, []).append(Hunk(int(match[1]), int(match[2] or 1)))
        elif line.startswith("+") and FRAGMENT.search(path):
            news.append(line[1:])
    own = [path for path in hunks if sources.is_own_code(path)]
    names: list[str] = []
    if len(own) > MAX_FILES:
        return [], [], ""
    for path in filter(sources.is_indexed, own):
        data = subprocess.run(
            ["git", "-C", repository, "show", f"{commit}:{path}"], capture_output=True, check=False
        ).stdout
        names += (
            f"{path}::{name}"
            for name in changed_symbols(data, path, hunks[path])
            if name in sources.names(path)
        )
    if not names or len(names) > MAX_SYMBOLS:
        return [], [], ""
    return sorted({name.partition("::")[0] for name in names}), names, readable("\n".join(news))


def ask(options: argparse.Namespace) -> None:
    """Ask every question and write where the right files and functions are."""
    rows = rows_of(options, lambda index, each: answer_row(index, each, options.mode))
    options.out.write_text(json.dumps(rows, indent=0) + "\n")
    for half, chosen in (("choosing", True), ("report", False)):
        print(half, summary([row for row in rows if (row["repo"] in CHOSEN) is chosen]))


def rows_of(
    options: argparse.Namespace, run: Callable[[Any, dict[str, Any]], dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the row of every question."""
    from dowse import Index

    rows: list[dict[str, Any]] = []
    asked = [json.loads(line) for line in options.questions.read_text().splitlines()]
    only = options.only.split(",") if options.only else list(dict.fromkeys(each["repo"] for each in asked))
    for name in only:
        with Index.open(
            options.checkouts / name,
            index_dir=str(options.work / name),
            encoder=options.encoder,
            processes=1,
        ) as index:
            index.update()
            rows += [run(index, each) for each in asked if each["repo"] == name]
        print(name, len(rows), file=sys.stderr, flush=True)
    return rows


def context(options: argparse.Namespace) -> None:
    """Write the share of the changed functions' lines within each budget, by repository."""
    rows = [row for row in rows_of(options, context_row) if row]
    names = list(dict.fromkeys(row["repo"] for row in rows))
    by_repository = {name: shares([row for row in rows if row["repo"] == name]) for name in names}
    figures: dict[str, Any] = {"by_repository": by_repository}
    for half, chosen in (("choosing", True), ("report", False)):
        some = [by_repository[name] for name in names if (name in CONTEXT_CHOSEN) is chosen]
        for column in some[0] if some else ():
            mean = statistics.mean(each[column] for each in some)
            figures.setdefault(half, {})[column] = round(mean, 3)
        print(half, figures.get(half))
    write_results(options.out, figures)


def shares(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return the means of the columns of questions."""
    columns = [name for name in rows[0] if name != "repo"]
    means = {name: round(statistics.mean(row[name] for row in rows), 3) for name in columns}
    return {"questions": len(rows), **means}


def context_row(index: Any, question: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401
    """Return the shares of the lines that are not blank, for one question."""
    from dowse.search.token_budget import file_text
    from dowse.token_estimate import estimate_tokens

    wanted = set(question["symbols"])
    found = [
        index.contents.symbol(row)
        for name in {each.rpartition(".")[2].rpartition("::")[2] for each in wanted}
        for row in index.symbols(name, 2_000)
        if row.row > 0 and f"{row.path}::{row.qualified_name}" in wanted
    ]
    every = {(each.path, number) for each in found for number, text in each.numbered_lines if text.strip()}
    if not every:
        return {}
    row: dict[str, Any] = {"repo": question["repo"]}
    hits = index.search(question["query"], 100, feedback=False).hits
    for budget in BUDGETS:
        answer = index.context(question["query"], budget)
        text = "\n\n".join(map(file_text, answer.files))
        assert estimate_tokens(text) <= budget, (estimate_tokens(text), budget)
        shown = {
            (file.path, number) for file in answer.files for each in file.ranges for number, _ in each.lines
        }
        for side, lines in (("context", shown), ("hits", read_from_top(hits, budget))):
            row[f"{side}@{budget}"] = len(lines & every) / len(every)
    return row


def read_from_top(hits: Any, budget: int) -> set[tuple[str, int]]:  # noqa: ANN401
    """Return the lines that are read of the hits, in their order, until the budget is spent."""
    from dowse.token_estimate import byte_length

    lines, left = set(), 3 * budget
    for hit in hits:
        for number, text in hit.symbol.numbered_lines:
            left -= byte_length(text) + 1
            if left < 0:
                return lines
            lines.add((hit.symbol.path, number))
    return lines


def answer_row(index: Any, question: dict[str, Any], mode: str) -> dict[str, Any]:  # noqa: ANN401
    """Return the ranks of the right files and functions."""
    started = time.process_time()
    answer = index.search(question["query"], K, mode=mode, feedback=False)
    seconds = time.process_time() - started
    files = list(dict.fromkeys(hit.symbol.path for hit in answer.hits))
    # A long function is stored in parts of one name.
    symbols = list(dict.fromkeys(f"{hit.symbol.path}::{hit.symbol.qualified_name}" for hit in answer.hits))
    return {
        **{"repo": question["repo"], "commit": question["commit"], "kind": question["kind"]},
        "files": [files.index(file) + 1 if file in files else 0 for file in question["files"]],
        "symbols": [symbols.index(each) + 1 if each in symbols else 0 for each in question["symbols"]],
        "cpu_ms": round(1000 * seconds, 1),
    }


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the share of questions with a right file among three, with all of them, and with a function."""
    if not rows:
        return {}

    def share(column: str, k: int, every: bool = False) -> float:
        test = all if every else any
        return round(statistics.mean(test(0 < rank <= k for rank in row[column]) for row in rows), 3)

    return {
        "questions": len(rows),
        "file@1": share("files", 1),
        "file@3": share("files", 3),
        "all_files@3": share("files", 3, every=True),
        "function@10": share("symbols", 10),
        "all_functions@10": share("symbols", 10, every=True),
    }


def compare(options: argparse.Namespace) -> None:
    """Write both sides: by half and by repository."""
    sides = {"before": json.loads(options.before.read_text()), "after": json.loads(options.after.read_text())}
    figures: dict[str, Any] = {}
    for half, chosen in (("choosing", True), ("report", False)):
        some = {
            side: [row for row in rows if (row["repo"] in CHOSEN) is chosen] for side, rows in sides.items()
        }
        names = dict.fromkeys(row["repo"] for row in some["after"])
        figures[half] = {
            side: {
                **summary(rows),
                "by_repository": {name: summary([r for r in rows if r["repo"] == name]) for name in names},
            }
            for side, rows in some.items()
        }
        for side in sides:
            print(half, side, {name: each for name, each in figures[half][side].items() if name[0] != "b"})
    if options.out:
        write_results(options.out, figures)


if __name__ == "__main__":
    main()
