"""Questions from documentation: whole small trees, in several languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from dowse.eval.mine import build_from_docs
from dowse.eval.mine.documentation import first_sentence

from helpers import write_tree

PYTHON = '''
class Oven:
    """An oven that heats up :class:`~bakery.Loaf` objects. It is hot."""

    shelves, capacity = ["upper", "lower"], 12

    def __init__(self, heat, power):
        self.heat, self.power = heat * 2, power

    def open_door(self):
        """Open door."""
        return self.heat + self.power

    def cool(self, degrees):
        """Lower the temperature until
        ``degrees`` is reached.

        Never below zero, e.g. in winter.
        """
        self.heat = max(0, self.heat - degrees)

    def fill(self, loaves):
        """{@inheritDoc}"""
        return [loaf for loaf in loaves if loaf.fits(self)]

    def test_heat(self):
        """Check that the oven gets hot enough."""
        assert self.heat > 100 and self.power

    def later(self):
        """Bake all of the bread tomorrow."""
        raise NotImplementedError
'''


def queries(root: Path, **options: object) -> dict[str, list[str]]:
    cases = build_from_docs(root, **options)
    assert all(case.source == "docs" and case.id for case in cases)
    return {case.query: list(case.symbols) for case in cases}


def test_first_sentences_ask_for_their_symbols(tmp_path: Path) -> None:
    write_tree(tmp_path, {"bakery/oven.py": PYTHON, "tests/test_oven.py": PYTHON, "vendor/oven.py": PYTHON})
    assert queries(tmp_path) == {
        "An oven that heats up bakery.Loaf objects": ["bakery/oven.py::Oven"],
        "Lower the temperature until degrees is reached": ["bakery/oven.py::Oven.cool"],
    }


def test_any_language(tmp_path: Path) -> None:
    java = """class Shop {
    /**
     * Computes the {@link Price} of a basket with all discounts.
     * @param basket what is bought
     */
    int price(int[] basket) { int sum = 0; for (int b : basket) sum += b * 2; return sum; }
}
"""
    mill = "func Mill(g []int) int {\n\tn := len(g)\n\treturn n * 3\n}\n"
    go = f"package p\n\n// Mill grinds all grains into flour.\n{mill}"
    write_tree(tmp_path, {"Shop.java": java, "mill.go": go})
    found = queries(tmp_path)
    assert found == {
        "Computes the Price of a basket with all discounts": ["Shop.java::Shop.price"],
        "Mill grinds all grains into flour": ["mill.go::Mill"],
    }


def function(name: str, doc: str) -> str:
    body = "    total = a * b + len(a)\n    return sorted(total, key=b)\n\n\n"
    return f'def {name}(a, b):\n    """{doc}"""\n{body}'


def test_one_sentence_may_have_few_answers_but_not_many(tmp_path: Path) -> None:
    twins = function("bake", "Bake the bread slowly.") + function("abake", "Bake the bread slowly")
    crowd = "".join(function(f"f{n}", "Do what all others do.") for n in range(4))
    write_tree(tmp_path, {"twins.py": twins, "crowd.py": crowd})
    assert queries(tmp_path) == {"Bake the bread slowly": ["twins.py::bake", "twins.py::abake"]}


@pytest.mark.parametrize(
    ("doc", "sentence"),
    [
        ("Return the loaf, e.g. a dark one, at once. Or not.", "Return the loaf, e.g. a dark one, at once"),
        ("Weigh `a` and **b**.\nThen c.", "Weigh a and b"),
        ("Read version 2.0 of [the file](http://x.org/a).", "Read version 2.0 of the file"),
        ("Use these:\n\n- a", "Use these"),
        ("Call :func:`title <pkg.f>` now!", "Call title now"),
        ("", ""),
    ],
)
def test_a_sentence_is_one_line_without_markup(doc: str, sentence: str) -> None:
    assert first_sentence(doc) == sentence
