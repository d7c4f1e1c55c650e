"""The clients that can be told about dowse: where each keeps its servers, and how an entry looks there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dowse.install.config_paths import application, home, xdg, zed_settings

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
    """One program that speaks MCP."""

    name: str
    title: str
    # The file of a user, and that of a project below its root, where there is one. Of several names the first
    # that exists is meant, else the first.
    user: Callable[[], list[Path]]
    project: Sequence[str]
    keys: tuple[str, ...] = ("mcpServers",)  # where its servers stand
    entry: Callable[[Sequence[str]], Entry] = _plain
    format: str = "json"  # with comments and trailing commas, or "toml"
    newer: str = ""  # an object below `keys` that files in the client's newer form have

    def file(self, project: Path | None) -> Path | None:
        """Return the file of the user, or that of a project; None where the client has no such file."""
        places = [project / name for name in self.project] if project else self.user()
        return next((place for place in places if place.exists()), places[0] if places else None)


# Each as its own documentation has it.
_ALL = (
    Client(
        "claude",
        "Claude Code",
        lambda: [home(".", ".claude.json", variable="CLAUDE_CONFIG_DIR")],
        [".mcp.json"],
        entry=_stdio,
    ),
    Client(
        "claude-desktop", "Claude Desktop", lambda: [application("Claude", "claude_desktop_config.json")], []
    ),
    Client(
        "codex",
        "Codex",
        lambda: [home(".codex", "config.toml", variable="CODEX_HOME")],
        [".codex/config.toml"],
        ("mcp_servers",),
        format="toml",
    ),
    Client("cursor", "Cursor", lambda: [home(".cursor", "mcp.json")], [".cursor/mcp.json"]),
    Client("gemini", "Gemini CLI", lambda: [home(".gemini", "settings.json")], [".gemini/settings.json"]),
    Client(
        "vscode",
        "Visual Studio Code",
        lambda: [application("Code", "User", "mcp.json")],
        [".vscode/mcp.json"],
        ("servers",),
        _stdio,
    ),
    Client("zed", "Zed", lambda: [zed_settings()], [".zed/settings.json"], ("context_servers",), _zed),
    Client("windsurf", "Windsurf", lambda: [home(".codeium", "windsurf", "mcp_config.json")], []),
    Client(
        "opencode",
        "OpenCode",
        lambda: [xdg("opencode", "opencode.json"), xdg("opencode", "opencode.jsonc")],
        ["opencode.json", "opencode.jsonc"],
        ("mcp",),
        _opencode,
        newer="servers",
    ),
    Client(
        "copilot",
        "GitHub Copilot CLI",
        lambda: [home(".copilot", "mcp-config.json", variable="COPILOT_HOME")],
        [".github/mcp.json"],
        entry=_copilot,
    ),
    Client("kiro", "Kiro", lambda: [home(".kiro", "settings", "mcp.json")], [".kiro/settings/mcp.json"]),
    Client("qwen", "Qwen Code", lambda: [home(".qwen", "settings.json")], [".qwen/settings.json"]),
    Client(
        "crush",
        "Crush",
        lambda: [xdg("crush", "crush.json")],
        ["crush.json", ".crush.json"],
        ("mcp",),
        _stdio,
    ),
    Client("amp", "Amp", lambda: [xdg("amp", "settings.json")], [".amp/settings.json"], ("amp.mcpServers",)),
    Client("roo", "Roo Code", list, [".roo/mcp.json"]),
    Client("kilo", "Kilo Code", list, [".kilocode/mcp.json"]),
)
CLIENTS = {client.name: client for client in _ALL}
