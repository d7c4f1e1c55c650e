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


@given(st.text(max_size=60) | st.recursive(st.none() | st.text(), st.lists, max_leaves=3).map(json.dumps))
def test_a_hook_never_fails(message):
    answer = suggestion(message)
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
    assert json.loads((folder / ".mcp.json").read_text())["mcpServers"]["dowse"]["args"] == ["mcp"]
    hooks = json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"]
    for event in hooks.values():
        for hook in event[0]["hooks"]:
            program, *words = hook["command"].split()
            assert program == "dowse" and main(words) == 0
    for name in ("skills/dowse/SKILL.md", "agents/dowse.md"):
        assert (folder / name).read_text().startswith("---\nname: dowse\ndescription: ")
