"""The JSON form of answers: the types that they are made of declare it, and all interfaces write it.

A dataclass or named tuple becomes an object with its fields. The decorator `json_form` says what differs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar, get_type_hints

from dowse.lazy_classes import NamedTuple, fields, is_dataclass
from dowse.version import __version__

Type = TypeVar("Type", bound=type)

# Raised when a field changes its meaning or is removed; new fields leave it unchanged.
SCHEMA_VERSION = 1
# What every document begins with.
HEADER = {"schema": SCHEMA_VERSION, "dowse": __version__}
# Digits of numbers behind the point.
_DIGITS = 6


class _Form(NamedTuple):
    hidden: tuple[
        str, ...
    ] = ()  # fields that mean nothing outside the process, or one generation of an index
    inline: tuple[str, ...] = ()  # fields whose own fields take their place
    properties: tuple[str, ...] = ()  # properties that are written, too
    renamed: Mapping[str, str] = {}  # fields and properties with another name


_forms: dict[type, _Form] = {}


def json_form(
    hidden: tuple[str, ...] = (),
    inline: tuple[str, ...] = (),
    properties: tuple[str, ...] = (),
    renamed: Mapping[str, str] | None = None,
) -> Callable[[Type], Type]:
    """Return a decorator that declares how the JSON form of a type differs from its fields.

    Args:
        hidden: Fields that are left out, those of inlined fields included.
        inline: Fields whose own fields take their place.
        properties: Properties that are written, too.
        renamed: The names of fields and properties that have another one in JSON.
    """

    def declare(kind: Type) -> Type:
        _forms[kind] = _Form(hidden, inline, properties, renamed or {})
        return kind

    return declare


class JsonField(NamedTuple):
    """One field of a type's JSON form."""

    name: str
    attribute: str  # dotted, where it is that of an inlined field
    type: Any


def is_declared(kind: object) -> bool:
    """Whether a type is written as an object with its fields."""
    return isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "_fields"))


@cache
def json_fields(kind: type) -> tuple[JsonField, ...]:
    """Return the fields of a type's JSON form, in their order."""
    form, hints = _forms.get(kind, _Form()), get_type_hints(kind)
    names = [each.name for each in fields(kind)] if is_dataclass(kind) else kind._fields  # type: ignore[attr-defined]
    found: list[JsonField] = []
    for name in names:
        if name in form.inline:
            inner = json_fields(hints[name])
            found += [each._replace(attribute=f"{name}.{each.attribute}") for each in inner]
        else:
            found.append(JsonField(form.renamed.get(name, name), name, hints[name]))
    for name in form.properties:
        hint = get_type_hints(getattr(kind, name).fget)["return"]
        found.append(JsonField(form.renamed.get(name, name), name, hint))
    return tuple(each for each in found if each.attribute not in form.hidden and each.name not in form.hidden)


@cache
def _getters(kind: type) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
    return tuple((each.name, attrgetter(each.attribute)) for each in json_fields(kind))


def to_json(value: Any) -> Any:  # noqa: ANN401 - any declared value, and any JSON
    """Return a value, and all that it holds, as plain data."""
    if isinstance(value, float):
        return round(value, _DIGITS)
    kind: type = type(value)
    if is_declared(kind):
        return {name: to_json(get(value)) for name, get in _getters(kind)}
    if isinstance(value, dict):
        return {name: to_json(each) for name, each in value.items()}
    return [to_json(each) for each in value] if isinstance(value, list | tuple) else value


def document(value: object) -> dict[str, Any]:
    """Return a declared value as plain data, with the versions of this format and of dowse first."""
    return {**HEADER, **to_json(value)}
