"""A warm process answers byte for byte what the command itself would, or not at all."""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path

import pytest

from interfaces.daemon.running import NOT_ANSWERED, ask, dowse, wait_for_answers

# The commands that people type; those that fail are among them.
ASKED = [
    ("search", "order total"),
    ("search", "order total", "--json"),
    ("search", "total of an order", "--explain", "-k", "3"),
    ("search", "totl ordr", "-k2", "-C", "1", "--color", "always"),
    ("search", "order", "total", "src"),
    ("search", "/def/", "-c"),
    ("search", "order", "-l"),
    ("search", "order", "--format", "vimgrep"),
    ("search", "/def \\w+/ lang:python"),
    ("search", "order", "--mode", "tfidf", "--refresh", "never"),
    ("search", "order", "--fuzziness", "0", "--min-score", "0.5"),
    ("search", "order nosuchfilter:x"),
    ("search", '"unclosed'),
    ("search", "/(unclosed/"),
    ("search", "qqqqzzzz"),
    ("search", "--", "-order"),
    ("symbols", "*order*", "--json"),
    ("symbols", "nosuchname"),
    ("callers", "total", "--json"),
    ("callers", "nosuchname"),
    ("callees", "Order"),
    ("uses", "Order"),
    ("impact", "Order.total", "--depth", "3"),
    ("path", "Order", "Order"),
    ("subclasses", "Order"),
    ("related", "Order"),
]


def masked(data: bytes) -> bytes:
    """Leave out how long things took."""
    data = re.sub(rb"[\d.]+ ms", b"- ms", data)
    return re.sub(rb'"(?:milliseconds|seconds)": [\d.e-]+', b'"milliseconds": 0', data)


@pytest.mark.parametrize("arguments", ASKED, ids=" ".join)
def test_output_errors_and_exit_codes_are_those_of_the_command(watched, cache, arguments):
    environment = {"DOWSE_CACHE_DIR": str(cache)}
    warm = ask(*arguments, cwd=watched, **environment)
    cold = dowse(*arguments[:1], "--no-daemon", *arguments[1:], cwd=watched, **environment)
    assert warm.returncode == cold.returncode != NOT_ANSWERED
    assert masked(warm.stdout) == masked(cold.stdout)
    assert masked(warm.stderr) == masked(cold.stderr)


@pytest.mark.parametrize("place", ["..", "src"])
def test_the_folder_may_be_named_from_anywhere(watched, cache, place):
    here, named = (watched / place).resolve(), os.path.relpath(watched, watched / place)
    arguments = ("search", "order total", named, "--format", "grep")
    warm = ask(*arguments, cwd=here, DOWSE_CACHE_DIR=str(cache))
    cold = dowse(*arguments, "--no-daemon", cwd=here, DOWSE_CACHE_DIR=str(cache))
    assert (warm.returncode, warm.stdout) == (0, cold.stdout)
    assert f"{named}/".encode() in warm.stdout


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (("search", "order", "--index-dir", "elsewhere"), {}),
        (("search", "order", "/"), {}),
        (("search", "-"), {}),
        (("search", "order", "--no-such-flag"), {}),
        (("search", "order", "--no-daemon"), {}),
        (("search", "order", "--no-d"), {}),
        (("search", "order", "--reranker", "./folder"), {}),
        (("status",), {}),
        (("search", "order"), {"DOWSE_TOP_K": "3"}),
        (("search", "order"), {"HOME": "/nowhere"}),
        (("search", "order"), {"PYTHONIOENCODING": "latin-1"}),
    ],
    ids=str,
)
def test_what_it_can_not_answer_alike_it_does_not_answer(watched, cache, arguments, environment):
    answered = ask(*arguments, cwd=watched, **{"DOWSE_CACHE_DIR": str(cache), **environment})
    assert (answered.returncode, answered.stdout, answered.stderr) == (NOT_ANSWERED, b"", b"")


def test_what_is_saved_is_found_by_the_next_command(watched, cache):
    place: Path = watched / "src" / "bakery" / "fresh.py"
    try:
        for number in range(5):
            place.write_text(f"def pretzel_{number}(): ...\n")
            found = ask("symbols", "pretzel_*", cwd=watched, DOWSE_CACHE_DIR=str(cache))
            assert found.stdout.decode().split() == [
                "src/bakery/fresh.py:1",
                "function",
                f"pretzel_{number}",
            ]
    finally:
        place.unlink()


def test_many_at_once(watched, cache):
    """Each gets its own answer, however they are mixed."""
    answers: dict[int, bytes] = {}

    def question(number: int) -> None:
        arguments = ("search", ("order", "bread", "invoice", "cart")[number % 4], "-k2")
        wait_for_answers(*arguments, cwd=watched, DOWSE_CACHE_DIR=str(cache))  # it may be too busy for one
        answers[number] = dowse(*arguments, cwd=watched, DOWSE_CACHE_DIR=str(cache)).stdout

    threads = [threading.Thread(target=question, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 20
    for number in range(4):
        assert len({answers[each] for each in range(number, 20, 4)}) == 1
    assert len(set(answers.values())) == 4
