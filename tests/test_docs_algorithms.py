"""docs/ALGORITHMS.md names files, functions, result files and options: all of them must be there."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse.config import CLUSTERINGS, DIVERSIFY, FUSIONS, MODES
from dowse.eval.configurations import parse_configuration
from dowse.interfaces.cli.evaluation.parser import eval_parser
from dowse.interfaces.cli.main import build_parser
from dowse.search.lanes.jobs import LANES

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs/ALGORITHMS.md").read_text("utf-8")
QUOTED = re.findall(r"`([^`\n]+)`", TEXT)
PATHS = sorted({each for each in QUOTED if re.fullmatch(r"[\w./-]+/[\w.-]+\.(?:py|json|gz|toml|md)", each)})
RESULTS = [each for each in PATHS if each.startswith("bench/results/")]
LINKS = sorted(set(re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", TEXT)))
FUNCTIONS = sorted(set(re.findall(r"`(\w+)` in `([\w./-]+\.py)`", TEXT)))
OPTIONS = sorted({option for each in QUOTED for option in re.findall(r"(?<!\S)(--[a-z][a-z-]*)", each)})
# Options whose values the document names, and the values that there are.
VALUES = {
    "--mode": MODES,
    "--fusion": FUSIONS,
    "--diversify": DIVERSIFY,
    "--clustering": CLUSTERINGS,
    "--lanes": tuple(LANES),
}


def parsers() -> Iterator[argparse.ArgumentParser]:
    """Give the parser of every command and of every step of one."""
    waiting = [build_parser(), *(eval_parser(step) for step in ("", "judge", "gate", "report"))]
    while waiting:
        parser = waiting.pop()
        yield parser
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                waiting.extend(action.choices.values())


def test_document_names_what_it_maps() -> None:
    assert len(PATHS) > 60
    assert len(RESULTS) > 15
    assert len(OPTIONS) > 15
    assert len(FUNCTIONS) > 10


@pytest.mark.parametrize("path", PATHS)
def test_files_exist(path: str) -> None:
    assert (ROOT / path).is_file(), f"{path} is gone; docs/ALGORITHMS.md must say where that stands now"


@pytest.mark.parametrize("link", LINKS)
def test_links_lead_somewhere(link: str) -> None:
    assert (ROOT / "docs" / link).exists()


@pytest.mark.parametrize(("name", "path"), FUNCTIONS)
def test_functions_stand_where_they_are_said_to(name: str, path: str) -> None:
    assert re.search(rf"^def {name}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE)


def test_options_are_known() -> None:
    known = {option for parser in parsers() for option in parser._option_string_actions}
    assert [option for option in OPTIONS if option not in known] == []


def test_values_of_options_are_known() -> None:
    said = [match for each in QUOTED for match in re.findall(r"(?<!\S)(--[a-z-]+) ([a-z][\w,+]*)", each)]
    wrong = [
        (option, value)
        for option, values in said
        for value in values.split(",")
        if option in VALUES and value not in VALUES[option]
    ]
    assert wrong == []
    for option, values in said:
        if option == "--modes":
            assert [parse_configuration(value).name for value in values.split(",")] == values.split(",")


def test_every_way_to_join_and_to_diversify_is_mapped() -> None:
    for option in ("--fusion", "--diversify", "--clustering"):
        values = [value for value in VALUES[option] if value not in ("", "auto")]
        assert [value for value in values if f"{option} {value}`" not in TEXT] == []
