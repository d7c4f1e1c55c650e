"""semble, a published hybrid code search, with a local model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from dowse.errors import EvalError
from dowse.eval.index_symbols import SymbolLines, symbol_result
from dowse.eval.systems.mirror import Mirror, mirror
from dowse.eval.types import LEVELS, RankedSearch, SearchResult, check_choice
from dowse.index import Index

# The files of a model2vec model.
_MODEL_FILES = ("config.json", "model.safetensors", "tokenizer.json")
# As its authors measured it. The candidates that it reranks are a multiple of the requested results.
AT_MOST = 10
_CACHE = "SEMBLE_CACHE_LOCATION"


def semble(index: Index, model: str | Path, level: str = "file", *, at_most: int = AT_MOST) -> RankedSearch:
    """Index code with semble, which must be installed, and a local model2vec model; nothing is downloaded.

    It has its own chunking and takes only files that it knows as code. Its scores depend on the model: those
    that its authors publish are for one of theirs. At symbol level each chunk counts for the function or
    class that has most of its lines. No more than `at_most` results are requested (0: as many as are wanted),
    since the number changes the order of the first ones.
    """
    check_choice("level", level, LEVELS)
    folder, make = _model_folder(model), _semble()
    copy = mirror(index)
    symbols = SymbolLines(index) if level == "symbol" or copy.corpus else None
    built = _build(make, copy, folder)

    def search(query: str, k: int) -> list[SearchResult]:
        with _own_cache(copy):
            results = built.search(query, top_k=min(k, at_most or k))
        return [_search_result(result.chunk, copy, symbols) for result in results]

    return search


def _model_folder(model: str | Path) -> Path:
    folder = Path(model).expanduser().resolve()
    missing = [name for name in _MODEL_FILES if not (folder / name).is_file()]
    if missing:
        raise EvalError(
            f"{model} is no folder of a model2vec model, it has no {', '.join(missing)}; download one, e.g. "
            "minishlab/potion-code-16M, or distill one with `model2vec.distill`, and name its folder"
        )
    return folder


def _semble() -> Any:  # noqa: ANN401 - a class of a package that need not be there
    try:
        return import_module("semble").SembleIndex
    except (ImportError, AttributeError) as error:
        raise EvalError(f"semble can't be loaded ({error}); install it with `pip install semble`") from error


def _build(make: Any, copy: Mirror, model: Path) -> Any:  # noqa: ANN401
    with _own_cache(copy):
        try:
            return make.from_path(copy.folder, model_path=str(model))
        except ValueError as error:
            raise EvalError(f"semble can't index this ({error}); it takes source code only") from error


@contextmanager
def _own_cache(copy: Mirror) -> Iterator[None]:
    """Keep semble's cache and its notes on every search out of the user's folders."""
    before = os.environ.get(_CACHE)
    os.environ[_CACHE] = f"{copy.folder}/.semble"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_CACHE]
        else:
            os.environ[_CACHE] = before


def _search_result(chunk: Any, copy: Mirror, symbols: SymbolLines | None) -> SearchResult:  # noqa: ANN401
    file = copy.files[chunk.file_path.replace(os.sep, "/")]
    lines = (chunk.start_line, chunk.end_line)
    row = symbols.over(file.file_id, *lines) if symbols else None
    return symbol_result(row) if row else SearchResult(file.path, "", *lines, repo=file.repo)
