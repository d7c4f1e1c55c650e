"""How reads are resolved: as calls are, but to names too, and to what is named rather than to its value."""

from __future__ import annotations

from dowse.graph.lookups import FileScope
from dowse.graph.resolve.rules import Rules
from dowse.graph.resolve.values import Candidate, Value, union_of

# A field or variable that has no name of its own in the index.
_FIELD = Value("field")
# Languages in which a field and a method can have one name.
_SEPARATE_MEMBERS = frozenset(["java", "php", "ruby", "rust"])
# What reads see as calls do: types, values, modules.
_SHARED = (
    *("base_classes", "instance_of", "call_result", "find_module", "_return_value", "_constant_value"),
    *("_variable", "_field", "_inline_module"),
)


def reading_rules(rules: Rules) -> Rules:
    """Return the rules by which reads are resolved, beside those by which calls are."""
    base = type(rules)

    class Reading(base):  # type: ignore[misc, valid-type]
        is_reading = True

        def __init__(self, calls: Rules) -> None:
            super().__init__(calls.lookups)
            for name in _SHARED:
                if hasattr(calls, name):
                    setattr(self, name, getattr(calls, name))

        def symbol(self, file: FileScope, scope: str, full_name: str) -> Value | None:
            value: Value | None = super().symbol(file, scope, full_name)
            if value is not None and all(
                each.target and each.target.kind == "impl" for each in value.candidates
            ):
                value = None  # a block for a type that is defined elsewhere
            is_tag = file.language == "c" and value is not None and value.kind == "class"
            is_separate = value is None or (value.kind == "function" and file.language in _SEPARATE_MEMBERS)
            if not is_separate and not is_tag:
                return value
            found = self.lookups.names(file.family, scope, full_name, file.path)
            targets = self.visible_names(file, found)
            if value is not None and is_tag:  # a variable of that name, or a typedef for another platform
                targets = tuple(each for each in targets if self.sees(file, each))
                structs = [each.target for each in value.candidates if each.target]
                if any(each.kind == "alias" for each in targets):
                    targets += tuple(each for each in structs if self.sees(file, each))
            names = tuple(Candidate(target, scope, full_name) for target in targets)
            return Value("name", names) if names else value

        def bound_value(
            self, file: FileScope, bindings: list[list[str]], enclosing: str = ""
        ) -> Value | None:
            return _FIELD if bindings else None

        def variable_value(
            self, file: FileScope, bindings: list[list[str]], enclosing: str = ""
        ) -> Value | None:
            kind, path, _ = bindings[0]
            is_alias = kind == "same" and len(bindings) == 1  # `export { a as b }`
            return self.resolve_path(file, path, enclosing) if is_alias else _FIELD

        def _member_at_level(self, file: FileScope, level: list[Candidate], name: str) -> Value | None:
            # The members of a union type are the bases of its name: any of them can be meant.
            values = [super(Reading, self)._member_at_level(file, [each], name) for each in level]
            named = [value for value in values if value is not None and value.candidates]
            if len(named) > 1 and file.family == "ecmascript":
                return union_of(named) or named[0]
            return next((value for value in values if value is not None), None)

        def _substituted(self, owner: Value, name: str, member: Value | None) -> Value | None:
            return member

    made: Rules = Reading(rules)
    return made
