"""The index that an evaluation searches: the user's is left alone, files with answers are left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dowse.errors import EvalError
from dowse.eval.datasets.lines import first_rows
from dowse.eval.files import REPORT, cache_path
from dowse.eval.types import Dataset
from dowse.index import Index
from dowse.source.corpus import ENDINGS, is_corpus
from dowse.source.ignore import IgnoreRules
from dowse.source.walk import WalkedFile, walk
from dowse.storage.open import beside

# So many of the leaked files are named in a message.
_NAMED = 3
# Keys that make an object with a query one with answers: cases, also those of other suites.
_ANSWERS = re.compile(r"relevant|grade|judge")
# A report's mark comes first, or after its provenance.
_HEAD_BYTES = 65_536


def open_clean_index(
    root: Path,
    hidden: Iterable[Dataset | Path],
    *,
    settings: Mapping[str, Any] | None = None,
    index_dir: str = "",
    strip_docs: bool = False,
) -> Index:
    """Open an index that leaves out all files with answers; nothing is written before it is updated.

    It lies in the cache, apart from the user's, unless `index_dir` names a folder. `hidden` are the datasets
    that are run, or other files with answers; settings that are None count as absent.
    """
    chosen = {name: value for name, value in (settings or {}).items() if value is not None}
    usual = Index.open(root, **chosen).settings
    strip = usual.strip_docs or strip_docs
    whole = root.resolve()
    # Which files hold answers is no part of the name: those that come and go are removed from the same index.
    own = cache_path("indexes", whole, whole.name, (strip, *usual.exclude))
    fixed: dict[str, Any] = {
        "exclude": (*usual.exclude, *answer_files(root, hidden, exclude=usual.exclude)),
        "strip_docs": strip,
        # Lanes in turn, without time limits: results must not depend on how busy the machine is.
        "isolation": "never",
        "feedback": False,  # what users chose may well be the answers
        "index_dir": index_dir or str(own),
    }
    if usual.backend:
        fixed["backend"] = beside(usual.backend, own.name.lower())
    return Index.open(root, **{**chosen, **fixed})


def check_leakage(index: Index) -> None:
    """Raise EvalError if an existing index holds answers, or documentation that it must not (leakage)."""
    built, rules = index.internals.as_built(), IgnoreRules(index.settings.exclude)
    inside = [file.path for file in index.contents.files() if rules.ignores(file.path)]
    if inside:
        more = f" and {len(inside) - _NAMED} more" if len(inside) > _NAMED else ""
        raise EvalError(
            f"the index in {index.backend.address} holds what must not be found: "
            f"{', '.join(inside[:_NAMED])}{more}; take it out with --index, or name another place"
        )
    if built.settings.strip_docs != index.settings.strip_docs:
        was = "without" if built.settings.strip_docs else "with"
        raise EvalError(
            f"the index in {index.backend.address} was made {was} documentation, which does not fit these "
            "questions; make it again with --index, or name another place"
        )


def answer_files(
    root: Path, datasets: Iterable[Dataset | Path] = (), exclude: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return .gitignore patterns, relative to `root`, for every file under it that holds answers.

    These are the files of the datasets and, by content, other cases and saved reports. The patterns must be
    the last of `exclude`, where nothing includes a file again. A corpus has none: only functions are indexed.
    """
    if not root.is_dir() or is_corpus(root):
        return ()
    top = root.resolve()
    files = (each.files if isinstance(each, Dataset) else (each,) for each in datasets)
    own = {path.resolve() for paths in files for path in paths}
    leaked = {path.relative_to(top).as_posix() for path in own if path.is_relative_to(top)}
    walked = (entry.path for entry in walk(top, exclude=exclude) if isinstance(entry, WalkedFile))
    leaked |= {path for path in walked if _is_cases(top / path) or _is_report(top / path)}
    return tuple(sorted(map(escape_pattern, leaked)))


def _is_cases(path: Path) -> bool:
    """Whether lines are queries with their answers."""
    rows = first_rows(path) if path.name.endswith(ENDINGS) else []
    return any("query" in row and any(map(_ANSWERS.match, row)) for row in rows)


def _is_report(path: Path) -> bool:
    if path.suffix != ".json":
        return False
    with path.open("rb") as file:
        return f'"{REPORT}"'.encode() in file.read(_HEAD_BYTES)


def escape_pattern(path: str) -> str:
    """Return the pattern of one path; characters that no pattern can hold match any."""
    escaped = re.sub(r"([*?\[\\ ])", r"\\\1", path)
    # An index stores its patterns as lines of text.
    return "/" + re.sub("[\n\r\ud800-\udfff]", "?", escaped)
