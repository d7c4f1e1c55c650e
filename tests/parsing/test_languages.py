"""Every language's sample gives the definitions and references a reader would list."""

import importlib.util
from pathlib import Path

import pytest

from dowse.parsing.languages import LANGUAGES, detect_language
from dowse.parsing.parser import parse_file

HERE = Path(__file__).parent
SAMPLES = sorted((HERE / "samples").iterdir())

_spec = importlib.util.spec_from_file_location("parse_expected", HERE / "expected.py")
expected = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(expected)


def parsed(path):
    text = path.read_bytes()
    return parse_file(text, detect_language(path.stem, text), path.stem)


def test_every_sample_has_a_grammar():
    assert {detect_language(path.stem) for path in SAMPLES} <= set(LANGUAGES)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_definitions(path):
    found = [
        (d.kind, d.qualified_name, d.start_line, d.end_line, (d.doc[:20].splitlines() or [""])[0])
        for d in parsed(path).definitions
    ]
    assert found == expected.DEFINITIONS[path.stem]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_references(path):
    file = parsed(path)
    names = [d.qualified_name for d in file.definitions] + [""]
    found = [
        (r.kind, r.qualifier, r.name, r.line, names[r.owner])
        for r in file.references
        if r.kind not in ("read", "write")  # tests/graph/resolve/test_uses.py
    ]
    assert found == expected.REFERENCES[path.stem]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_definitions_alone_are_the_same_ones(path):
    text, whole = path.read_bytes(), parsed(path)
    alone = parse_file(text, detect_language(path.stem, text), path.stem, definitions_only=True)
    assert (alone.definitions, alone.remainder) == (whole.definitions, whole.remainder)
    assert not alone.references
    assert not alone.facts


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_columns_point_at_the_name(path):
    lines = path.read_bytes().split(b"\n")
    for r in parsed(path).references:
        if r.kind == "call":
            assert lines[r.line - 1][r.column :].startswith(r.name.encode())


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_windows_line_ends_change_nothing(path):
    text = path.read_bytes()
    crlf = parse_file(text.replace(b"\n", b"\r\n"), detect_language(path.stem, text), path.stem)
    found = [(d.kind, d.qualified_name, d.start_line, d.end_line) for d in crlf.definitions]
    assert found == [row[:4] for row in expected.DEFINITIONS[path.stem]]


@pytest.mark.parametrize(
    ("path", "head", "language"),
    [
        ("a/b.py", b"", "python"),
        ("a.tsx", b"", "typescript"),
        ("A.KT", b"", "kotlin"),
        ("x.h", b"int f(void);", "c"),
        ("x.h", b"/* of virtual terminals,\n using threads */\nint f(void); // std::\n", "c"),
        ("x.h", b"namespace a {\n", "cpp"),
        ("x.h", b"template <class T>\n", "cpp"),
        ("bin/run", b"#!/usr/bin/env python3\n", "python"),
        ("bin/run", b"#!/usr/bin/env -S bash -e\n", "bash"),
        ("bin/run", b"#!/bin/sh", "bash"),
        ("bin/run", b"", ""),
        ("Rakefile", b"", "ruby"),
        ("Dockerfile.dev", b"", ""),
        ("README.md", b"", "markdown"),
        (".gitignore", b"", ""),
        ("x.unknown", b"", ""),
    ],
)
def test_language_of(path, head, language):
    assert detect_language(path, head) == language
