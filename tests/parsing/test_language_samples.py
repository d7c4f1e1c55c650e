"""Every language defines names: one small sample of each, and what a reader would list in it.

A sample in `language_samples.txt` is a line `@@@ path language`, the text, and a line `>>> kind name lines`
for each definition: two numbers for a symbol, one for a name.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from dowse.parsing.languages import (
    DATA_LANGUAGES,
    EMBEDDING_LANGUAGES,
    LANGUAGES,
    detect_language,
    language_names,
)
from dowse.parsing.limits import MAX_DATA_BYTES, MAX_KEYS
from dowse.parsing.line_patterns import PATTERNS
from dowse.parsing.parser import parse_file

HERE = Path(__file__).parent


def _samples():
    for block in re.split(r"^@@@ ", (HERE / "language_samples.txt").read_text(), flags=re.MULTILINE)[1:]:
        head, _, body = block.partition("\n")
        path, language = head.split()
        lines = body.rstrip("\n").split("\n")
        text = "\n".join(line for line in lines if not line.startswith(">>> ")) + "\n"
        yield path, language, text.encode(), [line[4:] for line in lines if line.startswith(">>> ")]


SAMPLES = list(_samples())


def definitions(parsed):
    rows = [
        (each.start_line, f"{each.kind} {each.qualified_name} {each.start_line}-{each.end_line}")
        for index, each in enumerate(parsed.definitions)
        if index != parsed.remainder and each.kind != "text"
    ]
    rows += [(each.line, f"{each.kind} {each.qualified_name} {each.line}") for each in parsed.names]
    return [row for _, row in sorted(rows, key=lambda row: row[0])]


@pytest.mark.parametrize(("path", "language", "text", "expected"), SAMPLES, ids=[s[0] for s in SAMPLES])
def test_definitions(path, language, text, expected):
    assert detect_language(path, text) == language
    parsed = parse_file(text, language, path)
    assert definitions(parsed) == expected
    assert parsed.language == language
    for name in parsed.names:
        assert name.name in name.qualified_name
        assert name.owner < len(parsed.definitions)


def test_every_language_with_definitions_has_a_sample():
    old = {detect_language(path.stem) for path in (HERE / "samples").iterdir()}
    sampled = old | {language for _, language, _, _ in SAMPLES}
    assert {*LANGUAGES, *DATA_LANGUAGES, *EMBEDDING_LANGUAGES, *PATTERNS, "yaml", "markdown"} <= sampled
    assert sampled <= set(language_names())
    assert len(sampled) >= 90


@pytest.mark.parametrize(("path", "language", "text", "expected"), SAMPLES, ids=[s[0] for s in SAMPLES])
def test_windows_line_ends_change_nothing(path, language, text, expected):
    assert definitions(parse_file(text.replace(b"\n", b"\r\n"), language, path)) == expected


def test_columns_in_a_notebook_are_those_of_the_file():
    (text,) = [text for path, _, text, _ in SAMPLES if path.endswith(".ipynb")]
    lines = text.split(b"\n")
    calls = parse_file(text, "notebook", "a.ipynb").references
    assert [lines[r.line - 1][r.column :].startswith(r.name.encode()) for r in calls] == [True] * len(calls)
    assert calls


def test_symbols_of_a_component_leave_its_markup_to_the_remainder():
    (text,) = [text for path, _, text, _ in SAMPLES if path.endswith(".vue")]
    parsed = parse_file(text, "vue", "a.vue")
    pieces = [text[start:end] for each in parsed.definitions for start, end in each.spans]
    assert any(b"<template>" in piece for piece in pieces)
    assert sum(b"return cool" in piece for piece in pieces) == 1


def test_data_has_no_names():
    keys = {f"key{number}": number for number in range(MAX_KEYS + 1)}
    assert not parse_file(json.dumps(keys, indent=1).encode(), "json", "a.json").names
    few = dict(list(keys.items())[:9])
    assert len(parse_file(json.dumps(few, indent=1).encode(), "json", "a.json").names) == 9
    for path in ("package-lock.json", "composer.lock", "pnpm-lock.yaml"):
        assert not parse_file(json.dumps(few, indent=1).encode(), "json", path).names
    assert not parse_file(json.dumps({**few, "x": "y" * 6_000}).encode(), "json", "a.json").names
    large = json.dumps({**few, "x": ["y" * 99] * (MAX_DATA_BYTES // 99)}, indent=1)
    assert not parse_file(large.encode(), "json", "a.json").names
    rows = json.dumps({"rows": [{"id": n, "heat": n} for n in range(50)]}, indent=1)
    names = [each.qualified_name for each in parse_file(rows.encode(), "json", "a.json").names]
    assert names == ["rows", "rows.id", "rows.heat"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("markdown", b"```python\ndef f():\n    pass\n"),
        ("markdown", b"```python\n" * 10_000),
        ("markdown", b"```python\ndef f(): pass\n```\n" * 10_000),
        ("markdown", b"```" * 50_000),
        ("html", b"<script>" * 20_000),
        ("html", b"<script " * 20_000),
        ("vue", b"<script>function f(){}</script>" * 5_000),
        ("vue", b"<style>" * 20_000),
        ("astro", b"---\nconst a = 1\n" * 5_000),
        ("notebook", b"no JSON at all"),
        ("notebook", b'{"cells": ' + b"[" * 20_000),
        (
            "notebook",
            b'{"cells": [{"cell_type": "code", "source": "x"}, 1, null, {"source": [1, "\\ud800"]}]}',
        ),
        ("notebook", b'{"cells": [{"cell_type": "code", "source": ["a\\n", "b\\n"]}]}'),
        ("json", b'{"a":' * 20_000),
        ("yaml", b"a:\n" + b"".join(b" " * depth + b"b:\n" for depth in range(300))),
        ("yaml", b"- " * 20_000),
    ],
)
def test_hostile_files_are_parsed_in_time(language, text):
    started = time.process_time()
    parsed = parse_file(text, language, f"a.{language}")
    assert time.process_time() - started < 10
    assert parsed.definitions


def seconds_of(language: str, times: int) -> float:
    """The time of this thread for lines of a length, the less of two runs."""
    parts = [b"a ", b"a,", b"\t\t", b"create ", b"[a] ", b'"a" ', b"(def "]
    text = b"\n".join([part * 40 * times for part in parts] * 20)
    taken = []
    for _ in range(2):
        started = time.thread_time()
        parse_file(text, language, "a")
        taken.append(time.thread_time() - started)
    return min(taken)


@pytest.mark.parametrize("language", PATTERNS)
def test_line_patterns_take_time_in_proportion_to_the_lines(language):
    assert seconds_of(language, 4) < 8 * seconds_of(language, 1) + 0.1  # 16 times as long if quadratic
