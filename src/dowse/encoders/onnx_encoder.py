"""Our own encoders: folders with model.onnx, tokenizer.json and encoder.json, from `dowse train export`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.encoders.document import Document, Form, View, docs_view, query_view, views
from dowse.encoders.encoder import file_safe
from dowse.encoders.model_files import read_model_settings
from dowse.errors import DowseError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

    from dowse.encoders.encoder import Vectors
    from dowse.encoders.words import Words

DESCRIPTION_FILE, TOKENIZER_FILE = "encoder.json", "tokenizer.json"
# Two graphs over the same weights: eight-bit arithmetic for CPUs, and float for GPUs, which lack the former.
MODEL_FILE, GPU_MODEL_FILE, WEIGHTS_FILE = "model.onnx", "model-gpu.onnx", "weights.bin"
ARCHITECTURE = "transformer"
# Raise when the same files would give other vectors: words.py and document.py are a part of the encoder.
FORMAT_VERSION = 1
_NAME_CHARACTERS = 200
_LONGEST = 100_000  # ids of a text
_LARGEST_DIMENSION = 4_096


@dataclass(frozen=True, slots=True)
class Description:
    """What encoder.json says."""

    name: str
    dimension: int
    form: Form
    sha256: dict[str, str]

    @classmethod
    def read(cls, folder: Path) -> Description:
        """Read and check a folder's encoder.json."""
        try:
            values = read_model_settings(folder / DESCRIPTION_FILE, folder)
            if values["arch"] != ARCHITECTURE or values["version"] != FORMAT_VERSION:
                raise ValueError(f"arch {values['arch']!r} in version {values['version']!r}")
            return cls(name_of(values), _dimension_of(values), form_of(values), values["sha256"])
        except (DowseError, ValueError, KeyError, TypeError) as error:
            raise DowseError(
                f"{folder} is no encoder of this version of dowse ({error!r}); export it with `dowse train`"
            ) from error

    def fingerprint(self) -> str:
        """Return what changes whenever a vector could."""
        said = json.dumps([FORMAT_VERSION, asdict(self.form), self.sha256], sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()[:12]


def name_of(values: dict[str, Any]) -> str:
    """Return the name that a description gives; raises ValueError if it is none."""
    name = values["name"]
    if not isinstance(name, str) or not 1 <= len(name) <= _NAME_CHARACTERS:
        raise ValueError("no name")
    return name


def form_of(values: dict[str, Any]) -> Form:
    """Return the form that a description gives; raises ValueError for what is no number, or no sane one."""
    form = Form(**values["form"])
    for number in astuple(form):
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= _LONGEST:
            raise ValueError("a form out of range")
    return form


def _dimension_of(values: dict[str, Any]) -> int:
    dimension = values["dimension"]
    if type(dimension) is not int or not 1 <= dimension <= _LARGEST_DIMENSION:
        raise ValueError("a dimension out of range")
    return dimension


class OnnxEncoder:
    """An encoder of ours; weights and tokenizer are read when first used."""

    def __init__(self, folder: Path, *, view: str = "symbol", device: str = "auto", threads: int = 1) -> None:
        self._folder = folder
        self._docs_only = view == "docs"
        self._device = device
        self._threads = threads
        self._about = Description.read(folder)
        self.name = self._about.name
        self.dimension = self._about.dimension
        self.id = f"{file_safe(self.name)}-{self._about.fingerprint()}{'-docs' if self._docs_only else ''}"

    def documents(self, documents: Sequence[Document]) -> Vectors:
        """Return a unit row for every document."""
        return self._encode([self._views(document) for document in documents])

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Return a unit row for every query."""
        form = self._about.form
        return self._encode([[query_view(text, self.words, form)] for text in texts])

    @cached_property
    def words(self) -> Words:
        """What turns text into ids."""
        from dowse.encoders.words import Words

        return Words.read(self._folder / TOKENIZER_FILE)

    @cached_property
    def _session(self) -> InferenceSession:
        return own_session(self._folder, self._device)

    def _views(self, document: Document) -> list[View]:
        form = self._about.form
        if self._docs_only:
            return [docs_view(document, self.words, form)]
        return views(document, self.words, form)

    def _encode(self, viewed: Sequence[Sequence[View]]) -> Vectors:
        """Encode every view and add up those of one document."""
        import numpy as np

        from dowse.encoders.batches import encode, unit
        from dowse.encoders.session import run_rows

        session = self._session
        flat = [view for several in viewed for view in several]
        owners = np.repeat(np.arange(len(viewed)), [len(several) for several in viewed])
        vectors = encode(
            lambda ids: run_rows(session, ids, self.dimension, self._folder),
            [view.ids for view in flat],
            self.dimension,
            self._threads,
        )
        if len(flat) == len(viewed):
            return vectors
        sums = np.zeros((len(viewed), self.dimension), np.float32)
        np.add.at(sums, owners, vectors * np.array([[view.weight] for view in flat], np.float32))
        return unit(sums)


def own_session(folder: Path, device: str) -> InferenceSession:
    """Open a model of ours: what the GPU likes if there is one, else what is quick on a CPU."""
    from dowse.encoders.session import open_session, uses_gpu

    gpu_model = folder / GPU_MODEL_FILE
    if uses_gpu(device) and gpu_model.exists():
        return open_session(gpu_model, device)
    return open_session(folder / MODEL_FILE, device, optimise=False)
