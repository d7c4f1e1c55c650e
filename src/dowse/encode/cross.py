"""Cross-encoders of others, in ONNX: they read a query and a document together and say how well they fit.

A folder with an ONNX file and tokenizer.json is enough, as sentence-transformers lays it out. Such a model is
slow, so it only puts the first candidates of a search into another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dowse.encode.document import Document
from dowse.encode.text_encoder import document_text, find_model, read_form
from dowse.errors import ConfigError, DowseError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

# Models with two outputs are classifiers: "does not fit", "fits".
_CLASSES = 2


class CrossEncoder(Protocol):
    """Scores documents for a query; a score never depends on the other documents."""

    @property
    def name(self) -> str:
        """What the user calls it."""

    def score(self, query: str, documents: Sequence[Document]) -> list[float]:
        """Return a number for every document, the higher the better it fits; no scale is promised."""


def load_cross(folder: str, device: str = "auto", threads: int = 1) -> CrossEncoder:
    """Return the cross-encoder of a folder; its weights are read when it first scores.

    Args:
        folder: Holds an ONNX file and tokenizer.json.
        device: "auto", "cpu" or "cuda".
        threads: How many documents to read at once.
    """
    place = Path(folder).expanduser()
    if not place.is_dir():
        raise ConfigError(f"no reranker {folder!r}: name a folder with an ONNX file and tokenizer.json")
    return OnnxCrossEncoder(place, device=device, threads=threads)


class OnnxCrossEncoder:
    """A model that reads pairs of texts; weights and tokenizer are read when first used."""

    def __init__(self, folder: Path, *, device: str = "auto", threads: int = 1) -> None:
        self.name = folder.name
        model, tokenizer = find_model(folder), folder / "tokenizer.json"
        if model is None or not tokenizer.is_file():
            raise DowseError(f"{folder} needs an ONNX file and tokenizer.json; export the model first")
        self._model, self._tokenizer_file = model, tokenizer
        self._device, self._threads = device, threads
        self._form = read_form(folder)

    def score(self, query: str, documents: Sequence[Document]) -> list[float]:
        """Return a number for every document."""
        pairs = [(query, document_text(document)) for document in documents]
        if self._form.lower_case:
            pairs = [(query.lower(), text.lower()) for query, text in pairs]
        read = self._tokenizer.encode_batch(pairs)
        _ = self._inputs  # opened and checked here, not by several threads at once
        # One by one: nothing is padded, and models that scale by what is in a batch give the same every time.
        if self._threads == 1 or len(read) <= 1:
            return [self._logit(pair) for pair in read]
        with ThreadPoolExecutor(min(self._threads, len(read))) as pool:
            return list(pool.map(self._logit, read))

    @cached_property
    def _session(self) -> InferenceSession:
        from dowse.encode.session import open_session

        return open_session(self._model, self._device)

    @cached_property
    def _inputs(self) -> frozenset[str]:
        """Names of the inputs, once it is clear that the model can be served."""
        wanted = frozenset(entry.name for entry in self._session.get_inputs())
        if "input_ids" not in wanted or wanted - {"input_ids", "attention_mask", "token_type_ids"}:
            raise DowseError(f"{self._model} wants inputs {sorted(wanted)}; it is no cross-encoder of texts")
        return wanted

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._tokenizer_file))
        tokenizer.no_padding()
        tokenizer.enable_truncation(self._form.tokens)  # of the longer text, which is rarely the query
        return tokenizer

    def _logit(self, pair: Encoding) -> float:
        import numpy as np

        given = {
            "input_ids": pair.ids,
            "attention_mask": [1] * len(pair.ids),
            "token_type_ids": pair.type_ids,
        }
        inputs = {name: np.array([given[name]], np.int64) for name in self._inputs}
        found = [float(value) for value in np.ravel(self._session.run(None, inputs)[0])]
        if len(found) > _CLASSES:
            raise DowseError(
                f"{self._model} gives {len(found)} numbers for a pair; a cross-encoder gives one score"
            )
        return found[0] if len(found) == 1 else found[1] - found[0]
