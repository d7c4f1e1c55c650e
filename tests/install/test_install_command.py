"""What a user sees: the list, the section for agents, and mistakes that are told."""

from __future__ import annotations

import json

import pytest

from dowse.install.clients import CLIENTS
from dowse.install.section import BEGIN, END
from dowse.interfaces.cli.main import main


def test_the_list_says_what_is_where(home, capsys):
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text("{")
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text("{}")
    assert main(["install", "claude"]) == 0
    capsys.readouterr()
    assert main(["install", "--list", "--json", "--project", "elsewhere"]) == 0
    rows = {(row["client"], row["scope"]): row for row in json.loads(capsys.readouterr().out)}
    assert rows["claude", "user"]["state"] == "installed"
    assert rows["claude", "project"]["state"] == "no file"
    assert rows["claude", "project"]["file"] == "elsewhere/.mcp.json"
    assert rows["cursor", "user"]["state"] == "damaged"
    assert rows["gemini", "user"]["state"] == "not installed"
    assert {client for client, _ in rows} == set(CLIENTS)
    assert main(["install", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(rows)
    assert lines[0].split() == ["claude", "user", "installed", "~/.claude.json"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "name a client"),
        (["emacs"], "there is no client `emacs`; there are claude,"),
        (["claude", "--project", "nowhere"], "nowhere is no folder"),
        (["windsurf", "--project"], "Windsurf has no file for a project"),
        (["--agents-md", "claude"], "`claude` is a client"),
    ],
)
def test_mistakes_are_told(home, capsys, arguments, told):
    assert main(["install", *arguments]) == 2
    assert told in capsys.readouterr().err
    assert not list(home.iterdir())


def test_what_to_paste_is_printed(home, capsys):
    assert main(["install", "--print", "--command", "uvx dowse"]) == 0
    entry = {"command": "uvx", "args": ["dowse", "mcp"]}
    assert json.loads(capsys.readouterr().out) == {"mcpServers": {"dowse": entry}}
    assert main(["install", "codex", "--print", "--command", "uvx dowse"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "+++ ~/.codex/config.toml" and '+command = "uvx"' in lines
    assert not list(home.iterdir())


def test_another_server_of_that_name_is_not_touched(home, capsys):
    text = '{"mcpServers": {"dowse": {"type": "http", "url": "https://example.com/mcp"}}}'
    (home / ".claude.json").write_text(text)
    assert main(["install", "claude"]) == 2
    assert "--name" in capsys.readouterr().err
    assert (home / ".claude.json").read_text() == text
    assert main(["install", "claude", "--name", "code"]) == 0
    assert json.loads((home / ".claude.json").read_text())["mcpServers"]["code"]["args"] == ["mcp"]


@pytest.mark.parametrize("text", ["# Rules\n\nBe brief.\n", "a\r\nb\r\n", "# A\n\n\n"])
def test_a_section_for_agents(home, text):
    path = home / "AGENTS.md"
    path.write_bytes(text.encode())
    assert main(["install", "--agents-md"]) == 0
    new = path.read_bytes().decode()
    assert new.startswith(text) and new.count(BEGIN) == new.count(END) == 1
    assert "dowse search" in new
    if "\r\n" in text:
        assert "\n" not in new.replace("\r\n", "")
    assert main(["install", "--agents-md"]) == 0
    assert path.read_bytes().decode() == new
    assert main(["install", "--agents-md", "--uninstall"]) == 0
    assert path.read_bytes() == text.encode()


def test_a_new_file_of_instructions_goes_as_it_came(home):
    assert main(["install", "claude", "--agents-md", "notes/AGENTS.md"]) == 0
    assert (home / "notes" / "AGENTS.md").is_file() and (home / ".claude.json").is_file()
    assert main(["install", "claude", "--uninstall", "--agents-md", "notes/AGENTS.md"]) == 0
    assert not [path for path in home.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"a\n{BEGIN}\n", 2),
        (f"{END}\n", 1),
        (f"{END}\n{BEGIN}\n", 2),
        (f"{BEGIN}\n{END}\n{BEGIN}\n{END}\n", 3),
    ],
)
def test_damaged_marks_are_told(home, capsys, text, line):
    (home / "AGENTS.md").write_text(text)
    for flags in ([], ["--uninstall"]):
        assert main(["install", "--agents-md", *flags]) == 2
        assert f"AGENTS.md, line {line}, column 1: " in capsys.readouterr().err
        assert (home / "AGENTS.md").read_text() == text
