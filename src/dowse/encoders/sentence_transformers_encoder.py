"""Models that only the package sentence-transformers can run (it is no dependency of dowse)."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.encoders.encoder import file_safe
from dowse.encoders.model_files import model_errors
from dowse.encoders.text_encoder import PromptedEncoder, read_text_form
from dowse.errors import DowseError

if TYPE_CHECKING:
    from dowse.encoders.encoder import Vectors

_BATCH = 32


class SentenceTransformersEncoder(PromptedEncoder):
    """A sentence-transformers folder without ONNX; weights are loaded on first use."""

    def __init__(self, folder: Path, name: str, *, view: str = "symbol", device: str = "auto") -> None:
        self.name = name
        self._folder = folder
        self._docs_only = view == "docs"
        self._device = None if device == "auto" else device
        self._form = read_text_form(folder)

    @cached_property
    def id(self) -> str:
        """Fingerprint of the files' names, sizes and times and of the form; weights may be gigabytes."""
        files = sorted(file for file in self._folder.rglob("*") if file.is_file())
        # A model that was trained further has the same sizes.
        stamps = [
            (file.relative_to(self._folder).as_posix(), file.stat().st_size, file.stat().st_mtime_ns)
            for file in files
        ]
        digest = hashlib.sha256(repr((stamps, self._docs_only, self._form)).encode()).hexdigest()
        return f"{file_safe(self.name)}-{digest[:12]}"

    @cached_property
    def dimension(self) -> int:
        """The length of a vector."""
        model = self._model  # newer versions of the package have another name for the method
        get_size = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
        size = get_size()
        if not isinstance(size, int) or size < 1:
            raise DowseError(f"{self._folder} does not say how many numbers a vector has; use another model")
        return size

    @cached_property
    def _model(self) -> Any:  # noqa: ANN401 - of an optional package
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise DowseError(
                f"{self._folder} has no ONNX file; install sentence-transformers, or export the model to ONNX"
            ) from error
        with model_errors(self._folder):
            model = SentenceTransformer(
                str(self._folder),
                device=self._device,
                trust_remote_code=False,
                local_files_only=True,
                model_kwargs={"use_safetensors": True},
            )
        model.max_seq_length = self._form.tokens
        return model

    def _encode(self, texts: list[str]) -> Vectors:
        import numpy as np

        model = self._model
        with model_errors(self._folder):  # of the package, of torch, of the tokenizer
            vectors = model.encode(
                texts, batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False
            )
            return np.asarray(vectors, np.float32).reshape(len(texts), self.dimension)
