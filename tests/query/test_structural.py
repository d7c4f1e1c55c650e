"""Questions about structure, as people word them, and sentences that only look like them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.query.structural import StructuralQuery, parse_structural

# Plain words that are names of symbols here; whatever else is plain is not.
NAMES = frozenset(["parse", "Handler", "Session", "close", "retry", "Router", "save", "main", "render"])


def ask(text: str) -> StructuralQuery | None:
    return parse_structural(text, NAMES.__contains__)


QUESTIONS = {
    "callers": """
        what calls parse_cookie -> parse_cookie
        What calls `parse`? -> parse
        who calls Session.close() -> Session.close
        who calls parse -> parse
        which functions call getUserName? -> getUserName
        what invokes the parse function -> parse
        what instantiates Session -> Session
        callers of parse_cookie -> parse_cookie
        find all callers of `close` -> close
        list the callers of com.acme.shop.Cart.add -> com.acme.shop.Cart.add
        show me callers of shop::Cart::add -> shop::Cart::add
        call sites of parse_cookie -> parse_cookie
        calls to parse_cookie -> parse_cookie
        parse_cookie callers -> parse_cookie
        Session's callers -> Session
        where is parse_cookie called -> parse_cookie
        where is Session.close called from? -> Session.close
        where does parse_cookie get called -> parse_cookie
        where do we call parse_cookie -> parse_cookie
        where is Session instantiated -> Session
        is parse_cookie ever called -> parse_cookie
        is parse_cookie called anywhere? -> parse_cookie
        does anything call parse_cookie -> parse_cookie
        are there any callers of parse_cookie -> parse_cookie
        functions that call parse_cookie -> parse_cookie
        code that calls `parse` -> parse
        what calls src/shop/cart.py:42 -> src/shop/cart.py:42
        what calls parse_cookie in this repo -> parse_cookie
        what calls parse_cookie lang:py -> parse_cookie
        what calls "parse_cookie" -> parse_cookie
        what calls parse_cookie in the http package -> parse_cookie
        who calls parse_cookie outside of tests -> parse_cookie
        which request handlers call parse_cookie -> parse_cookie
    """,
    "callees": """
        what does parse_cookie call -> parse_cookie
        what functions does main call -> main
        which functions are called by parse_cookie -> parse_cookie
        what is called by main -> main
        callees of main -> main
        main callees -> main
        what does Session.close use -> Session.close
        dependencies of parse_cookie -> parse_cookie
    """,
    "uses": """
        what uses Session -> Session
        which files use MAX_SIZE -> MAX_SIZE
        which modules import http.client -> http.client
        what refers to `render` -> render
        usages of parse_cookie -> parse_cookie
        find all references to Session.close -> Session.close
        uses of `retry` -> retry
        where is Session used -> Session
        where is the Session class used in this project? -> Session
        where do we use Router -> Router
        in which files is MAX_SIZE used -> MAX_SIZE
        is MAX_SIZE used anywhere? -> MAX_SIZE
        getUserName usages -> getUserName
        code using parse_cookie -> parse_cookie
    """,
    "implementers": """
        who implements Handler -> Handler
        what implements the Handler trait (not counting tests)? -> Handler
        which dialects override wrap_pool -> wrap_pool
        which classes implement Handler? -> Handler
        implementations of Handler -> Handler
        implementers of the Handler interface -> Handler
        all implementations of the Handler trait -> Handler
        Handler implementations -> Handler
        classes that implement Handler -> Handler
        what overrides Session.close -> Session.close
        overrides of Session.close -> Session.close
        who is Handler implemented by -> Handler
    """,
    "subclasses": """
        subclasses of Session -> Session
        which compressors derive from DecidingCompressor? -> DecidingCompressor
        list all subclasses of BaseHandler -> BaseHandler
        what extends Session -> Session
        what inherits from Session -> Session
        who subclasses BaseHandler -> BaseHandler
        classes derived from BaseHandler -> BaseHandler
        derived classes of Session -> Session
        children of BaseHandler -> BaseHandler
        BaseHandler subclasses -> BaseHandler
    """,
    "supertypes": """
        what does BaseHandler extend -> BaseHandler
        what does Session inherit from -> Session
        which interfaces does Session implement -> Session
        base classes of BaseHandler -> BaseHandler
        superclass of BaseHandler -> BaseHandler
    """,
    "impact": """
        what breaks if I change parse_cookie -> parse_cookie
        What would break if we removed parse_cookie -> parse_cookie
        if we deleted parse_cookie, what would break -> parse_cookie
        what will break when I rename Session.close -> Session.close
        what changes if parse_cookie changes -> parse_cookie
        what happens if I delete `render` -> render
        what would be affected by changing Session.close -> Session.close
        which tests should I run if I change parse_cookie -> parse_cookie
        if I change parse_cookie what breaks -> parse_cookie
        impact of changing parse_cookie -> parse_cookie
        blast radius of parse_cookie -> parse_cookie
        what depends on Session -> Session
        what relies on parse_cookie -> parse_cookie
        dependents of Session -> Session
        can I safely remove parse_cookie -> parse_cookie
        what needs to change if I rename parse_cookie -> parse_cookie
    """,
    "tests": """
        tests for parse_cookie -> parse_cookie
        unit tests of Session.close -> Session.close
        which tests cover parse_cookie -> parse_cookie
        tests that call parse_cookie -> parse_cookie
        where is Session.close tested -> Session.close
        where are the tests for Session -> Session
        parse_cookie tests -> parse_cookie
    """,
    "definition": """
        where is parse_cookie defined -> parse_cookie
        where is the class Session defined? -> Session
        in which file is Session.close implemented -> Session.close
        where does parse_cookie live -> parse_cookie
        definition of Session -> Session
        show me the definition of parse_cookie -> parse_cookie
        parse_cookie definition -> parse_cookie
        what does parse_cookie return -> parse_cookie
        what type does Session.close return -> Session.close
        return type of parse_cookie -> parse_cookie
    """,
}
POSITIVE = [
    (relation, *(part.strip() for part in line.split("->", 1)))
    for relation, lines in QUESTIONS.items()
    for line in lines.strip().splitlines()
]


@pytest.mark.parametrize(("relation", "text", "seed"), POSITIVE, ids=[text for _, text, _ in POSITIVE])
def test_a_question_is_recognised(relation: str, text: str, seed: str) -> None:
    found = ask(text)
    assert found is not None
    assert (found.relation, found.seed, found.described) == (relation, seed, "")


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("path from main to save", ("main", "save")),
        ("path from parse_cookie to Session.close", ("parse_cookie", "Session.close")),
        ("call path from main to render", ("main", "render")),
        ("shortest path from `main` to `save`", ("main", "save")),
        ("what is the call chain between main and parse_cookie?", ("main", "parse_cookie")),
        ("how does main reach parse_cookie", ("main", "parse_cookie")),
        ("how does main call render?", ("main", "render")),
        ("can main ever reach Session.close", ("main", "Session.close")),
        ("does main end up calling parse_cookie", ("main", "parse_cookie")),
    ],
)
def test_a_path_has_two_ends(text: str, ends: tuple[str, str]) -> None:
    found = ask(text)
    assert found is not None
    assert (found.relation, (found.seed, found.target)) == ("path", ends)


@pytest.mark.parametrize(
    ("text", "relation", "described"),
    [
        ("what calls the function that parses cookies", "callers", "the function that parses cookies"),
        ("who implements the storage interface", "implementers", "the storage interface"),
        ("what breaks if I change the backoff helper?", "impact", "the backoff helper"),
        ("what depends on the code that reads settings", "impact", "the code that reads settings"),
        ("what changes if the session handler changes", "impact", "the session handler"),
        ("subclasses of the base command class", "subclasses", "the base command class"),
    ],
)
def test_a_symbol_may_only_be_described(text: str, relation: str, described: str) -> None:
    found = ask(text)
    assert found is not None
    assert (found.relation, found.seed, found.described) == (relation, "", described)


@pytest.mark.parametrize(
    "text",
    """
    how are callbacks called in order
    where is the session timeout defined
    what does it return
    tests for the login page
    definition of done
    unit tests
    where is the cookie parsed
    function that calls an api with retry
    what uses less memory
    what is a callback
    call a function with a timeout
    function called when a request ends
    calls the superclass constructor
    where is the config file
    where is the cache used to avoid queries
    where is it used
    what calls it
    implementation of Session
    implement a binary search tree
    how to extend a list
    subclass a dict
    what breaks a line into words
    shortest path from source to target
    find path between two nodes
    impact of a collision
    depends on the platform
    reference to an object
    usage of the command line
    base of the logarithm
    children of a node
    parse_cookie
    Session.close
    is the user allowed to call the api
    does anything match
    what tests are there
    what happens when a request fails
    can I change the color
    how does a request reach the handler
    code that uses a lock to protect a counter
    decorator that calls a function once
    """.strip().splitlines(),
)
def test_what_is_no_question_about_structure_is_left_alone(text: str) -> None:
    assert ask(text.strip()) is None


def test_a_plain_word_is_a_name_only_if_a_symbol_bears_it() -> None:
    assert parse_structural("what calls parse") is None
    assert parse_structural("what calls parse", lambda name: name == "parse") is not None
    assert parse_structural("what calls parse()") is not None


@given(st.text(max_size=300))
def test_any_text_is_taken(text: str) -> None:
    parse_structural(text, lambda _: True)


@given(st.from_regex(r"[a-z]{2,8}_[a-z]{2,8}", fullmatch=True))
def test_any_code_name_can_be_asked_about(name: str) -> None:
    for text in (f"what calls {name}", f"what breaks if `{name}` changes", f"usages of {name}()"):
        found = parse_structural(text)
        assert found is not None and found.seed == name
