"""dowse beside ripgrep, zoekt, SQLite FTS5, universal-ctags, semble and codegraph, in one run, in turns.

    python bench/peers.py run --tools DIR REPOSITORY… [--out FILE]
    python bench/peers.py table FILE.json

A tool that is missing in DIR is left out and named: virtual environments `dowse` and `semble`, a model2vec
model for it in `model`, `bin` with rg, zoekt, zoekt-index and zoekt-webserver (their commit in
`zoekt.version`), and `codegraph`, where npm installed @colbymchenry/codegraph. docs/PEERS.md says what is
measured.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peers_workers import LOOP, any_word, text_files
from processes import timed

from common import milliseconds, work_folder, write_results

# Three questions and two names each; the names are all that ctags can be asked.
QUERIES = {
    "flask": [
        "parse cookie header",
        "register error handler",
        "load config from file",
        "url_for",
        "Blueprint",
    ],
    "pydantic": [
        "validate email address",
        "generate json schema",
        "resolve forward reference",
        "BaseModel",
        "Field",
    ],
    "hono": ["parse cookie header", "match route pattern", "stream response body", "HonoRequest", "compose"],
    "gson": ["parse json string", "read null value", "register type adapter", "JsonReader", "TypeAdapter"],
    "assertj": [
        "compare two lists",
        "format error message",
        "recursive comparison",
        "isEqualTo",
        "SoftAssertions",
    ],
    "rfcs": [
        "why futures are pinned",
        "how a lint level is set",
        "order in which fields are dropped",
        "Future",
        "Deref",
    ],
}
NAME = 3  # the first of the names
PROSE = {"rfcs"}  # semble reads code alone unless it is told otherwise
WORDS = "dowse, words alone"
TOOLS = ("dowse", WORDS, "semble", "codegraph", "ripgrep", "zoekt", "FTS5", "ctags")
WARM_RUNS = 20
# Half of semble's first answer.
BAR = 0.5
_CODEGRAPH = "codegraph/node_modules/.bin/codegraph"
_WARM_DOWSE = "import sys; from dowse import Index; index = Index.open(sys.argv[1], index_dir=sys.argv[2])"
_WARM_SEMBLE = "import sys; from semble import SembleIndex; index = SembleIndex.from_path(sys.argv[1])"


@dataclass(frozen=True)
class Tool:
    """How a tool is asked about one repository; its files go to one folder, which starts empty."""

    index: list[str] | None  # None: there is no index, or the first search makes it
    search: Callable[[str], list[str]]
    env: dict[str, str]
    cold: tuple[str, ...] = ()  # flags of a search that no process left by an earlier one may answer
    warm: list[str] | None = None
    names_only: bool = False
    search_indexes: bool = False


def main() -> None:
    """Measure, or print a result as tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    run_command = commands.add_parser("run")
    run_command.set_defaults(run=compare)
    run_command.add_argument("repositories", type=Path, nargs="+")
    run_command.add_argument("--tools", type=Path, required=True, help="folder of the tools")
    run_command.add_argument("--rounds", type=int, default=3, help="first answers, and new processes a query")
    run_command.add_argument("--first-answers", action="store_true", help="of dowse and semble, nothing else")
    run_command.add_argument("--limit", type=float, default=900, help="seconds for one full index")
    run_command.add_argument("--work", type=Path)
    run_command.add_argument("--out", type=Path)
    table_command = commands.add_parser("table")
    table_command.add_argument("result", type=Path)
    table_command.set_defaults(run=lambda o: print(table(json.loads(o.result.read_text())["results"])))
    options = parser.parse_args()
    options.run(options)


def compare(options: argparse.Namespace) -> None:
    """Measure all tools on each repository; the result is written after each, so that a stop loses little."""
    tools = options.tools.resolve()
    found = versions(tools)
    if options.first_answers:
        found = {name: found[name] for name in ("dowse", WORDS, "semble")}
    results: dict[str, Any] = {
        "versions": found,
        "left_out": [name for name in TOOLS if name not in found],
        "cores": os.cpu_count(),
        "bar": f"first answer ≤ {BAR} × semble's",
        "repositories": {},
    }
    for repository in options.repositories:
        with work_folder(options.work and options.work / repository.name) as work:
            results["repositories"][repository.name] = measure(
                tools, found, repository.resolve(), work, options
            )
        if options.out:
            write_results(options.out, results)
    print(table(results))


def versions(tools: Path) -> dict[str, str]:
    """Return the version of each tool that is there."""
    dowse, semble, zoekt = tools / "dowse/bin/dowse", tools / "semble/bin/semble", tools / "bin/zoekt"
    commands: dict[str, list[Any]] = {
        "dowse": [dowse, "--version"],
        WORDS: [dowse, "--version"],
        "semble": [semble, "--version"],
        "codegraph": [tools / _CODEGRAPH, "--version"],
        "ripgrep": [tools / "bin/rg", "--version"],
        "zoekt": ["cat", tools / "zoekt.version"],
        "ctags": ["ctags", "--version"],
    }
    known = {"FTS5": f"SQLite {sqlite3.sqlite_version}"}
    for name, command in commands.items():
        if shutil.which(zoekt if name == "zoekt" else command[0]):
            said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
            known[name] = said[0] if said else "unknown"
    return known


def tool(name: str, tools: Path, root: Path, folder: Path) -> Tool:
    """Return how a tool is called, with all that it writes below a folder."""
    home = {"HOME": str(folder / "home"), "XDG_CACHE_HOME": str(folder / "cache")}
    here = [sys.executable, str(Path(__file__).with_name("peers_workers.py"))]
    at, store = str(root), str(folder / "index")
    if name in ("dowse", WORDS):
        mode, embed = ("keyword", ["--no-embed"]) if name == WORDS else ("auto", [])
        dowse, place = str(tools / "dowse/bin/dowse"), [at, "--index-dir", store]
        env = {**home, "XDG_RUNTIME_DIR": str(folder / "run")}
        code = f"{_WARM_DOWSE}\nask = lambda query: index.search(query, k=10, mode={mode!r}).hits{LOOP}"
        return Tool(
            [dowse, "index", *place, "--quiet", *embed],
            lambda query: [dowse, "search", query, *place, "--mode", mode],
            env,
            ("--no-daemon",),
            [str(tools / "dowse/bin/python"), "-c", code, at, store],
            search_indexes=True,
        )
    if name == "semble":
        semble, env = str(tools / "semble/bin/semble"), {**home, "SEMBLE_MODEL_NAME": str(tools / "model")}
        code = f"{_WARM_SEMBLE}\nask = lambda query: index.search(query, top_k=10){LOOP}"
        warm_process = [str(tools / "semble/bin/python"), "-c", code, at]
        content = ["--content", "all"] if root.name in PROSE else []
        return Tool(
            None, lambda query: [semble, "search", query, at, "-k", "10", *content], env, warm=warm_process
        )
    if name == "codegraph":
        codegraph, tree = str(tools / _CODEGRAPH), linked_tree(root, folder)
        env = {**home, "DO_NOT_TRACK": "1", "CODEGRAPH_TELEMETRY": "0"}
        search = lambda query: [codegraph, "query", "-p", str(tree), query]  # noqa: E731
        return Tool([codegraph, "init", "--yes", str(tree)], search, env)
    if name == "ripgrep":
        words = lambda query: [part for word in query.split() for part in ("-e", word)]  # noqa: E731
        return Tool(None, lambda query: [str(tools / "bin/rg"), "-n", "-i", "-F", *words(query), at], home)
    if name == "zoekt":
        return Tool(
            [str(tools / "bin/zoekt-index"), "-index", store, at],
            lambda query: [str(tools / "bin/zoekt"), "-index_dir", store, any_word(query)],
            home,
            warm=[*here, "zoekt-warm", store, str(tools / "bin/zoekt-webserver")],
        )
    if name == "FTS5":
        return Tool(
            [*here, "fts5-index", store, at],
            lambda query: [*here, "fts5-search", store, query],
            home,
            warm=[*here, "fts5-warm", store],
        )
    tag = lambda query: ["readtags", "-t", store, "-i", query]  # noqa: E731
    return Tool(["ctags", "-R", "-f", store, at], tag, home, names_only=True)


def linked_tree(root: Path, folder: Path) -> Path:
    """Return a copy of hard links, whose `.codegraph`, where that tool writes, is below a folder."""
    tree = folder.with_name(f"{folder.name}-tree")
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(root, tree, symlinks=True, copy_function=os.link)
    (folder / "index").mkdir()
    (tree / ".codegraph").symlink_to(folder / "index")
    return tree


def measure(tools: Path, found: dict[str, str], root: Path, work: Path, options: Any) -> dict[str, Any]:  # noqa: ANN401
    """Measure first answers, then full indexes, then queries to those; in each, tools take turns."""
    queries = QUERIES.get(root.name, ["parse text", "error message", "read file", "parse", "Error"])
    names = [name for name in TOOLS if name in found]
    rows: dict[str, dict[str, Any]] = {name: {} for name in names}
    load_before = os.getloadavg()[0]
    firsts: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for turn in range(options.rounds):
        for name in names:
            firsts[name].append(first_answer(name, tools, root, work / f"first-{turn}-{name}", queries))
    for name in names:
        wall, cpu = (statistics.median(values) for values in zip(*firsts[name], strict=True))
        rows[name] |= {"first_answer_s": round(wall, 3), "first_answer_cpu_s": round(cpu, 3)}
    kept = {} if options.first_answers else full_tools(tools, names, root, work)
    for name, it in kept.items():
        rows[name] |= build(it, queries[0], options.limit)
        rows[name]["disk_mb"] = round(megabytes(work / f"full-{name}"), 1)
    for name, times in cold_queries(kept, queries, options.rounds).items():
        rows[name]["cold_query"] = milliseconds(times)
    for name, times in warm_queries(kept, queries).items():
        rows[name]["warm_query"] = milliseconds(times)
    listed = list(text_files(root))
    size = round(sum(len(text) for _, text in listed) / 1e6, 1)
    load = [round(load_before, 1), round(os.getloadavg()[0], 1)]
    return {"files": len(listed), "megabytes": size, "queries": queries, "load": load, "tools": rows}


def full_tools(tools: Path, names: list[str], root: Path, work: Path) -> dict[str, Tool]:
    """Return the tools with an empty folder each, for their full indexes."""
    return {name: tool(name, tools, root, fresh(work / f"full-{name}")) for name in names}


def first_answer(name: str, tools: Path, root: Path, folder: Path, queries: list[str]) -> tuple[float, float]:
    """Return the wall and CPU seconds from nothing to printed hits, with the index if there is a command."""
    it = tool(name, tools, root, fresh(folder))
    query = queries[NAME if it.names_only else 0]
    commands = [it.search(query)] if it.index is None or it.search_indexes else [it.index, it.search(query)]
    ran = [timed(command, it.env) for command in commands]
    if not ran[-1].output.strip():
        raise SystemExit(f"{name} found nothing for {query!r}")
    shutil.rmtree(folder, ignore_errors=True)
    return sum(each.seconds for each in ran), sum(each.cpu for each in ran)


def build(it: Tool, query: str, limit: float) -> dict[str, Any]:
    """Build the full index; return its seconds and the peak memory of all processes."""
    with_index = it.index or it.search(query)
    ran = timed(with_index, it.env, limit, sample=True)
    return {
        "index_s": round(ran.seconds, 2),
        "index_cpu_s": round(ran.cpu, 2),
        "index_finished": ran.finished,
        "peak_mb": round(ran.peak_mb),
    }


def cold_queries(kept: dict[str, Tool], queries: list[str], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of new processes, after one of each that isn't counted."""
    times: dict[str, list[float]] = {name: [] for name in kept}
    for turn in range(rounds + 1):
        for query in queries if turn else queries[:1]:
            for name, it in kept.items():
                if it.names_only and " " in query:
                    continue
                seconds = timed([*it.search(query), *it.cold], it.env).seconds
                if turn:
                    times[name].append(seconds)
    return times


def warm_queries(kept: dict[str, Tool], queries: list[str]) -> dict[str, list[float]]:
    """Return the seconds of answers of running processes, each after one round that isn't counted."""
    pipes: dict[str, Any] = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.DEVNULL,
    }
    running = {
        name: subprocess.Popen(it.warm, env={**os.environ, **it.env}, text=True, bufsize=1, **pipes)
        for name, it in kept.items()
        if it.warm
    }
    times: dict[str, list[float]] = {name: [] for name in running}
    for turn in range(len(queries) + WARM_RUNS):
        for name, process in running.items():
            process.stdin.write(queries[turn % len(queries)] + "\n")
            seconds, _ = process.stdout.readline().split()
            if turn >= len(queries):
                times[name].append(float(seconds))
    for process in running.values():
        process.stdin.close()
        process.wait()
    return times


def fresh(folder: Path) -> Path:
    """Return the folder, empty."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "run").mkdir(parents=True, mode=0o700)
    return folder


def megabytes(folder: Path) -> float:
    """Return the size of all files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def table(results: dict[str, Any]) -> str:
    """Return the figures as a Markdown table for each repository."""
    parts = []
    for name, measured in results["repositories"].items():
        rows = measured["tools"]
        parts.append(f"### {name}: {measured['files']:,} files, {measured['megabytes']} MB\n")
        columns = "first answer (CPU) | full index (CPU) | query, new process | query, warm | memory | disk"
        parts += [f"| tool | {columns} |", "|---|---|---|---|---|---|---|"]
        for tool_name, row in rows.items():
            first = f"{row['first_answer_s']:.2f} s ({row['first_answer_cpu_s']:.2f})"
            if "index_s" not in row:
                parts.append(f"| {tool_name} | {first} | – | – | – | – | – |")
                continue
            index = (
                f"{'' if row['index_finished'] else '> '}{row['index_s']:.2f} s ({row['index_cpu_s']:.1f})"
            )
            cold = f"{row['cold_query']['p50_ms']:.0f} ms"
            warm = f"{row['warm_query']['p50_ms']:.1f} ms" if "warm_query" in row else "–"
            sizes = f"{row['peak_mb']} MB | {row['disk_mb']} MB"
            parts.append(f"| {tool_name} | {first} | {index} | {cold} | {warm} | {sizes} |")
        for mine in ("dowse", WORDS) if {"dowse", "semble"} <= rows.keys() else ():
            wall, cpu = (rows[mine][m] / rows["semble"][m] for m in ("first_answer_s", "first_answer_cpu_s"))
            parts.append(
                f"\nFirst answer of {mine}: {wall:.2f} × semble's, CPU time {cpu:.2f} × (bar: {BAR})."
            )
        parts.append("")
    return "\n".join(parts)


if __name__ == "__main__":
    main()
