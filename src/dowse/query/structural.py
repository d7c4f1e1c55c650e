"""Structural queries in plain words: "what calls X", "who implements X", "where is X defined", "tests for X".

A query is structural only if all of it matches such a form and its subject looks like one name, so that
"function that calls an api with retry" stays a semantic query.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from dowse.lazy_classes import dataclass
from dowse.query.lexer import FILTER_SYNONYMS, FILTERS, is_code_word
from dowse.query.structural_forms import Form, forms


@dataclass(frozen=True, slots=True)
class StructuralQuery:
    """A graph query in words."""

    relation: str  # a key of `dowse.graph.model.RELATIONS`, "tests" or "definition"
    seed: str  # the name in the query; "" if the symbol is only described
    target: str = ""  # the end of a path
    described: str = ""  # the description of the symbol, if it is not named


_PREAMBLE = re.compile(
    r"(?:(?:please|can you|could you|hey|ok|so|and|also|now)[, ]+)*"
    r"(?:(?:show|tell|give|find|list|get|print|display|see|explain)(?: me| us)?[: ]+)?"
    r"(?:(?:all|every|any|the|each)(?: of)? )*",
    re.IGNORECASE,
)
_SCOPE = re.compile(
    r"(?:[, ]+(?:(?:in|across|within|throughout|inside|of) (?:the |this |our |my )?(?:whole |entire )?"
    r"(?:repo|repository|code ?base|project|code|source|sources|source code|tree|app|system|application)"
    r"|(?:in|inside|within|of|from|under) (?:the |this |our )?`?[\w./-]+`?"
    r" (?:package|module|folder|directory|crate|file|library|namespace)"
    r"|\(?(?:not counting|not including|excluding|except|without|outside(?: of)?|ignoring|besides|apart from)"
    r" (?:the |any )?(?:unit )?tests?(?: code| files)?\)?"
    r"|anywhere(?: else)?|elsewhere|here|now|directly|transitively|indirectly|please|at all|exactly))+\Z",
    re.IGNORECASE,
)
_FILTER = re.compile(
    rf'(?:^|\s)-?(?:{"|".join((*FILTERS, *FILTER_SYNONYMS))}):(?!:)(?:"[^"]*"|\S+)', re.IGNORECASE
)
_NOUN = (
    r"(?:function|method|class|interface|trait|struct|type|module|constructor|decorator|macro|enum|constant"
    r"|variable|symbol|protocol|property|field|package|abstract class|base class|mixin|annotation)"
)
_BARE = r"[$@]?[^\W\d][\w$]*(?:(?:::|->|[.#/\\])[\w$]+)*[!?=]?"
_NAME = (
    r"`(?P<tick>[^`\s]+)`|\"(?P<quote>[^\"\s]+)\"|'(?P<single>[^'\s]+)'"
    rf"|(?P<location>[\w./\\-]+\.\w+:(?:\d+|[^\W\d][\w.]*[!?=]?))|(?P<bare>{_BARE})"
)
# Strings, which `re` compiles when a question first needs them.
_SEED = (
    rf"(?i)(?:(?:the|this|that|our|my) )?(?:{_NOUN} )?(?:called |named )?(?:{_NAME})(?P<call>\([^()]*\))?"
    rf"(?: {_NOUN}s?)?\Z"
)
# A description of a symbol: "the function that parses cookies", "the retry helper", "our base class".
_DESCRIBED = (
    rf"(?i)(?:the|this|that|our|my|whatever) (?:[\w-]+ ){{0,4}}?(?:{_NOUN}|code|handler|callback|logic|parser"
    r"|helper|routine|hook|component|file|middleware|command|endpoint|factory|builder"
    r"|manager|cache|client|server)s?(?: .+)?\Z"
)
_PRONOUNS = frozenset(
    """it this that these those them they something anything everything nothing here there me you us we i
    the a an all any both each other others one""".split()
)


def parse_structural(text: str, exists: Callable[[str], bool] = lambda _: False) -> StructuralQuery | None:
    """Return the graph query that a text asks in words, None if it is not structural.

    Args:
        text: The query as it was typed; filters in it are ignored.
        exists: Whether a symbol has a name; a plain word counts as a name only then.
    """
    plain = _without_end_marks(" ".join(_FILTER.sub(" ", text).split()), exists)
    if len(plain) > 200:  # a pasted text, not a question
        return None
    described = None
    for question in dict.fromkeys(_readings(plain)):
        for form in forms(question):
            match = form.pattern.fullmatch(f"{question} ")
            query = _query_of(form, match, exists) if match else None
            if query and query.seed:  # a shorter reading may have a name
                return query
            described = described or query
    return described


def _without_end_marks(text: str, exists: Callable[[str], bool]) -> str:
    """Remove the marks at the end of a question, unless the first belongs to its last name: `save!`."""
    plain = text.rstrip("?!=. ")
    last = plain.rpartition(" ")[2]
    mark = text[len(plain) : len(plain) + 1]
    return plain + mark if mark in ("!", "?", "=") and exists(last + mark) else plain


def _readings(text: str) -> Iterator[str]:
    """Yield the question as it is, and without polite or redundant phrases."""
    yield text
    without_scope = _SCOPE.sub("", text).rstrip("?!. ")
    yield without_scope
    yield _PREAMBLE.sub("", text, count=1)
    yield _PREAMBLE.sub("", without_scope, count=1)


def _query_of(form: Form, match: re.Match[str], exists: Callable[[str], bool]) -> StructuralQuery | None:
    """Return the query of a question of this form, None if its subject is no name."""
    names = {group: _name(text, form.strength, exists) for group, text in match.groupdict().items()}
    if all(names.values()):
        return StructuralQuery(form.relation, names["x"], names.get("y", ""))
    if form.strength == "open" and re.match(_DESCRIBED, match["x"]):
        return StructuralQuery(form.relation, "", described=match["x"])
    return None


def _name(text: str, strength: str, exists: Callable[[str], bool]) -> str:
    """Return the name that a part of a question consists of, "" if it is none."""
    match = re.match(_SEED, text)
    if not match:
        return ""
    quoted = match["tick"] or match["quote"] or match["single"] or match["location"]
    name = (quoted or match["bare"]).removesuffix("()")
    if quoted or is_code_word(name) or match["call"] or not name.isidentifier():  # Cart#add
        return name
    is_word = strength != "weak" and name.lower() not in _PRONOUNS
    return name if is_word and exists(name) else ""
