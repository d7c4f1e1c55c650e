"""The wheel and the sdist: what is in them, the same bytes again, and an installation that answers."""

from __future__ import annotations

import compileall
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from dowse.encoders.model_files import EXTRA_MODELS
from dowse.version import __version__

ROOT = Path(__file__).parents[2]


def contents_checker():
    spec = importlib.util.spec_from_file_location("contents", ROOT / "scripts/distribution_contents.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build(source: Path, target: Path, kind: str) -> Path:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(target)]
    done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (built,) = target.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return built


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    """Return a copy of what is packed, with caches, without git, and with small files instead of weights.

    Compressing the weights would take most of the time; `scripts/package` packs them.
    """
    tree = tmp_path_factory.mktemp("tree")
    for name in ("src", "models", "bench/figures"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("weights.bin"))
    shutil.copytree(ROOT / "packaging/models", tree / "packaging/models")
    for folder in (ROOT / "models").glob("*/"):
        (tree / "models" / folder.name / "weights.bin").write_bytes(b"weights")
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", ".gitignore"):
        shutil.copy(ROOT / name, tree)
    shutil.copytree(ROOT / "docs", tree / "docs")
    compileall.compile_dir(tree / "src/dowse/query", quiet=1)
    return tree


@pytest.fixture(scope="module")
def sdist(tree) -> Path:
    return build(tree, tree / "built", "sdist")


@pytest.fixture(scope="module")
def wheel(tree) -> Path:
    return build(tree, tree / "built", "wheel")


def test_contents(tree, wheel, sdist, tmp_path):
    assert list(wheel.parents[1].rglob("*.pyc"))  # there were caches to leave out
    checker = contents_checker()
    models = build(tree / "packaging/models", tmp_path, "wheel")
    assert [problem for each in (wheel, sdist, models) for problem in checker.problems(each)] == []


def test_every_model_is_in_one_wheel(tree, wheel, tmp_path):
    def models(path: Path) -> list[str]:
        with zipfile.ZipFile(path) as archive:
            found = (
                re.fullmatch(r"dowse(?:_|/)models/(\w+)/weights\.bin", name) for name in archive.namelist()
            )
            return [match[1] for match in found if match]

    extra = build(tree / "packaging/models", tmp_path, "wheel")
    assert sorted(models(wheel)) == ["base", "tiny"] and sorted(models(extra)) == sorted(EXTRA_MODELS)
    assert {path.parent.name for path in ROOT.glob("models/*/weights.bin")} == {
        *models(wheel),
        *models(extra),
    }


def test_the_extra_allows_the_version_of_its_package():
    (extra,) = settings("pyproject.toml")["optional-dependencies"]["rerank"]
    models = settings("packaging/models/pyproject.toml")
    assert Requirement(extra).name == models["name"] and models["version"] in Requirement(extra).specifier


def settings(path: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / path).read_text())["project"]


def test_a_wheel_from_the_sdist_without_git_has_the_same_bytes(wheel, sdist, tmp_path):
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    again = build(tmp_path / f"dowse-{__version__}", tmp_path / "dist", "wheel")
    assert again.name == wheel.name and again.read_bytes() == wheel.read_bytes()


def test_an_installed_wheel_answers(wheel, tmp_path, sample):
    target = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "--no-deps", "--no-index", "--no-compile", "--target", str(target), str(wheel)], check=True
    )
    environment = {**os.environ, "PYTHONPATH": str(target), "DOWSE_ENCODER": "none"}
    command = [str(target / "bin" / "dowse")]
    version = subprocess.run([*command, "--version"], env=environment, capture_output=True, text=True)
    assert version.stdout == f"dowse {__version__}\n", version.stderr
    code = "import dowse; print(dowse.__file__)"
    place = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert place.stdout.startswith(str(target))
    question = ["search", "read an order", str(sample), "--index-dir", str(tmp_path / "index"), "--no-daemon"]
    answer = subprocess.run([*command, *question], env=environment, capture_output=True, text=True)
    assert "parse_order" in answer.stdout, answer.stderr
