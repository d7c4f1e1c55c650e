"""Bytes that are no UTF-8 in arguments, names and files: an answer or one line of error, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dowse import Index
from dowse.interfaces.cli.main import main

BROKEN = "x\udcff\udc9by"  # what Python makes of the bytes x ff 9b y
COMMANDS = ("symbols", "callers", "callees", "uses", "implementers", "subclasses", "impact", "related")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """A folder, a file and a function whose names are not UTF-8."""
    root = Path(os.fsdecode(os.fsencode(tmp_path_factory.mktemp("bytes")) + b"/re\xffpo"))
    try:
        root.mkdir()
        Path(root, "bad\udcff.py").write_bytes(
            b"def alpha():\n    return na\xffme()\n\n\ndef na\xffme():\n    pass\n"
        )
    except OSError:
        pytest.skip("the file system takes UTF-8 names only")
    index = Index.open(root, index_dir=str(tmp_path_factory.mktemp("index") / "i"), refresh="never")
    index.update()
    return index


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run a command in this process: an exception of it would come out here."""
    capsys.readouterr()
    code = main(list(arguments))
    out, err = capsys.readouterr()
    (out + err).encode()  # all of it can be written
    return code, out, err


def place(index: Index) -> list[str]:
    return [str(index.root), "--index-dir", str(index.backend.address)]


@pytest.mark.parametrize("command", COMMANDS)
def test_names_that_are_no_text(index: Index, capsys: pytest.CaptureFixture[str], command: str) -> None:
    code, _, err = run(capsys, command, BROKEN, *place(index))
    assert code in (1, 2) and len(err.splitlines()) <= 1
    assert r"x\xff\x9by" in err or not err or command == "related"


def test_a_pattern_that_is_no_text_says_so(index: Index, capsys: pytest.CaptureFixture[str]) -> None:
    for query in (f"/{BROKEN}/", "/a\udcff/"):  # with "?" for the byte, the second would match every "a"
        code, out, err = run(capsys, "search", query, *place(index))
        assert (code, out) == (1, "")
        note, nothing = err.splitlines()
        assert note.endswith("some characters are not valid Unicode and match nothing")
        assert nothing == "dowse: nothing found"
    code, _, err = run(capsys, "search", BROKEN, *place(index), "--mode", "regex")
    assert code == 2 and len(err.splitlines()) == 1


@pytest.mark.parametrize("form", ["text", "path", "grep", "vimgrep", "json"])
def test_places_that_are_no_text(index: Index, capsys: pytest.CaptureFixture[str], form: str) -> None:
    code, out, _ = run(capsys, "callers", "naÿme", *place(index), "--format", form)
    assert code == 0 and "bad" in out


def test_a_file_is_named_by_its_bytes(index: Index, capsys: pytest.CaptureFixture[str]) -> None:
    """As a shell completes it, and as answers show it."""
    for name in ("bad\udcff.py:1", r"bad\xff.py:1"):
        code, out, _ = run(capsys, "callees", name, *place(index))
        assert code == 0 and "naÿme" in out


def test_real_bytes_in_real_arguments(index: Index) -> None:
    """Of a process of its own, in a locale that can't even write what is found."""
    for locale in ("C.UTF-8", "C"):
        result = subprocess.run(
            [sys.executable, "-m", "dowse.entry", "callers", b"x\xffy", *map(os.fsencode, place(index))],
            env={**os.environ, "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            capture_output=True,
            timeout=300,
            check=False,
        )
        assert result.returncode == 2 and result.stderr.startswith(rb"dowse: no symbol is called x\xffy")
        assert result.stderr.count(b"\n") == 1
