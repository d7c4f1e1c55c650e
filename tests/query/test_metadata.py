"""Constraints decided by metadata, and globs."""

import pytest

from dowse.query.evaluate import evaluate, matches_row, path_matches, symbol_matches
from dowse.query.parser import parse_query
from dowse.types import SymbolRow

SYMBOL = SymbolRow(
    *(1, "id", "acme/shop", "src/web/session.py", "python", "", "method", "expire", "web.Session.expire"),
    *(1, 2, "def expire(self)", 1),
)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("just words", True),
        ("lang:py", True),
        ("lang:go", False),
        ("lang:go lang:py kind:method", True),
        ("-lang:py", False),
        ("lang:py word AND other", None),
        ("lang:go word AND other", False),
        ("lang:py OR /x/", True),
        ("lang:go OR /x/", None),
        ('-"phrase"', None),
        ("repo:shop path:session sym:Session.expire", True),
        ("sym:session.exp*", True),
        ("sym:Session::expire", True),
        ("sym:Expire", False),
        ("sym:xpire", False),
    ],
)
def test_three_valued_evaluation(text, answer):
    assert evaluate(parse_query(text).constraint, lambda leaf: matches_row(leaf, SYMBOL)) is answer


@pytest.mark.parametrize(
    ("glob", "path", "answer"),
    [
        ("src/util", "src/util/x.py", True),
        ("src/util", "lib/src/utility.py", True),
        ("util", "src/UTIL/x", True),
        ("Util", "src/util/x", False),
        ("*.go", "a/b/c.go", True),
        ("*.go", "c.go", True),
        ("*.go", "c.gone", False),
        ("test*", "tests/x.py", True),
        ("/src/*", "src/x", True),
        ("/src/*", "lib/src/x", False),
        ("src/*", "src/a/b.py", True),
        ("src/*.py", "src/a/b.py", False),
        ("src/**", "src/a/b.py", True),
        ("src/**/b.py", "src/b.py", True),
        ("src/**/b.py", "src/a/c/b.py", True),
        ("**/b.py", "b.py", True),
        ("?.py", "a.py", True),
        ("?.py", "ab.py", False),
        ("a?c", "a/c", False),
        ("my dir/**", "my dir/x", True),
        ("[x]*", "[x]y", True),
        ("*a" * 30 + "b", "a" * 200, False),
    ],
)
def test_paths(glob, path, answer):
    assert path_matches(glob, path) is answer


@pytest.mark.parametrize(
    ("glob", "name", "qualified", "answer"),
    [
        ("get", "get", "Client.get", True),
        ("Client.get", "get", "http.Client.get", True),
        ("Client#get", "get", "Client.get", True),
        ("*Client*", "get", "http.Client.get", True),
        ("ge?", "get", "get", True),
        ("lient.get", "get", "Client.get", False),
        ("GET", "get", "get", False),
        ("get", "GET", "GET", True),
    ],
)
def test_symbols(glob, name, qualified, answer):
    assert symbol_matches(glob, name, qualified) is answer
