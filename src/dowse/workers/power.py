"""Whether this machine runs on battery: work that nobody waits for is put off then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# What Linux knows of batteries and chargers.
_SUPPLIES = Path("/sys/class/power_supply")
# The field of Windows' SYSTEM_POWER_STATUS: 0 on battery, 1 on mains, 255 unknown.
_OFFLINE = 0
_PMSET_SECONDS = 2.0


def is_on_battery(supplies: Path = _SUPPLIES) -> bool:
    """Return whether the battery is being used; False where there is none, or nothing is known."""
    try:
        if sys.platform == "darwin":
            return "'Battery Power'" in _ask_pmset()
        if sys.platform == "win32":
            return _line_status() == _OFFLINE
        return any(_is_discharging(each) for each in supplies.iterdir())
    except (OSError, ValueError, subprocess.SubprocessError):
        return False


def _is_discharging(supply: Path) -> bool:
    """Whether a supply is a battery of the machine, not of a mouse, and gives power."""
    if _read(supply / "type") != "Battery" or _read(supply / "scope") == "Device":
        return False
    return _read(supply / "status") == "Discharging"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _ask_pmset() -> str:
    command = ["/usr/bin/pmset", "-g", "ps"]
    return subprocess.run(command, capture_output=True, text=True, timeout=_PMSET_SECONDS, check=False).stdout


def _line_status() -> int:
    import ctypes

    status = (ctypes.c_ubyte * 12)()
    kernel: ctypes.CDLL = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]
    return int(status[0]) if kernel.GetSystemPowerStatus(ctypes.byref(status)) else 255
