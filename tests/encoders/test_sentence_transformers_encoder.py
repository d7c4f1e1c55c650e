"""Folders for sentence-transformers: how the package is called, and what becomes of its errors."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from dowse.encoders.registry import load_encoder
from dowse.errors import DowseError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as the package writes it, without weights."""
    place = tmp_path / "model"
    (place / "1_Pooling").mkdir(parents=True)
    (place / "modules.json").write_text("[]")
    (place / "sentence_bert_config.json").write_text('{"max_seq_length": 100}')
    (place / "1_Pooling/config.json").write_text('{"pooling_mode_mean_tokens": true}')
    return place


def stand_in(monkeypatch: pytest.MonkeyPatch, answer: object) -> dict[str, object]:
    """Install a package of that name which gives this answer; return what it is called with."""
    called: dict[str, object] = {}

    class StandIn:
        def __init__(self, folder: str, **options: object) -> None:
            called.update(options, folder=folder)

        def get_sentence_embedding_dimension(self) -> int:
            return 7

        def encode(self, *_: object, **__: object) -> object:
            if isinstance(answer, Exception):
                raise answer
            return answer

    package = ModuleType("sentence_transformers")
    package.SentenceTransformer = StandIn  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    return called


def test_the_package_is_called_without_trust(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called = stand_in(monkeypatch, [[1.0] * 7])
    encoder = load_encoder(str(folder))
    assert not called  # naming an encoder reads its settings alone
    assert encoder.encode_queries(["text"]).shape == (1, 7)
    assert called["folder"] == str(folder)
    assert called["trust_remote_code"] is False
    assert called["local_files_only"] is True
    assert called["model_kwargs"] == {"use_safetensors": True}


@pytest.mark.parametrize("answer", [[[1.0, 2.0]], [["a"] * 7], 1.0, ValueError("\x1b[2J\nforged")])
def test_what_the_package_gives_is_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, answer: object
) -> None:
    stand_in(monkeypatch, answer)
    with pytest.raises(DowseError, match=str(folder)) as caught:
        load_encoder(str(folder)).encode_queries(["text"])
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("text", ["{", "[]"])
def test_broken_settings_are_one_line(folder: Path, text: str) -> None:
    (folder / "sentence_bert_config.json").write_text(text)
    with pytest.raises(DowseError, match=r"sentence_bert_config\.json") as caught:
        load_encoder(str(folder))
    assert str(caught.value).isprintable()
