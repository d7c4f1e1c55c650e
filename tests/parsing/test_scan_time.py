"""Files made to take quadratic time or memory, or to crash: all are scanned to the end, within a limit."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from dowse.parsing.languages import detect_language
from dowse.parsing.limits import MAX_DEPTH
from dowse.parsing.parser import parse_file
from dowse.parsing.spans import intersect_spans, subtract_spans

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


def test_a_class_after_blanks_makes_a_header_cpp():
    assert detect_language("a.h", b"int a;\n\n \t class A;\n") == "cpp"
    assert detect_language("a.h", b"int a; class A;\n") == "c"


def test_closing_marks_are_no_part_of_a_heading():
    text = b"## one ##\r\nwords\n#\ttwo#three # #\nwords\n"
    assert [d.name for d in parse_file(text, "markdown", "a.md").definitions] == ["one", "two#three"]


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


def test_ranges_against_many_others():
    holes = [(3 * n, 3 * n + 1) for n in range(20_000)]
    assert subtract_spans([(0, 7)], [(5, 6), (1, 2), (1, 3)]) == ((0, 1), (3, 5), (6, 7))
    assert subtract_spans(holes, holes) == ()
    assert subtract_spans([(0, 60_000)], holes) == tuple((3 * n + 1, 3 * n + 3) for n in range(20_000))
    assert intersect_spans([(0, 4), (8, 10)], [(1, 3), (3, 9)]) == [(1, 3), (3, 4), (8, 9)]
    assert intersect_spans(holes, holes) == holes
