"""Patterns made to be slow or large: they end in time, hold up nothing else, and keep no memory."""

from __future__ import annotations

import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.deadline import Deadline, time_limit, within
from dowse.errors import Cancelled, QueryError, TooSlow
from dowse.query.evaluate import path_matches
from dowse.query.regex import engines, match_pool
from dowse.query.regex.engines import Engines
from dowse.query.regex.matcher import Pattern, compile_pattern
from dowse.query.regex.parser import parse_regex
from dowse.query.regex.re2_engine import MAX_MEMORY
from dowse.query.regex.trigrams import required_trigrams

from helpers import processes_of, write_tree

# 84,000 instructions, and on such a line most of them at every byte: minutes.
SLOW = "|".join(f"a[ab]{{{count}}}c" for count in range(900, 989))
# On a line with more letters than the programs may see at once.
LARGE = r"(?:\p{L}{1,333}|\p{N}{1,333}|\p{Lu}{1,333})"


@pytest.fixture(scope="module")
def line() -> bytes:
    return bytes(random.Random(1).choices(b"ab", k=900_000))


@pytest.fixture(autouse=True)
def without_workers() -> Iterator[None]:
    yield
    match_pool._idle.clear()


@pytest.mark.parametrize(
    "pattern", [SLOW, "a[ab]{900}c", "(?:[ab]a?){400}a[ab]{60}#", "a.*#|a", r"\bé?[ab]{40}#"]
)
def test_a_pattern_ends_at_its_deadline_within_one_line(pattern: str, line: bytes) -> None:
    compiled = compile_pattern(pattern)
    compiled.find_lines("é a")  # tables of Unicode are made once
    started = time.monotonic()
    with time_limit(0.5), pytest.raises(TooSlow, match=r"within 0.5 s"):
        text = line + "é".encode() if "é" in pattern else line
        for _ in range(100):  # a fast machine is through with one line in time
            compiled.find_lines(text)
    assert time.monotonic() - started < 4.0


def test_a_cancelled_pattern_ends_at_once(line: bytes) -> None:
    deadline = Deadline()
    threading.Timer(0.3, deadline.cancel).start()
    with within(deadline), pytest.raises(Cancelled):
        compile_pattern(SLOW).line_numbers(line)
    assert compile_pattern("a[ab]{900}b").line_numbers(line) == [1]  # the next request has a process


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are listed in /proc")
def test_ctrl_c_ends_a_command_that_matches(tmp_path: Path, line: bytes) -> None:
    root = write_tree(tmp_path / "tree", {"long.txt": line})
    command = [sys.executable, "-m", "dowse.interfaces.cli.main", "search", f"/{SLOW}/", "--repo", str(root)]
    folders = {"DOWSE_CACHE_DIR": str(tmp_path / "cache"), "DOWSE_RESIDENT_MINUTES": "0"}
    process = subprocess.Popen(command, env={**os.environ, **folders}, stderr=subprocess.PIPE)
    until = time.monotonic() + 60
    while not (workers := children_that_match(process.pid)) and time.monotonic() < until:
        pass
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert workers and process.returncode == 130 and time.monotonic() - started < 2.0
    assert not children_that_match(process.pid)


def children_that_match(parent: int) -> list[int]:
    found = []
    for pid in processes_of("match_worker", Path("/")):
        try:
            status = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            continue
        if int(status.rpartition(")")[2].split()[1]) == parent:
            found.append(pid)
    return found


@pytest.mark.large
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_patterns_keep_no_memory(line: bytes) -> None:
    from dowse.indexing.memory_budget import resident_bytes

    def match(count: int) -> None:
        with time_limit(5.0):
            compile_pattern(f"a[ab]{{12}}[abc]{{{count}}}c").line_numbers(line[:20_000])

    match(1)
    gc.collect()
    before = resident_bytes(os.getpid())
    for count in range(2, 62):
        match(count)
    gc.collect()
    assert resident_bytes(os.getpid()) - before < 50_000_000


def test_compiling_does_not_hold_the_interpreter() -> None:
    ticks, ended = [time.monotonic()], threading.Event()

    def tick() -> None:
        while not ended.wait(0.01):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        compile_pattern(LARGE).line_numbers("x é 1")
    finally:
        ended.set()
        thread.join()
    assert max(b - a for a, b in pairwise(ticks)) < 1.0


@pytest.mark.parametrize(
    "pattern",
    [
        ".".join(f"{a}{b}c" for a in "abcdefghij" for b in map(chr, range(0x4E00, 0x5100))),
        ".".join(f"[{a}{b}]cd" for a in "abcdefgh" for b in map(chr, range(0x4E00, 0x5000))),
    ],
)
def test_trigrams_of_a_long_pattern_take_linear_time(pattern: str) -> None:
    started = time.monotonic()
    required_trigrams(Pattern(parse_regex(pattern)))
    assert time.monotonic() - started < 5.0


def test_a_worker_that_dies_is_an_error_and_the_next_one_answers(
    line: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = match_pool.Supervisor.exchange

    def kill(self: match_pool.Supervisor, *arguments: object) -> object:
        os.kill(self.pid or 0, signal.SIGKILL)
        return exchange(self, *arguments)  # type: ignore[arg-type]

    pattern = compile_pattern("a[ab]{900}b")
    monkeypatch.setattr(match_pool.Supervisor, "exchange", kill)
    with pytest.raises(QueryError, match="too much memory"):
        pattern.line_numbers(line)
    monkeypatch.undo()
    assert pattern.line_numbers(line) == [1]


def test_a_worker_that_does_not_start_ends_at_the_deadline_or_when_cancelled(
    line: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    pattern, started = compile_pattern("a[ab]{900}b"), time.monotonic()
    match_pool._idle.clear()  # which has the process that compiled it
    monkeypatch.setattr(match_pool, "worker_program", lambda _: "import signal; signal.pause()")
    with time_limit(0.3), pytest.raises(TooSlow):
        pattern.line_numbers(line)
    waiting = Deadline()
    threading.Timer(0.1, waiting.cancel).start()
    with within(waiting), pytest.raises(Cancelled):
        pattern.line_numbers(line)
    assert time.monotonic() - started < 10.0


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are listed in /proc")
def test_a_search_that_is_too_late_takes_no_process_with_it(line: bytes) -> None:
    assert compile_pattern("a[ab]{900}b").line_numbers(line) == [1]
    with time_limit(0.0), pytest.raises(TooSlow) as kept:  # as whoever reports the error does
        compile_pattern(SLOW).line_numbers(b"a")
    assert kept and len(children_that_match(os.getpid())) == 1
    match_pool._idle.clear()
    assert not children_that_match(os.getpid())


def test_a_pattern_that_needs_too_much_memory_is_refused() -> None:
    with pytest.raises(QueryError, match=r"too large|too much memory"):
        compile_pattern("|".join(rf"\p{{L}}{{{n},1000}}" for n in range(1, 40))).line_numbers("x")
    with pytest.raises(QueryError, match="too large"):
        compile_pattern(r"\w{1000}").line_numbers("é")


def test_long_globs_are_refused() -> None:
    assert path_matches("*" + "?" * 900, "a" * 901)
    with pytest.raises(QueryError, match="shorten"):
        path_matches("*" + "a?" * 900, "a")


@given(
    st.text("ab\n é_x", max_size=80),
    st.sampled_from(
        ["a+", "b*", "^", "$", "^$", r"\bx", r"\Ba", r"\bab\b", "a|é", "(?i)AX?", "[^a]b", "x.*a|x"]
    ),
    st.integers(1, 30),
    st.booleans(),
)
def test_parts_of_a_text_match_as_the_whole(text: str, pattern: str, longest: int, one_a_line: bool) -> None:
    compiled = compile_pattern(pattern)
    data = text.encode()
    whole = list(Engines(compiled.node, MAX_MEMORY).spans(data, one_a_line=one_a_line))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "MAX_WORK", longest * compiled.engines.sizes[True])
        patch.setattr(
            match_pool,
            "find_spans",
            lambda node, part, one: list(Engines(node, MAX_MEMORY).spans(bytes(part), one_a_line=one)),
        )
        assert list(Pattern(compiled.node).spans(data, one_a_line=one_a_line)) == whole


def test_a_long_line_matches_apart_as_here(line: bytes) -> None:
    data = b"ab\n" + line + "\né".encode()
    pattern = compile_pattern("(?:a|b){7}(?:bab){3,9}(?:aa|b){2}a{3}[ab]{50}")
    assert len(line) > engines.MAX_WORK // pattern.engines.sizes[True]
    apart = Engines(pattern.node, MAX_MEMORY)
    assert list(pattern.spans(data)) == list(apart.spans(data)) != []
