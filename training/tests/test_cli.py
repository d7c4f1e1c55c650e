"""`dowse train`: every step explains itself, and says what to install when something is missing."""

from __future__ import annotations

import sys

import pytest

from dowse.errors import DowseError
from dowse_training import cli


@pytest.mark.parametrize("step", cli.STEPS)
def test_every_step_has_help(step, capsys):
    with pytest.raises(SystemExit) as end:
        cli.run([step, "--help"])
    assert end.value.code == 0
    assert "--out" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("missing", "arguments"),
    [
        ("torch", ["nbow", "pairs"]),
        ("torch", ["--arch", "nbow", "pairs"]),
        ("torch", ["fit", "--plan", "PLAN", "--shards", "s", "--tokenizer", "t"]),
        ("onnx", ["export", "w.safetensors", "--tokenizer", "t"]),
    ],
)
def test_what_is_missing_is_named_with_its_remedy(missing, arguments, tmp_path, monkeypatch):
    plan = tmp_path / "plan.toml"
    plan.write_text('[[stage]]\nkind = "mine"\n')
    for name in [name for name in sys.modules if name.startswith("dowse_training.")]:
        if not name.startswith("dowse_training.cli"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    given = [str(plan) if argument == "PLAN" else argument for argument in arguments]
    with pytest.raises(DowseError, match=rf"needs {missing}; .*dowse-training\[torch\]"):
        cli.run([*given, "--out", str(tmp_path / "out")])
