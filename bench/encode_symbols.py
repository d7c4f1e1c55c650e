"""Encoding speed on the symbols of real repositories: the shipped models against those of another folder.

    python bench/encode_symbols.py --before DIR [--symbols N] [--threads N] [--out FILE] REPOSITORY…

`--before` is a folder of models such as `models` of an earlier commit. Both encode the same symbols chunk by
chunk in turns, so that other load disturbs them alike. Also: how close the vectors are, how long a query
takes, what equal sequences save, and the operators that a batch spends its time in.
"""

from __future__ import annotations

import argparse
import collections
import json
import random
import tempfile
import time
from pathlib import Path

import numpy as np
import onnxruntime

from dowse.config import Settings
from dowse.encoders.document import Document, views
from dowse.encoders.onnx_encoder import MODEL_FILE, OnnxEncoder
from dowse.encoders.registry import shipped_folder
from dowse.indexing.update import update
from dowse.storage.local.backend import LocalBackend

from common import write_results

CHUNK, QUERIES = 256, 300
QUERY = "read the configuration file and return its settings"
# A batch of the profile: rows × length, and how often it is run.
BATCH, RUNS = (8, 64), 10


def main() -> None:
    """Encode, compare, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repositories", type=Path, nargs="+")
    parser.add_argument("--before", type=Path, required=True)
    parser.add_argument("--symbols", type=int, default=3000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    documents = [document for tree in options.repositories for document in read_symbols(tree)]
    tokens = count_tokens(documents)  # in the order of the index
    random.Random(0).shuffle(documents)
    documents = documents[: options.symbols]
    results: dict[str, object] = {"symbols": len(documents), "threads": options.threads, "tokens": tokens}
    for name in ("base", "small"):
        folders = {"before": options.before / name, "after": shipped_folder() / name}
        encoders = {
            key: OnnxEncoder(folder, device="cpu", threads=options.threads) for key, folder in folders.items()
        }
        results[name] = compare(encoders, documents) | {
            "share_by_operator": {key: profile(folder / MODEL_FILE) for key, folder in folders.items()}
        }
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


def read_symbols(tree: Path) -> list[Document]:
    """Index a repository's words and return what an encoder reads of its symbols."""
    with tempfile.TemporaryDirectory() as folder:
        backend = LocalBackend(Path(folder))
        update(backend, tree, Settings())
        with backend.reader() as reader:
            return reader.documents([row for row, _ in reader.missing_vectors("none")])


def compare(encoders: dict[str, OnnxEncoder], documents: list[Document]) -> dict[str, object]:
    """Return the speed of encoders on the same documents, and the cosines of their vectors."""
    wall, cpu = collections.Counter[str](), collections.Counter[str]()
    rows: dict[str, list[np.ndarray]] = {key: [] for key in encoders}
    query: dict[str, list[float]] = {key: [] for key in encoders}
    for encoder in encoders.values():
        encoder.encode_documents(documents[:8])  # opens its model
    for start in range(0, len(documents), CHUNK):
        for key, encoder in encoders.items():
            since, cpu_since = time.perf_counter(), time.process_time()
            rows[key].append(encoder.encode_documents(documents[start : start + CHUNK]))
            wall[key] += time.perf_counter() - since
            cpu[key] += time.process_time() - cpu_since
    for _ in range(QUERIES):
        for key, encoder in encoders.items():
            cpu_since = time.process_time()
            encoder.encode_queries([QUERY])
            query[key].append(time.process_time() - cpu_since)
    cosines = (np.concatenate(rows["before"]) * np.concatenate(rows["after"])).sum(axis=1)
    return {
        "symbols_per_second": {key: round(len(documents) / wall[key], 1) for key in encoders},
        "symbols_per_cpu_second": {key: round(len(documents) / cpu[key], 1) for key in encoders},
        "faster": round(cpu["before"] / cpu["after"], 3),
        "query_cpu_ms": {key: round(float(np.median(query[key])) * 1000, 2) for key in encoders},
        "cosine": {"mean": round(float(cosines.mean()), 5), "least": round(float(cosines.min()), 4)},
    }


def profile(model: Path) -> dict[str, float]:
    """Return the operators' shares of the time of a batch."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    with tempfile.TemporaryDirectory() as folder:
        options.enable_profiling, options.profile_file_prefix = True, f"{folder}/profile"
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        ids = np.random.default_rng(0).integers(4, 30_000, BATCH)
        for _ in range(RUNS):
            session.run(None, {"ids": ids})
        events = json.loads(Path(session.end_profiling()).read_text())
    spent = collections.Counter[str]()
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            spent[event["args"]["op_name"]] += event["dur"]
    total = spent.total()
    return {name: round(time_ / total, 3) for name, time_ in spent.most_common() if time_ > total / 100}


def count_tokens(documents: list[Document]) -> dict[str, float]:
    """Return how many tokens a symbol has, and the share of equal sequences within a chunk."""
    encoder = OnnxEncoder(shipped_folder() / "base", device="cpu")
    form = encoder._form
    total = different = 0
    for start in range(0, len(documents), 2 * CHUNK):
        chunk = documents[start : start + 2 * CHUNK]
        sequences = [tuple(view.ids) for document in chunk for view in views(document, encoder.words, form)]
        total += sum(map(len, sequences))
        different += sum(map(len, set(sequences)))
    return {"per_symbol": round(total / len(documents), 1), "equal_share": round(1 - different / total, 4)}


if __name__ == "__main__":
    main()
