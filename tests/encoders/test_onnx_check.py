"""ONNX models of others: tensor operators and files of their own folder, or they are not opened."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from dowse.encoders import onnx_check
from dowse.encoders.onnx_check import RefusedModel, check_onnx_model
from dowse.encoders.registry import load_encoder, shipped_folder
from dowse.encoders.session import open_session
from dowse.errors import DowseError

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

WEIGHTS = np.arange(16, dtype=np.float32).reshape(4, 4)


def node(operator: str = "MatMul", domain: str = "", **attributes: object) -> onnx.NodeProto:
    return helper.make_node(operator, ["x", "w"], ["y"], domain=domain, **attributes)


def model(*nodes: onnx.NodeProto, weights: onnx.TensorProto | None = None) -> onnx.ModelProto:
    """Return a model that multiplies its input with a matrix."""
    graph = helper.make_graph(
        list(nodes or (node(),)),
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4])],
        [weights or numpy_helper.from_array(WEIGHTS, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def external(**entries: object) -> onnx.TensorProto:
    """Return weights that say where they lie."""
    tensor = numpy_helper.from_array(WEIGHTS, "w")
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def written(folder: Path, made: onnx.ModelProto | bytes) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(made if isinstance(made, bytes) else made.SerializeToString())
    return path


def refuse(folder: Path, made: onnx.ModelProto | bytes, reason: str) -> None:
    """Check that a model is refused in one line by the check, and that no session is opened for it."""
    path = written(folder, made)
    with pytest.raises(RefusedModel, match=reason) as caught:
        check_onnx_model(path)
    assert "\n" not in str(caught.value)
    with pytest.raises(RefusedModel, match=reason):
        open_session(path, "cpu")


def test_a_plain_model_is_opened(tmp_path: Path) -> None:
    session = open_session(written(tmp_path, model()), "cpu")
    assert session.run(None, {"x": np.ones((1, 4), np.float32)})[0].tolist() == [[24, 28, 32, 36]]


def test_external_data_in_the_folder_are_used(tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(bytes(8) + WEIGHTS.tobytes())
    made = model(weights=external(location="weights.bin", offset=8, length=WEIGHTS.nbytes))
    session = open_session(written(tmp_path, made), "cpu")
    assert session.run(None, {"x": np.ones((1, 4), np.float32)})[0].tolist() == [[24, 28, 32, 36]]


def test_models_of_ours_pass() -> None:
    for file in sorted(shipped_folder().glob("*/*.onnx")):
        check_onnx_model(file)


@pytest.mark.parametrize(
    "domain", ["evil.ops", "ai.onnx.contrib", "com.microsoft.extensions", "ai.onnx.ml", "x" * 500]
)
def test_operators_of_other_domains_are_refused(tmp_path: Path, domain: str) -> None:
    refuse(tmp_path, model(node("MatMul", domain)), "of the domain")


@pytest.mark.parametrize(
    "operator", ["Loop", "If", "Scan", "SequenceMap", "ImageDecoder", "Nonsense", "", "RegexFullMatch"]
)
def test_operators_that_no_text_encoder_needs_are_refused(tmp_path: Path, operator: str) -> None:
    refuse(tmp_path, model(node(operator)), "uses the operator")


def test_a_compiled_binary_for_a_device_is_refused(tmp_path: Path) -> None:
    refuse(tmp_path, model(node("EPContext", "com.microsoft", ep_cache_context="lib.so")), "EPContext")


def test_a_second_name_of_an_operator_is_checked_as_well(tmp_path: Path) -> None:
    """A field that occurs twice: readers take the last one."""
    twice = onnx.NodeProto.FromString(node().SerializeToString())
    data = twice.SerializeToString() + b"\x22\x04Loop"  # op_type again
    made = model()
    graph = made.graph.SerializeToString()
    hidden = graph + b"\x0a" + bytes([len(data)]) + data
    made.ClearField("graph")
    head = made.SerializeToString()
    refuse(tmp_path, head + b"\x3a" + _varint(len(hidden)) + hidden, "Loop")


def test_a_second_graph_is_checked_as_well(tmp_path: Path) -> None:
    more = helper.make_graph([node("Loop")], "more", [], [])
    data = more.SerializeToString()
    made = model().SerializeToString() + b"\x3a" + _varint(len(data)) + data
    refuse(tmp_path, made, "Loop")


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def test_a_graph_within_a_node_is_refused(tmp_path: Path) -> None:
    inner = helper.make_graph([node()], "inner", [], [])
    refuse(tmp_path, model(node("MatMul", body=inner)), "graph within")
    refuse(tmp_path, model(node("MatMul", bodies=[inner])), "graph within")


def test_functions_are_refused(tmp_path: Path) -> None:
    made = model()
    made.functions.append(helper.make_function("evil", "f", ["a"], ["b"], [], [helper.make_opsetid("", 17)]))
    refuse(tmp_path, made, "functions")


def test_settings_of_onnxruntime_in_a_model_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORT_LOAD_CONFIG_FROM_MODEL", "1")
    made = model()
    made.metadata_props.add(key="ort_config", value='{"session_options": {"enable_profiling": 1}}')
    refuse(tmp_path, made, "settings of onnxruntime")


@pytest.mark.parametrize(
    "location",
    [
        *("/etc/passwd", "../outside.bin", "a/../../outside.bin", "..", "", ".hidden", "./weights.bin"),
        *("*/_ORT_MEM_ADDR_/*", "C:\\x", "a\\..\\b", "C:weights.bin", "a\0b", "\n", "missing.bin"),
    ],
)
def test_external_data_elsewhere_are_refused(tmp_path: Path, location: str) -> None:
    (tmp_path / "outside.bin").write_bytes(WEIGHTS.tobytes())
    folder = tmp_path / "model"
    folder.mkdir()
    refuse(folder, model(weights=external(location=location)), "external data")


def test_external_data_are_looked_for_in_all_tensors(tmp_path: Path) -> None:
    away = external(location="../outside.bin")
    refuse(tmp_path, model(node("MatMul", value=away)), "external data")
    sparse = onnx.SparseTensorProto(
        values=away, indices=numpy_helper.from_array(np.array([0]), "i"), dims=[4]
    )
    made = model()
    made.graph.sparse_initializer.append(sparse)
    refuse(tmp_path, made, "external data")


def test_two_places_of_external_data_are_refused(tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(WEIGHTS.tobytes())
    tensor = external(location="weights.bin")
    tensor.external_data.add(key="location", value="../outside.bin")
    refuse(tmp_path, model(weights=tensor), "external data")


@pytest.mark.parametrize(
    "entries",
    [
        {"offset": 1},
        {"offset": 0, "length": 65},
        {"offset": 10**30},
        {"offset": -4},
        {"length": "0x10"},
        {"offset": "٣"},
    ],
)
def test_external_data_beyond_their_file_are_refused(tmp_path: Path, entries: dict[str, object]) -> None:
    (tmp_path / "weights.bin").write_bytes(WEIGHTS.tobytes())
    entries = {"length": WEIGHTS.nbytes, **entries}
    refuse(tmp_path, model(weights=external(location="weights.bin", **entries)), "external data")


def test_links_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "outside.bin").write_bytes(WEIGHTS.tobytes())
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "weights.bin").symlink_to(tmp_path / "outside.bin")
    refuse(folder, model(weights=external(location="weights.bin")), "leads out")
    (folder / "loop.bin").symlink_to("loop.bin")
    refuse(folder, model(weights=external(location="loop.bin")), "external data")
    real = written(tmp_path, model())
    (folder / "model.onnx").unlink()
    (folder / "model.onnx").symlink_to(real)
    with pytest.raises(DowseError, match="leads out"):
        open_session(folder / "model.onnx", "cpu")


def test_the_links_of_the_hub_are_followed(tmp_path: Path) -> None:
    """The hub's cache keeps files under their hashes, and links to them under their names."""
    home = tmp_path / "models--owner--name"
    folder = home / "snapshots" / "0123"
    folder.mkdir(parents=True)
    (home / "blobs").mkdir()
    (home / "blobs" / "aa").write_bytes(
        model(weights=external(location="model.onnx_data")).SerializeToString()
    )
    (home / "blobs" / "bb").write_bytes(WEIGHTS.tobytes())
    (folder / "model.onnx").symlink_to("../../blobs/aa")
    (folder / "model.onnx_data").symlink_to("../../blobs/bb")
    check_onnx_model(folder / "model.onnx")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="FIFOs are POSIX")
def test_devices_and_fifos_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "model.onnx")
    with pytest.raises(DowseError, match="no regular file"):
        open_session(tmp_path / "model.onnx", "cpu")
    (tmp_path / "zero.onnx").symlink_to("/dev/zero")
    with pytest.raises(DowseError, match="no regular file"):
        open_session(tmp_path / "zero.onnx", "cpu")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff" * 50,
        b"\x3a\xff\xff\xff\xff\x0f",
        b"\x3a\x05ab",
        b"\x0b",
        b"\x00\x01",
        b"\0\0\0\0ORTM" + bytes(50),
        b"\x22\x02\xff\xfe",
        b"\x38\x01",
        b"no model at all",
    ],
)
def test_what_is_no_model_is_refused(tmp_path: Path, data: bytes) -> None:
    refuse(tmp_path, data, r"refused|empty")


def test_every_cut_and_every_changed_byte_is_handled(tmp_path: Path) -> None:
    """Whatever the bytes are, they pass or are refused: no other exception."""
    data = model().SerializeToString()
    for at in range(len(data)):
        for changed in (data[:at], data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1 :]):
            try:
                check_onnx_model(written(tmp_path, changed))
            except RefusedModel as error:
                assert "\n" not in str(error)


def test_too_many_nodes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_check, "MAX_NODES", 3)
    refuse(tmp_path, model(*[node() for _ in range(4)]), "more than 3 nodes")


def test_an_encoder_folder_with_such_a_model_is_refused(tmp_path: Path) -> None:
    """By the way that a search takes: the encoder is loaded by its folder's name."""
    written(tmp_path, model(node("Loop")))
    (tmp_path / "tokenizer.json").write_text(
        '{"model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}}'
    )
    with pytest.raises(RefusedModel, match="Loop"):
        load_encoder(str(tmp_path), device="cpu").encode_queries(["a"])


@pytest.mark.parametrize("data", ["{", "[]", '{"model": {}}', "[" * 100_000, "\0"])
def test_a_broken_tokenizer_is_named_in_one_line(tmp_path: Path, data: str) -> None:
    written(tmp_path, model())
    (tmp_path / "tokenizer.json").write_text(data)
    with pytest.raises(DowseError, match="no tokenizer") as caught:
        _ = load_encoder(str(tmp_path), device="cpu")._tokenizer  # type: ignore[attr-defined]
    assert "\n" not in str(caught.value)
