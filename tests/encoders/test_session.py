"""Where a session runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from dowse.encoders.registry import shipped_folder
from dowse.encoders.session import CPU, CUDA, choose_providers, open_session, run_model, uses_gpu
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


def failing_model(file: Path, *, early: bool) -> Path:
    """Write a model whose node has escape sequences in its name and fails, when opened or when run."""
    onnx = pytest.importorskip("onnx")
    kind, helper = onnx.TensorProto, onnx.helper
    wrong, data = helper.make_tensor("shape", kind.INT64, [1], [3]), "four" if early else "x"
    node = helper.make_node("Reshape", [data, "shape"], ["r"], name="n\x1b]0;PWNED\x07\x1b[2J\nforged \u202e")
    graph = helper.make_graph(
        [node, helper.make_node("Add", ["r", "x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", kind.FLOAT, ["n"])],
        [helper.make_tensor_value_info("y", kind.FLOAT, None)],
        [wrong, helper.make_tensor("four", kind.FLOAT, [4], [0.0] * 4)],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    file.write_bytes(made.SerializeToString())
    return file


@pytest.mark.parametrize("early", [True, False])
def test_names_in_a_model_do_not_reach_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], early: bool
) -> None:
    """onnxruntime's log goes to the descriptor itself, where no stream of Python could escape anything."""
    model = failing_model(tmp_path / "model.onnx", early=early)
    with pytest.raises(DowseError, match=r"model\.onnx") as caught:
        run_model(open_session(model, "cpu"), {"x": np.zeros(4, np.float32)}, model)
    assert str(caught.value).isprintable()
    assert capfd.readouterr() == ("", "")
