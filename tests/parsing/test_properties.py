"""What holds for any text whatever, in every language."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dowse.parsing.languages import LANGUAGES, detect_language
from dowse.parsing.parser import parse_file

LICENSE = re.compile(rb"copyright|licen[sc]e|SPDX", re.IGNORECASE)
SAMPLES = sorted(
    (Path(__file__).parent / "samples").iterdir()
)  # named .txt so that no tool takes them for code of ours
QUICK = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)

WORDS = """
def class fn func function impl struct { } ( ) [ ] : ; , . :: -> => = == " ' ` # // /* */ -- {- -} | @ @doc
#[x] do end where module namespace template < > x Foo Bar.baz é 日本 0 import use
"""
pieces = st.sampled_from([*WORDS.split(), "\n", "\n    ", "\n\n", "\r\n", "\t"])
soup = st.lists(pieces, max_size=80).map(" ".join)


def check(text, file):
    """The promises that `types.Definition` makes."""
    last_line = text.count(b"\n") + 1
    for d in file.definitions:
        assert 1 <= d.start_line <= d.end_line <= last_line
        assert d.spans and all(0 <= s < e <= len(text) for s, e in d.spans)
        assert all(a[1] <= b[0] for a, b in zip(d.spans, d.spans[1:], strict=False))
        assert text.count(b"\n", 0, d.spans[0][0]) + 1 == d.start_line
        assert text.count(b"\n", 0, d.spans[-1][1] - 1) + 1 <= d.end_line
        for start, end in d.doc_spans:
            assert any(s <= start < end <= e for s, e in d.spans)
        assert "\n" not in d.signature and len(d.signature) <= 300
        for start, end in (*d.spans, *d.doc_spans):
            text[start:end].decode()
    for r in file.references:
        assert 1 <= r.line <= last_line and r.name and -1 <= r.owner < len(file.definitions)
        if r.owner >= 0 and r.kind == "call":
            owner = file.definitions[r.owner]
            assert owner.start_line <= r.line <= owner.end_line


def uncovered(text, file):
    """Lines with words that are in no definition's own text."""
    covered = bytearray(len(text))
    for d in file.definitions:
        for start, end in d.spans:
            covered[start:end] = b"\1" * (end - start)
    lines, offset = [], 0
    for line in text.split(b"\n"):
        if re.search(rb"\w", line) and not any(covered[offset : offset + len(line)]):
            lines.append(line)
        offset += len(line) + 1
    return lines


@pytest.mark.parametrize("language", [*LANGUAGES, "markdown", ""])
@given(text=st.one_of(st.text(max_size=200), soup))
@QUICK
def test_any_text_is_parsed(language, text):
    data = text.encode("utf-8", "ignore")
    check(data, parse_file(data, language, "a.x"))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
@given(data=st.data())
@QUICK
def test_mangled_samples_are_parsed(path, data):
    text = path.read_text()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 40)))
    mangled = (text[:start] + data.draw(soup) + text[end:]).encode()
    file = parse_file(mangled, detect_language(path.stem, mangled), path.stem, max_lines=7)
    check(mangled, file)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_line_belongs_to_a_definition(path):
    text = path.read_bytes()
    file = parse_file(text, detect_language(path.stem, text), path.stem)
    check(text, file)
    left = [line for line in uncovered(text, file) if not LICENSE.search(line)]
    assert len(left) < 2 or not any(d.kind == "module" for d in file.definitions)
    assert len(left) < 2
