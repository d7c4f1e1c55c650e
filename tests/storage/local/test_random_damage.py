"""Damage at random places of every file that dowse keeps: no traceback, no hang, and the right exit codes.

A bit that changes a text is not noticed; what is noticed is built again, and answers as before.
"""

from __future__ import annotations

import faulthandler
import random
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from dowse import Index
from dowse.feedback.events import Event
from dowse.interfaces.cli.main import main

from helpers import age, large_from, write_tree

# An eighth of them in every run, all in that of a release.
PLACES, PARTS = 200, 8
# No case takes longer: it hangs.
SECONDS = 120
KINDS = ("bit", "run", "zeros", "cut", "delete")
QUERIES = (
    ["search", "heat oven", "--mode", "hybrid"],
    ["search", "/cool_1/"],
    ["search", "oven degrees", "--mode", "tfidf"],
    ["callers", "cool_3"],
    ["log", "warm the kitchen"],
)
FILES = {
    f"m{n}.py": f"def heat_oven_{n}(degrees):\n    '''Heat oven {n}.'''\n    return cool_{n}(degrees)\n\n\n"
    f"def cool_{n}(degrees):\n    return degrees - {n}\n"
    for n in range(12)
}
REBUILT = "building it again"


@dataclass(frozen=True)
class Case:
    """One place that is damaged."""

    file: str
    kind: str
    at: float  # a share of its size
    bit: int

    def apply(self, folder: Path) -> None:
        """Damage the file."""
        path = folder / self.file
        data = bytearray(path.read_bytes())
        at = int(self.at * len(data))
        if self.kind == "delete":
            path.unlink()
            return
        if self.kind == "bit":
            data[at] ^= 1 << self.bit
        elif self.kind == "cut":
            del data[at:]
        else:
            end = min(len(data), at + (30 if self.kind == "run" else 512))
            data[at:end] = bytes(end - at) if self.kind == "zeros" else bytes(b ^ 0xFF for b in data[at:end])
        path.write_bytes(data)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with an index, vectors, counts of terms, a history and feedback."""
    base = tmp_path_factory.mktemp("damage")
    root = write_tree(base / "tree", FILES)
    age(root)
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "warm the kitchen"]):
        subprocess.run([*git, *command], check=True)
    with pytest.MonkeyPatch.context() as patch:
        use(patch, base / "kept")
        with Index.open(root) as index:
            index.update()
            (root / "m0.py").write_text(FILES["m0.py"] + "\n\ndef added():\n    return 1\n")
            index.update()
            index.internals.count_terms()
            index.log("kitchen")
            symbol = index.search("heat oven").hits[0].symbol
            index.feedback.record(Event("heat oven", symbol.id, "click", "ann", 1))
    return base


def use(patch: pytest.MonkeyPatch, kept: Path) -> None:
    """Let dowse keep everything below a folder."""
    settings = {"CACHE_DIR": kept / "cache", "DATA_DIR": kept / "data", "ENCODER": "small"}
    settings |= {"RESIDENT_MINUTES": "0", "ADAPTER": "false"}
    for name, value in settings.items():
        patch.setenv(f"DOWSE_{name}", str(value))


def ask(root: Path, capfd: pytest.CaptureFixture[str]) -> tuple[list[tuple[int, str]], str]:
    """Return exit code and output of each query, and all messages."""
    answers, messages = [], ""
    for query in QUERIES:
        code = main([*query, str(root)])
        out, err = capfd.readouterr()
        answers.append((code, out))
        messages += err
        assert code in (0, 1) or (code == 2 and err.splitlines()[-1].startswith("dowse: ")), err
    return answers, messages


def random_cases(kept: Path, seed: int, count: int) -> list[Case]:
    """Return random places; every file is as likely as any other."""
    chosen = random.Random(seed)
    files = sorted(
        str(path.relative_to(kept))
        for path in kept.rglob("*")
        if path.is_file() and path.stat().st_size and not path.name.endswith((".lock", "-shm", ".TAG"))
    )
    return [
        Case(chosen.choice(files), chosen.choice(KINDS), chosen.random(), chosen.randrange(8))
        for _ in range(count)
    ]


@pytest.mark.parametrize("part", large_from(0, range(PARTS)))
def test_damage_at_random_places(whole, tmp_path, monkeypatch, capfd, part):
    root = whole / "tree"
    use(monkeypatch, Path(shutil.copytree(whole / "kept", tmp_path / "intact")))
    expected, messages = ask(root, capfd)
    assert [code for code, _ in expected] == [0] * len(QUERIES) and REBUILT not in messages
    for number, case in enumerate(random_cases(whole / "kept", part, PLACES // PARTS)):
        kept = Path(shutil.copytree(whole / "kept", tmp_path / str(number)))
        case.apply(kept)
        use(monkeypatch, kept)
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        try:
            _, messages = ask(root, capfd)
            if REBUILT in messages:
                assert ask(root, capfd)[0] == expected
        except BaseException as error:
            error.add_note(str(case))
            raise
        finally:
            faulthandler.cancel_dump_traceback_later()
        shutil.rmtree(kept)
