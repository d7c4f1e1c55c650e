"""What fixed policies of an agent read, at which cost: no model, no claim about what an agent would do.

    REPOS=… CASES=… python bench/agent.py --out bench/results/agent.json

A task is a commit subject of bench/manifests/agent.json (mine the cases with `dowse eval --build --level
symbol`). A policy calls tools and reads every answer from top to bottom: it pays for the arguments and for
each line, three bytes a token, and has read a line once it has paid for all of it. Reported are the shares
of two sets of lines, by tokens and by calls: all lines of the functions that the commit changed (`lines`),
and those of them that git blame still attributes to it (`touched`; tasks without any are left out there).
The form of answers was chosen on the repositories of CHOSEN_ON; the others are held out.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from statistics import fmean

from dowse.errors import DowseError
from dowse.eval.clean_index import open_clean_index
from dowse.eval.index_targets import IndexTargets
from dowse.eval.manifest import read_manifest
from dowse.eval.run import embed, learn, prepare_index, search_root
from dowse.eval.systems.ripgrep import ripgrep
from dowse.eval.types import Case, Dataset, RankedSearch
from dowse.index import Index
from dowse.interfaces.mcp.arguments import SEARCH_MODEL, Arguments, SymbolArguments
from dowse.interfaces.mcp.reply import Reply, ToolContext
from dowse.interfaces.mcp.repositories import Repositories
from dowse.interfaces.mcp.search_tools import search
from dowse.interfaces.mcp.symbol_tools import symbol
from dowse.interfaces.mcp.tools import TOOLS
from dowse.services.calls import Call
from dowse.token_estimate import BYTES_PER_TOKEN, byte_length, estimate_tokens

from common import write_results

CHOSEN_ON = ("requests", "gin", "monolog", "express")
TOKENS = (500, 1_000, 2_000, 4_000, 8_000)
CALLS = (1, 2, 3, 5, 10)
ANSWER_TOKENS = 2_000
_HEADING = re.compile(r"(?:\d+\. )?(\S+):(\d+)-\d+(?: .*?)??(?: \((\d+) of (\d+) lines\))?\Z")
_NUMBERED = re.compile(r"(\d+)  ")
# A call's arguments, and its answer.
Exchange = tuple[Mapping[str, object], str]
# A line of code: the id of its file, and its number.
CodeLine = tuple[int, int]
# Files whose names ripgrep lists before the first is opened, and lines around its matches (`rg -C 5`). Chosen
# in favour of ripgrep: with 3 lines fewer of the targets' lines are read, with 10 fewer targets.
LISTED, AROUND = 10, 5


@dataclass(frozen=True, slots=True)
class Tree:
    """One repository with its index, and the lines of each task."""

    name: str
    index: Index
    context: ToolContext
    dataset: Dataset
    code: Mapping[str, frozenset[CodeLine]]
    files: Mapping[str, int]
    blamed: dict[str, list[str]] = field(default_factory=dict)

    def lines(self, case: Case) -> frozenset[CodeLine]:
        """Return the lines of the functions that a commit changed."""
        qrels = case.qrels(self.dataset.level)
        return frozenset().union(*(self.code[key] for key, grade in qrels.items() if grade > 0))

    def touched(self, case: Case) -> frozenset[CodeLine]:
        """Return those of them that are still as the commit left them."""
        paths = {file_id: path for path, file_id in self.files.items()}
        return frozenset(
            (file_id, number)
            for file_id, number in self.lines(case)
            if self._blame(paths[file_id])[number - 1 : number] == [case.id]
        )

    def _blame(self, path: str) -> list[str]:
        """Return the commit of each line of a file, by the characters that name a case."""
        if path not in self.blamed:
            command = ["git", "-C", self.index.root, "blame", "-s", "-l", "--root", "HEAD", "--", path]
            done = subprocess.run(command, capture_output=True, check=True)
            self.blamed[path] = [line[:12].decode() for line in done.stdout.splitlines()]
        return self.blamed[path]


def main() -> None:
    """Play every policy on every task."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, default=Path(__file__).parent / "manifests" / "agent.json")
    parser.add_argument("--tasks", type=int, default=45, help="of each repository, the newest first")
    parser.add_argument("--policies", default=",".join(POLICIES), help="names, with commas")
    options = parser.parse_args()
    names = options.policies.split(",")
    rows: dict[str, dict[str, list[dict[str, float]]]] = {name: {} for name in names}
    for tree in trees(options.manifest):
        for case in islice(tree.dataset.scored_cases, options.tasks):
            lines, touched = tree.lines(case), tree.touched(case)
            for name in names:
                outcome = measured(tree, POLICIES[name](tree, case.query), lines, touched)
                rows[name].setdefault(tree.name, []).append(outcome)
        print(
            tree.name,
            {name: round(fmean(row["lines@2000"] for row in rows[name][tree.name]), 3) for name in names},
        )
    tasks = sum(len(each) for each in rows[names[0]].values())
    results = {name: {half: curve(rows[name], half) for half in ("chosen_on", "held_out")} for name in names}
    by_tree = {name: {tree: mean(each) for tree, each in rows[name].items()} for name in names}
    write_results(
        options.out,
        {"tasks": tasks, "tool_listings": listing_tokens(), "policies": results, "trees": by_tree},
    )


def trees(manifest: Path) -> Iterator[Tree]:
    """Give every repository with its index, up to date, and the tools of the server for it."""
    for entry in read_manifest(manifest):
        for dataset in entry.datasets():
            with open_clean_index(search_root(dataset, entry.watched_dir), [dataset]) as index:
                prepare_index(index)
                embed(index)
                learn(index, dataset)
                kept = {"index_dir": index.settings.index_dir, "refresh": "never", "isolation": "never"}
                repositories = Repositories(kept)
                context = ToolContext(repositories.open([index.root]), Call())
                files = {file.path: file.file_id for file in index.contents.files()}
                yield Tree(entry.name, index, context, dataset, target_lines(index, dataset), files)
                repositories.close()


def target_lines(index: Index, dataset: Dataset) -> dict[str, frozenset[CodeLine]]:
    """Return the lines of every relevant symbol that are not blank."""
    targets = IndexTargets(index, dataset)
    with index.backend.reader() as reader:
        return {
            target.key: frozenset(
                (row.file_id, number)
                for row in targets.symbols(target)
                for number, text in reader.symbols([row])[0].numbered_lines
                if text.strip()
            )
            for target in targets.all
        }


@lru_cache(maxsize=1)
def prepared_ripgrep(index: Index) -> RankedSearch:
    """Return ripgrep over a copy of an index's files, made once."""
    return ripgrep(index)


def grep(tree: Tree, query: str, *, whole: bool) -> Iterator[Exchange]:
    """List files with the words of the query, then read them whole, or windows around the best matches.

    Files come best first, which favours the baseline: ripgrep prints them unordered.
    """
    results = prepared_ripgrep(tree.index)(query, 100)
    yield {"pattern": query}, "\n".join(each.path for each in results[:LISTED])
    for each in results:
        first, last = (0, None) if whole else (max(0, each.start_line - 1 - AROUND), each.end_line + AROUND)
        lines = list(enumerate((tree.index.root / each.path).read_text(errors="replace").split("\n"), 1))
        shown = [f"{number}  {text}" for number, text in lines[first:last] if text.strip()]
        heading = f"1. {each.path}:{first + 1}-{last or len(lines)}"
        yield {"path": each.path, "offset": first}, "\n".join([heading, *shown])


def search_and_read(tree: Tree, query: str, **more: object) -> Iterator[Exchange]:
    """Search once, then read the hits that were cut, best first, and the next page."""
    for offset in (0, 10):
        arguments = {"query": query, "max_tokens": ANSWER_TOKENS, "offset": offset, **more}
        text = answered(search, tree.context, SEARCH_MODEL(**arguments))
        yield arguments, text
        for line in text.split("\n"):
            heading = _HEADING.match(line)
            if heading and heading[3]:
                target = {"symbol": f"{heading[1]}:{heading[2]}"}
                yield target, answered(symbol, tree.context, SymbolArguments(**target))


def search_pages(tree: Tree, query: str) -> Iterator[Exchange]:
    """Search, and turn the pages."""
    for offset in range(0, 100, 10):
        arguments = {"query": query, "max_tokens": ANSWER_TOKENS, "offset": offset}
        yield arguments, answered(search, tree.context, SEARCH_MODEL(**arguments))


def answered(tool: Callable[..., Reply], context: ToolContext, arguments: Arguments) -> str:
    """Return an answer, or the error that an agent reads in its place."""
    try:
        return tool(context, arguments).text
    except DowseError as error:
        return str(error)


POLICIES: dict[str, Callable[[Tree, str], Iterator[Exchange]]] = {
    "grep+read": partial(grep, whole=True),
    "grep+window": partial(grep, whole=False),
    "search": search_pages,
    "search+symbol": search_and_read,
    "search+symbol plain": partial(search_and_read, plain=True),
}


def measured(
    tree: Tree, exchanges: Iterable[Exchange], lines: frozenset[CodeLine], touched: frozenset[CodeLine]
) -> dict[str, float]:
    """Return the shares of the lines that are read after so many tokens and calls."""
    paid, first = 0, dict[CodeLine, tuple[int, int]]()  # bytes and calls when each line was first read
    costs = []
    for call, (arguments, text) in enumerate(islice(exchanges, max(CALLS)), 1):
        paid += byte_length(json.dumps(arguments))
        for line, shown in read_lines(tree, text):
            paid += byte_length(shown) + 1
            if line is not None:
                first.setdefault(line, (paid, call))
        costs.append(paid)
        if paid > max(TOKENS) * BYTES_PER_TOKEN:
            break
    row = {f"tokens_of_call@{call}": costs[min(call, len(costs)) - 1] / BYTES_PER_TOKEN for call in CALLS}
    for name, wanted in (("lines", lines), ("touched", touched)):
        if wanted:
            found = [first[line] for line in wanted if line in first]
            for limit in TOKENS:
                read = sum(cost <= limit * BYTES_PER_TOKEN for cost, _ in found)
                row[f"{name}@{limit}"] = read / len(wanted)
            for limit in CALLS:
                row[f"{name}_by_call@{limit}"] = sum(call <= limit for _, call in found) / len(wanted)
    return row


def read_lines(tree: Tree, text: str) -> Iterator[tuple[CodeLine | None, str]]:
    """Give the lines of an answer, and which line of code each is."""
    file_id = 0
    for line in text.split("\n"):
        heading, numbered = _HEADING.match(line), _NUMBERED.match(line)
        if heading:
            file_id = tree.files.get(heading[1], 0)
        yield ((file_id, int(numbered[1])) if numbered and file_id else None), line


def mean(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each measure over the tasks that have it."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: round(fmean(row[name] for row in rows if name in row), 4) for name in names}


def curve(rows: Mapping[str, Sequence[Mapping[str, float]]], half: str) -> dict[str, float]:
    """Return the mean over repositories of one half."""
    chosen = [mean(each) for tree, each in rows.items() if (tree in CHOSEN_ON) == (half == "chosen_on")]
    return mean(chosen) if chosen else {}


def listing_tokens() -> int:
    """Return what the list of tools costs in every session, in tokens."""
    tools = [tool.listing(name, structured=False) for name, tool in TOOLS.items()]
    return estimate_tokens(json.dumps([each.model_dump(by_alias=True, exclude_none=True) for each in tools]))


if __name__ == "__main__":
    main()
