"""What an installation costs: size, packages, and the time from an empty cache to the first answer.

    python scripts/measure_install.py dist/dowse-*.whl [--python PYTHON …] [--peer 'semble[mcp]'] [--out FILE]

pip, pipx, `uv tool install` and `uvx` each begin with an empty cache, so that their time has the downloads in
it. Sizes are of the files that are installed, without bytecode and without pip itself. A peer is installed by
`uvx`, too; it answers nothing here, for its model is a download of its own. `uv` is looked for beside this
interpreter or on PATH; pipx is fetched.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dowse.eval.about import about

# What `pip install dowse` may cost; --check fails above it.
MAX_BYTES, MAX_PACKAGES, MAX_WHEEL_BYTES = 240_000_000, 45, 40_000_000
QUESTION, ANSWER = "read an order", "parse_order"
SOURCE = 'def parse_order(text):\n    """Read an order."""\n    return text.split()\n'
_LIST = """
import json
from importlib.metadata import distributions
print(json.dumps({d.metadata["Name"]: sum(
    f.locate().stat().st_size for f in d.files or [] if f.suffix != ".pyc" and f.locate().exists()
) for d in distributions() if d.metadata["Name"] not in ("pip", "setuptools", "wheel")}))
"""


class Installer:
    """Runs installers for one Python, in a home folder of their own."""

    def __init__(self, work: Path, python: Path, uv: str) -> None:
        self._work, self._python, self._uv = work, python, uv
        self._env = {
            **{
                name: value for name, value in os.environ.items() if not name.startswith(("DOWSE_", "PYTHON"))
            },
            **{"UV_PYTHON_DOWNLOADS": "never", "UV_CACHE_DIR": str(work / "uv")},
            **{"UV_TOOL_DIR": str(work / "tools"), "UV_TOOL_BIN_DIR": str(work / "bin")},
            **{"PIPX_HOME": str(work / "pipx"), "PIPX_BIN_DIR": str(work / "pipx/bin")},
            **{"PIPX_DEFAULT_BACKEND": "pip", "PIP_CACHE_DIR": str(work / "pip")},
            **{"DOWSE_CACHE_DIR": str(work / "cache"), "DOWSE_DATA_DIR": str(work / "data")},
            "DOWSE_RESIDENT_MINUTES": "0",
        }
        self._code = work / "code"
        self._code.mkdir(parents=True)
        (self._code / "orders.py").write_text(SOURCE)

    def pip(self, wheel: str) -> dict[str, Any]:
        """Install by pip into an environment; weigh it."""
        self._run(self._python, "-m", "venv", self._work / "venv")
        python = self._work / "venv/bin/python"
        seconds = self._time(lambda: self._run(python, "-m", "pip", "install", "-q", wheel))
        return {"install_s": seconds, **self._weigh(python), **self._answer(python.with_name("dowse"))}

    def uv_tool(self, wheel: str) -> dict[str, Any]:
        """Install by `uv tool install`."""
        install = (self._uv, "tool", "install", "-q", "--python", self._python, wheel)
        seconds = self._time(lambda: self._run(*install))
        return {"install_s": seconds, **self._answer(self._work / "bin/dowse")}

    def pipx(self, wheel: str) -> dict[str, Any]:
        """Install by pipx."""
        self._run(self._uv, "tool", "install", "-q", "--python", self._python, "pipx")
        install = (self._work / "bin/pipx", "install", "-q", "--python", self._python, wheel)
        seconds = self._time(lambda: self._run(*install))
        return {"install_s": seconds, **self._answer(self._work / "pipx/bin/dowse")}

    def uvx(self, wheel: str) -> dict[str, Any]:
        """Install and answer in one command."""
        return self._answer(self._uv, "tool", "run", "-q", "--python", self._python, "--from", wheel, "dowse")

    def peer(self, requirement: str) -> dict[str, Any]:
        """Install another tool by `uvx` and have it say its version; weigh it."""
        name = requirement.partition("[")[0]
        run = (self._uv, "tool", "run", "-q", "--python", self._python, "--from", requirement)
        seconds = self._time(lambda: self._run(*run, name, "--version"))
        return {"to_version_s": seconds, **self._weigh(*run, "python")}

    def _answer(self, *dowse: str | Path) -> dict[str, Any]:
        def ask() -> None:
            output = self._run(*dowse, "search", QUESTION, "-k", "1")
            if ANSWER not in output:
                raise SystemExit(f"{dowse[0]}: no answer")

        return {"first_answer_s": self._time(ask)}

    def _weigh(self, *python: str | Path) -> dict[str, Any]:
        sizes = json.loads(self._run(*python, "-B", "-c", _LIST))
        largest = sorted(sizes.items(), key=lambda each: -each[1])[:10]
        return {"bytes": sum(sizes.values()), "packages": len(sizes), "largest_bytes": dict(largest)}

    def _run(self, *command: str | Path) -> str:
        done = subprocess.run(command, cwd=self._code, env=self._env, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(map(str, command))} failed")
        return done.stdout

    def _time(self, call: Callable[[], object]) -> float:
        started = time.perf_counter()
        call()
        return round(time.perf_counter() - started, 2)


def main() -> None:
    """Install by every tool, in every Python."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", type=Path, nargs="+", default=[Path(sys.executable)])
    parser.add_argument("--peer", help="a requirement to measure beside: semble[mcp]")
    parser.add_argument("--check", action="store_true", help="fail above the limits")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if uv is None:
        raise SystemExit("uv is not installed: pip install uv")
    wheel = options.wheel.resolve()
    results: dict[str, Any] = {"wheel_bytes": wheel.stat().st_size, "python": {}}
    with tempfile.TemporaryDirectory(prefix="dowse-install-") as work:
        for python in options.python:
            results["python"][version(python)] = measure(Path(work), python, uv, str(wheel), options.peer)
    results["load_average"] = round(os.getloadavg()[0], 1)
    sys.stdout.write(json.dumps(results, indent=1) + "\n")
    if options.out:
        known = {"about": about(["python", *sys.argv]), "results": results}
        options.out.write_text(json.dumps(known, indent=1) + "\n")
    if options.check and (problems := too_much(results)):
        raise SystemExit("\n".join(problems))


def measure(work: Path, python: Path, uv: str, wheel: str, peer: str | None) -> dict[str, Any]:
    """Return what each installer takes, each in a folder of its own."""
    found = {}
    for name in ("pip", "pipx", "uv_tool", "uvx", *(["peer"] if peer else [])):
        place = work / version(python) / name
        install = getattr(Installer(place, python, uv), name)
        found[peer if name == "peer" else name] = install(peer if name == "peer" else wheel)
        shutil.rmtree(place)
    return found


def too_much(results: dict[str, Any]) -> list[str]:
    """Return a line for each limit that is exceeded."""
    measured = [("wheel", results["wheel_bytes"], MAX_WHEEL_BYTES)]
    for name, each in results["python"].items():
        measured.append((f"Python {name}: bytes", each["pip"]["bytes"], MAX_BYTES))
        measured.append((f"Python {name}: packages", each["pip"]["packages"], MAX_PACKAGES))
    return [f"{what}: {value:,}, more than {limit:,}" for what, value, limit in measured if value > limit]


def version(python: Path) -> str:
    """Return the version of an interpreter."""
    code = "import platform; print(platform.python_version())"
    return subprocess.run([python, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


if __name__ == "__main__":
    main()
