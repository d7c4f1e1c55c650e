"""What people know from grep, ripgrep and git: flags, snippets and scores."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.formats.snippets import Window, definition_line, snippet, with_gaps
from dowse.formats.text import format_score
from dowse.interfaces.cli.main import COMMANDS, main
from dowse.types import Hit, Symbol

Search = Callable[..., str]


@pytest.fixture
def search(capsys: pytest.CaptureFixture[str], sample: Path, sample_index) -> Search:
    """Search the sample in this process; returns the output."""

    def command(query: str, *flags: object) -> str:
        place = [str(sample), "--index-dir", str(sample_index.backend.folder)]
        main(["search", query, *place, *map(str, flags)])
        return capsys.readouterr().out

    return command


# Flags


def test_globs_with_and_without_a_bang(search):
    assert set(search("order", "-g", "*.ts", "-l").split()) == {"web/api.ts"}
    assert set(search("order", "-g", "web/**", "-l", "-g", "!*.js").split()) == {"web/api.ts"}
    assert "web/api.ts" not in search("order", "--glob", "!*.ts", "-l", "-k", 100).split()


def test_ignored_case(search):
    assert not search('"Parse_Order"', "-l") and not search("/Parse_Order/", "-l")
    assert "src/bakery/orders.py" in search('"Parse_Order"', "-l", "-i").split()
    assert "src/bakery/orders.py" in search("/Parse_Order/", "-l", "--ignore-case").split()


def numbers(text: str) -> list[int]:
    return [int(line[:6]) for line in text.splitlines() if line[:6].strip().isdigit()]


@pytest.mark.parametrize(
    ("flags", "lines"),
    [
        (("-A", 2), [38, 39, 40]),
        (("-B", 1), [37, 38]),
        (("-C", 1), [37, 38, 39]),
        (("-C", 2, "-A", 0), [36, 37, 38]),
        (("-C", 0), [38]),
    ],
)
def test_lines_around_a_match(search, sample, flags, lines):
    out = search("/def retry_\\w+/", *flags)
    assert numbers(out) == lines
    source = (sample / "src/bakery/orders.py").read_text().splitlines()
    assert [line[8:] for line in out.splitlines()[1:-1]] == [source[number - 1] for number in lines]


def test_lines_around_the_best_line_of_a_ranked_hit(search):
    out = search("loaves and their number", "-k", 1, "-C", 1, "-g", "orders.py", "--kind", "function")
    assert numbers(out) == [27, 33, 34, 35] and out.splitlines()[2].strip() == "⋮"


def test_a_count_for_each_file(search, sample):
    counted = dict(line.rsplit(":", 1) for line in search("/order/i", "-c").splitlines())
    for path, count in counted.items():
        source = (sample / path).read_text(errors="replace")
        assert int(count) == sum("order" in line.lower() for line in source.splitlines())
    assert len(counted) == len(search("/order/i", "-k", 0, "-l").splitlines())


# Snippets


@st.composite
def symbols(draw: st.DrawFn) -> Symbol:
    before = draw(st.lists(st.sampled_from(["# about f", "@cache", "", "# words"]), max_size=8))
    body = draw(st.lists(st.sampled_from(["    call(words)", "", "    return f", "    x = 1"]), max_size=12))
    lines = [*before, "def f(a):", *body]
    first = draw(st.integers(1, 500))
    last = first + len(lines) - 1
    code = "\n".join(lines)
    lines_at = tuple(range(first, last + 1))
    return Symbol(
        "i", "r", "p.py", "python", "function", "f", "f", first, last, "def f(a)", "", code, "", lines_at
    )


@given(symbols(), st.integers(1, 8))
def test_a_snippet_has_the_definition_and_marks_what_it_skips(symbol, count):
    lines = snippet(
        Hit(1, 1.0, symbol), frozenset(["word"]), Window(count), lambda text: text.split("words")[1:]
    )
    assert "def f(a):" in [text for _, text in lines]
    assert len(lines) <= count and lines == sorted(lines)
    by_number = dict(symbol.numbered_lines)
    shown = with_gaps(lines, symbol)
    for at, line in enumerate(shown):
        if line is None:
            between = range(shown[at - 1][0] + 1, shown[at + 1][0])
            assert any(by_number[number].strip() for number in between)
    numbers = [line[0] for line in shown if line]
    assert all(by_number[number] == text for number, text in lines)
    gaps = sum(any(by_number[n].strip() for n in range(a + 1, b)) for a, b in pairwise(numbers))
    assert gaps == shown.count(None)


def test_documentation_with_the_name_is_no_definition(sample_index):
    (hit,) = sample_index.search("Preheat", k=1).hits
    lines = hit.symbol.numbered_lines
    assert lines[0][1].startswith("// Preheat warms")
    assert lines[definition_line(hit.symbol, lines)][1].startswith("func (o *Oven) Preheat(")


@given(st.floats(1e-6, 1e6))
def test_scores_have_two_significant_digits(score):
    shown = format_score(score)
    assert float(shown) == pytest.approx(score, rel=0.051)
    assert "e" not in shown and len(shown.replace(".", "").lstrip("0")) == max(
        2, len(shown.partition(".")[0])
    )


# Help


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    with pytest.raises(SystemExit) as left:
        main([command, "--help"])
    assert left.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: dowse {command} [OPTION ...]")


@pytest.mark.parametrize(
    "arguments", [("search", "-x1"), ("callers",), ("eval", "--nope"), ("feedback", "nope")]
)
def test_errors_show_the_usage_of_the_command(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    usage, error = capsys.readouterr().err.splitlines()
    assert left.value.code == 2
    assert usage.startswith(f"usage: dowse {arguments[0]} [OPTION ...]") and error.startswith("dowse: ")


def test_an_unknown_command(capsys):
    for arguments, remedy in ((["serach", "x"], "`dowse search x`"), (["zzz", "q"], "`dowse search zzz q`")):
        with pytest.raises(SystemExit):
            main(arguments)
        assert remedy in capsys.readouterr().err
