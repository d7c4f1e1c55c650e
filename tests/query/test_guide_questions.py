"""Questions for instructions, and those that only look like them."""

from __future__ import annotations

import pytest

from dowse import Index
from dowse.query.guide_questions import asked_activity, asks_for_setting

from helpers import write_tree

FILES = {
    "CONTRIBUTING.md": (
        "# Contributing\n\nBe kind to the dough.\n\n"
        "## Running the tests\n\nUse `make check`; one test alone with `make check TEST=name`.\n\n"
        "## Publishing\n\nRaise the number in `bakery/__init__.py`, then `make dist`.\n"
    ),
    "bakery/oven.py": (
        "def run_tests_of_heat(oven):\n    '''Run every test of the heat of an oven.'''\n    return oven\n"
    ),
    "tests/test_oven.py": (
        "def test_run_one():\n    '''How one test case is run.'''\n    assert run_tests_of_heat\n\n\n"
        "def test_release_version():\n    '''A new version is released.'''\n    assert True\n"
    ),
    "bakery/options.py": "# Options of the server: seconds of silence before it closes.\nKEEP_ALIVE = 30\n",
    "bakery/door.py": "def close_door(visitor):\n    # an idle visitor: close\n    visitor.leave()\n",
    "bakery/release.py": (
        "def release_door(version):\n    '''Release the door of a new version of the oven.'''\n"
    ),
}


@pytest.mark.parametrize(
    ("question", "activity"),
    [
        ("how do I run just one test case?", "test"),
        ("run the test suite in parallel without tox", "test"),
        ("the tests take forever, can I run them concurrently?", "test"),
        ("steps for cutting a new version", "release"),
        ("what do I have to do to publish a release?", "release"),
        ("how does a new version get to npm?", "release"),
        ("how to build this from source", "build"),
        ("how can I try out my own build?", "develop"),
        ("how do I set up a development environment", "install"),
        ("how does it run tests in parallel", ""),  # what the code does
        ("where are expired sessions cleaned up", ""),
        ("Install memray on Python 3.13", ""),  # a commit subject
        ("release the lock when a test fails", ""),
        ("test_release", ""),
    ],
)
def test_instructions_are_told_from_questions_about_code(question, activity):
    assert asked_activity(question) == activity


def test_questions_for_a_setting():
    assert asks_for_setting("how many workers are started by default and at most")
    assert not asks_for_setting("how is an expired session noticed and removed")


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guides")
    root = write_tree(folder / "code", FILES)
    settings = {"index_dir": str(folder / "index"), "encoder": "small", "isolation": "never", "threads": 1}
    with Index.open(root, **settings) as opened:
        opened.update()
        yield opened


@pytest.mark.parametrize(
    ("question", "line"), [("how do I run one test?", 5), ("steps for publishing a new version", 9)]
)
def test_guides_answer_them_before_tests_and_code(index, question, line):
    answer = index.search(question)
    assert (answer.hits[0].symbol.path, answer.hits[0].symbol.start_line) == ("CONTRIBUTING.md", line)
    assert "instructions" in answer.plan.reason
    assert sum(part.value for part in answer.hits[0].explanation) == pytest.approx(answer.hits[0].score)


def test_a_setting_is_found_where_it_is_declared(index):
    for asked, expected in (("which setting decides how long", True), ("who decides for how long", False)):
        answer = index.search(f"{asked} a visitor may be idle before the door is closed?")
        assert ("asks for a setting" in answer.plan.reason) == expected
        assert ("bakery/options.py" in [hit.symbol.path for hit in answer.hits[:2]]) == expected
