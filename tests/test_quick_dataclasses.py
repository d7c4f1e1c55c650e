"""Our data classes behave as the standard ones."""

import dataclasses
import pickle

import pytest

from dowse import quick_dataclasses as quick


def make(module):
    @module.dataclass(frozen=True, slots=True)
    class Base:
        """A base."""

        name: str
        size: int = 1

    @module.dataclass(frozen=True, slots=True, kw_only=True)
    class Derived(Base):
        """A class with all kinds of fields."""

        items: dict = module.field(default_factory=dict)
        note: str = module.field(default="", compare=False, metadata={"help": "x"})

    return Derived


@quick.dataclass(frozen=True, slots=True)
class Pair:
    """Can be pickled."""

    left: int
    right: int = 2


def outcome(function):
    try:
        return repr(function()).rpartition("<locals>.")[2]
    except (TypeError, AttributeError) as error:
        return type(error)


@pytest.mark.parametrize(
    "use",
    [
        lambda cls, _: cls("a"),
        lambda cls, _: cls("a", 2, items={1: 2}),
        lambda cls, _: cls(name="a", note="n"),
        lambda cls, _: cls(),
        lambda cls, _: cls("a", 1, {}),
        lambda cls, _: cls("a", name="b"),
        lambda cls, _: cls("a", other=1),
        lambda cls, _: cls("a") == cls("a", note="other"),
        lambda cls, _: cls("a") == cls("b"),
        lambda cls, _: cls("a") == ("a", 1),
        lambda cls, _: hash(cls("a", items=())) == hash(cls("a", items=())),
        lambda cls, _: setattr(cls("a"), "size", 2),
        lambda cls, module: module.replace(cls("a"), size=3),
        lambda cls, _: dataclasses.replace(cls("a"), size=3),
        lambda cls, _: dataclasses.asdict(cls("a", items={"b": [cls("c")]})),
        lambda cls, module: [(each.name, each.type, dict(each.metadata)) for each in module.fields(cls)],
        lambda cls, _: cls("a").items is cls("b").items,
        lambda cls, _: cls.__match_args__,
    ],
)
def test_as_the_standard_ones(use):
    assert outcome(lambda: use(make(quick), quick)) == outcome(lambda: use(make(dataclasses), dataclasses))


def test_pickling():
    assert pickle.loads(pickle.dumps(Pair(1))) == Pair(1, 2)
