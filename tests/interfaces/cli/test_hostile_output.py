"""Whatever a repository calls its files and writes into them: no format forges a line or steers terminals."""

from __future__ import annotations

import argparse
import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_terminal import HOSTILE, OWN, is_harmless

from dowse import Index
from dowse.answer import Answer
from dowse.formats.graph_text import render_graph
from dowse.formats.json_format import json_document
from dowse.formats.locations import Location, SourceFiles, escape_locations, format_lines, match_locations
from dowse.formats.style import Style, link
from dowse.formats.text import render_answer, render_related
from dowse.graph.model import GraphAnswer, GraphStep
from dowse.interfaces.cli.main import main
from dowse.interfaces.cli.output import format_files
from dowse.interfaces.cli.places import Place
from dowse.interfaces.daemon.command import CapturedOutput
from dowse.json_form import document
from dowse.search.related import Related
from dowse.types import (
    Contribution,
    Edge,
    Hit,
    LaneReport,
    LaneScore,
    LineMatch,
    Note,
    PlanReport,
    Symbol,
)
from dowse.types import SymbolRow as Row

from helpers import write_tree

COLOURS = Style("\x1b[35m", "\x1b[32m", "\x1b[1;31m", "\x1b[2m", "\x1b[1m", "\x1b[0m")
TITLE, NEWLINE = "a\x1b]0;pwned\x07.py", "b\nforged.py:1:1:nothing.py"
CODE = "def evil():\n    return '\x1b]52;c;aGk=\x07 \x9b31m \u202e'  # evil\n"
LINES = st.integers(1, 1000)
FORGED = re.compile(r"forged\.py").match


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """A tree whose file names and code steer terminals."""
    other = "def evil_newline():\n    return evil()\n"
    tree = write_tree(
        tmp_path_factory.mktemp("hostile") / "code",
        {TITLE: CODE, NEWLINE: other, "c.md": "# evil \x1b[31m heading\n\nevil\n", "tab\tname.dat": b"\0"},
    )
    for file in tree.iterdir():
        os.utime(file, (1e9, 1e9))  # what was saved just now is read again by the next command
    index = Index.open(tree, index_dir=str(tree.parent / "i"), refresh="never")
    index.update()
    return index


def place(index: Index) -> list[str]:
    return [str(index.root), "--index-dir", str(index.backend.address)]


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command in this process; return its standard output."""
    capsys.readouterr()
    assert main(list(arguments)) in (0, 1)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "count"),
    [
        (("search", "evil", "-l"), 3),
        (("search", "evil", "--format", "path"), 3),
        (("search", "/evil/", "--format", "grep"), 6),
        (("search", "/evil/", "--format", "vimgrep"), 6),
        (("symbols", "evil"), 3),
        (("status", "--files"), 4),
    ],
)
def test_one_line_for_each_result(
    hostile: Index, capsys: pytest.CaptureFixture[str], flags: tuple[str, ...], count: int
) -> None:
    command, *rest = flags
    positional = [each for each in rest[:1] if not each.startswith("-")]
    out = said(capsys, command, *positional, *place(hostile), *rest[len(positional) :])
    assert len(out.splitlines()) == count == out.count("\n"), out
    assert "forged.py" not in [line.partition(":")[0] for line in out.splitlines()]
    # Code in a pipe is exact; names never are where that would steer something.
    assert "\x1b]0;" not in out


def test_code_in_a_pipe_is_exact_but_for_ends_of_lines(
    hostile: Index, capsys: pytest.CaptureFixture[str]
) -> None:
    out = said(capsys, "search", "/return '/", *place(hostile), "--format", "grep")
    assert out.endswith(f":2:{CODE.splitlines()[1]}\n") or CODE.split("\n")[1] in out


def test_text_and_lists_are_harmless(hostile: Index, capsys: pytest.CaptureFixture[str]) -> None:
    commands = ("search", "evil", "--explain"), ("search", "/evil/"), ("callers", "evil"), ("context", "evil")
    for flags in (*commands, ("doctor",)):
        command, *rest = flags
        out = said(capsys, command, *rest[:1], *place(hostile), *rest[1:])
        assert is_harmless(out, "\n\t") and not any(map(FORGED, out.splitlines())), out
    assert r"a\x1b]0;pwned\x07.py" in said(capsys, "search", "evil", *place(hostile))


def test_json_is_exact(hostile: Index, capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "search", "/52;c/", *place(hostile), "--json")
    assert is_harmless(out, "\n")
    hit = json.loads(out)["hits"][0]
    assert hit["path"] == TITLE and hit["matches"][0]["text"] == CODE.split("\n")[1]


def in_a_terminal(index: Index, *flags: str) -> str:
    """Run a command with a terminal for both of its streams; return what it wrote there."""
    outer, inner = pty.openpty()
    command = [sys.executable, "-m", "dowse.interfaces.cli.main", *flags]
    environment = {**os.environ, "TERM": "xterm-256color"}
    process = subprocess.Popen(command, stdout=inner, stderr=inner, env=environment)
    os.close(inner)
    written = b""
    try:
        while part := os.read(outer, 65536):
            written += part
    except OSError:  # the other end is closed: all is read
        pass
    os.close(outer)
    process.wait(60)
    return written.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("form", ["text", "grep", "json"])
def test_nothing_steers_a_terminal(hostile: Index, form: str) -> None:
    out = in_a_terminal(hostile, "search", "/evil/", *place(hostile), "--format", form)
    assert is_harmless(OWN.sub("", out), "\n\t"), out
    if form == "text":
        assert "\x1b]8;;file://" in out and "\x1b[1;31mevil\x1b[0m" in out  # our own go through
        assert r"\x1b]52;c;aGk=\x07 \u009b31m \u202e" in out


def test_what_a_warm_process_sends_to_a_terminal_is_filtered() -> None:
    output = CapturedOutput((True, False))
    output.streams["stdout"].write("\x1b[0mname\x1b]0;pwned\x07\udcff\n")
    output.streams["stderr"].write("exact \x1b]0;\udcff")
    assert output.parts() == [
        b"o\x1b[0m" + rb"name\x1b]0;pwned\x07\xff" + b"\n",
        b"eexact \x1b]0;" + rb"\udcff",
    ]


@st.composite
def symbols(draw: st.DrawFn) -> Symbol:
    text = [draw(HOSTILE) for _ in range(9)]
    code = "\n".join(text[7:])
    numbers = tuple(range(1, code.count("\n") + 2))
    return Symbol(*text[:6], text[6], 1, 9, text[5], text[6], code, "hash", numbers)


@st.composite
def hits(draw: st.DrawFn) -> Hit:
    texts = st.tuples(HOSTILE, HOSTILE)
    matches = draw(st.lists(st.tuples(LINES, HOSTILE.map(lambda text: text.replace("\n", ""))), max_size=2))
    return Hit(
        draw(LINES),
        1.0,
        draw(symbols()),
        tuple(Contribution(source, 1.0, detail) for source, detail in draw(st.lists(texts, max_size=2))),
        tuple(LineMatch(line, text, ((0, min(2, len(text))),)) for line, text in matches),
        tuple(LaneScore(lane, 1, 1.0, 1.0, detail) for lane, detail in draw(st.lists(texts, max_size=2))),
        draw(st.none() | st.floats(0, 1)),
    )


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    words = tuple(draw(st.lists(HOSTILE, max_size=2)))
    plan = PlanReport("name", draw(HOSTILE), words, draw(HOSTILE), words, draw(HOSTILE), words)
    found = tuple(draw(st.lists(hits(), max_size=3)))
    lanes = (LaneReport(draw(HOSTILE), 1, 1.0, draw(HOSTILE)),)
    notes = tuple(Note("incomplete-index", text) for text in words)
    return Answer(draw(HOSTILE), "auto", found, 1, 1, notes, None, plan, lanes)


def options(form: str) -> argparse.Namespace:
    return argparse.Namespace(
        json=False,
        format=form,
        color="never",
        explain=True,
        path=".",
        place=Place(Path("/nowhere")),
    )


@settings(max_examples=40)
@given(answers())
def test_every_format_of_a_search_is_harmless(answer: Answer) -> None:
    SimpleNamespace(root=Path("/nowhere"))
    for style in (Style(), COLOURS):
        text = render_answer(answer, style, explain=True)
        assert is_harmless(OWN.sub("", text) if style.reset else text, "\n\t")
        text = render_related(Related(answer.hits[0].symbol, answer.hits, None), style) if answer.hits else ""
        assert is_harmless(OWN.sub("", text), "\n\t")
    assert is_harmless(json_document(document(answer)), "\n")
    for count in (False, True):
        files = format_files(answer, argparse.Namespace(**vars(options("text")), count=count))
        assert len(files.splitlines()) == len({hit.symbol.path for hit in answer.hits})
        assert is_harmless(files, "\n")


@given(st.lists(st.builds(Location, HOSTILE, LINES, LINES, HOSTILE), max_size=4, unique=True))
def test_line_formats_have_one_line_for_each_location(locations: list[Location]) -> None:

    def lines(form: str) -> list[str]:
        return format_lines(form, locations, str, terminal=False).splitlines()

    escaped = list(dict.fromkeys(escape_locations(locations, str, terminal=False)))
    assert len(lines("vimgrep")) == len(escaped)
    assert len(lines("grep")) == len({location._replace(column=1) for location in escaped})
    assert len(lines("path")) == len({location.path for location in escaped})
    assert all(is_harmless(path, "") for path in lines("path"))
    for location in escape_locations(locations, str, terminal=True):
        assert is_harmless("".join(map(str, location)), "\t")


ROWS = st.builds(
    Row,
    *(st.just(1), HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE),
    *(LINES, LINES, HOSTILE, st.just(1)),
)
EDGES = st.builds(Edge, HOSTILE, st.just(1), st.just(2), st.just(1), LINES, LINES, HOSTILE, LINES)
STEPS = st.builds(
    GraphStep, st.just(1), ROWS, st.just(1), st.just(0), st.tuples(EDGES), HOSTILE, HOSTILE, HOSTILE
)


@settings(max_examples=25)
@given(ROWS, st.lists(STEPS, min_size=1, max_size=3), st.sampled_from(["callers", "impact", "path"]))
def test_answers_of_the_graph_are_harmless(seed: Row, steps: list[GraphStep], relation: str) -> None:
    steps = [
        replace(step, number=at + 1, symbol=step.symbol._replace(row=at + 2)) for at, step in enumerate(steps)
    ]
    answer = GraphAnswer(relation, (seed,), tuple(steps), len(steps), 1, 1, steps[0].references)
    answer = replace(answer, total_by_depth=(len(steps),))
    assert is_harmless(OWN.sub("", render_graph(answer, COLOURS)), "\n")


def test_paths_of_a_corpus_open_nothing_elsewhere(tmp_path: Path) -> None:
    indented = "    def f(): pass\n"
    root = write_tree(tmp_path / "root", {"a.py": indented, "d/b.py": indented})
    write_tree(tmp_path, {"x.py": indented})
    (root / "linked").symlink_to(tmp_path)
    files = SourceFiles(root)
    for path in (f"{tmp_path}/x.py", "../x.py", "d/../../x.py", "linked/x.py", "a\0b", "", ".", "d//b.py"):
        assert files.line(path, 1) == ""
        assert link("shown", root, path) == "shown"
    assert files.line("d/b.py", 1) == indented.rstrip()


def test_matches_of_a_long_line_take_linear_space() -> None:
    def characters(count: int) -> int:
        line = LineMatch(1, "é1234" * count, tuple((5 * at + 1, 5 * at + 2) for at in range(count)))
        locations = list(match_locations("a.py", line))
        assert [each.column for each in locations] == [6 * at + 3 for at in range(len(locations))]
        return sum(len(each.text) for each in locations)

    assert characters(200) < 300_000
    assert characters(100_000) <= 2 * characters(2_000)
