"""Random things that happen to a repository: what people, editors and git do, and kills in between."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

from watch.running import Watcher

_FOLDERS = ("", "pkg/", "pkg/inner/", "lib/", "lib/a/b/", "build/")
_NAMES = ("one.py", "two.py", "three.go", "four.js", "five.md", "data.txt", "run.sh", "Six.java")
_WORDS = ("alpha", "beta", "gamma", "delta", "make", "shop", "price", "walk")


class Happenings:
    """A repository and what happens to it, the same for the same seed."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root, self._random = root, random.Random(seed)
        self.counts: dict[str, int] = {}
        self.log: list[str] = []
        root.mkdir(parents=True)
        self._git("init", "-q", "-b", "main")
        for _ in range(12):
            self._write()
        (root / ".gitignore").write_text("build/\n*.log\n")
        self._git("add", ".")
        self._git("commit", "-q", "-m", "first")
        self._git("branch", "other")

    def step(self, watcher: Watcher) -> None:
        """Do one thing."""
        kinds: list[tuple[int, Callable[[], None]]] = [
            (20, self._write),
            (8, self._save_by_renaming),
            (8, self._edit_to_same_size),
            (8, self._rename_file),
            (5, self._rename_folder),
            (8, self._delete_file),
            (3, self._delete_folder),
            (3, self._link),
            (3, self._touch),
            (3, self._rules),
            (4, self._noise),
            (2, self._type_change),
            (4, self._commit),
            (4, self._switch),
            (2, self._reset),
            (3, lambda: self._kill(watcher)),
        ]
        chosen = self._random.choices([kind for _, kind in kinds], [weight for weight, _ in kinds])[0]
        name = getattr(chosen, "__name__", "").lstrip("_")
        name = "kill" if "lambda" in name else name
        self.counts[name] = self.counts.get(name, 0) + 1
        self.log.append(name)
        chosen()

    def _git(self, *arguments: str) -> None:
        command = [
            "git",
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "-c",
            "commit.gpgsign=false",
            *arguments,
        ]
        subprocess.run(command, cwd=self.root, capture_output=True, check=False)

    def _text(self) -> str:
        pick = self._random.choice
        kind = self._random.random()
        if kind < 0.06:
            return "\0binary" + pick(_WORDS)
        if kind < 0.1:
            return ""
        return "".join(
            f"def {pick(_WORDS)}_{self._random.randrange(30)}(x):\n    return {pick(_WORDS)}_{n}(x)\n\n\n"
            for n in range(self._random.randrange(1, 5))
        )

    def _place(self) -> Path:
        place = self.root / (self._random.choice(_FOLDERS) + self._random.choice(_NAMES))
        for folder in reversed(
            place.relative_to(self.root).parents
        ):  # a file may be where a folder should be
            if (self.root / folder).is_file() or (self.root / folder).is_symlink():
                (self.root / folder).unlink()
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        return place

    def _file(self) -> Path | None:
        files = sorted(p for p in self.root.rglob("*") if p.is_file() and ".git" not in p.parts)
        return self._random.choice(files) if files else None

    def _folder(self) -> Path | None:
        folders = sorted(p for p in self.root.rglob("*") if p.is_dir() and ".git" not in p.parts)
        return self._random.choice(folders) if folders else None

    def _write(self) -> None:
        place = self._place()
        if place.is_symlink():
            place.unlink()
        place.write_text(self._text())

    def _save_by_renaming(self) -> None:
        place = self._place()
        aside = place.with_name(f".{place.name}.tmp")
        aside.write_text(self._text())
        aside.replace(place)

    def _edit_to_same_size(self) -> None:
        file = self._file()
        if file is not None:
            file.write_bytes(file.read_bytes().replace(b"alpha", b"omega").replace(b"walk", b"talk"))

    def _rename_file(self) -> None:
        file = self._file()
        if file is not None:
            target = self._place()
            if file.exists():
                file.replace(target)

    def _rename_folder(self) -> None:
        folder = self._folder()
        target = self.root / self._random.choice(("moved", "lib/moved", "pkg", "build/moved"))
        fits = folder is not None and folder not in target.parents
        if fits and not target.exists() and target.parent.is_dir():
            folder.rename(target)

    def _delete_file(self) -> None:
        file = self._file()
        if file is not None:
            file.unlink()

    def _delete_folder(self) -> None:
        folder = self._folder()
        if folder is not None:
            shutil.rmtree(folder)

    def _link(self) -> None:
        place = self._place()
        place.unlink(missing_ok=True)
        place.symlink_to("one.py")

    def _touch(self) -> None:
        file = self._file()
        if file is not None:
            os.utime(file)

    def _rules(self) -> None:
        rules = self._random.choice(("build/\n*.log\n", "*.md\n", "lib/\nbuild/\n", "pkg/inner/\n*.txt\n"))
        if not (self.root / ".gitignore").is_dir():
            (self.root / ".gitignore").write_text(rules)

    def _noise(self) -> None:
        if (self.root / "noise.log").is_dir():
            return
        for number in range(30):
            (self.root / "noise.log").write_text(str(number))
            (self.root / ".one.py.swp").write_bytes(b"\0")
        (self.root / ".one.py.swp").unlink()

    def _type_change(self) -> None:
        file = self._file()
        if file is not None and file.name != ".gitignore":
            file.unlink()
            file.mkdir()
            (file / "inside.py").write_text(self._text())

    def _commit(self) -> None:
        self._git("add", "-A")
        self._git("commit", "-q", "-m", "more")

    def _switch(self) -> None:
        self._commit()
        self._git("checkout", "-q", self._random.choice(("main", "other")))

    def _reset(self) -> None:
        self._git("reset", "-q", "--hard", self._random.choice(("main", "other")))

    def _kill(self, watcher: Watcher) -> None:
        pid = watcher.pid
        if pid is not None:
            os.killpg(pid, signal.SIGKILL)
