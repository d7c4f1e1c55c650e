"""Name bindings of a file: imports, declared types, results of calls, aliases. The input of the code graph.

A file binds far more names than it calls methods on. Only bindings of names that some reference starts with
are kept, and of fields, which methods in other files can use.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from dowse.parsing import declared_types
from dowse.parsing.expressions import (
    BUILTIN_CALLS,
    UNKNOWN,
    ExpressionValue,
    collected,
    cpp_values,
    default_values,
    entered,
    expression_values,
    iterated,
    members,
    parts,
    values_of_mapping,
)
from dowse.parsing.grammar import Pattern
from dowse.parsing.imports import Import, parse_imports
from dowse.parsing.kotlin_values import kotlin_values, lambda_bindings
from dowse.parsing.limits import MAX_NAME_BYTES
from dowse.parsing.php_values import documented_types, parse_php_type, php_values
from dowse.parsing.ruby_values import block_span as ruby_block_span
from dowse.parsing.ruby_values import ruby_values
from dowse.parsing.scopes import (
    block_span,
    is_result,
    is_visible_property,
    lexical_span,
    loop_span,
    narrowed_span,
)
from dowse.parsing.signature import make_call_signature
from dowse.parsing.source_text import SourceText
from dowse.parsing.static_types import SLICE
from dowse.parsing.static_values import (
    inline_module,
    iterated_value,
    parse_static_type,
    unwrapped_value,
    variable_value,
    visible_span,
)
from dowse.parsing.type_expressions import LITERAL, parse_type
from dowse.types import Fact, Reference

if TYPE_CHECKING:
    from tree_sitter import Node

    from dowse.types import Span

# The name under which a function's result is bound.
RESULT = "()"
# The origin of a type that a comment declares.
DOCUMENTED = "doc"
# Longer type expressions are not names of classes.
_MAX_TYPE_BYTES, _MAX_STATIC_TYPE_BYTES = 200, 1_000

# Prefixes of a field of the current object.
_FIELD_PREFIXES = tuple(b"self. this. cls. @ $this-> self::$ static::$ module. exports.".split())
_BUILTIN_TYPES = frozenset(
    b"int str float bool bytes dict list tuple set None Any string number boolean any void unknown char long"
    b" double short byte size_t i32 i64 u8 u32 u64 usize String error int64 uint64 object Int Boolean Bool"
    b" Double Float Long Unit Self T K V E var auto let val"
    b" unsigned int32_t uint32_t int64_t uint64_t uint8_t".split()
)
# Type parameters stand for other types.
_TYPE_PARAMETERS = frozenset([b"Self", b"T", b"K", b"V", b"E"])
# Roles of patterns that bind no name of their own.
_UNNAMED_ROLES = frozenset(
    "statement package default impl picks result destructured property namespace bound lambda"
    " receiver signature documented adapted attribute".split()
)
# Roles of patterns whose name the file does not bind.
_NOT_BINDING = frozenset("statement result property lambda receiver signature documented".split())
# Captures of an expression whose value the name has, and what the syntax makes of that value.
_EXPRESSIONS: dict[str, Callable[[list[ExpressionValue]], list[ExpressionValue]]] = {
    "assigned": list,
    "each": iterated,
    "entered": entered,
    "yielded": collected,
    "default": default_values,
    "mapping": values_of_mapping,
}
# The captures of a parameter without a type, of a function without a name.
_CALLBACK = frozenset(["bind", "within"])
_STATIC_LANGUAGES = frozenset(["go", "rust"])
# Steps from a field or result through local variables to what they are assigned, and values at each.
_MAX_INLINED, _MAX_VALUES = 4, 4
# Names that a tuple is unpacked to.
_MAX_PARTS = 20

_TYPE_PATH = re.compile(
    rb"[&*?:\s\"'\\]*(?:mut\s+|dyn\s+|impl\s+|const\s+|struct\s+)*((?:\w+(?:\.|::|\\))*)([A-Za-z_]\w*)"
)
# Expressions that are member paths.
_PATHS = frozenset(
    "identifier attribute call subscript member_expression call_expression subscript_expression"
    " navigation_expression".split()
)
_HEAD_NAME = re.compile(rb"\W*([\w$]+)")
# The value of a pointer of Rust starts with that of what it points to: `Arc::new(Mutex::new(0))`.
_POINTING = re.compile(rb"(?:(?:\w+::)*(?:Arc|Rc|Box|Pin)::(?:new|pin|clone)\(\s*(?:&\s*(?:mut\s+)?)?)+")
_WORD = re.compile(rb"[\w$]+")
_HEAD = re.compile(r"[^\s.:\-?!&(\[\\]*")
_FIRST_NAME = re.compile(r"[\w$]+")
_PLAIN_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_CALLED_PATH = re.compile(r"@?[\w$]+(?:\(\))?(?:\.#?[\w$]+(?:\(\))?)*")
_SPACE = re.compile(r"\s+")
_TURBOFISH = re.compile(r"::<[^()]*>$")
_ANGLES = re.compile(r"<[^<>()]*>")
_ARGUMENTS = re.compile(r"\([^()]*\)")
_SEPARATORS = re.compile(r"\?\.|->|::|\\")
# Wrapper types whose methods are those of what they hold.
_WRAPPERS = re.compile(r"^(?:Optional|Box|Rc|Arc|Annotated|ClassVar|Final|Readonly|Required)[<\[](.*)[>\]]$")
# Words in the position of a type that are none.
_NON_TYPES = frozenset(
    ["var", "auto", "val", "let", "dynamic", "any", "Any", "unknown", "mixed", "object", "T"]
)
_GENERICS = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|\([^()]*\)")
_NAME = re.compile(r"[\w$]+(?:(?:\.|::|\\)[\w$]+)*")
_PREFIXES = re.compile(
    r"^(?:[&*?\s:(\\]|(?:mut|dyn|impl|const|final|readonly|struct|'\w+|asserts|unsafe)\s)+"
)


@lru_cache(maxsize=8192)
def parse_type_name(text: str) -> str:
    """Return the one class that a type expression names, joined with dots; "" if it is not that simple."""
    text = text.strip().strip("\"'").strip()
    text = _PREFIXES.sub("", text)
    text = re.sub(r"\s*\|\s*(?:None|null|undefined)\b|\b(?:None|null)\s*\|\s*|\?$", "", text)
    wrapped = _WRAPPERS.match(text)
    if wrapped:
        return parse_type_name(wrapped[1].split(",")[0])
    if text.startswith(("[", "map[", "func", "chan ", "{", "(")):
        return LITERAL
    if text.endswith("]") and text.endswith("[]"):
        return LITERAL
    while (shorter := _GENERICS.sub("", text)) != text:
        text = shorter
    text = text.strip(" &*?!.")
    match = _NAME.fullmatch(text)
    return re.sub(r"::|\\", ".", match[0]) if match and match[0] not in _NON_TYPES else ""


# How types are read in languages where their arguments matter.
_TYPE_READERS: dict[str, Callable[[str], str]] = {
    **dict.fromkeys(("python", "typescript", "javascript"), parse_type),
    **dict.fromkeys(declared_types.LANGUAGES, declared_types.parse_declared_type),
    "php": parse_php_type,
}
# What reads the values of an expression, where not `expression_values`.
_VALUE_READERS = {"cpp": cpp_values, "kotlin": kotlin_values, "php": php_values, "ruby": ruby_values}


class Facts:
    """Collects the bindings in query matches, then keeps those that can matter."""

    __slots__ = ("_bound", "_data", "_has_nul", "_language", "_matches", "_source")

    def __init__(self, source: SourceText, language: str) -> None:
        self._source, self._data = source, source.data
        self._has_nul = b"\0" in source.data  # the separator of stored names
        self._language = language
        self._matches: list[tuple[Pattern, dict[str, list[Node]]]] = []
        self._bound: tuple[set[bytes], set[int]] | None = None

    def bind(self, pattern: Pattern, captures: dict[str, list[Node]]) -> None:
        """Add one match of a pattern that binds names; most turn out not to matter."""
        self._matches.append((pattern, captures))

    def variables(self) -> set[bytes]:
        """Return the names that the file binds other than by an import."""
        return self._find_bound()[0]

    def variable_owners(self, owner_at: Callable[[int], int]) -> dict[bytes, set[int]]:
        """Return the definitions that bind each of the names that `variables` returns."""
        data, owners = self._data, dict[bytes, set[int]]()
        for pattern, captures in self._matches:
            if pattern.role not in _NOT_BINDING:
                start, end = captures["bind"][0].byte_range
                owners.setdefault(data[start:end], set()).add(owner_at(start))
        return owners

    def bound_starts(self) -> set[int]:
        """Return where names that the file binds are written."""
        return self._find_bound()[1]

    def _find_bound(self) -> tuple[set[bytes], set[int]]:
        """Return the names that the file binds, and where, after all matches are in."""
        if self._bound is None:
            data, names, starts = self._data, set[bytes](), set[int]()
            for pattern, captures in self._matches:
                if pattern.role in _NOT_BINDING:
                    continue
                nodes = captures["bind"]
                start, end = nodes[0].byte_range
                name = data[start:end]
                if name[:1] == b"{" or b"," in name:
                    names.update(_WORD.findall(name))
                else:
                    names.add(name)
                is_value = pattern.role == "default" and "assigned" in captures  # `export default name`
                if pattern.role != "impl" and not is_value:
                    starts.update([node.start_byte for node in nodes if not node.named_child_count])
            self._bound = names, starts
        return self._bound

    def import_spans(self) -> list[Span]:
        """Return where the import statements and the names of packages are."""
        return [
            captures["bind"][0].byte_range
            for pattern, captures in self._matches
            if pattern.role in ("statement", "package")
        ]

    def imports(self) -> list[Import]:
        """Return the bindings of import statements, and of `require`."""
        return [
            each
            for pattern, captures in self._matches
            if pattern.role == "statement" or "required" in captures
            for each in self._read(pattern, captures)
        ]

    def bound_names(self) -> Iterator[Node]:
        """Yield the names that are bound as variables."""
        for pattern, captures in self._matches:
            if pattern.role not in _UNNAMED_ROLES:
                yield from captures["bind"]

    def type_uses(self) -> Iterator[tuple[int, str, str]]:
        """Yield type annotations whose type may be defined in the index: (offset, name, qualifier)."""
        data = self._data
        for _, captures in self._matches:
            if "as" in captures:
                start, end = captures["as"][0].byte_range
                if end - start > _MAX_TYPE_BYTES or data[start:end] in _BUILTIN_TYPES:
                    continue
                match = _TYPE_PATH.match(data, start, end)
                if match and match[2] not in _BUILTIN_TYPES:
                    qualifier = match[1].rstrip(b".:\\").decode("utf-8", "ignore")
                    yield match.start(2), match[2].decode("utf-8", "ignore"), qualifier

    def collect(
        self,
        references: tuple[Reference, ...],
        owners: tuple[list[int], list[int]],
        first_parts: list[int],
        in_types: frozenset[int],
        constants: dict[int, bytes],
    ) -> tuple[Fact, ...]:
        """Return the bindings that can matter, each with its owner."""
        if not self._matches:
            return ()
        data, (needed, inlined), (starts, numbers) = self._data, self._needed(references), owners
        facts = dict[Fact, None]()
        blocks: dict[bytes, list[tuple[int, int]]] = {}  # where variables are declared
        variables: dict[tuple[int, str], list[ExpressionValue]] = {}
        lines = self._source.starts if any(pattern.is_scoped for pattern, _ in self._matches) else []
        for pattern, captures in self._matches:
            start, end = captures["bind"][0].byte_range
            owner = numbers[bisect_right(starts, start) - 1]
            name = data[start:end]
            is_unnamed = pattern.role in _UNNAMED_ROLES
            has_parts = pattern.role == "destructured" or (b"," in name and not is_unnamed)
            is_needed = name in needed or has_parts or is_unnamed
            # Fields are visible in every method, names of a module in every file: others nowhere else.
            is_public = (
                owner < 0
                or owner in in_types
                or constants.get(owner) == name
                or name.startswith(_FIELD_PREFIXES)
                or pattern.role == "field"
            )
            is_field = pattern.has_value and is_public and not self._has_builtin_type(captures)
            if not (is_needed or name in inlined or is_field):
                continue
            scope_owner = first_parts[owner] if owner >= 0 and pattern.role != "default" else -1
            first, last = self._scope_lines(pattern, captures, lines) if pattern.is_scoped else (0, 0)
            block = None if first else self._block(captures["bind"][0], owner, is_unnamed)
            if block:
                first, last = self._source.lines_of(*block)
                is_public = is_public and owner >= 0
                blocks.setdefault(name, []).append((first, last))
            elif name in blocks and not first and not is_unnamed:  # assigned after its declaration
                line = self._source.lines_of(start, end)[0]
                around = [each for each in blocks[name] if each[0] <= line <= each[1]]
                first, last = min(around, key=lambda each: each[1] - each[0], default=(0, 0))
            if pattern.role == "narrowed" and not first:
                continue
            for kind, called, value, origin in self._read(pattern, captures):
                if name in inlined and kind in ("type", "made", "same") and value:
                    variables.setdefault((scope_owner, called), []).append((kind, value))
                if has_parts and called.encode() not in needed and not is_public:
                    continue
                is_local = pattern.role in ("lambda", "documented") and called not in ("this", RESULT)
                if is_local and not is_public and called.encode() not in needed:
                    continue
                if is_needed or (is_public and kind != "local" and value != LITERAL):
                    facts[Fact(kind, called, value, origin, scope_owner, first, last)] = None
                if pattern.role == "loop" and first:  # the variable is visible after the loop
                    facts[Fact("local", called, "", "", scope_owner, 0, 0)] = None
        return tuple(dict.fromkeys(each for fact in facts for each in _inline(fact, variables)))

    def _block(self, name: Node, owner: int, is_unnamed: bool) -> Span | None:
        """Return the block that a variable belongs to, None where that is the definition around it."""
        if self._language in ("typescript", "javascript"):
            is_variable = name.parent is not None and name.parent.type == "variable_declarator"
            return lexical_span(name) if is_variable else None
        if self._language == "ruby" and not is_unnamed and name.text and name.text[:1].islower():
            return ruby_block_span(name)
        # A body after a macro of C, as in `TEST_CASE("name") { … }`, is no definition.
        is_outside = owner < 0 and not is_unnamed and self._language in ("c", "cpp")
        return block_span(name) if is_outside else None

    def _scope_lines(
        self, pattern: Pattern, captures: dict[str, list[Node]], lines: list[int]
    ) -> tuple[int, int]:
        """Return the lines on which a binding holds, 0 and 0 for the whole definition around it."""
        span: tuple[int, int] | None
        if "within" in captures:
            start, end = captures["within"][0].byte_range  # may have the newline after it, in Scala
            span = start, start + len(self._data[start:end].rstrip())
        elif pattern.role == "narrowed":
            span = narrowed_span(captures["bind"][0])
        elif pattern.role in ("let", "bound"):
            is_own = self._is_own_alias(pattern, captures)
            span = visible_span(captures["bind"][0], is_own)
            if span and is_own:
                return bisect_right(lines, span[0]) + 1, bisect_right(lines, span[1])
        else:
            span = loop_span(captures["bind"][0])
        return (bisect_right(lines, span[0]), bisect_right(lines, span[1])) if span else (0, 0)

    def _is_own_alias(self, pattern: Pattern, captures: dict[str, list[Node]]) -> bool:
        """Whether the value of a variable is by another variable of its name: `let x = x.unwrap()`."""
        if not pattern.alias_capture:
            return False
        start, end = captures["bind"][0].byte_range
        return self._data[start:end] in self._heads(captures[pattern.alias_capture][0])[:1]

    def _has_builtin_type(self, captures: dict[str, list[Node]]) -> bool:
        """Whether a name has a built-in type, as most have."""
        if "as" not in captures:
            return False
        start, end = captures["as"][0].byte_range
        return end - start <= _MAX_TYPE_BYTES and self._data[start:end] in _BUILTIN_TYPES - _TYPE_PARAMETERS

    def _needed(self, references: tuple[Reference, ...]) -> tuple[set[bytes], set[bytes]]:
        """Return the names that references start with, and those that fields and results are aliases of.

        Fields and results are visible elsewhere, and the names that they are aliases of are not.
        """
        heads = {r.qualifier or r.name for r in references}
        needed = {_HEAD.match(head)[0].encode() for head in heads}  # type: ignore[index]
        inlined = set[bytes]()
        aliases: dict[bytes, set[bytes]] = {}
        for pattern, captures in self._matches:
            if pattern.alias_capture:
                start, end = captures["bind"][0].byte_range
                name, heads_of = self._data[start:end], self._heads(captures[pattern.alias_capture][0])
                if pattern.role == "destructured" or (b"," in name and pattern.role != "result"):
                    for word in _WORD.findall(name[:_MAX_TYPE_BYTES]):
                        aliases.setdefault(word, set()).update(heads_of)
                elif pattern.role in ("result", "property") or b"." in name or name[:1] == b"@":
                    inlined.update(heads_of)
                else:
                    aliases.setdefault(name, set()).update(heads_of)
        for names in (needed, inlined):
            pending = [*names]
            while pending:
                new = aliases.get(pending.pop(), set()) - names
                names |= new
                pending += new
        return needed, inlined

    def _heads(self, node: Node) -> list[bytes]:
        """Return the names that an expression starts with, or all names of one that is no path."""
        start, end = node.byte_range
        text = self._data[start : min(end, start + _MAX_TYPE_BYTES)]
        if node.type in _PATHS:
            pointed = _POINTING.match(text)
            match = _HEAD_NAME.match(text, pointed.end() if pointed else 0)
            if match is None or match[1].decode("utf-8", "ignore") not in BUILTIN_CALLS:
                return [match[1]] if match else []
        return _WORD.findall(text)

    def _read(self, pattern: Pattern, captures: dict[str, list[Node]]) -> list[Import]:
        """Return the bindings of one match: (kind, name, value, origin)."""
        if pattern.role == "statement":
            around = captures["bind"][0].parent
            if around is not None and around.type == "field_declaration_list":
                return []  # `using Base::f` in a class of C++: f is found in the base class
            imports = parse_imports(self._language, self._text(*captures["bind"][0].byte_range))
            module = inline_module(captures["bind"][0], self._node_text) if self._language == "rust" else ""
            return [(kind, module + bound, name, origin) for kind, bound, name, origin in imports]
        if pattern.role == "signature":
            written = make_call_signature(self._node_text(captures["bind"][0]))
            return [("signature", RESULT, written, "")] if written else []
        name = self._name(captures["bind"][0])
        if pattern.role == "package":
            return [("package", "", name, "")]
        if pattern.role == "impl":
            return [("type", "Self", parse_type_name(name), "")]
        if pattern.role == "namespace":
            return [("namespace", name, name, "")]
        if pattern.role == "default" and "assigned" not in captures:
            return [("same", "export default", name, "")]
        if pattern.role == "own":  # a constant of an enum is an instance of it
            return [("type", name, "Self", "")]
        if pattern.role == "lambda":
            bound_names = lambda_bindings(captures["called"][0], captures["bind"][0], self._node_text)
            return [(kind, bound, value, "") for kind, bound, value in bound_names]
        if pattern.role == "documented":
            documented = documented_types(captures["bind"][0], self._node_text)
            return [("type", bound or RESULT, value, DOCUMENTED) for bound, value in documented]
        if pattern.role == "adapted":  # a method by another name
            path = self._name(captures["same"][0]).lstrip(":")
            return [("same", name.lstrip(":"), _parse_path(path) if "::" in path else f"self.{path}", "")]
        if pattern.role == "attribute":
            return [("same", name.lstrip(":"), name.replace(":", "@"), "")]
        if pattern.role == "receiver":
            return [(kind, "this", value, "") for kind, value in self._values(captures)]
        if "required" in captures:
            module = self._name(captures["required"][0])
            if pattern.role == "picks":
                return [
                    ("import", bound, picked, module)
                    for bound, picked in self._destructured_names(captures["bind"][0])
                ]
            value = self._name(captures["picked"][0]) if "picked" in captures else ""
            return [("import", name, value, module)]
        if (pattern.role == "result" and not is_result(captures["bind"][0])) or (
            pattern.role == "property" and not is_visible_property(captures["bind"][0])
        ):
            return []
        callback = captures.keys() == _CALLBACK and self._callback_parameter(captures)
        if callback:
            return [("argument", name, *callback)]
        values = self._values(captures)
        if pattern.role in ("result", "default"):
            called = RESULT if pattern.role == "result" else "export default"
            return [(kind, called, value, "") for kind, value in values if value and value != LITERAL]
        if pattern.role == "destructured":
            return [
                (kind, bound, value, "")
                for bound, picked in self._destructured_names(captures["bind"][0])
                for kind, value in members(values, picked)
            ]
        if pattern.role == "property":
            return [(kind, f"{{}}.{name}", value, "") for kind, value in values if kind == "same"]
        if captures["bind"][0].type == "pattern_list":
            return [
                (kind, self._name(child), value, "")
                for index, child in enumerate(captures["bind"][0].named_children[:_MAX_PARTS])
                if child.type == "identifier"
                for kind, value in parts(values, index)
            ]
        names = [self._name(node) for node in captures["bind"]]
        if pattern.role == "field":  # a parameter that is a field as well
            names.append("self." + name.lstrip("$"))
        return [(kind, each, value, "") for each in names for kind, value in values]

    def _callback_parameter(self, captures: dict[str, list[Node]]) -> tuple[str, str] | None:
        """Return the callee that a function is an argument of, and which of its parameters a name is.

        "1.0 Foo[Bar]" is the first parameter of the second argument; a type is that of the variable that the
        call is assigned to, and in brackets, the type arguments of the call.
        """
        function, arguments = captures["within"][0], captures["within"][0].parent
        call = arguments.parent if arguments is not None and arguments.type == "arguments" else None
        if call is None or arguments is None:
            return None
        callee = call.child_by_field_name("function") or call.child_by_field_name("constructor")
        if callee is None:
            return None
        ((kind, path),) = expression_values(callee, self._node_text)[:1] or [UNKNOWN]
        if kind != "same":
            return None
        parameters = function.child_by_field_name("parameters")
        number = _index_around(parameters, captures["bind"][0]) if parameters is not None else 0
        position = f"{_index_around(arguments, function)}.{number}"
        holder = call.parent if call.parent is not None else call
        written = call.child_by_field_name("type_arguments")
        declared = holder.child_by_field_name("type") if holder.type == "variable_declarator" else None
        if written is not None:
            return path, f"{position} {parse_type('_' + self._node_text(written))[1:]}".strip()
        if declared is not None:
            return path, f"{position} {parse_type(self._node_text(declared))}".strip()
        return path, position

    def _destructured_names(self, pattern: Node) -> Iterator[tuple[str, str]]:
        """Yield the names of a destructuring `{ a, b: c }` with the member that each is: (a, a), (c, b)."""
        for child in pattern.named_children:
            if child.type == "shorthand_property_identifier_pattern":
                yield self._name(child), self._name(child)
            elif child.type == "object_assignment_pattern" and child.named_child_count:
                yield self._name(child.named_children[0]), self._name(child.named_children[0])
            elif child.type == "pair_pattern":
                key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
                if key is not None and value is not None and value.type == "identifier":
                    yield self._name(value), self._name(key)

    def _values(self, captures: dict[str, list[Node]]) -> list[ExpressionValue]:
        """Return the values that a name can have."""
        if self._language in _STATIC_LANGUAGES:
            return [self._static_value(captures)]
        read_values = _VALUE_READERS.get(self._language, expression_values)
        for capture, transform in _EXPRESSIONS.items():
            if capture in captures:
                node = captures[capture][0]
                values = transform(read_values(node, self._node_text))
                return values[:_MAX_VALUES]
        read_type = _TYPE_READERS.get(self._language, parse_type_name)
        for capture, kind, read in (
            ("as", "type", read_type),
            ("made", "made", _parse_path),
            ("same", "same", _parse_path),
        ):
            if capture in captures:
                start, end = captures[capture][0].byte_range
                limit = _MAX_STATIC_TYPE_BYTES if read is parse_type else _MAX_TYPE_BYTES
                value = read(self._text(start, end)) if end - start <= limit else ""
                return [(kind, value)] if value else [UNKNOWN]
        return [("type", LITERAL)] if "literal" in captures else [UNKNOWN]

    def _static_value(self, captures: dict[str, list[Node]]) -> ExpressionValue:
        """Return the value of a variable, parameter or field of Go or Rust."""
        name = captures["bind"][0]
        if "as" in captures:
            start, end = captures["as"][0].byte_range
            value = (
                parse_static_type(self._language, self._text(start, end))
                if end - start <= _MAX_STATIC_TYPE_BYTES
                else ""
            )
            if "variadic" in captures:
                return "type", f"{SLICE}[{value}]"
            return ("type", value) if value else UNKNOWN
        if "assigned" in captures:
            return variable_value(self._language, name, captures["assigned"][0], self._node_text)
        if "each" in captures:
            return iterated_value(self._language, name, captures["each"][0], self._node_text)
        if "unwrapped" in captures:  # `if let Some(x) = y`
            return unwrapped_value(name, captures["unwrapped"][0], self._node_text)
        return UNKNOWN

    def _node_text(self, node: Node) -> str:
        return self._text(*node.byte_range)

    def _name(self, node: Node) -> str:
        """Return the text of a node, cut to the maximum length of a name."""
        start, end = node.byte_range
        return self._text(start, min(end, start + MAX_NAME_BYTES))

    def _text(self, start: int, end: int) -> str:
        text = self._data[start:end].decode("utf-8", "ignore")
        return text.replace("\0", "") if self._has_nul else text


def _index_around(parent: Node, inner: Node) -> int:
    """Return the number of the child that contains a node."""
    children = [child for child in parent.named_children if child.type != "comment"]
    return next((i for i, child in enumerate(children) if child.end_byte >= inner.end_byte), 0)


@lru_cache(maxsize=8192)
def _parse_path(text: str) -> str:
    """Return a callee or an alias, joined with dots; "" if it is more than a path."""
    if _PLAIN_PATH.fullmatch(text):
        return text
    text = _TURBOFISH.sub("", _SPACE.sub("", text))
    while (shorter := _ANGLES.sub("", text)) != text:
        text = shorter
    text = _SEPARATORS.sub(".", text).lstrip(".&*$")
    text = _ARGUMENTS.sub("()", text)
    return text if _CALLED_PATH.fullmatch(text) else ""


def _inline(fact: Fact, variables: dict[tuple[int, str], list[ExpressionValue]]) -> list[Fact]:
    """Return a field or result by what its local variables are assigned: others cannot see these."""
    if fact.first or not (
        fact.name in (RESULT, "export default") or "." in fact.name or fact.name[:1] == "@"
    ):
        return [fact]
    values = _inline_values((fact.kind, fact.value), fact.owner, variables, _MAX_INLINED)
    return [fact._replace(kind=kind, value=value) for kind, value in values]


def _inline_values(
    value: ExpressionValue, owner: int, variables: dict[tuple[int, str], list[ExpressionValue]], depth: int
) -> list[ExpressionValue]:
    kind, path = value
    match = _FIRST_NAME.match(path) if kind in ("made", "same") else None
    bound = variables.get((owner, match[0])) if match else None
    if match is None or not bound or not depth:
        return [value]
    rest = path[match.end() :] + ("()" if kind == "made" else "")
    values: list[ExpressionValue] = []
    for each, text in bound[:_MAX_VALUES]:
        if text.startswith(match[0]):  # `x = x.strip()`
            continue
        head = f"<{text}>" if each == "type" else text + "()" if each == "made" else text
        if each == "type" and not rest:
            values.append((each, text))
        elif text != LITERAL:
            values += _inline_values(("same", head + rest), owner, variables, depth - 1)
    return values[:_MAX_VALUES] or [UNKNOWN]
