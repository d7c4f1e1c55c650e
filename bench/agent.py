"""Tokens until an agent has read the right lines: fixed policies with known answers, without a model.

    DATA=… REPOS=… python bench/agent.py --semble PYTHON --out FILE

Questions are those of bench/manifests/repos.json, in turn from each repository; the first 150 are reported,
the form of answers was chosen on the others (`--half chosen`). A policy calls tools and pays for the
arguments and the whole answer of every call, and once for what its tools keep in an agent's context:
instructions, and the list of tools with their schemas. It ends with the call whose answer brings it to three
lines that are not blank of a right file, or of the lines in it that the label names; only lines count that
follow their path. Every policy that has not found them after its searches goes on as grep+read.

- dowse: `search`, then its next two pages.
- semble: `search` with 5 hits, then with 20, each with 10 lines, as its tool has it by default.
- grep+read: ripgrep lists files with the words of the question, best first, which favours it, as ripgrep
  itself does not order them; then they are read whole, 2,000 lines at most.
- grep+window: the same, but only the lines of the best passage and 5 around them are read.

Tokens are those of o200k_base if tiktoken has it, else UTF-8 bytes / 3; results say which.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from statistics import fmean, median
from typing import Any

from dowse.errors import DowseError
from dowse.eval.clean_index import open_clean_index
from dowse.eval.manifest import read_manifest
from dowse.eval.matching import SPAN, same_path
from dowse.eval.run import embed, prepare_index, search_root
from dowse.eval.systems.ripgrep import ripgrep
from dowse.eval.types import Case, Dataset, RankedSearch
from dowse.index import Index
from dowse.interfaces.mcp.arguments import SEARCH_MODEL
from dowse.interfaces.mcp.reply import ToolContext
from dowse.interfaces.mcp.repositories import Repositories
from dowse.interfaces.mcp.search_tools import search
from dowse.interfaces.mcp.tools import DEFAULT_TOOLS, INSTRUCTIONS, TOOLS
from dowse.services.calls import Call
from dowse.token_estimate import estimate_tokens

from common import percentile, write_results

REPORTED = 150
# Lines that confirm a place, as a signature and the beginning of a body do.
CONFIRMING_LINES = 3
# Files that ripgrep lists, lines around its matches, and lines of a file that one call reads.
LISTED, AROUND, READ_LINES = 10, 5, 2_000
# A policy that has found nothing by then is charged this.
MAX_TOKENS = 100_000
_HEADING = re.compile(r"(?:\d+\. )?(\S+):\d+-\d+(?: .*)?\Z")
_NUMBERED = re.compile(r"(\d+)  ")
# What a call costs: arguments and answer; and the lines of code in the answer.
Line = tuple[str, int]
Exchange = tuple[Mapping[str, object], str, Iterable[Line]]
Policy = Callable[["Tree", str], Iterator[Exchange]]


@dataclass
class Tree:
    """One repository, ready to be asked by every tool."""

    dataset: Dataset
    index: Index
    context: ToolContext
    grep: RankedSearch
    semble: Semble | None


class Semble:
    """semble in a process of its own, with one repository."""

    def __init__(self, python: Path, root: Path, vectors: str) -> None:
        worker = Path(__file__).with_name("peers_workers.py")
        command = [python, worker, "semble-answers", root, *([vectors] if vectors else [])]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.resident: str = self._line()

    def answer(self, query: str, top_k: int) -> str:
        """Return the answer of its tool."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"query": query, "top_k": top_k}) + "\n")
        self._process.stdin.flush()
        return self._line()

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("semble ended; its error is above")
        return str(json.loads(line))


def main() -> None:
    """Play every policy on every question."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, default=Path(__file__).parent / "manifests" / "repos.json")
    parser.add_argument("--half", choices=("reported", "chosen"), default="reported")
    parser.add_argument("--only", default="", help="names of repositories, with commas")
    parser.add_argument("--semble", type=Path, help="the Python of a virtual environment with semble")
    parser.add_argument(
        "--semble-vectors",
        default="",
        help="an encoder of dowse for semble, where its model can't be fetched",
    )
    options = parser.parse_args()
    counter, counted_by = token_counter()
    names = [name for name in POLICIES if name != "semble" or options.semble]
    resident = {"dowse": resident_text()}
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    by_tree: dict[str, dict[str, float]] = {}
    datasets = [each for entry in read_manifest(options.manifest) for each in entry.datasets()]
    for dataset, cases in halves(datasets, options.half):
        if options.only and dataset.name.rpartition("/")[2] not in options.only.split(","):
            continue
        with open_tree(dataset, options.semble, options.semble_vectors) as tree:
            if tree.semble:
                resident["semble"] = tree.semble.resident
            own: dict[str, list[dict[str, float]]] = {name: [] for name in names}
            for case in cases:
                for name in names:
                    kept = counter(resident.get(name, ""))
                    own[name].append(played(POLICIES[name](tree, case.query), case, kept, counter))
        for name in names:
            rows[name] += own[name]
        by_tree[dataset.name] = {name: round(fmean(row["tokens"] for row in own[name])) for name in names}
        print(dataset.name, by_tree[dataset.name], flush=True)
    totals = {name: summary(each) for name, each in rows.items()}
    ratios = {
        f"dowse / {name}": round(totals["dowse"]["mean"] / totals[name]["mean"], 3)
        for name in names
        if name != "dowse"
    }
    results = {
        "questions": len(rows["dowse"]),
        "tokens": counted_by,
        "resident": {name: counter(text) for name, text in resident.items()},
        "semble_vectors": options.semble_vectors or "its own model",
        "until_read": totals,
        "ratios": ratios,
        "mean_by_repository": by_tree,
    }
    write_results(options.out, results)


def halves(datasets: Sequence[Dataset], half: str) -> Iterator[tuple[Dataset, list[Case]]]:
    """Give the questions of one half: in turn from each repository, the first ones are reported."""
    turns = zip_longest(*([(each, case) for case in each.scored_cases] for each in datasets))
    order = [pair for turn in turns for pair in turn if pair is not None]
    chosen = order[:REPORTED] if half == "reported" else order[REPORTED:]
    for dataset in datasets:
        cases = [case for owner, case in chosen if owner is dataset]
        if cases:
            yield dataset, cases


@contextlib.contextmanager
def open_tree(dataset: Dataset, semble: Path | None, vectors: str) -> Iterator[Tree]:
    """Give a repository with its index, up to date, and the tools for it."""
    root = search_root(dataset)
    with open_clean_index(root, [dataset]) as index:
        prepare_index(index)
        embed(index)
        kept = {"index_dir": index.settings.index_dir, "refresh": "never", "isolation": "never"}
        repositories = Repositories(kept)
        context = ToolContext(repositories.open([index.root]), Call())
        worker = Semble(semble, root, vectors) if semble else None
        yield Tree(dataset, index, context, ripgrep(index), worker)
        if worker:
            worker.close()
        repositories.close()


def dowse(tree: Tree, query: str) -> Iterator[Exchange]:
    """Search, turn two pages, then grep."""
    offset = 0
    for _ in range(3):
        arguments = {"query": query, **({"offset": offset} if offset else {})}
        try:
            text = search(tree.context, SEARCH_MODEL(**arguments)).text
        except DowseError as error:
            text = str(error)
        yield arguments, text, dowse_lines(text)
        more = re.search(r"\(more: offset=(\d+)\)\Z", text)
        if more is None:
            break
        offset = int(more[1])
    yield from grep_and_read(tree, query)


def dowse_lines(text: str) -> Iterator[Line]:
    """Give the lines of code of an answer of dowse."""
    path = ""
    for line in text.split("\n"):
        heading, numbered = _HEADING.match(line), _NUMBERED.match(line)
        if heading:
            path = heading[1]
        elif numbered and path and line[numbered.end() :].strip():
            yield path, int(numbered[1])


def semble(tree: Tree, query: str) -> Iterator[Exchange]:
    """Search, ask for more hits, then grep."""
    assert tree.semble is not None
    for top_k in (5, 20):
        text = tree.semble.answer(query, top_k)
        arguments = {"query": query, "repo": str(tree.index.root), **({"top_k": 20} if top_k == 20 else {})}
        hits: list[dict[str, Any]] = json.loads(text).get("results", [])
        lines = (
            (hit["file_path"], hit["start_line"] + number)
            for hit in hits
            for number, line in enumerate(hit["content"].splitlines())
            if line.strip()
        )
        yield arguments, text, lines
    yield from grep_and_read(tree, query)


def grep_and_read(tree: Tree, query: str) -> Iterator[Exchange]:
    """List files by words, and read them whole."""
    return _grep(tree, query, whole=True)


def grep_and_window(tree: Tree, query: str) -> Iterator[Exchange]:
    """List files by words, and read the best passage of each, then whole files."""
    yield from _grep(tree, query, whole=False)
    yield from grep_and_read(tree, query)


def _grep(tree: Tree, query: str, *, whole: bool) -> Iterator[Exchange]:
    results = tree.grep(query, 1_000)
    yield {"pattern": query}, "\n".join(each.path for each in results[:LISTED]), ()
    for each in results:
        first, last = (
            (0, READ_LINES) if whole else (max(0, each.start_line - 1 - AROUND), each.end_line + AROUND)
        )
        text = (tree.index.root / each.path).read_text(errors="replace")
        lines = list(enumerate(text.split("\n"), 1))[first:last]
        shown = "\n".join(f"{number}\t{line}" for number, line in lines)
        arguments = (
            {"path": each.path} if whole else {"path": each.path, "offset": first, "limit": len(lines)}
        )
        yield arguments, shown, ((each.path, number) for number, line in lines if line.strip())


POLICIES: dict[str, Policy] = {
    "dowse": dowse,
    "semble": semble,
    "grep+read": grep_and_read,
    "grep+window": grep_and_window,
}


def played(
    exchanges: Iterable[Exchange], case: Case, resident: int, counter: Callable[[str], int]
) -> dict[str, float]:
    """Return what has been paid when the right lines are read, after how many calls."""
    targets = [target for target, grade in case.qrels("file").items() if grade > 0]
    read: dict[str, set[Line]] = {target: set() for target in targets}
    paid, first = resident, 0
    for call, (arguments, text, lines) in enumerate(exchanges, 1):
        answer = counter(text)
        paid += counter(json.dumps(arguments)) + answer
        first = first or answer
        for line in lines:
            for target in targets:
                if is_right(line, target):
                    read[target].add(line)
        if any(len(found) >= min(CONFIRMING_LINES, span_length(target)) for target, found in read.items()):
            return {"tokens": min(paid, MAX_TOKENS), "calls": call, "found": 1, "first_answer": first}
        if paid >= MAX_TOKENS:
            break
    return {"tokens": MAX_TOKENS, "calls": call, "found": 0, "first_answer": first}


def is_right(line: Line, target: str) -> bool:
    """Whether a line is in a file, or in the lines of it, that answer a question."""
    path, number = line
    span = SPAN.search(target)
    if span is None:
        return same_path(path, target)
    return same_path(path, target[: span.start()]) and int(span[1]) <= number <= int(span[2] or span[1])


def span_length(target: str) -> int:
    """Return how many lines a target has, as far as its label says."""
    span = SPAN.search(target)
    return int(span[2] or span[1]) - int(span[1]) + 1 if span else READ_LINES


def summary(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return mean, median and tail of the tokens, and how many questions the first call answers."""
    tokens = [row["tokens"] for row in rows]
    return {
        "mean": round(fmean(tokens)),
        "median": round(median(tokens)),
        "p90": round(percentile(tokens, 0.9)),
        "first_call": round(fmean(row["found"] and row["calls"] == 1 for row in rows), 3),
        "found": round(fmean(row["found"] for row in rows), 3),
        "median_first_answer": round(median(row["first_answer"] for row in rows)),
        "longest_first_answer": max(row["first_answer"] for row in rows),
    }


def resident_text() -> str:
    """Return what an agent keeps in its context: the instructions, and the list of tools."""
    tools = [TOOLS[name].listing(name) for name in DEFAULT_TOOLS]
    listed = [each.model_dump(by_alias=True, exclude_none=True) for each in tools]
    return f"{INSTRUCTIONS}\n{json.dumps(listed, separators=(',', ':'), ensure_ascii=False)}"


def token_counter() -> tuple[Callable[[str], int], str]:
    """Return a function that counts tokens, and by what it counts."""
    try:
        import tiktoken

        encoding = tiktoken.get_encoding("o200k_base")
    except Exception:
        return estimate_tokens, "UTF-8 bytes / 3"
    return lambda text: len(encoding.encode(text, disallowed_special=())), "o200k_base"


if __name__ == "__main__":
    main()
