"""Check what is in the wheels and the sdist: all that belongs there, and nothing else.

python scripts/distribution_contents.py dist/*.whl dist/*.tar.gz
"""

from __future__ import annotations

import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

ROOT = Path(__file__).parents[1]
MODELS = ROOT / "packaging/models"
# The models are most of it.
_MAX_BYTES = 40_000_000
_IN_METADATA = (
    "METADATA",
    "RECORD",
    "WHEEL",
    "entry_points.txt",
    "licenses/LICENSE",
    "licenses/src/dowse/interfaces/http/page/licences.txt",
)
# Named here although they follow from the sources: without one of them an installation is broken.
_NEEDED = (
    "dowse/py.typed",
    "dowse/models/SHA256SUMS",
    "dowse/models/base/weights.bin",
    "dowse/models/tiny/weights.bin",
    "dowse/interfaces/http/page/index.html",
    "dowse/interfaces/http/page/licences.txt",
    "dowse/parsing/queries/python.scm",
)


def problems(path: Path) -> list[str]:
    """Return what is wrong with a wheel or an sdist."""
    if path.name.startswith("dowse_models-"):
        found = _models_problems(path)
    else:
        found = _wheel_problems(path) if path.suffix == ".whl" else _sdist_problems(path)
    if path.stat().st_size > _MAX_BYTES:
        found.append(f"{path.name} has {path.stat().st_size:,} bytes")
    return found


def _wheel_problems(path: Path) -> list[str]:
    expected = {f"dowse/{name}" for name in _files(ROOT / "src/dowse")} | _included(ROOT)
    expected |= {f"{_about(path)}/{name}" for name in _IN_METADATA}
    found = _differences(path.name, _names(path), expected)
    return found + _differences(path.name, _NEEDED, expected, partial=True)


def _models_problems(path: Path) -> list[str]:
    expected = _included(MODELS) | {f"{_about(path)}/{name}" for name in ("METADATA", "RECORD", "WHEEL")}
    return _differences(path.name, _names(path), expected)


def _names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def _about(wheel: Path) -> str:
    return "-".join(wheel.name.split("-")[:2]) + ".dist-info"


def _included(project: Path) -> set[str]:
    """Return the files that a wheel has from elsewhere."""
    found = set()
    for source, target in _settings(project)["wheel"]["force-include"].items():
        place = project / source
        found |= {f"{target}/{name}" for name in _files(place)} if place.is_dir() else {target}
    return found


def _settings(project: Path) -> dict[str, Any]:
    settings = tomllib.loads((project / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    return cast(dict[str, Any], settings)


def _sdist_problems(path: Path) -> list[str]:
    top = path.name.removesuffix(".tar.gz")
    with tarfile.open(path) as archive:
        names = [member.name for member in archive if member.isfile()]
    expected = {"PKG-INFO", "pyproject.toml", ".gitignore"}
    for source in _settings(ROOT)["sdist"]["only-include"]:
        place = ROOT / source
        expected |= {f"{source}/{name}" for name in _files(place)} if place.is_dir() else {source}
    return _differences(path.name, names, {f"{top}/{name}" for name in expected})


def _differences(
    archive: str, names: Iterable[str], expected: set[str], *, partial: bool = False
) -> list[str]:
    more = [f"{archive} should not have {name}" for name in sorted(set(names) - expected)]
    less = [] if partial else [f"{archive} lacks {name}" for name in sorted(expected - set(names))]
    return more + less


def _files(folder: Path) -> list[str]:
    """Return the files below a folder that are sources, not caches."""
    paths = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return [path.relative_to(folder).as_posix() for path in paths]


def main() -> int:
    """Print every problem of the archives named, and fail if there is any."""
    found = [problem for name in sys.argv[1:] for problem in problems(Path(name))]
    sys.stderr.writelines(f"{problem}\n" for problem in found)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
