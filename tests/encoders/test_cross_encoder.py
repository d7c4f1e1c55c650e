"""Cross-encoders: the shipped one, and a folder with a model made here that counts shared words."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.encoders.cross_encoder import (
    CROSS_FILE,
    DowseCrossEncoder,
    OnnxCrossEncoder,
    load_cross_encoder,
    pair_ids,
)
from dowse.encoders.document import Document, Form
from dowse.encoders.registry import shipped_folder
from dowse.encoders.word_tokenizer import BOS, EOS, UNK, WordTokenizer
from dowse.errors import DowseError
from dowse.search.ranking.rerank import mix_scores

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from tokenizers import Tokenizer, models, pre_tokenizers, processors  # noqa: E402

WORDS = ["[CLS]", "[SEP]", "[UNK]", "open", "close", "file", "sum"]
CLOSE = Document("", "close", "", "close file")
OPEN = Document("", "open", "", "open file")
SUM = Document("", "sum", "", "sum sum")
INPUTS = ("input_ids", "attention_mask", "token_type_ids")

READ_JSON = Document(
    "Store", "load", "Read all settings.", "def load(self, path):\n    return json.load(open(path))", "python"
)
SORT = Document("", "bubble", "", "def bubble(items):\n    items.sort(key=len)", "python")
FORM = Form(tokens=20, docs=6, query=8)


@cache
def shipped_words() -> WordTokenizer:
    """Read the shipped one's tokenizer, once."""
    return WordTokenizer.read(shipped_folder() / "rerank/tokenizer.json")


def overlap_model(labels: int = 1, inputs: tuple[str, ...] = INPUTS) -> bytes:
    """Build a model whose last output counts equal words across the two texts; others are minus that."""
    signs = np.array([-1.0] * (labels - 1) + [1.0], np.float32)
    constants = {
        "table": np.diag([0, 0, 0, 1, 1, 1, 1]).astype(np.float32),
        "signs": signs[None],
        "one": np.float32(1),
        "axis": np.array([-1]),
        "axis1": np.array([1]),
    }
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["words"]),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["one", "second"], ["first"]),
        helper.make_node("Unsqueeze", ["first", "axis"], ["first_wide"]),
        helper.make_node("Unsqueeze", ["second", "axis"], ["second_wide"]),
        helper.make_node("Mul", ["words", "first_wide"], ["first_words"]),
        helper.make_node("Mul", ["words", "second_wide"], ["second_words"]),
        helper.make_node("ReduceSum", ["first_words", "axis1"], ["a"], keepdims=0),
        helper.make_node("ReduceSum", ["second_words", "axis1"], ["b"], keepdims=0),
        helper.make_node("Mul", ["a", "b"], ["both"]),
        helper.make_node("ReduceSum", ["both", "axis"], ["shared"], keepdims=1),
        helper.make_node("MatMul", ["shared", "signs"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes,
        "overlap",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "l"]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["b", labels])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    return model.SerializeToString()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A cross-encoder as sentence-transformers lays it out."""
    where = tmp_path / "overlap"
    (where / "onnx").mkdir(parents=True)
    (where / "onnx/model.onnx").write_bytes(overlap_model())
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 1), ("[CLS]", 0))
    tokenizer.enable_padding(length=64)  # as many have it: must not matter
    tokenizer.save(str(where / "tokenizer.json"))
    return where


def test_query_and_document_are_read_together(folder: Path) -> None:
    scores = load_cross_encoder(str(folder)).score("open file", [CLOSE, OPEN, SUM])
    assert scores == [1, 3, 0]  # the name is a part of the document's text


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_scores_depend_on_nothing_else(folder: Path, threads: int) -> None:
    model = OnnxCrossEncoder(folder, threads=threads)
    alone = [model.score("close file", [document])[0] for document in (CLOSE, OPEN, SUM)]
    assert model.score("close file", [CLOSE, OPEN, SUM]) == alone
    assert model.score("close file", [SUM, CLOSE, OPEN, SUM]) == [alone[2], alone[0], alone[1], alone[2]]


def test_models_that_are_no_cross_encoders_are_named(folder: Path) -> None:
    (folder / "onnx/model.onnx").write_bytes(overlap_model(labels=5))
    with pytest.raises(DowseError, match="5 numbers"):
        load_cross_encoder(str(folder)).score("open", [OPEN])
    (folder / "onnx/model.onnx").write_bytes(overlap_model(inputs=(*INPUTS, "pixels")))
    with pytest.raises(DowseError, match="pixels"):
        load_cross_encoder(str(folder)).score("open", [OPEN])


def test_long_documents_are_cut_and_not_the_query(folder: Path) -> None:
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 12}))
    long = Document("", "sum", "", "sum " * 300 + "open file")
    assert load_cross_encoder(str(folder)).score("open file sum", [long]) == [
        6
    ]  # 12 less 3 marks and the query


def test_the_shipped_one_has_a_name_and_knows_what_fits() -> None:
    model = load_cross_encoder("rerank")
    assert model.name == "rerank"
    assert model.score_scale is not None
    for query, right, wrong in (
        ("read settings from a json file", READ_JSON, SORT),
        ("sort a list by length", SORT, READ_JSON),
    ):
        first, second = model.score(query, [right, wrong])
        assert first > second + 1
    assert model.score("anything", []) == []


@pytest.mark.parametrize("threads", [1, 3])
def test_scores_of_ours_depend_on_nothing_else(threads: int) -> None:
    model = DowseCrossEncoder(shipped_folder() / "rerank", device="cpu", threads=threads)
    documents = [READ_JSON, SORT, CLOSE, OPEN, SUM]
    alone = [model.score("close the file", [document])[0] for document in documents]
    assert model.score("close the file", documents) == pytest.approx(alone, abs=1e-4)


def test_a_folder_of_ours_must_be_of_this_version(tmp_path: Path) -> None:
    for said in ("{", '{"version": 99}', '{"version": 1, "name": "x", "unit": 1, "form": {"tongues": 3}}'):
        (tmp_path / CROSS_FILE).write_text(said)
        with pytest.raises(DowseError, match="no reranker of this version"):
            load_cross_encoder(str(tmp_path))


def test_what_ours_read() -> None:
    words = shipped_words()
    read = pair_ids("parse settings", READ_JSON, words, Form())
    told = [
        words.encode_text(part, 9)
        for part in ("Store", "load", "Read all settings", "path return json load open path")
    ]
    assert read == [
        BOS,
        *words.encode_text("parse settings", 9),
        EOS,
        *(i for part in told for i in part),
        EOS,
    ]
    nothing = pair_ids("open", Document("", "", "", ""), words, Form())
    assert nothing == [BOS, *words.encode_text("open", 9), EOS, UNK, EOS]


@given(st.text(max_size=200), *(st.text(max_size=200) for _ in range(4)))
def test_ours_never_read_more_than_they_learned_to(
    query: str, qualifier: str, name: str, docs: str, code: str
) -> None:
    read = pair_ids(query, Document(qualifier, name, docs, code), shipped_words(), FORM)
    assert len(read) <= FORM.query + 2 + FORM.tokens - 1
    assert (read[0], read[-1], read.count(EOS)) == (BOS, EOS, 2)
    assert read.count(BOS) == 1


SCORES = st.lists(
    st.tuples(st.integers(-1000, 1000), st.integers(-1000, 1000)), min_size=1, max_size=20
)  # whole numbers: ties stay ties


@given(SCORES)
def test_mix_at_its_ends_keeps_one_order(pairs: list[tuple[int, int]]) -> None:
    first, second = ([float(pair[i]) for pair in pairs] for i in (0, 1))
    for weight, kept in ((0.0, first), (1.0, second)):
        blended = mix_scores(first, second, weight)
        places = range(len(kept))
        assert sorted(places, key=kept.__getitem__) == sorted(places, key=blended.__getitem__)


def test_a_known_scale_keeps_a_clear_lead() -> None:
    close, far, second = [1.0, 0.95, 0.1], [9.0, 0.95, 0.1], [-2.0, 4.0, -1.0]
    assert mix_scores(close, second, 0.5, 0.1) == pytest.approx([0.4, 0.675, 0.0])
    assert max(range(3), key=mix_scores(close, second, 0.5, 0.1).__getitem__) == 1
    assert max(range(3), key=mix_scores(far, second, 0.5, 0.1).__getitem__) == 0
