"""Encoders by name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dowse.encoders.onnx_encoder import OnnxEncoder
from dowse.encoders.registry import load_encoder, shipped_folder
from dowse.errors import ConfigError, DowseError


def test_a_folder_of_ours_is_the_same_as_its_name() -> None:
    by_folder = load_encoder(str(shipped_folder() / "small"))
    assert isinstance(by_folder, OnnxEncoder)
    assert by_folder.id == load_encoder("small").id


def test_an_unknown_name_says_what_there_is() -> None:
    with pytest.raises(ConfigError, match="shipped are base, small"):
        load_encoder("nonesuch")


def test_a_folder_without_an_encoder(tmp_path: Path) -> None:
    with pytest.raises(DowseError, match="holds no encoder"):
        load_encoder(str(tmp_path))


def test_loading_reads_nothing_heavy() -> None:
    script = (
        "import sys; from dowse.encoders.registry import load_encoder; load_encoder('base').id;"
        "print(*{'numpy', 'onnxruntime', 'tokenizers'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_a_hub_name_must_look_like_one() -> None:
    with pytest.raises(ConfigError, match="hf:owner/name"):
        load_encoder("hf:nothing")


def test_a_hub_that_is_out_of_reach_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    script = "from dowse.encoders.registry import load_encoder; load_encoder('hf:nobody/nothing')"
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=offline
    )
    last = done.stderr.strip().splitlines()[-1]
    assert "can't fetch hf:nobody/nothing" in last
    assert "check name and network" in last
