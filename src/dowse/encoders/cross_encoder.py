"""Cross-encoders, in ONNX: they read a query and a document together and score their relevance.

The one that dowse ships has a name. Any other is a folder with an ONNX file and tokenizer.json, in the layout
of sentence-transformers. Cross-encoders are slow, so they only rerank the first candidates of a search.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dowse.encoders.document import Document, Form, first_sentence, query_view, views
from dowse.encoders.model_files import find_model_folder, read_model_settings, shipped_folders
from dowse.encoders.onnx_encoder import DowseModel
from dowse.encoders.text_encoder import TEXT_CHARACTERS, OnnxTextModel, document_text
from dowse.encoders.word_tokenizer import EOS, UNK
from dowse.errors import ConfigError, DowseError

if TYPE_CHECKING:
    from tokenizers import Encoding

    from dowse.encoders.word_tokenizer import WordTokenizer

CROSS_FILE = "cross.json"
CROSS_VERSION = 1

# Models with two outputs are classifiers: irrelevant, relevant.
_CLASSES = 2


class CrossEncoder(Protocol):
    """Scores documents for a query; a score never depends on the other documents."""

    @property
    def name(self) -> str:
        """The name that the user gives."""

    @property
    def score_scale(self) -> float | None:
        """What one point of its score is worth in search scores; None if nobody has measured that."""

    def score(self, query: str, documents: Sequence[Document]) -> list[float]:
        """Return a score for every document, higher for more relevant; no scale is promised."""


def load_cross_encoder(name: str, device: str = "auto", threads: int = 1) -> CrossEncoder:
    """Return a cross-encoder; its weights are loaded when it first scores.

    Args:
        name: A shipped one ("rerank"), or a folder that holds an ONNX file and tokenizer.json.
        device: "auto", "cpu" or "cuda".
        threads: How many documents to read at once.
    """
    folder = find_model_folder(name, CROSS_FILE)
    if not folder.is_dir():
        known = ", ".join(shipped_cross_encoders()) or "none"
        raise ConfigError(
            f"no reranker {name!r}: shipped are {known}; "
            "else name a folder with an ONNX file and tokenizer.json"
        )
    if (folder / CROSS_FILE).exists():
        return DowseCrossEncoder(folder, device=device, threads=threads)
    return OnnxCrossEncoder(folder, device=device, threads=threads)


def shipped_cross_encoders() -> list[str]:
    """Return the names of the cross-encoders that come with dowse."""
    return sorted(file.parent.name for each in shipped_folders() for file in each.glob(f"*/{CROSS_FILE}"))


class DowseCrossEncoder(DowseModel):
    """A cross-encoder trained by dowse."""

    def __init__(self, folder: Path, *, device: str = "auto", threads: int = 1) -> None:
        super().__init__(folder, device, threads)
        try:
            values = read_model_settings(folder / CROSS_FILE)
            if values["version"] != CROSS_VERSION:
                raise ValueError(f"version {values['version']!r}")
            # Of the form, `tokens` limits the document and `query` the query.
            self.name, self._form = str(values["name"]), Form(**values["form"])
            self.score_scale = float(values["unit"])
        except (DowseError, ValueError, KeyError, TypeError) as error:
            raise DowseError(
                f"{folder} is no reranker of this version of dowse ({error!r}); export it with `dowse train`"
            ) from error

    def score(self, query: str, documents: Sequence[Document]) -> list[float]:
        """Return a score for every document."""
        pairs = [pair_ids(query, document, self.words, self._form) for document in documents]
        return [float(value) for value in self._run(pairs, 1)[:, 0]]


def pair_ids(query: str, document: Document, words: WordTokenizer, form: Form) -> list[int]:
    """Return the input of dowse's cross-encoders: <s> query </s> path name documentation code </s>."""
    whole = views(document, words, form)[0].ids
    head = views(document._replace(docs="", code=""), words, form)[0].ids[:-1]
    if head[1:] == [UNK]:  # stands for nothing at all
        head = head[:1]
    docs = words.encode_text(first_sentence(document.docs), form.docs) if document.docs else []
    # The document's <s> is left out: the query's stands for both.
    ids = (head + docs + whole[len(head) : -1])[1 : form.tokens - 1]
    return [*query_view(query, words, form).ids, *ids, EOS]


class OnnxCrossEncoder(OnnxTextModel):
    """A cross-encoder of another project."""

    score_scale: float | None = None

    def __init__(self, folder: Path, *, device: str = "auto", threads: int = 1) -> None:
        super().__init__(folder, folder.name, device, threads)

    def score(self, query: str, documents: Sequence[Document]) -> list[float]:
        """Return a score for every document."""
        cut = slice(TEXT_CHARACTERS)
        # The tokenizer truncates the longer text of a pair, which is rarely the query.
        pairs = self._tokenize([(query[cut], document_text(document)[cut]) for document in documents])
        _ = self._inputs  # opened and checked here, not by several threads at once
        # One by one: nothing is padded, and models that scale by what is in a batch give the same every time.
        if self._threads == 1 or len(pairs) <= 1:
            return [self._logit(pair) for pair in pairs]
        with ThreadPoolExecutor(min(self._threads, len(pairs))) as pool:
            return list(pool.map(self._logit, pairs))

    def _logit(self, pair: Encoding) -> float:
        import numpy as np

        ids = np.array([pair.ids], np.int64)
        output = self._run_model(ids, np.array([pair.type_ids], np.int64))
        if not 1 <= output.size <= _CLASSES:
            raise DowseError(
                f"{self._model} gives {output.size:,} numbers for a pair; a cross-encoder gives one score"
            )
        scores = [float(value) for value in output.ravel()]
        return scores[0] if len(scores) == 1 else scores[1] - scores[0]
