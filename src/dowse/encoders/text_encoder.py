"""Encoders of others, in ONNX: a folder with model.onnx and tokenizer.json, as sentence-transformers has it.

Such a model reads text as it stands, so a document is its name, its documentation and its code in one text.
"""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.encoders.document import Document
from dowse.encoders.encoder import file_safe
from dowse.encoders.model_files import check_model_file, load_tokenizer, read_model_settings, reading_texts
from dowse.errors import DowseError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    from dowse.encoders.encoder import Vectors

# In the order of preference: most quantised models must be run row by row (see `_BATCH_SCALES`).
_MODEL_FILES = (
    "model.onnx",
    "onnx/model.onnx",
    "onnx/model_quantized.onnx",
    "onnx/model_int8.onnx",
    "model_quantized.onnx",
)
_TOKENIZER_FILES = ("tokenizer.json", "onnx/tokenizer.json")
# More would be slow and gives little: functions are short.
_MOST_TOKENS = 256
# What a text may have so that so many tokens are surely filled; it bounds what the tokenizer does.
TEXT_CHARACTERS = 100_000
# The largest encoders have 8,192.
_WIDEST = 16_384
# Texts of different length, to see how many numbers a model gives.
_PROBES = ("size", "the size of a vector")
# Prompts by which sentence-transformers models know what they read.
_QUERY_PROMPTS, _DOCUMENT_PROMPTS = ("query",), ("document", "passage", "corpus")
_PROMPT_CHARACTERS = 10_000
_READ_BYTES = 1 << 20
_WEIGHT_BYTES = 1 << 40
# The beginning of the operators that quantise a batch by what is in it.
_BATCH_SCALES = b"DynamicQuantize"


@dataclass(frozen=True, slots=True)
class TextForm:
    """What sentence-transformers' settings say about a model."""

    tokens: int = _MOST_TOKENS
    pooling: str = "cls"
    query_prompt: str = ""
    document_prompt: str = ""
    lower_case: bool = False


class PromptedEncoder:
    """What encoders that read text have in common: a document is one text, and prompts may come before it."""

    _form: TextForm
    _docs_only: bool

    def documents(self, documents: Sequence[Document]) -> Vectors:
        """Return a unit row for every document."""
        prompt = self._form.document_prompt
        return self._encode([prompt + document_text(d, docs_only=self._docs_only) for d in documents])

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Return a unit row for every query."""
        return self._encode([self._form.query_prompt + text for text in texts])

    def _encode(self, texts: list[str]) -> Vectors:
        raise NotImplementedError


class TextEncoder(PromptedEncoder):
    """An ONNX model that reads text; weights and tokenizer are read when first used."""

    def __init__(
        self, folder: Path, name: str, *, view: str = "symbol", device: str = "auto", threads: int = 1
    ) -> None:
        self.name = name
        self._folder = folder
        self._model = _required(find_model(folder), folder, "an ONNX file")
        self._tokenizer_file = _required(_find(folder, _TOKENIZER_FILES), folder, "tokenizer.json")
        self._docs_only = view == "docs"
        self._device = device
        self._threads = threads
        self._form = read_form(folder)

    @cached_property
    def id(self) -> str:
        """Fingerprint of the files and of what is read."""
        digest = hashlib.sha256(repr((astuple(self._form), self._docs_only)).encode())
        weights = sorted(self._model.parent.glob(f"{self._model.name}?data"))  # where they are kept apart
        for file in (self._model, *weights, self._tokenizer_file):
            with check_model_file(file, self._folder, _WEIGHT_BYTES).open("rb") as stream:
                while block := stream.read(_READ_BYTES):
                    digest.update(block)
        return f"{file_safe(self.name)}-{digest.hexdigest()[:12]}"

    @cached_property
    def dimension(self) -> int:
        """How many numbers a vector has; what a model does not say is tried out."""
        shape = self._session.get_outputs()[0].shape
        size = shape[-1] if shape else 0
        widths = [size] if isinstance(size, int) else sorted({self._width(text) for text in _PROBES})
        if len(widths) > 1 or not 1 <= widths[0] <= _WIDEST:
            raise DowseError(f"{self._folder} gives {widths} numbers for a text; it is no text encoder")
        return widths[0]

    @cached_property
    def _session(self) -> InferenceSession:
        from dowse.encoders.session import open_session

        return open_session(self._model, self._device, folder=self._folder)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        tokenizer = load_tokenizer(self._tokenizer_file, self._folder)
        tokenizer.no_padding()
        tokenizer.enable_truncation(self._form.tokens)
        return tokenizer

    @cached_property
    def _run(self) -> Callable[[NDArray[np.int64]], Vectors]:
        return _model_call(self._session, self._form.pooling, self._folder)

    def _width(self, text: str) -> int:
        """Return how many numbers the model gives for a text."""
        import numpy as np

        ids = self._read([text])[0]
        return int(self._run(np.array([ids or [0]], np.int64)).shape[1])

    def _read(self, texts: list[str]) -> list[list[int]]:
        """Return the ids of each text."""
        with reading_texts(self._folder):
            return [encoding.ids for encoding in self._tokenizer.encode_batch(texts)]

    def _encode(self, texts: list[str]) -> Vectors:
        import numpy as np

        from dowse.encoders.batches import BATCH_TOKENS, encode, unit

        if self._form.lower_case:
            texts = [text.lower() for text in texts]
        sequences = self._read([text[:TEXT_CHARACTERS] for text in texts])
        rows = np.zeros((len(texts), self.dimension), np.float32)
        filled = [n for n, ids in enumerate(sequences) if ids]  # nothing is like a text without tokens
        if not filled:
            return rows
        tokens = 1 if self._rows_disturb_each_other else BATCH_TOKENS
        found = encode(self._rows, [sequences[n] for n in filled], self.dimension, self._threads, tokens)
        rows[filled] = unit(found)
        return rows

    def _rows(self, ids: NDArray[np.int64]) -> Vectors:
        """Run a batch; raises DowseError if vectors have another size than those before."""
        found = self._run(ids)
        if found.shape[1] != self.dimension:
            raise DowseError(
                f"{self._folder} gives {found.shape[1]:,} numbers for one text and {self.dimension:,} for "
                "another; it is no text encoder"
            )
        return found

    @cached_property
    def _rows_disturb_each_other(self) -> bool:
        """Tell whether the model finds scales over whole batches: then rows must go through it one by one."""
        with self._model.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(_BATCH_SCALES) >= 0


def find_model(folder: Path) -> Path | None:
    """Return the ONNX file of a folder."""
    return _find(folder, _MODEL_FILES) or next(iter(sorted(folder.glob("*.onnx"))), None)


def document_text(document: Document, *, docs_only: bool = False) -> str:
    """Return a document as one text."""
    name = f"{document.qualifier}.{document.name}" if document.qualifier else document.name
    parts = (document.docs or name,) if docs_only else (name, document.docs, document.code)
    return "\n".join(part for part in parts if part)


def read_form(folder: Path) -> TextForm:
    """Read what sentence-transformers' files say: length, pooling and prompts."""
    limits = _settings(folder, "sentence_bert_config.json")
    tokenizer = _settings(folder, "tokenizer_config.json")
    prompts = _settings(folder, "config_sentence_transformers.json").get("prompts")
    prompts = prompts if isinstance(prompts, dict) else {}
    said = (limits.get("max_seq_length"), tokenizer.get("model_max_length"))
    # Some write 1e30 for no limit.
    tokens = int(min([_MOST_TOKENS, *(n for n in said if isinstance(n, int | float) and n >= 1)]))
    return TextForm(
        tokens,
        _pooling(_settings(folder, "1_Pooling/config.json")),
        _prompt(prompts, _QUERY_PROMPTS),
        _prompt(prompts, _DOCUMENT_PROMPTS),
        bool(limits.get("do_lower_case")),
    )


def _pooling(settings: dict[str, Any]) -> str:
    """Return how token vectors become one; nearly all models without settings take the mean."""
    if not settings or settings.get("pooling_mode_mean_tokens"):
        return "mean"
    if settings.get("pooling_mode_cls_token"):
        return "cls"
    wanted = [key for key, value in settings.items() if key.startswith("pooling_mode") and value]
    raise DowseError(
        f"pooling {wanted} is not supported; use a model with pooling by mean or by the first token"
    )


def _prompt(prompts: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((str(prompts[name])[:_PROMPT_CHARACTERS] for name in names if prompts.get(name)), "")


def _model_call(
    session: InferenceSession, pooling: str, folder: Path
) -> Callable[[NDArray[np.int64]], Vectors]:
    """Return what runs a batch of equally long sequences: inputs by their names, and pooling if need be."""
    import numpy as np

    from dowse.encoders.session import run_model

    wanted = {entry.name for entry in session.get_inputs()}
    unknown = wanted - {"input_ids", "attention_mask", "token_type_ids"}
    if unknown or "input_ids" not in wanted:
        raise DowseError(
            f"{folder} wants inputs {sorted(wanted)}; only text encoders with input_ids can be used"
        )

    def run(ids: NDArray[np.int64]) -> Vectors:
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        found: Vectors = run_model(session, {name: inputs[name] for name in wanted}, folder)
        if found.ndim not in (2, 3) or len(found) != len(ids) or not found.size:
            raise DowseError(f"{folder} gives {found.shape} for {ids.shape} ids; it is no text encoder")
        if found.ndim == 2:  # the model pools by itself
            return found
        return found[:, 0] if pooling == "cls" else found.mean(axis=1)

    return run


def _find(folder: Path, names: Sequence[str]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _required(file: Path | None, folder: Path, what: str) -> Path:
    if file is None:
        raise DowseError(f"{folder} has no {what}; export the model to ONNX with its tokenizer first")
    return file


def _settings(folder: Path, name: str) -> dict[str, Any]:
    found = read_model_settings(folder / name, folder)
    return found if isinstance(found, dict) else {}
