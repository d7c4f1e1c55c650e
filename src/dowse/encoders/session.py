"""onnxruntime sessions: one thread per run, no spinning, and a GPU where there is one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.encoders.model_files import model_errors
from dowse.errors import ConfigError, DowseError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession

CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
# Only what ends the process. Errors are raised as exceptions as well, and onnxruntime's log is written past
# Python, with names from the model in it: escape sequences would reach the terminal as they are.
LOG_SEVERITY = 4


def import_onnxruntime() -> Any:  # noqa: ANN401 - a module without types
    """Import onnxruntime with its telemetry and its log off.

    From 1.29 on it writes a device id to the home folder and reports to its maker when it is loaded. dowse
    works offline. Both names have been in use; they count only if they are set before the import.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = os.environ["ORT_TELEMETRY_DISABLED"] = "1"
    import onnxruntime

    onnxruntime.set_default_logger_severity(LOG_SEVERITY)
    return onnxruntime


def open_session(model: Path, device: str = "auto", *, optimise: bool = True) -> InferenceSession:
    """Open a model; sessions are thread-safe, and each run uses only the thread that it is called from.

    Args:
        model: An ONNX file.
        device: "auto", "cpu" or "cuda".
        optimise: Let onnxruntime optimise the graph; a waste of time for graphs that are optimised already.

    Raises:
        DowseError: The model can't be opened. No library of custom operators is ever registered.
    """
    onnxruntime = import_onnxruntime()

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = LOG_SEVERITY
    if not optimise:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    # A waiting thread should leave its core to others.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    providers = choose_providers(device, onnxruntime.get_available_providers())
    with model_errors(model):
        return onnxruntime.InferenceSession(str(model), options, providers=providers)


def run_model(session: InferenceSession, inputs: dict[str, Any], model: Path) -> NDArray[np.float32]:
    """Return the first output of a model; `model` names it in messages.

    Raises:
        DowseError: The model can't be run on these inputs, or its output is not numeric.
    """
    import numpy as np

    with model_errors(model):
        output = session.run(None, inputs)[0]
    if not isinstance(output, np.ndarray) or output.dtype.kind not in "fiub":
        raise DowseError(f"{model} gives something else than numbers; use another model")
    return output.astype(np.float32, copy=False)


def uses_gpu(device: str) -> bool:
    """Whether a session for this device setting would run on a GPU."""
    return CUDA in choose_providers(device, import_onnxruntime().get_available_providers())


def choose_providers(device: str, available: Sequence[str]) -> list[str]:
    """Return onnxruntime's execution providers for a device setting, best first."""
    if device == "cpu" or (device == "auto" and CUDA not in available):
        return [CPU]
    if CUDA in available:
        return [CUDA, CPU]
    raise ConfigError(
        f"device = {device!r}, but onnxruntime sees no GPU; install onnxruntime-gpu or set device = cpu"
    )
