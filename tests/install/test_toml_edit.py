"""TOML as it is written by hand: every way to write a table, and nothing lost."""

from __future__ import annotations

import copy
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.install.editing import EditError
from dowse.install.toml_edit import get_entry, remove_entry, set_entry

ENTRY = {"command": 'C:\\bin\\"dowse"', "args": ["mcp", "--watch"]}
KEYS = ("mcp_servers", "dowse")
# Statements that may stand at the top, and tables; each can be there once.
TOP = [
    'model = "gpt-5"  # [mcp_servers.dowse]',
    "literal = '[mcp_servers.dowse]'",
    'long = """\n[mcp_servers.dowse]\ncommand = "no"\n"quoted""\\"""""',
    "raw = '''\n[mcp_servers.dowse]'''''",
    'list = [\n  "a", # ]\n  [1, 2],\n  { x = "}" },\n]',
    "day = 1979-05-27T07:32:00Z",
    "number = 0x1f",
    "# a comment of its own",
    "",
    'dotted."key with = and #".last = true',
]
TABLES = [
    '[tui]\ntheme = "dark"\n',
    '[mcp_servers.docs]\ncommand = "npx"\nargs = [\n  "-y", # why\n]\n',
    '[mcp_servers.docs.env]\n"API KEY" = "x"\n',
    '[[profiles]]\nname = "a"\n[[profiles]]\nname = "b"',
    '[ projects . "/home/ada/my engine" ]  # spaces\ntrust = "yes"\n\n\n',
    "[mcp_servers]\n# none here\n",
]


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Some of the statements in some order, as lines of one kind."""
    top = draw(st.lists(st.sampled_from(TOP), unique=True))
    tables = draw(st.lists(st.sampled_from(TABLES), unique=True))
    # The table itself must be named before those below it.
    tables.sort(key=lambda table: table.startswith("[mcp_servers.docs.env"))
    text = "\n".join([*top, *tables])
    text += draw(st.sampled_from(["", "\n"]))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from(["", "\ufeff"])) + text


def data_of(text: str) -> dict:
    return tomllib.loads(text.removeprefix("\ufeff"))


def with_entry(text: str, entry: dict) -> dict:
    expected = copy.deepcopy(data_of(text))
    expected.setdefault("mcp_servers", {}).setdefault("dowse", {}).update(entry)
    return expected


def lines_of(text: str) -> list[str]:
    """Return the lines in any order: tomlkit may move a table to others of its name."""
    return sorted(filter(None, text.splitlines()))


@given(documents())
def test_an_entry_is_added_and_all_else_stays(text):
    new = set_entry(text, KEYS, ENTRY)
    assert data_of(new) == with_entry(text, ENTRY)
    assert new.startswith(text)
    assert set_entry(new, KEYS, ENTRY) == new
    if "\r\n" in text:
        assert "\n" not in new[len(text) :].replace("\r\n", "")


@given(documents())
def test_an_entry_is_changed_and_removed(text):
    after = "\n[after]\nx = 1\n".replace("\n", "\r\n" if "\r\n" in text else "\n")
    new = set_entry(text, KEYS, ENTRY) + after
    changed = set_entry(new, KEYS, {"command": "other", "timeout": 3})
    assert data_of(changed) == with_entry(new, {"command": "other", "timeout": 3})
    gone = remove_entry(changed, KEYS)
    assert "dowse" not in data_of(gone).get("mcp_servers", {})
    assert lines_of(gone) == lines_of(text + "\n" + after)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '[mcp_servers.dowse]\ncommand = "old" # mine\n# why\nargs = [\n  "mcp",\n]\nstartup = 9\n',
            '[mcp_servers.dowse]\ncommand = "new" # mine\n# why\nargs = [\n  "mcp",\n]\nstartup = 9\n',
        ),
        (
            '[mcp_servers.dowse]\ncommand = "new"\n\n# about a\n[a]\n',
            '[mcp_servers.dowse]\ncommand = "new"\nargs = ["mcp"]\n\n# about a\n[a]\n',
        ),
        (
            '[mcp_servers]\ndowse = { command = "old", env = { A = "1" } }\n',
            '[mcp_servers]\ndowse = { command = "new", env = { A = "1" }, args = ["mcp"] }\n',
        ),
        (
            'mcp_servers.dowse.command = "old"\nmcp_servers.dowse.args = []\n',
            'mcp_servers.dowse.command = "new"\nmcp_servers.dowse.args = ["mcp"]\n',
        ),
    ],
)
def test_an_entry_is_changed_in_the_way_it_is_written(text, expected):
    assert set_entry(text, KEYS, {"command": "new", "args": ["mcp"]}) == expected


def test_an_entry_of_an_inline_table_is_removed():
    text = "y = 1 # why\nmcp_servers = { a = { x = 1 }, dowse = { x = 2 } }\n"
    assert data_of(remove_entry(text, KEYS)) == {"y": 1, "mcp_servers": {"a": {"x": 1}}}


def test_an_entry_goes_with_the_tables_below_it_and_comments_behind_it_stay():
    text = (
        "a = 1\n\n# before\n[mcp_servers.dowse]\n# inside\ncommand = 'x'\n[mcp_servers.dowse.env]\nA = '1'\n"
        "\n# about b\n[b]\nx = 1\n"
    )
    assert remove_entry(text, KEYS) == "a = 1\n\n# before\n\n# about b\n[b]\nx = 1\n"


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("a = 1\nb = \n", 2, "not TOML"),
        ("a = 1\na = 2\n", 2, "not TOML"),
        ("[t\nx = 1", 1, "not TOML"),
        ("<<<<<<< HEAD\n", 1, "not TOML"),
        ("x = 1\nmcp_servers = 3\n", 2, "must be a table"),
        ("mcp_servers = { a = { command = 'x' } }\n", 1, "by hand"),
    ],
)
def test_damage_is_told_with_its_line(text, line, problem):
    with pytest.raises(EditError, match=problem) as told:
        set_entry(text, KEYS, ENTRY)
    assert told.value.line == line


def test_names_that_need_quotes():
    new = set_entry("\ufeff", ("mcp_servers", "my dowse"), {"command": "x\x7fé\n"})
    assert get_entry(new, ("mcp_servers", "my dowse")) == {"command": "x\x7fé\n"}
    assert remove_entry(new, ("mcp_servers", "my dowse")) == "\ufeff"
