"""Folders for sentence-transformers are checked before that package is imported: they may hold no code.

The package imports classes that a folder names, loads pickles (which run code when they are loaded), and
passes settings of the folder on to transformers. A folder passes if it names classes of an allow list, has
its weights in safetensors, and has no setting that leads to code or to another model.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dowse.encoders.model_files import check_model_file, load_tokenizer, read_model_settings
from dowse.errors import DowseError

_MAX_FILES = 2_000
_MAX_WEIGHT_BYTES = 1 << 40
# Formats that run code when they are loaded: modules, libraries, and all kinds of pickles.
_CODE = (".py", ".pyc", ".pyd", ".so", ".dll", ".dylib")
_PICKLES = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib", ".npy", ".npz", ".h5", ".keras")
_SAFE_WEIGHTS = ".safetensors"
# Modules whose own settings name no further classes; the settings of Dense are checked.
_MODULES = frozenset(
    "Transformer Pooling Normalize Dense LayerNorm Dropout WeightedLayerPooling StaticEmbedding".split()
)
_TYPE = re.compile(r"sentence_transformers(?:\.[a-z_]+)*\.([A-Za-z]+)")
_ACTIVATION = re.compile(r"torch\.nn\.modules\.(?:activation\.[A-Za-z0-9]+|linear\.Identity)")
# Keys by which settings lead to code, or to a model somewhere else.
_REFUSED_KEYS = frozenset(
    "auto_map trust_remote_code custom_pipelines base_model_name_or_path tokenizer_name_or_path "
    "model_name_or_path config_name_or_path".split()
)
_OTHER_MODELS = frozenset(["adapter_config.json", "router_config.json"])
# Vocabularies, not settings; their keys are words.
_TABLES = frozenset(["vocab.json", "added_tokens.json"])
_TOKENIZER = "tokenizer.json"
_MAX_DEPTH = 50


class RefusedFolder(DowseError):
    """A folder that could run code when it is loaded."""


def check_sentence_folder(folder: Path) -> None:
    """Raise RefusedFolder unless a folder holds only data."""
    has_weights = False
    for file in _list_files(folder):
        check_model_file(file, folder, _MAX_WEIGHT_BYTES)
        ending = file.suffix.lower()
        if ending in _CODE:
            raise _refused(folder, f"{file.name} is code")
        if ending in _PICKLES:
            raise _refused(folder, f"{file.name} can run code when it is read; keep safetensors only")
        if file.name in _OTHER_MODELS:
            raise _refused(folder, f"{file.name} leads to another model")
        has_weights = has_weights or ending == _SAFE_WEIGHTS
        if file.name == _TOKENIZER:
            load_tokenizer(file, folder)
        elif ending == ".json" and file.name not in _TABLES:
            _check_settings(folder, file)
    if not has_weights:
        raise _refused(folder, "there are no weights in safetensors")
    _check_modules(folder)


def _list_files(folder: Path) -> Iterator[Path]:
    """Yield all files of a folder; a symbolic link to a folder is refused, since it is not walked."""
    count = 0
    for directory, folders, names in os.walk(folder):
        for name in folders:
            if Path(directory, name).is_symlink():
                raise _refused(folder, f"{name} is a link to a folder")
        count += len(names)
        if count > _MAX_FILES:
            raise _refused(folder, f"there are more than {_MAX_FILES:,} files")
        yield from (Path(directory, name) for name in sorted(names))


def _check_settings(folder: Path, file: Path) -> None:
    settings = read_model_settings(file, folder)
    key = _refused_key(settings, _MAX_DEPTH)
    if key:
        raise _refused(folder, f"{file.name} sets {key}")
    activation = settings.get("activation_function") if isinstance(settings, dict) else None
    is_known = isinstance(activation, str) and (
        _ACTIVATION.fullmatch(activation) or activation.isidentifier()
    )
    if activation is not None and not is_known:
        raise _refused(folder, f"{file.name} names an unknown activation function")


def _refused_key(value: object, depth: int) -> str:
    """Return a refused key anywhere in a value, "" for none."""
    if depth == 0:
        return "too much within each other"
    if isinstance(value, dict):
        inner: list[Any] = list(value.values())
        named = next((key for key in value if key in _REFUSED_KEYS and value[key]), "")
        if named:
            return named
    else:
        inner = value if isinstance(value, list) else []
    return next(filter(None, (_refused_key(each, depth - 1) for each in inner)), "")


def _check_modules(folder: Path) -> None:
    """Check the classes and the settings paths that modules.json names."""
    modules = read_model_settings(folder / "modules.json", folder)
    if modules is None:  # a plain transformer: the package adds the pooling
        return
    if not isinstance(modules, list):
        raise _refused(folder, "modules.json is no list")
    for module in modules:
        kind, path = (module.get("type"), module.get("path")) if isinstance(module, dict) else (None, None)
        named = _TYPE.fullmatch(kind) if isinstance(kind, str) else None
        if named is None or named[1] not in _MODULES:
            raise _refused(folder, f"modules.json names {ascii(kind)[:80]}")
        if not isinstance(path, str) or not re.fullmatch(r"[\w-]*", path, re.ASCII):
            raise _refused(folder, "modules.json names a path outside the folder")


def _refused(folder: Path, reason: str) -> RefusedFolder:
    return RefusedFolder(
        f"{folder} is refused ({reason}); use a model in safetensors or ONNX without code of its own"
    )
