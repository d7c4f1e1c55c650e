"""Latency of keyword search beside rank_bm25: the same functions, tokens and queries, in one run.

    python bench/keyword_speed.py --corpus FILE_OR_FOLDER [--out FILE]

`--corpus` is a JSONL file (also .gz or .xz) with a function a line, or a folder of such files: `code`, and
where there are some `name`, `doc`, `language` (else the file's name tells) and `pkg` or `path`. The first
sentences of the documentation are the queries; the documentation itself is not indexed. dowse answers as it
does by default (10 hits with ranking signals and text), in one warm process; rank_bm25 gets the very terms
that dowse looks for and only has to name the best 10.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import lzma
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy
from rank_bm25 import BM25Okapi

from dowse import Index
from dowse.parsing.tokenizer import tokenize
from dowse.search.lanes.bm25 import query_terms

from common import milliseconds, work_folder, write_results
from quality import plain

BAR = 200  # rank_bm25's median over ours
HITS = 10
# A sentence ends at a full stop before white space, or where its paragraph does.
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n\s*\n")
Taken = tuple[float, float]  # wall and CPU seconds
_ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.xz")


@dataclass(frozen=True, slots=True)
class Function:
    """One function of the corpus and what its documentation says first."""

    entry: dict[str, str]
    sentence: str


def main() -> None:
    """Index, ask both, compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--functions", type=int, default=150_000)
    parser.add_argument(
        "--queries", type=int, default=500, help="asked of dowse; rank_bm25 gets the first of them"
    )
    parser.add_argument("--slow-queries", type=int, default=50, help="asked of rank_bm25 too")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, help="keep corpus and index here (default: a temporary folder)")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    functions = [
        function for function, _ in zip(read_corpus(options.corpus), range(options.functions), strict=False)
    ]
    queries = choose_queries(functions, options.queries, options.seed)
    say(f"{len(functions):,} functions, {len(queries)} queries")
    with work_folder(options.work) as work, build_index(functions, work) as index:
        ours = time_dowse(index, queries)
    theirs = time_rank_bm25(functions, queries[: options.slow_queries])
    results = compare(ours, theirs)
    results["functions"] = len(functions)
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


def read_corpus(place: Path) -> Iterator[Function]:
    """Give functions, in turn from each file of a folder, so that any number of them is a mixture."""
    files = sorted(f for f in place.iterdir() if f.name.endswith(_ENDINGS)) if place.is_dir() else [place]
    streams = [_rows(file) for file in files]
    count = 0
    while streams:
        for stream in list(streams):
            row = next(stream, None)
            if row is None:
                streams.remove(stream)
                continue
            count += 1
            yield _function(row, count)


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    """Give the usable lines of a file, each with its language."""
    openers = {".gz": gzip.open, ".xz": lzma.open}
    stream: IO[str] = openers.get(file.suffix, open)(file, "rt", encoding="utf-8")  # type: ignore[operator]
    with stream:
        for line in stream:
            row = json.loads(line)
            if row.get("code"):
                yield {"language": file.name.partition(".")[0], **row}


def _function(row: dict[str, Any], number: int) -> Function:
    """Turn a line into a function of a plain corpus; a class or module of its package is its path."""
    name = row.get("name") or f"function{number}"
    path = row.get("path") or f"{row.get('pkg', 'corpus')}/{name.rpartition('.')[0] or name}"
    entry = {"id": str(number), "name": name, "code": row["code"], "language": row["language"], "path": path}
    sentence = _SENTENCE_END.split((row.get("doc") or "").strip(), maxsplit=1)[0]
    return Function(entry, plain(" ".join(sentence.split())))


def choose_queries(functions: list[Function], count: int, seed: int) -> list[str]:
    """Sample sentences of at least two words, each once."""
    sentences = sorted({f.sentence for f in functions if len(f.sentence.split()) > 1})
    return random.Random(seed).sample(sentences, min(count, len(sentences)))


def build_index(functions: list[Function], work: Path) -> Index:
    """Write the functions down as a corpus and index its words with the default settings."""
    corpus = work / "corpus.jsonl"
    with corpus.open("w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(function.entry) + "\n" for function in functions)
    index = Index.open(corpus, index_dir=str(work / "index"), encoder="none")
    report = index.update()
    say(f"dowse indexed in {report.seconds:.0f} s")
    return index


def time_dowse(index: Index, queries: list[str]) -> list[Taken]:
    """Ask dowse everything once, after one query that opens the index."""
    index.search("warm up", k=HITS)
    return time_each(queries, lambda query: index.search(query, k=HITS))


def time_rank_bm25(functions: list[Function], queries: list[str]) -> list[Taken]:
    """Build rank_bm25 from the same tokens and ask it for the best hits."""
    started = time.perf_counter()
    documents = [tokenize(f"{f.entry['name']}\n{f.entry['code']}") for f in functions]
    peer = BM25Okapi(documents)
    say(f"rank_bm25 built in {time.perf_counter() - started:.0f} s")
    best = min(HITS, len(documents) - 1)

    def search(query: str) -> object:
        """Score everything and take the best; quicker than its own get_top_n, which sorts everything."""
        scores = peer.get_scores([term.text for term in query_terms(query)])
        top = numpy.argpartition(scores, -best)[-best:]
        return top[numpy.argsort(-scores[top])]

    return time_each(queries, search)


def time_each(queries: list[str], search: Callable[[str], object]) -> list[Taken]:
    """Return wall and CPU seconds of each query."""
    gc.collect()
    gc.freeze()  # the benchmark's own 150,000 functions are no garbage for the collector to look through
    times = []
    for query in queries:
        wall, cpu = time.perf_counter(), time.process_time()
        search(query)
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    return times


def compare(ours: list[Taken], theirs: list[Taken]) -> dict[str, Any]:
    """Compare medians over the queries that both answered."""
    both, peer = describe(ours[: len(theirs)]), describe(theirs)
    ratio = peer["p50_ms"] / both["p50_ms"]
    return {
        "dowse": describe(ours),
        "dowse, same queries as rank_bm25": both,
        "rank_bm25": peer,
        "ratio_p50": round(ratio, 1),
        "ratio_cpu_p50": round(peer["cpu_p50_ms"] / both["cpu_p50_ms"], 1),
        "bar": BAR,
        "met": ratio >= BAR,
    }


def describe(times: list[Taken]) -> dict[str, float]:
    """Return the percentiles of wall time and the median of CPU time, which other load disturbs less."""
    cpu = milliseconds([cpu for _, cpu in times])["p50_ms"]
    return {"queries": len(times), **milliseconds([wall for wall, _ in times]), "cpu_p50_ms": cpu}


def say(message: str) -> None:
    """Tell how far it is."""
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
