"""Each client's own configuration, as people have it: added, added again, taken out, every byte kept."""

from __future__ import annotations

import copy
import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from dowse.install import json_edit, toml_edit
from dowse.install.clients import CLIENTS
from dowse.install.jsonc import parse
from dowse.interfaces.cli.main import main

SAMPLES = Path(__file__).parent / "samples"
NAMES = sorted(path.stem for path in SAMPLES.iterdir())
# How an entry looks in each client's documentation.
COMMAND = {"command": "uvx", "args": ["dowse", "mcp"]}
ENTRIES = {
    "claude": {"type": "stdio", "alwaysLoad": True, **COMMAND},
    "copilot": {"type": "local", "tools": ["*"], "deferTools": "never", **COMMAND},
    "vscode": {"type": "stdio", **COMMAND},
    "zed": {"source": "custom", **COMMAND},
    "opencode": {"type": "local", "command": ["uvx", "dowse", "mcp"]},
}
KEYS = {
    "codex": "mcp_servers",
    "vscode": "servers",
    "zed": "context_servers",
    "opencode": "mcp",
}
FILES = {
    "claude": ".claude.json",
    "codex": ".codex/config.toml",
    "copilot": ".copilot/mcp-config.json",
    "cursor": ".cursor/mcp.json",
    "gemini": ".gemini/settings.json",
    "vscode": ".config/Code/User/mcp.json",
    "zed": ".config/zed/settings.json",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "opencode": ".config/opencode/opencode.json",
    "cline": ".cline/data/settings/cline_mcp_settings.json",
    "continue": ".continue/mcpServers/dowse.json",
}
EDITORS = {"codex": toml_edit}
# What another program writes at the end of a file.
LATER = {"codex": "\n[later]\nx = 1\n"}


@pytest.fixture
def config(request: pytest.FixtureRequest, home: Path) -> Path:
    """A client's sample in that client's place, only its owner may read it."""
    name = request.node.callspec.params["name"]
    path = home / FILES[name]
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(next(SAMPLES.glob(f"{name}.*")), path)
    path.chmod(0o600)
    return path


def install(*arguments: str) -> int:
    return main(["install", *arguments, "--command", "uvx dowse"])


def read(text: str, name: str) -> dict:
    """Read a file without our parser: comments and trailing commas of the samples are plain to see."""
    if name == "codex":
        return tomllib.loads(text)
    text = re.sub(r"(?:^|(?<=[,}\]]))[ \t]*//[^\n]*|/\*[\s\S]*?\*/", "", text, flags=re.MULTILINE)
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", text))


def is_kept(old: str, new: str) -> bool:
    """Whether every character of the old text is in the new one, in this order."""
    rest = iter(new)
    return all(character in rest for character in old)


def test_every_client_has_a_sample():
    assert set(NAMES) == set(CLIENTS)


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_is_added_and_nothing_else_is_changed(name, config):
    old = config.read_bytes().decode()
    assert install(name) == 0
    new = config.read_bytes().decode()
    expected = copy.deepcopy(read(old, name))
    expected.setdefault(KEYS.get(name, "mcpServers"), {})["dowse"] = ENTRIES.get(name, COMMAND)
    assert read(new, name) == expected
    assert is_kept(old, new)
    assert config.stat().st_mode & 0o777 == 0o600
    comments = [line.strip() for line in old.splitlines() if "//" in line or "#" in line]
    assert all(line in new for line in comments if not line.endswith("no comma here"))


@pytest.mark.parametrize("name", NAMES)
def test_a_second_time_changes_nothing(name, config):
    assert install(name) == 0
    before, written = config.read_bytes(), config.stat().st_mtime_ns
    assert install(name) == 0
    assert (config.read_bytes(), config.stat().st_mtime_ns) == (before, written)


def left(config: Path, name: str) -> dict:
    """Return what a file says besides that there are no servers; nothing if there is no file."""
    data = read(config.read_text(), name) if config.exists() else {}
    return {key: value for key, value in data.items() if value != {}}


@pytest.mark.parametrize("name", NAMES)
def test_taken_out_the_bytes_are_what_they_were(name, config):
    old = config.read_bytes()
    assert install(name) == 0
    assert config.read_bytes() != old
    assert main(["install", name, "--uninstall"]) == 0
    assert config.read_bytes() == old


@pytest.mark.parametrize("name", NAMES)
def test_taken_out_the_rest_is_what_it_was(name, config):
    """Also after another command took its place, and after others wrote to the file, as Claude Code does."""
    old, data = config.read_text(), left(config, name)
    assert install(name) == 0
    assert main(["install", name, "--command", "/opt/dowse", "--watch"]) == 0
    text = config.read_text()
    assert "uvx" not in text.replace(old, "")
    assert "/opt/dowse" in text and "--watch" in text and text.count('"dowse"') <= 1
    config.write_text(text + LATER.get(name, "\n// later\n"))
    assert main(["install", name, "--uninstall"]) == 0
    assert left(config, name) == {**data, **({"later": {"x": 1}} if name in LATER else {})}
    assert main(["install", name, "--uninstall"]) == 1  # nothing there to take out


@pytest.mark.parametrize("name", NAMES)
def test_what_the_owner_added_to_the_entry_stays(name, config):
    keys = (KEYS.get(name, "mcpServers"), "dowse")
    editor = EDITORS.get(name, json_edit)
    assert install(name) == 0
    config.write_text(editor.set_entry(config.read_text(), keys, {"timeout": 7, "tools": ["search"]}))
    assert main(["install", name, "--command", "/opt/dowse"]) == 0
    entry = editor.get_entry(config.read_text(), keys)
    assert entry["timeout"] == 7 and entry["tools"] == ["search"]
    assert "/opt/dowse" in (entry["command"], entry["command"][0])


@pytest.mark.parametrize("name", sorted(CLIENTS))
@pytest.mark.parametrize("project", [[], ["--project"]])
def test_a_file_that_is_not_there_is_made_and_taken_away_again(name, project, home):
    if project and not CLIENTS[name].project:
        assert install(name, *project) == 2
        return
    assert install(name, *project) == 0
    made = [path for path in home.rglob("*") if path.is_file()]
    assert len(made) == 1 and made[0].read_text().endswith("\n")
    if made[0].suffix == ".json":
        assert json.loads(made[0].read_text()) == parse(made[0].read_text()).value
    assert install(name, *project, "--uninstall") == 0
    assert not [path for path in home.rglob("*") if path.is_file()]


def test_a_file_for_everybody_names_no_place_of_this_machine(home):
    assert main(["install", "claude", "codex", "opencode", "--project"]) == 0
    entry = json.loads((home / ".mcp.json").read_text())["mcpServers"]["dowse"]
    assert entry == {"type": "stdio", "alwaysLoad": True, "command": "dowse", "args": ["mcp"]}
    assert (
        tomllib.loads((home / ".codex/config.toml").read_text())["mcp_servers"]["dowse"]["command"] == "dowse"
    )
    assert json.loads((home / "opencode.json").read_text())["mcp"]["dowse"]["command"] == ["dowse", "mcp"]


def test_the_users_file_names_this_very_installation(home):
    assert main(["install", "cursor", "--path", "src/engine", "--watch"]) == 0
    entry = json.loads((home / ".cursor/mcp.json").read_text())["mcpServers"]["dowse"]
    assert Path(entry["command"]).is_absolute() and Path(entry["command"]).is_file()
    assert entry["args"][-3:] == ["mcp", "--watch", str(home / "src/engine")]


def test_an_entry_from_before_is_loaded_at_once_unless_its_owner_says_no(home):
    path = home / ".claude.json"
    for before, after in (({}, True), ({"alwaysLoad": False}, False)):
        entry = {"type": "stdio", "command": "dowse", **before}
        path.write_text(json.dumps({"mcpServers": {"dowse": entry}}))
        assert install("claude") == 0
        assert json.loads(path.read_text())["mcpServers"]["dowse"]["alwaysLoad"] is after


def test_opencode_in_its_newer_form(home):
    (home / "opencode.jsonc").write_text('{\n  "mcp": {\n    "servers": {} // none yet\n  }\n}\n')
    assert install("opencode", "--project") == 0
    found = read((home / "opencode.jsonc").read_text(), "opencode")
    assert found == {"mcp": {"servers": {"dowse": ENTRIES["opencode"]}}}
    assert not (home / "opencode.json").exists()


@pytest.mark.parametrize(
    ("variable", "name", "file"),
    [
        ("CODEX_HOME", "codex", "config.toml"),
        ("CLAUDE_CONFIG_DIR", "claude", ".claude.json"),
        ("COPILOT_HOME", "copilot", "mcp-config.json"),
    ],
)
def test_folders_that_a_variable_names(variable, name, file, home, tmp_path, monkeypatch):
    monkeypatch.setenv(variable, str(tmp_path / "elsewhere"))
    assert install(name) == 0
    assert (tmp_path / "elsewhere" / file).is_file() and not any(home.iterdir())
