"""Warm hybrid search against the classic stack: rank_bm25, a sentence transformer, faiss and RRF, in one run.

    python bench/hybrid_speed.py --data DIR --model DIR [--queries N] [--out FILE]

`--data` holds the set csn-python (13,000 functions, BEIR layout); `--model` is a folder that
sentence-transformers loads, e.g. all-MiniLM-L6-v2 (22M parameters). The reference system's own model is
larger (82M: 6 layers of 768), so a second row has a model of that shape; its weights are random, since only
its time counts here. Needs sentence-transformers, faiss and rank_bm25 beside dowse. All sides answer the same
queries, 25 in turn, one at a time, and hand back the ten best with their text; ours with everything: plan,
fusion, explanation.
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
# Queries that one side answers before the next has its turn: models push each other out of the caches.
_TURN = 25


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
    results: dict[str, object] = {"queries": options.queries, "encoder": options.encoder}
    with work_folder(options.work) as work:
        theirs = {
            "reference": reference(corpus, options.model, work / "reference.npy"),
            "reference, 6 layers of 768": reference(corpus, shaped(options.model, work), None),
        }
        ours = {
            name: _searcher(corpus, work / "index", isolation, options.encoder)
            for name, isolation in (("dowse, lanes in processes", "always"), ("dowse, lanes inline", "never"))
        }
        for kind in ("queries", "queries-summary"):
            cases = beir_cases(corpus, kind)
            queries = [plain(case.query) for case in random.Random(7).sample(cases, options.queries)]
            results[kind] = compare(queries, {**theirs, **ours})
            print(kind, json.dumps(results[kind], indent=1), flush=True)
    if options.out:
        write_results(options.out, results)


def compare(queries: list[str], sides: dict[str, Callable[[str], object]]) -> dict[str, object]:
    """Ask every side some queries in turn: a busy moment hits all of them, and each is warm."""
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for start in range(0, len(queries), _TURN):
        for name, ask in sides.items():
            for query in queries[start : start + 3]:
                ask(query)
            for query in queries[start : start + _TURN]:
                started = time.perf_counter()
                ask(query)
                taken[name].append(time.perf_counter() - started)
    table: dict[str, object] = {name: milliseconds(times) for name, times in taken.items()}
    middle = {name: sorted(times)[len(queries) // 2] for name, times in taken.items()}
    ratios = {
        f"{ours} : {theirs}": round(middle[theirs] / middle[ours], 1)
        for ours in middle
        for theirs in middle
        if ours.startswith("dowse") and theirs.startswith("reference")
    }
    return {**table, "times faster, p50": ratios}


def _searcher(corpus: Path, place: Path, isolation: str, encoder: str) -> Callable[[str], object]:
    """Return our search on a warm index."""
    index = Index.open(corpus, index_dir=str(place), strip_docs=True, encoder=encoder, isolation=isolation)
    index.update()
    return lambda query: index.search(query, k=10).hits


def shaped(model: str, work: Path) -> str:
    """Save a model of the reference system's shape with random weights; return its folder."""
    from transformers import AutoTokenizer, BertConfig, BertModel

    folder = work / "shaped"
    if not folder.exists():
        tokenizer = AutoTokenizer.from_pretrained(model)
        BertModel(BertConfig(vocab_size=len(tokenizer), num_hidden_layers=6)).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return str(folder)


def reference(corpus: Path, model: str, kept: Path | None) -> Callable[[str], object]:
    """Return the search of the classic stack; its vectors are kept for the next run, or random."""
    import faiss
    from rank_bm25 import BM25Okapi
    from sentence_transformers import SentenceTransformer

    with gzip.open(corpus / "corpus.jsonl.gz", "rt") as lines:
        functions = [json.loads(line) for line in lines]
    texts = [f"{function['title']} {function['text']}" for function in functions]
    words = BM25Okapi([text.lower().split() for text in texts])
    transformer = SentenceTransformer(model, device="cpu")
    if kept is None:
        size = transformer.encode(["a"]).shape[1]
        vectors = np.random.default_rng(0).standard_normal((len(texts), size), dtype=np.float32)
    else:
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
