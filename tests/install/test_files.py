"""Files of others: links, modes, folders, secrets, and what happens in between."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dowse.errors import DowseError
from dowse.install import files
from dowse.interfaces.cli.main import main

CONFIG = '{\n  "mcpServers": {\n    "other": {"command": "x"}\n  }\n}\n'


def test_a_link_stays_a_link(home, tmp_path):
    real = tmp_path / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_text(CONFIG)
    (home / ".claude.json").symlink_to(real)
    assert main(["install", "claude"]) == 0
    assert (home / ".claude.json").is_symlink() and "dowse" in real.read_text()
    assert main(["install", "claude", "--uninstall"]) == 0
    assert (home / ".claude.json").is_symlink() and real.read_text() == CONFIG
    assert list(real.parent.iterdir()) == [real]


@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_the_mode_stays(home, mode):
    path = home / ".claude.json"
    path.write_text(CONFIG)
    path.chmod(mode)
    assert main(["install", "claude"]) == 0
    assert path.stat().st_mode & 0o7777 == mode
    assert main(["install", "claude", "--uninstall"]) == 0
    assert path.stat().st_mode & 0o7777 == mode


def test_a_new_file_has_the_usual_mode(home):
    old = os.umask(0o027)
    try:
        assert main(["install", "claude"]) == 0
    finally:
        os.umask(old)
    assert (home / ".claude.json").stat().st_mode & 0o777 == 0o640


def test_backups_hold_what_was_there_for_the_owner_alone(home, tmp_path, capsys):
    """Configurations hold keys and tokens."""
    path = home / ".claude.json"
    path.write_text('{"token": "s3cr3t"}')
    path.chmod(0o644)
    assert main(["install", "claude"]) == 0
    backup = Path(capsys.readouterr().out.split("backup: ")[1].strip().rstrip(")"))
    assert backup.read_text() == '{"token": "s3cr3t"}'
    assert all(each.stat().st_mode & 0o077 == 0 for each in [backup, *backup.parent.iterdir(), backup.parent])


def test_two_names_in_one_file(home):
    path = home / ".claude.json"
    path.write_text(CONFIG)
    assert main(["install", "claude", "--name", "one"]) == 0
    assert main(["install", "claude", "--name", "two"]) == 0
    assert main(["install", "claude", "--name", "one", "--uninstall"]) == 0
    assert '"two"' in path.read_text() and '"one"' not in path.read_text()
    assert main(["install", "claude", "--name", "two", "--uninstall"]) == 0
    assert path.read_text() == CONFIG


def test_a_file_that_changes_meanwhile_is_left_alone(tmp_path):
    path = tmp_path / "config.json"
    path.write_bytes(b"new")
    with pytest.raises(DowseError, match="changed by another program"):
        files.write(path, b"old", b"ours")
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.geteuid() == 0 and not Path("/usr/bin/setpriv").exists(), reason="root may write all")
def test_a_file_that_may_not_be_written(home, tmp_path):
    path = home / ".claude.json"
    path.write_text(CONFIG)
    path.chmod(0o444)
    code = (
        "import sys; from pathlib import Path; from dowse.install import files\n"
        "from dowse.errors import DowseError\n"
        "path = Path(sys.argv[1])\n"
        "try: files.write(path, path.read_bytes(), b'ours')\n"
        "except DowseError as error: print(error)\n"
    )
    command = [sys.executable, "-c", code, str(path)]
    if os.geteuid() == 0:
        # Without what lets root pass by every mode.
        command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *command]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "read-only" in done.stdout and path.read_text() == CONFIG
    assert [each.name for each in home.iterdir()] == [".claude.json"]


def test_bytes_that_are_no_text(home, capsys):
    (home / ".claude.json").write_bytes(b'{\n  "a": "\xff"}')
    assert main(["install", "claude"]) == 2
    told = capsys.readouterr().err
    assert ".claude.json, line 2, column 9: this is not UTF-8" in told
    assert (home / ".claude.json").read_bytes() == b'{\n  "a": "\xff"}'


def test_a_place_that_can_not_be_does_not_keep_the_others(home, capsys):
    (home / ".cursor").write_text("a file where a folder should be")
    assert main(["install", "cursor", "gemini"]) == 2
    assert "check the path and its permissions" in capsys.readouterr().err
    assert "dowse" in (home / ".gemini" / "settings.json").read_text()
