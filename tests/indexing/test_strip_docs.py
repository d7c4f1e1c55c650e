"""With `strip_docs` no word that stands only in documentation is anywhere in the index."""

from __future__ import annotations

import pytest

from dowse import Index

from helpers import json_lines, write_tree

# Each documentation word occurs nowhere else, and is too short to be split into known ones.
SOURCES = {
    "py.py": ("zqkpy", 'def name():\n    """Says zqkpy."""\n    return kept\n'),
    "mod.py": ("zqkmo", '"""Module zqkmo."""\n\nkept = 1\nother = 2\nthird = 3\n'),
    "cls.py": ("zqkcl", 'class Name:\n    """Class zqkcl."""\n\n    kept = 1\n'),
    "js.js": ("zqkjs", "/** Says zqkjs. */\nfunction name() { return kept }\n"),
    "ts.ts": ("zqkts", "/** Says zqkts. */\nexport function name(): number { return kept }\n"),
    "go.go": ("zqkgo", "package main\n\n// Name says zqkgo.\nfunc Name() int { return kept }\n"),
    "Ja.java": ("zqkja", "class Ja {\n  /** Says zqkja. */\n  int name() { return kept; }\n}\n"),
    "rs.rs": ("zqkrs", "/// Says zqkrs.\nfn name() -> i32 { kept }\n"),
    "rb.rb": ("zqkrb", "# Says zqkrb.\ndef name\n  kept\nend\n"),
    "ph.php": ("zqkph", "<?php\n/** Says zqkph. */\nfunction name() { return $kept; }\n"),
    "cc.c": ("zqkcc", "/** Says zqkcc. */\nint name(void) { return kept; }\n"),
    "cs.cs": ("zqkcs", "class A {\n  /// <summary>Says zqkcs.</summary>\n  int Name() { return kept; }\n}\n"),
    "kt.kt": ("zqkkt", "/** Says zqkkt. */\nfun name(): Int { return kept }\n"),
    "ex.ex": ("zqkex", 'defmodule A do\n  @doc "Says zqkex."\n  def name(), do: kept\nend\n'),
    "hs.hs": ("zqkhs", "module A where\n\n-- | Says zqkhs.\nname :: Int\nname = kept\n"),
    "lu.lua": ("zqklu", "--- Says zqklu.\nfunction name() return kept end\n"),
    "sh.sh": ("zqksh", "# Says zqksh.\nname() {\n  echo kept\n}\n"),
    "zi.zig": ("zqkzi", "/// Says zqkzi.\nfn name() i32 { return kept; }\n"),
}


@pytest.fixture(scope="module", params=[False, True], ids=["kept", "stripped"])
def indexed(request, tmp_path_factory):
    base = tmp_path_factory.mktemp("docs")
    root = write_tree(base / "tree", {name: text for name, (_, text) in SOURCES.items()})
    with Index.open(root, index_dir=str(base / "index"), strip_docs=request.param) as index:
        index.update()
        yield index, request.param


@pytest.mark.parametrize("name", SOURCES)
def test_words_of_documentation(indexed, name):
    index, stripped = indexed
    word = SOURCES[name][0]
    for query in (word, f'"{word}"', f"/{word}/"):
        hits = index.search(query, k=0, fuzziness="0").hits
        assert [hit.symbol.path for hit in hits] == ([] if stripped else [name]), query
    symbols = [index.contents.symbol(row) for row in index.symbols("*", 1000) if row.path == name]
    assert symbols and any("kept" in symbol.code for symbol in symbols)
    said = any(word in symbol.doc + symbol.code + symbol.signature for symbol in symbols)
    assert said is not stripped
    with index.backend.reader() as reader:
        (text,) = [t for i, t in reader.texts([f.file_id for f in reader.files() if f.path == name])]
    assert (word.encode() in text) is not stripped
    assert text.count(b"\n") == SOURCES[name][1].count("\n"), "line numbers stay as they are"


CODE = 'def name(path):\n    """Says zqkcd."""\n    # remark\n    return kept(path)\n'
COMMON = {"repo": "o/r", "path": "a/b.py", "language": "python", "sha": "1", "partition": "test"}
SPELLINGS = {
    "original": {
        **COMMON,
        "func_name": "A.name",
        "original_string": CODE,
        "code": CODE,
        "code_tokens": ["def", "name", "zqktk"],
        "docstring": "Says zqkds.",
        "docstring_tokens": ["zqkdt"],
        "url": "https://example.org/o/r/blob/1/a/b.py#L10-L13",
    },
    "hub": {
        "repository_name": "o/r",
        "func_path_in_repository": "a/b.py",
        "func_name": "A.name",
        "whole_func_string": CODE,
        "language": "python",
        "func_code_string": CODE,
        "func_code_tokens": ["def", "name", "zqktk"],
        "func_documentation_string": "Says zqkds.",
        "func_documentation_tokens": ["zqkdt"],
        "split_name": "test",
        "func_code_url": "https://example.org/o/r/blob/1/a/b.py#L10-L13",
    },
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("stripped", [False, True])
def test_code_search_net_in_both_spellings(tmp_path, spelling, stripped):
    """The docstring inside the code goes by the syntax tree; the token columns are never looked at."""
    path = json_lines(tmp_path / "c.jsonl", [SPELLINGS[spelling]])
    with Index.open(path, index_dir=str(tmp_path / "index"), strip_docs=stripped) as index:
        index.update()
        (hit,) = index.search("kept path").hits
        assert (hit.symbol.repo, hit.symbol.path, hit.symbol.qualified_name) == ("o/r", "a/b.py", "A.name")
        assert (hit.symbol.name, hit.symbol.kind in ("function", "method")) == ("name", True)
        found = {
            word
            for word in ("zqkcd", "zqkds", "zqktk", "zqkdt")
            if index.search(word, fuzziness="0").hits or index.search(f'"{word}"').hits
        }
        assert found == (set() if stripped else {"zqkcd", "zqkds"})
        assert ("zqk" in hit.symbol.code + hit.symbol.doc) is not stripped
