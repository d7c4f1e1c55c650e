"""MCP clients: the file in which each keeps its servers, and the form of an entry."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Entry = dict[str, Any]


def _plain(command: Sequence[str]) -> Entry:
    return {"command": command[0], "args": list(command[1:])}


def _stdio(command: Sequence[str]) -> Entry:
    return {"type": "stdio", **_plain(command)}


def _zed(command: Sequence[str]) -> Entry:
    return {"source": "custom", **_plain(command)}


def _opencode(command: Sequence[str]) -> Entry:
    return {"type": "local", "command": list(command)}


def _copilot(command: Sequence[str]) -> Entry:
    return {"type": "local", **_plain(command), "tools": ["*"]}


@dataclass(frozen=True, slots=True)
class Client:
    """A program that uses MCP servers."""

    name: str
    title: str
    # The file of a user, and that of a project below its root, if there is one. Of several names the first
    # that exists counts, else the first.
    user: Callable[[], list[Path]]
    project: Sequence[str]
    keys: tuple[str, ...] = ("mcpServers",)  # the object that holds its servers
    entry: Callable[[Sequence[str]], Entry] = _plain
    format: str = "json"  # with comments and trailing commas, or "toml"
    newer: str = ""  # an object below `keys` in the newer form of the client's file

    def file(self, project: Path | None) -> Path | None:
        """Return the file of the user, or that of a project; None where the client has no such file."""
        paths = [project / name for name in self.project] if project else self.user()
        return next((path for path in paths if path.exists()), paths[0] if paths else None)


def server_command(
    *, command: str = "", repositories: Sequence[str] = (), watch: bool = False, shared: bool = False
) -> list[str]:
    """Return the command that starts the server, as a list of words.

    Args:
        command: What to run instead of this installation, e.g. `uvx dowse`.
        repositories: The repositories to serve if the client names none.
        watch: Whether the server updates its indexes while files change.
        shared: Whether other people read the file too, so that it must not name a path of this machine.
    """
    start = shlex.split(command) if command else ["dowse"] if shared else _this_installation()
    paths = [str(Path(path).expanduser().absolute()) for path in repositories]
    return [*start, "mcp", *(["--watch"] if watch else []), *paths]


def _this_installation() -> list[str]:
    """Return this installation as an absolute path: desktop programs do not have the PATH of the shell."""
    beside = shutil.which("dowse", path=str(Path(sys.executable).parent))
    executable = beside or shutil.which("dowse")
    if executable:
        return [str(Path(executable).absolute())]
    return [sys.executable, "-m", "dowse.interfaces.cli.main"]


def _home(*parts: str, variable: str = "") -> Path:
    """Return a path below the user's home, or below the folder that an environment variable names instead."""
    folder = os.environ.get(variable) if variable else ""
    return Path(folder, *parts[1:]) if folder else Path.home().joinpath(*parts)


def _xdg(*parts: str) -> Path:
    """Return a path below ~/.config, for programs that use it on every system."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config").joinpath(*parts)


def _application(*parts: str) -> Path:
    """Return a path below the folder for settings of desktop programs on this system."""
    if sys.platform == "darwin":
        return Path.home().joinpath("Library", "Application Support", *parts)
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming").joinpath(*parts)
    return _xdg(*parts)


def _zed_settings() -> Path:
    """Return the settings of Zed, which are in ~/.config on macOS too."""
    return _application("Zed", "settings.json") if sys.platform == "win32" else _xdg("zed", "settings.json")


# As the documentation of each client has it.
_ALL = (
    Client(
        "claude",
        "Claude Code",
        lambda: [_home(".", ".claude.json", variable="CLAUDE_CONFIG_DIR")],
        [".mcp.json"],
        entry=_stdio,
    ),
    Client(
        "claude-desktop", "Claude Desktop", lambda: [_application("Claude", "claude_desktop_config.json")], []
    ),
    Client(
        "codex",
        "Codex",
        lambda: [_home(".codex", "config.toml", variable="CODEX_HOME")],
        [".codex/config.toml"],
        ("mcp_servers",),
        format="toml",
    ),
    Client("cursor", "Cursor", lambda: [_home(".cursor", "mcp.json")], [".cursor/mcp.json"]),
    Client("gemini", "Gemini CLI", lambda: [_home(".gemini", "settings.json")], [".gemini/settings.json"]),
    Client(
        "vscode",
        "Visual Studio Code",
        lambda: [_application("Code", "User", "mcp.json")],
        [".vscode/mcp.json"],
        ("servers",),
        _stdio,
    ),
    Client("zed", "Zed", lambda: [_zed_settings()], [".zed/settings.json"], ("context_servers",), _zed),
    Client("windsurf", "Windsurf", lambda: [_home(".codeium", "windsurf", "mcp_config.json")], []),
    Client(
        "opencode",
        "OpenCode",
        lambda: [_xdg("opencode", "opencode.json"), _xdg("opencode", "opencode.jsonc")],
        ["opencode.json", "opencode.jsonc"],
        ("mcp",),
        _opencode,
        newer="servers",
    ),
    Client(
        "copilot",
        "GitHub Copilot CLI",
        lambda: [_home(".copilot", "mcp-config.json", variable="COPILOT_HOME")],
        [".github/mcp.json"],
        entry=_copilot,
    ),
    Client("kiro", "Kiro", lambda: [_home(".kiro", "settings", "mcp.json")], [".kiro/settings/mcp.json"]),
    Client("qwen", "Qwen Code", lambda: [_home(".qwen", "settings.json")], [".qwen/settings.json"]),
    Client(
        "crush",
        "Crush",
        lambda: [_xdg("crush", "crush.json")],
        ["crush.json", ".crush.json"],
        ("mcp",),
        _stdio,
    ),
    Client("amp", "Amp", lambda: [_xdg("amp", "settings.json")], [".amp/settings.json"], ("amp.mcpServers",)),
    Client("roo", "Roo Code", list, [".roo/mcp.json"]),
    Client("kilo", "Kilo Code", list, [".kilocode/mcp.json"]),
)
CLIENTS = {client.name: client for client in _ALL}
