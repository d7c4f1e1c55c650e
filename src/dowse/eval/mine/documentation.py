"""Cases from documentation: the first sentence is the query, the symbol that it documents is the target.

They need an index without documentation (`strip_docs`), or the answers leak.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from dowse.errors import EvalError
from dowse.eval.mine import doc_pairs
from dowse.eval.mine.doc_pairs import Candidate, clean_doc, code_without_docs, first_paragraph
from dowse.eval.types import DOCS, Case
from dowse.history.sources import Sources, definitions_in, read
from dowse.lazy_classes import NamedTuple
from dowse.parsing.languages import detect_language
from dowse.parsing.tokenizer import split_identifier
from dowse.types import Definition

# Shorter sentences fit too many symbols: "Close the file."
MIN_WORDS = 4
# Nobody would type longer queries.
MAX_WORDS = 40
# The same sentence on a function and its asynchronous twin has two answers; on more it is a formula.
MAX_ANSWERS = 3

# The filters of training pairs, but for the one of human languages: any will do here.
_FILTERS = (
    doc_pairs.is_test,
    doc_pairs.is_boilerplate,
    doc_pairs.is_licence,
    doc_pairs.not_prose,
    doc_pairs.is_short_code,
    doc_pairs.is_stub,
    doc_pairs.is_trivial,
)

_SENTENCE_END = re.compile(
    r"(?<!\.[a-zA-Z])(?<!\betc)(?<!\bvs)(?<!\bcf)(?<!\bno)[.!?](?=\s|\Z)|。|:(?=\s*\Z)"
)
# Markup: :class:`~pkg.Name`, {@link Name}, [`name`](url), ``code``, **bold**.
_ROLE = re.compile(r":[\w:+.-]+:`~?\.?([^`<]*?)(?:\s*<[^`>]*>)?`")
_LINK_TAG = re.compile(r"\{@\w+\s+([^}|]*)(?:\|[^}]*)?\}")
_LINK = re.compile(r"\[([^\[\]]+)\](?:\([^()\s]*\)|\[[^\[\]]*\])")
_MARKS = re.compile(r"`+|\*\*|<[^<>\s][^<>]*>|(?<=\w)_(?=\s|\Z)")
_WORD = re.compile(r"\w+")
_STOP_WORDS = frozenset(
    """a an the of to in for and or is are be this that it its from with by as on at return returns get gets
    set sets given whether if new class method function object instance value""".split()
)


class _Documented(NamedTuple):
    """A symbol and the first sentence of its documentation."""

    path: str
    line: int
    name: str  # qualified
    sentence: str


def build_from_docs(root: str | os.PathLike[str], max_cases: int = 200) -> list[Case]:
    """Return cases from the documentation of a tree, in the order of its files.

    Args:
        root: Any folder with source code.
        max_cases: How many at most, from as many files as possible and the same each time; 0 for all.
    """
    folder = Path(root).resolve()
    if not folder.is_dir():
        raise EvalError(f"{root} is not a folder; name one with source code")
    sources = Sources(folder)
    paths = [path for path in sorted(sources.paths) if sources.is_indexed(path)]
    groups: dict[str, list[_Documented]] = {}
    for path in paths:
        for each in _documented(folder, path):
            groups.setdefault(_key(each.sentence), []).append(each)
    fit = [group for group in groups.values() if len({_target(each) for each in group}) <= MAX_ANSWERS]
    chosen = _interleave_files(fit)[: max_cases or None]
    return [_case(group) for group in sorted(chosen, key=lambda group: group[0][:2])]


def _documented(folder: Path, path: str) -> Iterator[_Documented]:
    """Give the symbols of a file whose documentation begins with a sentence that can be a query."""
    data = read(folder, path)
    if data is None:
        return
    text, definitions, _ = definitions_in(data, path)
    for definition in definitions:
        if not definition.doc.strip():
            continue
        candidate = _candidate(text, path, definition)
        if any(is_unfit(candidate) for is_unfit in _FILTERS):
            continue
        sentence = first_sentence(candidate.doc)
        if MIN_WORDS <= len(_WORD.findall(sentence)) <= MAX_WORDS and not _repeats(sentence, definition):
            yield _Documented(path, definition.start_line, definition.qualified_name, sentence)


def first_sentence(doc: str) -> str:
    """Return the first sentence of a docstring on one line, without markup and its full stop."""
    text = " ".join(first_paragraph(doc).split())
    text = _LINK_TAG.sub(r"\1", _ROLE.sub(r"\1", text))
    text = _MARKS.sub("", _LINK.sub(r"\1", text))
    end = _SENTENCE_END.search(text)
    return " ".join((text[: end.start()] if end else text).split()).rstrip(" .:;,")


def _candidate(text: bytes, path: str, definition: Definition) -> Candidate:
    """Return a definition in the form that the filters of training pairs take."""
    return Candidate(
        language=detect_language(path),
        path=path,
        name=definition.name,
        qualified_name=definition.qualified_name,
        signature=definition.signature,
        doc=clean_doc(definition.doc),
        code=code_without_docs(text, definition),
        written_doc=definition.doc,
    )


def _repeats(sentence: str, definition: Definition) -> bool:
    """Whether a sentence only repeats the symbol's qualified name."""
    name = set(split_identifier(definition.qualified_name))
    words = {word.lower() for word in _WORD.findall(sentence)} - _STOP_WORDS
    return all(word in name or word.rstrip("s") in name for word in words)


def _interleave_files(groups: Iterable[list[_Documented]]) -> list[list[_Documented]]:
    """Order sentences so that the first ones come from as many files as possible, else by hash."""
    counts: Counter[str] = Counter()
    rounds = []
    for group in sorted(groups, key=_digest):
        path = group[0].path
        rounds.append((counts[path], _digest(group), group))
        counts[path] += 1
    return [group for *_, group in sorted(rounds, key=lambda each: each[:2])]


def _case(group: list[_Documented]) -> Case:
    files = dict.fromkeys((each.path for each in group), 1.0)
    symbols = dict.fromkeys((_target(each) for each in group), 1.0)
    return Case(group[0].sentence, files, symbols, _digest(group)[:12], DOCS)


def _digest(group: list[_Documented]) -> str:
    text = "\n".join((group[0].sentence, *map(_target, group)))
    return hashlib.sha1(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def _target(each: _Documented) -> str:
    return f"{each.path}::{each.name}"


def _key(sentence: str) -> str:
    """Return the normal form by which duplicate sentences are found."""
    return " ".join(_WORD.findall(sentence.casefold()))
