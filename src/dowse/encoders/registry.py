"""Encoders by name: shipped ones, folders, and models of the Hugging Face hub, which are downloaded."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.encoders.model_files import (
    CONFIG_FILE,
    find_model_folder,
    is_shipped,
    read_model_settings,
    shipped_folders,
)
from dowse.encoders.model_files import shipped_folder as shipped_folder
from dowse.encoders.onnx_encoder import OnnxEncoder
from dowse.errors import ConfigError, DowseError, MissingExtra
from dowse.security.terminal import first_line

if TYPE_CHECKING:
    from dowse.encoders.encoder import Encoder

_HUB_PREFIX = "hf:"
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
# What an encoder needs: weights of other frameworks, and the many ONNX variants, can be gigabytes. A star
# matches slashes too.
_HUB_FILES = ["*.json", "*.txt", *(f"{at}model.onnx{part}" for at in ("", "onnx/") for part in ("", "_data"))]
_HUB_WEIGHTS = ["*.safetensors", "*.model"]
# The shipped encoder whose document vectors approximate those of another.
_TINY = "tiny"


def load_encoder(name: str, view: str = "symbol", device: str = "auto", threads: int = 1) -> Encoder:
    """Return an encoder; its weights are loaded when it first encodes.

    Args:
        name: A shipped encoder ("base"), a folder with a model of dowse, in ONNX or of sentence-transformers,
            or `hf:owner/name` for a model of the Hugging Face hub.
        view: "symbol" for code and documentation, "docs" for documentation alone.
        device: "auto", "cpu" or "cuda".
        threads: How many batches to encode at once.
    """
    if name.startswith(_HUB_PREFIX):
        return _open(_download(name.removeprefix(_HUB_PREFIX)), name, view, device, threads)
    if is_shipped(name):
        return _load_shipped(name, view, device, threads)
    folder = find_model_folder(name, CONFIG_FILE)
    if not folder.is_dir():
        known = ", ".join(shipped_encoders()) or "none"
        raise ConfigError(f"no encoder {name!r}: shipped are {known}; else name a folder, or hf:owner/name")
    return _open(folder, folder.name, view, device, threads)


def load_approximation(encoder: Encoder, view: str = "symbol") -> Encoder | None:
    """Return the shipped table that approximates an encoder's document vectors; None if there is none."""
    from dowse.encoders.token_table import TableEncoder

    table = _load_shipped(_TINY, view, "cpu", 1)
    return table if isinstance(table, TableEncoder) and table.approximates(encoder) else None


@lru_cache(maxsize=4)
def _load_shipped(name: str, view: str, device: str, threads: int) -> Encoder:
    """Return a shipped encoder; all indexes of a process share it, for it never changes."""
    return _open(find_model_folder(name, CONFIG_FILE), name, view, device, threads)


def shipped_encoders() -> list[str]:
    """Return the names of the encoders that come with dowse."""
    return sorted(file.parent.name for each in shipped_folders() for file in each.glob(f"*/{CONFIG_FILE}"))


def _download(name: str) -> Path:
    """Return the folder of a hub model, in the hub's own cache: its ONNX version, or its weights."""
    if not _HUB_NAME.fullmatch(name):
        raise ConfigError(f"hf:{name} is no hub model; write hf:owner/name")
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise MissingExtra("reading models of other projects", "huggingface") from error
    try:
        folder = Path(snapshot_download(name, allow_patterns=_HUB_FILES))
        if not any(folder.rglob("*.onnx")):
            snapshot_download(name, allow_patterns=[*_HUB_FILES, *_HUB_WEIGHTS])
    except Exception as error:  # the hub's errors, the network's and the disk's: one remedy for all
        raise DowseError(
            f"can't fetch hf:{name} ({type(error).__name__}: {first_line(error)}); check name and network"
        ) from error
    return folder


def _open(folder: Path, name: str, view: str, device: str, threads: int) -> Encoder:
    """Return the encoder of a folder, by the files in it."""
    if (folder / CONFIG_FILE).exists():
        config = read_model_settings(folder / CONFIG_FILE)
        if config.get("arch") == "nbow":
            from dowse.research.nbow import NbowEncoder

            return NbowEncoder.load(folder, view=view)
        if config.get("arch") == "token table":
            from dowse.encoders.token_table import TableEncoder

            return TableEncoder(folder, view=view, device=device, threads=threads)
        return OnnxEncoder(folder, view=view, device=device, threads=threads)
    from dowse.encoders.text_encoder import TextEncoder, find_model

    if find_model(folder):
        return TextEncoder(folder, name, view=view, device=device, threads=threads)
    if (folder / "modules.json").exists() or (folder / "config.json").exists():
        from dowse.encoders.sentence_transformers_encoder import SentenceTransformersEncoder

        return SentenceTransformersEncoder(folder, name, view=view, device=device)
    raise DowseError(
        f"{folder} holds no encoder; expected encoder.json, an ONNX file with tokenizer.json, or modules.json"
    )
