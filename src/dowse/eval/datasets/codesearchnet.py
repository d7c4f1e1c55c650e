"""CodeSearchNet's files of functions (Husain et al. 2019): documentation asks for its function."""

from __future__ import annotations

from pathlib import Path

from dowse.errors import EvalError
from dowse.eval.datasets.build import make_dataset
from dowse.eval.datasets.lines import plain_name
from dowse.eval.types import DOCS, Case, Dataset
from dowse.source.corpus import CorpusFunction, open_corpus


def read_functions(path: Path, name: str = "") -> Dataset:
    """Return a question for every documented function; those without documentation are only searched.

    The index must be without documentation, so the dataset asks for `strip_docs`.
    """
    cases: dict[str, Case] = {}  # of equal ids the last counts, as in the index
    for function in open_corpus(path):
        if not isinstance(function, CorpusFunction):
            continue
        cases.pop(function.id, None)
        if function.doc.strip():
            answer = {function.id: 1.0}
            cases[function.id] = Case(function.doc, symbols=answer, id=function.id, source=DOCS)
    if not cases:
        raise EvalError(f'{path}: no function has documentation (looked for "docstring" and its like)')
    return make_dataset(name or plain_name(path), list(cases.values()), (), root=path, strip_docs=True)
