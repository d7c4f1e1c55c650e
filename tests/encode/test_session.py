"""Where a session runs."""

from __future__ import annotations

import onnxruntime
import pytest

from dowse.encode.models import shipped_folder
from dowse.encode.session import CPU, CUDA, choose_providers, open_session, uses_gpu
from dowse.errors import ConfigError, DowseError


def test_auto_takes_the_gpu_where_there_is_one() -> None:
    assert choose_providers("auto", [CPU]) == [CPU]
    assert choose_providers("auto", [CUDA, CPU]) == [CUDA, CPU]
    assert choose_providers("cpu", [CUDA, CPU]) == [CPU]
    assert choose_providers("cuda", [CUDA, CPU]) == [CUDA, CPU]


def test_a_gpu_that_is_not_there_is_an_error_with_a_remedy() -> None:
    with pytest.raises(ConfigError, match="device = cpu"):
        choose_providers("cuda", [CPU])


def test_what_is_really_available() -> None:
    assert uses_gpu("auto") == (CUDA in onnxruntime.get_available_providers())
    session = open_session(shipped_folder() / "small" / "model.onnx", "cpu")
    assert session.get_providers() == [CPU]
    assert session.get_session_options().intra_op_num_threads == 1


def test_a_file_that_is_no_model(tmp_path) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(b"nothing")
    with pytest.raises(DowseError, match=r"model\.onnx"):
        open_session(file, "cpu")
