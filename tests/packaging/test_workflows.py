"""Workflows, the action and the hooks are valid, run scripts that there are, and do what they say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
CASES = '{"query": "parse cookie header", "relevant_files": ["web/cart.js"]}\n'
ENVIRONMENT = {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}


@pytest.fixture
def repository(sample_copy: Path) -> Path:
    shutil.rmtree(sample_copy / ".git", ignore_errors=True)
    (sample_copy / "cases.jsonl").write_text(CASES)
    git(sample_copy, "init -q -b main")
    commit(sample_copy)
    return sample_copy


def git(folder: Path, arguments: str) -> str:
    command = ["git", "-c", "user.name=Ada", "-c", "user.email=a@example.org", *arguments.split()]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "add -A")
    git(folder, "commit -q -m change")
    return git(folder, "rev-parse HEAD")


@pytest.mark.parametrize(
    ("schema", "paths"),
    [("vendor.github-workflows", WORKFLOWS), ("vendor.github-actions", [ROOT / "action.yml"])],
)
def test_schemas(schema, paths):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_actionlint():
    if not shutil.which("actionlint"):
        pytest.skip("actionlint is not installed; the schemas are checked above")
    done = subprocess.run(["actionlint", *map(str, WORKFLOWS)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_workflows_run_scripts_that_there_are_with_few_rights():
    for path in WORKFLOWS:
        workflow = yaml.safe_load(path.read_text())
        assert workflow["permissions"] == {"contents": "read"}
        for name, job in workflow["jobs"].items():
            assert job["timeout-minutes"] <= 45, name
            assert set(job.get("permissions", {})) <= {"id-token", "contents"}, name
            for step in job["steps"]:
                assert "secrets." not in str(step)
                for script in re.findall(r"^scripts/[\w-]+", step.get("run", ""), re.MULTILINE):
                    assert os.access(ROOT / script, os.X_OK), script


def test_actions_of_others_are_named_by_commit():
    """A tag can be moved to other code; beside the commit is the version, for people."""
    for path in (*WORKFLOWS, ROOT / "action.yml"):
        for use in re.findall(r"uses: (.*)", path.read_text()):
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use), (path.name, use)


def test_the_action_installs_packages_with_known_hashes():
    (install,) = [
        step["run"]
        for step in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
        if step.get("name") == "install dowse"
    ]
    assert '--require-hashes -r "$ACTION/requirements/plain.txt"' in install
    assert '--no-deps --no-build-isolation "$ACTION"' in install


def test_no_commit_is_an_option(repository, tmp_path):
    (tmp_path / "hook").mkdir()
    options = ("--upload-pack=touch pwned; false", "-bpwned", "--lock")
    for number, base in enumerate(options):
        done = gate(repository, base, tmp_path / str(number))
        assert done.returncode == 128 and "invalid reference" in done.stderr, (base, done.stderr)
    assert "pwned" not in git(repository, "branch") and not (repository / "pwned").exists()


def test_publishing_waits_for_all_checks():
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]
    assert jobs["publish"]["needs"] == "build" and jobs["publish"]["permissions"] == {"id-token": "write"}
    assert 'scripts/package --check --tag "$GITHUB_REF_NAME"' in str(jobs["build"]["steps"])


@pytest.mark.large
def test_the_action_fails_a_pull_request_that_makes_search_worse(repository, tmp_path):
    base = git(repository, "rev-parse HEAD")
    assert gate(repository, base, tmp_path / "same").returncode == 0
    (repository / "web/cart.js").write_text("// nothing\n")
    commit(repository)
    worse = gate(repository, base, tmp_path / "worse", STRICT="true")
    assert worse.returncode == 1, worse.stderr
    assert "1.000" in (tmp_path / "worse/summary.md").read_text()


def gate(repository: Path, base: str, work: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the last step of the action as a runner does."""
    work.mkdir()
    step = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"][-1]
    values = {
        **{"DATASET": "cases.jsonl", "BASE": base, "ROW": "keyword", "STRICT": "false", "WORK": str(work)},
        **{"DOWSE_ENCODER": "none", "DOWSE_CACHE_DIR": str(work / "cache")},
    }
    assert set(step["env"]) == set(values)
    files = {
        "GITHUB_OUTPUT": str(work / "output"),
        "GITHUB_STEP_SUMMARY": str(work / "summary.md"),
    }
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
        cwd=repository,
        env={**ENVIRONMENT, **values, **files, **inputs},
        capture_output=True,
        text=True,
    )


def test_pre_commit_hooks(repository, tmp_path):
    """They take the dowse of this environment, and install nothing."""
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks)
    git(hooks, "init -q -b main")
    commit(hooks)

    def run(hook: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["pre-commit", "try-repo", str(hooks), hook, "--all-files", *arguments]
        return subprocess.run(command, cwd=repository, env=ENVIRONMENT, capture_output=True, text=True)

    indexed = run("dowse-index", "--hook-stage", "post-merge")
    assert indexed.returncode == 0 and "Passed" in indexed.stdout
