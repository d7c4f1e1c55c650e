"""The index that an evaluation searches: apart from the user's own, and without files that hold answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from dowse.errors import EvalError
from dowse.eval.answer_files import answer_files
from dowse.eval.files import cache_path
from dowse.eval.types import Dataset
from dowse.index import Index
from dowse.source.ignore import IgnoreRules
from dowse.storage.open import beside

# So many of the files that should not be there are named.
_NAMED = 3
# Lanes in turn, without time limits: what is found must not depend on how busy the machine is.
_ISOLATION = "never"


def open_clean_index(
    root: Path,
    hidden: Iterable[Dataset | Path],
    *,
    settings: Mapping[str, object] | None = None,
    index_dir: str = "",
    strip_docs: bool = False,
) -> Index:
    """Name the index of a place without answers; nothing is written before it is updated.

    Args:
        root: What is searched.
        hidden: What is asked, or files that hold answers in a form of their own.
        settings: Of the index; None counts as not given.
        index_dir: Where the index lies; "" is a place of its own, apart from the user's index.
        strip_docs: Whether documentation must stay out, whatever the settings say.
    """
    given = {name: value for name, value in (settings or {}).items() if value is not None}
    usual = Index.open(root, **given).settings
    strip = usual.strip_docs or strip_docs
    own = _own_place(root, usual.exclude, strip)
    fixed: dict[str, object] = {
        "exclude": (*usual.exclude, *answer_files(root, hidden, exclude=usual.exclude)),
        "strip_docs": strip,
        "isolation": _ISOLATION,
        "feedback": False,  # what users chose may well be the answers
        "index_dir": index_dir or str(own),
    }
    if usual.backend:
        fixed["backend"] = beside(usual.backend, own.name.lower())
    return Index.open(root, **{**given, **fixed})


def check_leakage(index: Index) -> None:
    """Refuse an index that is taken as it is and holds answers, or documentation that it must not.

    Raises:
        EvalError: It would be searched for what it must not know.
    """
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


def _own_place(root: Path, exclude: Sequence[str], strip_docs: bool) -> Path:
    """Return where an index for evaluation lies: never where the user's own does.

    Which files hold answers is no part of it: those that come and go are taken out of the same index.
    """
    whole = root.resolve()
    return cache_path("indexes", whole, whole.name, (strip_docs, *exclude))
