"""A model for mteb: `mteb.evaluate(DowseModel("base"), mteb.get_tasks(tasks=["CosQA"]))`."""

from collections.abc import Iterable

import numpy as np

from dowse import load_encoder


class DowseModel:
    """Implements `mteb.models.EncoderProtocol`; vectors have length one: similarity is the inner product."""

    def __init__(self, model_name: str = "base", revision: str | None = None, **_: object) -> None:
        self._model = load_encoder(model_name)

    def encode(self, inputs: Iterable[dict[str, list[str]]], *, prompt_type: str, **_: object) -> np.ndarray:
        encode = self._model.encode_documents if prompt_type == "document" else self._model.encode_queries
        return encode([text for batch in inputs for text in batch["text"]])

    def similarity(self, embeddings1: np.ndarray, embeddings2: np.ndarray) -> np.ndarray:
        return np.atleast_2d(embeddings1) @ np.atleast_2d(embeddings2).T

    def similarity_pairwise(self, embeddings1: np.ndarray, embeddings2: np.ndarray) -> np.ndarray:
        return (embeddings1 * embeddings2).sum(axis=-1)

    @property
    def mteb_model_meta(self) -> object:
        from mteb.models import ModelMeta

        return ModelMeta.create_empty({"name": f"dowse/{self._model.name}", "revision": self._model.id})
