"""How search on a cluster grows: query times, bytes by field and loading speed at 10k, 100k and 1M functions.

Functions are made from real ones: the first lines of one and the last lines of another, vectors mixed alike.
Each size is an index of its own; a million takes the better part of an hour on two cores.

    python bench/cluster_curve.py DATA/csn-python --backend elastic://127.0.0.1:9200/curve
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dowse import Index
from dowse.indexing.records import symbol_record
from dowse.parsing.tokenizer import tokenize
from dowse.query.ast import PathFilter
from dowse.search.ranking.profile import TREE
from dowse.storage.compression import pack
from dowse.storage.elastic.backend import ElasticBackend
from dowse.storage.elastic.names import VERSIONED
from dowse.storage.open import beside
from dowse.storage.protocol import KeywordRequest, KnownVectors, Term, VectorRequest
from dowse.types import Definition, FileRecord

from common import milliseconds, work_folder, write_results

# Functions of one file, and of one source: a large repository.
IN_FILE, IN_SOURCE = 20, 25_000
LIMIT = 100
NOISE = 0.02


class Functions:
    """The real functions that others are made of."""

    def __init__(self, names: list[str], codes: list[str], vectors: np.ndarray[Any, Any]) -> None:
        self.names, self.vectors = names, vectors
        self.lines = [code.split("\n") for code in codes]

    def parents(self, number: int) -> tuple[int, int]:
        """Return which two a function is made of; the first ones are themselves."""
        count = len(self.names)
        return number % count, (
            number % count if number < count else (number * 7919 + number // count) % count
        )

    def code(self, number: int) -> str:
        """Return the text of a function."""
        one, other = (self.lines[each] for each in self.parents(number))
        return "\n".join([*one[: (len(one) + 1) // 2], *other[(len(other) + 1) // 2 :]]) + "\n"

    def name(self, number: int) -> str:
        """Return the name of a function."""
        one, other = self.parents(number)
        return self.names[one] if one == other else f"{self.names[one]}_{self.names[other]}"

    def vector(self, number: int) -> np.ndarray[Any, Any]:
        """Return the vector of a function."""
        one, other = (self.vectors[each] for each in self.parents(number))
        noise = np.random.default_rng(number).normal(0, NOISE, len(one)) if number >= len(self.names) else 0
        mixed = 0.6 * one + 0.4 * other + noise
        return (mixed / np.linalg.norm(mixed)).astype(np.float32)


def real_functions(data: Path, folder: Path, encoder: str) -> tuple[Functions, str]:
    """Return the functions of a corpus with their vectors, and the id of the encoder."""
    with Index.open(data, index_dir=str(folder / "local"), encoder=encoder, strip_docs=True) as index:
        index.update()
        assert index.encoder is not None
        with index.backend.reader() as reader:
            rows = [row.row for row in reader.lookup("*", 10**9)]
            documents, vectors = reader.documents(rows), reader.vectors(index.encoder.id, rows)
        return Functions([d.name for d in documents], [d.code for d in documents], vectors), index.encoder.id


def records(functions: Functions, numbers: range, keys: dict[bytes, int]) -> Iterator[FileRecord]:
    """Give files of functions; note which vector each function has."""
    for start in range(numbers.start, numbers.stop, IN_FILE):
        path, symbols, data = f"src/m{start // 5000}/f{start}.py", [], b""
        line = 1
        for number in range(start, min(start + IN_FILE, numbers.stop)):
            code, name = functions.code(number).encode("utf-8", "replace"), functions.name(number)
            span, lines = (len(data), len(data) + len(code)), code.count(b"\n")
            data += code
            signature = code.split(b"\n", 1)[0].decode("utf-8", "replace")[:200]
            definition = Definition(
                "function", name, name, line, line + lines - 1, signature, "", (span,), ()
            )
            symbol = symbol_record(data, definition, f"{path}:{number}", path, "python")
            symbols.append(symbol)
            keys[symbol.vector_key] = number
            line += lines
        yield FileRecord(
            *(path, "made", path, "python", "", len(data), 1, f"h{start}", "utf-8", line - 1, ""),
            packed_text=pack(data),
            references=b"",
            text=data.decode("utf-8", "replace"),
            symbols=tuple(symbols),
        )


def load(job: tuple[str, Functions, str, range]) -> float:
    """Load one source; return the seconds that took."""
    address, functions, encoder, numbers = job
    keys: dict[bytes, int] = {}
    known = KnownVectors(
        encoder,
        functions.vectors.shape[1],
        lambda wanted: {key: functions.vector(keys[key]) for key in wanted},
    )
    backend = ElasticBackend(address, f"made/part-{numbers.start}")
    backend.set_known_vectors(known)
    started = time.perf_counter()
    with backend.writer() as writer:
        for record in records(functions, numbers, keys):
            writer.put(record)
        writer.commit({"root": f"/made/{numbers.start}", "repo": "made", "complete": "1"})
    backend.close()
    return time.perf_counter() - started


def fill(address: str, functions: Functions, encoder: str, size: int, processes: int) -> float:
    """Load so many functions into an index; return how many came in a second."""
    jobs = [
        (address, functions, encoder, range(start, min(start + IN_SOURCE, size)))
        for start in range(0, size, IN_SOURCE)
    ]
    started = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(min(processes, len(jobs))) as pool:
        for done, _ in enumerate(pool.imap_unordered(load, jobs, chunksize=1), 1):
            print(f"{size:,}: {done} of {len(jobs)} after {time.perf_counter() - started:.0f} s", flush=True)
    return size / (time.perf_counter() - started)


def settle(backend: ElasticBackend) -> None:
    """Wait until the cluster merges nothing any more."""
    indices = ",".join(backend.client.alias(kind) for kind in VERSIONED)
    while True:
        stats = backend.client.call(lambda es: es.indices.stats(index=indices, metric="merge"))
        if not stats["_all"]["total"]["merges"]["current"]:
            return
        time.sleep(1)


def sizes_of(backend: ElasticBackend) -> dict[str, Any]:
    """Return the bytes of each index and field, copies left out."""
    found: dict[str, Any] = {}
    for kind in VERSIONED:
        alias = backend.client.alias(kind)
        usage = backend.client.call(
            lambda es, alias=alias: es.options(request_timeout=600).indices.disk_usage(
                index=alias, run_expensive_tasks=True
            )
        )
        (of_index,) = [each for name, each in usage.items() if name != "_shards"]
        fields = {name: each["total_in_bytes"] for name, each in of_index["fields"].items()}
        largest = sorted(fields, key=lambda name: -fields[name])[:12]
        found[kind] = {
            "bytes": of_index["store_size_in_bytes"],
            "fields": {name: fields[name] for name in largest},
        }
    return found


def ask(backend: ElasticBackend, questions: Sequence[str], vectors: Any, encoder: str) -> dict[str, Any]:  # noqa: ANN401
    """Return the times of the lanes' questions to the cluster."""
    times: dict[str, list[float]] = {name: [] for name in ("keyword", "meaning", "meaning, filtered")}

    def timed(name: str, call: Any) -> Any:  # noqa: ANN401
        started = time.perf_counter()
        found = call()
        times[name].append(time.perf_counter() - started)
        return found

    for _ in range(2):  # the first time warms caches up
        for each in times.values():
            each.clear()
        for question, vector in zip(questions, vectors, strict=True):
            terms = tuple(Term(term) for term in dict.fromkeys(tokenize(question)))
            words = KeywordRequest(terms, TREE.fields)
            near = VectorRequest(encoder, vector)
            some = VectorRequest(encoder, vector, constraint=PathFilter("src/m1*/**"))
            with backend.reader() as reader:
                timed("keyword", lambda: reader.search_bm25(words, LIMIT))  # noqa: B023
                timed("meaning", lambda: reader.nearest(near, LIMIT))  # noqa: B023
                timed("meaning, filtered", lambda: reader.nearest(some, LIMIT))  # noqa: B023
    return {name: milliseconds(each) for name, each in times.items()}


def whole(address: str, root: Path, questions: Sequence[str], encoder: str) -> dict[str, Any]:
    """Return the times of whole searches, with encoding of the question and the text of ten hits."""
    found: dict[str, Any] = {}
    with Index.open(root, backend=address, encoder=encoder, isolation="never", feedback=False) as index:
        for mode in ("keyword", "embedding", "auto"):
            times = []
            for turn, question in enumerate([*questions[:20], *questions]):
                started = time.perf_counter()
                index.search(question, k=10, mode=mode, plain=True)
                if turn >= 20:
                    times.append(time.perf_counter() - started)
            found[mode] = milliseconds(times)
    return found


def main() -> None:
    """Fill an index of each size, then measure them one after the other."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("data", type=Path, help="the csn-python corpus, with queries.jsonl.gz")
    parser.add_argument("--backend", required=True, help="elastic://host:9200/NAME, before -10000 and so on")
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--steps", default="load,measure", help="load, measure or both")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--encoder", default="base")
    parser.add_argument("--work", type=Path, help="keeps what loading found out, for measuring later")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with gzip.open(options.data / "queries.jsonl.gz", "rt") as lines:
        questions = [json.loads(line)["text"] for line in lines][: options.questions]
    sizes = [int(size) for size in options.sizes.split(",")]
    with work_folder(options.work) as folder:
        if "load" in options.steps:
            load_all(options, sizes, folder)
        if "measure" in options.steps:
            write_results(options.out, measure_all(options, sizes, folder, questions))


def load_all(options: argparse.Namespace, sizes: list[int], folder: Path) -> None:
    """Fill an index of each size, and keep how fast that went."""
    functions, encoder = real_functions(options.data, folder, options.encoder)
    rates = {}
    for size in sizes:
        address = beside(options.backend, str(size))
        ElasticBackend(address).drop()
        rates[str(size)] = round(fill(address, functions, encoder, size, options.processes))
        (folder / "rates.json").write_text(json.dumps(rates))


def measure_all(
    options: argparse.Namespace, sizes: list[int], folder: Path, questions: list[str]
) -> dict[str, Any]:
    """Return times and bytes at each size."""
    rates = json.loads((folder / "rates.json").read_text())
    with Index.open(options.data, index_dir=str(folder / "local"), encoder=options.encoder) as index:
        assert index.encoder is not None
        encoder, vectors = index.encoder.id, index.encoder.encode_queries(questions)
    results = []
    for size in sizes:
        address = beside(options.backend, str(size))
        backend = ElasticBackend(address)
        settle(backend)
        results.append(
            {
                "functions": size,
                "loaded_per_second": rates[str(size)],
                "cluster": ask(backend, questions, vectors, encoder),
                "search": whole(address, folder, questions, options.encoder),
                "bytes": sizes_of(backend),
                "segments": segments(backend),
            }
        )
        print(json.dumps(results[-1]), flush=True)
    health = backend.client.call(lambda es: es.cluster.health())
    about = {"nodes": health["number_of_nodes"], "limit": LIMIT, "questions": len(questions)}
    return {**about, "sizes": results}


def segments(backend: ElasticBackend) -> int:
    """Return in how many parts the symbols lie: each is searched on its own."""
    alias = backend.client.alias("symbols")
    stats = backend.client.call(lambda es: es.indices.stats(index=alias, metric="segments"))
    return int(stats["_all"]["primaries"]["segments"]["count"])


if __name__ == "__main__":
    main()
