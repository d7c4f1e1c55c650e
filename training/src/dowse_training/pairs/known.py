"""What has been gathered or is evaluated on already: files of pairs, and corpora with functions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from dowse.eval.mine.doc_pairs import first_paragraph
from dowse.parsing.languages import detect_language
from dowse.query.languages import LANGUAGES, canonical_language
from dowse.source.corpus import CorpusFunction, open_corpus
from dowse_training.pairs.exclusion import Exclusion, text_hash
from dowse_training.pairs.extract import candidates_in
from dowse_training.pairs.files import read_rows


def code_of_pairs(path: Path) -> Iterator[str]:
    """The code in a file of pairs."""
    return (row["code"] for row in read_rows(path))


def exclude_corpus(exclusion: Exclusion, corpus: Path) -> Exclusion:
    """A list that also holds the functions of a corpus, with their documentation taken out."""
    code, docs = set(), set()
    for function in open_corpus(corpus):
        if isinstance(function, CorpusFunction):
            code.add(text_hash(function.code))
            if function.doc.strip():
                docs.add(text_hash(first_paragraph(function.doc)))
            # Some corpora hold the documentation in the code.
            language = canonical_language(function.language, LANGUAGES) or detect_language(function.path)
            for candidate in candidates_in(function.code.encode(), language, function.path or "function"):
                code.add(text_hash(candidate.code))
                docs.add(text_hash(first_paragraph(candidate.doc)))
    return replace(exclusion, code=exclusion.code | code, docs=exclusion.docs | docs)
