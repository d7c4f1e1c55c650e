"""The first search in a tree without vectors: how good it is, and how long it takes.

    DATA=… REPOS=… python bench/first_search.py quality MANIFEST… [--only NAME …] [--out FILE]
    python bench/first_search.py time REPOSITORY [--runs 5] [--out FILE]

`quality` asks the questions of manifests of `dowse eval` and reports nDCG@10: by words alone, with so many
keyword candidates encoded for each question as a search does it (by the table, if the encoder has one), with
approximate vectors of all symbols ("table"), and with every symbol embedded. `time` runs `dowse search` in a
repository that has no index, in three ways that take turns: by words, with encoding at query time, and
without it, which embeds for five seconds before it answers.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dowse import Index
from dowse.encoders.document import Document
from dowse.encoders.encoder import Encoder
from dowse.encoders.registry import load_approximation
from dowse.eval.clean_index import open_clean_index
from dowse.eval.evaluate import evaluate
from dowse.eval.manifest import read_manifest
from dowse.eval.types import Dataset
from dowse.indexing.approximate import embed_approximately
from dowse.search.lanes import query_time_encoding
from dowse.search.lanes.jobs import InlineLanes
from dowse.search.options import SearchRequest, make_options
from dowse.search.pipeline import search
from dowse.types import Hit

from common import beside_python, work_folder, write_results

COUNTS = (25, 50, 100, 200)
QUESTION = "where is the response body parsed"
WAYS = {
    "words": {"DOWSE_ENCODER": "none"},
    "query_time": {},
}


def main() -> None:
    """Measure one of the two."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("quality", "time"))
    parser.add_argument("paths", nargs="+", type=Path, help="manifests, or a repository")
    parser.add_argument("--only", nargs="+", default=[], help="repositories of the manifests; all by default")
    parser.add_argument("--counts", nargs="+", type=int, default=COUNTS, help="candidates, for `quality`")
    parser.add_argument("--runs", type=int, default=5, help="searches of each kind, for `time`")
    parser.add_argument("--work", type=Path, help="keeps the indexes")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with work_folder(options.work) as folder:
        if options.what == "quality":
            results = measure_quality(options.paths, options.only, options.counts, folder)
        else:
            results = measure_time(options.paths[0].resolve(), options.runs)
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


class RememberingEncoder:
    """An encoder that encodes each document once, however often it is asked to."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.name, self.id, self.dimension = encoder.name, encoder.id, encoder.dimension
        self.encode_queries = encoder.encode_queries
        self._vectors: dict[Document, object] = {}

    def encode_documents(self, documents: Sequence[Document]) -> object:
        """Return the vectors of documents."""
        import numpy as np

        new = [each for each in dict.fromkeys(documents) if each not in self._vectors]
        if new:
            self._vectors.update(zip(new, self._encoder.encode_documents(new), strict=True))
        return np.stack([self._vectors[each] for each in documents])


def measure_quality(
    manifests: Sequence[Path], only: Sequence[str], counts: Sequence[int], folder: Path
) -> dict[str, object]:
    """Return nDCG@10 of each repository and the mean of them, by the number of candidates."""
    table: dict[str, dict[str, object]] = {}
    for path in manifests:
        for entry in read_manifest(path):
            for dataset in entry.datasets():
                name = dataset.name.rpartition("/")[2]
                if not only or name in only:
                    table[name] = measure_dataset(dataset, counts, folder)
                    print(name, table[name], file=sys.stderr, flush=True)
    names = [*map(str, counts), "table", "all"]
    mean = {name: round(statistics.mean(row[name] for row in table.values()), 4) for name in names}  # type: ignore[type-var]
    return {"mean": mean, "repositories": table}


def measure_dataset(dataset: Dataset, counts: Sequence[int], folder: Path) -> dict[str, object]:
    """Ask about one repository, first without vectors, then with all."""
    os.environ["DOWSE_CACHE_DIR"] = str(folder / "cache")  # without vectors until the end
    assert dataset.root is not None
    with tempfile.TemporaryDirectory(dir=folder) as place:
        index = open_clean_index(dataset.root, [dataset], index_dir=place)
        index.update(embed=False)
        assert index.encoder is not None
        encoder = RememberingEncoder(index.encoder)
        row: dict[str, object] = {"symbols": index.vectors.missing(), "questions": len(dataset.scored_cases)}
        for count in counts:
            row[str(count)] = ndcg(index, encoder, dataset, count)
        table = load_approximation(index.encoder)
        assert table is not None
        embed_approximately(index.backend, index.encoder, table)
        row["table"] = ndcg(index, encoder, dataset, 0)
        index._encoder = encoder  # type: ignore[assignment]
        os.environ["DOWSE_CACHE_DIR"] = str(Path(place) / "cache")
        index.vectors.embed()
        row["all"] = ndcg(index, encoder, dataset, 0)
        index.close()
    return row


def ndcg(index: Index, encoder: RememberingEncoder, dataset: Dataset, count: int) -> float:
    """Return nDCG@10 if so many candidates are encoded for each question."""
    settings = replace(index.settings, lane_seconds=1e6)
    query_time_encoding.MAX_ENCODED, query_time_encoding.ENCODING_SECONDS = count, 1e6

    def ask(query: str, k: int) -> Sequence[Hit]:
        request = SearchRequest(query, make_options(settings, k=k, plain=True))
        with index.backend.reader() as reader:
            lanes = InlineLanes(lambda: encoder)  # type: ignore[arg-type, return-value]
            return search(reader, request, settings, lanes=lanes, encoder=encoder).hits  # type: ignore[arg-type]

    return round(evaluate(ask, dataset, depth=10).metrics["ndcg@10"], 4)


def measure_time(repository: Path, runs: int) -> dict[str, object]:
    """Return the median seconds of the first answer of each way, and their ratio to words alone."""
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    coverage: dict[str, object] = {}
    for _ in range(runs):
        for way, settings in WAYS.items():
            taken, answer = first_search(repository, settings)
            seconds[way].append(taken)
            coverage[way] = answer["embedded"]
    median = {way: round(statistics.median(times), 2) for way, times in seconds.items()}
    ratio = {way: round(each / median["words"], 2) for way, each in median.items()}
    files = len(subprocess.check_output(["git", "ls-files"], cwd=repository).splitlines())
    all_seconds = {way: [round(each, 2) for each in times] for way, times in seconds.items()}
    return {
        "repository": repository.name,
        "files": files,
        "median_s": median,
        "ratio": ratio,
        "seconds": all_seconds,
        "embedded": coverage,
    }


def first_search(repository: Path, settings: Mapping[str, str]) -> tuple[float, dict[str, object]]:
    """Search with an empty cache; return the seconds it took and the answer."""
    with tempfile.TemporaryDirectory(prefix="dowse-bench-") as folder:
        index_dir = Path(folder, "index")
        environment = {**os.environ, "DOWSE_CACHE_DIR": folder, **settings}
        command = [beside_python(), "search", QUESTION, "--json", "--index-dir", index_dir]
        began = time.perf_counter()
        done = subprocess.run(command, cwd=repository, env=environment, capture_output=True, check=True)
        taken = time.perf_counter() - began
        subprocess.run([beside_python(), "stop"], env=environment, stdout=subprocess.DEVNULL, check=False)
        return taken, json.loads(done.stdout)


if __name__ == "__main__":
    main()
