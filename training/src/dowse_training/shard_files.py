"""Training pairs on disk as token ids: for each language one file of ids and one of lengths.

NAME.tok.xz   uint16 ids, pair after pair: qualifier, code, sentence, rest of the paragraph, rest of the text
NAME.meta.xz  uint8 (n, 7) lengths as in `COLUMNS`, then int32 (n,) package numbers
NAME.json     n, tokens, packages, statistics
NAME is the language, with `.valid` for packages that are kept from training.
"""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dowse.errors import ConfigError

# Ids that are kept of each part at most; documentation is counted from its beginning. A qualifier may have
# words of its path before it, and the ids of a name are among those of its code.
PATH_IDS, QUALIFIER_IDS, NAME_IDS, CODE_IDS = 8, 12, 24, 160
SENTENCE_IDS, PARAGRAPH_IDS, TEXT_IDS = 48, 64, 80

# Name's place is counted within the code; the other columns are lengths in ids.
COLUMNS = ("qualifier", "code", "name_start", "name", "sentence", "paragraph", "rest")
QUALIFIER, CODE, NAME_START, NAME, SENTENCE, PARAGRAPH, REST = range(7)
_STORED = (QUALIFIER, CODE, SENTENCE, PARAGRAPH, REST)
_VALID = ".valid"


class Shard(NamedTuple):
    """The pairs of one language."""

    language: str
    tokens: NDArray[np.uint16]
    lengths: NDArray[np.uint8]
    packages: NDArray[np.int32]


def write(
    folder: Path, shard: Shard, *, valid: bool = False, statistics: Mapping[str, int] | None = None
) -> None:
    """Write one shard; its .json comes last, so that a shard with one is whole."""
    folder.mkdir(parents=True, exist_ok=True)
    name = shard.language + (_VALID if valid else "")
    _write_xz(folder / f"{name}.tok.xz", shard.tokens.tobytes())
    _write_xz(folder / f"{name}.meta.xz", shard.lengths.tobytes() + shard.packages.tobytes())
    summary = {
        "n": len(shard.lengths),
        "tokens": len(shard.tokens),
        "packages": len(np.unique(shard.packages)),
        "stat": dict(statistics or {}),
        "mean": shard.lengths.mean(0).round(1).tolist() if len(shard.lengths) else [],
    }
    (folder / f"{name}.json").write_text(json.dumps(summary))


def read(folder: Path, language: str, *, valid: bool = False) -> Shard:
    """Read one shard."""
    name = language + (_VALID if valid else "")
    count = json.loads((folder / f"{name}.json").read_text())["n"]
    tokens = np.frombuffer(lzma.decompress((folder / f"{name}.tok.xz").read_bytes()), np.uint16)
    meta = lzma.decompress((folder / f"{name}.meta.xz").read_bytes())
    split = len(COLUMNS) * count
    lengths = np.frombuffer(meta[:split], np.uint8).reshape(count, len(COLUMNS))
    return Shard(language, tokens, lengths, np.frombuffer(meta[split:], np.int32))


def read_all(folders: Sequence[Path], *, valid: bool = False) -> list[Shard]:
    """One shard a language, in the order of their names, from all folders together."""
    languages = languages_in(folders, valid=valid)
    if not languages:
        raise ConfigError(f"no shards in {', '.join(map(str, folders))}; make some with `dowse train shards`")
    jobs = [(f, language) for language in languages for f in folders if language in _languages(f, valid)]
    # Decompression leaves the interpreter's lock alone, so threads are enough.
    with ThreadPoolExecutor(min(10, os.cpu_count() or 1)) as pool:
        parts = list(pool.map(lambda job: read(job[0], job[1], valid=valid), jobs))
    return [_joined([part for part in parts if part.language == language]) for language in languages]


def languages_in(folders: Sequence[Path], *, valid: bool = False) -> list[str]:
    """Languages that have a shard in any of the folders."""
    return sorted({language for folder in folders for language in _languages(folder, valid)})


def offsets(lengths: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Where each pair's ids begin."""
    total = lengths[:, _STORED].sum(1, dtype=np.int64)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(total)[:-1]])


def _languages(folder: Path, valid: bool) -> set[str]:
    names = {path.name.removesuffix(".tok.xz") for path in folder.glob("*.tok.xz")}
    return {name.removesuffix(_VALID) for name in names if name.endswith(_VALID) == valid}


def _joined(parts: list[Shard]) -> Shard:
    """Shards of one language from several folders: their packages get numbers apart."""
    packages, first = [], 0
    for part in parts:
        packages.append(part.packages + np.int32(first))
        first += int(part.packages.max(initial=-1)) + 1
    return Shard(
        parts[0].language,
        np.concatenate([part.tokens for part in parts]),
        np.concatenate([part.lengths for part in parts]),
        np.concatenate(packages),
    )


def _write_xz(path: Path, data: bytes) -> None:
    with lzma.open(path, "wb", preset=2) as stream:
        stream.write(data)
