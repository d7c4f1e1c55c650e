"""From the weights of a cross-encoder to a folder that `dowse.encode.cross` reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from dowse.encode.cross import CROSS_FILE, CROSS_VERSION, joint_ids
from dowse.encode.document import Document, Form, first_sentence
from dowse.encode.onnx_encoder import GPU_MODEL_FILE, MODEL_FILE, TOKENIZER_FILE, WEIGHTS_FILE
from dowse.encode.words import Words
from dowse.errors import DowseError
from dowse.train.export import find_ranges, write_models
from dowse.train.export_graph import Weights, int8_model, unpacked_model
from dowse.train.export_vocabulary import prune

# What it was trained with: 112 ids of a document, <s> and </s> counted, 32 of them of its documentation.
CROSS_FORM = Form(tokens=112, docs=32, query=46)
# The query with its two marks, the document without its <s>.
_LONGEST = CROSS_FORM.query + 2 + CROSS_FORM.tokens - 1


def export_cross(
    weights: Weights, tokenizer: str, folder: Path, *, name: str, unit: float, calibration: Sequence[Document]
) -> None:
    """Write a model folder in eight bits.

    Args:
        weights: By the names of `dowse.train.weights`, and "head".
        tokenizer: The tokenizer.json that the weights were trained with.
        folder: Where to write; files of an earlier export are replaced.
        name: What users call it.
        unit: What a point of its scores is worth in the scores of a search.
        calibration: Documents with documentation, to find ranges of activations with.
    """
    if "head" not in weights:
        raise DowseError("these weights have no head, so they are no cross-encoder; leave out --unit")
    pruned = prune(tokenizer)
    smaller = {**weights, "word_emb": weights["word_emb"][pruned.kept]}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / TOKENIZER_FILE).write_text(pruned.tokenizer, encoding="utf-8")
    words = Words.read(folder / TOKENIZER_FILE)
    longest = Form(tokens=_LONGEST)
    ranges = find_ranges(smaller, longest, _pairs(calibration, words))
    models = {
        MODEL_FILE: int8_model(smaller, longest.tokens, ranges),
        GPU_MODEL_FILE: unpacked_model(smaller, longest.tokens, ranges),
    }
    write_models(folder, models)
    files = (*models, WEIGHTS_FILE, TOKENIZER_FILE)
    description = {
        "version": CROSS_VERSION,
        "name": name,
        "unit": unit,
        "form": asdict(CROSS_FORM),
        "sha256": {file: hashlib.sha256((folder / file).read_bytes()).hexdigest() for file in files},
    }
    (folder / CROSS_FILE).write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")


def _pairs(documents: Sequence[Document], words: Words) -> Iterator[list[int]]:
    """Give what is read in use: a query with the right document and a wrong one, with and without docs."""
    for right, wrong in zip(documents, [*documents[1:], *documents[:1]], strict=True):
        query = first_sentence(right.docs)
        yield joint_ids(query, right._replace(docs=""), words, CROSS_FORM)
        yield joint_ids(query, wrong, words, CROSS_FORM)
        yield joint_ids(right.docs, wrong._replace(docs=""), words, CROSS_FORM)
