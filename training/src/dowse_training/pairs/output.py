"""Writing pairs by language and split, with what there is to say about them."""

from __future__ import annotations

import hashlib
import json
import lzma
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from dowse_training.pairs.model import MinedPackage, Pair

TRAIN, VALID = "train", "valid"

# Pairs are read far more often than written, but mining is long enough already.
_XZ_PRESET = 3

_PARTIAL = ".part"

# Names of packages that are told for every reason they could not be had.
_EXAMPLES = 10


@dataclass(slots=True)
class Statistics:
    """What was kept and what was dropped for which reason."""

    packages: int = 0
    failed: Counter[str] = field(default_factory=Counter)  # reason → packages
    failed_examples: dict[str, list[str]] = field(default_factory=dict)  # reason → the first of them
    kept: Counter[tuple[str, str]] = field(default_factory=Counter)  # (language, split) → pairs
    dropped: Counter[tuple[str, str]] = field(default_factory=Counter)  # (language, reason) → candidates

    def add_failure(self, name: str, reason: str) -> None:
        """Count a package that could not be had."""
        self.failed[reason] += 1
        examples = self.failed_examples.setdefault(reason, [])
        if len(examples) < _EXAMPLES:
            examples.append(name)

    def as_json(self) -> dict[str, Any]:
        """Nested, sorted, the most frequent reason first."""
        return {
            "packages": self.packages,
            "packages_failed": dict(self.failed.most_common()),
            "packages_failed_examples": dict(sorted(self.failed_examples.items())),
            "kept": _nested(self.kept),
            "dropped": _nested(self.dropped),
        }


class Output:
    """A folder of pairs in the making; files get their names when it is closed, so none is ever cut short."""

    def __init__(self, folder: Path, valid_share: float) -> None:
        self.statistics = Statistics()
        self._folder = folder
        self._valid_share = valid_share
        self._files: dict[str, TextIO] = {}
        self._manifest: list[dict[str, Any]] = []
        folder.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Output:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def add(self, package: MinedPackage, pairs: list[tuple[str, Pair]]) -> None:
        """Write the pairs of a package, each with its language, and note where they come from."""
        split = split_of(package.name, self._valid_share)
        counts: Counter[str] = Counter()
        for language, pair in pairs:
            self._file(language, split).write(json.dumps(pair._asdict(), ensure_ascii=False) + "\n")
            counts[language] += 1
            self.statistics.kept[language, split] += 1
        if counts:
            self._manifest.append(
                {
                    "package": package.name,
                    "version": package.version,
                    "registry": package.registry,
                    "licence": package.licence,
                    "split": split,
                    "pairs": dict(sorted(counts.items())),
                }
            )

    def close(self) -> None:
        """Finish the files, and write the manifest and the statistics."""
        for name, file in self._files.items():
            file.close()
            partial = self._folder / (name + _PARTIAL)
            partial.replace(self._folder / name)
        self._files.clear()
        _write_json(self._folder / "manifest.json", self._manifest)
        _write_json(self._folder / "statistics.json", self.statistics.as_json())

    def _file(self, language: str, split: str) -> TextIO:
        """The open file of a language and split."""
        name = f"{language}.jsonl.xz" if split == TRAIN else f"{language}.{split}.jsonl.xz"
        if name not in self._files:
            path = self._folder / (name + _PARTIAL)
            self._files[name] = lzma.open(path, "wt", preset=_XZ_PRESET, encoding="utf-8")  # noqa: SIM115
        return self._files[name]


def split_of(package: str, valid_share: float) -> str:
    """Whether a package is trained on or validated with: by its name, so the same in every run."""
    digest = hashlib.sha256(package.lower().encode()).digest()
    return VALID if int.from_bytes(digest[:4], "big") < valid_share * 2**32 else TRAIN


def _nested(counts: Counter[tuple[str, str]]) -> dict[str, dict[str, int]]:
    """Counts by the first key, then by the second."""
    nested: dict[str, dict[str, int]] = {}
    for (first, second), count in counts.most_common():
        nested.setdefault(first or "any", {})[second] = count
    return dict(sorted(nested.items()))


def _write_json(path: Path, value: object) -> None:
    """Write a JSON file for people and programs."""
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
