"""From a wheel to the first answer: a fresh `uv tool install`, its time and size, and what extras would save.

    python bench/install.py dist/*.whl --tree DIR [--python PATH] [--out bench/results/install.json]

Needs `uv` beside the interpreter or on PATH. The first installation begins with an empty cache: its time
has the downloads in it. The second finds everything in the cache. Sizes are of files, without bytecode.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from common import work_folder, write_results

# What `dowse serve` and `dowse mcp` need, and the other commands do not.
PARTS = {
    "serve": ("fastapi", "uvicorn", "prometheus-client"),
    "mcp": ("mcp",),
    "serve and mcp": ("fastapi", "uvicorn", "prometheus-client", "mcp", "pydantic"),
}
# A part becomes an extra if it saves this share of the installed bytes.
BAR = 1 / 3
_LIST = """
import json
from importlib.metadata import distributions
print(json.dumps({d.metadata["Name"]: {
    "bytes": sum(f.locate().stat().st_size for f in d.files or [] if f.locate().exists()),
    "requires": d.requires or [], "version": d.version} for d in distributions()}))
"""


def main() -> None:
    """Install twice, ask once, and weigh."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--tree", type=Path, required=True, help="the repository that is asked about")
    parser.add_argument("--query", default="parse configuration file")
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with work_folder(None) as work:
        results = measure(work, options.wheel.resolve(), options.python, options.tree, options.query)
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


def measure(work: Path, wheel: Path, python: Path, tree: Path, query: str) -> dict[str, Any]:
    """Return times and sizes of an installation."""
    uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if uv is None:
        raise SystemExit("uv is not installed: pip install uv")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("DOWSE_")},
        **{"UV_PYTHON_DOWNLOADS": "never", "UV_CACHE_DIR": str(work / "uv-cache")},
        **{"UV_TOOL_DIR": str(work / "tools"), "UV_TOOL_BIN_DIR": str(work / "bin")},
        **{"DOWSE_CACHE_DIR": str(work / "cache"), "DOWSE_DATA_DIR": str(work / "data")},
        "DOWSE_RESIDENT_MINUTES": "0",
    }

    def timed(*command: str | Path) -> float:
        started = time.perf_counter()
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        return round(time.perf_counter() - started, 2)

    install = (uv, "tool", "install", "--quiet", "--force", "--python", python, wheel)
    cold = timed(*install)
    timed(uv, "tool", "uninstall", "--quiet", "dowse")
    cached = timed(*install)
    # Files of the environment before Python has written any bytecode.
    listing = [work / "tools/dowse/bin/python", "-B", "-c", _LIST]
    known = json.loads(subprocess.run(listing, env=environment, check=True, capture_output=True).stdout)
    copy = shutil.copytree(tree, work / "tree")  # no part of another repository with an index of its own
    answer = timed(work / "bin/dowse", "search", query, copy)
    timed(work / "bin/dowse", "index", "--quiet", copy)  # what the search has left to the background
    again = timed(work / "bin/dowse", "search", query, copy)
    total = sum(each["bytes"] for each in known.values())
    largest = sorted(((each["bytes"], name) for name, each in known.items()), reverse=True)[:12]
    return {
        "wheel_bytes": wheel.stat().st_size,
        "seconds": {
            "install_with_downloads": cold,
            "install_from_cache": cached,
            "first_answer": answer,
            "second_answer": again,
        },
        "load_average": round(os.getloadavg()[0], 1),
        "installed_bytes": total,
        "distributions": len(known),
        "largest_bytes": {name: size for size, name in largest},
        "extras": {name: share(without(known, parts), total) for name, parts in PARTS.items()},
    }


def share(size: int, total: int) -> dict[str, Any]:
    """Return what leaving a part out would save, and whether that is enough for an extra."""
    return {"saved_bytes": size, "share": round(size / total, 3), "worth_it": size / total >= BAR}


def without(known: dict[str, Any], parts: tuple[str, ...]) -> int:
    """Return the bytes of what only these dependencies need."""
    sizes = {normalised(name): each for name, each in known.items()}
    waiting, kept = [Requirement("dowse")], dict[str, set[str]]()
    while waiting:
        requirement = waiting.pop()
        name, extras = normalised(requirement.name), {"", *requirement.extras}
        if name not in sizes or extras <= kept.get(name, set()):
            continue
        kept[name] = kept.get(name, set()) | extras
        for each in map(Requirement, sizes[name]["requires"]):
            wanted = each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in extras)
            if wanted and not (name == "dowse" and normalised(each.name) in parts):
                waiting.append(each)
    return sum(each["bytes"] for name, each in sizes.items() if name not in kept)


def normalised(name: str) -> str:
    """Return a name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main()
