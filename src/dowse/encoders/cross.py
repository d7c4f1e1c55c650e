"""Cross-encoders, in ONNX: they read a query and a document together and say how well they fit.

Ours is shipped and has a name. Of those of others a folder with an ONNX file and tokenizer.json is enough, as
sentence-transformers lays it out. Such models are slow, so they only put the first candidates of a search
into another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dowse.encoders.document import Document, Form, first_sentence, query_view, views
from dowse.encoders.model_files import load_tokenizer, read_model_settings, reading_texts, shipped_folder
from dowse.encoders.onnx_encoder import TOKENIZER_FILE, form_of, name_of, own_session
from dowse.encoders.text_encoder import TEXT_CHARACTERS, document_text, find_model, read_form
from dowse.encoders.words import LAST, UNKNOWN
from dowse.errors import ConfigError, DowseError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

    from dowse.encoders.words import Words

CROSS_FILE = "cross.json"
CROSS_VERSION = 1

# Models with two outputs are classifiers: "does not fit", "fits".
_CLASSES = 2


class CrossEncoder(Protocol):
    """Scores documents for a query; a score never depends on the other documents."""

    @property
    def name(self) -> str:
        """What the user calls it."""

    @property
    def unit(self) -> float | None:
        """What a point of its scores is worth in those of a search; None if nobody has measured that."""

    def score(self, query: str, documents: Sequence[Document]) -> list[float]:
        """Return a number for every document, the higher the better it fits; no scale is promised."""


def load_cross(name: str, device: str = "auto", threads: int = 1) -> CrossEncoder:
    """Return a cross-encoder; its weights are read when it first scores.

    Args:
        name: A shipped one ("rerank"), or a folder that holds an ONNX file and tokenizer.json.
        device: "auto", "cpu" or "cuda".
        threads: How many documents to read at once.
    """
    folder = shipped_folder() / name
    if "/" in name or "\\" in name or not (folder / CROSS_FILE).exists():
        folder = Path(name).expanduser()
    if not folder.is_dir():
        known = ", ".join(shipped_crosses()) or "none"
        raise ConfigError(
            f"no reranker {name!r}: shipped are {known}; "
            "else name a folder with an ONNX file and tokenizer.json"
        )
    if (folder / CROSS_FILE).exists():
        return OwnCrossEncoder(folder, device=device, threads=threads)
    return OnnxCrossEncoder(folder, device=device, threads=threads)


def shipped_crosses() -> list[str]:
    """Return the names of the cross-encoders that come with dowse."""
    return sorted(file.parent.name for file in shipped_folder().glob(f"*/{CROSS_FILE}"))


@dataclass(frozen=True, slots=True)
class CrossDescription:
    """What cross.json says; of the form, `tokens` are those of a document and `query` those of a query."""

    name: str
    unit: float
    form: Form

    @classmethod
    def read(cls, folder: Path) -> CrossDescription:
        """Read and check a folder's cross.json."""
        try:
            values = read_model_settings(folder / CROSS_FILE, folder)
            if values["version"] != CROSS_VERSION:
                raise ValueError(f"version {values['version']!r}")
            return cls(name_of(values), float(values["unit"]), form_of(values))
        except (DowseError, ValueError, KeyError, TypeError) as error:
            raise DowseError(
                f"{folder} is no reranker of this version of dowse ({error!r}); export it with `dowse train`"
            ) from error


class OwnCrossEncoder:
    """A cross-encoder of ours; weights and tokenizer are read when first used."""

    def __init__(self, folder: Path, *, device: str = "auto", threads: int = 1) -> None:
        self._folder, self._device, self._threads = folder, device, threads
        about = CrossDescription.read(folder)
        self.name, self.unit, self._form = about.name, about.unit, about.form

    def score(self, query: str, documents: Sequence[Document]) -> list[float]:
        """Return a number for every document."""
        from dowse.encoders.batches import encode
        from dowse.encoders.session import run_rows

        session = self._session
        pairs = [joint_ids(query, document, self._words, self._form) for document in documents]
        rows = encode(lambda ids: run_rows(session, ids, 1, self._folder), pairs, 1, self._threads)
        return [float(value) for value in rows[:, 0]]

    @cached_property
    def _words(self) -> Words:
        from dowse.encoders.words import Words

        return Words.read(self._folder / TOKENIZER_FILE)

    @cached_property
    def _session(self) -> InferenceSession:
        return own_session(self._folder, self._device)


def joint_ids(query: str, document: Document, words: Words, form: Form) -> list[int]:
    """Return what our cross-encoders read: <s> query </s> place name documentation code </s>."""
    whole = views(document, words, form)[0].ids
    head = views(document._replace(docs="", code=""), words, form)[0].ids[:-1]
    if head[1:] == [UNKNOWN]:  # stands for nothing at all
        head = head[:1]
    docs = words.text(first_sentence(document.docs), form.docs) if document.docs else []
    # The document's <s> is left out: the query's stands for both.
    told = (head + docs + whole[len(head) : -1])[1 : form.tokens - 1]
    return [*query_view(query, words, form).ids, *told, LAST]


class OnnxCrossEncoder:
    """A model that reads pairs of texts; weights and tokenizer are read when first used."""

    unit: float | None = None

    def __init__(self, folder: Path, *, device: str = "auto", threads: int = 1) -> None:
        self.name = folder.name
        model, tokenizer = find_model(folder), folder / "tokenizer.json"
        if model is None or not tokenizer.is_file():
            raise DowseError(f"{folder} needs an ONNX file and tokenizer.json; export the model first")
        self._folder, self._model, self._tokenizer_file = folder, model, tokenizer
        self._device, self._threads = device, threads
        self._form = read_form(folder)

    def score(self, query: str, documents: Sequence[Document]) -> list[float]:
        """Return a number for every document."""
        cut = slice(TEXT_CHARACTERS)
        pairs = [(query[cut], document_text(document)[cut]) for document in documents]
        if self._form.lower_case:
            pairs = [(query.lower(), text.lower()) for query, text in pairs]
        with reading_texts(self._folder):
            read = self._tokenizer.encode_batch(pairs)
        _ = self._inputs  # opened and checked here, not by several threads at once
        # One by one: nothing is padded, and models that scale by what is in a batch give the same every time.
        if self._threads == 1 or len(read) <= 1:
            return [self._logit(pair) for pair in read]
        with ThreadPoolExecutor(min(self._threads, len(read))) as pool:
            return list(pool.map(self._logit, read))

    @cached_property
    def _session(self) -> InferenceSession:
        from dowse.encoders.session import open_session

        return open_session(self._model, self._device, folder=self._folder)

    @cached_property
    def _inputs(self) -> frozenset[str]:
        """Names of the inputs, once it is clear that the model can be served."""
        wanted = frozenset(entry.name for entry in self._session.get_inputs())
        if "input_ids" not in wanted or wanted - {"input_ids", "attention_mask", "token_type_ids"}:
            raise DowseError(f"{self._model} wants inputs {sorted(wanted)}; it is no cross-encoder of texts")
        return wanted

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        tokenizer = load_tokenizer(self._tokenizer_file)
        tokenizer.no_padding()
        tokenizer.enable_truncation(self._form.tokens)  # of the longer text, which is rarely the query
        return tokenizer

    def _logit(self, pair: Encoding) -> float:
        import numpy as np

        from dowse.encoders.session import run_model

        given = {
            "input_ids": pair.ids,
            "attention_mask": [1] * len(pair.ids),
            "token_type_ids": pair.type_ids,
        }
        inputs = {name: np.array([given[name]], np.int64) for name in self._inputs}
        found = run_model(self._session, inputs, self._model)
        if not 1 <= found.size <= _CLASSES:
            raise DowseError(
                f"{self._model} gives {found.size:,} numbers for a pair; a cross-encoder gives one score"
            )
        scores = [float(value) for value in found.ravel()]
        return scores[0] if len(scores) == 1 else scores[1] - scores[0]
