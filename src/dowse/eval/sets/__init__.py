"""The built-in sets, written and checked by hand: about dowse's code, and about the structure of other code.

Grade 2 is what was asked for, grade 1 what is right too but further off: a file that only helps to
understand, a class that extends a subclass, a caller of a caller, a test. Answers about structure were found
by reading every place where the name stands, never by asking dowse; they are all there are. A function that
calls itself is not listed among its callers, nor is a line that only imports.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from dowse.errors import EvalError
from dowse.eval.datasets.jsonl import parse_case, read_cases
from dowse.eval.datasets.lines import read_rows
from dowse.eval.types import OWN_PREFIX, Case, Dataset

_FOLDER = Path(__file__).parent
# The package as it is installed, or as it lies in a checkout: what the questions call src/dowse.
_PACKAGE = _FOLDER.parents[1]
_STRUCTURE = "structure"


@dataclass(frozen=True, slots=True)
class OwnSet:
    """One of our sets, and how it is scored."""

    name: str  # of its file here
    level: str
    metric: str
    about: str

    @property
    def file(self) -> Path:
        """Where the questions are."""
        return _FOLDER / self.name


OWN = {
    "files": OwnSet("files.jsonl", "file", "ndcg@10", "where dowse does something, in a newcomer's words"),
    "symbols": OwnSet("symbols.jsonl", "symbol", "mrr@100", "which function or class of dowse does it"),
    "names": OwnSet("names.jsonl", "symbol", "mrr@100", "names in dowse: whole, in part, other case, typos"),
    # All answers are wanted, before anything else: recall alone would not see what stands between them.
    _STRUCTURE: OwnSet("structure.jsonl", "symbol", "ndcg@10", "callers, subclasses … in 16 repositories"),
}


@dataclass(frozen=True, slots=True)
class Checkout:
    """A repository that questions about structure are asked of, at the commit that they hold for."""

    name: str
    language: str
    url: str
    revision: str
    root: str  # the folder in it that is searched, "" for all


def own_set(name: str, checkouts: Path | None = None) -> list[Dataset]:
    """Return one of our sets: "own:files", …, "own:structure", or "own:structure/flask" for one repository.

    "own:structure" needs the folder with a checkout of each repository, by name, and becomes a dataset for
    each.
    """
    wanted, _, repository = name.removeprefix(OWN_PREFIX).partition("/")
    if wanted not in OWN or (repository and wanted != _STRUCTURE):
        known = ", ".join(OWN_PREFIX + each for each in OWN)
        raise EvalError(f"there is no set {name!r}; ours are {known} and {OWN_PREFIX}{_STRUCTURE}/REPOSITORY")
    if wanted == _STRUCTURE:
        return _structure(repository, checkouts)
    own = OWN[wanted]
    cases = tuple(read_cases(own.file))
    return [Dataset(OWN_PREFIX + wanted, cases, own.level, metric=own.metric, root=_PACKAGE)]


def structure_cases() -> dict[str, list[Case]]:
    """Return the questions about structure, by repository."""
    cases: dict[str, list[Case]] = {}
    for where, row in read_rows(OWN[_STRUCTURE].file):
        cases.setdefault(str(row["repo"]), []).append(parse_case(row, where))
    return cases


def structure_checkouts() -> dict[str, Checkout]:
    """Return the repositories that questions about structure are asked of, by name."""
    text = (_FOLDER / "checkouts.json").read_text(encoding="utf-8")
    return {each["name"]: Checkout(**each) for each in json.loads(text)}


def _structure(repository: str, checkouts: Path | None) -> list[Dataset]:
    known, own = structure_checkouts(), OWN[_STRUCTURE]
    if repository and repository not in known:
        raise EvalError(
            f"{OWN_PREFIX}{_STRUCTURE} asks nothing about {repository!r}; it has {', '.join(known)}"
        )
    if checkouts is None:
        raise EvalError(
            f"{OWN_PREFIX}{_STRUCTURE} is about other repositories; name the folder that holds "
            "a checkout of each with --checkouts"
        )
    return [
        Dataset(
            *(f"{_STRUCTURE}/{name}", tuple(cases), own.level),
            metric=own.metric,
            root=_root(known[name], checkouts),
        )
        for name, cases in structure_cases().items()
        if repository in ("", name)
    ]


def _root(checkout: Checkout, checkouts: Path) -> Path:
    """Return the folder that is searched; raise if it is not there."""
    folder = checkouts / checkout.name
    if not (folder / checkout.root).is_dir():
        raise EvalError(
            f"{folder / checkout.root} is missing; run `git clone {checkout.url} {folder}` and "
            f"`git -C {folder} checkout {checkout.revision}`"
        )
    return folder / checkout.root
