"""Each filter drops what it is named for and lets ordinary functions through."""

from __future__ import annotations

import pytest

from dowse.eval.mine.doc_pairs import Candidate
from dowse_training.pairs.filters import FILTERS, drop_reason

GOOD_DOC = "Return the newest entry that is not older than the given age."
GOOD_CODE = """def newest(entries, age):
    fresh = [entry for entry in entries if entry.age <= age]
    return max(fresh, key=lambda entry: entry.time)"""


def candidate(doc=GOOD_DOC, code=GOOD_CODE, name="newest", qualified_name="", signature=""):
    signature = signature or code.split("\n", 1)[0].rstrip(":{ ")
    return Candidate("python", "a.py", name, qualified_name or name, signature, doc, code, doc)


def test_an_ordinary_function_passes():
    assert drop_reason(candidate()) == ""


@pytest.mark.parametrize(
    "doc",
    [
        "Parse the header; see RFC 2616 for details.",
        "Returns None when the cache is empty.",
        "Run 'func' under os sandboxing",
        "Check copy rights of a user",
        "Wait until all jobs in `queue` are done -- or `timeout` seconds (float) have passed.",
        "Tests whether a port is open.\n\nParameters\n----------\nport : int",
        "Deprecated names are mapped to new ones.",
        "The typing._type_check function wants a callable, so be one.",
        "Ensure café names are compared without accents, and so on.",
    ],
)
def test_ordinary_documentation_passes(doc):
    assert drop_reason(candidate(doc)) == ""


DROPPED_DOCS = {
    "documentation too short": ["Constructor", "Get it", "", "42 + 17"],
    "documentation too long": ["word and word " * 60],
    "documentation not ASCII": [
        "Возвращает сумму двух чисел",
        "返回两个数字的总和 of two",
        "Gibt ëïöüä äöü zurück",
    ],
    "documentation is boilerplate": [
        "Parameters\n----------\nx : int",
        "Args:\n    x: the value to add",
        ":param x: the value to add",
        "@param x the value to add",
        "TODO: write this down properly",
        "See above for the details",
        "See :meth:`Other.method` of that class",
        "{@inheritDoc} and nothing else here",
        "_summary_ of this function\n\nArgs:\n    x (_type_): _description_",
        "Get the pet\n\nThis method makes a synchronous HTTP request by default.",
        ">>> add(one, two)\nthree",
        "eslint-disable no-console in this function",
        "Not implemented yet, sorry for that",
        "Overrides the method of the parent",
    ],
    "documentation is a licence": [
        "Copyright 2019 The Authors of this file",
        "Licensed under the Apache License, version two",
    ],
    "documentation not prose": [
        "+-----+-----+ a b c | 1 | 2 |",
        "x = foo(bar);\ny = bar(baz);",
        "if (a) {\nb and c and d\n}",
    ],
    "documentation not English": [
        "Devuelve la suma de los valores en el rango",
        "Gibt die Summe der Werte und das Ergebnis aus",
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu",
    ],
}


@pytest.mark.parametrize(("reason", "doc"), [(r, doc) for r, docs in DROPPED_DOCS.items() for doc in docs])
def test_documentation_that_teaches_nothing_is_dropped(reason, doc):
    assert drop_reason(candidate(doc)) == reason


DROPPED_CODE = {
    "code too short": ["def f(): ...", "int f(int first, int second, int third, int fourth);"],
    "code too long": ["def f(a):\n" + "    a = g(a)\n" * 1_200],
    "stub": [
        "def frobnicate(self, first, second):\n    raise NotImplementedError('frobnicate')",
        "def frobnicate(self, first, second, third):\n    log.debug('called')\n    pass",
        "fn frobnicate(first: u32, second: u32) -> u32 {\n    unimplemented!()\n}",
        "public int frobnicate(int a, int b) {\n    throw new UnsupportedOperationException();\n}",
        "function frobnicate($a, $b)\n{\n    throw new \\BadMethodCallException('no');\n}",
    ],
    "trivial": [
        "def size(self) -> int:\n    return self._size",
        "public int getSize(int unused) {\n    return this.size;\n}",
        "def redefine(self, kind: str, function):\n    return self.redefine_many({kind: function})",
    ],
}


@pytest.mark.parametrize(
    ("reason", "code"), [(r, code) for r, codes in DROPPED_CODE.items() for code in codes]
)
def test_code_that_teaches_nothing_is_dropped(reason, code):
    assert drop_reason(candidate(code=code)) == reason


@pytest.mark.parametrize(
    "code",
    [
        "def __iter__(self):\n    return chain.from_iterable(self._lists)",
        "def get(self, key):\n    if key in self.cache:\n        return self.cache[key]\n    return None",
        "int area(const Shape& s) {\n    return s.width * s.height;\n}",
    ],
)
def test_short_code_that_does_something_passes(code):
    assert drop_reason(candidate(code=code)) == ""


@pytest.mark.parametrize(
    ("name", "qualified_name"),
    [
        ("test_add", ""),
        ("testAdd", ""),
        ("setUp", ""),
        ("helper", "AdditionTest.helper"),
        ("x", "AdditionTestCase.x"),
    ],
)
def test_tests_are_dropped(name, qualified_name):
    assert drop_reason(candidate(name=name, qualified_name=qualified_name)) == "test"


@pytest.mark.parametrize("name", ["latest", "testify", "run_significance_test", "contest", "attest"])
def test_names_that_only_look_like_tests_pass(name):
    assert drop_reason(candidate(name=name)) == ""


def test_every_filter_is_shown_here():
    assert {*DROPPED_DOCS, *DROPPED_CODE, "test"} == FILTERS.keys()
