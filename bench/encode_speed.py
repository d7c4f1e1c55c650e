"""Speed and quality of the encoders: what shortening, fewer layers and eight bits give and cost.

    python bench/encode_speed.py --eval DIR --weights base.safetensors --tokenizer tokenizer.json
        [--models DIR] [--functions N] [--threads N] [--out bench/results/encode_speed.json]

`--eval` is a folder with the set csn-python (BEIR layout). `--weights` and `--tokenizer` are what the shipped
base was exported from; from them come the same model in float32, and the same model reading up to 256 tokens
of unshortened text (cased, with punctuation, no word dropped) in eight bits. All encoders take turns on the
same functions, so that other load disturbs them alike.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from tokenizers import Tokenizer

from dowse.encoders.batching import encode_batches
from dowse.encoders.document import Document, Form
from dowse.encoders.onnx_encoder import MODEL_FILE, OnnxEncoder
from dowse.encoders.registry import shipped_folder
from dowse.encoders.session import open_session
from dowse_training.export import export, find_ranges, write_models
from dowse_training.export_graph import int8_model
from dowse_training.weights import read_safetensors

from common import milliseconds, work_folder, write_results
from quality import Case, beir_cases

BARS = {"faster_than_256_tokens": 2.5, "mrr_lost": 0.015, "small_faster": 3.0, "int8_mrr_lost": 0.005}
CHUNK = 512  # functions an encoder gets before it is the next one's turn
CALIBRATION = 300
RAW_TOKENS, RAW_QUERY_TOKENS = 256, 96
LATENCY_QUERIES, LOADS = 200, 5


class Contender(Protocol):
    """What is compared."""

    def encode_documents(self, documents: Sequence[Document]) -> np.ndarray:
        """Return a unit row for every document."""

    def encode_queries(self, texts: Sequence[str]) -> np.ndarray:
        """Return a unit row for every query."""


@dataclass
class Taken:
    """What a contender made, and the time it took."""

    rows: list[np.ndarray] = field(default_factory=list)
    wall: float = 0.0
    cpu: float = 0.0


def main() -> None:
    """Encode, compare, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--eval", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--models", type=Path, default=shipped_folder())
    parser.add_argument("--functions", type=int, default=13_000, help="size of the pool, answers included")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    folder = options.eval / "csn-python"
    cases = {kind: beir_cases(folder, kind) for kind in ("queries", "queries-summary")}
    pool = read_pool(folder, cases["queries"], options.functions)
    with work_folder(options.work) as work:
        contenders = make_contenders(options, work, list(pool.values())[:CALIBRATION])
        taken = take_turns(contenders, list(pool.values()))
        results = {
            "functions": len(pool),
            "encoders": {
                name: describe(contenders[name], taken[name], cases, list(pool)) for name in contenders
            },
            "threads": compare_threads(options.models / "base", list(pool.values())[:2000], options.threads),
            "start": {name: start_up(options.models / name) for name in ("base", "small")},
            "query": {
                name: latency(contenders[name], cases["queries-summary"]) for name in ("base", "small")
            },
        }
    results |= judge(results["encoders"])
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


def read_pool(folder: Path, cases: list[Case], count: int) -> dict[str, Document]:
    """Read the functions: all answers, and others up to a number, in an order that is always the same."""
    with gzip.open(folder / "corpus.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    answers = {document for case in cases for document in case.relevant}
    random.Random(1).shuffle(rows)
    rows.sort(key=lambda row: row["_id"] not in answers)
    rows = rows[: max(count, len(answers))]
    random.Random(2).shuffle(rows)
    found = {}
    for row in rows:
        qualifier, _, name = row["title"].rpartition(".")
        found[row["_id"]] = Document(qualifier, name, "", row["text"])
    return found


def make_contenders(
    options: argparse.Namespace, work: Path, calibration: list[Document]
) -> dict[str, Contender]:
    """Open the shipped encoders and make the ones they are compared with."""
    weights, tokenizer = read_safetensors(options.weights), options.tokenizer.read_text()
    export(weights, tokenizer, work / "float", name="float", kind="float")
    return {
        "base": OnnxEncoder(options.models / "base", device="cpu"),
        "small": OnnxEncoder(options.models / "small", device="cpu"),
        "base, float32": OnnxEncoder(work / "float", device="cpu"),
        "base, 256 unshortened tokens": RawEncoder(weights, tokenizer, work / "raw", calibration),
    }


class RawEncoder:
    """The same weights reading text as it is, as far as they can."""

    def __init__(
        self, weights: dict[str, np.ndarray], tokenizer: str, folder: Path, calibration: list[Document]
    ) -> None:
        self._tokenizer = Tokenizer.from_str(tokenizer)
        form = Form(tokens=RAW_TOKENS)
        texts = [self._ids(raw_text(document), RAW_TOKENS) for document in calibration]
        folder.mkdir(parents=True, exist_ok=True)
        write_models(folder, {MODEL_FILE: int8_model(weights, RAW_TOKENS, find_ranges(weights, form, texts))})
        self._session = open_session(folder / MODEL_FILE, "cpu")
        self._dimension = weights["word_emb"].shape[1]

    def encode_documents(self, documents: Sequence[Document]) -> np.ndarray:
        """Return a unit row for every document."""
        return self._encode([self._ids(raw_text(document), RAW_TOKENS) for document in documents])

    def encode_queries(self, texts: Sequence[str]) -> np.ndarray:
        """Return a unit row for every query."""
        return self._encode([self._ids(text, RAW_QUERY_TOKENS) for text in texts])

    def _ids(self, text: str, limit: int) -> list[int]:
        ids = self._tokenizer.encode(text, add_special_tokens=False).ids
        return [0, *ids[: limit - 2], 2]

    def _encode(self, sequences: list[list[int]]) -> np.ndarray:
        return encode_batches(
            lambda ids: self._session.run(None, {"ids": ids})[0], sequences, self._dimension
        )


def raw_text(document: Document) -> str:
    """Return the name in full and the code as it is."""
    return f"{document.qualifier}.{document.name}\n{document.code}"


def take_turns(contenders: dict[str, Contender], documents: list[Document]) -> dict[str, Taken]:
    """Let every contender encode a chunk, then the next chunk."""
    taken = {name: Taken() for name in contenders}
    for contender in contenders.values():
        contender.encode_documents(documents[:8])  # opens its model
    for start in range(0, len(documents), CHUNK):
        for name, contender in contenders.items():
            wall, cpu = time.perf_counter(), time.process_time()
            taken[name].rows.append(contender.encode_documents(documents[start : start + CHUNK]))
            taken[name].wall += time.perf_counter() - wall
            taken[name].cpu += time.process_time() - cpu
        print(f"{start + CHUNK:,} of {len(documents):,}", file=sys.stderr)
    return taken


def describe(
    contender: Contender, taken: Taken, cases: dict[str, list[Case]], ids: list[str]
) -> dict[str, float]:
    """Return throughput on one thread and MRR of both kinds of query."""
    rows = np.concatenate(taken.rows)
    place = {document: i for i, document in enumerate(ids)}
    return {
        "functions_per_second": round(len(rows) / taken.wall, 1),
        "functions_per_cpu_second": round(len(rows) / taken.cpu, 1),
        "mrr_docstring": round(mrr(contender, rows, cases["queries"], place), 4),
        "mrr_summary": round(mrr(contender, rows, cases["queries-summary"], place), 4),
    }


def mrr(contender: Contender, rows: np.ndarray, cases: list[Case], place: dict[str, int]) -> float:
    """Return the mean reciprocal rank of the best relevant function."""
    scores = contender.encode_queries([case.query for case in cases]) @ rows.T
    ranks = []
    for case, row in zip(cases, scores, strict=True):
        best = max(row[place[document]] for document in case.relevant)
        ranks.append(1 / (1 + int((row > best).sum())))
    return float(np.mean(ranks))


def compare_threads(folder: Path, documents: list[Document], threads: int) -> dict[str, float]:
    """Return functions a second on one thread, and on several that each run a batch."""
    rates = {}
    for count in (1, threads):
        encoder = OnnxEncoder(folder, device="cpu", threads=count)
        encoder.encode_documents(documents)  # opens the model, and all words are known afterwards
        started = time.perf_counter()
        encoder.encode_documents(documents)
        rates[f"{count} threads"] = round(len(documents) / (time.perf_counter() - started), 1)
    return rates


def start_up(folder: Path) -> dict[str, float]:
    """Return what a process pays before its first vector, in milliseconds."""
    script = (
        "import sys, time; t = [time.perf_counter()]\n"
        "import numpy, onnxruntime, tokenizers; t.append(time.perf_counter())\n"
        "from pathlib import Path; from dowse.encoders.onnx_encoder import OnnxEncoder\n"
        "e = OnnxEncoder(Path(sys.argv[1]), device='cpu'); e.words; t.append(time.perf_counter())\n"
        "e._session; t.append(time.perf_counter())\n"
        "e.encode_queries(['open a file']); t.append(time.perf_counter())\n"
        "print(*[(b - a) * 1000 for a, b in zip(t, t[1:])])"
    )
    runs = []
    for _ in range(LOADS):
        done = subprocess.run(
            [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=True
        )
        runs.append([float(part) for part in done.stdout.split()])
    parts = ("imports_ms", "tokenizer_ms", "session_ms", "first_query_ms")
    return {part: round(min(run[i] for run in runs), 1) for i, part in enumerate(parts)}


def latency(contender: Contender, cases: list[Case]) -> dict[str, float]:
    """Return how long a query takes in a warm process."""
    times = []
    for case in cases[:LATENCY_QUERIES]:
        started = time.perf_counter()
        contender.encode_queries([case.query])
        times.append(time.perf_counter() - started)
    return milliseconds(times)


def judge(encoders: dict[str, dict[str, float]]) -> dict[str, Any]:
    """Compare with the bars."""
    base, small = encoders["base"], encoders["small"]
    exact, raw = encoders["base, float32"], encoders["base, 256 unshortened tokens"]

    def faster(one: dict[str, float], other: dict[str, float]) -> float:
        return round(one["functions_per_cpu_second"] / other["functions_per_cpu_second"], 2)

    def lost(one: dict[str, float], other: dict[str, float]) -> float:
        return round(max(one[key] - other[key] for key in ("mrr_docstring", "mrr_summary")), 4)

    found = {
        "faster_than_256_tokens": faster(base, raw),
        "mrr_lost": lost(raw, base),
        "small_faster": faster(small, base),
        "int8_mrr_lost": lost(exact, base),
        "int8_faster": faster(base, exact),
    }
    met = {
        name: found[name] <= bar if name.endswith("lost") else found[name] >= bar
        for name, bar in BARS.items()
    }
    return {"ratios": found, "bars": BARS, "met": met}


if __name__ == "__main__":
    main()
