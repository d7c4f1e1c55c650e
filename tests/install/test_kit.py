"""The plugin for Claude Code, and the hooks that it runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.install.kit import marketplace_file, plugin_files
from dowse.interfaces.cli.hook_command import suggestion
from dowse.interfaces.cli.main import main

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


def test_the_plugin_folder_is_up_to_date():
    """After a change: write `plugin_files()` and `marketplace_file()` there again."""
    folder = ROOT / "plugins" / "dowse"
    found = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
    assert found == plugin_files()
    assert (ROOT / ".claude-plugin" / "marketplace.json").read_text() == marketplace_file()
    assert (folder.parent.parent / json.loads(marketplace_file())["plugins"][0]["source"]).is_dir()
