"""Suites of repositories: repos.json lists them, cases/NAME.jsonl has the cases of each.

repos.json is a list of `name`, `url`, `revision` and `benchmark_root` (the folder that is searched; paths of
targets may begin above it). A case has `relevant` and `secondary` files, both of which count, or has our own
format.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dowse.errors import EvalError
from dowse.eval.datasets.build import make_dataset
from dowse.eval.datasets.jsonl import FILES, parse_case, with_ids
from dowse.eval.datasets.lines import read_json, read_rows
from dowse.eval.types import Case, Dataset

LIST = "repos.json"


def is_suite(folder: Path) -> bool:
    """Whether a folder is a suite of repositories."""
    return (folder / LIST).is_file() and (folder / "cases").is_dir()


def read_suite(folder: Path, checkouts: Path | None, only: str = "", name: str = "") -> list[Dataset]:
    """Return a dataset for every repository, or for `only` one; without checkouts their roots stay open."""
    repos = read_list(folder)
    chosen = [repo for repo in repos if only in ("", repo["name"])]
    if not chosen:
        raise EvalError(f"{folder} has no {only!r}; there are: {', '.join(r['name'] for r in repos)}")
    if checkouts is not None:
        _check_checkouts(chosen, checkouts)
    return [_dataset(folder, repo, checkouts, name or folder.name) for repo in chosen]


def read_list(folder: Path) -> list[dict[str, Any]]:
    """Return the repositories of a suite."""
    path = folder / LIST
    repos = read_json(path, "a JSON list of repositories")
    if not isinstance(repos, list) or not all(isinstance(r, dict) and r.get("name") for r in repos):
        raise EvalError(f'{path}: not a list of objects that each have a "name"')
    return repos


def repo_cases(folder: Path, name: str) -> list[Case]:
    """Read the questions about one repository."""
    path = _case_file(folder, name)
    if path is None:
        remedy = f"write cases/{name}.jsonl, or take it out of {LIST}"
        raise EvalError(f"{folder}: no questions about {name}; {remedy}")
    return with_ids(parse_case(_as_own_case(row), where) for where, row in read_rows(path))


def _dataset(folder: Path, repo: dict[str, Any], checkouts: Path | None, name: str) -> Dataset:
    cases = repo_cases(folder, repo["name"])
    path = _case_file(folder, repo["name"])
    root = None if checkouts is None else _root(checkouts, repo)
    files = (path,) if path else ()
    return make_dataset(f"{name}/{repo['name']}", cases, files, root=root, counting="results")


def _case_file(folder: Path, name: str) -> Path | None:
    paths = (folder / "cases" / f"{name}{ending}" for ending in (".jsonl", ".jsonl.gz"))
    return next((path for path in paths if path.is_file()), None)


def _as_own_case(row: dict[str, Any]) -> dict[str, Any]:
    """Return a case as `read_cases` knows it."""
    if "relevant" not in row:
        return row
    return {**row, FILES: [*(row["relevant"] or ()), *(row.get("secondary") or ())]}


def _root(checkouts: Path, repo: dict[str, Any]) -> Path:
    return checkouts / str(repo["name"]) / str(repo.get("benchmark_root") or "")


def _check_checkouts(repos: Sequence[dict[str, Any]], checkouts: Path) -> None:
    missing = [repo for repo in repos if not _root(checkouts, repo).is_dir()]
    if not missing:
        return
    first = missing[0]
    folder, revision = checkouts / first["name"], first.get("revision", "HEAD")
    names = ", ".join(repo["name"] for repo in missing)
    raise EvalError(
        f"there is no {_root(checkouts, first)} (missing: {names}); get it with `git clone "
        f"{first.get('url', 'URL')} {folder} && git -C {folder} checkout {revision}`"
    )
