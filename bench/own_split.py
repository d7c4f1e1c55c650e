"""How well an encoder finds code of packages it was not trained on, language by language, beside BM25.

    python bench/own_split.py --pairs DIR --encoder base [--out bench/results/own_split.json]

`--pairs` holds LANG.valid.jsonl.xz as `dowse train pairs` writes them: packages no training pair comes from.
Of each language up to 1,000 pairs make a pool; the first paragraph of each documentation is a query and its
own code the one right answer (MRR). BM25 is rank_bm25 over dowse's own terms of name and code.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from pathlib import Path

import numpy as np
from rank_bm25 import BM25Okapi

from dowse.encoders.document import Document
from dowse.encoders.registry import load_encoder
from dowse.parsing.tokenizer import tokenize
from dowse_training.pairs.files import read_rows, split_name

from common import write_results

POOL = 1000


def read_pool(path: Path) -> list[dict[str, str]]:
    """Return the pairs of a pool, chosen by a fixed seed."""
    pairs = list(read_rows(path))
    random.Random(7).shuffle(pairs)
    return pairs[:POOL]


def query_of(pair: dict[str, str]) -> str:
    """Return the first paragraph of a pair's documentation."""
    return pair["doc"].strip().split("\n\n")[0]


def document_of(pair: dict[str, str], language: str) -> Document:
    """Return what the encoder reads of a pair's code."""
    qualifier, last = split_name(pair["name"])
    return Document(qualifier, last, "", pair["code"], language, pair.get("path", ""))


def mean_reciprocal_rank(scores: np.ndarray) -> float:
    """Return the MRR when the right answer of query i is document i; equal scores count half against it."""
    right = scores.diagonal()[:, None]
    ranks = 1 + (scores > right).sum(1) + ((scores == right).sum(1) - 1) / 2
    return round(float((1 / ranks).mean()), 4)


def main() -> None:
    """Measure every language there is a file of."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--encoder", action="append", help="may be repeated (default: base and small)")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    encoders = [load_encoder(name) for name in options.encoder or ("base", "small")]
    table: dict[str, dict[str, float]] = {}
    for path in sorted(options.pairs.glob("*.valid.jsonl.xz")):
        language = path.name.split(".")[0]
        pool = read_pool(path)
        queries = [query_of(pair) for pair in pool]
        lexical = BM25Okapi([tokenize(f"{pair['name']} {pair['code']}") for pair in pool])
        scores = np.array([lexical.get_scores(tokenize(query)) for query in queries])
        row: dict[str, float] = {"pairs": len(pool), "bm25": mean_reciprocal_rank(scores)}
        for encoder in encoders:
            documents = encoder.encode_documents([document_of(pair, language) for pair in pool])
            row[encoder.name] = mean_reciprocal_rank(encoder.encode_queries(queries) @ documents.T)
            row[f"{encoder.name} over bm25"] = round(row[encoder.name] - row["bm25"], 4)
        table[language] = row
        print(language, row, file=sys.stderr, flush=True)
    means = {name: round(statistics.mean(row[name] for row in table.values()), 4) for name in row}
    print("mean", means, file=sys.stderr)
    if options.out:
        write_results(options.out, {"encoders": [e.id for e in encoders], "languages": table, "mean": means})


if __name__ == "__main__":
    main()
