"""Fuzz the search: random queries and options against a small index, in this process and others.

    python bench/fuzz_queries.py [--count 500000] [--processes 2] [--seed 0] [--tree DIR]
        [--out FILE]

Each answer is also rendered, as JSON and as text. Counts exceptions other than DowseError and QueryError
(raised, or caught and noted by a lane), and queries that exceed their deadline of 5 s by more than a second.
Words only: no encoder. All counts of problems must be 0.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from dowse import Index
from dowse.errors import DowseError, LanesFailed, QueryError, TooSlow
from fuzz_texts import QueryFuzzer

from common import peak_megabytes, percentile, work_folder, write_results

_ROOT = Path(__file__).resolve().parents[1]
_DEADLINE, _SLACK = 5.0, 1.0
# Queries of one task: each has a seed of its own, so that any number of processes draws the same queries.
_BATCH = 100
# Problems that are kept.
_MAX_SHOWN = 20
# A lane names the type of an exception that nobody expected.
_UNEXPECTED = re.compile(r": \w*(?:Error|Exception|Interrupt)\b: ")


def main() -> None:
    """Run the fuzzer and write what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=500_000)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=0.0, help="end soon after; 0 for no limit")
    parser.add_argument("--tree", type=Path, default=_ROOT / "tests" / "data" / "sample")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    started = time.monotonic()
    with work_folder(options.work) as work:
        os.environ["DOWSE_CACHE_DIR"] = os.environ["DOWSE_DATA_DIR"] = str(work)
        with open_index(options.tree, work) as index:
            index.update()
        seeds = [options.seed * 1_000_000 + number for number in range(-(-options.count // _BATCH))]
        batches = []
        with ProcessPoolExecutor(options.processes) as pool:
            pending = [pool.submit(run_batch, seed, options.tree, work) for seed in seeds]
            for done in as_completed(pending):
                if done.cancelled():
                    continue
                batches.append(done.result())
                for problem in batches[-1][2]:
                    print(problem, file=sys.stderr, flush=True)
                if options.minutes and time.monotonic() - started > 60 * options.minutes:
                    for each in pending:
                        each.cancel()
    outcomes: Counter[str] = sum((batch[0] for batch in batches), Counter())
    seconds = [each for batch in batches for each in batch[1]]
    problems = [each for batch in batches for each in batch[2]]
    cpu = [each for batch in batches for each in batch[4]]
    results: dict[str, object] = {
        "queries": sum(outcomes.values()),
        "outcomes": dict(sorted(outcomes.items())),
        "tracebacks": outcomes["traceback"],
        "beyond the deadline": sum(each > _DEADLINE + _SLACK for each in seconds),
        "of these, in CPU time": sum(each > _DEADLINE + _SLACK for each in cpu),
        "most CPU seconds": round(max(cpu), 2),
        "p50_ms": round(1000 * percentile(seconds, 0.5), 2),
        "p99_ms": round(1000 * percentile(seconds, 0.99), 2),
        "max_ms": round(1000 * max(seconds), 1),
        "minutes": round((time.monotonic() - started) / 60, 1),
        "processes": options.processes,
        "peak_megabytes": max(batch[3] for batch in batches),
        "problems": problems[:_MAX_SHOWN],
    }
    print(results)
    if options.out:
        write_results(options.out, results)


def open_index(tree: Path, work: Path) -> Index:
    """Open the index that all processes share."""
    return Index.open(
        tree,
        index_dir=str(work / "index"),
        encoder="none",
        isolation="never",
        feedback=False,
        query_seconds=_DEADLINE,
        exact_seconds=_DEADLINE,
    )


def run_batch(
    seed: int, tree: Path, work: Path
) -> tuple[Counter[str], list[float], list[str], int, list[float]]:
    """Try the queries of one seed; return outcomes, times, problems, the peak of memory and CPU times."""
    outcomes: Counter[str] = Counter()
    seconds: list[float] = []
    cpu: list[float] = []
    problems: list[str] = []
    with open_index(tree, work) as index:
        fuzzer = QueryFuzzer([row.name for row in index.symbols(limit=500)], seed)
        for _ in range(_BATCH):
            query, drawn = fuzzer.query(), fuzzer.options()
            k = fuzzer.depth()
            started, cpu_started = time.monotonic(), time.process_time()
            outcome, problem = _try(index, query, k, drawn)
            seconds.append(time.monotonic() - started)
            cpu.append(time.process_time() - cpu_started)
            outcomes[outcome] += 1
            late = f"late ({cpu[-1]:.1f} s CPU)" if seconds[-1] > _DEADLINE + _SLACK else ""
            if problem or late:
                problems.append(f"{problem or late} | {query[:200]!r} {len(query)} k={k} {drawn}")
    return outcomes, seconds, problems, peak_megabytes(), cpu


def _try(index: Index, query: str, k: int, options: dict[str, object]) -> tuple[str, str]:
    from dowse.formats.json_format import json_document
    from dowse.formats.style import Style
    from dowse.formats.text import render_answer
    from dowse.json_form import document

    try:
        answer = index.search(query, k=k, **options)
        json_document(document(answer)).encode()
        render_answer(answer, Style(), explain=bool(options.get("explain"))).encode()
    except TooSlow:
        return "too slow", ""
    except LanesFailed as error:
        return "traceback", str(error)
    except (DowseError, QueryError) as error:
        if "\n" in str(error) and not getattr(error, "is_list", False):
            return "traceback", f"a message of several lines: {error}"
        return "refused", ""
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return "traceback", f"{type(error).__name__}: {error} at {Path(place.filename).name}:{place.lineno}"[
            :300
        ]
    failed = next((lane.problem for lane in answer.lanes if _UNEXPECTED.search(lane.problem)), "")
    if failed:
        return "traceback", failed
    return ("answered" if answer.hits else "nothing found"), ""


if __name__ == "__main__":
    main()
