"""How text is cut: spans, documentation, parts, windows, remainders."""

import subprocess
import sys

import pytest

from dowse.parsing.chunking import MAX_BYTES
from dowse.parsing.languages import detect_language
from dowse.parsing.parser import parse_file


def own(text, definition):
    return b"".join(text[start:end] for start, end in definition.spans).decode()


def by_name(file):
    return {d.qualified_name: d for d in file.definitions}


def test_methods_are_cut_out_of_their_class():
    text = b"class A:\n    x = 1\n\n    def f(self):\n        return 2\n\n    y = 3\n"
    found = by_name(parse_file(text, "python", "a.py"))
    assert own(text, found["A"]) == "class A:\n    x = 1\n    y = 3\n"
    assert own(text, found["A.f"]) == "    def f(self):\n        return 2\n"


def test_nested_functions_stay_in_their_parent():
    text = b"def f():\n    def g():\n        pass\n    return g\n"
    found = by_name(parse_file(text, "python", "a.py"))
    assert own(text, found["f"]) == text.decode()
    assert found["f.g"].kind == "function"


def test_doc_spans_hold_the_docstring_and_nothing_else():
    text = b'def f(x):\n    """Doubles.\n\n    Always.\n    """\n    return 2 * x\n'
    (found,) = parse_file(text, "python", "a.py").definitions
    ((start, end),) = found.doc_spans
    assert found.doc == "Doubles.\n\nAlways."
    assert text[start:end].startswith(b'"""Doubles') and text[start:end].endswith(b'"""')


def test_a_blank_line_breaks_the_association_of_a_comment():
    text = b"// About nothing.\n\nfunc F() {\n}\n// G greets.\nfunc G() {}\n"
    found = by_name(parse_file(text, "go", "a.go"))
    assert found["F"].doc == "" and found["G"].doc == "G greets."
    assert found["G"].start_line == 5


def test_a_licence_documents_nothing():
    text = b"// Copyright 2020 X.\n// Licensed to you.\npackage a\n\nvar x = 1\nvar y = 2\n"
    (module,) = parse_file(text, "go", "a.go").definitions
    assert module.doc == "" and "Copyright" not in own(text, module)


def test_trivial_remainders_are_dropped_unless_they_are_all_there_is():
    assert [d.kind for d in parse_file(b"import a\n\ndef f(): pass\n", "python", "a.py").definitions] == [
        "function"
    ]
    assert [d.kind for d in parse_file(b"import a\n", "python", "a.py").definitions] == ["module"]


def test_long_functions_are_split_and_own_their_references():
    body = b"".join(b"    call_%d()\n" % n + (b"\n" if n % 10 == 9 else b"") for n in range(300))
    file = parse_file(b"def f():\n" + body, "python", "a.py", max_lines=100)
    assert [d.part for d in file.definitions] == list(range(len(file.definitions)))
    assert len(file.definitions) == 4 and {d.signature for d in file.definitions} == {"def f()"}
    for reference in file.references:
        part = file.definitions[reference.owner]
        assert part.start_line <= reference.line <= part.end_line
    # Cuts fall after blank lines.
    lines = (b"def f():\n" + body).split(b"\n")
    assert all(not lines[d.start_line - 2] for d in file.definitions[1:])


def test_parse_out_of_time_gives_windows():
    text = b"x = 1\n" * 20000
    file = parse_file(text, "python", "a.py", time_limit=0.0)
    assert file.problem.startswith("parsing took longer") and file.definitions[0].kind == "text"
    assert not file.references
    assert parse_file(text, "python", "a.py").problem == ""


def test_big_files_read_in_chunks_give_the_same_tree():
    text = b"".join(b"def f%d():\n    return g(%d)\n\n\n" % (n, n) for n in range(9000))
    file = parse_file(text, "python", "a.py")
    assert len(file.definitions) == len(file.references) == 9000


def test_markdown_is_cut_at_headings():
    text = b"intro\n\n# Use\n\nText.\n\n```sh\n# no heading\n```\n\n## Install it\n\nMore.\n"
    found = parse_file(text, "markdown", "doc/guide.md").definitions
    assert [(d.kind, d.name, d.qualified_name, d.start_line, d.end_line) for d in found] == [
        ("text", "guide", "guide", 1, 1),
        ("section", "Use", "Use", 3, 9),
        ("section", "Install it", "Use.Install it", 11, 13),
    ]


def test_other_text_is_cut_into_windows():
    text = b"".join(b"line %d\n" % n for n in range(100))
    found = parse_file(text, "", "notes").definitions
    assert [d.kind for d in found] == ["text"] * 3
    assert "".join(own(text, d) for d in found).encode() == text


def test_broken_code_gives_what_is_whole():
    text = b"def f(:\n    pass\n\ndef g(x):\n    return h(x)\n\nclass ((\n"
    assert "g" in by_name(parse_file(text, "python", "a.py"))


def test_typedef_of_a_struct_is_one_definition():
    file = parse_file(b"typedef struct s {\n  int a;\n} s;\n", "c", "a.c")
    assert [(d.kind, d.qualified_name) for d in file.definitions] == [("struct", "s")]


def test_elixir_functions_with_their_own_doc_are_not_merged():
    text = b'defmodule A do\n  @doc "One."\n  def f(a), do: a\n  @doc "Two."\n  def f(a, b), do: b\nend\n'
    found = [d for d in parse_file(text, "elixir", "a.ex").definitions if d.name == "f"]
    assert [d.doc for d in found] == ["One.", "Two."]


def test_naming_a_language_loads_no_grammar():
    code = (
        "import sys; from dowse.parsing.languages import detect_language; detect_language('a.py');"
        "sys.exit(any(m.startswith('tree_sitter') for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("language", ["python", "json", "markdown", "javascript"])
def test_a_file_of_one_line_is_cut_by_bytes(language):
    text = ("x = [" + "'né'," * (MAX_BYTES // 4) + "]").encode()
    found = parse_file(text, language, "a").definitions
    assert len(found) > 1 and "".join(own(text, d) for d in found).encode() == text
    assert all(sum(end - start for start, end in d.spans) <= MAX_BYTES for d in found)
    assert [d.part for d in found] == list(range(len(found)))
    assert {(d.start_line, d.end_line) for d in found} == {(1, 1)}


def test_a_long_line_is_cut_inside_its_function_and_its_references_follow():
    text = b"def f():\n    return [" + b"g(1), " * MAX_BYTES + b"]\n"
    file = parse_file(text, "python", "a.py")
    assert len({r.owner for r in file.references}) == len(file.definitions) > 1
    for reference in file.references[:: MAX_BYTES // 10]:
        start = len(b"def f():\n") + reference.column
        assert any(s <= start < e for s, e in file.definitions[reference.owner].spans)


def test_only_the_remainder_of_a_file_is_a_module_without_a_signature():
    for path, text in {
        "a.rb": b"require 'x'\nputs 1\n\nmodule A\n  X = 1\nend\n",
        "a.ex": b"import X\nIO.puts 1\n\ndefmodule A do\n  @x 1\nend\n",
    }.items():
        modules = [d for d in parse_file(text, detect_language(path), path).definitions if d.kind == "module"]
        assert [(d.qualified_name, bool(d.signature)) for d in modules] == [("A", True), ("a", False)]
    long = b"".join(b"call(%d)\n" % n for n in range(500))
    rest = parse_file(b"# About.\n\n" + long, "python", "a.py").definitions
    assert len(rest) > 1 and {(d.kind, d.name, d.signature) for d in rest} == {("module", "a", "")}


def test_one_line_outside_definitions_is_kept_if_it_says_something():
    names = [
        d.name
        for d in parse_file(b"LIMIT = 5\n\n\ndef f():\n    return LIMIT\n", "python", "a.py").definitions
    ]
    assert names == ["f", "a"]
    assert [d.name for d in parse_file(b"package a\n\nfunc f() {}\n", "go", "a.go").definitions] == ["f"]
