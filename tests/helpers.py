"""Small builders that several suites share."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from dowse import Index
from dowse.storage.compression import pack
from dowse.types import KEYWORD_FIELDS, FileRecord, NameRecord, SymbolRecord


def symbol(
    name: str,
    terms: Mapping[str, str] | str = "",
    *,
    key: str = "",
    qualified_name: str = "",
    kind: str = "function",
    lines: tuple[int, int] = (1, 1),
    spans: tuple[tuple[int, int], ...] = ((0, 0),),
    doc: str = "",
) -> SymbolRecord:
    """Return a symbol whose terms are given by field, or all in the body."""
    by_field = {"body": terms} if isinstance(terms, str) else terms
    return SymbolRecord(
        key=key or f"id-{qualified_name or name}",
        kind=kind,
        name=name,
        qualified_name=qualified_name or name,
        start_line=lines[0],
        end_line=lines[1],
        signature=f"def {name}()",
        doc=doc,
        spans=spans,
        content_hash="",
        terms=tuple(by_field.get(field, "") for field in KEYWORD_FIELDS),
        doc_spans=(),
        vector_key=hashlib.blake2b(f"{qualified_name or name} {terms}".encode(), digest_size=16).digest(),
    )


def name_record(
    name: str, line: int, *, qualified_name: str = "", kind: str = "constant", keys: tuple[int, int] = (0, 0)
) -> NameRecord:
    """Return a name that is defined in a line; `keys` are those of the graph."""
    whole = qualified_name or name
    return NameRecord(f"name-{whole}", kind, name, whole, line, *keys)


def file_record(
    key: str,
    symbols: Iterable[SymbolRecord] = (),
    names: Iterable[NameRecord] = (),
    *,
    text: str = "",
    repo: str = "acme/shop",
    language: str = "python",
    role: str = "",
    path: str = "",
) -> FileRecord:
    """Return a file that holds these symbols and names."""
    return FileRecord(
        key=key,
        repo=repo,
        path=path or key,
        language=language,
        role=role,
        size=len(text.encode()),
        mtime_ns=1,
        content_hash=f"hash of {text}",
        encoding="utf-8",
        lines=text.count("\n") + (not text.endswith("\n") and text != ""),
        problem="",
        packed_text=pack(text.encode()),
        references=b"",
        text=text,
        symbols=tuple(symbols),
        names=tuple(names),
    )


def write_tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files under a folder and return it."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def job_files(*verbs: str) -> dict[str, str]:
    """Return files with one function each, named by a verb: near in meaning, so that words don't decide."""
    return {
        f"{verb}.py": f'def {verb}(job):\n    """{verb.title()} one job of the queue."""\n    job.{verb}()\n'
        for verb in verbs
    }


def index_tree(root: Path, files: Mapping[str, str | bytes], **settings: object) -> Index:
    """Write files under a folder and index them; the index lies beside the folder."""
    index = Index.open(
        write_tree(root, files), index_dir=str(root.with_name(f"{root.name}-index")), **settings
    )
    index.update(embed=False)
    return index


def age(root: Path, by: int = 3600) -> None:
    """Make every file look as if it was saved a while ago, so that its time can be trusted."""
    for path in [root, *root.rglob("*")]:
        stat = path.stat()
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns - by * 10**9))


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return bytes and time of everything that an index consists of.

    That leaves out what coordinates processes: the lock, where each writer notes its number, the list of
    files that were found intact, and SQLite's
    shared memory and empty log, which come and go with readers.
    """
    passing = ("writer.lock", "catalog.sqlite-shm")
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.name not in passing
        and not (path.name.endswith("-wal") and not path.stat().st_size)
    }


def image(index: Index) -> dict[str, object]:
    """Return all that an index says of its files and symbols, free of internal numbers."""
    with index.backend.reader() as reader:
        files = reader.files()
        rows = reader.rows_of_files([file.file_id for file in files])
        return {
            "files": sorted((f.path, f.language, f.role, f.size, f.encoding, f.lines) for f in files),
            "symbols": sorted(
                (s.path, s.id, s.kind, s.qualified_name, s.start_line, s.end_line, s.doc, s.code)
                for s in reader.symbols(rows)
            ),
            "skipped": sorted(reader.skipped()),
        }


def run_dowse(
    *arguments: object, cwd: Path | None = None, stdin: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the real command in a process of its own, with a text on its standard input."""
    return subprocess.run(
        [sys.executable, "-m", "dowse.interfaces.cli.main", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        input=stdin,
        timeout=300,
        check=False,
    )


def large_from(count: int, cases: Iterable[object]) -> list[ParameterSet]:
    """Return cases of `parametrize`, of which only the first so many belong to an ordinary run."""
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=() if number < count else pytest.mark.large,
        )
        for number, case in enumerate(cases)
    ]


def need(tool: str) -> None:
    """Skip without a tool, unless all tools are called for."""
    beside = str(Path(sys.executable).parent)
    if shutil.which(tool) or shutil.which(tool, path=beside):
        return
    if os.environ.get("DOWSE_REQUIRE_TOOLS") == "1":
        pytest.fail(f"DOWSE_REQUIRE_TOOLS=1, but {tool} is not installed")
    pytest.skip(f"{tool} is not installed")


def processes_of(command: str, folder: Path) -> list[int]:
    """Return the running processes of which the command line names a module and a folder, oldest first."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0] if words else "Z"
        except OSError:
            continue
        if command.encode() in words and os.fsencode(folder) in words and state != "Z":
            found.append(int(entry.name))
    return sorted(found)


def processes_with(mark: str) -> list[int]:
    """Return the processes that were started with some setting."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def json_lines(path: Path, rows: Iterable[object]) -> Path:
    """Write one JSON object a line; texts go in as they are."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


# For the beginning of a process that is to be killed: `hook("module:Class.method", "before", 3)` kills it at
# the third call.
KILL_HOOK = """
import importlib, os, signal, sys
def hook(place, when, nth):
    module, _, attribute = place.partition(":")
    owner = importlib.import_module(module)
    *outer, name = attribute.split(".")
    for part in outer:
        owner = getattr(owner, part)
    real, left = getattr(owner, name), [int(nth)]
    def hooked(*arguments, **named):
        left[0] -= 1
        if not left[0] and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(*arguments, **named)
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    setattr(owner, name, hooked)
"""
