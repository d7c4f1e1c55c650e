"""OSC 8 links: in terminals and nowhere else, to files that are there, whatever their names."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from dowse import Index
from dowse.interfaces.cli.main import main

from helpers import write_tree

LINK = re.compile(r"\x1b\]8;;([^\x1b\x07]*)\x1b\\(.*?)\x1b\]8;;\x1b\\")
ODD = "src/a b;ü%\x07.py"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    tree = write_tree(
        tmp_path_factory.mktemp("links") / "code",
        {
            "src/bread.py": "def bake():\n    return rest()\n\n\ndef rest():\n    return 2\n",
            ODD: "def knead():\n    return 1\n",
        },
    )
    index = Index.open(tree, index_dir=str(tree.parent / "i"), refresh="never")
    index.update()
    return index


def arguments(index: Index, *flags: str, command: tuple[str, ...] = ("search", "/def /")) -> list[str]:
    place = [str(index.root), "--index-dir", str(index.backend.folder), "--refresh", "never"]
    return [*command, *place, *flags]


def in_a_terminal(index: Index, *flags: str, **variables: str) -> str:
    """Run the command with a real terminal for its output, and return what it wrote there."""
    outer, inner = pty.openpty()
    command = [sys.executable, "-m", "dowse.interfaces.cli.main", *arguments(index, *flags)]
    environment = {**os.environ, "TERM": "xterm-256color", **variables}
    with subprocess.Popen(command, stdout=inner, stderr=subprocess.PIPE, env=environment) as process:
        os.close(inner)
        written = b""
        while True:
            try:
                part = os.read(outer, 65536)
            except OSError:  # the other end is closed: all is read
                break
            if not part:
                break
            written += part
        assert process.wait() == 0, process.stderr.read()
    os.close(outer)
    return written.decode()


def test_places_are_links_in_a_terminal(index):
    found = LINK.findall(in_a_terminal(index, "--color", "never"))
    targets = {unquote(urlsplit(target).path) for target, _ in found}
    assert targets == {str(index.root / "src/bread.py"), str(index.root / ODD)}
    assert all(target.startswith("file://") for target, _ in found)
    assert "src/bread.py:1" in {text for _, text in found}


@pytest.mark.parametrize(
    ("flags", "variables"), [(["--links", "never"], {}), ([], {"TERM": "dumb"}), ([], {"TERM": "linux"})]
)
def test_no_links_where_none_are_wished_for(index, flags, variables):
    assert "\x1b]8" not in in_a_terminal(index, *flags, **variables)


def test_no_colours_are_not_no_links(index):
    written = in_a_terminal(index, NO_COLOR="1")
    assert "\x1b]8;;file://" in written and "\x1b[" not in written


def test_no_links_in_a_pipe_unless_asked(index, capsys):
    assert main(arguments(index)) == 0
    assert "\x1b" not in capsys.readouterr().out
    assert main(arguments(index, "--links", "always")) == 0
    with_links = capsys.readouterr().out
    assert len(LINK.findall(with_links)) == 3
    assert main(arguments(index, "--links", "never")) == 0
    assert LINK.sub(r"\2", with_links) == capsys.readouterr().out


def test_nothing_in_a_name_ends_a_link(index, capsys):
    assert main(arguments(index, "--links", "always")) == 0
    targets = [target for target, _ in LINK.findall(capsys.readouterr().out)]
    assert all(re.fullmatch(r"[!-~]+", target) and ";" not in target for target in targets)


def test_the_graph_has_links_too(index, capsys):
    assert main(arguments(index, "--links", "always", command=("callers", "rest"))) == 0
    texts = [text for _, text in LINK.findall(capsys.readouterr().out)]
    assert texts == ["src/bread.py:5", "src/bread.py:2"]


def test_a_file_that_is_gone_is_no_link(index, capsys, tmp_path):
    gone = index.root / "src" / "bread.py"
    text = gone.read_text()
    gone.unlink()
    try:
        assert main(arguments(index, "--links", "always")) == 0
        assert len(LINK.findall(capsys.readouterr().out)) == 1
    finally:
        gone.write_text(text)


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("vscode", "vscode://file{path}:1"),
        ("idea", "idea://open?file={path}&line=1"),
        ("my-editor://{path}?l={line}", "my-editor://{path}?l=1"),
    ],
)
def test_what_a_click_opens(index, capsys, monkeypatch, named, expected):
    monkeypatch.setenv("DOWSE_LINK_FORMAT", named)
    assert main(arguments(index, "--links", "always", "-k", "0")) == 0
    targets = [target for target, _ in LINK.findall(capsys.readouterr().out)]
    assert expected.replace("{path}", str(index.root / "src" / "bread.py")) in targets


@pytest.mark.parametrize("named", ["emacs", "x://{file}", "x://{path", "x://{path}\x07"])
def test_a_format_that_is_none_is_told(index, capsys, monkeypatch, named):
    monkeypatch.setenv("DOWSE_LINK_FORMAT", named)
    assert main(arguments(index, "--links", "always")) == 2
    told = capsys.readouterr().err
    assert told.startswith("dowse: DOWSE_LINK_FORMAT is one of file, vscode")


def test_folders_are_absolute_and_real(index, capsys, monkeypatch):
    monkeypatch.chdir(index.root)
    place = [".", "--index-dir", str(index.backend.folder), "--refresh", "never"]
    assert main(["search", "/def bake/", *place, "--links", "always"]) == 0
    target, _ = LINK.findall(capsys.readouterr().out)[0]
    assert Path(unquote(urlsplit(target).path)) == index.root / "src" / "bread.py"
