"""From the weights of a cross-encoder to a folder that `dowse.encoders.cross_encoder` reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from dowse.encoders.cross_encoder import CROSS_FILE, CROSS_VERSION, pair_ids
from dowse.encoders.document import Document, Form, first_sentence
from dowse.encoders.onnx_encoder import TOKENIZER_FILE
from dowse.encoders.word_tokenizer import WordTokenizer
from dowse.errors import DowseError
from dowse_training.export import begin, eight_bits, finish
from dowse_training.export_graph import Weights

# What it was trained with: 112 ids of a document, <s> and </s> counted, 32 of them of its documentation.
CROSS_FORM = Form(tokens=112, docs=32, query=46)
# The query with its two marks, the document without its <s>.
_LONGEST = CROSS_FORM.query + 2 + CROSS_FORM.tokens - 1


def export_cross(
    weights: Weights, tokenizer: str, folder: Path, *, name: str, unit: float, calibration: Sequence[Document]
) -> None:
    """Write a model folder in eight bits.

    Args:
        weights: By the names of `dowse_training.weights`, and "head".
        tokenizer: The tokenizer.json that the weights were trained with.
        folder: Where to write; files of an earlier export are replaced.
        name: What users call it.
        unit: What a point of its scores is worth in the scores of a search.
        calibration: Documents with documentation, to find ranges of activations with.
    """
    if "head" not in weights:
        raise DowseError("these weights have no head, so they are no cross-encoder; leave out --unit")
    smaller = begin(weights, tokenizer, folder)
    words = WordTokenizer.read(folder / TOKENIZER_FILE)
    models = eight_bits(smaller, Form(tokens=_LONGEST), _pairs(calibration, words))
    description = {"version": CROSS_VERSION, "name": name, "unit": unit, "form": asdict(CROSS_FORM)}
    finish(folder, models, CROSS_FILE, description)


def _pairs(documents: Sequence[Document], words: WordTokenizer) -> Iterator[list[int]]:
    """Give what is read in use: a query with the right document and a wrong one, with and without docs."""
    for right, wrong in zip(documents, [*documents[1:], *documents[:1]], strict=True):
        query = first_sentence(right.docs)
        yield pair_ids(query, right._replace(docs=""), words, CROSS_FORM)
        yield pair_ids(query, wrong, words, CROSS_FORM)
        yield pair_ids(right.docs, wrong._replace(docs=""), words, CROSS_FORM)
