"""Forms of structural queries: one template a line, compiled to regular expressions.

X and Y stand for names, (a|b) for one of several words, [a|b] for an optional one, {word} for a group of
words below, and _ for a space inside a word. A form has a strength: "plain" takes any name, "open" also a
description of a symbol; "weak" forms also occur in descriptions of code, so the name must look like code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from dowse.lazy_classes import NamedTuple


class Form(NamedTuple):
    """One wording of a relation."""

    relation: str
    strength: str  # "plain", "open" or "weak"
    pattern: re.Pattern[str]  # of the question followed by a space; groups x and y


_WORDS = {
    "piece": "(functions?|methods?|class(es)?|types?|structs?|code|places?|parts?|files?|modules?|components?"
    "|things?|tests?|symbols?|interfaces?|objects?|packages?|traits?)",
    "who": "(what|who|what_all|what_else|who_all|who_else|(what|which)_(other_)?{piece}"
    "|(what|which)_(other_)?{piece}_(of|in)_(the|this|our)_(code|code_?base|project|repo|repository|app))",
    # What the project's own things are called: "which dialects override X".
    "things": "(what|which)_[a-z][a-z-]+(_[a-z][a-z-]+)?",
    "pieces": "(functions?|methods?|class(es)?|types?|structs?|code|places|parts|files?|modules?|traits?)",
    "where": "(where|which_places|in_(which|what)_{piece})",
    "we": "(i|we|you|they|one|someone|somebody|people)",
    "anybody": "(anything|anyone|anybody|something|someone)",
    "call": "(call|invoke|instantiate|construct)",
    "calls": "(calls?|invokes?|instantiates?|constructs?|(is|are)_(calling|invoking))",
    "calling": "(calling|invoking|instantiating)",
    "called": "(called|invoked|instantiated|constructed)",
    "uses": "(uses?|references?|refers?_to|consumes?|imports?|(is|are)_(using|referencing))",
    "used": "(used|referenced|imported|consumed|referred_to)",
    "implements": "(implements?|overrides?|satisf(y|ies)|conforms?_to|(is|are)_implementing)",
    "derives": "(extends?|inherits?(_from)?|sub_?class(es)?|derives?_from|(is|are)_derived_from"
    "|(is|are)_(a_)?sub_?class(es)?_of|(is|are)_(extending|inheriting_from))",
    "deriving": "(extending|inheriting(_from)?|sub_?classing|deriv(ing|ed)_from)",
    "of": "(of|for|to)",
    "does": "(do|does|did|will|would)",
    "is": "(is|are|was|were|gets?|get)",
    "by": "(by|from|in|inside|within)",
    "change": "(change|modify|edit|remove|delete|drop|rename|refactor|touch|update|break|alter|rewrite|move)",
    "changing": "(changing|modifying|editing|removing|deleting|dropping|renaming|refactoring|touching"
    "|updating|breaking|altering|rewriting|moving|(a_|any_)?(changes?|modifications?|edits?)_(to|in|of|on))",
    "changed": "(changed|modified|edited|removed|deleted|renamed|refactored|updated|broken|altered|rewritten"
    "|moved|dropped)",
    "changes": "(changes?|breaks|fails|goes_away|disappears"
    "|(is|are|was|were|gets?|has_been|would_be)_{changed})",
    "what": "(what|who|what_else|what_all|(which|what)_(other_)?{piece})",
    "would": "(would|will|might|could|may|can|does|do|is|are|gets?|must|should|has_to|have_to|needs?_to)",
    "if": "(if|when|once|after)",
    "breaks": "(breaks?|changes?|happens?|fails?|affected|impacted|broken|touched|updated?|re-?test|test|run"
    "|re-?run|stops?_working)",
    "what_is": "((what|which|where)_is|is_there)",
    "call_chain": "(call(ing)?_(path|chain|graph|sequence))",
    "reach": "(reach|get_to|call|invoke|lead_to|end_up_(calling|in|at))",
    "tests": "((unit_?|integration_)?(tests?|specs?)|test_cases?)",
    "cover": "covers?|exercises?|hits?|reach(es)?|tests?|calls?|uses?|checks?",
    "defined": "(defined|declared|implemented|located|found)",
    "impact": "(impacts?|effects?|consequences?|ripple_effects?|side_effects?|blast_radius|fallout|risks?)",
}

# Every form of a relation contains one of these.
_TRIGGERS = {
    "callers": r"call|invo|instantiat|construct",
    "callees": r"call|invok|use|depend|rely",
    "uses": r"us(?:e|age|ing)|refer|consum|import",
    "implementers": r"implement|impls|overrid|satisf|conform",
    "subclasses": r"extend|inherit|sub[ -]?class|sub[ -]?type|deriv|descend|child|hierarchy",
    "supertypes": r"extend|implement|inherit|class|type|deriv|conform|ancestor|bases",
    "impact": r"\b(?:if|when|once|after|by|from|with|impact|effect|side|blast|fallout|risk|reach"
    r"|depend|rel(?:y|ies)|consequen|ripple|safe|tests?|can|may|could)",
    "path": r"path|chain|reach|get to|call|invoke|lead|end up",
    "tests": r"test|spec|cover",
    "definition": r"defin|declar|return|implemented|live|source|located",
}

_FORMS = {
    "callers": """
        open   {who} [all|else|actually] {calls} X
        weak   {pieces} (that|which|who) {calls} X
        weak   {pieces} {calling} X
        weak   {things} {calls} X
        open   (callers?|call_sites?|call-sites?|callsites?|invocations?|instantiations?) {of} X
        weak   calls (to|of) X
        plain  X('s)? (callers|call_sites|callsites|invocations)
        open   [from] (where|which_places) [all|else] {is} X [being|ever|actually] {called} [from|by]
        plain  (where|which_places) {does} X get {called} [from|by]
        open   where [all|else] {does} {we} {call} X
        plain  where X {is} [being] {called} [from]
        open   {what} {is} X {called} (by|from)
        plain  X is {called} (by|from) (what|whom|where)
        plain  is X [ever|even|still|actually] {called} [anywhere]
        open   {does} {anybody} [still|ever|even|actually] {call} X
        open   (is|are) there [any] (callers?|calls?) {of} X
    """,
    "callees": """
        open   what [all|else|functions?|methods?] {does} X [actually|directly] ({call}|use)
        open   (what|which) {piece} {is} (called|invoked|used) {by} X
        weak   (what|which)_{piece}|{pieces} (called|invoked|used) {by} X
        open   what {is} (called|invoked) {by} X
        open   callees? {of} X
        plain  X('s)? callees
        weak   calls (made|done) {by} X
        open   what {does} X (depend|rely) (on|upon)
        weak   dependencies of X
    """,
    "uses": """
        open   {who} [all|else|actually] {uses} X
        weak   {pieces} (that|which|who) {uses} X
        weak   {pieces} (using|referencing|importing) X
        weak   {things} {uses} X
        plain  (usages?|uses|users|references) {of} X
        weak   X('s)? (usages?|references|uses|users)
        plain  {where} [all|else] {is} X [being|ever|actually] {used} [from|by]
        plain  (where|which_places) {does} X get {used}
        plain  where [all|else] {does} {we} (use|reference|import) X
        plain  where X {is} [being] {used}
        plain  is X [ever|even|still|actually] {used} [anywhere]
        plain  {does} {anybody} [still|ever|even|actually] (use|reference|import) X
        plain  {what} {is} X {used} (by|in)
    """,
    "implementers": """
        open   {who} [all|else|actually] {implements} X
        weak   {things} {implements} X
        plain  {pieces} (that|which) {implements} X
        plain  {pieces} (implementing|overriding|satisfying|conforming_to) X
        open   (implementations|implement[eo]rs?|implementing_(classes|types)|overrides|overriders) (of|for) X
        plain  X('s)? (implementations|implement[eo]rs|overrides|impls)
        open   {what} {is} X (implemented|overridden) by
        open   (which|what) {piece} provides? [an] implementations? (of|for) X
    """,
    "subclasses": """
        open   {who} [all|else|actually] {derives} X
        weak   {things} {derives} X
        plain  {pieces} (that|which) {derives} X
        plain  {pieces} {deriving} X
        open   (sub_?class(es)?|sub-class(es)?|sub_?types?|descend[ae]nts) (of|for) X
        open   (child(ren)?|child_class(es)?|derived_(class(es)?|types?)) (of|from|for) X
        plain  X('s)? (sub_?classes|sub_?types|children|child_classes|descend[ae]nts|derived_classes)
        plain  class hierarchy (of|below|under|for) X
    """,
    "supertypes": """
        plain  what {does} X (extend|implement|inherit(_from)?|derive_from|sub_?class)
        plain  (what|which) {piece} {does} X (extend|implement|inherit(_from)?|derive_from|conform_to)
        weak   (super_?class(es)?|super_?types?|parent_class(es)?|base_class(es)?|ancestors|bases) of X
    """,
    "impact": """
        open   {what} [{would}] [be|i|we] [also|likely] {breaks} {if} {we} ({change}|{changed}) X
        open   {what} [{would}] [be|i|we] [also|likely] {breaks} {if} X {changes}
        open   {what} [{would}] [be|i|we] [also|likely] {breaks} (by|from|with|after) {changing} X
        open   (if|when) {we} ({change}|{changed}) X,? {what} [{would}] [be|i|we] {breaks}
        open   (if|when) X {changes},? {what} [{would}] [be|i|we] {breaks}
        open   [what] [is|are|would] [be] [the] {impact} (of|from) {changing} X
        weak   [what] [is|would] [be] [the] (impact|impact_analysis|blast_radius|reach) (of|for) X
        open   {who} (depends?|rely|relies) (on|upon) X
        weak   {pieces} (that|which) (depend|rely) on X
        weak   {pieces} (depending|relying) on X
        open   depend[ea]nts? (of|on) X
        weak   (can|may|could) {we} [safely] {change} X [safely]
        open   is it (safe|ok|okay) to {change} X
    """,
    "path": """
        plain  [{what_is}] [the|a|any] [shortest] {call_chain} from X to Y
        plain  [{what_is}] [the|a|any] [shortest] {call_chain} between X and Y
        plain  [{what_is}] [the|a|any] [shortest] (path|chain) from X to Y
        weak   [{what_is}] [the|a|any] [shortest] (path|chain) between X and Y
        plain  how ({does}|can|could) X [ever|eventually|finally] {reach} Y
        plain  ({does}|can|could) X [ever|eventually|finally] {reach} Y
    """,
    "tests": """
        plain  {tests} (for|of) X
        weak   {tests} (covering|exercising|testing|hitting|using|calling) X
        plain  (which|what) {tests} ({cover}) X
        plain  {tests} (that|which) ({cover}) X
        plain  (where|how) {is} X (tested|covered) [by|in]
        plain  is X [ever|even|still|actually] (tested|covered) [by] [tests?]
        plain  (what|which) {tests} {is} X (tested|covered) by
        plain  where are the {tests} (for|of) X
        weak   X('s)? {tests}
    """,
    "definition": """
        plain  (where|in_(which|what)_(file|module|package|class)) {is} X {defined} [in]
        plain  where X {is} {defined}
        plain  where {does} X (live|come_from)
        plain  (definitions?|declarations?) (of|for) X
        weak   (source|source_code) (of|for) X
        weak   X('s)? (definition|declaration)
        plain  (what|which_type|what_type|what_kind_of_(value|object)) {does} X returns?
        weak   (what|which)_(is|type_is) returned by X
        plain  (return_type|return_value) of X
    """,
}


def forms(question: str) -> Iterator[Form]:
    """Yield the forms that a question can match, by the words in it: most contain none of these words."""
    for relation, words in _TRIGGERS.items():
        if re.search(words, question, re.IGNORECASE):
            yield from _compiled_forms(relation)


@cache
def _compiled_forms(relation: str) -> tuple[Form, ...]:
    """Compile the forms of one relation, which takes milliseconds."""
    compiled = []
    for line in _FORMS[relation].strip().splitlines():
        strength, *words = line.split()
        pattern = re.compile("".join(map(_word_pattern, words)), re.IGNORECASE)
        compiled.append(Form(relation, strength, pattern))
    return tuple(compiled)


def _word_pattern(word: str) -> str:
    """Return the regular expression of one word and the space after it."""
    optional = word.startswith("[")
    if optional:
        word = f"({word[1:-1]})"
    while "{" in word:
        word = re.sub(r"\{(\w+)\}", lambda group: _WORDS[group[1]], word)
    word = word.replace("(", "(?:").replace("_?", "[ -]?").replace("_", " ")
    word = re.sub(r"\bX\b", "(?P<x>.+?)", word)
    word = re.sub(r"\bY\b", "(?P<y>.+?)", word)
    return f"(?:{word} )?" if optional else f"(?:{word}) "
