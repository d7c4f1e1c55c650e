"""How fast dowse turns words into ids, beside the tokenizers library, and what share of encoding that is.

    python bench/tokenizer.py TREE [--documents 400] [--runs 5] [--out bench/results/tokenizer.json]

TREE is any folder of Python source. Its distinct words are encoded by both, one by one as dowse does, and by
the library in batches, too, in turns; the best run counts. Ids must be the same. Then its functions are
encoded as an index does it, by `base` and by the table `tiny`, and the time before the model is taken apart.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

from tokenizers import Tokenizer

from dowse.encoders.byte_pairs import BytePairs
from dowse.encoders.document import Document, views
from dowse.encoders.model_files import shipped_folder
from dowse.encoders.registry import load_encoder
from dowse.encoders.word_tokenizer import WORD

from common import write_results


def main() -> None:
    """Measure and print ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tree", type=Path)
    parser.add_argument("--documents", type=int, default=400)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    texts = [file.read_text(errors="replace") for file in sorted(options.tree.rglob("*.py"))]
    results = {**compare(texts, options.runs), **share(texts, options.documents)}
    results["load_average"] = round(os.getloadavg()[0], 1)
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


def compare(texts: list[str], runs: int) -> dict[str, object]:
    """Encode all distinct words by the library and by dowse."""
    words = [word[:20].lower() for text in texts for word in WORD.findall(text)]
    words = list(dict.fromkeys(words))
    file = shipped_folder() / "base/tokenizer.json"
    library, ours = Tokenizer.from_file(str(file)), BytePairs(file.read_bytes())
    spaced = [f" {word}" for word in words]
    calls: dict[str, Callable[[], list[list[int]]]] = {
        "dowse": lambda: [ours.encode(word) for word in words],
        "library": lambda: [library.encode(word, add_special_tokens=False).ids for word in spaced],
        "library in batches": lambda: [
            each.ids for each in library.encode_batch(spaced, add_special_tokens=False)
        ],
        "dowse reads": lambda: [[len(vars(BytePairs(file.read_bytes())))]],
        "library reads": lambda: [[Tokenizer.from_file(str(file)).get_vocab_size()]],
    }
    if calls["dowse"]() != calls["library"]():
        raise SystemExit("other ids than the library's")
    times: dict[str, float] = {}
    for _ in range(runs):
        for name, call in calls.items():
            times[name] = min(timed(call), times.get(name, float("inf")))
    return {
        "words": len(words),
        "microseconds_a_word": round(times["dowse"] / len(words) * 1e6, 1),
        "time_over_library": round(times["dowse"] / times["library"], 2),
        "time_over_library_in_batches": round(times["dowse"] / times["library in batches"], 2),
        "reading_over_library": round(times["dowse reads"] / times["library reads"], 2),
    }


def share(texts: list[str], count: int) -> dict[str, object]:
    """Return what share of encoding functions is spent on their ids, by a new process's first documents."""
    documents = functions(texts)[:count]
    found = {}
    for name in ("base", "tiny"):
        encoder = load_encoder(name)
        encoder.encode_documents(documents[:2])  # opens the model
        words = type(encoder.words).read(shipped_folder() / "base/tokenizer.json")  # with an empty cache
        ids = timed(lambda words=words, form=encoder._form: [views(each, words, form) for each in documents])
        encoder.__dict__["words"] = type(words).read(shipped_folder() / "base/tokenizer.json")
        found[name] = round(ids / timed(lambda encoder=encoder: encoder.encode_documents(documents)), 3)
    return {"documents": len(documents), "share_of_encoding": found}


def functions(texts: list[str]) -> list[Document]:
    """Return the functions of Python source."""
    found = []
    for text in texts:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                code = ast.get_source_segment(text, node) or ""
                found.append(Document("", node.name, ast.get_docstring(node) or "", code, "python"))
    return found


def timed(call: Callable[[], object]) -> float:
    """Return the processor time of a call: other work on the machine counts less than on the clock."""
    started = time.process_time()
    call()
    return time.process_time() - started


if __name__ == "__main__":
    main()
