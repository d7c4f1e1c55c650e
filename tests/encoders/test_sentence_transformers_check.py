"""Folders for sentence-transformers: data, or the package is not even imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from dowse.encoders.registry import load_encoder
from dowse.encoders.sentence_transformers_check import RefusedFolder, check_sentence_folder
from dowse.errors import DowseError

MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"},
    {"idx": 3, "name": "3", "path": "3_Normalize", "type": "sentence_transformers.models.Normalize"},
]
# A package of that name which writes down how it was called, and runs what a real one would run.
STAND_IN = """
import importlib, json, os, pathlib
pathlib.Path(os.environ["NOTED"]).write_text("imported")
class SentenceTransformer:
    def __init__(self, folder, **options):
        pathlib.Path(os.environ["NOTED"]).write_text(json.dumps({"folder": folder, **options}))
        for module in json.loads((pathlib.Path(folder) / "modules.json").read_text()):
            if not module["type"].startswith("sentence_transformers."):
                importlib.import_module(module["type"].rpartition(".")[0])
    def get_sentence_embedding_dimension(self):
        return 7
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as the package writes it, without real weights."""
    place = tmp_path / "model"
    for name in ("1_Pooling", "2_Dense", "3_Normalize"):
        (place / name).mkdir(parents=True)
    put(place / "modules.json", MODULES)
    put(place / "config.json", {"model_type": "bert", "hidden_size": 8})
    put(place / "tokenizer_config.json", {"tokenizer_class": "BertTokenizer", "model_max_length": 512})
    put(place / "sentence_bert_config.json", {"max_seq_length": 256, "do_lower_case": False})
    put(place / "1_Pooling/config.json", {"pooling_mode_mean_tokens": True})
    put(place / "2_Dense/config.json", {"activation_function": "torch.nn.modules.activation.Tanh"})
    put(place / "tokenizer.json", {"model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}})
    (place / "model.safetensors").touch()
    (place / "2_Dense/model.safetensors").touch()
    return place


def put(path: Path, value: object) -> None:
    path.write_text(json.dumps(value))


def refuse(folder: Path, reason: str) -> None:
    with pytest.raises(RefusedFolder, match=reason) as caught:
        check_sentence_folder(folder)
    assert "\n" not in str(caught.value)


def test_a_usual_folder_passes(folder: Path) -> None:
    check_sentence_folder(folder)
    (folder / "modules.json").unlink()  # a plain transformer
    check_sentence_folder(folder)


@pytest.mark.parametrize(
    "kind",
    [
        *("evil.Module", "os.system", "sentence_transformersx.models.Transformer", "model.Transformer"),
        *("sentence_transformers.models.Router", "sentence_transformers.models.WordEmbeddings"),
        *("sentence_transformers.util.import_from_string", "sentence_transformers..Transformer", "", None, 5),
        *("sentence_transformers.models.Transformer\n", ["sentence_transformers.models.Transformer"]),
    ],
)
def test_classes_outside_the_allow_list_are_refused(folder: Path, kind: object) -> None:
    put(folder / "modules.json", [{**MODULES[0], "type": kind}])
    refuse(folder, r"modules\.json names")


@pytest.mark.parametrize("path", ["..", "../other", "/etc", "a/b", "a\\b", None, "C:"])
def test_modules_lie_in_the_folder(folder: Path, path: object) -> None:
    put(folder / "modules.json", [{**MODULES[0], "path": path}])
    refuse(folder, "outside the folder")


@pytest.mark.parametrize("modules", [{}, 3, "x", ["x"], [None]])
def test_modules_that_are_no_list_of_objects_are_refused(folder: Path, modules: object) -> None:
    put(folder / "modules.json", modules)
    refuse(folder, "modules.json")


@pytest.mark.parametrize(
    "name", ["modeling.py", "2_Dense/x.PY", "x.so", "lib.dll", "x.pyc", "1_Pooling/native.dylib"]
)
def test_code_is_refused(folder: Path, name: str) -> None:
    (folder / name).touch()
    refuse(folder, "is code")


@pytest.mark.parametrize(
    "name", ["pytorch_model.bin", "2_Dense/pytorch_model.bin", "x.pt", "x.pkl", "model.ckpt", "tf_model.h5"]
)
def test_pickles_are_refused(folder: Path, name: str) -> None:
    (folder / name).touch()
    refuse(folder, "can run code")


def test_weights_are_safetensors(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "2_Dense/model.safetensors").unlink()
    refuse(folder, "no weights")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("config.json", {"auto_map": {"AutoModel": "modeling.Evil"}}),
        ("tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["x", None]}}),
        ("config.json", {"text_config": [{"auto_map": {"a": "b"}}]}),
        ("sentence_bert_config.json", {"model_args": {"trust_remote_code": True}}),
        ("sentence_bert_config.json", {"tokenizer_name_or_path": "owner/other"}),
        ("config.json", {"custom_pipelines": {"x": {"impl": "evil.Pipeline"}}}),
    ],
)
def test_settings_that_lead_to_code_are_refused(folder: Path, name: str, value: object) -> None:
    put(folder / name, value)
    refuse(folder, f"{name} sets")


@pytest.mark.parametrize(
    "value", ["os.system", "torch.hub.load", "evil.Activation", 5, "torch.nn.modules.activation."]
)
def test_functions_outside_the_allow_list_are_refused(folder: Path, value: object) -> None:
    put(folder / "2_Dense/config.json", {"activation_function": value})
    refuse(folder, "activation function")


def test_other_models_are_refused(folder: Path) -> None:
    put(folder / "adapter_config.json", {})
    refuse(folder, "another model")


def test_links_out_of_the_folder_are_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (folder / "4_More").symlink_to(tmp_path / "elsewhere")
    refuse(folder, "link to a folder")
    (folder / "4_More").unlink()
    (tmp_path / "secret").touch()
    (folder / "vocab.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(DowseError, match="leads out"):
        check_sentence_folder(folder)


@pytest.mark.parametrize("text", ["[" * 100_000, "{", "\x00", '{"a": NaN}'])
def test_settings_that_are_no_json_are_named(folder: Path, text: str) -> None:
    (folder / "config.json").write_text(text)
    with pytest.raises(DowseError, match="is not JSON") as caught:
        check_sentence_folder(folder)
    assert "\n" not in str(caught.value)


def _run(folder: Path, tmp_path: Path) -> tuple[subprocess.CompletedProcess[str], str]:
    """Load a folder's encoder where the stand-in is installed; return what was said, and what it noted."""
    package = tmp_path / "site" / "sentence_transformers"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text(STAND_IN)
    noted = tmp_path / "noted"
    noted.unlink(missing_ok=True)
    code = (
        "import sys; from dowse.encoders.registry import load_encoder; from dowse.errors import DowseError\n"
        "try: print(load_encoder(sys.argv[1]).dimension)\n"
        "except DowseError as error: print(error)"
    )
    paths = [str(package.parent), str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-c", code, folder],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "NOTED": str(noted)},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return done, noted.read_text() if noted.exists() else ""


def test_the_package_is_called_without_trust(folder: Path, tmp_path: Path) -> None:
    done, noted = _run(folder, tmp_path)
    assert done.stdout == "7\n", done.stderr
    called = json.loads(noted)
    assert called["folder"] == str(folder)
    assert called["trust_remote_code"] is False
    assert called["local_files_only"] is True
    assert called["model_kwargs"] == {"use_safetensors": True}


def test_code_of_a_folder_never_runs(folder: Path, tmp_path: Path) -> None:
    """The attack: modules.json names a module that lies in the folder, beside the weights."""
    ran = tmp_path / "ran"
    (folder / "evil_module.py").write_text(f"open({str(ran)!r}, 'w').close()\nclass Module: pass\n")
    put(folder / "modules.json", [{**MODULES[0], "type": "evil_module.Module"}])
    done, noted = _run(folder, tmp_path)
    assert "is refused" in done.stdout
    assert not ran.exists()
    assert noted == ""  # the package was not even imported


def test_the_command_refuses_in_one_line(folder: Path, sample: Path, tmp_path: Path) -> None:
    from helpers import run_dowse

    put(folder / "modules.json", [{**MODULES[0], "type": "evil.Module"}])
    done = run_dowse("index", sample, "--index-dir", tmp_path / "i", "--encoder", folder, "-q")
    assert done.returncode == 2
    assert "is refused" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_models_of_a_folder_are_loaded_lazily(folder: Path) -> None:
    """Naming an encoder reads its settings alone, so the check is made where the package would be asked."""
    encoder = load_encoder(str(folder))
    (folder / "evil.py").touch()
    with pytest.raises(RefusedFolder):
        _ = encoder.dimension


def test_a_tokenizer_that_grows_texts_is_refused(folder: Path) -> None:
    step = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 10}
    model = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}
    put(folder / "tokenizer.json", {"normalizer": step, "model": model})
    with pytest.raises(DowseError, match=r"tokenizer\.json .*makes texts longer"):
        check_sentence_folder(folder)


@pytest.mark.parametrize("answer", [[[1.0, 2.0]], [["a"] * 7], 1.0, ValueError("\x1b[2J\nforged")])
def test_what_the_package_gives_is_checked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, answer: object
) -> None:
    class StandIn:
        def __init__(self, *_: object, **__: object) -> None: ...

        def get_sentence_embedding_dimension(self) -> int:
            return 7

        def encode(self, *_: object, **__: object) -> object:
            if isinstance(answer, Exception):
                raise answer
            return answer

    package = ModuleType("sentence_transformers")
    package.SentenceTransformer = StandIn  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    with pytest.raises(DowseError, match=str(folder)) as caught:
        load_encoder(str(folder)).encode_queries(["text"])
    assert str(caught.value).isprintable()
