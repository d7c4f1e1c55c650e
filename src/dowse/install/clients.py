"""MCP clients: the file in which each keeps its servers, and the form of an entry."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dowse.lazy_classes import dataclass, field


@dataclass(frozen=True, slots=True)
class Client:
    """A program that uses MCP servers."""

    name: str
    title: str
    # The file of a user, below a folder of `_FOLDERS`, and that of a project below its root, if there is one.
    # Of several names the first that exists counts, else the first.
    user: Sequence[str]
    project: Sequence[str] = ()
    keys: tuple[str, ...] = ("mcpServers",)  # the object that holds its servers
    fields: Mapping[str, Any] = field(default_factory=dict)  # of an entry, in their order
    variable: str = ""  # the environment variable that names another folder for the file of a user
    format: str = "json"  # with comments and trailing commas, or "toml"
    newer: str = ""  # an object below `keys` in the newer form of the client's file

    def file(self, project: Path | None) -> Path | None:
        """Return the file of the user, or that of a project; None where the client has no such file."""
        paths = (
            [project / name for name in self.project] if project else list(map(self._user_path, self.user))
        )
        return next((path for path in paths if path.exists()), paths[0] if paths else None)

    def entry(self, command: Sequence[str]) -> dict[str, Any]:
        """Return the entry of a server that a command starts."""
        if self.fields.get("command") == []:
            return {**self.fields, "command": list(command)}
        return {**self.fields, "command": command[0], "args": list(command[1:])}

    def _user_path(self, name: str) -> Path:
        folder, _, file = name.partition("/")
        path = _FOLDERS[folder]() / file
        other = os.environ.get(self.variable) if self.variable else ""
        return Path(other, path.name) if other else path


def server_command(
    *,
    command: str = "",
    repositories: Sequence[str] = (),
    watch: bool = False,
    shared: bool = False,
) -> list[str]:
    """Return the command that starts the server, as a list of words.

    Args:
        command: What to run instead of this installation, e.g. `uvx dowse`.
        repositories: The repositories to serve if the client names none.
        watch: Whether the server updates its indexes while files change.
        shared: Whether other people read the file too, so that it must not name a path of this machine.
    """
    paths = [str(Path(path).expanduser().absolute()) for path in repositories]
    flags = ["--watch"] if watch else []
    start = shlex.split(command) if command else ["dowse"] if shared else _this_installation()
    return [*start, "mcp", *flags, *paths]


def _this_installation() -> list[str]:
    """Return this installation as an absolute path: desktop programs do not have the PATH of the shell."""
    beside = shutil.which("dowse", path=str(Path(sys.executable).parent))
    executable = beside or shutil.which("dowse")
    if executable:
        return [str(Path(executable).absolute())]
    return [sys.executable, "-m", "dowse.interfaces.cli.main"]


def _config_folder() -> Path:
    """Return ~/.config, for programs that use it on every system."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


def _application_folder() -> Path:
    """Return the folder for settings of desktop programs on this system."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    return _config_folder()


_FOLDERS = {"~": Path.home, "CONFIG": _config_folder, "APPLICATION": _application_folder}
# The settings of Zed are in ~/.config on macOS too.
_ZED = "APPLICATION/Zed" if sys.platform == "win32" else "CONFIG/zed"
_STDIO = {"type": "stdio"}

# As the documentation of each client has it.
_ALL = (
    Client(
        "claude",
        "Claude Code",
        ["~/.claude.json"],
        [".mcp.json"],
        # Its tools are in the list from the beginning: agents do not call what they do not see.
        fields={**_STDIO, "alwaysLoad": True},
        variable="CLAUDE_CONFIG_DIR",
    ),
    Client(
        "codex",
        "Codex",
        ["~/.codex/config.toml"],
        [".codex/config.toml"],
        ("mcp_servers",),
        variable="CODEX_HOME",
        format="toml",
    ),
    Client(
        "copilot",
        "GitHub Copilot CLI",
        ["~/.copilot/mcp-config.json"],
        fields={"type": "local", "tools": ["*"], "deferTools": "never"},
        variable="COPILOT_HOME",
    ),
    Client(
        "cursor",
        "Cursor",
        ["~/.cursor/mcp.json"],
        [".cursor/mcp.json"],
    ),
    Client(
        "gemini",
        "Gemini CLI",
        ["~/.gemini/settings.json"],
        [".gemini/settings.json"],
    ),
    Client(
        "vscode",
        "Visual Studio Code",
        ["APPLICATION/Code/User/mcp.json"],
        [".vscode/mcp.json"],
        ("servers",),
        _STDIO,
    ),
    Client(
        "zed",
        "Zed",
        [f"{_ZED}/settings.json"],
        [".zed/settings.json"],
        ("context_servers",),
        {"source": "custom"},
    ),
    Client("windsurf", "Windsurf", ["~/.codeium/windsurf/mcp_config.json"]),
    Client(
        "opencode",
        "OpenCode",
        ["CONFIG/opencode/opencode.json", "CONFIG/opencode/opencode.jsonc"],
        ["opencode.json", "opencode.jsonc"],
        ("mcp",),
        {"type": "local", "command": []},  # with its arguments
        newer="servers",
    ),
    Client(
        "cline",
        "Cline",
        [
            "~/.cline/data/settings/cline_mcp_settings.json",
            # Where the extension of Visual Studio Code has kept it until it shared settings with the CLI.
            "APPLICATION/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ],
    ),
    # It reads each JSON file of the folder, in the form of Claude Desktop.
    Client(
        "continue", "Continue", ["~/.continue/mcpServers/dowse.json"], [".continue/mcpServers/dowse.json"]
    ),
)
CLIENTS = {client.name: client for client in _ALL}
