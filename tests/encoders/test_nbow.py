"""The neural bag of words at use: what its vectors depend on, and what they don't."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from dowse.encoders.document import Document, Form
from dowse.errors import DowseError
from dowse.research.nbow import (
    ANY_LANGUAGE,
    FORM,
    QUERY,
    NbowEncoder,
    NbowModel,
    TokenTable,
    pool,
    write_model,
)

WORDS = "read write open close file socket http server user name json parse 2024 été".split()
DIMENSION = 8


def make_model(form: Form = FORM, languages: tuple[str, ...] = ("python", "go")) -> NbowModel:
    """A model with random weights and a vocabulary of bytes."""
    tokens = ["<s>", "<pad>", "</s>", "<unk>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokenizer = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    random = np.random.default_rng(5)

    def table() -> TokenTable:
        size = tokenizer.get_vocab_size()
        vectors, weights = random.normal(size=(size, DIMENSION)), random.uniform(0.1, 1, size)
        return TokenTable(vectors.astype(np.float16), weights.astype(np.float16))

    tables = {name: table() for name in (QUERY, ANY_LANGUAGE, *languages)}
    return NbowModel(tokenizer.to_str(), tables, form)


MODEL = make_model()
ENCODER = NbowEncoder(MODEL)


def document(code: str = "", name: str = "", docs: str = "", language: str = "python") -> Document:
    return Document(qualifier="", name=name, docs=docs, code=code, language=language)


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_words_does_not_matter(words, random):
    shuffled = random.sample(words, len(words))
    texts = [" ".join(words), " ".join(shuffled)]
    assert np.allclose(*ENCODER.encode_queries(texts), atol=1e-5)
    assert np.allclose(*ENCODER.encode_documents([document(text) for text in texts]), atol=1e-5)


@given(
    st.lists(st.text(max_size=300), min_size=1, max_size=5), st.sampled_from(["python", "go", "cobol", ""])
)
def test_every_row_has_length_one(texts, language):
    documents = [document(text, name=text[:5], docs=text[::-1], language=language) for text in texts]
    for rows in (ENCODER.encode_queries(texts), ENCODER.encode_documents(documents)):
        assert rows.shape == (len(texts), DIMENSION)
        assert rows.dtype == np.float32
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_pooling_is_the_weighted_mean():
    random = np.random.default_rng(1)
    table = TokenTable(
        random.normal(size=(20, 3)).astype(np.float32), random.uniform(0.1, 1, 20).astype(np.float32)
    )
    bags = [random.integers(0, 20, random.integers(1, 9)).tolist() for _ in range(600)]
    expected = [np.average(table.vectors[bag], axis=0, weights=table.weights[bag]) for bag in bags]
    assert np.allclose(pool(table, bags), expected, atol=1e-5)


def test_rows_keep_their_places_among_languages():
    mixed = [document("open file", language=name) for name in ("go", "python", "cobol", "go", "")]
    rows = ENCODER.encode_documents(mixed)
    assert np.array_equal(rows, np.concatenate([ENCODER.encode_documents([one]) for one in mixed]))
    assert np.array_equal(rows[0], rows[3])
    assert np.array_equal(rows[2], rows[4])  # a language without an encoder is read by the common one
    assert not np.allclose(rows[0], rows[1])
    assert not np.allclose(rows[1], rows[2])


def test_identifiers_are_split():
    camel, snake, words = ENCODER.encode_queries(
        ["parseHTTPServer", "parse_http_server", "parse http server"]
    )
    assert np.array_equal(camel, snake)
    assert np.array_equal(snake, words)


def test_a_name_counts_once_wherever_it_stands():
    named = document("def open_file(path): return path", name="open_file")
    unnamed = document("def open_file(path): return path")
    apart = document("def (path): return path", name="open_file")
    rows = ENCODER.encode_documents([named, unnamed, apart])
    assert np.allclose(rows[0], rows[1], atol=1e-5)
    assert np.allclose(rows[0], rows[2], atol=1e-5)


def test_documentation_moves_a_document_towards_its_query():
    docs = "Write the user's name to a socket. More is said later."
    query = ENCODER.encode_queries(["write the user's name to a socket"])[0]
    bare, described = ENCODER.encode_documents([document("open"), document("open", docs=docs)])
    assert described @ query > bare @ query
    without = NbowEncoder(make_model(Form(docs_weight=0)))
    assert np.array_equal(*without.encode_documents([document("open"), document("open", docs=docs)]))


def test_what_stands_far_down_is_not_read():
    short = NbowEncoder(make_model(Form(tokens=22, code=20, query=20)))
    start = "abcdefghi jklmnopqr"  # with the spaces before them 20 bytes, and each is a token
    assert np.array_equal(*short.encode_queries([start, start + " server"]))
    assert np.array_equal(*short.encode_documents([document(start), document(start + " server")]))


def test_the_view_of_documentation_alone_reads_it_as_a_query():
    docs_only = NbowEncoder(MODEL, view="docs")
    assert docs_only.id == f"{ENCODER.id}-docs"
    rows = docs_only.encode_documents(
        [document("code", docs="Open a file."), document("code", name="open_file")]
    )
    assert np.allclose(rows, docs_only.encode_queries(["open a file", "open file"]), atol=1e-5)


def test_a_folder_gives_back_the_encoder(tmp_path):
    write_model(MODEL, tmp_path, seed=3)
    loaded = NbowEncoder.load(tmp_path)
    documents = [document("open file", docs="Opens.", language=name) for name in ("python", "go", "cobol")]
    assert np.array_equal(loaded.encode_documents(documents), ENCODER.encode_documents(documents))
    assert np.array_equal(loaded.encode_queries(WORDS), ENCODER.encode_queries(WORDS))
    assert (loaded.id, loaded.name, loaded.dimension) == (ENCODER.id, "nbow", DIMENSION)
    settings = json.loads((tmp_path / "encoder.json").read_text())
    assert settings["arch"] == "nbow"
    assert settings["languages"] == ["go", "python"]
    assert settings["seed"] == 3


@pytest.mark.parametrize("damage", ["encoder.json", "weights.npz", "table"])
def test_a_folder_of_something_else_is_named_with_a_remedy(tmp_path, damage):
    write_model(MODEL, tmp_path)
    if damage == "table":
        settings = json.loads((tmp_path / "encoder.json").read_text())
        settings |= {"languages": ["go", "python", "cobol"]}
        (tmp_path / "encoder.json").write_text(json.dumps(settings))
    else:
        (tmp_path / damage).write_bytes(b"\x00 nothing of use")
    with pytest.raises(DowseError, match="dowse train --arch nbow"):
        NbowEncoder.load(tmp_path)


def test_use_needs_neither_torch_nor_onnxruntime(tmp_path):
    write_model(MODEL, tmp_path)
    program = (
        "import sys, pathlib; from dowse.research.nbow import NbowEncoder\n"
        "NbowEncoder.load(pathlib.Path(sys.argv[1])).encode_queries(['open a file'])\n"
        "assert not {'torch', 'onnxruntime'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
