# ruff: noqa: ANN001, ANN002, ANN003, ANN201, ANN202, ANN204, RUF063 - a type checker sees the standard module
"""Data classes without generated code: a drop-in for what dowse uses of `dataclasses`.

The standard ones compile six functions for each class and import `inspect`. For the sixty classes of a search
that took three times as long as starting Python. For a type checker they are the standard ones, and the
functions of `dataclasses` take them as such.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import Field, dataclass, field, fields, replace
else:
    # The attribute of a class that names its fields.
    _FIELDS = "__quick_fields__"
    _MISSING = object()

    class Field:
        """One field: its name, type, default and metadata."""

        __slots__ = ("compare", "default", "default_factory", "init", "kw_only", "metadata", "name", "type")

        def __init__(
            self, *, default=_MISSING, default_factory=_MISSING, init=True, compare=True, metadata=None
        ):
            self.name, self.type, self.kw_only = "", "", False
            self.default, self.default_factory = default, default_factory
            self.init, self.compare, self.metadata = init, compare, metadata or {}

        def __class_getitem__(cls, _):
            return cls

    def field(**values):
        """Describe a field: `default` or `default_factory`, `init`, `compare`, `metadata`."""
        return Field(**values)

    def fields(data):
        """Return the fields of a data class or of an instance."""
        return tuple(getattr(data, _FIELDS).values())

    def replace(data, **changes):
        """Return a copy of an instance with other values of some fields."""
        known = getattr(type(data), _FIELDS, None)
        if known is None:  # of a standard data class
            from dataclasses import replace as standard_replace

            return standard_replace(data, **changes)
        values = {name: getattr(data, name) for name, each in known.items() if each.init}
        return type(data)(**{**values, **changes})

    def dataclass(*, frozen=False, slots=False, kw_only=False):
        """Make a data class of a class with annotated fields."""
        return lambda cls: _build(cls, frozen, slots, kw_only)

    def _build(cls, frozen, slots, kw_only):
        annotations = cls.__dict__["__annotations__"]
        own = {name: _declare(cls, name, kind, kw_only) for name, kind in annotations.items()}
        known = {}
        for base in reversed(cls.__mro__[1:]):
            known.update(base.__dict__.get(_FIELDS, {}))
        known.update(own)
        if slots:
            left_out = {*own, "__dict__", "__weakref__"}
            space = {name: value for name, value in cls.__dict__.items() if name not in left_out}
            made = type(cls)(cls.__name__, cls.__bases__, {**space, "__slots__": tuple(own)})
            made.__qualname__ = cls.__qualname__
        else:
            made = cls
        setattr(made, _FIELDS, known)
        made.__dataclass_fields__ = _StandardFields()
        made.__match_args__ = tuple(name for name, each in known.items() if not each.kw_only)
        made.__init__ = _initializer(made, known)
        key = _key([name for name, each in known.items() if each.compare])
        additions = {"__repr__": _represent, "__eq__": _comparer(key)}
        if frozen:
            additions |= {"__setattr__": _refuse, "__delattr__": _refuse, "__hash__": _hasher(key)}
        if slots:
            additions |= {"__getstate__": _get_state, "__setstate__": _set_state}
        for name, function in additions.items():
            # Python itself sets __hash__ to None in a class with __eq__.
            if name not in cls.__dict__ or cls.__dict__[name] is None:
                setattr(made, name, function)
        if not frozen and "__hash__" not in cls.__dict__:
            made.__hash__ = None
        return made

    def _declare(cls, name, kind, kw_only):
        default = cls.__dict__.get(name, _MISSING)
        declared = default if isinstance(default, Field) else Field(default=default)
        declared.name, declared.type, declared.kw_only = name, kind, kw_only
        if isinstance(default, Field) and default.default is not _MISSING:
            setattr(cls, name, default.default)
        elif isinstance(default, Field):
            delattr(cls, name)
        return declared

    def _initializer(made, known):
        known = {name: each for name, each in known.items() if each.init}
        positional = [name for name, each in known.items() if not each.kw_only]
        has_more = hasattr(made, "__post_init__")
        required = [name for name, each in known.items() if each.default is each.default_factory is _MISSING]
        defaults = {name: each.default for name, each in known.items() if each.default is not _MISSING}
        makers = {
            name: each.default_factory for name, each in known.items() if each.default_factory is not _MISSING
        }
        set_value = object.__setattr__

        def __init__(self, *args, **values):
            if args:
                if len(args) > len(positional):
                    raise TypeError(f"{made.__name__}() takes fewer positional arguments")
                given = dict(zip(positional, args, strict=False))
                if not given.keys().isdisjoint(values):
                    raise TypeError(f"{made.__name__}() got several values of one field")
                values.update(given)
            values = {**defaults, **values}
            for name, make in makers.items():
                if name not in values:
                    values[name] = make()
            if len(values) != len(known) or not all(map(values.__contains__, required)):
                wrong = sorted(values.keys() ^ known.keys())
                raise TypeError(f"{made.__name__}() has no field, or lacks the value of: {', '.join(wrong)}")
            for name, value in values.items():
                set_value(self, name, value)
            if has_more:
                self.__post_init__()

        return __init__

    def _key(names):
        return attrgetter(*names) if names else lambda _: ()

    def _comparer(key):
        def __eq__(self, other):
            return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

        return __eq__

    def _hasher(key):
        return lambda self: hash(key(self))

    def _represent(self):
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in getattr(self, _FIELDS))
        return f"{type(self).__qualname__}({values})"

    def _refuse(self, name, *_):
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _get_state(self):
        return [getattr(self, name) for name in getattr(self, _FIELDS)]

    def _set_state(self, state):
        for name, value in zip(getattr(self, _FIELDS), state, strict=True):
            object.__setattr__(self, name, value)

    class _StandardFields:
        """The fields as the functions of `dataclasses` want them, made on request."""

        def __get__(self, _, owner):
            import dataclasses

            declared = []
            for each in getattr(owner, _FIELDS).values():
                values = {"init": each.init, "compare": each.compare, "metadata": each.metadata}
                if each.default is not _MISSING:
                    values["default"] = each.default
                if each.default_factory is not _MISSING:
                    values["default_factory"] = each.default_factory
                declared.append((each.name, each.type, dataclasses.field(**values)))
            standard = dataclasses.make_dataclass(owner.__name__, declared, kw_only=True)
            owner.__dataclass_fields__ = standard.__dataclass_fields__
            return standard.__dataclass_fields__


__all__ = ["Field", "dataclass", "field", "fields", "replace"]
