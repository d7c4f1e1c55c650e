"""dowse beside ripgrep, zoekt, SQLite FTS5, universal-ctags and semble, in one run and taking turns.

    python bench/peers.py install --tools DIR [--zoekt-source CHECKOUT]
    python bench/peers.py run --tools DIR REPOSITORY… [--out bench/results/peers.json]
    python bench/peers.py table bench/results/peers.json

A tool that is missing in DIR is left out and named. semble's default model can't be had without a download,
so `install` makes one of the same shape with random vectors: right for times and sizes, useless for quality.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

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
}
NAME = 3  # the first of the names
TOOLS = ("dowse", "semble", "ripgrep", "zoekt", "FTS5", "ctags")
WARM_RUNS = 20
# Half of semble's first answer.
BAR = 0.5
# Of potion-code-16M-v2, semble's default: 63,500 tokens of 256 dimensions as float16 are its 32.5 MB.
MODEL_TOKENS, MODEL_DIMENSIONS = 63_500, 256
_LARGEST_FILE = 1_000_000  # as semble and dowse
_MARK = "DOWSE_PEERS_RUN"
_SAMPLE_S = 0.05
_MAKE_MODEL = f"""
import pathlib, sys, sysconfig
import numpy as np
from model2vec import StaticModel
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
files = sorted(map(str, pathlib.Path(sysconfig.get_path("stdlib")).glob("*.py")))
made.train(files, trainers.WordPieceTrainer(vocab_size={MODEL_TOKENS}, special_tokens=["[PAD]", "[UNK]"]))
# Unused tokens fill the vocabulary; as added tokens they would slow the tokenizer down.
vocabulary = made.get_vocab()
vocabulary |= {{f"unused{{n}}": n for n in range(len(vocabulary), {MODEL_TOKENS})}}
made.model = models.WordPiece(vocabulary, unk_token="[UNK]")
vectors = np.random.default_rng(0).normal(size=(made.get_vocab_size(), {MODEL_DIMENSIONS})).astype(np.float16)
StaticModel(vectors, made, normalize=True).save_pretrained(sys.argv[1])
"""
# A warm process: opens its index, then reads a query a line and prints the seconds that the answer took.
_LOOP = """
import sys, time
for line in sys.stdin:
    started = time.perf_counter()
    found = len(list(ask(line.strip())))
    print(time.perf_counter() - started, found, flush=True)
"""
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
    after: list[str] | None = None  # ends what a search leaves running
    names_only: bool = False


def main() -> None:
    """Install the tools, measure them or print a result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    install_command = commands.add_parser("install")
    install_command.set_defaults(run=lambda options: install(options.tools.resolve(), options.zoekt_source))
    install_command.add_argument("--zoekt-source", type=Path, help="a checkout to build instead of @latest")
    run_command = commands.add_parser("run")
    run_command.set_defaults(run=compare)
    run_command.add_argument("repositories", type=Path, nargs="+")
    run_command.add_argument("--rounds", type=int, default=3, help="first answers, and new processes a query")
    run_command.add_argument("--limit", type=float, default=900, help="seconds for one full index")
    run_command.add_argument("--work", type=Path)
    run_command.add_argument("--out", type=Path)
    for command in (install_command, run_command):
        command.add_argument(
            "--tools", type=Path, required=True, help="folder of the tools, not in a repository"
        )
    table_command = commands.add_parser("table")
    table_command.add_argument("result", type=Path)
    table_command.set_defaults(run=lambda o: print(table(json.loads(o.result.read_text())["results"])))
    for name, run in (("fts5-index", fts5_index), ("fts5-search", fts5_search)):
        command = commands.add_parser(name)
        command.add_argument("arguments", nargs="+")
        command.set_defaults(run=lambda options, run=run: run(*options.arguments))
    warm_command = commands.add_parser("warm")
    warm_command.add_argument("arguments", nargs="+")
    warm_command.set_defaults(run=lambda options: warm(*options.arguments))
    options = parser.parse_args()
    options.run(options)


def install(tools: Path, zoekt_source: Path | None) -> None:
    """Fill the folder; what fails is named and stays missing. ctags comes from the system's packages."""
    tools.mkdir(parents=True, exist_ok=True)
    repository = Path(__file__).resolve().parents[1]
    zoekt = ["zoekt", "zoekt-index", "zoekt-webserver"]
    module = "." if zoekt_source else "github.com/sourcegraph/zoekt"
    packages = [f"{module}/cmd/{name}{'' if zoekt_source else '@latest'}" for name in zoekt]
    steps: list[tuple[str, list[Any], Path | None]] = [
        (tools / "dowse", [sys.executable, "-m", "venv", tools / "dowse"], None),
        (None, [tools / "dowse/bin/pip", "install", "-q", repository], None),
        (tools / "semble", [sys.executable, "-m", "venv", tools / "semble"], None),
        (None, [tools / "semble/bin/pip", "install", "-q", "semble"], None),
        (tools / "model", [tools / "semble/bin/python", "-c", _MAKE_MODEL, tools / "model"], None),
        (tools / "bin/zoekt", ["go", "install", *packages], zoekt_source),
        (tools / "bin/rg", ["cargo", "install", "ripgrep", "--root", tools], None),
    ]
    for made, command, folder in steps:
        if made is not None and made.exists():
            continue
        try:
            env = {**os.environ, "GOBIN": str(tools / "bin")}
            subprocess.run(command, cwd=folder, env=env, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"left out: {error}", file=sys.stderr)


def compare(options: argparse.Namespace) -> None:
    """Measure all tools on each repository; the result is written after each, so that a stop loses little."""
    tools = options.tools.resolve()
    found = versions(tools)
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
        "semble": [semble, "--version"],
        "ripgrep": [tools / "bin/rg", "--version"],
        "zoekt": ["go", "version", "-m", zoekt],
        "ctags": ["ctags", "--version"],
    }
    known = {"FTS5": f"SQLite {sqlite3.sqlite_version}"}
    for name, command in commands.items():
        if shutil.which(command[-1] if name == "zoekt" else command[0]):
            said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
            revision = [line.split("=")[-1] for line in said if "vcs.revision" in line]
            module = [line.split()[2] for line in said if "\tmod\t" in line]
            known[name] = (revision or module or said)[0]
    return known


def tool(name: str, tools: Path, root: Path, folder: Path) -> Tool:
    """Return how a tool is called, with all that it writes below a folder."""
    home = {"HOME": str(folder / "home"), "XDG_CACHE_HOME": str(folder / "cache")}
    here, at, store = [sys.executable, __file__], str(root), str(folder / "index")
    if name == "dowse":
        dowse, place = str(tools / "dowse/bin/dowse"), [at, "--index-dir", store]
        env = {**home, "XDG_RUNTIME_DIR": str(folder / "run")}
        code = f"{_WARM_DOWSE}\nask = lambda query: index.search(query, k=10).hits{_LOOP}"
        return Tool(
            [dowse, "index", *place, "--quiet"],
            lambda query: [dowse, "search", query, *place],
            env,
            ("--no-daemon",),
            [str(tools / "dowse/bin/python"), "-c", code, at, store],
            [dowse, "stop"],
        )
    if name == "semble":
        semble, env = str(tools / "semble/bin/semble"), {**home, "SEMBLE_MODEL_NAME": str(tools / "model")}
        code = f"{_WARM_SEMBLE}\nask = lambda query: index.search(query, top_k=10){_LOOP}"
        warm_process = [str(tools / "semble/bin/python"), "-c", code, at]
        return Tool(None, lambda query: [semble, "search", query, at, "-k", "10"], env, warm=warm_process)
    if name == "ripgrep":
        words = lambda query: [part for word in query.split() for part in ("-e", word)]  # noqa: E731
        return Tool(None, lambda query: [str(tools / "bin/rg"), "-n", "-i", "-F", *words(query), at], home)
    if name == "zoekt":
        return Tool(
            [str(tools / "bin/zoekt-index"), "-index", store, at],
            lambda query: [str(tools / "bin/zoekt"), "-index_dir", store, any_word(query)],
            home,
            warm=[*here, "warm", "zoekt", store, str(tools / "bin/zoekt-webserver")],
        )
    if name == "FTS5":
        return Tool(
            [*here, "fts5-index", store, at],
            lambda query: [*here, "fts5-search", store, query],
            home,
            warm=[*here, "warm", "FTS5", store],
        )
    tag = lambda query: ["readtags", "-t", store, "-i", query]  # noqa: E731
    return Tool(["ctags", "-R", "-f", store, at], tag, home, names_only=True)


def any_word(query: str) -> str:
    """Return a query that asks for any of the words, as zoekt and FTS5 spell it alike but for case."""
    return " or ".join(query.split())


def measure(tools: Path, found: dict[str, str], root: Path, work: Path, options: Any) -> dict[str, Any]:  # noqa: ANN401
    """Measure first answers, then full indexes, then queries to those; in each, tools take turns."""
    queries = QUERIES.get(root.name, ["parse text", "error message", "read file", "parse", "Error"])
    names = [name for name in TOOLS if name in found]
    rows: dict[str, dict[str, Any]] = {name: {} for name in names}
    load_before = os.getloadavg()[0]
    firsts: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(options.rounds):
        for name in names:
            firsts[name].append(first_answer(name, tools, root, work / f"first-{turn}-{name}", queries))
    kept = {name: tool(name, tools, root, fresh(work / f"full-{name}")) for name in names}
    for name, it in kept.items():
        rows[name]["first_answer_s"] = round(statistics.median(firsts[name]), 3)
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


def first_answer(name: str, tools: Path, root: Path, folder: Path, queries: list[str]) -> float:
    """Return the seconds from nothing to printed hits, with the index where a search doesn't make it."""
    it = tool(name, tools, root, fresh(folder))
    query = queries[NAME if it.names_only else 0]
    started = time.perf_counter()
    if it.index and name != "dowse":
        finish(it.index, it.env)
    answer = finish(it.search(query), it.env)
    taken = time.perf_counter() - started
    if not answer.strip():
        raise SystemExit(f"{name} found nothing for {query!r}")
    if it.after:
        finish(it.after, it.env)
    shutil.rmtree(folder, ignore_errors=True)
    return taken


def build(it: Tool, query: str, limit: float) -> dict[str, Any]:
    """Build the full index; return its seconds and the peak memory of all processes."""
    started = time.perf_counter()
    with peak_memory() as (mark, peak):
        try:
            finish(it.index or it.search(query), {**it.env, _MARK: mark}, limit)
            done = True
        except subprocess.TimeoutExpired:
            done = False
    taken = round(time.perf_counter() - started, 2)
    return {"index_s": taken, "index_finished": done, "peak_mb": round(max(peak, default=0))}


def cold_queries(kept: dict[str, Tool], queries: list[str], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of new processes, after one of each that isn't counted."""
    times: dict[str, list[float]] = {name: [] for name in kept}
    for turn in range(rounds + 1):
        for query in queries if turn else queries[:1]:
            for name, it in kept.items():
                if it.names_only and " " in query and turn:
                    continue
                started = time.perf_counter()
                finish([*it.search(query), *it.cold], it.env)
                if turn:
                    times[name].append(time.perf_counter() - started)
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


def warm(name: str, store: str, server: str = "") -> None:
    """Answer queries of standard input from an open database or zoekt's server."""
    if name == "FTS5":
        with closing(sqlite3.connect(store)) as database:
            exec(_LOOP, {"ask": partial(fts5_rows, database)})
        return
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    process = subprocess.Popen(
        [server, "-index", store, "-listen", address, "-rpc"], stderr=subprocess.DEVNULL
    )

    def ask(query: str) -> list[Any]:
        body = json.dumps({"Q": any_word(query), "Opts": {"MaxDocDisplayCount": 10}}).encode()
        with urllib.request.urlopen(f"http://{address}/api/search", body) as answer:
            return json.load(answer)["Result"]["Files"] or []

    while process.poll() is None:
        try:
            ask("a")
            break
        except OSError:  # not listening yet
            time.sleep(0.05)
    exec(_LOOP, {"ask": ask})
    process.send_signal(signal.SIGTERM)
    process.wait()


def fts5_index(store: str, root: str) -> None:
    """Put every file of a repository into one table."""
    with closing(sqlite3.connect(store)) as database, database:
        database.execute("CREATE VIRTUAL TABLE file USING fts5(path, text)")
        database.executemany("INSERT INTO file VALUES (?, ?)", text_files(Path(root)))


def fts5_search(store: str, query: str) -> None:
    """Print the ten best files."""
    with closing(sqlite3.connect(store)) as database:
        print(*fts5_rows(database, query), sep="\n")


def fts5_rows(database: sqlite3.Connection, query: str) -> list[Any]:
    """Return the ten best files by BM25 and a snippet of each."""
    words = " OR ".join(f'"{word}"' for word in query.split())
    ask = "SELECT path, snippet(file, 1, '', '', '…', 20) FROM file WHERE file MATCH ? ORDER BY rank LIMIT 10"
    return database.execute(ask, [words]).fetchall()


def text_files(root: Path) -> Iterator[tuple[str, str]]:
    """Yield path and text of what git tracks, without binary and very large files."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True, check=True)
    for path in filter(None, listed.stdout.split("\0")):
        file = root / path
        if file.is_file() and not file.is_symlink() and file.stat().st_size <= _LARGEST_FILE:
            content = file.read_bytes()
            if b"\0" not in content:
                yield path, content.decode(errors="replace")


def finish(command: list[str], env: dict[str, str], limit: float | None = None) -> bytes:
    """Run a command to its end and return its output; 1 is "nothing found" to most."""
    process = subprocess.Popen(
        command,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate()
        raise
    if process.returncode not in (0, 1):
        raise SystemExit(f"{command} failed: {errors.decode(errors='replace')[-500:]}")
    return output


@contextmanager
def peak_memory() -> Iterator[tuple[str, list[float]]]:
    """Give a mark for the environment of processes, and the list of their summed memory in megabytes."""
    mark, sums, ended = uuid.uuid4().hex, [], threading.Event()
    wanted = f"{_MARK}={mark}".encode()

    def sample() -> None:
        while not ended.wait(_SAMPLE_S):
            sums.append(sum(proportional(entry, wanted) for entry in Path("/proc").glob("[0-9]*")))

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield mark, sums
    finally:
        ended.set()
        thread.join()


def proportional(entry: Path, wanted: bytes) -> float:
    """Return the memory of a process with shared pages divided among those that share them; 0 for others."""
    try:
        if wanted not in (entry / "environ").read_bytes():
            return 0
        lines = (entry / "smaps_rollup").read_text().splitlines()
    except OSError:  # it has ended
        return 0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0)


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
        parts.append(
            "| tool | first answer | full index | query, new process | query, warm | memory | disk |"
        )
        parts.append("|---|---|---|---|---|---|---|")
        for tool_name, row in rows.items():
            index = f"{row['index_s']} s" if row["index_finished"] else f"> {row['index_s']} s"
            warm_query = f"{row['warm_query']['p50_ms']:.1f} ms" if "warm_query" in row else "–"
            first, cold = row["first_answer_s"], row["cold_query"]["p50_ms"]
            sizes = f"{row['peak_mb']} MB | {row['disk_mb']} MB"
            parts.append(
                f"| {tool_name} | {first:.2f} s | {index} | {cold:.0f} ms | {warm_query} | {sizes} |"
            )
        if {"dowse", "semble"} <= rows.keys():
            ratio = rows["dowse"]["first_answer_s"] / rows["semble"]["first_answer_s"]
            parts.append(f"\ndowse's first answer takes {ratio:.2f} × semble's (bar: {BAR}).\n")
    return "\n".join(parts)


if __name__ == "__main__":
    main()
