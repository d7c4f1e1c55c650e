"""Files made to take quadratic time or memory, or to crash: all are scanned to the end, within a limit."""

from __future__ import annotations

import encodings
import json
import pkgutil
import subprocess
import sys

import pytest

from dowse.parsing.languages import detect_language
from dowse.parsing.limits import MAX_DEPTH, MAX_NAME_BYTES, MAX_QUALIFIED_NAME, file_seconds
from dowse.parsing.parser import parse_file
from dowse.parsing.spans import intersect_spans, subtract_spans
from dowse.source.content import decode

# Each case takes a second or two here, and took minutes before.
HANG_SECONDS = 60


def run_limited(program: str) -> dict:
    """Run a program that prints JSON; fail if it crashes or hangs."""
    command = [sys.executable, "-c", f"import json, sys; sys.path[:] = {sys.path!r}\n{program}"]
    done = subprocess.run(command, capture_output=True, timeout=HANG_SECONDS, check=False)
    assert done.returncode == 0, done.stderr.decode()[-500:]
    return json.loads(done.stdout)


PARSE = """
from dowse.parsing.parser import parse_file
found = parse_file({text}, {language!r}, {path!r})
print(json.dumps({{"names": [d.qualified_name for d in found.definitions], "problem": found.problem,
    "references": [[r.kind, r.name, r.qualifier] for r in found.references],
    "bytes": sum(end - start for d in found.definitions for start, end in d.spans)}}))
"""


def parse_json_limited(text: str, language: str, path: str) -> dict:
    return run_limited(PARSE.format(text=text, language=language, path=path))


def test_headers_of_blank_lines_are_indexed():
    found = run_limited("""
from dowse.parsing.languages import detect_language
heads = [b"\\n" * 60_000, b" \\r\\n" * 20_000, b"\\n" * 60_000 + b"class A {};"]
print(json.dumps([detect_language("a.h", head) for head in heads]))
""")
    assert found == ["c", "c", "cpp"]


def test_a_class_after_blanks_makes_a_header_cpp():
    assert detect_language("a.h", b"int a;\n\n \t class A;\n") == "cpp"
    assert detect_language("a.h", b"int a; class A;\n") == "c"


def test_many_headings_and_fences_are_all_found():
    text = "b'# a\\n' * 9_000 + b'```\\n# no\\n```\\n' * 50_000 + b'## last\\n'"
    found = parse_json_limited(text, "markdown", "a.md")
    assert found["names"][:9_000] == ["a"] * 9_000
    assert found["names"][-1] == "a.last" and "no" not in found["names"]


def test_a_file_of_nothing_but_headings_is_cut_into_lines():
    found = parse_json_limited("b'# a\\n' * 200_000", "markdown", "guide.md")
    assert set(found["names"]) == {"guide"} and found["bytes"] == 800_000


@pytest.mark.parametrize("text", ["b'# ' * 200_000 + b'x\\n'", "b'# a' + b' ' * 400_000 + b'x\\n'"])
def test_a_long_heading_is_one_section(text):
    assert len(parse_json_limited(text, "markdown", "a.md")["names"]) >= 1


def test_closing_marks_are_no_part_of_a_heading():
    text = b"## one ##\r\nwords\n#\ttwo#three # #\nwords\n"
    assert [d.name for d in parse_file(text, "markdown", "a.md").definitions] == ["one", "two#three"]


@pytest.mark.parametrize("codec", sorted(each.name for each in pkgutil.iter_modules(encodings.__path__)))
def test_whatever_encoding_a_file_declares_its_ascii_is_read_as_such(codec):
    data = f"# coding: {codec}\n".encode() + b"x = '\xe9' + M(b)\n" * 50
    text, _ = decode(data)
    assert text.startswith(f"# coding: {codec}\nx = '") and "' + M(b)\n" in text


def test_quadratic_codecs_are_not_used():
    found = run_limited("""
from dowse.source.content import decode
names = ("punycode", "idna", "utf-7", "cp037")
print(json.dumps([decode(b"# coding: %s\\n" % name.encode() + b"\\xe9a-" * 300_000)[1] for name in names]))
""")
    assert found == ["cp1252"] * 4


def test_declared_encodings_of_real_files_are_still_read():
    for codec, word in (("koi8-r", "мир"), ("shift_jis", "世界"), ("gb18030", "世界"), ("iso8859-2", "žena")):
        data = f"# coding: {codec}\nx = '{word}'\n".encode(codec)
        assert decode(data) == (data.decode(codec), codec)


@pytest.mark.parametrize("seconds", [0.01, 0.1, 0.4])
def test_parsing_that_is_cut_short_does_not_crash(seconds):
    """The parser reads some places twice; when the second time the file had ended, it died by SIGSEGV."""
    found = run_limited(f"""
from dowse.parsing.parser import parse_file
found = parse_file("Ж é 漢 ".encode() * 30_000, "python", "a.py", time_limit={seconds})
print(json.dumps(found.problem))
""")
    assert found.endswith("s; indexed as plain lines")


def test_one_import_of_many_names_gives_them_all():
    text = "('import { ' + ', '.join(f'a{i}' for i in range(5000)) + ' } from \"./m\"\\n').encode()"
    references = parse_json_limited(text, "javascript", "a.js")["references"]
    assert references == [["import", f"a{i}", "./m"] for i in range(5000)]


def test_exported_and_destructured_names_keep_their_module():
    text = b'export { a, b as c } from "m"\nexport { d }\nconst { e, f: g } = require("n")\ng(); e()\n'
    found = parse_file(text, "javascript", "a.js")
    assert [(r.name, r.qualifier) for r in found.references if r.kind == "import"] == [
        *(("a", "m"), ("b", "m")),
        ("n", "n"),
    ]
    facts = {(f.name, f.value, f.origin) for f in found.facts if f.kind == "import"}
    assert {("e", "e", "n"), ("g", "f", "n")} <= facts


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("'use ' + 'a::{' * 10_000 + 'b' + '}' * 10_000", 0),
        ("'use a::{' + 'b, ' * 20_000 + 'c}'", 20_001),
        ("'use a' + ' ' * 90_000 + 'as b'", 1),
        ("'use ' + 'a::' * 500 + '{b, c}'", 0),
        ("'use a::b; ' + '/* ' * 30_000 + 'a'", 1),
        ("'use a::{' + 'b, ' * 40_000 + 'c}'", 0),
    ],
)
def test_import_statements_without_bounds(statement, count):
    program = (
        "from dowse.parsing.imports import parse_imports\nprint(json.dumps(len(parse_imports('rust', {}))))"
    )
    assert run_limited(program.format(statement)) == count


def test_punctuation_without_end_is_indexed_as_lines():
    for text, language in (("b'(' * 200_000", "python"), ("b'x = [' + b',' * 200_000 + b']'", "javascript")):
        found = parse_json_limited(text, language, "a")
        assert found["problem"] == "punctuation without end; indexed as plain lines"
        assert found["bytes"] >= 200_000


def test_lists_of_real_values_are_parsed():
    text = b"function f() { return [" + b"'a', " * 20_000 + b"] }\n" + b"function g( {\n"
    assert "f" in [d.name for d in parse_file(text, "javascript", "a.js").definitions]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("b'function a() { ' * 20_000 + b'}' * 20_000", "javascript"),
        ("b'fn a() { ' * 20_000 + b'}' * 20_000", "rust"),
        ("b'namespace a { ' * 20_000 + b'}' * 20_000", "cpp"),
    ],
)
def test_deep_nesting_costs_each_level_once(text, language):
    found = parse_json_limited(text, language, "a")
    assert found["names"]
    assert max(name.count(".") for name in found["names"]) < MAX_DEPTH
    assert found["bytes"] <= (MAX_DEPTH + 1) * 400_000


def test_definitions_inside_long_names_have_short_ones():
    deep = b"".join(b"class " + letter * 400 + b" { " for letter in (b"a", b"b", b"c", b"d", b"e"))
    found = parse_file(deep + b"void m() {} " + b"}" * 5, "java", "A.java").definitions
    assert found[-1].name == "m" or found[-2].name == "m"
    assert all(
        len(d.name) <= MAX_NAME_BYTES and len(d.qualified_name) <= MAX_QUALIFIED_NAME + 9 for d in found
    )


def test_all_definitions_of_one_long_line_are_found():
    found = parse_json_limited("b'function a() { b() } ' * 20_000", "javascript", "a.js")
    assert found["names"].count("a") == 20_000


def test_comments_and_attributes_between_document_what_follows():
    text = "b'/// words\\n#[lead]\\n' * 20_000 + b'fn f() {}\\n'"
    found = parse_json_limited(text, "rust", "a.rs")
    assert set(found["names"]) == {"f"} and len(found["names"]) > 100


def test_ranges_against_many_others():
    holes = [(3 * n, 3 * n + 1) for n in range(20_000)]
    assert subtract_spans([(0, 7)], [(5, 6), (1, 2), (1, 3)]) == ((0, 1), (3, 5), (6, 7))
    assert subtract_spans(holes, holes) == ()
    assert subtract_spans([(0, 60_000)], holes) == tuple((3 * n + 1, 3 * n + 3) for n in range(20_000))
    assert intersect_spans([(0, 4), (8, 10)], [(1, 3), (3, 9)]) == [(1, 3), (3, 4), (8, 9)]
    assert intersect_spans(holes, holes) == holes


def test_limits_grow_with_the_size_alone():
    assert file_seconds(0) > 1
    assert file_seconds(2_000_000) - file_seconds(1_000_000) == file_seconds(1_000_000) - file_seconds(0)
    assert file_seconds(10, short=True) < file_seconds(10)
