"""The index that an evaluation searches: the user's is left alone, and leakage is kept out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from dowse.errors import EvalError
from dowse.eval.answer_files import answer_files
from dowse.eval.files import cache_path
from dowse.eval.types import Dataset
from dowse.index import Index
from dowse.source.ignore import IgnoreRules
from dowse.storage.open import beside

# So many of the leaked files are named in a message.
_NAMED = 3


def open_clean_index(
    root: Path,
    hidden: Iterable[Dataset | Path],
    *,
    settings: Mapping[str, object] | None = None,
    index_dir: str = "",
    strip_docs: bool = False,
) -> Index:
    """Open an index that leaves out all files with answers; nothing is written before it is updated.

    Args:
        root: What is searched.
        hidden: The datasets that are run, or other files that hold answers.
        settings: Of the index; None counts as not given.
        index_dir: Where the index is; "" for one in the cache, apart from the user's index.
        strip_docs: Whether documentation must be left out, whatever the settings say.
    """
    given = {name: value for name, value in (settings or {}).items() if value is not None}
    usual = Index.open(root, **given).settings
    strip = usual.strip_docs or strip_docs
    whole = root.resolve()
    # Which files hold answers is no part of the name: those that come and go are removed from the same index.
    own = cache_path("indexes", whole, whole.name, (strip, *usual.exclude))
    fixed: dict[str, object] = {
        "exclude": (*usual.exclude, *answer_files(root, hidden, exclude=usual.exclude)),
        "strip_docs": strip,
        # Lanes in turn, without time limits: results must not depend on how busy the machine is.
        "isolation": "never",
        "feedback": False,  # what users chose may well be the answers
        "index_dir": index_dir or str(own),
    }
    if usual.backend:
        fixed["backend"] = beside(usual.backend, own.name.lower())
    return Index.open(root, **{**given, **fixed})


def check_leakage(index: Index) -> None:
    """Raise EvalError if an existing index holds answers, or documentation that it must not (leakage)."""
    built, rules = index.as_built(), IgnoreRules(index.settings.exclude)
    inside = [file.path for file in index.files() if rules.ignores(file.path)]
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
