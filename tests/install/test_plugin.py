"""The plugin for Claude Code, and the hooks that it runs."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.interfaces.cli.hook_command import suggestion
from dowse.interfaces.cli.main import main
from dowse.version import __version__

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("pattern", "is_concept"),
    [
        ("where sessions expire", True),
        ("login|signin|authenticate", True),
        (r"retry\s+policy", True),
        ("save_session", False),
        (r"def \w+\(", False),
        ("TODO", False),
        ("import os$", False),
        ("self.items", False),
        ("", False),
        ("a" * 100_000, False),
    ],
)
def test_only_words_for_a_concept_get_a_hint(pattern, is_concept):
    assert bool(suggestion(json.dumps({"tool_input": {"pattern": pattern}}))) is is_concept


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ('grep -rn "where sessions expire" src | head', "where sessions expire"),
        ("cd src && rg -i -A 3 --type py 'login|signin'", "login signin"),
        (r"git grep -e 'retry\s+policy' -- src", "retry policy"),
        (r"grep -rE --include '*.py' 'open\|close' .", "open close"),
        ("find . -name '*.py' | xargs grep 'expired session'", "expired session"),
        ("find src -type f -iname '*session*cookie*'", "session cookie"),
        ("/usr/bin/grep -r 'clean up' .", "clean up"),
        ("grep -rn save_session src", ""),
        ("rg 'def \\w+\\('", ""),
        ("find . -name '*.py'", ""),
        ("find . -name conftest.py", ""),
        ("git commit -m 'grep for words of people'", ""),
        ("echo 'two words' > file", ""),
        ("grep 'not closed", ""),
        ("grep", ""),
    ],
)
def test_greps_in_a_shell_get_the_hint_too(command, words):
    answer = suggestion(json.dumps({"tool_input": {"command": command}}))
    assert (
        (f'"{words}"' in json.loads(answer)["hookSpecificOutput"]["additionalContext"])
        if words
        else not answer
    )


@given(st.text(max_size=60) | st.recursive(st.none() | st.text(), st.lists, max_leaves=3).map(json.dumps))
def test_a_hook_never_fails(message):
    for given_message in (message, json.dumps({"tool_input": {"command": message}})):
        answer = suggestion(given_message)
        assert answer == "" or json.loads(answer)


def test_the_hook_is_in_no_list(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert " hook " not in capsys.readouterr().out
    assert main(["hook", "what"]) == 2
    assert "session-start or grep" in capsys.readouterr().err


def test_the_plugin_runs_commands_that_exist(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("{}"))
    (plugin,) = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())["plugins"]
    folder = ROOT / plugin["source"]
    about = json.loads((folder / ".claude-plugin" / "plugin.json").read_text())
    assert (about["name"], about["version"]) == (plugin["name"], __version__)
    server = json.loads((folder / ".mcp.json").read_text())["mcpServers"]["dowse"]
    assert server == {"command": "dowse", "args": ["mcp"], "alwaysLoad": True}
    hooks = json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"]
    assert hooks["PreToolUse"][0]["matcher"] == "Grep|Bash"
    for event in hooks.values():
        for hook in event[0]["hooks"]:
            program, *words = hook["command"].split()
            assert program == "dowse" and main(words) == 0
    for name in ("skills/dowse/SKILL.md", "agents/dowse.md"):
        assert (folder / name).read_text().startswith("---\nname: dowse\ndescription: ")
