"""Encoders that dowse trains and exports: folders with model.onnx, tokenizer.json and encoder.json."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.encoders.document import Document, Form, View, as_documents, docs_view, query_view, views
from dowse.encoders.encoder import file_safe
from dowse.encoders.model_files import CONFIG_FILE as CONFIG_FILE
from dowse.encoders.model_files import is_shipped_file, read_model_settings
from dowse.errors import DowseError
from dowse.lazy_classes import asdict, dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession

    from dowse.encoders.encoder import Vectors
    from dowse.encoders.word_tokenizer import WordTokenizer

TOKENIZER_FILE = "tokenizer.json"
# Two graphs over the same weights: quantised to 8 bits for CPUs, and float for GPUs, which lack the former.
MODEL_FILE, GPU_MODEL_FILE, WEIGHTS_FILE = "model.onnx", "model-gpu.onnx", "weights.bin"
ARCHITECTURE = "transformer"
# Raise when the same files would give other vectors: word_tokenizer.py and document.py belong to the encoder.
FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """The content of encoder.json."""

    name: str
    dimension: int
    form: Form
    sha256: dict[str, str]

    @classmethod
    def read(cls, folder: Path) -> EncoderConfig:
        """Read and check a folder's encoder.json."""
        try:
            values = read_model_settings(folder / CONFIG_FILE)
            if values["arch"] != ARCHITECTURE or values["version"] != FORMAT_VERSION:
                raise ValueError(f"arch {values['arch']!r} in version {values['version']!r}")
            form = Form(**values["form"])
            return cls(str(values["name"]), int(values["dimension"]), form, values["sha256"])
        except (DowseError, ValueError, KeyError, TypeError) as error:
            raise DowseError(
                f"{folder} is no encoder of this version of dowse ({error!r}); export it with `dowse train`"
            ) from error

    def fingerprint(self) -> str:
        """Return a hash that changes whenever a vector could."""
        content = json.dumps([FORMAT_VERSION, asdict(self.form), self.sha256], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:12]


class DowseModel:
    """An ONNX model in dowse's own input format; weights and tokenizer are loaded on first use."""

    def __init__(self, folder: Path, device: str, threads: int) -> None:
        self._folder, self._device, self._threads = folder, device, threads
        self._opening = threading.Lock()
        self._opened: InferenceSession | None = None

    @cached_property
    def words(self) -> WordTokenizer:
        """The tokenizer."""
        from dowse.encoders.word_tokenizer import WordTokenizer

        return WordTokenizer.read(self._folder / TOKENIZER_FILE)

    @property
    def _session(self) -> InferenceSession:
        """The session; threads that need it at once open one."""
        with self._opening:
            if self._opened is None:
                self._opened = self._open_session()
            return self._opened

    def _open_session(self) -> InferenceSession:
        """Open the float graph on a GPU if there is one, else the quantised graph on the CPU."""
        from dowse.encoders.session import open_session, uses_gpu

        if is_shipped_file(self._folder):
            from dowse.encoders.checksums import check_once

            check_once(self._folder)
        gpu_model = self._folder / GPU_MODEL_FILE
        if uses_gpu(self._device) and gpu_model.exists():
            return open_session(gpu_model, self._device)
        return open_session(self._folder / MODEL_FILE, self._device, optimise=False)

    def _run(self, sequences: Sequence[Sequence[int]], width: int) -> Vectors:
        """Return a row of `width` numbers for every sequence of ids."""
        from dowse.encoders.batching import encode_batches
        from dowse.encoders.session import run_model

        session = self._session

        def run_batch(ids: NDArray[np.int64]) -> Vectors:
            rows = run_model(session, {"ids": ids}, self._folder)
            if rows.shape != (len(ids), width):
                raise DowseError(
                    f"{self._folder} gives {rows.shape} numbers for {len(ids)} texts, not {width} each; "
                    "export it again"
                )
            return rows

        return encode_batches(run_batch, sequences, width, self._threads)


class OnnxEncoder(DowseModel):
    """A dense encoder trained by dowse."""

    def __init__(self, folder: Path, *, view: str = "symbol", device: str = "auto", threads: int = 1) -> None:
        super().__init__(folder, device, threads)
        self._docs_only = view == "docs"
        config = EncoderConfig.read(folder)
        self.name, self.dimension, self._form = config.name, config.dimension, config.form
        self.id = f"{file_safe(self.name)}-{config.fingerprint()}{'-docs' if self._docs_only else ''}"

    def encode_documents(self, documents: Sequence[Document | str]) -> Vectors:
        """Return a unit row for every document."""
        return self._encode(self._views(documents), self._run)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return a unit row for every query."""
        return self._encode([[query_view(text, self.words, self._form)] for text in texts], self._run)

    def _views(self, texts: Sequence[Document | str]) -> list[list[View]]:
        documents = as_documents(texts)
        if self._docs_only:
            return [[docs_view(document, self.words, self._form)] for document in documents]
        return [views(document, self.words, self._form) for document in documents]

    def _encode(
        self,
        documents: Sequence[Sequence[View]],
        run: Callable[[Sequence[Sequence[int]], int], Vectors],
    ) -> Vectors:
        """Encode every view and sum the vectors of each document's views by weight."""
        import numpy as np

        from dowse.encoders.batching import normalise_rows

        flat = [view for document in documents for view in document]
        # Namesakes and copies have views in common: a sixth of all views, most of them short.
        places: dict[tuple[int, ...], int] = {}
        rows = [places.setdefault(tuple(view.ids), len(places)) for view in flat]
        vectors = run(list(places), self.dimension)[rows]
        if len(flat) == len(documents):
            return vectors
        weighted = vectors * np.array([[view.weight] for view in flat], np.float32)
        counts = np.array([len(document) for document in documents])
        return normalise_rows(np.add.reduceat(weighted, np.cumsum(counts) - counts))
