"""The same lines, and the same matches in them, as ripgrep itself."""

import base64
import json
import os
import random
import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dowse.errors import QueryError
from dowse.query.regex.matcher import compile_pattern

from .strategies import LETTERS, PATTERNS

RG = shutil.which("rg")
if RG is None and os.environ.get("DOWSE_REQUIRE_TOOLS") != "1":
    pytest.skip("ripgrep (rg) is not installed", allow_module_level=True)

TABLE = [
    "foo", "Foo", "a", "é", "a.b", "a.*b", "^a", "a$", "^$", "^", "$", "^a.*b$", "a*", "a+", "a?b",
    "(ab)+", "a|b", "", "()", r"\bfoo\b", r"(?i)\bfoo", r"k\b", r"\ba\b", r"\béfoo\b", r"\b→\b", r"\bé",
    r"\b\w+\b", r"\B", r"\Bo", r"\w+\B", r"\w", r"\W", r"\d+", r"\D", r"\s", r"\S+$", r"a\s*$", r"[^a]",
    r"[^\w\s]", r"[\W\d]+", "[a-c]{2,3}", "[[:upper:]]", "[[:^alpha:]]+", "[]a]", "[^]a]", "[a-]",
    "[--a]", "[a-z&&[^aeiou]]+", r"[\w--b]", "[a-c~~b-d]", "[ab[cd]]", r"\pL+", r"\PL", r"\p{Greek}",
    r"\p{Lu}", "(?i)FOO", "(?i)k", "(?i)s", "(?i:É)x?", "(?i)[^k]", "(?i)ß", "(?-m)^a", r"\Aa", r"b\z",
    "(?s)a.", "(?x) a b", "a{2}", "a{0}", "a{1,}?", "(a|ab)(c|bcd)", "(a|b)*?c", "a**", r"\x61",
    r"\u{e9}", r"\.", r"\t", r"a\r", r"\r$", "(?U)a+", "(?P<x>a)b", "(|a)b", "a||b", r"^\s+",
    r"\w+\s*\(", "[é→]+", "ſ", r"[\na]+", r"\x{200d}", "x{2}{3}",

]  # fmt: skip
# The lines agree, but ripgrep 13 marks other parts of them than leftmost-first matching by line does.
ODD_SPANS = {r"\Bo", "(?-m)^a", r"\Aa", "(a|ab)(c|bcd)"}


def texts():
    """Make a fixed set of files: Unicode, CRLF, no final line feed, empty and long lines."""
    source = random.Random(7)
    words = [
        "foo",
        "Foo",
        "FOO",
        "bar(",
        "a",
        "b",
        "ab",
        "abc",
        "abcd",
        "é",
        "éfoo",
        "fooé",
        "→",
        "x→y",
        "1",
        "Ⅷ",
    ]
    words += [
        "k",
        "K",
        "ſ",
        "ß",
        "É",
        "\t",
        " ",
        "a\u0301",
        "\u200d",
        "foo\u200dbar",
        "\u2028",
        "\x0b",
        ".",
        "-",
        "Σ",
        "ς",
    ]
    made = [
        "",
        "\n",
        "\n\n",
        "a",
        "a\n",
        "a\r\n\r\nb\r\n",
        "foo\n\n",
        "\ufefffoo\nfoo",
        "ab" * 3000 + "é foo\nb\n",
        "é",
        "→\n",
    ]
    for _ in range(45):
        rows = [
            "".join(source.choices([*words, *LETTERS], k=source.randrange(9)))
            for _ in range(source.randrange(1, 8))
        ]
        made.append(source.choice(["\n", "\r\n"]).join(rows) + source.choice(["", "\n"]))
    return made


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Write the files once."""
    if RG is None:
        pytest.fail("DOWSE_REQUIRE_TOOLS=1, but ripgrep (rg) is not installed")
    folder = tmp_path_factory.mktemp("corpus")
    made = texts()
    for index, text in enumerate(made):
        (folder / f"{index:03}").write_bytes(text.encode())
    return folder, made


def ripgrep(pattern, folder, *options):
    """Return {file: [(line number, line, spans in bytes)]}, or None when ripgrep refuses the pattern."""
    command = [
        RG,
        "--json",
        "--no-config",
        "--no-ignore",
        "--hidden",
        "-a",
        "-j1",
        *options,
        "-e",
        pattern,
        str(folder),
    ]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode == 2:
        return None
    found = {}
    for row in done.stdout.splitlines():
        event = json.loads(row)
        if event["type"] == "match":
            data = event["data"]
            spans = [(each["start"], each["end"]) for each in data["submatches"]]
            line = _value(data["lines"])
            line = line[:-1] if line.endswith(b"\n") else line
            found.setdefault(int(os.path.basename(data["path"]["text"])), []).append(
                (data["line_number"], line, spans)
            )
    return found


def _value(field):
    """Decode a text of ripgrep's JSON."""
    return field["text"].encode() if "text" in field else base64.b64decode(field["bytes"])


def ours(pattern, made, **options):
    """Return the same from our engine."""
    compiled = compile_pattern(pattern, **options)
    found = {}
    for index, text in enumerate(made):
        for hit in compiled.find_lines(text):
            spans = [(len(hit.text[:a].encode()), len(hit.text[:b].encode())) for a, b in hit.spans]
            found.setdefault(index, []).append((hit.line, hit.text.encode(), spans))
    return found


def without_spans(found):
    return {index: [(number, line) for number, line, _ in hits] for index, hits in found.items()}


@pytest.mark.parametrize("pattern", TABLE)
def test_table(corpus, pattern):
    folder, made = corpus
    theirs = ripgrep(pattern, folder)
    assert theirs is not None
    mine = ours(pattern, made, case="sensitive")
    assert without_spans(mine) == without_spans(theirs)
    if pattern not in ODD_SPANS:
        assert _nonempty(mine) == _nonempty(theirs)


@pytest.mark.parametrize(
    "pattern", ["foo", "Foo", "é", "É", r"\Sa", "[A-C]", "[a-c]", "k", "s", "a|B", r"\x41"]
)
def test_smart_case(corpus, pattern):
    folder, made = corpus
    assert without_spans(ours(pattern, made)) == without_spans(ripgrep(pattern, folder, "-S"))


@pytest.mark.parametrize("pattern", ["foo", "FOO", "a.b", "bar(", "é", "ſ", "K"])
@pytest.mark.parametrize(("case", "flag"), [("sensitive", "-s"), ("insensitive", "-i"), ("smart", "-S")])
def test_literals(corpus, pattern, case, flag):
    folder, made = corpus
    assert ours(pattern, made, literal=True, case=case) == ripgrep(pattern, folder, "-F", flag)


@settings(
    max_examples=int(os.environ.get("DOWSE_PARITY_EXAMPLES", "75")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(pattern=PATTERNS, case=st.sampled_from([("sensitive", "-s"), ("insensitive", "-i"), ("smart", "-S")]))
def test_generated_patterns(corpus, pattern, case):
    folder, made = corpus
    theirs = ripgrep(pattern, folder, case[1])
    try:
        mine = ours(pattern, made, case=case[0])
    except QueryError:
        assert theirs is None
        return
    if theirs is not None:  # an older ripgrep refuses some syntax that newer ones take
        assert without_spans(mine) == without_spans(theirs)


def _nonempty(found):
    """Leave out empty matches, which ripgrep reports differently from version to version."""
    return {
        i: [[span for span in spans if span[0] < span[1]] for _, _, spans in hits]
        for i, hits in found.items()
    }
