"""Where programs keep the settings of a user, by system."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def home(*parts: str, variable: str = "") -> Path:
    """Return a place below the user's home, or below the folder that a variable names instead."""
    named = os.environ.get(variable) if variable else ""
    if named:
        return Path(named, *parts[1:])
    return Path.home().joinpath(*parts)


def xdg(*parts: str) -> Path:
    """Return a place below ~/.config, on every system, for programs that go there on every system."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config").joinpath(*parts)


def application(*parts: str) -> Path:
    """Return a place where programs with windows keep their settings on this system."""
    if sys.platform == "darwin":
        return Path.home().joinpath("Library", "Application Support", *parts)
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming").joinpath(*parts)
    return xdg(*parts)


def zed_settings() -> Path:
    """Return Zed's settings, which are in ~/.config on the Mac too."""
    return application("Zed", "settings.json") if sys.platform == "win32" else xdg("zed", "settings.json")
