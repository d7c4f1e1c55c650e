"""The text of a symbol that an encoder reads: one function for training, indexing and evaluation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from dowse.encoders.word_tokenizer import BOS, EOS, UNK
from dowse.lazy_classes import NamedTuple, dataclass

if TYPE_CHECKING:
    from dowse.encoders.word_tokenizer import WordTokenizer

# Only the end of a long qualifier tells what a symbol belongs to.
_MAX_QUALIFIER_CHARACTERS = 60

# File names that only say what role a file plays in its folder.
_GENERIC_STEMS = frozenset(("__init__", "__main__", "index", "main", "mod"))

_PARAGRAPH_END = re.compile(r"\n\s*\n")
# Fields of javadoc, jsdoc, sphinx or numpy docstrings that follow without an empty line.
_DOC_FIELDS = re.compile(r"\n\s*(?:@\w|:param|:return|:type|Args?:|Parameters\b|Returns?:|\\param)")
_SENTENCE_END = re.compile(r"[.!?;:](?:\s|$)")
# An earlier stop belongs to an abbreviation or a label.
_MIN_SENTENCE_CHARACTERS = 12


class Document(NamedTuple):
    """A symbol as encoders see it; `code` is without the documentation."""

    qualifier: str
    name: str
    docs: str
    code: str
    language: str = ""
    path: str = ""


def as_documents(documents: Sequence[Document | str]) -> list[Document]:
    """Return texts as documents that are nothing but code."""
    return [Document("", "", "", each) if isinstance(each, str) else each for each in documents]


@dataclass(frozen=True, slots=True)
class Form:
    """The input format of an encoder: how many token ids of each part it reads, and the weight of each part.

    The field names are keys of encoder.json and part of the encoder's fingerprint.
    """

    tokens: int = 128  # of any sequence, with <s> and </s>
    qualifier: int = 12
    place: int = 8  # of the folder and file name, before the qualifier
    code: int = 160  # read before the cut to `tokens`
    docs: int = 48
    query: int = 96
    docs_weight: float = 0.4  # of the documentation's vector; the code's has weight 1
    name_weight: float = 0.2  # of the name's vector


class View(NamedTuple):
    """One sequence of a document, with <s> and </s>, and the weight of its vector."""

    ids: list[int]
    weight: float


def views(document: Document, words: WordTokenizer, form: Form) -> list[View]:
    """Return the views of a document: its code, the first sentence of its documentation, and its name.

    The document's vector is the weighted sum of the views' unit vectors, at length one.
    """
    path = words.encode_text(path_words(document.path), form.place) if form.place else []
    qualifier = path + words.encode_text(document.qualifier[-_MAX_QUALIFIER_CHARACTERS:], form.qualifier)
    name, code = words.encode_definition(document.name, document.code, form.code)
    sequences = [View(_enclose(qualifier + name + code, form.tokens), 1.0)]
    if form.docs_weight and document.docs:
        sentence = words.encode_text(first_sentence(document.docs), form.docs)
        if sentence:
            sequences.append(View(_enclose(sentence, form.tokens), form.docs_weight))
    if form.name_weight and name:
        sequences.append(View(_enclose(name, form.tokens), form.name_weight))
    return sequences


def docs_view(document: Document, words: WordTokenizer, form: Form) -> View:
    """Return the documentation alone, or the name where there is none."""
    name = f"{document.qualifier} {document.name}"
    ids = words.encode_text(document.docs, form.query) or words.encode_text(name, form.query)
    return View(_enclose(ids, form.tokens), 1.0)


def query_view(text: str, words: WordTokenizer, form: Form) -> View:
    """Return the view of a query."""
    return View(_enclose(words.encode_text(text, form.query), form.tokens), 1.0)


@lru_cache(maxsize=256)
def path_words(path: str) -> str:
    """Return the folder and the stem of a file: `http client` for `src/http/client.py`."""
    parts = [part for part in path.split("/") if part]
    if not parts:
        return ""
    stem = parts[-1].rsplit(".", 1)[0]
    return " ".join(parts[-2:-1] + ([] if stem in _GENERIC_STEMS else [stem]))


def first_sentence(docs: str) -> str:
    """Return the first sentence of documentation, without the stop at its end."""
    return split_docs(docs)[0]


def split_docs(docs: str) -> tuple[str, str, str]:
    """Split documentation into its first sentence, the remaining first paragraph, and what follows."""
    paragraph, *others = _PARAGRAPH_END.split(docs.strip(), maxsplit=1)
    remainder = others[0] if others else ""
    fields = _DOC_FIELDS.search(paragraph)
    if fields:
        paragraph, remainder = paragraph[: fields.start()], paragraph[fields.start() :] + "\n" + remainder
    stop = _SENTENCE_END.search(paragraph, _MIN_SENTENCE_CHARACTERS)
    return (
        (paragraph[: stop.start()], paragraph[stop.start() :], remainder)
        if stop
        else (paragraph, "", remainder)
    )


def _enclose(ids: list[int], tokens: int) -> list[int]:
    """Put <s> and </s> around some ids; an empty sequence becomes <unk>."""
    return [BOS, *(ids[: tokens - 2] or (UNK,)), EOS]
