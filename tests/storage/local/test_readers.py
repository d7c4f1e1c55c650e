"""Readers in threads and processes see one generation each, while others are made."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dowse.errors import IndexMissing
from dowse.query.regex.matcher import compile_pattern
from dowse.query.regex.trigrams import required_trigrams
from dowse.storage.local.backend import LocalBackend
from dowse.storage.protocol import KeywordRequest, Term

from helpers import file_record, symbol

FILES = 6
ROUNDS = 15
WORD = KeywordRequest((Term("mark"),), {"body": 1.0})
MARK = required_trigrams(compile_pattern("mark of round", literal=True))


def write(backend: LocalBackend, round_: int) -> None:
    """Replace every file; all of them carry the number of the round."""
    with backend.writer() as writer:
        for i in range(FILES):
            writer.put(
                file_record(f"f{i}", [symbol(f"round_{round_}", "mark")], text=f"mark of round {round_}\n")
            )
        writer.commit({"round": str(round_)})


def look(backend: LocalBackend) -> int:
    """Read in every way and return the round, the same in all of them."""
    with backend.reader() as reader:
        round_ = reader.meta()["round"]
        rows = reader.rows([row for row, _ in reader.search_bm25(WORD, 100)])
        assert [row.name for row in rows] == [f"round_{round_}"] * FILES
        found = list(reader.texts(reader.trigram_candidates(MARK)))
        assert [text for _, text in found] == [f"mark of round {round_}\n".encode()] * FILES
        assert {row.name for row in reader.lookup("*", 100)} == {f"round_{round_}"}
        return int(round_)


OTHER_PROCESS = """
import sys
from pathlib import Path
from dowse.storage.local.backend import LocalBackend
from storage.local.test_readers import look
backend = LocalBackend(Path(sys.argv[1]))
seen = {look(backend)}
print("reading", flush=True)
import select
while not select.select([sys.stdin], [], [], 0)[0]:
    seen.add(look(backend))
seen.add(look(backend))
print(len(seen), max(seen))
"""


def test_readers_during_commits(tmp_path):
    folder = tmp_path / "index"
    writer, shared = LocalBackend(folder), LocalBackend(folder)
    write(writer, 0)
    errors: list[BaseException] = []
    seen: list[set[int]] = []
    done = threading.Event()

    def read(backend: LocalBackend) -> None:
        mine = {look(backend)}
        try:
            while not done.is_set():
                mine.add(look(backend))
            mine.add(look(backend))
        except BaseException as error:
            errors.append(error)
        seen.append(mine)

    threads = [threading.Thread(target=read, args=(b,)) for b in (shared, shared, LocalBackend(folder))]
    program = f"import sys; sys.path[:] = {sys.path!r}\n{OTHER_PROCESS}"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "reading\n"
        for thread in threads:
            thread.start()
        for round_ in range(1, ROUNDS + 1):
            write(writer, round_)
        done.set()
        for thread in threads:
            thread.join()
        answer, _ = other.communicate("stop\n", timeout=300)
    assert errors == []
    assert other.returncode == 0
    assert answer.split()[1] == str(ROUNDS)
    assert all(max(mine) == ROUNDS for mine in seen)
    assert writer.check() == []


def test_a_long_lived_reader_sees_an_index_that_another_process_built_anew(tmp_path):
    """Its generations start from 1 again, so the number alone does not tell them apart."""
    folder = tmp_path / "index"
    server, other = LocalBackend(folder), LocalBackend(folder)
    write(other, 7)
    assert look(server) == 7
    for round_ in range(8, 12):  # the file system may give the new catalog the number of the old one
        other.clear()
        with pytest.raises(IndexMissing):
            look(server)
        write(other, round_)
        assert look(server) == round_
    other.clear()
    write(other, 12)
    assert look(server) == 12


def test_a_path_with_odd_characters(tmp_path):
    for name in ("a b", "100%", "what?", "c#", "é", "%41", "x&mode=rwc"):
        folder: Path = tmp_path / name / "index"
        write(LocalBackend(folder), 1)
        assert look(LocalBackend(folder)) == 1
