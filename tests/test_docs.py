"""README and docs name files, functions and options: all of them must be there."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse.config import CLUSTERINGS, DIVERSIFY, FUSIONS
from dowse.interfaces.cli.evaluation.parser import eval_parser
from dowse.interfaces.cli.main import build_parser

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
RANKING = (ROOT / "docs" / "RANKING.md").read_text("utf-8")
_PATH = re.compile(r"`((?:src/dowse|bench|tests|training|scripts|packaging)/[\w./-]+\.\w+)`")
_TEST = re.compile(r"`((?:[\w-]+/)*test_\w+\.py)`")  # as a promise names the tests that hold it
_COMMAND = re.compile(r"(?<![\w-])dowse (?!train|feedback)[a-z-]+ [^`\n#|]*")
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)(?:#[^)]*)?\)")


def parsers() -> Iterator[argparse.ArgumentParser]:
    """Give the parser of every command and of every step of one."""
    waiting = [build_parser(), *(eval_parser(step) for step in ("", "gate", "report"))]
    while waiting:
        parser = waiting.pop()
        yield parser
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                waiting.extend(action.choices.values())


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_files_that_are_named_exist(document):
    text = document.read_text("utf-8")
    named = [ROOT / path for path in _PATH.findall(text)]
    named += [ROOT / "tests" / path.removeprefix("tests/") for path in _TEST.findall(text)]
    named += [document.parent / link for link in _LINK.findall(text)]
    assert [path for path in named if not path.exists()] == []


def test_options_of_search_are_known():
    """Of a line that runs dowse, every option is one of some command."""
    known = {option for parser in parsers() for option in parser._option_string_actions}
    for document in DOCUMENTS:
        lines = _COMMAND.findall(document.read_text("utf-8"))
        named = {option for line in lines for option in re.findall(r"(?<!\S)(--[a-z][a-z-]*)", line)}
        assert named - known == set(), document.name


@pytest.mark.parametrize("values", [FUSIONS, DIVERSIFY, CLUSTERINGS])
def test_every_way_to_fuse_and_to_diversify_is_explained(values):
    assert [value for value in values if value not in ("", "auto") and f"`{value}`" not in RANKING] == []
