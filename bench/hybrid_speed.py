"""Warm hybrid search against the classic stack: rank_bm25, a sentence transformer, faiss and RRF, in one run.

    python bench/hybrid_speed.py --data DIR --model DIR [--queries N] [--out bench/results/hybrid_speed.json]

`--data` holds the set csn-python (13,000 functions, BEIR layout); `--model` is a folder that
sentence-transformers loads, e.g. all-MiniLM-L6-v2. Needs sentence-transformers, faiss and rank_bm25 beside
dowse. Both sides answer the same queries in turn, one at a time, and hand back the ten best with their text;
ours with everything: plan, filters, fusion, signals, explanation.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dowse import Index

from common import milliseconds, work_folder, write_results
from quality import beir_cases, plain

# What the reference system uses.
_RRF_K, _TOP = 60, 100


def main() -> None:
    """Time both and write the ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--encoder", default="base")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    corpus = options.data / "csn-python"
    results: dict[str, object] = {"functions": 13_000, "queries": options.queries, "encoder": options.encoder}
    with work_folder(options.work) as work:
        theirs = reference(corpus, options.model, work)
        ours = {
            name: _searcher(corpus, work / "index", isolation, options.encoder)
            for name, isolation in (("dowse, lanes in processes", "always"), ("dowse, lanes inline", "never"))
        }
        for kind in ("queries", "queries-summary"):
            cases = beir_cases(corpus, kind)
            queries = [plain(case.query) for case in random.Random(7).sample(cases, options.queries)]
            results[kind] = compare(queries, {"reference": theirs, **ours})
            print(kind, json.dumps(results[kind], indent=1), flush=True)
    if options.out:
        write_results(options.out, results)


def compare(queries: list[str], sides: dict[str, Callable[[str], object]]) -> dict[str, object]:
    """Ask every side each query in turn, so that a busy moment hits all of them."""
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for query in queries[:20]:
        for ask in sides.values():
            ask(query)
    for query in queries:
        for name, ask in sides.items():
            started = time.perf_counter()
            ask(query)
            taken[name].append(time.perf_counter() - started)
    table: dict[str, object] = {name: milliseconds(times) for name, times in taken.items()}
    slow = sorted(taken["reference"])[len(queries) // 2]
    ratios = {
        name: round(slow / sorted(times)[len(queries) // 2], 1)
        for name, times in taken.items()
        if name != "reference"
    }
    return {**table, "times faster, p50": ratios}


def _searcher(corpus: Path, place: Path, isolation: str, encoder: str) -> Callable[[str], object]:
    """Return our search on a warm index."""
    index = Index.open(corpus, index_dir=str(place), strip_docs=True, encoder=encoder, isolation=isolation)
    index.update()
    index.embed()
    return lambda query: index.search(query, k=10).hits


def reference(corpus: Path, model: str, work: Path) -> Callable[[str], object]:
    """Return the search of the classic stack, its vectors kept for the next run."""
    import faiss
    from rank_bm25 import BM25Okapi
    from sentence_transformers import SentenceTransformer

    with gzip.open(corpus / "corpus.jsonl.gz", "rt") as lines:
        functions = [json.loads(line) for line in lines]
    texts = [f"{function['title']} {function['text']}" for function in functions]
    words = BM25Okapi([text.lower().split() for text in texts])
    transformer = SentenceTransformer(model, device="cpu")
    kept = work / "reference.npy"
    if not kept.exists():
        np.save(kept, transformer.encode(texts, batch_size=64, normalize_embeddings=True))
    vectors = np.load(kept)
    nearest = faiss.IndexFlatIP(vectors.shape[1])
    nearest.add(vectors)

    def search(query: str) -> list[str]:
        scores = words.get_scores(query.lower().split())
        by_words = np.argsort(-scores)[:_TOP]
        vector = transformer.encode([query], normalize_embeddings=True)
        by_meaning = nearest.search(vector, _TOP)[1][0]
        fused: dict[int, float] = {}
        for ranking in (by_words, by_meaning):
            for rank, row in enumerate(ranking.tolist(), 1):
                fused[row] = fused.get(row, 0.0) + 1 / (_RRF_K + rank)
        return [texts[row] for row in sorted(fused, key=lambda row: -fused[row])[:10]]

    return search


if __name__ == "__main__":
    main()
