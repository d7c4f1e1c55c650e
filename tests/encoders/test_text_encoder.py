"""Models of others: a folder as sentence-transformers lays it out, with a model made here."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dowse.encoders.document import Document
from dowse.encoders.registry import load_encoder
from dowse.encoders.text_encoder import TextEncoder, read_text_form
from dowse.errors import DowseError

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from tokenizers import Tokenizer, models, pre_tokenizers, processors  # noqa: E402

WORDS = ["[CLS]", "[SEP]", "[UNK]", "query:", "open", "close", "file", "sum", "def", "the"]
TABLE = np.random.default_rng(3).standard_normal((len(WORDS), 8)).astype(np.float32)
DOCUMENTS = [
    Document("io", "open", "", "open file"),
    Document("", "sum", "the sum", "def sum"),
    Document("", "", "", ""),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model whose token vectors are rows of a table, as a BERT that only looks words up."""
    where = tmp_path / "Tiny Model_v1"
    (where / "onnx").mkdir(parents=True)
    (where / "onnx/model.onnx").write_bytes(table_model("input_ids", "attention_mask", "token_type_ids"))
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 1), ("[CLS]", 0))
    tokenizer.enable_padding(length=64)  # as many have it: must not matter
    tokenizer.save(str(where / "tokenizer.json"))
    write(where / "modules.json", [])
    write(where / "1_Pooling/config.json", {"pooling_mode_mean_tokens": True})
    return where


def table_model(*inputs: str) -> bytes:
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["found"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "axis"], ["wide"]),
        helper.make_node("Mul", ["found", "wide"], ["last_hidden_state"]),
    ]
    graph = helper.make_graph(
        nodes,
        "table",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "l"]) for name in inputs],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["b", "l", 8])],
        [numpy_helper.from_array(TABLE, "table"), numpy_helper.from_array(np.array([-1]), "axis")],
    )
    opsets = [helper.make_opsetid("", 20)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def write(file: Path, value: object) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(value))


def expected(*texts: str, pool=lambda rows: rows.mean(axis=0)) -> np.ndarray:
    ids = [[0, *(WORDS.index(w) if w in WORDS else 2 for w in text.split()), 1] for text in texts]
    rows = np.array([pool(TABLE[row]) for row in ids])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_mean_pooling(folder: Path) -> None:
    encoder = load_encoder(str(folder), threads=2)
    assert isinstance(encoder, TextEncoder)
    assert np.allclose(
        encoder.encode_documents(DOCUMENTS),
        expected("io.open open file", "sum the sum def sum", ""),
        atol=1e-6,
    )
    assert np.allclose(
        encoder.encode_queries(["close file", "sum"]), expected("close file", "sum"), atol=1e-6
    )
    assert encoder.dimension == 8
    assert encoder.encode_queries([]).shape == (0, 8)


def test_first_token_pooling(folder: Path) -> None:
    write(
        folder / "1_Pooling/config.json", {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    )
    assert np.allclose(
        load_encoder(str(folder)).encode_queries(["close"]),
        expected("", pool=lambda rows: rows[0]),
        atol=1e-6,
    )


def test_pooling_that_is_not_known(folder: Path) -> None:
    write(folder / "1_Pooling/config.json", {"pooling_mode_max_tokens": True})
    with pytest.raises(DowseError, match="max_tokens"):
        load_encoder(str(folder))


def test_prompts_and_limits_are_read(folder: Path) -> None:
    write(folder / "config_sentence_transformers.json", {"prompts": {"query": "query: ", "document": ""}})
    write(folder / "sentence_bert_config.json", {"max_seq_length": 4})
    write(folder / "tokenizer_config.json", {"model_max_length": 10**30})
    encoder = load_encoder(str(folder))
    assert np.allclose(encoder.encode_queries(["open the file"]), expected("query: open"), atol=1e-6)
    assert np.allclose(encoder.encode_documents([DOCUMENTS[1]]), expected("sum the"), atol=1e-6)
    assert read_text_form(folder).tokens == 4


def test_the_docs_view(folder: Path) -> None:
    encoder = load_encoder(str(folder), view="docs")
    assert np.allclose(encoder.encode_documents(DOCUMENTS[:2]), expected("io.open", "the sum"), atol=1e-6)
    assert encoder.id != load_encoder(str(folder)).id


def test_the_id_follows_the_files(folder: Path) -> None:
    before = load_encoder(str(folder)).id
    assert before.startswith("tiny-model-v1-")
    write(folder / "1_Pooling/config.json", {"pooling_mode_cls_token": True})
    assert load_encoder(str(folder)).id != before


def test_models_with_other_inputs_are_refused(folder: Path) -> None:
    (folder / "onnx/model.onnx").write_bytes(table_model("input_ids", "attention_mask", "pixels"))
    with pytest.raises(DowseError, match="pixels"):
        load_encoder(str(folder)).encode_queries(["open"])


@pytest.mark.parametrize("data", ["{", '{"model": {}}'])
def test_a_broken_tokenizer_is_named_in_one_line(folder: Path, data: str) -> None:
    (folder / "tokenizer.json").write_text(data)
    with pytest.raises(DowseError, match=r"tokenizer\.json") as caught:
        load_encoder(str(folder)).encode_queries(["open"])
    assert str(caught.value).isprintable()


def test_without_onnx_the_package_is_asked_for(folder: Path) -> None:
    (folder / "onnx/model.onnx").unlink()
    (folder / "model.safetensors").touch()
    encoder = load_encoder(str(folder))
    try:
        import sentence_transformers  # noqa: F401
    except ImportError:
        with pytest.raises(DowseError, match="install sentence-transformers"):
            encoder.encode_queries(["open"])


def test_without_a_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    with pytest.raises(DowseError, match=r"tokenizer\.json"):
        load_encoder(str(folder))


def test_a_vector_does_not_depend_on_its_batch_even_if_the_model_would_have_it(folder: Path) -> None:
    (folder / "onnx/model.onnx").write_bytes(quantised_model())
    encoder = load_encoder(str(folder))
    texts = ["open file", "sum def", "the sum"]
    alone = np.concatenate([encoder.encode_queries([text]) for text in texts])
    assert np.array_equal(encoder.encode_queries(texts), alone)


def quantised_model() -> bytes:
    """A table whose values are rounded by the range of the whole batch, as quantised models do."""
    model = onnx.load_from_string(table_model("input_ids", "attention_mask"))
    last = model.graph.node[-1]
    last.output[0] = "exact"
    model.graph.node.extend(
        [
            helper.make_node("DynamicQuantizeLinear", ["exact"], ["q", "scale", "zero"]),
            helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["last_hidden_state"]),
        ]
    )
    return model.SerializeToString()
