"""Lazy classes behave as those of the standard library, and load without it."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
import typing
from typing import Any

import pytest

from dowse import lazy_classes

MADE: list[str] = []


# Two modules with the same decorators: ours, and the standard library's.
def _classes(standard: bool) -> dict[str, Any]:
    source = dataclasses if standard else lazy_classes
    names = {name: getattr(source, name) for name in ("dataclass", "field")}
    names["NamedTuple"] = typing.NamedTuple if standard else lazy_classes.NamedTuple
    module = f"{__name__}.{'standard' if standard else 'lazy'}"
    space = {**names, "MADE": MADE, "__name__": module}
    sys.modules[module] = type(sys)(module)
    exec(_SOURCE, space)
    sys.modules[module].__dict__.update(space)
    return space


_SOURCE = """
from __future__ import annotations

@dataclass(frozen=True, slots=True)
class Point:
    '''A point.'''
    x: int
    y: int = 0
    names: tuple[str, ...] = field(default=(), compare=False)
    secret: str = field(default="", repr=False)

    @property
    def sum(self) -> int:
        return self.x + self.y

@dataclass(frozen=True, slots=True, kw_only=True)
class Place(Point):
    label: str
    y: int = 5

@dataclass(slots=True)
class Bag:
    items: list[int] = field(default_factory=list)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = len(self.items)

@dataclass(frozen=True)
class Loose:
    x: int = 1

    def __repr__(self) -> str:
        return "loose"

@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Same:
    x: int

@dataclass(frozen=True, slots=True)
class Empty:
    pass

class Pair(NamedTuple):
    '''A pair.'''
    left: int
    right: str = "r"

    @property
    def both(self) -> str:
        return f"{self.left}{self.right}"
"""
LAZY, STANDARD = _classes(standard=False), _classes(standard=True)
EXPRESSIONS = (
    *("Point(1)", "Point(1, 2, secret='s')", "Point(y=3, x=1).sum", "Point(1, names=('a',)) == Point(1)"),
    *("hash(Point(1, 2)) == hash(Point(1, 2, ('n',)))", "Point(1) == Place(x=1, label='l')", "Empty()"),
    *("Place(1, 2, label='l')", "Place(x=1, label='l')", "Place(1, label='l').y", "Empty() == Empty()"),
    *("Bag()", "Bag([1, 2])", "Bag().items is Bag().items", "Bag([1]) == Bag([1])", "Bag.__hash__"),
    *("Loose()", "Loose().__dict__", "Loose.x", "Same(1) == Same(1)", "Point.__slots__", "Same.__slots__"),
    *("Point.__match_args__", "Place.__match_args__", "Point.__doc__", "Place.__slots__"),
    *("Pair(1)", "Pair(1).both", "Pair(left=1, right='x')", "Pair._fields", "Pair.__doc__"),
    *("Pair(1)._replace(left=2)", "Pair.__annotations__.keys()", "{Point(1): 2}[Point(1)]"),
)  # fmt: skip
ERRORS = ("Point()", "Point(1, z=2)", "Point(1, 2, (), '', 5)", "Place(1)", "Pair()", "hash(Bag())")


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_has_the_same_value(expression):
    assert repr(eval(expression, LAZY)) == repr(eval(expression, STANDARD))


@pytest.mark.parametrize("expression", ERRORS)
def test_what_is_wrong_is_refused(expression):
    for names in (STANDARD, LAZY):
        with pytest.raises(TypeError):
            eval(expression, names)


@pytest.mark.parametrize("name", ["Point", "Place", "Bag", "Loose", "Same", "Empty"])
def test_the_standard_functions_take_lazy_classes(name):
    lazy, standard = LAZY[name], STANDARD[name]
    assert dataclasses.is_dataclass(lazy) and lazy_classes.is_dataclass(lazy)
    declared = [(each.name, each.default, each.kw_only, each.type) for each in dataclasses.fields(standard)]
    assert [(e.name, e.default, e.kw_only, e.type) for e in dataclasses.fields(lazy)] == declared
    assert [each.name for each in lazy_classes.fields(lazy)] == [each[0] for each in declared]
    assert str(inspect.signature(lazy)) == str(inspect.signature(standard))


def test_objects_become_plain_data_and_copies():
    point = LAZY["Point"](1, LAZY["Point"](2, 3), ("a",))
    assert lazy_classes.asdict(point) == dataclasses.asdict(point)
    assert lazy_classes.asdict(point)["y"]["x"] == 2
    changed = lazy_classes.replace(point, y=4)
    assert changed == dataclasses.replace(point, y=4) != point
    assert copy.copy(point) == point


def test_what_is_frozen_stays():
    for names in (STANDARD, LAZY):
        for change in (lambda point: setattr(point, "x", 2), lambda point: delattr(point, "x")):
            with pytest.raises(dataclasses.FrozenInstanceError):
                change(names["Point"](1))


def test_objects_travel_between_processes():
    from dowse.query.ast import And, Word, WordConstraint
    from dowse.search.options import SearchOptions

    for each in (And((WordConstraint(Word("a", True)),)), SearchOptions(k=3, lang=("go",))):
        assert pickle.loads(pickle.dumps(each)) == each


def test_a_search_compiles_no_class_at_import():
    code = "import dowse.interfaces.cli.search_command, sys; print('dataclasses' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
