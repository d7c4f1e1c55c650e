"""A skill, a sub-agent and hooks: installed beside the server, run, and removed with every byte restored."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dowse.install.clients import CLIENTS
from dowse.install.kit import marketplace_file, plugin_files
from dowse.interfaces.cli.hook_command import suggestion
from dowse.interfaces.cli.main import main

ROOT = Path(__file__).parents[2]
DOWSE = [sys.executable, "-m", "dowse.interfaces.cli.main"]
ALL = "skill,agent,hooks"


def snapshot(folder: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize("project", [[], ["--project"]])
def test_all_parts_come_and_go(home, capsys, project):
    (home / ".claude").mkdir()
    settings = home / ".claude" / "settings.json"
    settings.write_text('{\n  "hooks": {"PreToolUse": []},\n  "model": "opus"\n}\n')
    before = snapshot(home)
    assert main(["install", "claude", *project, "--with", ALL]) == 0
    for name in ("skills/dowse/SKILL.md", "agents/dowse.md"):
        text = (home / ".claude" / name).read_text()
        front = yaml.safe_load(text.split("---\n")[1])
        assert front["name"] == "dowse" and len(front["description"]) < 1_024 and "dowse search" in text
    hooks = json.loads(settings.read_text())["hooks"]
    command = hooks["PreToolUse"][0]["hooks"][0]["command"]
    assert hooks["PreToolUse"][0]["matcher"] == "Grep" and command.endswith("dowse hook grep")
    assert command.startswith("/") is not bool(project)
    written = snapshot(home)
    assert main(["install", "claude", *project, "--with", ALL]) == 0
    assert snapshot(home) == written
    assert main(["install", "claude", *project, "--uninstall"]) == 0
    assert snapshot(home) == before
    assert main(["install", "claude", *project, "--uninstall"]) == 1


@pytest.mark.parametrize("name", [name for name, client in CLIENTS.items() if "skill" in client.parts])
@pytest.mark.parametrize("project", [[], ["--project"]])
def test_every_skill_has_its_place(home, name, project):
    assert main(["install", name, *project, "--with", "skill"]) == 0
    (skill,) = home.rglob("SKILL.md")
    assert skill.parent.name == "dowse" and skill.parent.parent.name == "skills"
    assert main(["install", name, *project, "--uninstall"]) == 0
    assert not list(home.iterdir())


def test_folders_that_a_variable_names(home, tmp_path, monkeypatch):
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    assert main(["install", "claude", "codex", "--with", "skill"]) == 0
    assert (tmp_path / "CLAUDE_CONFIG_DIR" / "skills" / "dowse" / "SKILL.md").is_file()
    assert (home / ".agents" / "skills" / "dowse" / "SKILL.md").is_file()


def test_what_others_wrote_stays(home, capsys):
    skill = home / ".claude" / "skills" / "dowse" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("mine\n")
    assert main(["install", "claude", "--with", "skill,agent"]) == 2
    assert "not from dowse" in capsys.readouterr().err and skill.read_text() == "mine\n"
    assert (home / ".claude" / "agents" / "dowse.md").is_file()
    assert main(["install", "claude", "--uninstall"]) == 0
    assert skill.read_text() == "mine\n"


def test_mistakes_are_told(home, capsys):
    assert main(["install", "claude", "--with", "skil"]) == 2
    assert "--with is a list of skill, agent, hooks" in capsys.readouterr().err
    assert main(["install", "zed", "--with", "hooks"]) == 0
    assert "Zed has no file for hooks" in capsys.readouterr().err


def test_a_link_out_of_the_project_is_refused(home, tmp_path, capsys):
    (tmp_path / "outside").mkdir()
    (home / ".claude").symlink_to(tmp_path / "outside")
    assert main(["install", "claude", "--project", "--with", ALL]) == 2
    assert "leads out of" in capsys.readouterr().err
    assert not list((tmp_path / "outside").iterdir())


@pytest.mark.parametrize(("answer", "parts"), [("y", 3), ("", 0), ("skill, hooks", 2)])
def test_parts_are_asked_for_on_a_terminal(home, answer, parts):
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [*DOWSE, "install", "claude"], stdin=terminal, stdout=terminal, stderr=terminal
    )
    os.close(terminal)
    os.write(controller, f"{answer}\n".encode())
    assert process.wait(60) == 0
    os.close(controller)
    names = ("skills/dowse/SKILL.md", "agents/dowse.md", "settings.json")
    assert sum((home / ".claude" / name).is_file() for name in names) == parts


def test_hooks_run_as_clients_run_them(home):
    assert main(["install", "claude", "--with", "hooks"]) == 0
    hooks = json.loads((home / ".claude" / "settings.json").read_text())["hooks"]

    def run(event: str, message: dict) -> str:
        command = hooks[event][0]["hooks"][0]["command"]
        done = subprocess.run(
            command, shell=True, input=json.dumps(message), capture_output=True, text=True, check=True
        )
        assert not done.stderr
        return done.stdout

    start = run("SessionStart", {"hook_event_name": "SessionStart", "source": "startup"})
    assert len(start.splitlines()) == 2 and "dowse" in start
    output = json.loads(
        run("PreToolUse", {"tool_name": "Grep", "tool_input": {"pattern": "expired.*session"}})
    )
    specific = output["hookSpecificOutput"]
    assert specific["hookEventName"] == "PreToolUse" and '"expired session"' in specific["additionalContext"]
    assert "permissionDecision" not in specific


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
