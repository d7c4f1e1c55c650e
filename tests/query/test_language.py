"""The query language: the meaning of queries, and the message of each error."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dowse.errors import FilterError, QueryError
from dowse.parsing.languages import language_names
from dowse.query.ast import (
    And,
    KindFilter,
    LangFilter,
    Not,
    Or,
    PathFilter,
    Phrase,
    Regex,
    RepoFilter,
    SymFilter,
    Word,
    WordConstraint,
)
from dowse.query.parser import narrow, parse_query

from .render import render_query


def must(text, identifier=False):
    return WordConstraint(Word(text, identifier))


PY, GO = LangFilter("python"), LangFilter("go")


@pytest.mark.parametrize(
    ("text", "ranking"),
    [
        ("where are expired sessions cleaned up", "where are expired sessions cleaned up"),
        ("what calls parse_header?", "what calls parse_header"),
        ("read and write or not", "read and write or not"),
        ("don't retry", "don't retry"),
        ("I/O error", "I/O error"),
        ("a/b/c", "a/b/c"),
        ("http://example.com/x", "http://example.com/x"),
        ("std::vec push", "std::vec push"),
        (r"C:\x", r"C:\x"),
        ("key: value", "key value"),
        ("localhost:8080", "localhost:8080"),
        ("who calls main()?", "who calls main"),
        ("operator -> lambda", "operator -> lambda"),
        ("returns -1 on error", "returns -1 on error"),
        ("the --verbose flag", "the --verbose flag"),
        ("// TODO", "// TODO"),
        ("read / write", "read / write"),
        ("/usr/bin/env", "/usr/bin/env"),
        ("utf-8 decoding", "utf-8 decoding"),
        ("(retry (with backoff))", "retry with backoff"),
        ("x == y", "x == y"),
    ],
)
def test_plain_text_is_ranking_words_without_constraint(text, ranking):
    query = parse_query(text)
    assert (query.text_for_ranking, query.constraint) == (ranking, None)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "getUserName",
            "MAX_RETRY",
            "snake_case",
            "HTTPServerError",
            "a.b.cc",
            "std::vec",
            "sha256",
            "__init__",
        ),
        *("`foo`", "`two words`", "main()", "main()?", "$el_x", "parseJSON", "os.path"),
    ],
)
def test_identifier_shapes(text):
    assert parse_query(text).words[0].identifier


@pytest.mark.parametrize("text", ["retry", "Retry", "e.g.", "README", "I/O", "don't", "3rd", "utf-8", "HTTP"])
def test_words_that_are_no_identifiers(text):
    assert not parse_query(text).words[0].identifier


@pytest.mark.parametrize(
    ("text", "constraint"),
    [
        ("cookie lang:py", PY),
        ("lang:golang", GO),
        ("lang:c++", LangFilter("cpp")),
        ("lang:C#", LangFilter("csharp")),
        ("lang:sh", LangFilter("bash")),
        ("lang:.ts", LangFilter("typescript")),
        ("lang:py lang:go", Or((PY, GO))),
        ("lang:py cookie lang:go path:src", And((Or((PY, GO)), PathFilter("src")))),
        ("-lang:py", Not(PY)),
        ("NOT path:x", Not(PathFilter("x"))),
        ("-path:test -path:vendor", And((Not(PathFilter("test")), Not(PathFilter("vendor"))))),
        ("path:src/** -path:*_test.go", And((PathFilter("src/**"), Not(PathFilter("*_test.go"))))),
        ('path:"my dir/**"', PathFilter("my dir/**")),
        ("repo:owner/name", RepoFilter("owner/name")),
        ("kind:Function", KindFilter("function")),
        ("kind:class kind:struct", Or((KindFilter("class"), KindFilter("struct")))),
        ("sym:Session.get*", SymFilter("Session.get*")),
        ("sym:std::vec", SymFilter("std::vec")),
        ("cookie -test", Not(must("test"))),
        ("cookie NOT test", Not(must("test"))),
        ("NOT NOT a", must("a")),
        ("a AND b", And((must("a"), must("b")))),
        ("a AND b c", And((must("a"), must("b")))),
        ("a AND NOT b", And((must("a"), Not(must("b"))))),
        ("a OR b", Or((must("a"), must("b")))),
        ("a AND b OR c", Or((And((must("a"), must("b"))), must("c")))),
        ("a AND (b OR c)", And((must("a"), Or((must("b"), must("c")))))),
        ("(lang:py OR path:*.go) cookie", Or((PY, PathFilter("*.go")))),
        ("lang:py OR lang:go cookie", Or((PY, GO))),
        ("-(a b)", Not(And((must("a"), must("b"))))),
        ("(lang:py lang:go x) OR y", Or((And((Or((PY, GO)), must("x"))), must("y")))),
        ('"connection refused"', Phrase("connection refused")),
        (r'"say \"hi\" to \d"', Phrase(r'say "hi" to \d')),
        ('-"deprecated api"', Not(Phrase("deprecated api"))),
        ("/foo.*bar/", Regex("foo.*bar")),
        ("/foo bar/i", Regex("foo bar", True)),
        (r"/a\/b/", Regex("a/b")),
        ("/[^/]+/", Regex("[^/]+")),
        (r"(/x\d/ OR y)", Or((Regex(r"x\d"), must("y")))),
        ('error "a b" /c+/', And((Phrase("a b"), Regex("c+")))),
        ("lang:py lang:go -lang:py", And((Or((PY, GO)), Not(PY)))),
        ("`getUser` AND x", And((must("getUser", True), must("x")))),
    ],
)
def test_constraints(text, constraint):
    assert parse_query(text).constraint == constraint


def test_words_keep_their_order_and_leave_out_what_is_excluded():
    query = parse_query('first lang:py second AND third -fourth "fifth word" (sixth OR /x/)')
    assert [word.text for word in query.words] == ["first", "second", "third", "fifth word", "sixth"]
    assert query.text_for_ranking == "first second third sixth"


def test_case_holds_for_the_whole_query():
    assert parse_query("foo case:yes").case is True
    assert parse_query("foo case:no").case is False
    assert parse_query("case:yes foo case:yes").case is True
    assert parse_query("foo").case is None


def test_every_language_of_the_indexer_is_known():
    for name in language_names():
        assert parse_query(f"lang:{name}").constraint == LangFilter(name)
    assert parse_query("lang:pyi").constraint == PY


@pytest.mark.parametrize(
    ("text", "position", "fragments"),
    [
        ("", 0, ["empty"]),
        ("   ", 0, ["empty"]),
        ("case:yes", 0, ["say what to look for"]),
        ("lang:pyhton", 0, ["unknown lang:pyhton", "did you mean lang:python?", "haskell", "more"]),
        ("x kind:func", 2, ["did you mean kind:function?", "trait"]),
        ('path:""', 0, ["needs a value"]),
        ('lang:"', 0, ["needs a value"]),
        ("case:maybe x", 0, ["yes or no"]),
        ("case:yes x case:no", 11, ["contradict"]),
        ("-case:yes x", 1, ["whole query"]),
        ("(x case:yes)", 3, ["whole query"]),
        ("case:yes OR x", 0, ["whole query"]),
        ("x OR case:yes", 5, ["whole query"]),
        ("lang:py -lang:py", 9, ["excludes it"]),
        ("kind:function -kind:function", 15, ["excludes it"]),
        ("lang:py AND lang:go", 12, ["no symbol", "OR"]),
        ("lang:py lang:go -lang:py -lang:go", 26, ["no symbol"]),
    ],
)
def test_errors_say_where_and_what_to_do(text, position, fragments):
    with pytest.raises(QueryError) as caught:
        parse_query(text)
    message = str(caught.value)
    assert caught.value.position == position, message
    assert "\n" not in message
    for fragment in fragments:
        assert fragment in message


@pytest.mark.parametrize(
    ("text", "ranking", "fragment"),
    [
        ("cookie langauge:py", "cookie langauge:py", "langauge: is no filter; did you mean lang:?"),
        ("file:x", "file:x", "did you mean path:?"),
        ("node:internal/process", "node:internal/process", "node: is no filter"),
        ("lang: py", "lang py", "lang: has no value"),
        ("foo -foo", "foo", "does not count"),
        ('say "hello', "say hello", 'the " at position 4 is never closed'),
        ('x -"hello y', "x hello y", 'the " at position 3'),
        ('"one\ntwo" three', 'one two" three', "never closed on its line"),
        ('x "" y', "x y", "empty"),
        ('x -"" y', "x y", "empty"),
        ("a `b", "a b", "backtick"),
        ("x `` y", "x y", "empty"),
        ("/abc", "/abc", "begins no regex"),
        ("/a b/c", "/a b/c", "only the flag i"),
        ("(a b", "a b", "( at position 0 is never closed"),
        ("a b)", "a b", ") at position 3 closes nothing"),
        ("foo(bar baz", "foo(bar baz", "( at position 3"),
        ("a ()", "a", "empty"),
        ("AND a", "a", "AND at position 0"),
        ("a AND", "a", "AND at position 2"),
        ("a AND NOT", "a", "NOT at position 6"),
        ("(a OR) b", "a b", "OR at position 3"),
        ("NOT", "NOT", "NOT at position 0"),
        ("x /a(/", "x a(", r"write \( for a literal one"),
        (r"/(?=a)/", "(?=a)", "linear-time"),
        (r"/(a)\1/", r"(a)\1", "back-references"),
        ("/((a{999}){999}){999}/", "((a{999}){999}){999}", "is no regex"),
        ("(" * 80 + "a" + ")" * 80, "a", "50 deep"),
        ("NOT " * 80 + "a", "a", "50 deep"),
    ],
)
def test_what_is_no_query_language_is_plain_text_with_a_remark(text, ranking, fragment):
    query = parse_query(text)
    assert query.text_for_ranking == ranking
    assert query.constraint is None
    assert any(fragment in remark for remark in query.remarks), query.remarks


def test_filters_and_phrases_count_beside_plain_text():
    query = parse_query('node:fs lang:py "a phrase" (x "rest')
    assert query.constraint == And((PY, Phrase("a phrase")))
    assert query.text_for_ranking == "node:fs x rest"


def test_operators_that_join_something_count_beside_those_that_do_not():
    assert parse_query("a AND OR b").constraint == Or((must("a"), must("b")))


def test_of_a_long_query_the_beginning_counts():
    query = parse_query("first " + "x" * 20_000)
    assert query.words[0] == Word("first")
    assert len(query.text_for_ranking) == 10_000
    assert query.remarks == ("only the first 10,000 characters count",)


def test_filters_given_apart_must_be_filters():
    with pytest.raises(FilterError, match="did you mean lang:"):
        narrow(parse_query("x"), "langauge:py")


PIECES = st.sampled_from([
    "lang:py", "lang:go", "-path:x", 'path:"a b"', "kind:class", "sym:X.y", "repo:o/n", "case:yes",
    "-case:no", "AND", "OR", "NOT", "(", ")", '"a phrase"', r'"q\"u\\o"', "/re+/", r"/a\/[b/]/i",
    "-/x/", "`tick it`", "word", "getName", "-not", "it's", "x?", "AND?", "f()", "lang:", "foo:bar",
    "::", "-", "--x", "/", "a)b", "((", "()?", "lang:,", "-(a b)", "x()()", "\ue000", "'", "é",
    "path:(a)", "path:a\\b", ".lang:x", "path:?", "-()",

])  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=30), st.lists(PIECES, max_size=8).map(" ".join), st.lists(PIECES).map("".join)
)


@settings(deadline=None, max_examples=150)
@given(TEXTS)
@example("NOT NOT a")
@example("x AND x")
@example("x AND /")
@example("foo:. x")
def test_any_text_parses_back_from_its_canonical_form_or_is_a_query_error(text):
    try:
        query = parse_query(text)
    except QueryError as error:
        assert isinstance(error, FilterError) or not text.strip()
        assert "\n" not in str(error)
        assert 0 <= error.position <= max(len(text), 10_000)
        return
    if query.remarks:  # some plain words have no canonical form
        return
    again = parse_query(render_query(query))
    assert again == query
    assert (again.words, again.constraint) == (query.words, query.constraint)
    assert render_query(again) == render_query(query)
