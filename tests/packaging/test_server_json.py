"""server.json, which the registry of MCP servers takes, agrees with the package."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from dowse.interfaces.cli.main import COMMANDS
from dowse.version import __version__

ROOT = Path(__file__).parents[2]
SERVER = json.loads((ROOT / "server.json").read_text())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_package_is_ours_in_this_version():
    (package,) = SERVER["packages"]
    assert SERVER["version"] == package["version"] == __version__
    assert package["registryType"] == "pypi" and package["identifier"] == PROJECT["name"]
    assert package["transport"] == {"type": "stdio"} and package["runtimeHint"] == "uvx"
    (argument,) = package["packageArguments"]
    assert argument == {"type": "positional", "value": "mcp"} and "mcp" in COMMANDS


def test_limits_of_the_registry():
    assert SERVER["$schema"].endswith("/2025-12-11/server.schema.json")
    assert 1 <= len(SERVER["description"]) <= 100 and len(SERVER["title"]) <= 100
