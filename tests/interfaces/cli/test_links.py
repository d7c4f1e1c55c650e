"""OSC 8 links: in terminals and nowhere else, to files that are there, whatever their names."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
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


def arguments(index: Index, *flags: str) -> list[str]:
    place = [str(index.root), "--index-dir", str(index.backend.folder), "--refresh", "never"]
    return ["search", "/def /", *place, *flags]


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
    assert all(re.fullmatch(r"[!-~]+", target) and ";" not in target for target, _ in found)


def test_no_links_in_a_terminal_that_would_print_them(index):
    assert "\x1b]8" not in in_a_terminal(index, TERM="linux")


def test_no_colours_are_not_no_links(index):
    written = in_a_terminal(index, NO_COLOR="1")
    assert "\x1b]8;;file://" in written and "\x1b[" not in written


def test_no_links_in_a_pipe(index, capsys):
    assert main(arguments(index)) == 0
    assert "\x1b" not in capsys.readouterr().out
