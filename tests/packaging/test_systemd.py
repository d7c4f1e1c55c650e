"""The systemd units: valid, hardened, and with a command line that dowse understands."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from dowse.interfaces.cli.main import build_parser
from dowse.services.web.server import GRACE_SECONDS

UNITS = Path(__file__).parents[2] / "packaging/systemd"


def settings() -> dict[str, str]:
    lines = (UNITS / "dowse.service").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def test_the_command_line_is_understood():
    program, *arguments = shlex.split(settings()["ExecStart"])
    options = build_parser().parse_args(arguments)
    assert program.endswith("/dowse") and options.command == "serve"
    assert options.paths == [settings()["BindReadOnlyPaths"]]
    assert options.token_file == "${CREDENTIALS_DIRECTORY}/token"  # as LoadCredential names it
    assert settings()["LoadCredential"].startswith("token:")


def test_it_waits_longer_than_requests_may_take():
    assert int(settings()["TimeoutStopSec"]) > GRACE_SECONDS + 5


def test_systemd_takes_the_units(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd is not installed")
    for unit in UNITS.iterdir():
        text = unit.read_text().replace("/opt/dowse/bin/dowse", "/bin/sh")
        (tmp_path / unit.name).write_text(text)
    units = [str(tmp_path / unit.name) for unit in UNITS.iterdir()]
    done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True)
    ours = [line for line in done.stderr.splitlines() if "dowse" in line]
    assert done.returncode == 0 and ours == [], done.stderr
