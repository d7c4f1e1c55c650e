"""Hostile repositories under strace: a part of them each time, every kind with every command as `large`."""

from __future__ import annotations

import os
import shutil
import subprocess
from itertools import zip_longest

import hostile
import pytest
import traced

from helpers import large_from

# Tests of their own have these: they take their time even where all is well.
_SLOW = {"deep_nesting", "long_lines", "growing_archive", "report_bomb", "archive_bomb"}


def _groups() -> list[tuple[str, ...]]:
    """Put kinds that do not stand in each other's way into one repository."""
    kinds = [kind for kind in hostile.KINDS if kind not in _SLOW]
    parts = ("settings", "ignore", "git", "report", "archive_")
    families = [[kind for kind in kinds if kind.startswith(part)] for part in parts]
    rest = [kind for kind in kinds if not kind.startswith(parts)]
    return [tuple(filter(None, group)) for group in zip_longest(*families, rest)]


def _cases() -> list[tuple[str, tuple[str, ...]]]:
    """Each group with another command, then all groups with all commands."""
    commands, groups = list(traced.COMMANDS), _groups()
    first = [(commands[i % len(commands)], group) for i, group in enumerate(groups)]
    matrix = [(command, group) for group in groups for command in commands]
    return list(dict.fromkeys([*first, *matrix]))


@pytest.mark.parametrize(("command", "kinds"), large_from(3, _cases()), ids=str)
def test_a_hostile_repository_harms_nobody(command, kinds, tmp_path, monkeypatch):
    if shutil.which("strace") is None:
        if os.environ.get("DOWSE_REQUIRE_TOOLS"):
            pytest.fail("strace is missing")
        pytest.skip("strace is missing")
    monkeypatch.setenv("HOSTILE_ENCODER", "none")
    root, outside = hostile.build(tmp_path, *kinds)
    found = traced.run(command, traced.Places(tmp_path, root))
    executed = (outside / "executed").exists()
    subprocess.run(["rm", "-rf", str(tmp_path)], check=True)  # deeper than pytest's own removal goes
    assert not found.violations, found.output[-2_000:]
    assert not executed


def test_the_tracer_sees_what_it_looks_for(tmp_path, monkeypatch):
    """A command that does all of it: else the tests above could not fail."""
    if shutil.which("strace") is None:
        pytest.skip("strace is missing")
    root, outside = hostile.build(tmp_path)
    deeds = (
        f"import socket, subprocess; open({str(outside / 'precious.txt')!r}).read(); "
        f"open({str(tmp_path / 'home' / 'x')!r}, 'w'); subprocess.run([{str(outside / 'payload')!r}]); "
        "socket.socket().connect_ex(('127.0.0.1', 9))"
    )
    (tmp_path / "config").mkdir()
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "sitecustomize.py").write_text(deeds)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'packages'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    found = traced.run("status", traced.Places(tmp_path, root))
    assert {each.split()[0] for each in found.violations} >= {"executed", "wrote", "connected", "read"}
