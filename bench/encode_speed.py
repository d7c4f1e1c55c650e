"""How fast the shipped encoders are on one thread: functions a second, and milliseconds a query.

    python bench/encode_speed.py --data DIR [--functions 13000] [--out FILE]

`--data` holds the set csn-python (BEIR layout). The encoders take turns on the same functions, so that other
load disturbs them alike.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from pathlib import Path

from dowse.encoders.document import Document
from dowse.encoders.encoder import Encoder
from dowse.encoders.registry import load_encoder

from common import milliseconds, write_results

ENCODERS = ("base", "small")
CHUNK = 512  # functions that an encoder gets before it is the next one's turn
QUERIES = 200


def main() -> None:
    """Encode in turn, and write the rates."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--functions", type=int, default=13_000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    folder = options.data / "csn-python"
    functions = [_document(row) for row in _rows(folder / "corpus.jsonl.gz")[: options.functions]]
    queries = [row["text"] for row in _rows(folder / "queries-summary.jsonl.gz")[:QUERIES]]
    encoders = {name: load_encoder(name, device="cpu", threads=1) for name in ENCODERS}
    for encoder in encoders.values():
        encoder.encode_queries(queries[:1])  # opens the session
    seconds = dict.fromkeys(ENCODERS, 0.0)
    for start in range(0, len(functions), CHUNK):
        for name, encoder in encoders.items():
            started = time.process_time()
            encoder.encode_documents(functions[start : start + CHUNK])
            seconds[name] += time.process_time() - started
    results = {
        "functions": len(functions),
        "encoders": {
            name: {"functions_per_second": round(len(functions) / spent, 1)}
            for name, spent in seconds.items()
        },
        "query": {
            name: milliseconds([_timed(each, text) for text in queries]) for name, each in encoders.items()
        },
        "ratios": {"small_faster": round(seconds["base"] / seconds["small"], 2)},
    }
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


def _rows(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        path = path.with_suffix("")
    data = path.read_bytes()
    lines = gzip.decompress(data) if path.suffix == ".gz" else data
    return [json.loads(line) for line in lines.splitlines()]


def _document(row: dict[str, str]) -> Document:
    qualifier, _, name = row["title"].rpartition(".")
    return Document(qualifier, name, "", row["text"])


def _timed(encoder: Encoder, query: str) -> float:
    started = time.perf_counter()
    encoder.encode_queries([query])
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
