"""Grammars are extracted once, into a folder that nobody else can write to."""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import sys

import pytest
from tree_sitter import Parser, Query, QueryError

from dowse.errors import DowseError
from dowse.parsing import grammar
from dowse.parsing.grammar_library import damaged_grammars, load_language
from dowse.parsing.languages import LANGUAGES


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMBLE_GRAMMARS_CACHE_DIR", str(tmp_path / "grammars"))
    return tmp_path / "grammars"


def parses(language) -> bool:
    return not Parser(language).parse(b'{"a": 1}').root_node.has_error


def test_a_grammar_is_extracted_for_the_user_alone(folder):
    folder.mkdir(mode=0o777)
    assert parses(load_language("json"))
    (place,) = folder.iterdir()
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    (library,) = place.iterdir()
    assert stat.S_IMODE(library.stat().st_mode) == 0o600


def test_a_damaged_grammar_is_extracted_again(folder):
    load_language("json")
    (place,) = folder.iterdir()
    damaged = place / "libtree_sitter_properties.so"
    damaged.write_bytes(b"not a library")
    assert Parser(load_language("properties")).parse(b"a=b").root_node.type == "file"
    assert damaged.read_bytes() != b"not a library"


def test_a_folder_of_another_user_is_not_used(folder, tmp_path):
    load_language("json")
    (place,) = folder.iterdir()
    elsewhere = tmp_path / "elsewhere"
    place.rename(elsewhere)
    place.symlink_to(elsewhere)
    for library in elsewhere.iterdir():
        library.unlink()
    assert parses(load_language("json"))
    assert not list(elsewhere.iterdir())


def test_without_a_writable_folder_a_temporary_one_serves(monkeypatch, tmp_path):
    monkeypatch.setenv("SEMBLE_GRAMMARS_CACHE_DIR", os.devnull)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert parses(load_language("json"))
    assert not list(tmp_path.iterdir())


def test_processes_extract_the_same_grammar_at_once(folder):
    program = f"import sys; sys.path[:] = {sys.path!r}\n" + (
        "from dowse.parsing.grammar_library import load_language; load_language('ini')"
    )
    processes = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(4)]
    assert [process.wait(60) for process in processes] == [0] * 4
    assert len(list(folder.glob("*/*"))) == 1


def test_an_unknown_grammar_is_named():
    with pytest.raises(DowseError, match="klingon"):
        load_language("klingon")
    assert damaged_grammars(["python", "klingon"]) == ["klingon"]


@pytest.mark.large
def test_patterns_begin_lines_of_query_files():
    """`definitions_only` takes some of them by their lines."""
    for language in LANGUAGES.values():
        for name in language.grammar.queries:
            source = (grammar._QUERIES / f"{name}.scm").read_text()
            with contextlib.suppress(QueryError):  # a part of the queries of several grammars
                query = Query(load_language(language.grammar.name), source)
                assert len(grammar._PATTERN.findall(source)) == query.pattern_count, name
