"""Documentation of classes and files, and what stands for them."""

from __future__ import annotations

from dowse_training.outcomes.changes import read_source
from dowse_training.outcomes.overviews import documented_overviews

PYTHON = '''# -*- coding: utf-8 -*-
"""Everything that gets hot in the bakery."""
import time


class Oven:
    """Bakes bread at a temperature that stays the same.

    Made of brick.
    """

    limit = 250

    def heat(self, degrees):
        while self.temperature < degrees:
            time.sleep(1)


class Plate(Oven):
    """TODO"""

    size = 3
'''


def overviews(text: str, path: str) -> dict[tuple[str, str], tuple[str, str]]:
    source = read_source(text.encode(), path)
    assert source is not None
    return {
        (kind, each.qualified_name): (each.doc, each.code)
        for kind, each in documented_overviews(source, path)
    }


def test_a_class_and_its_file_are_given_with_their_members():
    found = overviews(PYTHON, "src/heat.py")
    assert set(found) == {("class", "Oven"), ("file", "heat")}
    doc, code = found["class", "Oven"]
    assert doc == "Bakes bread at a temperature that stays the same."
    assert code.splitlines() == ["class Oven:", "    limit = 250", "def heat(self, degrees)"]
    doc, code = found["file", "heat"]
    assert doc == "Everything that gets hot in the bakery."
    assert "class Plate(Oven)" in code
    assert "gets hot" not in code


def test_directives_and_templates_are_no_documentation():
    body = "\nmodule Bakery\n  def self.bake(bread)\n    bread.heat(250).rest(10)\n  end\nend\n"
    assert overviews("# frozen_string_literal: true\n" + body, "bakery.rb") == {}
    swift = "//\n//  Oven.swift\n//  Bakery\n//\nimport Foundation\nlet limit = celsius(250, above: room)\n"
    assert overviews(swift, "Oven.swift") == {}
