"""Text encoders of other projects, in ONNX: a folder with model.onnx and tokenizer.json.

The layout is that of sentence-transformers. Such a model reads plain text, so a document is its name, its
documentation and its code in one text.
"""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.encoders.document import Document, as_documents
from dowse.encoders.encoder import file_safe
from dowse.encoders.model_files import model_errors, read_model_settings
from dowse.errors import DowseError, MissingExtra
from dowse.lazy_classes import asdict, dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

    from dowse.encoders.encoder import Vectors

# In the order of preference: most quantised models must be run row by row (see `_DYNAMIC_QUANTISATION`).
_MODEL_FILES = (
    "model.onnx",
    "onnx/model.onnx",
    "onnx/model_quantized.onnx",
    "onnx/model_int8.onnx",
    "model_quantized.onnx",
)
_TOKENIZER_FILES = ("tokenizer.json", "onnx/tokenizer.json")
_INPUTS = frozenset(["input_ids", "attention_mask", "token_type_ids"])
# More would be slow and gives little: functions are short.
_MAX_TOKENS = 256
# Longer texts surely fill so many tokens; the limit bounds what the tokenizer does.
TEXT_CHARACTERS = 100_000
# Texts of different length, to find out the dimension of a model.
_PROBES = ("size", "the size of a vector")
# Prompts by which sentence-transformers models know what they read.
_QUERY_PROMPTS, _DOCUMENT_PROMPTS = ("query",), ("document", "passage", "corpus")
# The beginning of the operators that quantise a batch by what is in it.
_DYNAMIC_QUANTISATION = b"DynamicQuantize"


@dataclass(frozen=True, slots=True)
class TextForm:
    """The input format of a text model, from the settings of sentence-transformers."""

    tokens: int = _MAX_TOKENS
    pooling: str = "cls"
    query_prompt: str = ""
    document_prompt: str = ""
    lower_case: bool = False


class PromptedEncoder:
    """The common part of encoders that read text: a document is one text, perhaps after a prompt."""

    _form: TextForm
    _docs_only: bool

    def encode_documents(self, documents: Sequence[Document | str]) -> Vectors:
        """Return a unit row for every document."""
        prompt = self._form.document_prompt
        texts = [document_text(d, docs_only=self._docs_only) for d in as_documents(documents)]
        return self._encode([prompt + text for text in texts])

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return a unit row for every query."""
        return self._encode([self._form.query_prompt + text for text in texts])

    def _encode(self, texts: list[str]) -> Vectors:
        raise NotImplementedError


class OnnxTextModel:
    """An ONNX model that reads text; weights and tokenizer are loaded on first use."""

    def __init__(self, folder: Path, name: str, device: str, threads: int) -> None:
        self.name = name
        self._folder, self._device, self._threads = folder, device, threads
        model, tokenizer = find_model(folder), _find(folder, _TOKENIZER_FILES)
        if model is None or tokenizer is None:
            raise DowseError(
                f"{folder} needs an ONNX file and tokenizer.json; export the model to ONNX first"
            )
        self._model, self._tokenizer_file = model, tokenizer
        self._form = read_text_form(folder)

    @cached_property
    def _session(self) -> InferenceSession:
        from dowse.encoders.session import open_session

        return open_session(self._model, self._device)

    @cached_property
    def _inputs(self) -> frozenset[str]:
        """The names of the model's inputs; raises DowseError unless they are those of a text model."""
        names = frozenset(entry.name for entry in self._session.get_inputs())
        if "input_ids" not in names or names - _INPUTS:
            raise DowseError(
                f"{self._folder} wants inputs {sorted(names)}; only text models with input_ids can be used"
            )
        return names

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        tokenizer = _load_tokenizer(self._tokenizer_file)
        tokenizer.no_padding()
        tokenizer.enable_truncation(self._form.tokens)
        return tokenizer

    def _tokenize(self, texts: Sequence[str | tuple[str, str]]) -> list[Encoding]:
        """Tokenize texts or pairs of texts."""
        if self._form.lower_case:
            texts = [t.lower() if isinstance(t, str) else (t[0].lower(), t[1].lower()) for t in texts]
        with model_errors(self._folder):
            return self._tokenizer.encode_batch(texts)

    def _run_model(self, ids: NDArray[np.int64], type_ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Run the model on a batch of equally long sequences."""
        import numpy as np

        from dowse.encoders.session import run_model

        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": type_ids}
        return run_model(self._session, {name: inputs[name] for name in self._inputs}, self._folder)


class TextEncoder(PromptedEncoder, OnnxTextModel):
    """A dense encoder of another project."""

    def __init__(
        self, folder: Path, name: str, *, view: str = "symbol", device: str = "auto", threads: int = 1
    ) -> None:
        super().__init__(folder, name, device, threads)
        self._docs_only = view == "docs"

    @cached_property
    def id(self) -> str:
        """Fingerprint of the files and of the input format."""
        digest = hashlib.sha256(repr((tuple(asdict(self._form).values()), self._docs_only)).encode())
        weights = sorted(self._model.parent.glob(f"{self._model.name}?data"))  # external weights
        for file in (self._model, *weights, self._tokenizer_file):
            with file.open("rb") as stream:
                hashlib.file_digest(stream, lambda: digest)  # adds to it
        return f"{file_safe(self.name)}-{digest.hexdigest()[:12]}"

    @cached_property
    def dimension(self) -> int:
        """The length of a vector; where the model does not declare it, it is tried out."""
        shape = self._session.get_outputs()[0].shape
        size = shape[-1] if shape else 0
        widths = [size] if isinstance(size, int) else sorted({self._probe(text) for text in _PROBES})
        if len(widths) > 1 or widths[0] < 1:
            raise DowseError(f"{self._folder} gives {widths} numbers for a text; it is no text encoder")
        return widths[0]

    def _probe(self, text: str) -> int:
        """Return the length of the vector that the model gives for a text."""
        import numpy as np

        ids = self._tokenize([text])[0].ids
        return int(self._pool(np.array([ids or [0]], np.int64)).shape[1])

    def _encode(self, texts: list[str]) -> Vectors:
        import numpy as np

        from dowse.encoders.batching import BATCH_TOKENS, encode_batches, normalise_rows

        sequences = [encoding.ids for encoding in self._tokenize([text[:TEXT_CHARACTERS] for text in texts])]
        rows = np.zeros((len(texts), self.dimension), np.float32)
        filled = [n for n, ids in enumerate(sequences) if ids]  # a text without tokens is similar to nothing
        if not filled:
            return rows
        tokens = 1 if self._is_dynamically_quantised else BATCH_TOKENS
        filled_ids = [sequences[n] for n in filled]
        with model_errors(self._folder):
            vectors = encode_batches(self._pool, filled_ids, self.dimension, self._threads, tokens)
        rows[filled] = normalise_rows(vectors)
        return rows

    def _pool(self, ids: NDArray[np.int64]) -> Vectors:
        """Run a batch and pool the token vectors: their mean, or that of the first token (CLS)."""
        import numpy as np

        rows = self._run_model(ids, np.zeros_like(ids))
        if rows.ndim not in (2, 3) or len(rows) != len(ids) or not rows.size:
            raise DowseError(f"{self._folder} gives {rows.shape} for {ids.shape} ids; it is no text encoder")
        if rows.ndim == 2:  # the model pools by itself
            return rows
        return rows[:, 0] if self._form.pooling == "cls" else rows.mean(axis=1)

    @cached_property
    def _is_dynamically_quantised(self) -> bool:
        """Whether the model quantises by the values of a whole batch: then rows must be run one by one."""
        with self._model.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(_DYNAMIC_QUANTISATION) >= 0


def find_model(folder: Path) -> Path | None:
    """Return the ONNX file of a folder."""
    return _find(folder, _MODEL_FILES) or next(iter(sorted(folder.glob("*.onnx"))), None)


def document_text(document: Document, *, docs_only: bool = False) -> str:
    """Return a document as one text."""
    name = f"{document.qualifier}.{document.name}" if document.qualifier else document.name
    parts = (document.docs or name,) if docs_only else (name, document.docs, document.code)
    return "\n".join(part for part in parts if part)


def read_text_form(folder: Path) -> TextForm:
    """Read the settings of sentence-transformers: sequence length, pooling and prompts."""
    limits = read_model_settings(folder / "sentence_bert_config.json")
    tokenizer = read_model_settings(folder / "tokenizer_config.json")
    prompts = read_model_settings(folder / "config_sentence_transformers.json").get("prompts")
    prompts = prompts if isinstance(prompts, dict) else {}
    lengths = (limits.get("max_seq_length"), tokenizer.get("model_max_length"))
    # Some write 1e30 for no limit.
    tokens = int(min([_MAX_TOKENS, *(n for n in lengths if isinstance(n, int | float) and n >= 1)]))
    return TextForm(
        tokens,
        _pooling(read_model_settings(folder / "1_Pooling/config.json")),
        _prompt(prompts, _QUERY_PROMPTS),
        _prompt(prompts, _DOCUMENT_PROMPTS),
        bool(limits.get("do_lower_case")),
    )


def _pooling(settings: dict[str, Any]) -> str:
    """Return the pooling mode; nearly all models without settings use mean pooling."""
    if not settings or settings.get("pooling_mode_mean_tokens"):
        return "mean"
    if settings.get("pooling_mode_cls_token"):
        return "cls"
    wanted = [key for key, value in settings.items() if key.startswith("pooling_mode") and value]
    raise DowseError(
        f"pooling {wanted} is not supported; use a model with pooling by mean or by the first token"
    )


def _prompt(prompts: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((str(prompts[name]) for name in names if prompts.get(name)), "")


def _load_tokenizer(file: Path) -> Tokenizer:
    """Load a tokenizer.json; the format holds tables and rules, no code."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingExtra("reading models of other projects", "huggingface") from error
    with model_errors(file):
        return Tokenizer.from_file(str(file))


def _find(folder: Path, names: Sequence[str]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)
