"""Encoders by name: shipped ones, folders, and models of the Hugging Face hub."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dowse.encoders.model_files import read_model_settings
from dowse.encoders.model_files import shipped_folder as shipped_folder
from dowse.encoders.onnx_encoder import DESCRIPTION_FILE
from dowse.errors import ConfigError, DowseError

if TYPE_CHECKING:
    from dowse.encoders.encoder import Encoder

HUB = "hf:"


class Model(NamedTuple):
    """An encoder that needs nothing but its name."""

    name: str
    id: str
    dimension: int
    megabytes: float
    folder: str


def load(name: str, view: str = "symbol", device: str = "auto", threads: int = 1) -> Encoder:
    """Return an encoder; its weights are read when it first encodes.

    Args:
        name: A shipped encoder ("base"), a folder with a model of ours, in ONNX or of sentence-transformers,
            or `hf:owner/name` for a model of the Hugging Face hub.
        view: "symbol" for code and documentation, "docs" for documentation alone.
        device: "auto", "cpu" or "cuda".
        threads: How many batches to encode at once.
    """
    if name.startswith(HUB):
        from dowse.encoders.hub import fetch

        return _open(fetch(name.removeprefix(HUB)), name, view, device, threads)
    folder = shipped_folder() / name
    if "/" in name or "\\" in name or not (folder / DESCRIPTION_FILE).exists():
        folder = Path(name).expanduser()
    if not folder.is_dir():
        known = ", ".join(model.name for model in available()) or "none"
        raise ConfigError(f"no encoder {name!r}: shipped are {known}; else name a folder, or hf:owner/name")
    return _open(folder, folder.name, view, device, threads)


def is_shipped(name: str) -> bool:
    """Whether an encoder comes with dowse: then its description is read in no time."""
    return name.isidentifier() and (shipped_folder() / name / DESCRIPTION_FILE).exists()


def available() -> list[Model]:
    """Return the encoders that are shipped with dowse."""
    return [
        Model(folder.name, encoder.id, encoder.dimension, _megabytes(folder), str(folder))
        for folder in _shipped()
        for encoder in [load(folder.name)]
    ]


def _shipped() -> Iterator[Path]:
    place = shipped_folder()
    if place.is_dir():
        yield from sorted(folder for folder in place.iterdir() if (folder / DESCRIPTION_FILE).exists())


def _open(folder: Path, name: str, view: str, device: str, threads: int) -> Encoder:
    """Return the encoder of a folder, by what lies in it."""
    if (folder / DESCRIPTION_FILE).exists():
        return _open_own(folder, view, device, threads)
    from dowse.encoders.text_encoder import find_model

    if find_model(folder):
        from dowse.encoders.text_encoder import TextEncoder

        return TextEncoder(folder, name, view=view, device=device, threads=threads)
    if (folder / "modules.json").exists() or (folder / "config.json").exists():
        from dowse.encoders.sentence import SentenceEncoder

        return SentenceEncoder(folder, name, view=view, device=device)
    raise DowseError(
        f"{folder} holds no encoder; expected encoder.json, an ONNX file with tokenizer.json, or modules.json"
    )


def _open_own(folder: Path, view: str, device: str, threads: int) -> Encoder:
    about = read_model_settings(folder / DESCRIPTION_FILE, folder)
    if not isinstance(about, dict):
        raise DowseError(f"{folder / DESCRIPTION_FILE} is no description; export the model again")
    if about.get("arch") == "nbow":
        from dowse.research.nbow import NbowEncoder

        return NbowEncoder.load(folder, view=view)
    from dowse.encoders.onnx_encoder import OnnxEncoder

    return OnnxEncoder(folder, view=view, device=device, threads=threads)


def _megabytes(folder: Path) -> float:
    return round(sum(file.stat().st_size for file in folder.iterdir() if file.is_file()) / 1e6, 1)
