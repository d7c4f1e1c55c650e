"""Models of the Hugging Face hub, downloaded when the user names one and kept in the hub's own cache."""

from __future__ import annotations

import re
from pathlib import Path

from dowse.errors import ConfigError, DowseError
from dowse.security.terminal import first_line

_NAME = re.compile(r"[\w.-]+/[\w.-]+")
# What an encoder needs: weights of other frameworks, and the many ONNX variants, can be gigabytes. A star
# matches slashes too.
_WANTED = ["*.json", "*.txt", *(f"{at}model.onnx{part}" for at in ("", "onnx/") for part in ("", "_data"))]
_WEIGHTS = ["*.safetensors", "*.model"]


def download(name: str) -> Path:
    """Return the folder of a hub model: its ONNX version, or its weights where there is none."""
    if not _NAME.fullmatch(name):
        raise ConfigError(f"hf:{name} is no hub model; write hf:owner/name")
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise DowseError("hub models need huggingface_hub: pip install huggingface_hub") from error
    try:
        folder = Path(snapshot_download(name, allow_patterns=_WANTED))
        if not any(folder.rglob("*.onnx")):
            snapshot_download(name, allow_patterns=[*_WANTED, *_WEIGHTS])
    except Exception as error:  # the hub's errors, the network's and the disk's: one remedy for all
        raise DowseError(
            f"can't fetch hf:{name} ({type(error).__name__}: {first_line(error)}); check name and network"
        ) from error
    return folder
