"""The image, without Docker: its instructions, and the commands of its RUN lines in a folder of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
INSTRUCTIONS = [
    tuple(line.split(" ", 1))
    for line in (ROOT / "Dockerfile").read_text().splitlines()
    if line and not line.startswith("#")
]


def values(instruction: str) -> list[str]:
    return [value for name, value in INSTRUCTIONS if name == instruction]


def test_it_runs_dowse_and_not_as_root():
    (user,) = values("USER")
    assert int(user) > 0  # a number: a cluster can see that it is not root
    assert json.loads(values("ENTRYPOINT")[0]) == ["dowse"]
    names = [name for name, _ in INSTRUCTIONS]
    assert "RUN" not in names[names.index("USER") :]
    assert f"useradd --uid {user} " in values("RUN")[-1]
    assert "ADD" not in names and "COPY" not in names


def test_the_context_is_the_wheel_and_the_list_of_what_it_needs():
    assert (ROOT / ".dockerignore").read_text().split() == ["*", "!dist/*.whl", "!requirements/plain.txt"]


def test_only_packages_with_known_hashes_are_installed():
    locked, wheel = [line for line in values("RUN") if "pip install" in line]
    assert locked.endswith("--require-hashes -r /requirements/plain.txt")
    assert "--no-deps" in wheel


def test_the_commands_of_run_lines(tmp_path):
    """pip gets what it is told: the mounted wheel, and flags that it knows; the shell scripts are valid."""
    (tmp_path / "dist").mkdir()
    wheel = tmp_path / "dist" / "dowse_sample-1.0-py3-none-any.whl"
    make_wheel(wheel)
    (install,) = [line for line in values("RUN") if line.endswith("*.whl")]
    mount = re.match(r"--mount=type=bind,source=(\S+),target=(\S+) ", install)
    assert mount is not None and mount[1] == "dist"
    command = install[mount.end() :].replace(mount[2] + "/", f"{tmp_path / mount[1]}/")
    environment = {
        **os.environ,
        **{"PIP_TARGET": str(tmp_path / "site"), "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    done = subprocess.run(["sh", "-ec", command], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "sample.py").exists()
    for line in values("RUN"):
        assert subprocess.run(["sh", "-n", "-c", re.sub(r"^--\S+ ", "", line)]).returncode == 0


def make_wheel(path: Path) -> None:
    import zipfile

    about = "dowse_sample-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("sample.py", "")
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: dowse-sample\nVersion: 1.0\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
