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
        who all calls parse -> parse
        which functions call getUserName? -> getUserName
        which methods call Session.close -> Session.close
        what code calls parse_cookie -> parse_cookie
        what invokes the parse function -> parse
        what instantiates Session -> Session
        callers of parse_cookie -> parse_cookie
        find callers of Session.close -> Session.close
        find all callers of `close` -> close
        list the callers of com.acme.shop.Cart.add -> com.acme.shop.Cart.add
        show me callers of shop::Cart::add -> shop::Cart::add
        caller of Cart#add -> Cart#add
        call sites of parse_cookie -> parse_cookie
        callsites for parse_cookie -> parse_cookie
        calls to parse_cookie -> parse_cookie
        parse_cookie callers -> parse_cookie
        Session's callers -> Session
        where is parse_cookie called -> parse_cookie
        where is Session.close called from? -> Session.close
        where is parse() invoked -> parse
        where does parse_cookie get called -> parse_cookie
        where do we call parse_cookie -> parse_cookie
        where do I call the `parse` method -> parse
        from where is parse_cookie called -> parse_cookie
        where is Session instantiated -> Session
        where parse_cookie is called -> parse_cookie
        is parse_cookie ever called -> parse_cookie
        is parse_cookie called anywhere? -> parse_cookie
        does anything call parse_cookie -> parse_cookie
        does anyone still call `parse`? -> parse
        are there any callers of parse_cookie -> parse_cookie
        functions that call parse_cookie -> parse_cookie
        all functions calling parse_cookie -> parse_cookie
        code that calls `parse` -> parse
        function that calls parse_cookie -> parse_cookie
        what calls src/shop/cart.py:42 -> src/shop/cart.py:42
        what calls parse_cookie in this repo -> parse_cookie
        who calls parse_cookie in the codebase? -> parse_cookie
        what calls parse_cookie lang:py -> parse_cookie
        what calls "parse_cookie" -> parse_cookie
        what calls parse_cookie directly -> parse_cookie
    """,
    "callees": """
        what does parse_cookie call -> parse_cookie
        What does `main` call? -> main
        what functions does main call -> main
        which functions are called by parse_cookie -> parse_cookie
        what is called by main -> main
        what gets called in Session.close -> Session.close
        callees of main -> main
        main callees -> main
        functions called by parse_cookie -> parse_cookie
        what does Session.close use -> Session.close
        what does Session.close depend on -> Session.close
        dependencies of parse_cookie -> parse_cookie
    """,
    "uses": """
        what uses Session -> Session
        who uses parse_cookie? -> parse_cookie
        which files use MAX_SIZE -> MAX_SIZE
        which modules import http.client -> http.client
        what references MAX_SIZE -> MAX_SIZE
        what refers to `render` -> render
        usages of parse_cookie -> parse_cookie
        find usages of Session -> Session
        find all references to Session.close -> Session.close
        uses of `retry` -> retry
        references to MAX_SIZE -> MAX_SIZE
        where is Session used -> Session
        where is MAX_SIZE referenced? -> MAX_SIZE
        where is the Session class used in this project? -> Session
        where do we use Router -> Router
        where is parse_cookie imported -> parse_cookie
        in which files is MAX_SIZE used -> MAX_SIZE
        is MAX_SIZE used anywhere? -> MAX_SIZE
        does anything use MAX_SIZE -> MAX_SIZE
        getUserName usages -> getUserName
        code using parse_cookie -> parse_cookie
    """,
    "implementers": """
        who implements Handler -> Handler
        what implements `Handler` -> Handler
        which classes implement Handler? -> Handler
        which types implement io.Reader -> io.Reader
        implementations of Handler -> Handler
        implementers of the Handler interface -> Handler
        implementors of Handler -> Handler
        all implementations of the Handler trait -> Handler
        Handler implementations -> Handler
        classes implementing Handler -> Handler
        classes that implement Handler -> Handler
        what overrides Session.close -> Session.close
        overrides of Session.close -> Session.close
        who is Handler implemented by -> Handler
    """,
    "subclasses": """
        subclasses of Session -> Session
        list all subclasses of BaseHandler -> BaseHandler
        subclass of BaseHandler -> BaseHandler
        what extends Session -> Session
        which classes extend Session? -> Session
        what inherits from Session -> Session
        which classes inherit from BaseHandler -> BaseHandler
        who subclasses BaseHandler -> BaseHandler
        classes derived from BaseHandler -> BaseHandler
        classes that inherit from BaseHandler -> BaseHandler
        derived classes of Session -> Session
        child classes of Session -> Session
        children of BaseHandler -> BaseHandler
        subtypes of Session -> Session
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
        what breaks if parse_cookie changes -> parse_cookie
        What would break if we removed parse_cookie -> parse_cookie
        if we deleted parse_cookie, what would break -> parse_cookie
        what would break if we remove parse_cookie? -> parse_cookie
        what will break when I rename Session.close -> Session.close
        what changes if parse_cookie changes -> parse_cookie
        what changes if Session changes -> Session
        what happens if I delete `render` -> render
        what is affected if I modify Session -> Session
        what would be affected by changing Session.close -> Session.close
        what is affected by changes to parse_cookie -> parse_cookie
        which tests should I run if I change parse_cookie -> parse_cookie
        if I change parse_cookie what breaks -> parse_cookie
        if parse_cookie changes, what breaks? -> parse_cookie
        impact of changing parse_cookie -> parse_cookie
        what is the impact of removing Session.close -> Session.close
        impact of parse_cookie -> parse_cookie
        blast radius of parse_cookie -> parse_cookie
        what depends on Session -> Session
        who depends on parse_cookie -> parse_cookie
        what relies on parse_cookie -> parse_cookie
        dependents of Session -> Session
        can I safely remove parse_cookie -> parse_cookie
        is it safe to delete parse_cookie? -> parse_cookie
        which tests cover parse_cookie -> parse_cookie
        effects of changing Session -> Session
        what needs to change if I rename parse_cookie -> parse_cookie
        what else changes if parse_cookie is renamed -> parse_cookie
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
    function that calls an api with retry
    what uses less memory
    what uses the least memory
    what is a callback
    who wrote this
    call a function with a timeout
    function called when a request ends
    calls the superclass constructor
    use a regex to find names
    where is the config file
    where are expired sessions cleaned up
    where is the cache used to avoid queries
    where is it used
    where is this called
    what calls it
    where is parse_cookie defined
    implementation of quicksort
    implementation of Session
    implement a binary search tree
    an implementation of the observer pattern
    how to extend a list
    extends a list with another
    subclass a dict
    what breaks a line into words
    what changes the color of the text
    shortest path from source to target
    find path between two nodes
    path from root to leaf
    impact of a collision
    impact of temperature on pressure
    depends on the platform
    reference to an object
    references of a paper
    usage of the command line
    users of the site
    base of the logarithm
    parents of a node
    children of a node
    descendants of a commit
    parse cookie header
    parse_cookie
    Session.close
    check if a file exists
    is the user allowed to call the api
    does anything match
    what tests are there
    what happens when a request fails
    what happens if the connection drops
    what would happen if it rains
    can I change the color
    does the server call the client back
    how does a request reach the handler
    which class is used for dates
    functions that use numpy arrays
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
