"""Fuzz a repository's `.dowse.toml`: random bytes, damaged TOML, odd values for every setting.

    python bench/fuzz_settings.py [--count 20000] [--seed 0] [--out bench/results/fuzz_settings.json]

Every file is read as each command reads it. Counts exceptions other than DowseError, files that take over
5 s, values that got past the trust boundary, and peak memory.
"""

from __future__ import annotations

import argparse
import os
import random
import stat
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from dowse.config import SETTINGS, Settings, load_settings, read_project_file
from dowse.errors import DowseError

from common import peak_megabytes, write_results

_SLOW_SECONDS = 5.0
_VALUES = """1 0 -1 5 20 1e400 1e308 inf nan true false "" "auto" "x" [] {} [[]] ["a"] ["!a"] [1] {a=1}
    0x7f 0o7 1_000 0.5 99999999999999999999 2026-01-01 12:00:00 '\\' "\\u0000" "\\u001b[31m" "\\ud800"
    "../.." "/etc/passwd" "elastic://h/x" "hf:a/b" "./model"
    """.split()


def main() -> None:
    """Run the fuzzer and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "fuzz_settings.json")
    options = parser.parse_args()
    write_results(options.out, run(options.count, options.seed))


def run(count: int, seed: int) -> dict[str, object]:
    """Try so many files; return counts."""
    rng = random.Random(seed)
    outcomes: Counter[str] = Counter()
    problems: list[str] = []
    slowest = 0.0
    usual = Settings()
    with tempfile.TemporaryDirectory(prefix="dowse-fuzz-") as folder:
        os.environ["DOWSE_CONFIG"] = f"{folder}/none.toml"
        root = Path(folder, "repository")
        root.mkdir()
        for number in range(count):
            make(rng, root / ".dowse.toml")
            started = time.monotonic()
            try:
                settings = load_settings(root)
                outcome = "ignored in part" if read_project_file(root).note else "read"
                for name in usual.__slots__:
                    if not SETTINGS[name].project and getattr(settings, name) != getattr(usual, name):
                        problems.append(f"{number}: {name} = {getattr(settings, name)!r} got through")
            except DowseError as error:
                outcome = "refused"
                if "\n" in str(error) or len(str(error)) > 2_000:
                    problems.append(f"{number}: a message of more than a line")
            except Exception as error:
                outcome = "traceback"
                problems.append(f"{number}: {type(error).__name__}: {error}"[:300])
            outcomes[outcome] += 1
            slowest = max(slowest, time.monotonic() - started)
    return {
        "files": count,
        "outcomes": dict(outcomes),
        "tracebacks": outcomes["traceback"],
        "over_5_s": int(slowest > _SLOW_SECONDS),
        "slowest_seconds": round(slowest, 3),
        "peak_megabytes": peak_megabytes(),
        "problems": problems[:50],
    }


def make(rng: random.Random, place: Path) -> None:
    """Put a file, or something else, where the settings are."""
    if place.is_dir() and not place.is_symlink():
        place.rmdir()
    else:
        place.unlink(missing_ok=True)
    shape = rng.randrange(20)
    if shape == 0:
        _special(rng, place)
    elif shape < 3:
        place.write_bytes(rng.randbytes(rng.choice((0, 1, 10, 1_000, 200_000))))
    else:
        data = bytearray(_toml(rng).encode("utf-8", "surrogatepass"))
        for _ in range(rng.choice((0, 0, 0, 1, 3))):
            at = rng.randrange(len(data) + 1)
            data[at : at + rng.randrange(3)] = rng.randbytes(rng.randrange(3))
        place.write_bytes(bytes(data))


def _special(rng: random.Random, place: Path) -> None:
    kinds: list[Callable[[], object]] = [
        lambda: os.mkfifo(place),
        lambda: os.mknod(place, stat.S_IFSOCK | 0o600),
        place.mkdir,
        lambda: place.symlink_to("/dev/zero"),
        lambda: place.symlink_to("/etc/passwd"),
        lambda: place.symlink_to(place.name),
        lambda: place.write_bytes(b"#" * 5_000_000),
    ]
    rng.choice(kinds)()


def _toml(rng: random.Random) -> str:
    names = [*Settings.__slots__ * 5, "other", "a.b", '"\\u001b]0;x\\u0007"', "[table]", "[[list]]"]
    lines = []
    for _ in range(rng.randrange(1, 4)):
        name = rng.choice(names)
        lines.append(name if name.startswith("[") else f"{name} = {_value(rng)}")
    return "\n".join(lines) + "\n"


def _value(rng: random.Random) -> str:
    shape = rng.randrange(12)
    if shape == 0:
        return "[" * rng.choice((1, 100, 50_000))
    if shape == 1:
        return "9" * rng.choice((1, 20, 400, 5_000))
    if shape == 2:
        return '"' + "".join(chr(rng.randrange(0x20, 0x10FFF)) for _ in range(rng.randrange(200))) + '"'
    if shape == 3:
        return "[" + ", ".join(rng.choice(_VALUES) for _ in range(rng.choice((2, 2_000)))) + "]"
    return rng.choice(_VALUES)


if __name__ == "__main__":
    main()
