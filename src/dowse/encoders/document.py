"""What an encoder reads of a symbol: one function for training, indexing and measuring."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from dowse.encoders.place import place_of
from dowse.encoders.words import FIRST, LAST, UNKNOWN

if TYPE_CHECKING:
    from dowse.encoders.words import Words

# Only the end of a long qualifier tells what a symbol belongs to.
_QUALIFIER_REACH = 60

_PARAGRAPH_END = re.compile(r"\n\s*\n")
# Fields of javadoc, jsdoc, sphinx or numpy documentation that follow without an empty line.
_FIELDS = re.compile(r"\n\s*(?:@\w|:param|:return|:type|Args?:|Parameters\b|Returns?:|\\param)")
_SENTENCE_END = re.compile(r"[.!?;:](?:\s|$)")
# An earlier stop belongs to an abbreviation or a label.
_SHORTEST_SENTENCE = 12


class Document(NamedTuple):
    """A symbol as encoders see it; `code` is without the documentation."""

    qualifier: str
    name: str
    docs: str
    code: str
    language: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """How many ids of each part an encoder reads, and how much the parts count."""

    tokens: int = 128  # of any sequence, with <s> and </s>
    qualifier: int = 12
    place: int = 8  # of the folder and file, before the qualifier
    code: int = 160  # read before the cut to `tokens`
    docs: int = 48
    query: int = 96
    docs_weight: float = 0.4  # of the documentation's vector, where that of the code counts 1
    name_weight: float = 0.2  # of the name's vector


class View(NamedTuple):
    """One sequence of a document, with <s> and </s>, and the weight of its vector."""

    ids: list[int]
    weight: float


def views(document: Document, words: Words, form: Form) -> list[View]:
    """Return what is encoded of a document: its code, what its documentation says first, and its name.

    The document's vector is the weighted sum of the views' unit vectors, at length one.
    """
    place = words.text(place_of(document.path), form.place) if form.place else []
    qualifier = place + words.text(document.qualifier[-_QUALIFIER_REACH:], form.qualifier)
    name, code = words.named_code(document.name, document.code, form.code)
    found = [View(_enclose(qualifier + name + code, form.tokens), 1.0)]
    if form.docs_weight and document.docs:
        sentence = words.text(first_sentence(document.docs), form.docs)
        if sentence:
            found.append(View(_enclose(sentence, form.tokens), form.docs_weight))
    if form.name_weight and name:
        found.append(View(_enclose(name, form.tokens), form.name_weight))
    return found


def docs_view(document: Document, words: Words, form: Form) -> View:
    """Return the documentation alone, or the name where there is none."""
    name = f"{document.qualifier} {document.name}"
    ids = words.text(document.docs, form.query) or words.text(name, form.query)
    return View(_enclose(ids, form.tokens), 1.0)


def query_view(text: str, words: Words, form: Form) -> View:
    """Return what is encoded of a query."""
    return View(_enclose(words.text(text, form.query), form.tokens), 1.0)


def first_sentence(docs: str) -> str:
    """Return what documentation says first, without the stop at its end."""
    return split_docs(docs)[0]


def split_docs(docs: str) -> tuple[str, str, str]:
    """Return the first sentence of documentation, the rest of its first paragraph, and the rest of it."""
    paragraph, *others = _PARAGRAPH_END.split(docs.strip(), maxsplit=1)
    rest = others[0] if others else ""
    fields = _FIELDS.search(paragraph)
    if fields:
        paragraph, rest = paragraph[: fields.start()], paragraph[fields.start() :] + "\n" + rest
    stop = _SENTENCE_END.search(paragraph, _SHORTEST_SENTENCE)
    return (paragraph[: stop.start()], paragraph[stop.start() :], rest) if stop else (paragraph, "", rest)


def _enclose(ids: list[int], tokens: int) -> list[int]:
    """Put <s> and </s> around some ids; a sequence of nothing says so."""
    return [FIRST, *(ids[: tokens - 2] or (UNKNOWN,)), LAST]
