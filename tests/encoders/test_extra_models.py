"""Models that come with an extra: found beside the package, named where they are missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dowse
from dowse.encoders.model_files import EXTRA_MODELS, EXTRA_PACKAGE, shipped_folder

from helpers import write_tree

REMEDY = 'is an extra: pip install "dowse[rerank]"'
FILES = {
    "inn.py": 'def sweep():\n    """Sweep the floor."""\n\n\ndef bake():\n    """Bake on the floor."""\n',
    # What a repository has in it is no model.
    "small/encoder.json": "{}",
    ".dowse.toml": "rerank = true\n",
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """An installation without extras."""
    site = tmp_path / "site"
    package = Path(dowse.__file__).parent
    shutil.copytree(package, site / "dowse", symlinks=True)
    copy_models(site / "dowse/models", ["base", "tiny"])
    write_tree(tmp_path / "inn", FILES)
    return site


def copy_models(target: Path, names: list[str]) -> None:
    for name in names:
        shutil.copytree(shipped_folder() / name, target / name)
    shutil.copy(shipped_folder() / "SHA256SUMS", target)


def run(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site), "DOWSE_ENCODER": "none"}
    command = [sys.executable, "-P", "-m", "dowse.interfaces.cli.main", *arguments]
    return subprocess.run(command, cwd=site.parent / "inn", env=environment, capture_output=True, text=True)


def test_an_encoder_that_is_not_installed_is_one_line(site):
    answer = run(site, "search", "sweep the floor", "--encoder", "small", "--no-daemon")
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr.splitlines()[-1] == f"dowse: the model 'small' {REMEDY}"


def test_a_search_is_answered_without_the_reranker(site):
    """The repository's own settings ask for it: its user need not have it."""
    answer = run(site, "search", "sweep the floor", "--no-daemon")
    assert answer.returncode == 0 and "def sweep" in answer.stdout
    assert f"not reranked: the model 'rerank' {REMEDY}" in answer.stderr


def test_an_evaluation_does_not_pass_over_it(site):
    (site.parent / "cases.jsonl").write_text('{"query": "sweep the floor", "relevant_files": ["inn.py"]}\n')
    done = run(site, "eval", "--dataset", "../cases.jsonl", "--modes", "keyword+rerank")
    assert done.returncode == 2 and REMEDY in done.stderr.splitlines()[-1]


def test_the_package_of_the_extra_is_found(site):
    copy_models(site / EXTRA_PACKAGE, list(EXTRA_MODELS))
    answer = run(site, "search", "sweep the floor", "--encoder", "small", "--rerank", "--no-daemon")
    assert answer.returncode == 0 and "def sweep" in answer.stdout
    assert "rerank" not in answer.stderr
    listed = len((shipped_folder() / "SHA256SUMS").read_text().splitlines())
    doctor = run(site, "doctor")
    assert f"ok   models: {listed} files have their checksums" in doctor.stdout
    (site / EXTRA_PACKAGE / "rerank/weights.bin").unlink()
    assert "rerank/weights.bin; reinstall dowse" in run(site, "doctor").stdout
