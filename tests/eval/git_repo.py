"""A real repository, made commit by commit, with fixed dates and authors."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path


class GitRepo:
    """A work tree in which every commit is a minute after the one before it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._minutes = 0
        root.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def commit(
        self,
        subject: str,
        files: Mapping[str, str | bytes | None],
        author: str = "Ada Baker <ada@example.org>",
    ) -> str:
        """Write files (None takes one away), commit everything and return the commit's name."""
        for name, text in files.items():
            path = self.root / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.git("add", "--all")
        self._minutes += 1
        self.git("commit", "--quiet", "--allow-empty", "--author", author, "-m", subject)
        return self.git("rev-parse", "HEAD").strip()

    def commit_many(self, commits: Iterable[tuple[str, Mapping[str, str]]]) -> None:
        """Make many commits of (subject, files) at once, on top of the last one, and check them out."""
        stream = []
        for number, (subject, files) in enumerate(commits, 1):
            stream.append("commit refs/heads/main\n")
            stream.append(f"committer Ada Baker <ada@example.org> {1_704_200_000 + 60 * number} +0000\n")
            stream.append(f"data {len(subject)}\n{subject}\n")
            if number == 1 and self._minutes:
                stream.append("from refs/heads/main^0\n")
            stream += [f"M 100644 inline {name}\ndata {len(text)}\n{text}\n" for name, text in files.items()]
        self.git("fast-import", "--quiet", stdin="".join(stream))
        self.git("reset", "--quiet", "--hard")
        self._minutes += 1

    def git(self, *arguments: str, stdin: str = "") -> str:
        """Run git here and return what it prints."""
        date = f"2024-01-01T{self._minutes // 60:02}:{self._minutes % 60:02}:00+00:00"
        told = {
            "GIT_AUTHOR_DATE": date,
            "GIT_COMMITTER_DATE": date,
            "GIT_AUTHOR_NAME": "Ada Baker",
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Ada Baker",
            "GIT_COMMITTER_EMAIL": "ada@example.org",
        }
        done = subprocess.run(
            ["git", "-C", str(self.root), *arguments],
            env={**os.environ, **told},
            input=stdin.encode(),
            capture_output=True,
            check=True,
        )
        return os.fsdecode(done.stdout)
