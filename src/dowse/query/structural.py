"""Questions about structure in plain words: "what calls X", "who implements X", "what breaks if X changes".

A question counts only if the whole of it has such a form and what it asks about looks like one name, so that
"function that calls an api with retry" stays a question about meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dowse.query.lexer import FILTER_SYNONYMS, FILTERS, is_code_word
from dowse.query.structural_forms import Form, forms


@dataclass(frozen=True, slots=True)
class Structural:
    """What a question asks of the graph."""

    relation: str  # a key of `dowse.graph.model.RELATIONS`
    incoming: bool  # from what is used to what uses it
    seed: str  # the name that it asks about; "" where the symbol is only described
    target: str = ""  # the other end of a path
    described: str = ""  # the words that describe the symbol, where it has no name


_LEAD = re.compile(
    r"(?:(?:please|can you|could you|hey|ok|so|and|also|now)[, ]+)*"
    r"(?:(?:show|tell|give|find|list|get|print|display|see|explain)(?: me| us)?[: ]+)?"
    r"(?:(?:all|every|any|the|each)(?: of)? )*",
    re.IGNORECASE,
)
_SCOPE = re.compile(
    r"(?:[, ]+(?:(?:in|across|within|throughout|inside|of) (?:the |this |our |my )?(?:whole |entire )?"
    r"(?:repo|repository|code ?base|project|code|source|sources|source code|tree|app|system|application)"
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
_BARE = r"[$@]?[^\W\d][\w$]*(?:(?:::|->|[.#/\\])[\w$]+)*[!?]?"
_NAME = (
    r"`(?P<tick>[^`\s]+)`|\"(?P<quote>[^\"\s]+)\"|'(?P<single>[^'\s]+)'"
    rf"|(?P<place>[\w./\\-]+\.\w+:\d+)|(?P<bare>{_BARE})"
)
_SEED = re.compile(
    rf"(?:(?:the|this|that|our|my) )?(?:{_NOUN} )?(?:called |named )?(?:{_NAME})(?P<called>\([^()]*\))?"
    rf"(?: {_NOUN}s?)?\Z",
    re.IGNORECASE,
)
# A symbol that is described: "the function that parses cookies", "the retry helper", "our base class".
_DESCRIBED = re.compile(
    rf"(?:the|this|that|our|my|whatever) (?:[\w-]+ ){{0,4}}?(?:{_NOUN}|code|handler|callback|logic|parser"
    r"|helper|routine|hook|component|file|middleware|command|endpoint|factory|builder"
    r"|manager|cache|client|server)s?(?: .+)?\Z",
    re.IGNORECASE,
)
_NO_NAMES = frozenset(
    """it this that these those them they something anything everything nothing here there me you us we i
    the a an all any both each other others one""".split()
)


def recognise(text: str, exists: Callable[[str], bool] = lambda _: False) -> Structural | None:
    """Return what a question asks of the graph, None if it is no such question.

    Args:
        text: The query as it was typed; filters in it are left out.
        exists: Whether a symbol bears a name; a plain word counts as a name only then.
    """
    plain = " ".join(_FILTER.sub(" ", text).split()).rstrip("?!. ")
    if len(plain) > 200:  # a pasted text, not a question
        return None
    for question in dict.fromkeys(_readings(plain)):
        for form in forms(question):
            found = form.pattern.fullmatch(f"{question} ")
            structural = _structural(form, found, exists) if found else None
            if structural:
                return structural
    return None


def _readings(text: str) -> Iterator[str]:
    """Give the question as it is, and without what is polite or obvious."""
    yield text
    without_scope = _SCOPE.sub("", text).rstrip("?!. ")
    yield without_scope
    yield _LEAD.sub("", text, count=1)
    yield _LEAD.sub("", without_scope, count=1)


def _structural(form: Form, found: re.Match[str], exists: Callable[[str], bool]) -> Structural | None:
    """Return what a question of this form asks, None if what it asks about is no name."""
    names = {group: _name(text, form.strength, exists) for group, text in found.groupdict().items()}
    if all(names.values()):
        return Structural(form.relation, form.incoming, names["x"], names.get("y", ""))
    if form.strength == "open" and _DESCRIBED.match(found["x"]):
        return Structural(form.relation, form.incoming, "", described=found["x"])
    return None


def _name(text: str, strength: str, exists: Callable[[str], bool]) -> str:
    """Return the name that a piece of a question consists of, "" if it is none."""
    found = _SEED.match(text)
    if not found:
        return ""
    quoted = found["tick"] or found["quote"] or found["single"] or found["place"]
    name = (quoted or found["bare"]).removesuffix("()")
    if quoted or is_code_word(name) or found["called"] or not name.isidentifier():  # Cart#add
        return name
    is_word = strength != "weak" and name.lower() not in _NO_NAMES
    return name if is_word and exists(name) else ""
