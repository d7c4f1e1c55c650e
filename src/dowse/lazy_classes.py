"""`dataclass` and `NamedTuple` as in the standard library, for classes that load fast.

There, the methods of each class are compiled when its module is loaded: .8 ms a class, and a search loads a
hundred. Here `__init__` is compiled once some objects were made, and nothing else is. `dataclasses.asdict`
and all else of that module takes these classes, too. For type checkers they are the standard library's.
"""

from __future__ import annotations

from collections import namedtuple
from operator import attrgetter

TYPE_CHECKING = False  # that of `typing` would be an import
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["NamedTuple", "asdict", "dataclass", "field", "fields", "is_dataclass", "replace"]

_MISSING: Any = object()
# The attribute of a class with its fields, those of its bases included.
_FIELDS = "__lazy_fields__"
# What the modules `dataclasses` and `inspect` look for in a class.
_STANDARD = ("__dataclass_fields__", "__dataclass_params__", "__signature__")
# What a class with slots is made anew without.
_NOT_COPIED = ("__dict__", "__weakref__")
_set = object.__setattr__
# Compiling takes as long as a hundred objects that are made without.
_MADE_SLOWLY = 20


class _Field:
    """A field of a class; the arguments are those of `dataclasses.field`."""

    def __init__(self, **arguments: Any) -> None:  # noqa: ANN401 - as `dataclasses.field`
        self.name = ""
        self.arguments = arguments
        self.default = arguments.get("default", _MISSING)
        self.factory = arguments.get("default_factory", _MISSING)
        self.metadata: Mapping[str, Any] = arguments.get("metadata", {})

    def is_in(self, purpose: str) -> bool:
        """Whether it is in `init`, `repr` or `compare`."""
        return bool(self.arguments.get(purpose, True))


def _dataclass(
    *,
    frozen: bool = False,
    slots: bool = False,
    kw_only: bool = False,
    eq: bool = True,
    weakref_slot: bool = False,
) -> Callable[[type], type]:
    """Return a decorator that makes a class a data class."""

    def decorate(cls: type) -> type:
        hints = getattr(cls, "__annotations__", {})
        own = {name: _declared_field(cls, name, kw_only=kw_only) for name in hints}
        inherited: dict[str, _Field] = {}
        for base in reversed(cls.__mro__[1:]):
            inherited |= {each.name: each for each in base.__dict__.get(_FIELDS, ())}
        if slots:
            names = [name for name in own if name not in inherited] + ["__weakref__"] * weakref_slot
            cls = _with_slots(cls, names, own)
        else:
            for name, each in own.items():
                if each.default is not _MISSING:
                    setattr(cls, name, each.default)
                elif each.factory is not _MISSING:
                    delattr(cls, name)
        _add_methods(cls, [*{**inherited, **own}.values()], frozen=frozen, eq=eq)
        return cls

    return decorate


def _declared_field(cls: type, name: str, *, kw_only: bool) -> _Field:
    value = cls.__dict__.get(name, _MISSING)
    if not isinstance(value, _Field):
        value = _Field() if value is _MISSING else _Field(default=value)
    value.name = name
    value.arguments.setdefault("kw_only", kw_only)
    return value


def _with_slots(cls: type, slots: list[str], own: Mapping[str, _Field]) -> type:
    """Return a class again, with slots for its fields."""
    left_out = (*own, *_NOT_COPIED)
    body = {name: value for name, value in cls.__dict__.items() if name not in left_out}
    made = type(cls)(cls.__name__, cls.__bases__, {**body, "__slots__": tuple(slots)})
    made.__qualname__ = cls.__qualname__
    return made


def _add_methods(cls: type, declared: list[_Field], *, frozen: bool, eq: bool) -> None:
    """Give a class what it does not define itself."""
    names = [each.name for each in declared]
    shown = [each.name for each in declared if each.is_in("repr")]
    values = _getter([each.name for each in declared if each.is_in("compare")])

    then = getattr(cls, "__post_init__", None)
    made = 0

    def __init__(self: object, *given: Any, **named: Any) -> None:  # noqa: ANN401
        nonlocal made
        made += 1
        if made <= _MADE_SLOWLY and _fill(self, declared, given, named):
            if then is not None:
                then(self)
            return
        compiled = _compile_init(declared, frozen=frozen, then=then is not None)
        cls.__init__ = compiled  # type: ignore[misc]
        compiled(self, *given, **named)

    def __repr__(self: object) -> str:
        shares = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{type(self).__qualname__}({shares})"

    def __eq__(self: object, other: object) -> bool:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    def __hash__(self: object) -> int:
        return hash(values(self))

    def __getstate__(self: object) -> list[Any]:
        return [getattr(self, name) for name in names]

    def __setstate__(self: object, state: list[Any]) -> None:
        for name, value in zip(names, state, strict=True):
            _set(self, name, value)

    methods: dict[str, Any] = {"__init__": __init__, "__repr__": __repr__}
    if eq:
        methods |= {"__eq__": __eq__}
        # As Python does for any class with an `__eq__`: what may change has no hash.
        if cls.__dict__.get("__hash__") is None:
            cls.__hash__ = __hash__ if frozen else None  # type: ignore[assignment, method-assign]
    if frozen:
        methods |= {"__setattr__": _refuse, "__delattr__": _refuse}
    if "__slots__" in cls.__dict__:
        methods |= {"__getstate__": __getstate__, "__setstate__": __setstate__}
    methods |= {name: _Standard(name, frozen=frozen, eq=eq) for name in _STANDARD}
    methods |= {"__match_args__": tuple(each.name for each in _positional(declared)), _FIELDS: declared}
    for name, value in methods.items():
        if name not in cls.__dict__:
            setattr(cls, name, value)


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda of: tuple(getattr(of, name) for name in names)


def _refuse(self: object, name: str, value: object = None) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"{name!r} of {type(self).__name__} can't be changed")


def _positional(declared: list[_Field]) -> list[_Field]:
    return [each for each in declared if each.is_in("init") and not each.arguments["kw_only"]]


def _fill(self: object, declared: list[_Field], given: tuple[object, ...], named: dict[str, object]) -> bool:
    """Set all fields of a new object; False where arguments are wrong: the compiled function reports that."""
    values = {each.name: value for each, value in zip(_positional(declared), given, strict=False)} | named
    if len(values) != len(given) + len(named):
        return False
    for each in declared:
        name = each.name
        if name in values and each.is_in("init"):
            _set(self, name, values.pop(name))
        elif each.default is not _MISSING:
            _set(self, name, each.default)
        elif each.factory is not _MISSING:
            _set(self, name, each.factory())
        elif each.is_in("init"):
            return False
    return not values


def _compile_init(declared: list[_Field], *, frozen: bool, then: bool) -> Callable[..., None]:
    positional = _positional(declared)
    named = [each for each in declared if each.is_in("init") and each not in positional]
    known: dict[str, Any] = {"_set": _set, "_MISSING": _MISSING}
    lines = []
    for each in declared:
        name = each.name
        known |= {f"_default_{name}": each.default, f"_make_{name}": each.factory}
        value = name if each.is_in("init") else f"_default_{name}"
        if each.factory is not _MISSING:
            made = f"_make_{name}()"
            value = f"{made} if {name} is _MISSING else {name}" if each.is_in("init") else made
        elif value != name and each.default is _MISSING:
            continue
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    parameters = ["self", *map(_parameter, positional), *["*"] * bool(named), *map(_parameter, named)]
    body = "\n ".join([*lines, *["self.__post_init__()"] * then] or ["pass"])
    exec(f"def __init__({', '.join(parameters)}):\n {body}", known)  # noqa: S102 - of declared names alone
    return known["__init__"]  # type: ignore[no-any-return]


def _parameter(declared: _Field) -> str:
    if declared.default is not _MISSING:
        return f"{declared.name}=_default_{declared.name}"
    return declared.name if declared.factory is _MISSING else f"{declared.name}=_MISSING"


class _Standard:
    """An attribute of a class that other modules read, made when they do."""

    def __init__(self, name: str, *, frozen: bool, eq: bool) -> None:
        self._name, self._frozen, self._eq = name, frozen, eq

    def __get__(self, instance: object, owner: type) -> Any:  # noqa: ANN401 - as `dataclasses` has it
        from dataclasses import field, make_dataclass
        from inspect import signature

        hints: dict[str, Any] = {}
        for base in reversed(owner.__mro__):
            hints |= getattr(base, "__annotations__", {})
        parts = [(each.name, hints[each.name], field(**each.arguments)) for each in _fields(owner)]
        standard = make_dataclass(owner.__name__, parts, frozen=self._frozen, eq=self._eq)
        holder = next(base for base in owner.__mro__ if base.__dict__.get(self._name) is self)
        made = signature(standard) if self._name == "__signature__" else getattr(standard, self._name)
        setattr(holder, self._name, made)
        return made


def _fields(of: object) -> tuple[_Field, ...]:
    """Return the fields of a data class, or of an object of one."""
    return tuple(getattr(of, _FIELDS))


def _is_dataclass(of: object) -> bool:
    """Whether something is a data class, or an object of one."""
    return hasattr(of, _FIELDS)


def _asdict(of: object) -> dict[str, Any]:
    """Return an object, and those in it, as plain data."""
    return {each.name: _plain(getattr(of, each.name)) for each in _fields(of)}


def _plain(value: Any) -> Any:  # noqa: ANN401 - any value of a field
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return _asdict(value) if _is_dataclass(value) else value


def _replace(of: Any, /, **changes: Any) -> Any:  # noqa: ANN401 - the same type as what is given
    """Return a copy of an object with some fields changed."""
    for each in getattr(of, _FIELDS):
        if each.is_in("init") and each.name not in changes:
            changes[each.name] = getattr(of, each.name)
    return type(of)(**changes)


class _NamedTupleMeta(type):
    """Makes a class of fields a named tuple, without compiling its annotations."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
        """Return a named tuple with the members of a class body."""
        if not bases:
            return super().__new__(cls, name, bases, body)
        hints = body.pop("__annotations__", {})
        defaults = [body.pop(each) for each in hints if each in body]
        made = namedtuple(name, hints, defaults=defaults, module=body.pop("__module__"))  # type: ignore[misc]
        made.__annotations__ = hints
        for member, value in body.items():
            setattr(made, member, value)
        return made


class _NamedTuple(metaclass=_NamedTupleMeta):
    """The base of a class whose fields become those of a tuple."""


if TYPE_CHECKING:
    from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
    from typing import NamedTuple
else:
    dataclass, field, NamedTuple = _dataclass, _Field, _NamedTuple
    asdict, fields, is_dataclass, replace = _asdict, _fields, _is_dataclass, _replace
